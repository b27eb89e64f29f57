"""Tells whether a reply says that it does not know: thoroughly in English, only in plain forms in German and Chinese.

An abstention counts only where nothing is asserted, so the matchers ask for it last, and it may be read generously.
"""

import re

from ltm_bench.matchers.reading.text import answer, plain, words

_NOT = r"(?:not|n't|never|no longer|cannot|unable to|fail(?:ed|s)? to|hardly|without)"
_KNOWING = (
    r"(?:know|knows|knowing|remember\w*|recall\w*|recollect\w*|find|found|see|seen|locate\w*|tell|determine\w*|answer|"
    r"access\w*|retriev\w+|retain\w*|kee?pt?|stor\w+|record\w*|not(?:e|ed|ing)|mention\w*|sa(?:y|id)|shar\w+|discuss\w*|"
    r"come up|came up|specif\w+|provid\w+|told|given|state[ds]?|aware|help|track|cover\w*|been|have|has|place|identify|"
    r"confirm|recogni[sz]e\w*|trace|clear|certain|sure|available|pin ?point|possible to)"
)
_THING = (
    r"(?:information|info|records?|memory|memories|recollection|idea|mention|knowledge|context|clue|trace|details?|notes?|"
    r"data|access|way|reference|answer|indication|such|history|log|specifics|earlier)"
)
_IDIOM = r"(?:wait|go wrong|complain|beat|thank|recommend|stress|be happier)"
"""Idioms after `can't` that admit nothing: `I can't wait`."""
_ENGLISH = re.compile(
    rf"(?:\b{_NOT}|n't)(?: [\w'-]+){{0,4}}? {_KNOWING}\b"
    rf"|\b(?:can't|cannot|can not|couldn't|could not|unable to|not able to|wasn't able to)\b(?! {_IDIOM}\b)"
    r"|\byet to (?:tell|mention|say|share|reveal|learn|hear|find out)\b"
    r"|\b(?:kept?|keeping) [\w']+ to yourself\b|\b(?:left|leaving) [\w']+ out\b"
    r"|\b(?:didn't|did not|haven't|have not) (?:write|written|made? up|decided?|catch|caught)\b"
    r"|\b(?:rather|will|have to|must|'ll) (?:pass|skip)\b|\bleave (?:it |that )?to you\b|"
    r"\btoo many\b[^.!?\n]{0,60}\bto (?:list|recall)\b"
    rf"|\b(?:no|not any|n't any|lack|without|nothing)(?: [\w'-]+){{0,2}} (?:{_THING}|{_KNOWING})\b"
    rf"|\b(?:have|has|had|is|was|are)(?:n't| not| never)(?: [\w'-]+){{0,3}} {_KNOWING}\b"
    r"|\b(?:forgot|forgotten|unknown|unsure|uncertain|unaware|unclear|unavailable|as an ai|lost (?:track|"
    r"count)|no longer in my)\b"
    r"|\b(?:slip(?:s|ped)|escap(?:es|ed)|elud(?:es|ed)|evad(?:es|ed)|fail(?:s|ed|ing)?|leav(?:es|ing)|desert(?:s|ed)) "
    r"(?:my (?:mind|memory)|me)\b"
    r"|\bmy (?:memory|mind)(?: [\w'-]+){0,2} (?:fails?|failing|blank|hazy|foggy|gone)\b|\bdraw(?:ing|n)? a blank\b"
    r"|\b(?:remind|refresh)(?: [\w'-]+){0,2} (?:me|my memory)\b|\bmissed (?:it|that|this)\b"
    r"|\b(?:could|can|would|will) you (?:please |kindly |perhaps |maybe )?(?:repeat|remind|tell|restate|"
    r"clarify|share|provide|"
    r"give|say (?:it|that)|specify|refresh|resend|re-?tell)\b"
    r"|\b(?:need|like|want|ask) you to (?:repeat|remind|tell|share|provide|give|say|clarify|specify)\b"
    r"|\bplease (?:remind|repeat|tell me|share|provide|clarify|specify|restate)\b"
    r"|\b(?:rather|prefer|refus\w+|declin\w+|like) not (?:to )?(?:guess|say|answer|speculate)\b"
    r"|\b(?:be|only|just|merely|simply|pure(?:ly)?) (?:a )?(?:guess(?:ing|work)?|speculat\w+)\b"
    r"|\bbut not (?:where|what|who|whom|whose|which|when|how)\b|\bnothing (?:on|about)\b"
    r"|\bbeats me\b|\bno clue\b|\b(?:too|so) long ago\b|\bgone from my\b|\bout of (?:my )?(?:context|memory)\b"
)
_FOREIGN = re.compile(
    r"\b(?:wei(?:ss|ß)|erinner\w*|kenne|habe|kann|konnte|finde|fand|liegt|liegen|wurde|hast|entsinne|merken)\b[^.!?\n]{0,25}"
    r"\b(?:nicht|nichts|nie|keine?[nrsm]?|leider)\b|\bkeine (?:ahnung|information\w*|erinnerung\w*|angabe\w*|daten)\b"
    r"|\b(?:nicht|nie)\b[^.!?\n]{0,30}\b(?:erinnern?|erwahnt|gesagt|bekannt|genannt|mitgeteilt|gemerkt|sicher)\b"
    r"|\b(?:nicht mehr|vergessen|entfallen|entgangen|unbekannt)\b"
    r"|[不没無无忘未][^。！？\n]{0,8}(?:记得|記得|知道|清楚|提到|提过|提及|说过|告诉|记录|信息|印象|回忆|回答|确定|找到|记住|掌握|了)"
    r"|忘记|忘了|忘記"
)
_NOTHING = frozenset(
    "null none n/a na unknown nil undefined nothing ? ?? ??? - -- --- … ... {} [] \"\" ''".split()
)
_EMPTY = re.compile(r"""^\W*["']?\w{1,24}["']?\s*:\s*(?:null|none|""|"unknown"|"n/a"|\[\]|\{\})\W*$""")
_BARE = re.compile(r"[\s.`*\"']+")


_QUOTED = re.compile(r"“[^“”\n]{24,2000}”|\"[^\"\n]{24,2000}\"")
"""Minimum length of a quotation; answers in quotation marks are shorter."""


def in_own_words(reply: str) -> str:
    """Return a reply without its quotations: one that quotes “tell me if you do not know” may know.

    A reply that is a single quotation is kept, and so are the strings of JSON.
    """
    said = answer(reply)
    left = said if said.lstrip()[:1] in ("{", "[", "`") else _QUOTED.sub(" ", said)
    return left if any(map(str.isalnum, left)) else reply


def abstains(reply: str) -> bool:
    """Whether a reply says anywhere that the answer is not known, or says nothing in so many words (`null`)."""
    text = plain(reply)
    return (
        _ENGLISH.search(text) is not None
        or _FOREIGN.search(text) is not None
        or _BARE.sub("", text) in _NOTHING
        or _EMPTY.match(text.strip()) is not None
    )


_HARD = re.compile(
    rf"(?:\b{_NOT}|n't)(?: [\w'-]+){{0,3}}? (?:know|remember|recall|recollect|tell|answer|have any)\b"
    r"|\b(?:no idea|no clue|no memory|no recollection|forgot|forgotten|lost track|guessing|beats me)\b"
)


def gives_up(reply: str) -> bool:
    """Whether a reply says that it does not know at all, which is more than being unsure of what it says."""
    return _HARD.search(plain(reply)) is not None or _FOREIGN.search(plain(reply)) is not None


_EXAMPLE = re.compile(
    r"\b(?:example|for instance|e\.g|sample|hypothetical|illustrat\w+|template|placeholder)\b"
)


def gives_example(reply: str) -> bool:
    """Whether a reply offers its content as an example, not as an answer."""
    return _EXAMPLE.search(plain(reply)) is not None


_OTHER_LANGUAGE = frozenset(
    "der die das und ist mit ein eine einen einem im am um den dem du deine dein war zum zur nach von bei es ich "
    "le la les une un des et est avec dans sur il elle je tu vous ton ta était "
    "el los las una y es con en por lo yo usted tu era il gli della di che è sono nel".split()
)
_OURS = frozenset("the is was you i it of and to in a your that my at for on this are not it's".split())
_IDEOGRAPH = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0400-\u04ff\u0600-\u06ff]")


def is_foreign(reply: str) -> bool:
    """Whether a reply is in a language that the matchers do not read: what it says is undecided, not wrong."""
    said = words(reply)[:200]
    other = sum(word in _OTHER_LANGUAGE for word in said)
    ours = sum(word in _OURS for word in said)
    return other > max(1, 2 * ours) or (not ours and _IDEOGRAPH.search(reply) is not None)
