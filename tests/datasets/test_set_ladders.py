"""Controls and ladder over the histories of public sets: what they can tell, and what they leave out."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import load_run, run
from ltm_bench.core.errors import ConfigError
from tests import sets

if TYPE_CHECKING:
    from tests.conftest import Command


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("faults", "loss"), [({"loses": 0.6}, "memory"), ({"finds": 0.4}, "memory"), ({"uses": 0.4}, "none")]
)
def test_what_a_faulty_memory_misses_is_placed_where_its_fault_lies(
    place: Path, faults: dict[str, float], loss: str
) -> None:
    data = sets.locomo(place / "locomo10.json", histories=4)
    done = run(
        agent="reference",
        suite="locomo",
        data=str(data),
        settings=faults,
        name="r",
        ladder=True,
        controls=["blind", "evidence"],
    )
    ladder, controls = done.results.ladder, done.results.controls
    assert ladder is not None
    assert {*ladder.lost} == {loss, "unknown"}, "category 5 names no evidence, so nothing can be told again"
    assert ladder.lost[loss] > 3
    assert ladder.left_out["retold"]["locomo"].endswith("its set does not name what holds the answer")
    assert "its set names no wrong answers" in ladder.left_out["recognised"]["locomo"]
    assert controls is not None
    assert controls.evidence is not None
    assert (controls.evidence.mean < 1) is (loss == "none")


def test_where_a_set_does_not_name_its_evidence_nothing_is_told_again_and_that_is_said(place: Path) -> None:
    data = sets.facts(place / "facts.json")
    done = run(
        agent="goldfish",
        suite="factconsolidation-sh-6k",
        data=str(data),
        name="r",
        ladder=True,
        controls=["blind"],
    )
    ladder = done.results.ladder
    assert ladder is not None
    assert [each.name for each in ladder.rungs] == ["again"]
    assert ladder.lost == {"unknown": 1}
    assert {*ladder.left_out["retold"].values()} == {"its set does not name what holds the answer"}


MIDDLE = '''"""Questions between the sessions of a record, each of which names the session with its answer."""

from ltm_bench import Ask, Script, Tell, names_only, scenario


@scenario(skills={"recall"})
def middle(dice) -> Script:
    among = ("teal", "ochre", "mauve", "beige")
    yield Tell("The door was painted teal.", at=0.0, session="1")
    yield Ask("Which colour has the door?", expect=names_only("teal", among=among), evidence=(0,), at=0.2)
    yield Tell("The dog sleeps a lot.", at=0.4, session="2")
    yield Tell("The shed was painted ochre.", at=0.6, session="3")
    yield Ask("Which colour has the shed?", expect=names_only("ochre", among=among), evidence=(2,), at=0.8)
    yield Tell("The fence was painted mauve.", at=0.9, session="4")
    yield Ask("Which colour has the fence?", expect=names_only("mauve", among=among), evidence=(3,), at=1.0)
'''


@pytest.mark.parametrize("questions", ["in-line", "forked"])
def test_questions_in_the_middle_do_not_move_what_is_told_again(place: Path, questions: str) -> None:
    (place / "scenarios").mkdir()
    (place / "scenarios" / "middle.py").write_text(MIDDLE, "utf-8")
    done = run(
        agent="reference",
        span="2k",
        scenarios=["middle"],
        examples=1,
        questions=questions,
        settings={"loses": 1.0},
        name="r",
        ladder=True,
        controls=["evidence"],
    )
    said = {"door": "teal", "shed": "ochre", "fence": "mauve"}
    for asked in ("rungs/retold", "controls/evidence"):
        logs = [path.read_text("utf-8") for path in (done.folder / asked).glob("isolated/*.jsonl")]
        told = [log for log in logs if "Here is everything" in log]
        assert len(told) == 3
        for log in told:
            (what,) = (each for each in said if f"has the {each}?" in log)
            assert [each for each in said if f"The {each} was painted" in log] == [what]
            assert "dog" not in log
    ladder = done.results.ladder
    assert ladder is not None
    assert ladder.lost == {"retold": 3}


DRIFTING = '''"""Tells less, without a question of its own, to whoever did not know."""

from ltm_bench import Ask, Script, Tell, names_only, scenario


@scenario(skills={"recall"})
def drifting(dice) -> Script:
    among = ("teal", "ochre")
    yield Tell("The door was painted teal.", at=0.0)
    known = yield Ask("Which colour has the door?", expect=names_only("teal", among=among), at=0.2)
    if "teal" in known.text:
        yield Tell("The shed was painted ochre.", at=0.6)
    yield Ask("Which colour has the shed?", expect=names_only("ochre", among=among), evidence=(1,), at=1.0)
'''


def test_a_line_that_only_the_best_replies_have_told_is_an_error_of_the_scenario(place: Path) -> None:
    (place / "scenarios").mkdir()
    (place / "scenarios" / "drifting.py").write_text(DRIFTING, "utf-8")
    with pytest.raises(ConfigError, match=r"scenario drifting: .* no line 1 is told before it"):
        run(agent="goldfish", span="2k", scenarios=["drifting"], examples=1, name="r", ladder=True)


def test_to_keep_something_back_is_not_to_have_missed_it(place: Path) -> None:
    done = run(
        "goldfish", "32k", suite="gatemem", data=str(sets.gatemem(place / "data")), name="r", ladder=True
    )
    missed = {q.published and q.published.type for e in done.examples for q in e.questions if q.ladder}
    assert {q.published and q.published.type for e in done.examples for q in e.questions} > missed
    assert missed == {"utility"}


@pytest.mark.parametrize(
    ("suite", "make", "rungs"),
    [("longmemeval-s", sets.longmemeval, 2), ("factconsolidation-sh-6k", sets.facts, 1)],
)
def test_the_forecast_counts_the_rungs_that_a_question_has(
    place: Path, suite: str, make: Callable[[Path], Path], rungs: int, command: "Command"
) -> None:
    data = make(place / "data")
    words = ("--suite", suite, "--data", str(data), "--agent", "goldfish")
    done = command("run", *words, "--name", "r", "--ladder")
    questions = sum(len(each.questions) for each in load_run("r").examples)
    assert f"ladder, if every question is missed: {rungs * questions} calls, free" in done.err
