"""`perf/validity.py` plays agents that are clever and do not remember, and marks those above the declared chance."""

import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from ltm_bench import Ask
from ltm_bench.score.results import guessing
from perf import validity
from perf.recitals import HEAP
from perf.validity import Scored, candidates, figures, guessed, known, ours

SPAN = 2_000


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> object:
    monkeypatch.setattr(sys, "argv", ["validity", *arguments])
    with pytest.raises(SystemExit) as ended:
        validity.main()
    return ended.value.code


def test_the_scenarios_are_those_of_this_project() -> None:
    assert {"colours", "two_users", "delayed_recall"} < set(ours())
    assert {"niah", "infinitebench", "dialogue", "swim"}.isdisjoint(ours())


def test_candidates_stand_in_the_question() -> None:
    colours = known("colours", 2_000).values
    options = candidates("Which one?\n\nOption 1: It rained.\n\nOption 2: It snowed.\n", colours)
    assert options == [("1", "It rained."), ("2", "It snowed.")]
    assert [each for each, _ in candidates("Was it Red, or green, or red?", colours)] == [
        "Red",
        "green",
        "red",
    ]
    assert candidates("What was it?", colours) == []


def test_every_guesser_plays_two_scenarios_and_none_beats_chance(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--seeds", "3", "colours", "who_said_it") == 0
    said = capsys.readouterr().out
    assert "who_said_it: declared chance 0.25" in said
    assert said.count("  “unknown” ") == 2
    assert "ABOVE CHANCE" not in said
    assert set(guessed(["colours"], 2_000, 0)) == {*validity.GUESSERS, validity.DUMP, *validity.RECITERS}


@pytest.mark.parametrize(
    ("scores", "chance", "above"),
    [([1.0] * 40, 0.25, True), ([0.25] * 40, 0.25, False), ([0.0] * 39 + [1.0], 0.0, False)],
)
def test_a_guesser_is_marked_if_its_interval_lies_above_chance(
    scores: Sequence[float], chance: float, above: bool
) -> None:
    runs = [
        {name: [Scored("made", score, chance)] for name in ("first", validity.READER)} for score in scores
    ]
    declared, row = figures(runs)["made"]
    assert declared == chance
    assert {each.guesser: each.above for each in row} == {"first": above, validity.READER: False}


def test_answers_that_others_wrote_down_are_scored_like_a_guesser(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    asked, answers = tmp_path / "questions.jsonl", tmp_path / "answers.jsonl"
    monkeypatch.setattr(sys, "argv", ["validity", "--seeds", "6", "--questions", str(asked), "who_said_it"])
    validity.main()
    rows = [json.loads(line) for line in asked.read_text("utf-8").splitlines()]
    assert [set(row) for row in rows] == [{"id", "question"}] * len(rows)
    steps = {seed: validity.asked("who_said_it", seed, 2_000) for seed in range(6)}
    told = {}
    for row in rows:
        _, seed, i = row["id"].split("/")
        line = steps[int(seed)][int(i)].line
        assert isinstance(line, Ask)
        told[row["id"]] = line.expect.right()[0]
    answers.write_text("\n".join(json.dumps({"id": i, "answer": a}) for i, a in told.items()), "utf-8")
    assert run(monkeypatch, "--answers", str(answers)) == 1
    assert "answers                        1.00" in capsys.readouterr().out


def test_the_best_guesser_is_written_for_the_page_under_its_scenarios_hash(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    file = tmp_path / "guessing.json"
    file.write_text('{"changed since": {}}', "utf-8")
    monkeypatch.setattr(validity, "FILE", file)
    run(monkeypatch, "--seeds", "2", "--write", "colours")
    ((key, written),) = json.loads(file.read_text("utf-8")).items()
    assert key == validity.catalogue().hash("colours")
    assert guessing.Guessed.model_validate(written).seeds == 2
    assert written["guesser"] != validity.READER


@pytest.mark.slow
@pytest.mark.proof(scenarios="name", files=("configs/*.toml",))
@pytest.mark.parametrize("name", ours())
def test_no_guesser_beats_chance_in_any_scenario(name: str, seeds: Callable[[int], range]) -> None:
    runs = [guessed([name], SPAN, seed) for seed in seeds(40)]
    ((_, row),) = figures(runs, of=len(ours())).values()
    assert [each for each in row if each.above] == []
    assert list(validity.wrong_for_perfect([name], SPAN)) == []


@pytest.mark.slow
@pytest.mark.proof(files=("configs/*.toml",))
def test_no_reciter_beats_chance_in_a_conversation_with_all_scenarios(
    monkeypatch: pytest.MonkeyPatch, seeds: Callable[[int], range]
) -> None:
    # test_heaps.py plays whole heaps, and would find a smaller excess: with fewer seeds, but without Bonferroni
    fewer = {name: make for name, make in validity.RECITERS.items() if name != f"last {HEAP} messages"}
    assert len(fewer) == len(validity.RECITERS) - 1
    monkeypatch.setattr(validity, "RECITERS", fewer)
    monkeypatch.setattr(validity, "GUESSERS", {})
    found = figures([guessed(ours(), SPAN, seed) for seed in seeds(40)])
    assert {name: row for name, (_, row) in found.items() if any(each.above for each in row)} == {}
    assert list(validity.wrong_for_perfect(ours(), SPAN)) == []
