"""Packages of this project's extras, imported when first needed."""

import importlib
import json
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from types import ModuleType

from ltm_bench.core.agent import Finding
from ltm_bench.core.errors import ConfigError


@contextmanager
def extra(name: str, *, wanted_by: str) -> Iterator[None]:
    """Turn a failed import inside the block into a ConfigError that names the extra to install.

    Args:
        name: The extra.
        wanted_by: What needs its packages, e.g. `--format parquet`.
    """
    try:
        yield
    except ImportError as error:
        package = (error.name or name).partition(".")[0]
        raise ConfigError(f"{wanted_by}: {_absent(package, name)}") from error


def need(name: str, module: str) -> ModuleType:
    """Import a module for the agent of the extra's name. Raises ConfigError if its package is not installed."""
    with extra(name, wanted_by=f"agent {name}"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the package's message about its own dependencies helps nobody here
        return importlib.import_module(module)


def installed(name: str, package: str) -> Finding:
    """Say whether the package of an extra is installed, and in which version."""
    from importlib.metadata import PackageNotFoundError, version  # takes 20 ms, and only `doctor` asks

    try:
        return Finding(True, f"{package} {version(package)} is installed")
    except PackageNotFoundError:
        return Finding(False, _absent(package, name))


def dependency(error: ModuleNotFoundError) -> str:
    """Say that a package which every installation has is missing, and how to get it."""
    package = (error.name or str(error)).partition(".")[0]
    return (
        f"{package} is not installed, and ltm-bench needs it; pip install ltm-bench installs all that is missing "
        "(leave out --no-deps)"
    )


def _absent(package: str, name: str) -> str:
    return f"{package} is not installed; get it with {pip(name)}"


def pip(name: str) -> str:
    """Return what installs an extra: from where ltm-bench itself came, which need not be the index."""
    from importlib.metadata import PackageNotFoundError, distribution
    from urllib.request import url2pathname  # takes long to import, and only errors need it

    try:
        origin = json.loads(distribution("ltm-bench").read_text("direct_url.json") or "{}")
    except (PackageNotFoundError, ValueError):
        origin = {}
    url, checkout = origin.get("url", ""), origin.get("vcs_info")
    if origin.get("dir_info", {}).get("editable"):
        return f"pip install -e '{url2pathname(url.removeprefix('file://'))}[{name}]'"
    if checkout:
        url = f"{checkout['vcs']}+{url}@{checkout['commit_id']}"
    return f"pip install 'ltm-bench[{name}]{f' @ {url}' if url else ''}'"
