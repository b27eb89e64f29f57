"""The state of each run in the list."""

from datetime import datetime
from pathlib import Path

import pytest

from ltm_bench import run
from ltm_bench.score.results.scoring import score_run
from ltm_bench.viewer import states
from ltm_bench.viewer.states import LAST, SHARE, Look, Lookout, Watch, look_at, state_of


def test_a_run_is_listed_with_its_interval_its_cost_and_its_date(tmp_path: Path) -> None:
    done = run(agent="perfect", span="2k", scenarios=["colours"], reports=tmp_path)
    state = state_of(done.folder)
    assert (state.suite, state.score, state.out_of, state.state) == ("colours", 1.0, 1, "finished")
    assert done.interval is not None
    assert state.interval == (done.interval.low, done.interval.high)
    assert (state.verdict, state.free, state.dollars) == (done.verdict, True, 0.0)
    assert datetime.fromisoformat(state.started).tzinfo is not None


def test_a_run_without_results_has_no_figures(tmp_path: Path) -> None:
    done = run(agent="perfect", span="2k", scenarios=["colours"], reports=tmp_path)
    (done.folder / "results.json").unlink()
    state = state_of(done.folder)
    assert (state.score, state.interval, state.dollars, state.state) == (None, None, None, "finished")


def test_unreadable_results_are_reported(tmp_path: Path) -> None:
    done = run(agent="perfect", span="2k", scenarios=["colours"], reports=tmp_path)
    (done.folder / "results.json").write_text("[]", "utf-8")
    state = state_of(done.folder)
    assert (state.state, state.score) == ("finished", None)
    assert state.problem.startswith("results.json is unreadable: ")


def cut(run: Path, reports: Path, share: float) -> Path:
    """Return a copy of a run that was stopped after a share of its events, just now."""
    half = reports / "half"
    half.mkdir()
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    (half / "events.jsonl").write_bytes(b"".join(lines[: int(share * len(lines))]))
    return half


def test_the_cost_of_a_run_under_way_is_unknown_until_a_reply_has_a_price(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "deaf.py").write_text(
        '"""Deaf."""\n\n\ndef agent(message: str) -> str:\n    return "Okay."\n', "utf-8"
    )
    done = run(agent="deaf", span="2k", scenarios=["colours"], reports=tmp_path / "whole")
    events = (done.folder / "events.jsonl").read_bytes().splitlines()
    before = next(n for n, line in enumerate(events) if b'"replied"' in line)
    assert look_at(cut(done.folder, tmp_path, before / len(events))).dollars is None


def test_a_run_under_way_has_a_score_so_far_and_its_last_turns(tmp_path: Path) -> None:
    done = run(agent="perfect", span="2k", scenarios=["colours", "jokes"], reports=tmp_path / "whole")
    reports = tmp_path / "reports"
    reports.mkdir()
    half = cut(done.folder, reports, 0.7)
    (state,) = Watch(reports).states()
    results = score_run(half)
    assert (state.state, state.score, state.so_far) == ("running", None, results.score_so_far)
    assert 0 < state.done < state.planned
    look = look_at(half)
    assert look.score == results.score_so_far > 0
    assert [each.sent.turn for each in look.said] == sorted(each.sent.turn for each in look.said)
    assert look.said[-1].sent.turn == results.turns - (0 if look.said[-1].replied is None else 1)
    assert len(look.said) == min(LAST, results.turns + (look.said[-1].replied is None))
    verdicts = [each.question.outcome for each in look.said if each.question and each.replied]
    assert set(verdicts) == {"correct"}


def test_isolated_conversations_under_way_are_shown(tmp_path: Path) -> None:
    done = run(agent="perfect", span="2k", scenarios=["colours"], examples=3, isolated=True, reports=tmp_path)
    log = done.folder / "isolated" / "colours-1.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:-3]))
    said = look_at(done.folder).said
    assert {each.sent.example for each in said} == {"colours/1"}
    assert {each.anchor.rpartition("-turn-")[0] for each in said} == {"colours-1"}


def test_runs_are_read_at_a_limited_rate(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, worked = [100.0], [0.0]
    looked: list[Look] = []

    def slow_look(run: Path) -> Look:
        now[0] += 3.0  # on a busy machine
        worked[0] += 0.5
        looked.append(Look(score=len(looked), out_of=1, dollars=0, questions=0, tokens=0, said=()))
        return looked[-1]

    monkeypatch.setattr(states, "look_at", slow_look)
    monkeypatch.setattr("time.perf_counter", lambda: now[0])
    monkeypatch.setattr("time.thread_time", lambda: worked[0])
    lookout = Lookout()
    assert lookout.look(tmp_path, 1) is looked[0]
    assert lookout.look(tmp_path, 2) is looked[0]
    now[0] = 100.0 + 0.5 / SHARE
    assert lookout.look(tmp_path, 2) is looked[1]
    now[0] += 1000
    assert lookout.look(tmp_path, 2) is looked[1]
    assert len(looked) == 2
