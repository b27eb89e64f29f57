"""Which faults can be put into a file: small changes that a test of the changed line should notice."""

import ast
import json
import random
from collections.abc import Iterator
from copy import copy
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple, Self

SWAPPED: dict[type[ast.AST], type[ast.AST]] = {
    ast.Eq: ast.NotEq, ast.Is: ast.IsNot, ast.In: ast.NotIn, ast.NotEq: ast.Eq, ast.IsNot: ast.Is, ast.NotIn: ast.In,
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.And: ast.Or, ast.Or: ast.And,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.FloorDiv, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult,
}  # fmt: skip
UNNOTICED = {"annotation", "returns", "decorator_list", "exc", "cause"}
"""The parts of statements that tests need not notice."""
FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
EVERYWHERE = 1_000_000
"""Beyond the last line of every file."""


class Mutant(NamedTuple):
    """A change of some whole lines of a file."""

    file: str
    line: int
    column: int
    kind: str
    before: str
    """The line before it."""
    original: str
    mutated: str
    covers: tuple[int, int]
    """The lines whose tests it meets: its statement's; those of the function if it is in the head of one; else all."""

    @property
    def tests(self) -> str:
        """The folder of its room's tests."""
        return f"tests/{Path(self.file).parts[1]}/"

    @classmethod
    def read(cls, line: str) -> Self:
        """Return the mutant of a line of JSON, which may say more."""
        values = json.loads(line)
        return cls(**{name: values[name] for name in cls._fields} | {"covers": tuple(values["covers"])})

    def found(self, text: str) -> int | None:
        """Return the line where the original stands in a text, perhaps a later one: after the same line, or nearest."""
        wanted, lines = self.original.splitlines(), ["", *text.splitlines()]
        starts = [i for i in range(1, len(lines)) if lines[i : i + len(wanted)] == wanted]
        return min(starts, key=lambda i: (lines[i - 1] != self.before, abs(i - self.line)), default=None)

    def applied(self, text: str, line: int) -> str:
        """Return the text with the change at a line."""
        lines = text.splitlines(keepends=True)
        lines[line - 1 : line - 1 + len(self.original.splitlines())] = [self.mutated + "\n"]
        return "".join(lines)


def changes(node: ast.AST) -> Iterator[tuple[str, ast.expr | ast.stmt, str]]:
    """Yield the kinds of changes to a node: what is replaced, and the text that replaces it."""
    match node:
        case ast.Compare(ops=[old]) | ast.BoolOp(op=old) | ast.BinOp(op=old) | ast.AugAssign(op=old):
            if other := SWAPPED.get(type(old)):
                changed = copy(node)
                setattr(changed, *(("ops", [other()]) if isinstance(node, ast.Compare) else ("op", other())))
                text = ast.unparse(changed)
                yield type(old).__name__, node, text if isinstance(node, ast.stmt) else f"({text})"
        case ast.UnaryOp(op=ast.Not()):
            yield "not dropped", node, f"({ast.unparse(node.operand)})"
        case ast.Constant(value=bool() as value):
            yield "constant", node, str(not value)
        case ast.Constant(value=int() | float() as value):
            yield "constant", node, repr(value + 1)
        case ast.Return(value=ast.expr()):
            yield "return None", node, "return None"
        case ast.Raise() | ast.Continue() | ast.Break() | ast.Delete():
            yield "deleted", node, "pass"
        case (
            ast.Expr(value=ast.Call() | ast.Await()) | ast.Assign(targets=[ast.Attribute() | ast.Subscript()])
        ):
            yield "deleted", node, "pass"
        case ast.If(test=test) | ast.While(test=test) | ast.IfExp(test=test):
            if not isinstance(test, ast.UnaryOp | ast.Compare):  # which change by themselves
                yield "negated", test, f"(not ({ast.unparse(test)}))"


def mutants(file: str, text: str) -> Iterator[Mutant]:
    """Yield all changes of a file but those that no test is to notice: annotations, decorators, messages of errors."""
    lines = ["", *text.splitlines()]

    def visit(node: ast.AST, covers: tuple[int, int]) -> Iterator[Mutant]:
        if isinstance(node, ast.JoinedStr):  # Python 3.11 does not tell where its parts stand
            return
        for kind, old, new in changes(node):
            first, last = old.lineno, old.end_lineno or old.lineno
            start = lines[first].encode()[: old.col_offset].decode()
            original = "\n".join(lines[first : last + 1])
            mutated = f"{start}{new}{lines[last].encode()[old.end_col_offset :].decode()}"
            if mutated != original and "TYPE_CHECKING" not in original:
                yield Mutant(file, first, len(start), kind, lines[first - 1], original, mutated, covers)
        skipped = UNNOTICED | {"keywords"} if isinstance(node, ast.ClassDef) else UNNOTICED
        for field, value in ast.iter_fields(node):
            for each in value if isinstance(value, list) else [value]:
                if field not in skipped and isinstance(each, ast.AST):
                    yield from visit(each, _covers(node, field, each, covers))

    yield from visit(ast.parse(text), (1, EVERYWHERE))


def _covers(parent: ast.AST, field: str, node: ast.AST, outer: tuple[int, int]) -> tuple[int, int]:
    """Return the lines whose tests a node meets."""
    if isinstance(parent, FUNCTION) and field == "args":
        return parent.body[0].lineno, parent.body[-1].end_lineno or EVERYWHERE
    if not isinstance(node, ast.stmt) or (outer[1] == EVERYWHERE and not isinstance(parent, FUNCTION)):
        return outer
    body = getattr(node, "body", None)
    return node.lineno, max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno


def chosen(root: Path, rooms: list[str], number: int, seed: int) -> list[Mutant]:
    """Choose mutants by a seed, at most one a line, in each room as many as its share of all statements."""
    texts = {room: {p: p.read_text("utf-8") for p in sorted((root / room).rglob("*.py"))} for room in rooms}
    sizes = [
        sum(isinstance(node, ast.stmt) for text in of.values() for node in ast.walk(ast.parse(text)))
        for of in texts.values()
    ]
    upto = [round(number * sum(sizes[:n]) / sum(sizes)) for n in range(len(sizes) + 1)]
    dice, found = random.Random(seed), list[Mutant]()
    for (start, end), of in zip(pairwise(upto), texts.values(), strict=True):
        lines: dict[tuple[str, int], list[Mutant]] = {}
        for path, text in of.items():
            for mutant in mutants(path.relative_to(root).as_posix(), text):
                lines.setdefault(mutant[:2], []).append(mutant)
        found += [
            dice.choice(lines[line]) for line in dice.sample(sorted(lines), min(end - start, len(lines)))
        ]
    return found
