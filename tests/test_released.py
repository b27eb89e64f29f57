"""Runs from released versions: their logs stay readable, and their replies are scored as before."""

import gzip
import json
import re
import shutil
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from ltm_bench import load_run
from ltm_bench.core.messages import Matcher, Message, Outcome, Reply, Turn
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins.matchers import load

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.test_versions import RELEASES
else:
    from test_versions import RELEASES

pytestmark = pytest.mark.proof(
    files=(
        "tests/golden/**/*.*",
        "tests/versions.json",
        "CHANGELOG.md",
        "docs/*.md",
        "agents/*.*",
        "configs/*.*",
    ),
    beside=True,
)

ROOT = Path(__file__).parents[1]
GOLDEN = ROOT / "tests" / "golden"
RUNS = sorted(GOLDEN.glob("*/*/events.jsonl"))
EACH = pytest.mark.parametrize("log", RUNS, ids=lambda log: "/".join(log.parts[-3:-1]))
COLLECTED = ROOT.parent / "shared" / "data" / "replies" / "questions.jsonl.gz"

CHANGED = {
    f"{version}/abilities/standing_order/0/40": "the reply has an unknown word, and may mean the right place by it"
    for version in ("0.2.0", "0.3.0")
}
CHANGED |= dict.fromkeys(
    (
        "0.2.0/abilities/two_users/0/118",
        "0.3.0/abilities/two_users/0/118",
        "0.4.0/abilities/two_users/0/102",
    ),
    "the reply quotes a question with “if you do not know …”, and does not say that of itself",
)
"""Verdicts that are meant to differ from those of the release: `version/run/example/turn`, and why."""

MOST_LINES = 120
"""Lines of the changelog for a release, so that users can read what they must know."""


class Question(NamedTuple):
    """A question in a log, its reply, and the turns of its example up to it."""

    example: str
    turn: int
    expect: dict[str, Any]
    turns: list[Turn]


def lines(path: Path) -> Iterator[dict[str, Any]]:
    for line in path.read_text("utf-8").splitlines():
        yield json.loads(line)


def questions(log: Path) -> Iterator[Question]:
    """Read a log as plain JSON, since a release's format does not change with our readers."""
    for path in [log, *sorted(log.parent.glob("isolated/*.jsonl"))]:
        sent: dict[str, Any] = {}
        heard: dict[str, list[Turn]] = {}
        beside: dict[int, tuple[dict[str, Any], list[Turn]]] = {}
        for event in lines(path):
            if event["event"] == "sent":
                sent = event
            elif event["event"] == "replied" and sent.get("example"):
                turns = heard.setdefault(sent["example"], [])
                turns.append(turn(sent, event["reply"]))
                if "expect" in sent:
                    yield Question(sent["example"], sent["turn"], sent["expect"], list(turns))
            elif event["event"] == "forked":
                beside[event["id"]] = event, list(heard.get(event["example"], ()))
            elif event["event"] == "answered":
                asked, before = beside[event["id"]]
                turns = [*before, turn(asked, event["reply"])]
                yield Question(asked["example"], asked["id"], asked["expect"], turns)


def turn(sent: dict[str, Any], reply: str) -> Turn:
    message = Message(
        sent["message"], datetime.fromisoformat(sent["at"]), sent["id"] if "id" in sent else sent["turn"]
    )
    return Turn(message, Reply(reply), sent.get("kind", "ask"), sent["example"], forked="id" in sent)


def release_says(log: Path) -> dict[tuple[str, int], tuple[str, float]]:
    return {
        (each["example"], each["turn"]): (each["outcome"], each["score"])
        for each in lines(log.with_name("verdicts.jsonl"))
    }


def test_the_golden_runs_hold_every_matcher_of_their_release() -> None:
    for release in {log.parents[1] for log in RUNS}:
        logs = list(release.glob("*/events.jsonl"))
        known = next(lines(release / "conversation" / "events.jsonl"))["scorers"]
        assert {question.expect["matcher"] for log in logs for question in questions(log)} == set(known)


@EACH
def test_the_expectations_of_a_release_are_read(log: Path) -> None:
    for question in questions(log):
        expect = load(question.expect)
        assert isinstance(expect, Matcher)
        assert load(json.loads(json.dumps(dump(expect)))) == expect


@EACH
def test_a_reply_gets_the_verdict_that_the_release_gave(log: Path) -> None:
    asked = list(questions(log))
    said = release_says(log)
    assert {(each.example, each.turn) for each in asked} == set(said)
    for each in asked:
        verdict = load(each.expect).verdict(each.turns[-1].reply.text, each.turns)
        if f"{'/'.join(log.parts[-3:-1])}/{each.example}/{each.turn}" not in CHANGED:
            assert (verdict.outcome.value, verdict.score) == said[each.example, each.turn], verdict.reason


@EACH
def test_a_run_from_a_release_is_rescored_and_gets_a_page(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    if (sets := log.parents[1] / "sets").exists():
        shutil.copytree(sets, tmp_path, dirs_exist_ok=True)
    run = tmp_path / "reports" / "old"
    shutil.copytree(log.parent, run)
    assert command("rescore", "old").exit_code == 0
    assert command("report", "old").exit_code == 0
    assert (run / "report.html").is_file()
    if not CHANGED:
        assert release_says(run / "events.jsonl") == release_says(log)
    before, after = (json.loads((place / "results.json").read_text("utf-8")) for place in (log.parent, run))
    assert {each["id"]: each["score"] for each in before["examples"]} == {
        each["id"]: each["score"] for each in after["examples"]
    } or CHANGED


def test_every_release_has_golden_runs_a_dated_heading_and_a_row_in_the_table_of_versions() -> None:
    assert {log.parts[-3] for log in RUNS} == set(RELEASES)
    changelog, table = ((ROOT / name).read_text("utf-8") for name in ("CHANGELOG.md", "docs/versions.md"))
    dated = re.findall(r"^## \[(\d\S+)\] - \d{4}-\d\d-\d\d$", changelog, re.MULTILINE)
    assert dated == [*reversed(RELEASES)]
    newest = changelog.partition(f"## [{dated[0]}]")[2].partition("\n## [")[0]
    assert newest.count("\n") <= MOST_LINES
    rows = re.findall(r"^\| (\d+\.\d+\.\d+) \| (\d+) \|", table, re.MULTILINE)
    assert {release: int(bench_version) for release, bench_version in rows} == RELEASES


def test_folders_of_all_releases_are_loaded_listed_and_compared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    for release in RELEASES:
        shutil.copytree(GOLDEN / release / "conversation", tmp_path / "reports" / release)
        published = json.loads((tmp_path / "reports" / release / "results.json").read_text("utf-8"))
        loaded = load_run(f"reports/{release}")
        assert (loaded.score, len(loaded.examples)) == (published["score"], len(published["examples"]))
    assert [each["name"] for each in json.loads(command("list", "runs", "--json").out)] == [*RELEASES]
    done = command("compare", *(f"reports/{release}" for release in RELEASES))
    assert done.exit_code == 0, done.err
    warned = " ".join(done.err.split())
    assert all(f"{release} in {release}" in warned for release in RELEASES)
    assert "scores are not comparable" in warned


@pytest.mark.parametrize("scenario", ["infinitebench", "swim"])
def test_what_the_table_of_versions_calls_comparable_was_asked_alike_by_every_release(scenario: str) -> None:
    assert f"`{scenario}`" in (ROOT / "docs" / "versions.md").read_text("utf-8")
    said: dict[str, dict[str, list[str]]] = {}
    for log in RUNS:
        for entry in next(lines(log))["suite"]["scenarios"]:
            if entry.get("scenario", entry["name"]) == scenario:
                assert entry["version"] == 1
                told = lines(log.parent / "isolated" / f"{entry['name']}-0.jsonl")
                same = said.setdefault(json.dumps(entry["parameters"], sort_keys=True), {})
                same[log.parts[-3]] = [each["message"] for each in told if each["event"] == "sent"]
    for releases in said.values():
        assert set(releases) == set(RELEASES)
        assert len({tuple(messages) for messages in releases.values()}) == 1


@pytest.mark.skipif(not COLLECTED.is_file(), reason="the collected replies are not at hand")
def test_the_expectations_of_collected_replies_are_read() -> None:
    kinds = set()
    for line in gzip.decompress(COLLECTED.read_bytes()).decode("utf-8").splitlines():
        expect = load(json.loads(line)["expect"])
        kinds.add(type(expect).__name__)
        assert expect.verdict("I do not know.", []).outcome is not Outcome.CORRECT
    assert len(kinds) >= 10
