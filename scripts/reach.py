#!/usr/bin/env python
"""Prints what files depend on: the files of this checkout that they reach through imports, and others' packages.

    scripts/reach.py FILE …

The data beside a reached module of the product counts as reached. What is loaded by path (scenarios, adapters,
suites) has to be named. tests/keeping.py and scripts/groups.py decide by this what need not run again.
"""

import ast
import re
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from grimp import ImportGraph

ROOT = Path(__file__).resolve().parents[1]
PRODUCT = "ltm_bench"
FOLDERS = ("tests", "perf", "scripts")
"""Where files are, besides the product, that import each other by dotted names."""
MATCHERS = "ltm_bench.plugins.matchers"
"""Finds the matchers that are imported from the product by their short names."""
FOUND_BY_FOLDER = {
    MATCHERS: re.compile(r"ltm_bench\.(matchers\.|datasets\.\w+(\.matcher)?$)"),
    "ltm_bench.datasets.public": re.compile(r"ltm_bench\.datasets\.\w+\.sets$"),
}
"""Modules that import others without naming them, and which."""


class Reach(NamedTuple):
    """What the code in some files can come to."""

    files: frozenset[Path]
    packages: frozenset[str]
    """Top-level names of others' modules, the standard library left out."""


@cache
def graph() -> "ImportGraph":
    """Return who imports whom in the product, at once or late."""
    import grimp  # which the environments of groups of tests do not have

    return grimp.build_graph(PRODUCT, include_external_packages=True, exclude_type_checking_imports=True)


@cache
def file_of(module: str) -> Path:
    """Return the file of a module of this checkout."""
    place = ROOT.joinpath(*module.split("."))
    package = place / "__init__.py"
    return package if package.is_file() else place.with_suffix(".py")


@cache
def _tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text("utf-8"))


def _statements(tree: ast.Module) -> Iterator[ast.AST]:
    """Yield all statements; expressions, most of a tree, import nothing."""
    waiting: list[ast.AST] = [tree]
    while waiting:
        yield (node := waiting.pop())
        for field in ("body", "orelse", "finalbody", "handlers", "cases"):
            waiting += getattr(node, field, ())


@cache
def _given(door: str) -> Mapping[str, str]:
    """Return, for the names that a package gives, the modules that they come from; it imports many on first use."""
    if not (path := file_of(door)).is_file():
        return {}
    froms = [node for node in _statements(_tree(path)) if isinstance(node, ast.ImportFrom) and node.module]
    return {each.asname or each.name: str(node.module) for node in froms for each in node.names}


@cache
def imported(path: Path) -> frozenset[str]:
    """Return the dotted names of the modules that a file imports anywhere."""
    found = set[str]()
    for node in _statements(_tree(path)):
        match node:
            case ast.Import(names=names):
                found.update(each.name for each in names)
            case ast.ImportFrom(module=str(module), names=names):
                given = _given(module) if module.startswith(PRODUCT) else {}
                # an unknown name may be a module, or defined there
                froms = {given.get(each.name, f"{module}.{each.name}") for each in names}
                found |= {module, *froms}
                if module == PRODUCT and any(map(FOUND_BY_FOLDER[MATCHERS].match, froms)):
                    found.add(MATCHERS)
    return frozenset(found)


@cache
def reach(start: frozenset[Path], *, whole: bool = False) -> Reach:
    """Return what files depend on, themselves included; and on the whole product, which finds some modules by name."""
    files, packages, modules = set[Path](), set[str](), set[str](graph().modules if whole else ())
    waiting = list(start)
    while waiting:
        path = waiting.pop()
        if path in files:
            continue
        files.add(path)
        for name in imported(path) if path.suffix == ".py" else ():
            top = name.partition(".")[0]
            if top == PRODUCT:
                modules.add(name)
            elif top in FOLDERS:
                waiting += filter(Path.is_file, (file_of(name), file_of(top)))
            elif (beside := ROOT / "tests" / f"{top}.py").is_file():  # tests/ is on the path
                waiting.append(beside)
            else:
                packages.add(top)
    inside, outside = _closure(frozenset(modules))
    files.update(map(file_of, inside))
    for folder in {file_of(module).parent for module in inside}:
        files.update(_data(folder))
    return Reach(frozenset(files), frozenset(packages | outside) - sys.stdlib_module_names)


@cache
def _closure(start: frozenset[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the product's modules that these reach, their packages included, and the packages of others."""
    inside, outside = set[str](), set[str]()
    waiting = list(start)
    while waiting:
        module = waiting.pop()
        if module not in graph().modules or module in inside:
            continue
        if graph().is_module_squashed(module):
            outside.add(module.partition(".")[0])
            continue
        inside.add(module)
        waiting.append(module.rpartition(".")[0])
        if module == PRODUCT:  # what it imports, all of it late, its users have named
            waiting.append(f"{PRODUCT}.core.late")
            continue
        waiting += graph().find_modules_directly_imported_by(module)
        if pattern := FOUND_BY_FOLDER.get(module):
            waiting += filter(pattern.match, graph().modules)
    return frozenset(inside), frozenset(outside)


@cache
def _data(folder: Path) -> tuple[Path, ...]:
    """Return the files of a folder that are no code, and those in its folders that are no packages."""
    found = list[Path]()
    for path in sorted(folder.iterdir()):
        if path.is_dir() and path.name != "__pycache__" and not (path / "__init__.py").exists():
            found += _data(path)
        elif path.is_file() and path.suffix not in (".py", ".pyc"):
            found.append(path)
    return tuple(found)


def lines(reached: Reach) -> Iterator[str]:
    """Yield the files by their places in the checkout, then the packages."""
    yield from sorted(path.relative_to(ROOT).as_posix() for path in reached.files)
    yield from sorted(reached.packages)


def main(words: Iterable[str]) -> int:
    """Print what the named files depend on."""
    print("\n".join(lines(reach(frozenset(Path(word).resolve() for word in words)))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
