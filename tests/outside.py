"""Finds where code reads bytes: from files, connections, processes, archives."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

METHODS = frozenset(
    (
        "read read1 readinto readline readlines readall readexactly readuntil aread read_bytes read_text body recv "
        "recv_into iter_bytes aiter_bytes iter_lines aiter_lines iter_raw aiter_raw iter_text aiter_text iter_content "
        "communicate check_output cat_file cat_ranges get_file extractfile extractall fetchone fetchall fetchmany "
        "read_csv read_json read_parquet read_pickle read_table scan_csv loadtxt genfromtxt copyfileobj urlretrieve "
        "makefile pread"
    ).split()
)
"""Methods that read, whatever they are of."""

FUNCTIONS = frozenset(
    (
        "open gzip.open gzip.GzipFile gzip.decompress zlib.decompress zlib.decompressobj bz2.open bz2.decompress "
        "lzma.open lzma.decompress tarfile.open zipfile.ZipFile ZipFile csv.reader csv.DictReader tomllib.load "
        "json.load pickle.load yaml.load yaml.safe_load urlopen urllib.request.urlopen httpx2.get httpx2.post "
        "httpx2.request httpx2.stream httpx.get httpx.post httpx.stream requests.get requests.post os.read os.open "
        "PdfReader subprocess.run subprocess.check_output np.load numpy.load jsonlines.open fileinput.input input "
        "urlretrieve io.open codecs.open mmap.mmap shelve.open dbm.open tokenize.open linecache.getlines"
    ).split()
)
"""Functions and classes that read."""

ANSWERS = ("answer", "response", "resp", "got")
"""Names of answers, whose `content`, `text` and `json()` hold all that a server sent."""


class Read(NamedTuple):
    """A place where something is read."""

    file: str
    function: str
    """With its class; empty at the top of the file."""
    what: str
    line: int


def reads(file: str, tree: ast.AST) -> Iterator[Read]:
    """Yield the places in a file where something is read."""

    handles = _handles(tree)

    def walk(node: ast.AST, names: tuple[str, ...]) -> Iterator[Read]:
        for child in ast.iter_child_nodes(node):
            inside = names
            if isinstance(child, ast.For | ast.AsyncFor | ast.comprehension):
                over = child.iter
                while isinstance(over, ast.Call) and ast.unparse(over.func) in _OVER and over.args:
                    over = over.args[-1]
                if isinstance(over, ast.Name) and over.id in handles:
                    yield Read(file, ".".join(inside), f"for in {over.id}", over.lineno)
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                inside = (*names, child.name)
            if what := _what(child):
                yield Read(file, ".".join(inside), what, getattr(child, "lineno", 0))
            yield from walk(child, inside)

    yield from walk(tree, ())


_ARCHIVES = ("archive", "bundle", "zip", "tar", "fs", "_fs", "filesystem")
"""What opens what it holds by a name that is no constant."""
_OVER = ("enumerate", "iter", "list", "map", "filter", "zip", "islice", "chain")


def _handles(tree: ast.AST) -> set[str]:
    """Return the names that stand for open files, whose iteration reads a line of any length."""
    bound = [
        (each.context_expr, each.optional_vars)
        for node in ast.walk(tree)
        if isinstance(node, ast.With | ast.AsyncWith)
        for each in node.items
    ]
    bound += [
        (node.value, node.targets[0])
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and len(node.targets) == 1
    ]
    return {
        name.id
        for made, name in bound
        if isinstance(made, ast.Call) and isinstance(name, ast.Name)
        if ast.unparse(made.func).rpartition(".")[2]
        in ("open", "opened", "unpacking", "GzipFile", "makefile")
    }


def _what(node: ast.AST) -> str:
    """Return how a node reads; empty if it does not."""
    match node:
        case ast.Call(func=ast.Name() | ast.Attribute() as called):
            name = ast.unparse(called)
            last = name.rpartition(".")[2]
            if name in FUNCTIONS or (last in METHODS and isinstance(called, ast.Attribute)):
                return name
            if last == "json" and isinstance(called, ast.Attribute) and not node.args and not node.keywords:
                return name
            if last == "open" and isinstance(called, ast.Attribute) and _opens(node):
                return name
            if last == "open" and name.rpartition(".")[0].rpartition(".")[2] in _ARCHIVES:
                return name
            if last.endswith("Popen") or last in ("create_subprocess_exec", "create_subprocess_shell"):
                return name
        case ast.Attribute(attr="content" | "text", value=ast.Name(id=name)) if name in ANSWERS:
            return f"{name}.{node.attr}"
        case ast.Attribute(attr="content", value=ast.Call() | ast.Await()):
            return ast.unparse(node)
        case ast.Attribute(attr="stdin", value=ast.Name(id="sys")):
            return "sys.stdin"
    return ""


def _opens(call: ast.Call) -> bool:
    """Whether a method `open` opens a file for reading, as far as its arguments tell; adapters have one as well."""
    modes = [
        each.value
        for each in (*call.args, *(k.value for k in call.keywords if k.arg == "mode"))
        if isinstance(each, ast.Constant)
    ]
    if not call.args:
        return not modes or "r" in str(modes[0])
    return any(isinstance(each, str) and set(each) <= set("rbt+") for each in modes)


def all_reads(root: Path, folders: tuple[str, ...] = ("ltm_bench", "agents", "scenarios")) -> list[Read]:
    """Return the places in all files of these folders."""
    files = [path for folder in folders for path in sorted((root / folder).rglob("*.py"))]
    return [
        read
        for path in files
        for read in reads(path.relative_to(root).as_posix(), ast.parse(path.read_text("utf-8")))
    ]
