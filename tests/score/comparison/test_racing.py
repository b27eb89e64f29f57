"""A race: what is decided when, who is dropped, and what undecided replies undo."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import pytest

from ltm_bench.core.messages import Outcome
from ltm_bench.report.race_page import saved
from ltm_bench.score.comparison.entrants import Scored
from ltm_bench.score.comparison.racing import End, Preference, Race, Rules, decide
from ltm_bench.score.results.run import Results
from ltm_bench.score.statistics.intervals import Interval
from ltm_bench.score.statistics.sequential import Interim
from perf import races

if TYPE_CHECKING:
    from tests.made import Made

RIGHT, WRONG, OPEN = Outcome.CORRECT, Outcome.WRONG, Outcome.UNDECIDED
RULES = Rules(most=8, least=0.5)


def raced(made: "Made", rules: Rules = RULES, **agents: Sequence[Outcome]) -> Race:
    """A race of agents whose examples have these outcomes in turn, another one first in every round."""
    race = Race.of(list(agents), rules)
    runs: dict[str, list[Scored]] = {name: [] for name in agents}
    for seed in range(rules.most):
        for name in race.racing:
            outcomes = agents[name]
            turned = [*outcomes[seed % len(outcomes) :], *outcomes[: seed % len(outcomes)]]
            runs[name].append(made.run(name, turned, seed=seed, each=3))
        race.take(runs)
        if race.end is not None:
            break
    return race


def test_a_clear_difference_ends_a_race_early(made: "Made") -> None:
    race = raced(made, good=[RIGHT], bad=[WRONG])
    assert (race.end, race.racing) == (End.DECIDED, ["good"])
    assert race.rounds < 8
    assert race.duels[0].verdict == "good is better than bad"
    assert [at.rounds for at in race.duels[0].looks] == list(range(2, race.rounds + 1))


def test_a_race_says_what_it_took_beside_a_fixed_plan(made: "Made") -> None:
    agree, turned = [RIGHT, WRONG, RIGHT], [WRONG, RIGHT, RIGHT, RIGHT]
    early = raced(made, Rules(most=8, least=0.3), good=[RIGHT, RIGHT, WRONG], bad=[WRONG])
    equal = raced(made, one=agree, other=agree)
    for race, word in ((early, "fewer"), (equal, "more")):
        plan, taken = 2 * (race.duels[0].planned or 0), 2 * race.rounds
        assert (taken > plan) == (word == "more")
        assert saved(race).endswith(f"{plan} runs in all: the race took {taken}, {abs(plan - taken)} {word}")
    even = early.model_copy(
        update={"runs": {"good": ["run"] * (plan := early.duels[0].planned or 0), "bad": ["run"] * plan}}
    )
    assert saved(even).endswith(f"the race took {2 * plan}, as many")
    nothing = raced(made, Rules(most=3, least=0.3), one=agree, other=turned)
    assert saved(nothing).endswith("the race took 6 and left 1 pair undecided")


def test_the_order_of_the_agents_does_not_matter(made: "Made") -> None:
    race = raced(made, bad=[WRONG], good=[RIGHT])
    assert race.duels[0].decision is Preference.SECOND
    assert race.racing == ["good"]


def test_equal_agents_end_with_no_difference_that_matters(made: "Made") -> None:
    race = raced(made, one=[RIGHT, WRONG, RIGHT], other=[RIGHT, WRONG, RIGHT])
    assert race.duels[0].decision is Preference.EQUAL
    assert race.racing == ["one", "other"]
    assert race.end is End.DECIDED


def test_a_race_that_decides_nothing_ends_with_the_most_rounds(made: "Made") -> None:
    rules = Rules(most=3, least=0.01)
    race = raced(made, rules, one=[RIGHT, WRONG, RIGHT], other=[WRONG, RIGHT, RIGHT, RIGHT])
    assert (race.end, race.rounds, race.duels[0].decision) == (End.MOST, 3, Preference.OPEN)


def test_the_worst_of_three_is_dropped_and_the_others_go_on(made: "Made") -> None:
    rules = Rules(most=10, least=0.01)
    race = raced(made, rules, a=[RIGHT, RIGHT, WRONG], b=[RIGHT, WRONG, RIGHT, RIGHT], bad=[WRONG])
    assert "bad" not in race.racing
    assert len(race.runs["bad"]) < len(race.runs["a"]) == len(race.runs["b"])
    assert race.error == pytest.approx(0.05 / 3)


def test_what_undecided_replies_could_undo_is_not_decided(made: "Made") -> None:
    race = raced(made, one=[RIGHT], other=[OPEN])
    [duel] = race.duels
    assert duel.looks[-1].interval.low > 0
    assert duel.decision is Preference.OPEN
    assert race.end is End.MOST


@pytest.mark.parametrize(
    ("wrong", "right", "decision"),
    [
        ((0.1, 0.9), (0.2, 0.8), Preference.FIRST),
        ((-0.9, -0.1), (-0.8, -0.2), Preference.SECOND),
        ((-0.4, 0.3), (-0.2, 0.4), Preference.EQUAL),
        ((0.1, 0.4), (0.1, 0.4), Preference.FIRST),
        ((-0.4, 0.5), (-0.4, 0.4), Preference.OPEN),
        ((0.1, 0.9), (-0.1, 0.8), Preference.OPEN),
        ((0.1, 0.9), (-0.9, -0.1), Preference.OPEN),
    ],
)
def test_a_decision_holds_at_both_extremes(
    wrong: tuple[float, float], right: tuple[float, float], decision: Preference
) -> None:
    one, other = (
        Interim(rounds=3, difference=sum(ends) / 2, interval=Interval(low=ends[0], high=ends[1]))
        for ends in (wrong, right)
    )
    assert decide(one, other, 0.5) is decision


def test_runs_read_by_different_readers_decide_nothing(made: "Made", monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Results, "readers", property(lambda self: [f"reader of {self.agent}"]))
    race = raced(made, a=[RIGHT], b=[WRONG])
    assert race.duels[0].readers == ["reader of a", "reader of b"]
    assert race.duels[0].decision is Preference.OPEN
    assert race.end is End.MOST


@pytest.mark.parametrize("agents", [2, 3, 5])
def test_simulated_races_are_decided_as_races_are(agents: int) -> None:
    rules = Rules(most=15, least=1.6)
    scores = races.draw(np.random.default_rng(1), (20, agents, rules.most), 0.2, 0.25, 0.4)
    taken, decided = races.raced(scores.mean(axis=4).sum(axis=3), rules)
    seen = set()
    for number, each in enumerate(scores):
        race = Race.of([str(agent) for agent in range(agents)], rules)
        while race.end is None:
            race.rounds += 1
            for duel in race.open:
                gaps = each[int(duel.first), : race.rounds] - each[int(duel.second), : race.rounds]
                rounds = [{str(i): row.tolist() for i, row in enumerate(of)} for of in gaps]
                race.see(duel, rounds, rounds)
            race.drop()
        found = [str(decided[int(duel.first), int(duel.second)][number]) for duel in race.duels]
        assert found == [duel.decision.value for duel in race.duels]
        assert taken[number] == race.rounds
        seen |= {*found}
    assert len(seen) > 2


def test_a_simulated_decision_is_wrong_where_it_contradicts_the_difference() -> None:
    said = np.array([each.value for each in Preference])
    decided = {
        (0, 1): said,
        (0, 2): np.full(4, Preference.OPEN.value),
        (1, 2): np.full(4, Preference.OPEN.value),
    }
    wrong = {
        gap: dict(zip(Preference, races.wrong(decided, gap, 1.1), strict=True)) for gap in (0.0, 0.05, 0.1)
    }
    assert [each for each in Preference if wrong[0.0][each]] == [Preference.FIRST, Preference.SECOND]
    assert [each for each in Preference if wrong[0.05][each]] == [Preference.SECOND]
    assert [each for each in Preference if wrong[0.1][each]] == [Preference.SECOND, Preference.EQUAL]
    others = {(0, 1): decided[0, 2], (0, 2): decided[0, 2], (1, 2): said}
    assert races.wrong(others, 0.1, 1.1).tolist() == [True, True, False, False]
