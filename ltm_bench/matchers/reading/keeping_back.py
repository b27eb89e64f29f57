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
    r"|\b(?:ask|check with) (?:him|her|them|\w+) (?:yourself|directly|about)\b|\bpass (?:that|it|this|anything) on\b"
)


def keeps_back(reply: str) -> bool:
    """Whether a reply says anywhere that it does not know, has forgotten on request, or will not tell."""
    return abstains(reply) or _KEPT_BACK.search(plain(reply)) is not None
