"""Consequences: a closed world of what was told and what goes by it, solved by code, before and after a change.

An example has two threads, which are twins: in one of them something reaches what is asked about, over one to three
rules; in the other, the same happens to something beside it. Both are told and asked for in the same words, so that
always updating and always doubting are as wrong as holding on to the old.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain, cycle, pairwise, zip_longest
from typing import NamedTuple

from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Ask, Matcher, Tell

UNKNOWN = ""
"""The value of what is no longer known."""
STEPS = (1, 2, 3)
"""How many rules may lie between what happens and what is asked about."""
_TOLD, _EARLY, _LATE, _ASIDE = 0.3, (0.4, 0.45), (0.8, 0.85), (0.9, 0.95)
"""Until where in its span everything is told; where something happens; where values are mentioned that say nothing."""


class WorldRule(NamedTuple):
    """What something goes by."""

    of: str
    gives: Mapping[str, str] | None = None
    """Its value by that of `of`; None if both have the same, as what lies in a box is where the box is."""
    otherwise: str = UNKNOWN
    """Its value where `gives` has none."""


class World(NamedTuple):
    """What was told, and what goes by it."""

    told: Mapping[str, str]
    rules: Mapping[str, WorldRule]

    def value(self, what: str) -> str:
        """Return the value of something; UNKNOWN if it is no longer known. Raises KeyError if it was never told."""
        if what in self.told:
            return self.told[what]
        rule = self.rules[what]
        held = self.value(rule.of)
        return held if rule.gives is None else rule.gives.get(held, rule.otherwise)

    def steps(self, what: str) -> int:
        """Return how many rules lie between something and what was told."""
        return 0 if what in self.told else 1 + self.steps(self.rules[what].of)

    def after(self, what: str, value: str) -> "World":
        """Return the world after something was told anew."""
        return self._replace(told={**self.told, what: value})


class Solved(NamedTuple):
    """What is right in a thread, and what each shortcut says instead."""

    right: str
    old: str
    """Nothing has changed."""
    over: str
    """Whatever happens changes it: what would be right in the twin."""
    newest: str
    """The value of its kind that was mentioned last."""
    other: str
    """What a rule gives that does not apply; the newest where there is no such rule."""
    steps: int

    @property
    def follows(self) -> bool:
        """Whether something follows."""
        return self.right != self.old

    @property
    def one_step(self) -> str:
        """What holds for whoever sees no further than one rule."""
        return self.right if self.steps == 1 else self.old

    def aspect(self, what: str, late: bool) -> str:
        """Return the names under which its reply is counted apart: by steps, and by distance."""
        s = "s" * (self.steps > 1)
        return f"{what}; {self.steps} step{s}; happened {'late' if late else 'early'}"


def solved(
    world: World,
    what: str,
    happens: tuple[str, str],
    hits: tuple[str, str],
    newest: str,
    other: tuple[str, str] | None = None,
) -> Solved:
    """Solve a thread.

    Args:
        world: What was told.
        what: What is asked about.
        happens: What is told anew, and its value.
        hits: What would have to be told anew for something to follow, and its value.
        newest: The value that is mentioned last.
        other: What would fulfil a rule that does not apply.
    """
    right, over, ruled = (
        world.after(*each).value(what) if each else newest for each in (happens, hits, other)
    )
    return Solved(right, world.value(what), over, newest, ruled, world.steps(what))


class Thread(NamedTuple):
    """What is said in a thread."""

    tells: Sequence[str]
    happens: str
    aside: str
    question: str
    about: str
    """For readers of the results: what a right reply shows."""
    expect: Matcher
    aspect: str


def drawn(dice: Dice) -> tuple[int, bool]:
    """Return how many steps an example has, each in turn over those of a run, and whether something happens late."""
    first = Dice(f"{dice.name.rpartition('/')[0]}/steps").integer(1, len(STEPS))
    return STEPS[(first + dice.index) % len(STEPS)], dice.chance(0.5)


def told(dice: Dice, threads: Sequence[Thread], late: bool) -> Iterator[Tell | Ask]:
    """Yield the messages of both threads, woven; each question counts only if the other was answered, too."""
    woven = list(filter(None, chain(*zip_longest(*(each.tells for each in dice.shuffled(threads))))))
    for i, text in enumerate(woven):
        yield Tell(text, at=round(_TOLD * i / len(woven), 3))
    for at, each in zip(_LATE if late else _EARLY, dice.shuffled(threads), strict=True):
        yield Tell(each.happens, at=at)
    for at, each in zip(_ASIDE, dice.shuffled(threads), strict=True):
        yield Tell(each.aside, at=at)
    one, two = dice.shuffled(threads)
    for each, other, place in ((one, two, 1.0), (two, one, None)):
        yield Ask(
            each.question, each.expect, at=place, shows=each.about, needs=other.about, aspect=each.aspect
        )


class Stowed(NamedTuple):
    """A thread about a thing in a thing, perhaps in another one, which somebody or something carries about."""

    item: str
    held: Sequence[str]
    """What it lies in, from within: at least one, and the last one is what is carried about, or who carries it."""
    towns: Sequence[str]
    """Where it is; where it is taken, UNKNOWN if nobody says; where something else is."""
    solved: Solved


def stowed(
    dice: Dice,
    texts: Mapping[str, Sequence[str]],
    pools: Mapping[str, Sequence[str]],
    ask: Callable[[Stowed], tuple[Matcher, str]],
    *,
    article: str = "the ",
    lost: bool = False,
) -> Iterator[Tell | Ask]:
    """Yield an example in which two things are stowed away, and what one of them lies in is taken elsewhere.

    Args:
        dice: The example's.
        texts: The phrasings of its messages: `nested`, `handed`, `home`, `moved`, `elsewhere`, `question`.
        pools: `items`, `small` and `bags` to put them in, `carriers`, `towns`.
        ask: Returns the matcher of the question about a thread, and its aspect without steps and distance.
        article: What stands before the name of a carrier.
        lost: Whether nobody says where it is taken.
    """
    steps, late = drawn(dice)
    hands = {name: dice.hand(name, pools[name], 2) for name in ("items", "small", "bags")}
    carriers, towns = dice.hand("carriers", pools["carriers"], 6), dice.hand("towns", pools["towns"], 6)
    said = {kind: cycle(dice.shuffled(texts[kind])) for kind in texts}
    threads = []
    for i, follows in enumerate((True, False)):
        carrier, beside, apart = carriers[i::2]
        home, away, far = towns[i::2]
        held = [*(hands[name][i] for name in ("small", "bags")[: steps - 1]), carrier]
        inside = list(pairwise([hands["items"][i], *held]))
        world = World(dict.fromkeys((carrier, beside), home), {it: WorldRule(of) for it, of in inside})
        away = UNKNOWN if lost else away
        taken = carrier if follows else beside
        found = solved(world, inside[0][0], (taken, away), (carrier, away), far)
        each = Stowed(inside[0][0], held, (home, away, far), found)
        names = dict.fromkeys((carrier, beside, apart))
        the = {name: f"{article}{name}" for name in names} | {name: f"the {name}" for name in held[:-1]}
        the[each.item] = f"my {each.item}"
        links = [
            next(said["handed" if of == carrier and "handed" in said else "nested"]).format(
                inner=the[it], outer=the[of]
            )
            for it, of in inside
        ]
        one, other = dice.shuffled([carrier, beside])
        expect, aspect = ask(each)
        threads.append(
            Thread(
                [*links, next(said["home"]).format(one=the[one], other=the[other], town=home)],
                next(said["moved"]).format(thing=the[taken], town=away),
                next(said["elsewhere"]).format(thing=the[apart], town=far),
                next(said["question"]).format(item=each.item, town=home),
                f"{aspect}: {each.item}",
                expect,
                found.aspect(aspect, late),
            )
        )
    yield from told(dice, threads, late)
