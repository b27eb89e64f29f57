"""Which runs belong to one entrant: by what differs between any two runs of its name, in linear time."""

from itertools import combinations, cycle, islice
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.score.comparison import entrants as room
from ltm_bench.score.comparison.entrants import Scored, entrants
from ltm_bench.score.comparison.runs import compare
from tests.made import run_of
from tests.pace import cpu, in_proportion

if TYPE_CHECKING:
    from collections.abc import Sequence

SMALL = {span: run_of("a", each=1, span=span) for span in (2_000, 32_000)}


def made(span: int, suite: str, isolated: bool, settings: dict[str, Any]) -> Scored:
    base = SMALL[span]
    entry = base.manifest.suite.model_copy(update={"name": suite, "isolated": isolated})
    agent = base.manifest.agent.model_copy(update={"settings": settings})
    return Scored(base.manifest.model_copy(update={"suite": entry, "agent": agent}), base.results)


def pairwise(runs: "Sequence[Scored]") -> set[str]:
    """The keys that set any two runs apart, by their definition."""
    found = set()
    for one, other in combinations(runs, 2):
        ours, theirs = room._identity(one.manifest), room._identity(other.manifest)
        same = one.results.span == other.results.span
        keys = {key for key in ours | theirs if ours.get(key) != theirs.get(key)}
        found |= keys if same else keys - {"suite", "scenarios"}
    return found - {"isolated"} if "suite" in found else found


@given(
    st.lists(
        st.builds(
            made,
            st.sampled_from(sorted(SMALL)),
            st.sampled_from("xy"),
            st.booleans(),
            st.dictionaries(st.sampled_from(("model", "window")), st.integers(0, 1)),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_the_name_of_an_entrant_says_what_sets_any_two_of_its_runs_apart(runs: "list[Scored]") -> None:
    for name in entrants(runs, say_mode=False):
        said = {part.partition("=")[0] for part in name.removeprefix("a").strip(" ()").split("; ") if part}
        assert said == pairwise(runs)


def test_a_comparison_takes_time_in_proportion_to_its_runs() -> None:
    base = run_of("a", each=1)

    def took(many: int) -> float:
        names = islice(cycle("abcd"), many)
        runs = [
            Scored(
                base.manifest,
                base.results.model_copy(update={"run": f"{name}{seed}", "agent": name, "seed": seed // 4}),
            )
            for seed, name in enumerate(names)
        ]
        return cpu(lambda: compare(runs))

    assert in_proportion(took, 100)
