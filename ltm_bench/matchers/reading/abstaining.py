"""Tells whether a reply says that it does not know: thoroughly in English, only in plain forms in German and Chinese.

An abstention counts only where nothing is asserted, so the matchers ask for it last, and it may be read generously.
"""

import re
from functools import lru_cache

from ltm_bench.core.words import alternatives, listed
from ltm_bench.matchers.reading.text import answer, plain, words

_NOT = r"(?:(?<!might )(?<!may )not|n't|never|cannot|no|nobody|nothing|without|unable to|no longer)"
_NO_MORE = r"(?! (?:other|else|further)\b)"
"""Not knowing of anything further says nothing of the answer: `no other places on record`."""
_KNOWING = f"(?:{alternatives('knowing')})"
_HARD = re.compile(
    rf"(?:\b{_NOT}|n't){_NO_MORE}(?: [\w'-]+){{0,4}}? {_KNOWING}\b"
    r"|\b(?:can't|cannot|could(?:n't| not))\b(?! (?:wait|go wrong)\b)"
    rf"|\b(?:{alternatives('unknown')})\b"
    r"|[不没無无忘未][^。！？\n]{0,8}(?:记得|記得|知道|清楚|提到|说过|告诉|信息|确定|找到|了)"
)
_SOFT = re.compile(r"\b(?:not|n't)(?: [\w'-]+){0,2} (?:sure|certain|clear)\b|\b(?:unsure|uncertain)\b")
"""Says that the answer is uncertain, and perhaps gives one."""
_NOTHING = frozenset("null none n/a na unknown nil undefined nothing ? ?? ??? - -- --- … {} []".split())
_EMPTY = re.compile(r"""^\W*["']?\w{1,24}["']?\s*:\s*(?:null|none|""|"unknown"|"n/a"|\[\]|\{\})\W*$""")
_BARE = re.compile(r"[\s.`*\"']+")
_QUOTED = re.compile(r"“[^“”\n]{24,2000}”|\"[^\"\n]{24,2000}\"")
"""Minimum length of a quotation; answers in quotation marks are shorter."""
_OTHERS = re.compile(r"\bno(?: one|body)\b(?: [\w'-]+){0,3}? (?:know|idea|clue|sure|remember)(?!.* me\b)")
"""What nobody knows, which a text may say of something else."""


def in_own_words(reply: str) -> str:
    """Return a reply without its quotations: one that quotes “tell me if you do not know” may know.

    A reply that is a single quotation is kept, and so are the strings of JSON.
    """
    said = answer(reply)
    left = said if said.lstrip()[:1] in ("{", "[", "`") else _QUOTED.sub(" ", said)
    return left if any(map(str.isalnum, left)) else reply


def _own(reply: str) -> str:
    return _OTHERS.sub(" ", plain(in_own_words(reply)))


@lru_cache(maxsize=32)
def abstains(reply: str) -> bool:
    """Whether a reply says anywhere that the answer is not known, or says nothing in so many words (`null`)."""
    text = plain(reply)
    said = gives_up(reply) or _SOFT.search(_own(reply)) is not None
    return said or _BARE.sub("", text) in _NOTHING or _EMPTY.match(text.strip()) is not None


_BESIDES = frozenset("but more else other any further why when anything whether if hope".split())


def is_abstention(sentence: str) -> bool:
    """Whether a sentence says that the answer is not known, and not that something besides it is not."""
    bare = _BARE.sub("", plain(sentence)) in _NOTHING
    first, *rest = words(sentence) or [""]
    return bare or (gives_up(sentence) and first != "if" and _BESIDES.isdisjoint(rest))


@lru_cache(maxsize=32)
def gives_up(reply: str) -> bool:
    """Whether a reply says that it does not know at all, which is more than being unsure of what it says."""
    return _HARD.search(_own(reply)) is not None


_EXAMPLE = re.compile(r"\b(?:example|for instance|e\.g|sample|hypothetical|illustrat|template|placeholder)")


def gives_example(reply: str) -> bool:
    """Whether a reply offers its content as an example, not as an answer."""
    return _EXAMPLE.search(plain(reply)) is not None


_OTHER_LANGUAGE = frozenset(listed("foreign"))
_OURS = frozenset("the is was you i it of and to in a your that my at for on this are not it's".split())
_IDEOGRAPH = r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0400-\u04ff\u0600-\u06ff]"
"""Compiled by the first reply that is not plain English, since that takes long."""


def is_foreign(reply: str) -> bool:
    """Whether a reply is in a language that the matchers do not read: what it says is undecided, not wrong."""
    said = words(reply)[:200]
    other = len([word for word in said if word in _OTHER_LANGUAGE])
    ours = len([word for word in said if word in _OURS])
    foreign = not ours and not reply.isascii() and re.search(_IDEOGRAPH, reply) is not None
    return other > max(1, 2 * ours) or foreign


_KEPT_BACK = rf"\b(?:{alternatives('kept back')})\b|{alternatives('refused')}"
"""Keeps something back. A bare no does, and so does a reply that sends the user to somebody else. Compiled by the few
matchers that ask, since that takes as long as most modules."""


_CONFLICT = re.compile(rf"\b(?:{alternatives('conflict')})")


def notices_conflict(reply: str) -> bool:
    """Whether a reply says that two things contradict each other."""
    return _CONFLICT.search(plain(reply)) is not None


def keeps_back(reply: str) -> bool:
    """Whether a reply says anywhere that it does not know, has forgotten on request, or will not tell."""
    own = plain(in_own_words(reply))
    return abstains(reply) or re.search(_KEPT_BACK, own.replace("_", " ")) is not None  # `_deleted_`
