"""Contradiction: the user says two things that cannot both be true; a good memory names both, or asks which is right.

After BEAM (Tavakoli et al. 2025). Neither statement corrects the other. The user also says something else
twice without contradiction, and asks about it in the same words. Each counts only if the other is right, so that
neither naming two of everything nor one of everything helps.
The texts, whom or what they are about, and what is said of it are in `contradiction.json`.
"""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from ltm_bench import Ask, Dice, Fact, Matcher, Script, Tell, both_said, content, names_only, scenario

CONTENT = content(__file__)
MESSAGES: Mapping[str, Any] = CONTENT["messages"]
KINDS: dict[str, dict[str, tuple[str, ...]]] = {
    kind: {**MESSAGES["kinds"][kind], **pools} for kind, pools in CONTENT["pools"].items()
}


@scenario(
    skills={"contradiction", "recall"},
    topics={"old stories"},
    forget=MESSAGES["forget"],
    version=4,
    decoys={},
)
def contradiction(dice: Dice, *, kinds: Mapping[str, Mapping[str, tuple[str, ...]]] = KINDS) -> Script:
    """Say two contradictory things about one subject and the same thing twice about another; then ask about both."""
    name = tuple(kinds)[dice.index % len(kinds)]
    kind = kinds[name]
    doubtful, plain = dice.hand("of", kind["of"], 2)
    one, other, same = dice.hand(f"values of {name}", kind["values"], 3)
    early = dice.shuffled([(doubtful, one), (plain, same)])
    late = dice.shuffled([(doubtful, other), (plain, same)])
    said, asked, forms = (
        cycle(dice.shuffled(each)) for each in (kind["said"], kind["asked"], MESSAGES["forms"])
    )
    for at, (of, value) in zip((0.0, 0.2, 0.5, 0.7), (*early, *late), strict=True):
        # Neither replaces the other. A memory should keep both, so each is a fact of its own.
        fact = Fact(f"{of}: {value}", value, words=(of.split()[1],), among=kind["values"])
        text = next(said).format(of=of, value=value)
        yield Tell(text, at=at, facts=(fact,))
    for i, of in enumerate(dice.shuffled([doubtful, plain])):
        question = f"{next(asked).format(of=of)} {next(forms)}"
        expect: Matcher = names_only(same, among=kind["values"])
        if of == doubtful:
            expect = both_said(one, other, among=kind["values"])
        beside = plain if of == doubtful else doubtful
        yield Ask(
            question,
            expect=expect,
            at=None if i else 1.0,
            shows=f"what was said of {of}",
            needs=f"what was said of {beside}",
        )
