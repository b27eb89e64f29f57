"""Cascade: plans with conditions; what happens fulfils one of them, and what was planned on top of it changes, too.

Two outings have a meeting point, and others for two cases; who drives goes by the meeting point, and lunch goes by who
drives. Then a case of one of the outings comes true; of the other one, what happens is like its cases, but is none of
them. Each counts only if the other was right. The texts are in `cascade.json`.
"""

from collections.abc import Mapping
from itertools import chain, cycle

from ltm_bench import Dice, Script, content, follows, scenario
from ltm_bench.script.consequences import UNKNOWN, Thread, World, WorldRule, drawn, solved, told

CONTENT = content(__file__)
MESSAGES: Mapping[str, tuple[str, ...]] = CONTENT["messages"]
POOLS: Mapping[str, tuple[str, ...]] = CONTENT["pools"]
KINDS = (("places", "place"), ("drivers", "driver"), ("food", "food"))
"""What is asked for after so many steps, in pools and rules."""


@scenario(
    skills={"inference", "recall", "conflict"},
    topics={"our outings"},
    forget=MESSAGES["forget"],
    decoys={},
)
def cascade(dice: Dice, *, pools: Mapping[str, tuple[str, ...]] = POOLS) -> Script:
    """Tell two plans with two cases each, let a case of one of them come true, and ask what both amount to."""
    steps, late = drawn(dice)
    said = {kind: cycle(dice.shuffled(MESSAGES[kind])) for kind in MESSAGES}
    outings, guests = dice.hand("outings", pools["outings"], 2), dice.hand("guests", pools["guests"], 6)
    dealt = [dice.hand(kind, pools[kind], 8) for kind, _ in KINDS]
    threads = []
    for i, outing in enumerate(outings):
        values = [hand[i::2] for hand in dealt]
        places, drivers, food = (each[:3] for each in values)
        circumstance = next(said["circumstances"])
        cases = [circumstance.format(who=who) for who in guests[i::2]]  # the last one is no case of a plan
        rules = {
            "place": WorldRule("case", dict(zip(cases[:2], places[1:], strict=True)), places[0]),
            "driver": WorldRule("place", dict(zip(places, drivers, strict=True))),
            "food": WorldRule("driver", dict(zip(drivers, food, strict=True))),
        }
        of, what = KINDS[steps - 1]
        happens, newest = cases[2 * i], values[steps - 1][3]
        world = World({"case": UNKNOWN}, rules)
        found = solved(world, what, ("case", happens), ("case", cases[0]), newest, ("case", cases[1]))
        (one, first), (two, second) = dice.shuffled(list(zip(cases[:2], places[1:], strict=True)))
        at, by = (
            dice.shuffled(list(zip(*each, strict=True))) for each in ((places, drivers), (drivers, food))
        )
        (a, p), (b, q), (c, r) = at
        fill = {"a": a, "b": b, "c": c, "p": p, "q": q, "r": r}
        served = dict(zip("pxqyrz", chain(*by), strict=True))
        tells = [
            next(said["plan"]).format(outing=outing, place=places[0]),
            next(said["rules"]).format(outing=outing, one=one, two=two, first=first, second=second),
            *([next(said["drivers"]).format(outing=outing, **fill)] if steps > 1 else []),
            *([next(said["food"]).format(outing=outing, **served)] if steps > 2 else []),
        ]
        stale = (found.old,) if found.follows else ()
        over = () if found.follows else (found.over,)
        aspect = "to update" if found.follows else "to keep"
        threads.append(
            Thread(
                tells,
                next(said["happened"]).format(this=happens),
                next(said[f"{what} aside"]).format(value=newest),
                next(said[f"{what} question"]).format(outing=outing),
                f"{aspect}: {outing}",
                follows(found.right, among=pools[of], stale=stale, over=over),
                found.aspect(aspect, late),
            )
        )
    yield from told(dice, threads, late)
