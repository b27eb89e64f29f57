"""What came first: the user tells five events out of order, by date or by another event; what is their order?

Its texts are in `what_came_first.json`.
"""

from collections.abc import Mapping
from datetime import date, timedelta
from itertools import cycle

from ltm_bench import Ask, Dice, Script, Tell, content, in_order, scenario

WORKS = {
    "roof": "the roof was redone", "stove": "the stove went in", "shower": "the shower went in",
    "gate": "the gate was put up", "fence": "the fence was painted", "attic": "the attic was insulated",
    "drain": "the drain was unblocked", "porch": "the porch was rebuilt",
    "chimney": "the chimney was repaired", "radiator": "the radiator was moved",
    "banister": "the banister was fixed",
    "greenhouse": "the greenhouse went up", "boiler": "the boiler was replaced",
    "shutters": "the shutters were repaired",
    "terrace": "the terrace was paved", "hedge": "the hedge was planted", "pantry": "the pantry was painted",
    "balcony": "the balcony was made safe", "wallpaper": "the wallpaper went up",
    "doorbell": "the doorbell was repaired",
    "gutter": "the gutter was replaced", "plumbing": "the plumbing was redone", "wiring": "the wiring was redone",
    "skylight": "the skylight went in", "driveway": "the driveway was gravelled",
    "lawn": "the lawn was relaid",
    "mailbox": "the mailbox was put up", "carpet": "the carpet was laid", "cellar": "the cellar was drained",
    "kitchen": "the kitchen went in", "swing": "the swing was put up for the kids", "pond": "the pond was dug",
    "floor": "the floor was sanded", "bathtub": "the bathtub was replaced",
    "antenna": "the antenna was taken down",
    "washbasin": "the washbasin was replaced", "ceiling": "the ceiling was plastered",
    "woodshed": "the woodshed went up",
    "staircase": "the staircase was repaired", "windows": "the windows were replaced",
}  # fmt: skip

HOUSES = (
    "my aunt's cottage", "the old mill", "our holiday cabin", "the vicarage", "my brother's farmhouse", "the boathouse",
    "the forester's lodge", "our house in town", "the lighthouse keeper's house", "my parents' bungalow",
    "the schoolhouse",
    "the shepherd's cottage", "the old manor", "my uncle's smallholding", "the inn by the bridge",
    "the station building",
    "my friend's villa", "the gatekeeper's lodge", "the vineyard house", "the artist's studio", "the coach house",
    "the fisherman's cottage", "the village hall", "the tea house in the park",
)  # fmt: skip

MONTHS = (
    "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
    "December",
)  # fmt: skip
NUMBERS = (
    "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen", "twenty",
)  # fmt: skip

MESSAGES: Mapping[str, tuple[str, ...]] = content(__file__)["messages"]


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _gap(weeks: int) -> str:
    number = NUMBERS[weeks - 1] if weeks <= len(NUMBERS) else weeks
    return "a week" if weeks == 1 else f"{number} weeks"


@scenario(
    skills={"temporal", "order", "integration", "arithmetic", "format"},
    topics={"work on a house"},
    forget=MESSAGES["forget"],
    version=3,
    decoys={},
)
def what_came_first(
    dice: Dice,
    *,
    events: int = 5,
    works: dict[str, str] = WORKS,
    houses: tuple[str, ...] = HOUSES,
) -> Script:
    """Tell `events` events out of order, some by date and some by another event; then ask for their order."""
    if not 3 <= events <= len(works):
        raise ValueError(f"events = {events}: from 3 to {len(works)}")
    house, order = dice.card("house", houses), dice.hand("works", tuple(works), events)
    day, days = date(2025, 1, 10) + timedelta(dice.integer(0, 200)), dict[str, date]()
    for work in order:
        days[work] = day
        day += timedelta(weeks=dice.integer(1, 3))  # nobody remembers nineteen days
    telling = dice.shuffled(order)
    if telling in (order, order[::-1]):
        telling = [*telling[1:], telling[0]]
    related = dice.sample(range(1, events), (events + 1) // 2)
    texts = {kind: cycle(dice.shuffled(MESSAGES[kind])) for kind in ("dated", "related")}
    for i, work in enumerate(telling):
        if i in related:
            near = sorted(telling[:i], key=lambda each: abs(days[each] - days[work]))
            other = dice.choice(near[:2])
            apart = (days[work] - days[other]) // timedelta(weeks=1)
            side = "after" if apart > 0 else "before"
            when = {"gap": _gap(abs(apart)), "side": side, "other": works[other]}
        else:
            when = {"date": _day(days[work])}
        text = next(texts["related" if i in related else "dated"])
        yield Tell(text.format(house=house, work=works[work], **when), at=i / events)
    yield Ask(
        dice.choice(MESSAGES["question"]).format(house=house),
        expect=in_order(order, among=tuple(works)),
        at=1.0,
    )
