"""Instruction recall: the user explains how to start an old machine; much later, which step follows this one?

Its texts are in `instruction_recall.json`.
"""

from collections.abc import Mapping
from itertools import cycle
from typing import Any

from ltm_bench import Ask, Dice, Script, Tell, content, names_only, scenario

MACHINES = (
    "bottling machine", "bread slicer", "brick press", "carding machine", "cement mixer", "cider press", "clay mixer",
    "coffee roaster", "flour mill", "floor polisher", "generator", "hay baler", "ice cream machine", "ice crusher",
    "lathe", "log splitter", "milking machine", "oat crusher", "paper shredder", "pasta machine", "popcorn machine",
    "potato sorter", "printing press", "rope winder", "sausage machine", "stone polisher", "sugar mill",
    "threshing machine", "tile cutter", "water pump", "wire bender", "wood chipper",
)  # fmt: skip

STEPS = {
    "green lever": "push the {part} down as far as it goes",
    "brass wheel": "turn the {part} twice",
    "oil cap": "unscrew the {part}",
    "hand crank": "give the {part} ten turns",
    "left pedal": "step on the {part} for a minute",
    "wooden hatch": "close the {part}",
    "fuel gauge": "tap the {part} until it moves",
    "leather strap": "tighten the {part} by one hole",
    "counterweight": "hang the {part} on its hook",
    "air valve": "open the {part} halfway",
    "fuse box": "check the {part}",
    "rear panel": "take off the {part}",
    "dust filter": "shake out the {part}",
    "copper pipe": "tap the {part} with a spoon",
    "starter cord": "pull the {part} hard",
    "sliding door": "push the {part} to the right",
    "rubber seal": "moisten the {part}",
    "safety pin": "take out the {part}",
    "cooling tank": "fill the {part} to the brim",
    "drive belt": "put the {part} over both pulleys",
    "spark plug": "wipe the {part} clean",
    "red button": "press the {part} three times",
    "shutter": "raise the {part}",
    "crankshaft": "grease the {part}",
    "ventilator": "switch on the {part}",
    "dial": "set the {part} to nine",
    "drip tray": "empty the {part}",
    "ignition key": "turn the {part} anticlockwise",
    "chute": "sweep the {part} clean",
    "brake": "release the {part}",
}

MESSAGES: Mapping[str, Any] = content(__file__)["messages"]


@scenario(skills={"recall", "order"}, topics={"an old machine"}, version=3)
def instruction_recall(
    dice: Dice,
    *,
    steps: int = 6,
    questions: int = 2,
    machines: tuple[str, ...] = MACHINES,
    parts: dict[str, str] = STEPS,
) -> Script:
    """Give `steps` steps over the span; then ask `questions` times which step comes after, or before, one of them."""
    if not 3 <= steps <= len(parts) or not 1 <= questions < steps:
        raise ValueError(
            f"steps = {steps}, questions = {questions}: from 3 to {len(parts)} steps, and fewer questions"
        )
    machine = dice.card("machine", machines)
    order = dice.hand("parts", tuple(parts), steps)
    yield Tell(dice.choice(MESSAGES["intro"]).format(machine=machine, count=steps), at=0.0)
    for i, (part, told) in enumerate(zip(order, cycle(dice.shuffled(MESSAGES["step"])), strict=False)):
        step = parts[part].format(part=part)
        yield Tell(told.format(number=i + 1, machine=machine, step=step), at=i / steps)
    texts = {way: cycle(dice.shuffled(each)) for way, each in MESSAGES["question"].items()}
    for i, place in enumerate(dice.sample(range(steps - 1), questions)):
        way = dice.choice(tuple(texts))
        known, wanted = (
            (order[place], order[place + 1]) if way == "after" else (order[place + 1], order[place])
        )
        yield Ask(
            next(texts[way]).format(machine=machine, part=known),
            expect=names_only(wanted, among=[part for part in parts if part != known]),
            at=1.0 if i == 0 else None,
        )
    yield Tell(dice.choice(MESSAGES["forget"]).format(machine=machine))
