"""Packages that only some users need: an extra of this project, imported when it is first used."""

import importlib
import warnings
from types import ModuleType

from ltm_bench.core.agent import Finding
from ltm_bench.core.errors import ConfigError


def need(extra: str, module: str, *, wanted_by: str = "") -> ModuleType:
    """Import a module. Raises ConfigError, with the extra to install, where its package is not installed.

    Args:
        extra: The extra of ltm-bench that brings the package.
        module: The module to import.
        wanted_by: What needs it, e.g. `--format parquet`; if left out, the agent of the extra's name.
    """
    try:
        with (
            warnings.catch_warnings()
        ):  # what a package has to say of the packages under it helps nobody here
            warnings.simplefilter("ignore")
            return importlib.import_module(module)
    except ImportError as error:
        missing = (error.name or module).partition(".")[0]
        raise ConfigError(f"{wanted_by or f'agent {extra}'}: {_absent(missing, extra)}") from error


def installed(extra: str, package: str) -> Finding:
    """Say whether the package of an extra is installed, and in which version."""
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms, and only `doctor` asks

    try:
        return Finding(True, f"{package} {version(package)} is installed")
    except PackageNotFoundError:
        return Finding(False, _absent(package, extra))


def _absent(package: str, extra: str) -> str:
    return f"{package} is not installed; get it with pip install 'ltm-bench[{extra}]'"
