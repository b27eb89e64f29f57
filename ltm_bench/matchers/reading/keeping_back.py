"""Tells whether a reply keeps something back: it does not know, it may not say, or it has been told to forget.

As with abstentions, what a reply asserts is weighed first, so this may be read generously.
"""

import re

from ltm_bench.matchers.reading.abstaining import abstains
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
    r"|\b(?:promis\w+|sworn|secre(?:t|ts|cy)|discre\w+|privacy|betray\w*|breach\w*|breaking|break|trust(?:ed|s)?|"
    r"sealed|no comment|my word)\b"
    r"|\b(?:have|need|best|better) to ask\b|\b(?:ask|check with) (?:him|her|them|\w+) (?:yourself|directly"
    r"|about)\b|\bpass (?:that|it|this|anything) on\b"
)


_CONFLICT = re.compile(
    r"\b(?:conflict|contradict|inconsisten|discrepan|disagree|incompatib)\w*|\b(?:both|two different|which (?:one|of)|"
    r"cannot both|can't both|don't agree|do not agree|don't match|do not match)\b"
)


def notices_conflict(reply: str) -> bool:
    """Whether a reply says that two things do not go together."""
    return _CONFLICT.search(plain(reply)) is not None


def keeps_back(reply: str) -> bool:
    """Whether a reply says anywhere that it does not know, has forgotten on request, or will not tell."""
    return abstains(reply) or _KEPT_BACK.search(plain(reply)) is not None
