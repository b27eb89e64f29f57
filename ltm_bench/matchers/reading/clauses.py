"""Divides the lines of a reply into sentences, and those into parts that can be meant differently."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from ltm_bench.matchers.reading.lexicon import Lexicon, Named
from ltm_bench.matchers.reading.structure import Block
from ltm_bench.matchers.reading.text import spelt

_TOKEN = re.compile(
    r"(?P<word>[❌✗✘✖🚫✅✔☑]|(?:e\.g|i\.e|[ap]\.m|approx)\.(?=[\s,]|$)|[\u3400-\u9fff]+|\d+(?=[\u3400-\u9fff])|\d+\.\d[^\W_]*(?:\.\d[^\W_]*)*|[^\W_]+(?:['-][^\W_]+){0,8}|%)|(?P<arrow>[-=]{1,3}>|→|⇒|➡|⟶|➔|▶|»|(?<=\s)>(?=\s))"
    r"|(?P<dash>(?<=\s)-{1,3}(?=\s)|(?<=[^\W\d_])-{2,3}(?=[^\W\d_]))|(?P<end>[.!?…。！？](?=[\s\"')\]*_]|$)|[。！？])|(?P<other>[,;:()\[\]/，、；：（）←])"
)
_OPENERS = frozenset(
    "and or nor but though although while whereas however since because so then therefore thus hence until unless if "
    "when whether yet that's".split()
)
_BEFORE_OPENER = {"but": ("anything", "everything", "all", "nothing"), "while": ("a", "little", "long")}
"""Words after which an opener opens nothing: `anything but red`, `for a while`."""
JOINS = frozenset("and or nor then & , / 、 ，".split())
_STRONG = frozenset("; ( ) [ ] - 。 ； （ ）".split())
_STRESS = ("very", "really")


_HEAP = 30
"""Maximum things named without a separator between them before another part begins; this keeps reading linear."""


@dataclass(slots=True)
class Part:
    """A clause, or the words between two separators."""

    opener: str
    said: list[str] = field(default_factory=list)
    """Its words; a named thing is `""`."""
    named: list[tuple[int, Named, int, int]] = field(default_factory=list)
    """Place among the words, what is named, begin and end in the block."""
    arrow_after: bool = False

    def bare(self) -> bool:
        """Whether it holds nothing but named things and conjunctions."""
        return bool(self.named) and all(
            not word or word in JOINS or word in ("the", "a", "an") for word in self.said
        )


def sentences(
    block: Block, lexicon: Lexicon, *, silent: bool = True
) -> Iterator[tuple[list[Part], str, tuple[int, int]]]:
    """Yield the parts of each sentence of a block, the sign at its end, and where it begins and ends.

    Args:
        block: The block.
        lexicon: What could be named.
        silent: Whether to yield the sentences of a block that names nothing of the lexicon.
    """
    tokens = [
        (each.lastgroup or "", each[0], each.start(), each.end()) for each in _TOKEN.finditer(block.text)
    ]
    said = [spelt(text.rstrip(".")) if kind == "word" else "" for kind, text, _, _ in tokens]
    heard = {begin: (end, named) for begin, end, named in lexicon.hear(said)}
    if not heard and not silent:
        return
    parts = [Part("")]
    i = begun = 0
    while i < len(tokens):
        kind, text, start, stop = tokens[i]
        if i in heard:
            end, named = heard[i]
            if len(parts[-1].named) >= _HEAP:
                parts.append(Part(""))
            parts[-1].named.append((len(parts[-1].said), named, start, tokens[end - 1][3]))
            parts[-1].said.append("")
            i = end
            continue
        i += 1
        if kind == "end":
            yield parts, text, (begun, stop)
            parts, begun = [Part("")], stop
        elif kind == "arrow":
            parts[-1].arrow_after = True
            parts.append(Part("→"))
        elif kind == "dash":
            parts.append(Part("-"))
        elif kind == "other":
            if text in (":", "：", "/"):
                parts[-1].said.append(text)
                if text == "/":
                    parts.append(Part("or"))
            else:
                parts.append(Part("(" if text == "←" else text))
        elif (parts[-1].said[-1:] or [""])[0] in _BEFORE_OPENER.get(text, ()):
            parts[-1].said.append(text)
        elif text in _OPENERS and (parts[-1].named or text not in ("so", "then", "since", "if", "whether")):
            parts.append(Part(text, [spelt(text)]))
        elif text not in _STRESS:
            parts[-1].said.append(spelt(text.rstrip(".")))
    yield parts, "", (begun, len(block.text))
