"""What a package imports late: as lines of its own file, for type checkers, which are read here as text."""

import re
import sys
from collections.abc import Mapping
from functools import cache
from inspect import getsource

_LINE = re.compile(r"^    from (\S+) import \w+ as (\w+)$", re.MULTILINE)


@cache
def modules_of(package: str) -> Mapping[str, str]:
    """Map the names that a package gives, each on its first use, to the modules that they come from."""
    return {name: module for module, name in _LINE.findall(getsource(sys.modules[package]))}
