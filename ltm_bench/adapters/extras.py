"""Packages that only some adapters need: an extra of this project, imported when such an agent is opened."""

import importlib
import warnings
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType

from ltm_bench.core.errors import ConfigError


def need(extra: str, module: str) -> ModuleType:
    """Import a module. Raises ConfigError, with the extra to install, where its package is not installed."""
    try:
        with (
            warnings.catch_warnings()
        ):  # what a package has to say of the packages under it helps nobody here
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ImportError as error:
        missing = (error.name or module).partition(".")[0]
        raise ConfigError(
            f"agent {extra}: the package {missing} is not installed; install ltm-bench[{extra}]"
        ) from error


def installed(extra: str, package: str) -> tuple[bool, str]:
    """Say whether the package of an extra is there, and which."""
    try:
        return True, f"{package} {version(package)} is installed"
    except PackageNotFoundError:
        return False, f"{package} is not installed; install ltm-bench[{extra}]"
