"""Tells whether a reply keeps something back: it does not know, it may not say, or it has been told to forget.

As with abstentions, what a reply asserts is weighed first, so this may be read generously.
"""

import re

from ltm_bench.matchers.reading.abstaining import abstains, in_own_words
from ltm_bench.matchers.reading.text import plain

_KEPT_BACK = re.compile(
    r"\b(?:deleted|erased|wiped|discarded|removed|scrubbed|cleared|forgot(?:ten)?|let go of|disposed of)\b"
    r"|\b(?:asked|told|wanted|instructed) (?:me )?(?:to|that i) (?:forget|delete|erase|remove|drop|keep)\b"
    r"|\b(?:private|confidential|between (?:us|me and|you and)|in confidence|personal|not (?:my|mine)|"
    r"someone else's|somebody else's|(?:his|her|their) business|for \w+ to (?:say|tell|share))\b"
    r"|\b(?:rather|prefer|better|best) (?:not|to leave|to ask|to keep)\b|\b(?:won't|will not|should not|shouldn't|"
    r"may not|must not|not going to|not free to|not at liberty to|not allowed to) (?:say|tell|share|pass|repeat|"
    r"reveal|disclose|discuss|give|go into)\b"
    r"|\b(?:is|are|'s) gone\b|\bbetween \w+ and (?:me|you|us)\b|\b(?:stays?|remains?) (?:with|between)\b"
    r"|\b(?:break\w*|betray\w*|breach\w*|against|keep\w*|kept|violat\w+) (?:[\w']+ ){0,2}"
    r"(?:promise|word|confidence|confidentiality|trust|faith|privacy|secrets?)\b"
    r"|\b(?:promised|promise|swore|sworn)(?: [\w']+){0,3} (?:not|never|secrecy|silence|keep|say|tell)\b"
    r"|\bin (?:trust|secrecy)\b|\b(?:a|his|her|their|[\w]+'s) secret\b|\blips are sealed\b|\bno comment\b|\bprivacy\b"
    r"|\b(?:have|need|best|better) to ask\b|\b(?:ask|check with) (?:him|her|them|\w+) (?:yourself|directly"
    r"|about)\b|\bpass (?:that|it|this|anything) on\b"
)


_CONFLICT = re.compile(
    r"\b(?:conflict|contradict|inconsisten|discrepan|disagree|incompatib)\w*|\b(?:both|two different|which (?:one|of)|"
    r"cannot both|can't both|don't agree|do not agree|don't match|do not match)\b"
)


def notices_conflict(reply: str) -> bool:
    """Whether a reply says that two things contradict each other."""
    return _CONFLICT.search(plain(reply)) is not None


def keeps_back(reply: str) -> bool:
    """Whether a reply says anywhere that it does not know, has forgotten on request, or will not tell."""
    own = in_own_words(reply)
    return abstains(own) or _KEPT_BACK.search(plain(own)) is not None
