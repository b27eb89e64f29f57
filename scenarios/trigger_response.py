"""Trigger and response: an instruction is given once; whenever its cue comes up, the agreed sentence is due."""

from ltm_bench import Ask, Dice, Script, Tell, says, scenario

PAIRS = {
    "My boots are soaked again.": "Put crumpled newspaper inside and leave them by the door.",
    "The neighbour is practising the tuba.": "Then it must be Tuesday, close the north window.",
    "I have lost my keys once more.": "Look in the fruit bowl before you look anywhere else.",
    "The moon is full tonight.": "Somebody ought to check on the bees in the orchard.",
    "I can smell burnt toast.": "The fire brigade sends its regards and a new toaster.",
    "A letter from my aunt has arrived.": "Let us hope that she is not bringing the parrot.",
    "The lift is out of order.": "Twelve floors are a small price for strong calves.",
    "It has started to hail.": "Bring in the tomatoes and let the car look after itself.",
    "My watch has stopped.": "Time was never your strong side anyway, wind it up.",
    "The cat is on the roof.": "Open a tin of sardines and wait by the gutter.",
    "I am out of coffee.": "There is a secret reserve behind the flour.",
    "The choir meets this evening.": "Take the blue folder and hum on the way.",
    "My train is late.": "Count the pigeons, and write to the minister.",
    "The soup has boiled over.": "Every good stove deserves a bath on Fridays.",
    "I found a button in the garden.": "Keep it until the scarecrow asks for its coat.",
    "The postman is whistling again.": "Then the parcel from Lisbon cannot be far away.",
}
"""Each cue, and the response that is due."""

AGREEMENT = (
    "Let us agree on something. Whenever I say “{cue}”, you answer “{response}”",
    "A little rule for the two of us: each time you hear me say “{cue}”, your answer is “{response}”",
    "Please keep this in mind for later. My cue is “{cue}” and your line is then always “{response}”",
)

FORGET = "Our agreement about cues is over now. From here on, answer as you like."


@scenario(skills={"prospective", "instruction"}, topics={"cues"}, forget=FORGET)
def trigger_response(
    dice: Dice,
    *,
    activations: int = 3,
    pairs: dict[str, str] = PAIRS,
    agreement: tuple[str, ...] = AGREEMENT,
) -> Script:
    """Agree on a cue and a response, then give the cue `activations` times."""
    cue = dice.choice(tuple(pairs))
    yield Tell(dice.choice(agreement).format(cue=cue, response=pairs[cue]), at=0.0)
    for i in range(activations):
        yield Ask(cue, expect=says(pairs[cue], among=pairs.values()), at=(i + 1) / activations)
