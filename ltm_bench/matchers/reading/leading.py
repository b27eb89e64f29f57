"""Which of the things that it names a reply puts forward: said first, announced, on a line of its own, or bold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ltm_bench.matchers.reading.clauses import JOINS, Part
from ltm_bench.matchers.reading.mention import Mention, Time
from ltm_bench.matchers.reading.structure import Block, Form, Reading

_FUNCTION = frozenset(
    "the a an your my our his her its their it it's is are be 's was were that that's this these there here with in at "
    "to on by of for and as you i we he she they would will yes yeah yep sure ok okay right oh ah well hi hello hey "
    "answer option number no choice certainly course absolutely definitely ha got easy one mr mrs ms s "
    "hmm um let me see "
    "thanks thank get please you'd you're i'd i'm say go take have choose pick like just simply clearly "
    "also too indeed "
    "honestly still remember do correct true".split()
)


def announced(parts: Sequence[Part]) -> int | None:
    """Return the number of the part that announces one thing with a colon, if one does: `What you need is: red`."""
    last = parts[-1]
    if len(last.named) != 1 or ":" not in last.said:
        return None
    colon = len(last.said) - 1 - last.said[::-1].index(":")
    bare = all(not word or word in _FUNCTION for word in last.said[colon + 1 :])
    return len(parts) - 1 if bare and last.named[0][0] > colon and colon > 0 else None


def leads(parts: Sequence[Part], whole: Sequence[Sequence[Mention]], asked: frozenset[str]) -> int | None:
    """Return the number of the part that gives an answer before the sentence says anything else, if one does."""
    light = _FUNCTION | asked
    for k, part in enumerate(parts):
        if not part.named:
            if all(word in light or not word.strip(":") for word in part.said):
                continue
            return None
        if part.opener == "→" or part.arrow_after or len({m.value for m in whole[k]}) != 1:
            return None
        if any(word and word not in light and word != ":" for word in part.said):
            return None
        following = _past_remark(parts, k + 1)
        listed = following is not None and following.named and following.opener in JOINS
        if listed and following is not None and (following.bare() or following.opener in ("and", "or")):
            return None
        return k
    return None


def _past_remark(parts: Sequence[Part], k: int) -> Part | None:
    """Return the part after a remark in parentheses, if there is one at `k`: `red (old), blue`."""
    remark = k < len(parts) and parts[k].opener == "(" and not parts[k].named
    while remark and k < len(parts) and not parts[k].named:
        k += 1
    return parts[k] if k < len(parts) else None


def emphasised(found: Sequence[Mention], reading: Reading) -> Iterator[Mention]:
    """Yield the mentions, `lead` only where one begins the reply, ends it on a line of its own, or alone is bold."""
    lone = [i for i, m in enumerate(found) if m.lead]
    first = next(iter(found), None)
    kept: set[int] = set()
    leading = {found[i].value for i in lone}
    if lone and len({found[i].block for i in lone if reading.blocks[found[i].block].form is Form.BULLET}) < 2:
        if first is not None and found[lone[0]] == first:
            kept |= {i for i in lone if found[i].sentence == first.sentence}
        last = found[lone[-1]]
        ends = all(m.block <= last.block for m in found) and _alone(reading.blocks[last.block])
        if ends and (len(leading) == 1 or not kept):
            kept.add(lone[-1])
    bold = {m.value for m in found if m.asserted and _is_bold(m, reading)}
    for i, m in enumerate(found):
        strong = (
            len(bold) == 1
            and m.value in bold
            and m.asserted
            and _is_bold(m, reading)
            and m.time is not Time.PAST
        )
        yield m._replace(lead=i in kept or strong)


def _alone(block: Block) -> bool:
    return len(block.text.split()) <= 6


def _is_bold(mention: Mention, reading: Reading) -> bool:
    block = reading.blocks[mention.block]
    if mention.start < 0 or not block.bold:
        return False
    return any(s <= mention.start - block.start and mention.end - block.start <= e for s, e in block.bold)
