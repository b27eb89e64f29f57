"""Deliveries: how long material reaches the agent, in one message, in parts, or scattered over the span.

A task has pieces of material and questions about them; the suite chooses the delivery. The three papers that the tasks
come from (Counting-Stars, InfiniteBench, SWiM) only use `one_shot`, a single prompt. All questions about the same
material share one delivery. Depths are measured in tokens of the default counter, in the message as sent.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Literal, NamedTuple, get_args

from ltm_bench.core.messages import Ask, Buried, Chat, Line, Tell
from ltm_bench.core.tokens import counter

Delivery = Literal["one_shot", "chunked", "scattered"]
DELIVERIES: tuple[Delivery, ...] = get_args(Delivery)

PART = "Part {i} of {n}. Please just confirm that you have read it; the question comes later.\n\n"
"""The beginning of each part when material is delivered in parts."""

CHUNK = 2000
"""Tokens per part."""

_MARGIN = 0.97
"""Share of the usable span that material may fill in one message or in parts; the rest is left for the question."""


class Piece(NamedTuple):
    """An indivisible piece of the material."""

    text: str
    kind: Literal["needle", "matter", "hay"] = "matter"
    """A needle contains the answer, matter belongs to the task, hay only adds length."""


def room(span: int) -> int:
    """Return the tokens of material that fill a span."""
    return int(span * 0.9 * _MARGIN)


def bury(needles: Iterable[tuple[float, str]], hay: Iterator[str], tokens: int, joint: str) -> list[Piece]:
    """Bury needles in hay, each as close to its depth as possible.

    Args:
        needles: Depth, from 0 to 1, and text of each.
        hay: An endless supply of texts.
        tokens: Total length of needles and hay, accurate to half a piece of hay.
        joint: The separator between two pieces.

    Returns:
        The pieces in order. A needle misses `depth * tokens` by less than one piece of hay, or by the needle before it.
    """
    count = counter().count
    pieces: list[Piece] = []
    straw, size, position = "", 0, 0

    def fill(goal: float) -> None:
        nonlocal straw, size, position
        while True:
            if not size:
                straw = next(hay)
                size = max(1, count(straw + joint))
            if position + size / 2 > goal:
                return
            pieces.append(Piece(straw, "hay"))
            position, size = position + size, 0

    laid = [(depth, text, count(text + joint)) for depth, text in sorted(needles, key=lambda pair: pair[0])]
    after = sum(size for _, _, size in laid)
    for depth, text, length in laid:
        # A needle at depth 1 is the last piece; leave room for the needles that follow.
        fill(min(depth * tokens, tokens - after))
        pieces.append(Piece(text, "needle"))
        position, after = position + length, after - length
    fill(tokens)
    return pieces


def deliver(
    pieces: Sequence[Piece],
    questions: Sequence[Ask],
    *,
    delivery: str,
    begin: str = "",
    joint: str = "\n",
    chunk: int = CHUNK,
    most: int = 0,
    part: str = PART,
    end: float = 1.0,
    gap: str = "\n\n",
) -> Generator[Line, object, None]:
    """Yield the messages that deliver the material and ask the questions.

    Args:
        pieces: The material, in order.
        questions: Their texts are strings, not functions of the time. The first comes with the material
            (`one_shot`), or after it; the others follow at once. Material that others follow is never forked off.
        delivery: One of DELIVERIES. `scattered` omits the hay, gives every needle a message of its own, and joins
            matter into messages of at most `chunk` tokens.
        begin: The text before the material; omitted if only needles are left.
        joint: The separator between two pieces.
        chunk: Maximum tokens of each of several messages; a longer piece is a message of its own.
        most: Maximum tokens of the single message, which is cut in the middle as InfiniteBench's programs do; 0 for no
            limit. Needles that are cut are marked.
        part: The beginning of a part, with `{i}` and `{n}`.
        end: For `scattered`, the position of the first question; each message comes where its text would be in a single
            message that ends there.
        gap: What stands between the material of a single message and the texts around it.
    """
    if delivery not in DELIVERIES:
        raise ValueError(f"delivery = {delivery!r}: must be {', '.join(DELIVERIES[:-1])} or {DELIVERIES[-1]}")
    if most and delivery != "one_shot":
        raise ValueError(f"most = {most}: only a delivery in one message can be cut, not {delivery!r}")
    if chunk < 1:
        raise ValueError(f"chunk = {chunk}: 1 token or more")
    first, *others = questions
    if delivery == "one_shot":
        whole = _whole(pieces, first, begin, joint, most, gap)
        yield replace(whole, inline=True) if others else whole
    elif delivery == "chunked":
        yield from _parts(pieces, begin, joint, chunk, part)
        yield first
    else:
        yield from _scattered(pieces, begin, joint, chunk, end)
        yield replace(first, at=end)
    yield from (each for each in others)  # a generator: a list takes no replies


def _whole(pieces: Sequence[Piece], question: Ask, begin: str, joint: str, most: int, gap: str) -> Ask:
    """Put everything into one message, cut in the middle if it is too long."""
    assert isinstance(question.text, str)
    head = f"{begin}{gap}" if begin else ""
    body, needles = _joined(pieces, joint, head)
    text = f"{body}{gap}{question.text}"
    total = counter().count(text)
    if not most or total <= most:
        return replace(question, text=text, buried=tuple(Buried(each.text, each.before) for each in needles))
    kept_head, kept_tail = most // 2, most - most // 2
    start, end = counter().ends(text, kept_head, kept_tail)
    gone = total - most

    def left(needle: _Located) -> int | None:
        if needle.before + needle.tokens <= kept_head:
            return needle.before
        return needle.before - gone if needle.before >= kept_head + gone else None

    return replace(
        question, text=start + end, buried=tuple(Buried(each.text, left(each)) for each in needles)
    )


class _Located(NamedTuple):
    """A needle within a longer text."""

    text: str
    before: int
    """Tokens of the text before it."""
    tokens: int


def _joined(pieces: Sequence[Piece], joint: str, head: str = "") -> tuple[str, list[_Located]]:
    """Return pieces as one text, and its needles.

    The text between two needles is counted as a whole, so that depths are those of the text, not sums over pieces.
    """
    count = counter().count
    needles: list[_Located] = []
    before, stretch, parts = 0, head, [head]
    for i, piece in enumerate(pieces):
        text = piece.text if i == len(pieces) - 1 else piece.text + joint
        parts.append(text)
        if piece.kind == "needle":
            before, stretch = before + count(stretch), ""
            needles.append(_Located(piece.text, before, count(text)))
            before += needles[-1].tokens
        else:
            stretch += text
    return "".join(parts), needles


def _parts(pieces: Sequence[Piece], begin: str, joint: str, chunk: int, part: str) -> Iterator[Line]:
    groups = list(_grouped(pieces, joint, chunk, lambda piece: False))
    for i, group in enumerate(groups, start=1):
        head = (f"{begin}\n\n" if begin and i == 1 else "") + part.format(i=i, n=len(groups))
        yield _message(group, joint, head, 0.0 if i == 1 else None, known=_known(pieces))


def _scattered(pieces: Sequence[Piece], begin: str, joint: str, chunk: int, end: float) -> Iterator[Line]:
    among_hay = any(piece.kind == "hay" for piece in pieces)
    total = sum(_size(piece, joint) for piece in pieces)
    # Among matter alone, a needle in a message of its own would give itself away.
    groups = _grouped(pieces, joint, chunk, lambda piece: among_hay and piece.kind != "matter")
    before, first = 0, True
    for group in groups:
        if group[0].kind != "hay":
            head = f"{begin}\n\n" if begin and first and not among_hay else ""
            yield _message(group, joint, head, end * before / total, known=_known(pieces))
            first = False
        before += sum(_size(piece, joint) for piece in group)


def _size(piece: Piece, joint: str) -> int:
    return counter().count(piece.text + joint)


def _known(pieces: Sequence[Piece]) -> bool:
    """Whether the material says which pieces are needles; if not, all of it may be."""
    return any(piece.kind == "needle" for piece in pieces)


def _message(group: Sequence[Piece], joint: str, head: str, at: float | None, *, known: bool) -> Line:
    text, needles = _joined(group, joint, head)
    if known and not needles:
        return Chat(text, at=at)
    if len(group) == 1 and not head:
        return Tell(text, at=at)
    return Tell(text, at=at, buried=tuple(Buried(each.text, each.before) for each in needles))


def _grouped(
    pieces: Sequence[Piece], joint: str, chunk: int, alone: Callable[[Piece], bool]
) -> Iterator[Sequence[Piece]]:
    """Put pieces together up to a number of tokens."""
    group: list[Piece] = []
    held = 0
    for piece in pieces:
        size = _size(piece, joint)
        if group and (held + size > chunk or alone(piece) or alone(group[-1])):
            yield group
            group, held = [], 0
        group.append(piece)
        held += size
    if group:
        yield group


def depths(pieces: Sequence[Piece], joint: str = "\n") -> list[tuple[int, int]]:
    """Return, for every needle, the tokens before it and those of all pieces."""
    text, needles = _joined(pieces, joint)
    total = counter().count(text)
    return [(each.before, total) for each in needles]


def evenly(count: int) -> list[float]:
    """Return `count` depths at equal distances, the last of them at the end, as in Counting-Stars."""
    return [(i + 1) / count for i in range(count)]
