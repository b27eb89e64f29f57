"""Every suite that ships fills the span that it claims, or says before, in and after a run by how much it does not."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import run
from ltm_bench.log.manifest import FULL
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.plan.suites import suites
from ltm_bench.plugins.files import bundled
from ltm_bench.schedule.fitting import load_of
from ltm_bench.script.rehearsal import rehearse

if TYPE_CHECKING:
    from tests.conftest import Command

SHIPPED = sorted(suites([bundled("configs")]).keys() - {"infinitebench-files"})
"""All but that of the published files, which only their owner can plan."""
SAID = "nothing fills it"


@pytest.mark.parametrize("suite", SHIPPED)
def test_a_suite_fills_its_span_or_says_before_it_starts_that_it_does_not(suite: str) -> None:
    span = 8_000
    # A column of stars is a share of the span, so that only all of them reach it.
    whole = suite.startswith("counting-stars")
    plan = make_plan(
        Request(agent="perfect", suite=suite, span=str(span), examples=None if whole else 2, pace=True)
    )
    noted = [note for note in plan.notes if SAID in note]
    if not plan.manifest.suite.isolated:
        assert not noted
        return
    longest = max(load_of(rehearse(each, plan.counter)) for each in plan.examples)
    assert bool(noted) == (longest < FULL * span)
    assert not noted or f"{longest:,} tokens, not the span of {span:,}" in noted[0]
    assert bool(noted) == (suite == "isolated")


def test_a_run_that_does_not_fill_its_span_says_so_wherever_it_is_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    asked = ("--suite", "isolated", "--scenario", "colours", "--agent", "parrot", "--span", "8k")
    ended, foreseen = command("run", *asked), command("estimate", *asked)
    assert SAID in " ".join(ended.out.split())
    assert SAID in " ".join((foreseen.out + foreseen.err).split())
    (folder,) = (tmp_path / "reports").glob("*colours*")
    (said,) = [
        each for each in json.loads((folder / "results.json").read_text("utf-8"))["remarks"] if SAID in each
    ]
    longest = max(
        each["span"] for each in json.loads((folder / "results.json").read_text("utf-8"))["examples"]
    )
    assert f"{longest:,} tokens, not the span of 8,000" in said
    assert said in (folder / "report.html").read_text("utf-8")


def test_a_conversation_with_filler_is_full_whatever_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert not [
        each for each in run(agent="parrot", span="8k", scenarios=["colours"]).results.remarks if SAID in each
    ]
