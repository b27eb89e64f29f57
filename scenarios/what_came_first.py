"""What came first: the user tells five events out of order, by date or by another event; what is their order?"""

from datetime import date, timedelta

from ltm_bench import Ask, Dice, Script, Tell, in_order, scenario

WORKS = {
    "roof": "the roof was retiled", "stove": "the stove was installed", "cistern": "the cistern was dug",
    "gate": "the gate was hung", "fence": "the fence was painted", "attic": "the attic was insulated",
    "drain": "the drain was unblocked", "porch": "the porch was torn down and rebuilt",
    "chimney": "the chimney was rebuilt", "radiator": "the radiator was moved",
    "banister": "the banister was sanded",
    "greenhouse": "the greenhouse was glazed", "boiler": "the boiler was replaced",
    "shutters": "the shutters were repaired",
    "terrace": "the terrace was paved", "hedge": "the hedge was planted", "pantry": "the pantry was shelved",
    "balcony": "the balcony was propped up", "wallpaper": "the wallpaper went up",
    "doorbell": "the doorbell was connected",
    "gutter": "the gutter was cleaned out", "plumbing": "the plumbing was renewed", "wiring": "the wiring was renewed",
    "skylight": "the skylight was fitted", "driveway": "the driveway was gravelled",
    "orchard": "the orchard was pruned",
    "mailbox": "the mailbox was put up", "carpet": "the carpet was laid", "cellar": "the cellar was drained",
    "kitchen": "the kitchen was fitted", "swing": "the swing was put up for the children", "pond": "the pond was lined",
    "mirror": "the mirror was hung", "bookcase": "the bookcase was fixed to the wall",
    "antenna": "the antenna was taken down",
    "washbasin": "the washbasin was mounted", "ceiling": "the ceiling was plastered",
    "woodshed": "the woodshed was tarred",
    "sundial": "the sundial was set up", "threshold": "the threshold was lowered",
}  # fmt: skip

HOUSES = (
    "my aunt's cottage", "the old mill", "our holiday cabin", "the vicarage", "my brother's farmhouse", "the boathouse",
    "the forester's lodge", "our flat in town", "the lighthouse keeper's house", "my parents' bungalow",
    "the schoolhouse",
    "the shepherd's hut", "the manor's east wing", "our allotment shed", "the inn by the bridge",
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

DATED = (
    "About the work on {house}: {work} on {date}.",
    "On {date}, {work} at {house}.",
    "At {house}, {work} on {date}; I have just found the bill.",
)
RELATED = (
    "About the work on {house}: {work} {gap} {side} {other}.",
    "At {house}, {work} {gap} {side} {other}.",
    "I forgot to mention that, at {house}, {work} {gap} {side} {other}.",
)

QUESTIONS = (
    "In which order was the work on {house} done? Put everything that I have told you about into a JSON list of what "
    "was worked on, from the earliest to the latest, a word for each, in the form "
    '["first", "second"], and write nothing else.',
    "Please list the work that was done on {house}, the earliest first, whatever the order in which I told you. Give "
    'me a JSON list of what was worked on, one word for each, like ["first", "second"], and no other text.',
    "What came first at {house}, what next, and what last? I want everything that was worked on, in the order in which "
    'it was done, as a JSON list such as ["first", "second"], a single word for each and nothing around it.',
)
FORGET = "The work on that building is done, so much for it."


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def _gap(days: int) -> str:
    if days % 7 == 0:
        weeks = days // 7
        return "a week" if weeks == 1 else f"{NUMBERS[weeks - 1]} weeks"
    return "the day" if days == 1 else f"{NUMBERS[days - 1]} days" if days <= len(NUMBERS) else f"{days} days"


@scenario(skills={"temporal", "order", "integration"}, topics={"work on a house"}, forget=FORGET)
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
        day += timedelta(dice.integer(2, 20))
    telling = dice.shuffled(order)
    if telling in (order, order[::-1]):
        telling = [*telling[1:], telling[0]]
    related = dice.sample(range(1, events), (events + 1) // 2)
    for i, work in enumerate(telling):
        if i in related:
            other = dice.choice(telling[:i])
            apart = (days[work] - days[other]).days
            text = dice.choice(RELATED).format(
                house=house,
                work=works[work],
                gap=_gap(abs(apart)),
                side="after" if apart > 0 else "before",
                other=works[other],
            )
        else:
            text = dice.choice(DATED).format(house=house, work=works[work], date=_day(days[work]))
        yield Tell(text[0].upper() + text[1:], at=i / events)
    yield Ask(dice.choice(QUESTIONS).format(house=house), expect=in_order(order, among=tuple(works)), at=1.0)
