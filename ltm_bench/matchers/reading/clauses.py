"""Divides the lines of a reply into sentences, and those into clauses that can be meant differently."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from ltm_bench.core.words import listed
from ltm_bench.matchers.reading.lexicon import Lexicon, Named
from ltm_bench.matchers.reading.structure import Block
from ltm_bench.matchers.reading.text import spelt

_TOKEN = re.compile(
    r"(?=\S)(?:(?P<word>[❌✅]|(?:e\.g|i\.e|[ap]\.m|approx)\.(?=[\s,]|$)|[\u3400-\u9fff]+|\d+(?=[\u3400-\u9fff])"
    r"|\d+\.\d[^\W_]*(?:\.\d[^\W_]*)*|[^\W_]+(?:['-][^\W_]+){0,8}|%)"
    r"|(?P<arrow>[-=]{1,3}>|→|⇒|➡|⟶|➔|▶|»|(?<=\s)>(?=\s))"
    r"|(?P<dash>(?<=\s)-{1,3}(?=\s)|(?<=[^\W\d_])-{2,3}(?=[^\W\d_]))"
    r"|(?P<end>[.!?…。！？](?=[\s\"')\]*_]|$)|[。！？])|(?P<other>[,;:()\[\]/，、；：（）←]))"
)
_OPENERS = frozenset(listed("openers"))
_BEFORE_OPENER = {"but": ("anything", "everything", "all", "nothing"), "while": ("a", "little", "long")}
"""Words after which an opener opens nothing: `anything but red`, `for a while`."""
JOINS = frozenset("and or nor & , ; / 、 ，".split())
_ARTICLES = ("the", "a", "an")
_HEAP = 30
"""Maximum things named without a separator between them before another clause begins; this keeps reading linear."""


@dataclass(slots=True)
class Clause:
    """A part of a sentence that is meant in one way, or names things that each have words of their own."""

    opener: str
    said: list[str] = field(default_factory=list)
    """Its words; a named thing is `""`."""
    named: list[tuple[int, Named, int, int]] = field(default_factory=list)
    """Place among the words, what is named, begin and end in the block."""
    arrow_after: bool = False

    def words(self) -> Iterator[str]:
        """Yield what it says besides what it names."""
        return (word for word in self.said if word and word not in JOINS and word not in (":", *_ARTICLES))

    def groups(self) -> Iterator[tuple[int, int]]:
        """Yield the first and the last number of things named side by side: with nothing but `and` between them."""
        first = 0
        for i, (place, *_) in enumerate(self.named):
            end = i + 1 == len(self.named)
            if end or not _is_joined(self.said[place + 1 : self.named[i + 1][0]]):
                yield first, i
                first = i + 1


def _is_joined(between: Sequence[str]) -> bool:
    return all(word in JOINS or word in _ARTICLES for word in between)


Sentence = tuple[list[Clause], str, tuple[int, int]]
"""Its clauses, the sign at its end, and where it begins and ends."""


def sentences(block: Block, lexicon: Lexicon, *, silent: bool = True) -> Iterator[Sentence]:
    """Yield each sentence of a block.

    Args:
        block: The block.
        lexicon: What could be named.
        silent: Whether to yield the sentences of a block that names nothing of the lexicon.
    """
    tokens, said = _read(block.text)
    heard = {begin: (end, named) for begin, end, named in lexicon.hear(said)}
    if not heard and not silent:
        return
    clauses = [Clause("")]
    i = begun = 0
    while i < len(tokens):
        kind, text, (start, stop) = tokens[i].lastgroup or "", tokens[i][0], tokens[i].span()
        last = clauses[-1]
        if i in heard:
            end, named = heard[i]
            if len(last.named) >= _HEAP:
                last = Clause("")
                clauses.append(last)
            last.named.append((len(last.said), named, start, tokens[end - 1].end()))
            last.said.append("")
            i = end
            continue
        i += 1
        if kind == "end":
            yield _coordinated(clauses), text, (begun, stop)
            clauses, begun = [Clause("")], stop
        elif kind == "word" and not _opens(text, last):
            last.said += [text[:-3], "not"] if text.endswith("n't") else [said[i - 1]]
        elif kind == "other" and text in (":", "："):
            last.said.append(":")
        else:
            last.arrow_after = kind == "arrow"
            sign = text if kind == "other" else kind
            opener = {"arrow": "→", "dash": "-", "/": "or", "←": "("}.get(sign, text)
            if not last.said and last.opener in (",", ";") and opener in JOINS:
                last.opener = opener  # `, and`
            else:
                clauses.append(Clause(opener))
            if kind == "word" and opener not in JOINS:
                clauses[-1].said.append(text)
    if any(clause.said for clause in clauses):
        yield _coordinated(clauses), "", (begun, len(block.text))


@lru_cache(maxsize=8)  # a matcher of several lexicons reads a block with each
def _read(text: str) -> tuple[Sequence[re.Match[str]], Sequence[str]]:
    """Return the tokens of a text, and their words; a sign is an empty word."""
    tokens = list(_TOKEN.finditer(text))
    return tokens, [spelt(each[0].rstrip(".")) if each.lastgroup == "word" else "" for each in tokens]


def _opens(word: str, last: Clause) -> bool:
    """Whether a word opens another clause after this one."""
    return word in _OPENERS and "".join(last.said[-1:]) not in _BEFORE_OPENER.get(word, ())


def _coordinated(clauses: Sequence[Clause]) -> list[Clause]:
    """Return the clauses with those joined that only name more of the same: `pink`, `, red` and `and white`."""
    kept = [clauses[0]]
    for clause in clauses[1:]:
        last = kept[-1]
        joins = clause.opener in JOINS and 0 < len(last.named) < _HEAP and clause.named
        ended = joins and _is_joined(last.said[last.named[-1][0] + 1 :])
        bare = ended and _is_joined(clause.said[: clause.named[0][0]])
        if bare and (clause.opener not in (",", ";") or _is_joined([word for word in clause.said if word])):
            shift = len(last.said) + 1
            last.said += [clause.opener, *clause.said]
            last.named += [(at + shift, named, begin, end) for at, named, begin, end in clause.named]
            last.arrow_after = clause.arrow_after
        else:
            kept.append(clause)
    return kept
