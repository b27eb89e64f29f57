"""Instruction recall: an odd machine is started step by step; much later: what comes after this step?"""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

MACHINES = ("bread slicer", "organ", "tide gauge", "printing press", "telescope", "loom")

STEPS = {
    "green lever": "push the {part} down to the stop",
    "brass wheel": "turn the {part} twice",
    "oil can": "empty the {part} into the funnel",
    "bell rope": "pull the {part} once",
    "left pedal": "step on the {part} for a minute",
    "wooden hatch": "close the {part}",
    "glass tube": "warm the {part} with your hands",
    "leather strap": "tighten the {part} by one hole",
    "counterweight": "hang the {part} on its hook",
    "air valve": "open the {part} by half",
    "fuse box": "knock on the {part}",
    "spirit level": "put the {part} on the frame and wait until it is calm",
}

INTRO = "I want you to know how our old {machine} is started, for the day when I am not there. There are {count} steps."
STEP = "Step {number} for the {machine}: {step}."
QUESTIONS = {
    "after": "About starting our old {machine}: which part comes right after the {part}? Name the part.",
    "before": "About starting our old {machine}: which part comes right before the {part}? Name the part.",
}
FORGET = "Our old {machine} has been sold, so its steps do not matter any more."


@scenario(skills={"recall", "order"}, topics={"an old machine"})
def instruction_recall(
    dice: Dice,
    *,
    steps: int = 6,
    questions: int = 2,
    machines: tuple[str, ...] = MACHINES,
    parts: dict[str, str] = STEPS,
) -> Script:
    """Tell `steps` steps over the span; then ask `questions` times for what comes after, or before, one of them."""
    if not 3 <= steps <= len(parts) or not 1 <= questions < steps:
        raise ValueError(
            f"steps = {steps}, questions = {questions}: from 3 to {len(parts)} steps, and fewer questions"
        )
    machine = dice.choice(machines)
    order = dice.sample(tuple(parts), steps)
    yield Tell(INTRO.format(machine=machine, count=steps), at=0.0)
    for i, part in enumerate(order):
        step = parts[part].format(part=part)
        yield Tell(STEP.format(number=i + 1, machine=machine, step=step), at=i / steps)
    for i, place in enumerate(dice.sample(range(steps - 1), questions)):
        way = dice.choice(tuple(QUESTIONS))
        known, wanted = (
            (order[place], order[place + 1]) if way == "after" else (order[place + 1], order[place])
        )
        yield Ask(
            QUESTIONS[way].format(machine=machine, part=known),
            expect=names_only(wanted, among=[part for part in parts if part != known]),
            at=1.0 if i == 0 else None,
        )
    yield Tell(FORGET.format(machine=machine))
