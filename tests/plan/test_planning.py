"""What a person should read before a run begins."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import run
from ltm_bench.plan import dialogues, planning
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from tests.sets import locomo


@pytest.mark.parametrize(
    ("scenario", "examples", "noted"), [("colours", 15, ()), ("colours", 16, (15,)), ("forget_me", 5, ())]
)
def test_a_deck_that_runs_out_is_noted_unless_the_scenario_says_what_no_longer_counts(
    scenario: str, examples: int, noted: tuple[int, ...]
) -> None:
    request = Request(agent="goldfish", span="32k", scenarios=(scenario,), examples=examples)
    said = [
        f"{scenario}: the deck 'colour' runs out, so its items come back from example {first} on."
        for first in noted
    ]
    assert list(make_plan(request).notes) == said
    (alone,) = make_plan(Request(**{**vars(request), "isolated": True})).notes
    assert "not the span of 32,000" in alone


@pytest.mark.parametrize("questions", ["", "alone", "in-line"])
def test_a_run_makes_its_suite_its_public_set_and_its_manifest_once(
    questions: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: Counter[str] = Counter()

    def counted(place: Any, name: str) -> None:
        real: Callable[..., Any] = getattr(place, name)

        def count(*args: Any, **kwargs: Any) -> Any:
            made[name] += 1
            return real(*args, **kwargs)

        monkeypatch.setattr(place, name, count)

    monkeypatch.chdir(tmp_path)
    counted(planning, "find_suite")
    counted(planning, "Manifest")
    counted(dialogues, "choose")
    result = run(
        agent="goldfish",
        suite="locomo",
        data=str(locomo(tmp_path / "l.json")),
        examples=6,
        questions=questions,
    )
    assert len(result.results.examples) == (6 if questions == "alone" else 2)
    assert made == {"find_suite": 1, "Manifest": 1, "choose": 1}
