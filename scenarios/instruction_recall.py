"""Instruction recall: the user explains how to start an odd machine; much later, which step follows this one?"""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

MACHINES = (
    "bread slicer", "organ", "tide gauge", "printing press", "telescope", "loom", "cider press", "barrel piano",
    "butter churn", "cable ferry", "carousel", "clay mixer", "coffee roaster", "drawbridge", "film projector",
    "flour mill", "foghorn", "hay baler", "ice crusher", "kiln", "lathe", "milking machine", "motorboat",
    "potato sorter", "rope winder", "sewing machine", "snowplough", "steam whistle", "switchboard", "threshing machine",
    "water pump", "weather balloon",
)  # fmt: skip

STEPS = {
    "green lever": "push the {part} down as far as it goes",
    "brass wheel": "turn the {part} twice",
    "oil can": "empty the {part} into the funnel",
    "bell rope": "pull the {part} once",
    "left pedal": "step on the {part} for a minute",
    "wooden hatch": "close the {part}",
    "glass tube": "warm the {part} with your hands",
    "leather strap": "tighten the {part} by one hole",
    "counterweight": "hang the {part} on its hook",
    "air valve": "open the {part} halfway",
    "fuse box": "knock on the {part}",
    "spirit level": "lay the {part} on the frame and wait until the bubble is still",
    "dust filter": "shake out the {part}",
    "copper pipe": "tap the {part} with a spoon",
    "starter cord": "tug at the {part} until something growls",
    "sliding door": "push the {part} to the right",
    "rubber seal": "moisten the {part}",
    "safety pin": "take out the {part}",
    "cooling tank": "fill the {part} to the brim",
    "drive belt": "put the {part} over both pulleys",
    "pilot flame": "light the {part}",
    "red button": "press the {part} three times",
    "shutter": "raise the {part}",
    "crankshaft": "grease the {part}",
    "magnet": "lower the {part} by an inch",
    "dial": "set the {part} to nine",
    "bellows": "work the {part} until they sigh",
    "ignition key": "turn the {part} anticlockwise",
    "chute": "sweep the {part} clean",
    "tripod": "unfold the {part}",
}

INTRO = (
    "I want you to know how to start our old {machine}, in case I am not there one day. There are {count} steps.",
    "Let me explain how our old {machine} is started. It takes {count} steps, and I shall tell you one at a time.",
    "Our old {machine} is moody, so please remember how one starts it. There are {count} steps.",
)
STEP = (
    "Step {number} for the {machine}: {step}.",
    "To start the {machine}, step {number}: {step}.",
    "About the {machine} again. Step {number}: {step}.",
    "Now for step {number} with the {machine}: {step}.",
)
QUESTIONS = {
    "after": "When we start our old {machine}, which part do we handle right after the {part}?",
    "before": "When we start our old {machine}, which part do we handle right before the {part}?",
}
FORMS = (
    "Name the part alone, please.",
    "Just the name of that part.",
    "Answer with the part and nothing else.",
    "The name of the part is enough.",
)
FORGET = "Our old {machine} has been sold, so its steps do not matter any more."


@scenario(skills={"recall", "order"}, topics={"an old machine"}, version=2)
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
    yield Tell(dice.choice(INTRO).format(machine=machine, count=steps), at=0.0)
    for i, part in enumerate(order):
        step = parts[part].format(part=part)
        yield Tell(dice.choice(STEP).format(number=i + 1, machine=machine, step=step), at=i / steps)
    for i, place in enumerate(dice.sample(range(steps - 1), questions)):
        way = dice.choice(tuple(QUESTIONS))
        known, wanted = (
            (order[place], order[place + 1]) if way == "after" else (order[place + 1], order[place])
        )
        question = QUESTIONS[way].format(machine=machine, part=known)
        yield Ask(
            f"{question} {dice.choice(FORMS)}",
            expect=names_only(wanted, among=[part for part in parts if part != known]),
            at=1.0 if i == 0 else None,
        )
    yield Tell(FORGET.format(machine=machine))
