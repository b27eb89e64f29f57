"""Trigger and response: the user gives an instruction once; whenever the cue comes up, the agreed sentence is due.

Cues and responses are in `trigger_response.json`.
"""

import json
from pathlib import Path

from ltm_bench import Ask, Dice, Script, Tell, says, scenario

PAIRS: dict[str, str] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))
"""Each cue, and the response that is due."""

AGREEMENT = (
    "Let us agree on something. Whenever I say “{cue}”, you answer, word for word and without adding anything: "
    "“{response}”",
    "A little rule for the two of us: each time you hear me say “{cue}”, your whole answer is “{response}”",
    "Please keep this in mind for later. My cue is “{cue}” and your line, which you then say exactly like this and "
    "with "
    "nothing around it, is “{response}”",
    "Here is a password game for us. If I say “{cue}”, you reply with these words and no others: “{response}”",
    "From now on there is a secret signal. I say “{cue}”, and you say “{response}” and not a word more or less.",
)

FORGET = "Our agreement about the cue is over now. From here on, answer as you like."


@scenario(skills={"prospective", "instruction"}, topics={"cues"}, forget=FORGET, version=2)
def trigger_response(
    dice: Dice,
    *,
    activations: int = 3,
    pairs: dict[str, str] = PAIRS,
    agreement: tuple[str, ...] = AGREEMENT,
) -> Script:
    """Agree on a cue and a response, then give the cue `activations` times."""
    cue = dice.card("cue", tuple(pairs))
    yield Tell(dice.choice(agreement).format(cue=cue, response=pairs[cue]), at=0.0)
    for i in range(activations):
        yield Ask(cue, expect=says(pairs[cue], among=pairs.values()), at=(i + 1) / activations)
