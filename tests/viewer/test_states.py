"""What the list of runs says of each."""

from pathlib import Path

from ltm_bench import run
from ltm_bench.viewer.states import state_of


def test_a_run_is_listed_with_its_interval_its_cost_and_its_date(tmp_path: Path) -> None:
    done = run(agent="perfect", span="2k", scenarios=["colours"], reports=tmp_path)
    state = state_of(done.folder)
    assert (state.suite, state.score, state.cost, state.state) == ("colours", "1.00 / 1", "free", "finished")
    assert done.interval is not None
    assert state.interval == f"{done.interval.low:.2f} – {done.interval.high:.2f}"
    assert len(state.started) == len("2026-01-05 09:00")


def test_a_run_without_results_has_no_figures(tmp_path: Path) -> None:
    done = run(agent="perfect", span="2k", scenarios=["colours"], reports=tmp_path)
    (done.folder / "results.json").unlink()
    state = state_of(done.folder)
    assert (state.score, state.interval, state.cost, state.state) == ("", "", "", "finished")
