"""What people type second: the same command with other settings starts a new run, or is refused with a reason."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

PARKING = '''"""Parking: where the car is."""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

PLACES = ("harbour", "station", "market")


@scenario(skills={"recall"}, topics={"parking"})
def parking(dice: Dice) -> Script:
    place = dice.choice(PLACES)
    yield Tell(f"My car is at the {place}.", at=0.0)
    yield Ask("Where is my car?", expect=names_only(place, among=PLACES), at=1.0)
'''

SMALL = ("--span", "2k", "--suite", "smoke", "--isolated")
RUN = ("run", "--span", "2k", "--scenario", "parking", "--agent", "perfect")


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "parking.py").write_text(PARKING, "utf-8")
    return tmp_path


def edit(place: Path) -> None:
    path = place / "scenarios" / "parking.py"
    path.write_text(path.read_text("utf-8").replace("My car", "Our car"), "utf-8")


def runs() -> list[str]:
    return sorted(path.parent.name for path in Path("reports").glob("*/events.jsonl"))


def test_more_examples_make_another_run(command: "Command") -> None:
    assert command(*RUN).exit_code == 0
    again = command(*RUN, "--examples", "5")
    assert again.exit_code == 0, again.err
    assert "perfect · parking · span 2k · 5 examples" in again.err
    assert runs() == ["parking-2k-perfect-seed0", "parking-x5-2k-perfect-seed0"]


def test_a_name_that_is_taken_is_refused_in_words(command: "Command") -> None:
    assert command(*RUN, "--name", "r").exit_code == 0
    again = command(*RUN, "--name", "r", "--examples", "20")
    assert again.exit_code == 1
    assert (
        "reports/r holds another run (examples: 3 there, 20 now); start a new run beside it with --fresh"
        in again.err
    )
    assert "{" not in again.err


def test_a_scenario_that_was_edited_is_named(command: "Command", place: Path) -> None:
    assert command(*RUN).exit_code == 0
    edit(place)
    again = command(*RUN)
    assert again.exit_code == 1
    assert "the file of the scenario parking has changed" in again.err
    assert command(*RUN, "--fresh").exit_code == 0
    assert runs() == ["parking-2k-perfect-seed0", "parking-2k-perfect-seed0-2"]


def test_a_scenario_that_is_left_out_is_named(command: "Command") -> None:
    done = command("run", "--span", "2k", "--agent", "perfect", "--isolated", "--suite", "standard")
    assert (
        "chapter_break is left out: the suite standard includes it only at spans of 8k and more." in done.err
    )


def sweep(*words: str) -> tuple[str, ...]:
    return ("sweep", "--agent", "perfect", "--agent", "goldfish", *SMALL, *words)


def test_a_sweep_takes_no_foreign_run_into_its_page(command: "Command") -> None:
    assert command(*sweep("--name", "nightly")).exit_code == 0
    name = "nightly-smoke-2k-perfect-seed0-isolated"
    assert name in runs()
    log = Path("reports", name, "events.jsonl")
    manifest = json.loads(log.read_text().splitlines()[0])
    log.write_text(json.dumps(manifest | {"seed": 99}) + "\n")
    again = command(*sweep("--name", "nightly"))
    assert again.exit_code == 1
    assert f"{name} holds another run (seed: 99 there, 0 now)" in again.err
    assert "1 of 2 folders hold other runs, which were left alone" in again.err
    assert "another run" in again.out
    assert log.read_text() == json.dumps(manifest | {"seed": 99}) + "\n"


def test_a_fresh_sweep_runs_beside_the_old_one(command: "Command") -> None:
    assert command(*sweep()).exit_code == 0
    assert command(*sweep("--fresh")).exit_code == 0
    assert len(runs()) == 4
    assert all(
        name in runs() for name in ("smoke-2k-perfect-seed0-isolated", "smoke-2k-perfect-seed0-isolated-2")
    )


def test_a_sweep_has_a_page_under_its_name(command: "Command") -> None:
    assert command(*sweep("--name", "nightly")).exit_code == 0
    assert Path("reports/nightly.html").exists()
    assert not Path("reports/sweep.html").exists()


@pytest.mark.parametrize(
    ("agent", "verdict"), [("perfect", "above chance"), ("goldfish", "not distinguishable from guessing")]
)
def test_the_finding_is_in_the_terminal_the_page_and_the_json(
    command: "Command", agent: str, verdict: str
) -> None:
    done = command(*RUN, "--agent", agent, "--examples", "4", "--name", "r")
    assert f"): {verdict}\n" in done.out
    assert json.loads(Path("reports/r/results.json").read_text())["verdict"] == verdict
    page = Path("reports/r/report.html").read_text("utf-8")
    assert f"<strong>{verdict[0].upper()}{verdict[1:]}</strong>: 95 % interval" in page
    assert "; guessing would get" in page


def listed(command: "Command", *words: str) -> list[str]:
    return [row["name"] for row in json.loads(command("list", "runs", "--json", *words).out)]


def test_runs_are_listed_with_their_results_and_sorted(command: "Command") -> None:
    assert command(*RUN, "--name", "good", "--tag", "who=Ada").exit_code == 0
    assert command(*RUN, "--agent", "goldfish", "--name", "bad").exit_code == 0
    rows = {row["name"]: row for row in json.loads(command("list", "runs", "--json").out)}
    good = rows["good"]
    assert (good["score"], good["out_of"], good["dollars"], good["state"]) == (1.0, 1, 0.0, "finished")
    assert good["interval"][0] < 1
    assert good["verdict"] == "above chance"
    assert good["tags"] == {"who": "Ada"}
    assert listed(command, "--sort", "score") == ["good", "bad"]
    assert listed(command, "--sort", "name") == ["bad", "good"]
    said = command("list", "runs").out
    line = next(line for line in said.splitlines() if " good " in line)
    assert "1.00/1" in line
    assert "free" in line
    assert "finished" in line
    assert good["started"][:10] in line
    assert "did you mean 'score'" in command("list", "runs", "--sort", "scor").err


def test_a_long_name_is_not_wrapped_when_output_is_piped(command: "Command") -> None:
    name = "-".join(["LTMAgentWrapper"] * 6)
    assert command(*RUN, "--name", name).exit_code == 0
    assert f" {name} " in command("list", "runs").out
    assert " perfect " in command("list", "runs").out


def test_long_and_short_names_of_an_option_mean_the_same(command: "Command") -> None:
    words = ("run", "--span", "2k", "--scenario", "colours", "--agent", "vector_memory")
    short = command(*words, "-A", "memories=9", "-P", "colours.changes=2", "--name", "short")
    long = command(
        *words, "--agent-arg", "memories=9", "--scenario-arg", "colours.changes=2", "--name", "long"
    )
    assert short.exit_code == long.exit_code == 0
    assert Path("reports/short/events.jsonl").read_bytes() == Path("reports/long/events.jsonl").read_bytes()
