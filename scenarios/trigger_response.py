"""Trigger and response: the user gives an instruction once; whenever the cue comes up, the agreed sentence is due.

Its texts, the cues and the responses are in `trigger_response.json`.
"""

from collections.abc import Mapping

from ltm_bench import Ask, Dice, Script, Tell, content, says, scenario

_CONTENT = content(__file__)

MESSAGES: Mapping[str, tuple[str, ...]] = _CONTENT["messages"]

PAIRS: dict[str, str] = _CONTENT["pools"]["pairs"]
"""Each cue, and the response that is due."""


@scenario(
    skills={"prospective", "instruction"}, topics={"cues"}, forget=MESSAGES["forget"], version=4, decoys={}
)
def trigger_response(
    dice: Dice,
    *,
    activations: int = 3,
    pairs: dict[str, str] = PAIRS,
    agreement: tuple[str, ...] = MESSAGES["agreement"],
) -> Script:
    """Agree on a cue and a response, then give the cue `activations` times."""
    cue = dice.card("cue", tuple(pairs))
    yield Tell(dice.choice(agreement).format(cue=cue, response=pairs[cue]), at=0.0)
    for i in range(activations):
        yield Ask(cue, expect=says(pairs[cue], among=pairs.values()), at=(i + 1) / activations)
