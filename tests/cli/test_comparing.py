"""`compare`, as it is typed."""

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

RUN = ("run", "--span", "2k", "--scenario", "colours", "--examples", "6")


@pytest.fixture
def two_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command") -> Path:
    monkeypatch.chdir(tmp_path)
    for agent in ("perfect", "goldfish"):
        done = command(*RUN, "--agent", agent, "--name", agent)
        assert done.exit_code == 0, done.output
    return tmp_path


def test_runs_are_compared_in_the_terminal_as_json_and_as_a_page(two_runs: Path, command: "Command") -> None:
    done = command("compare", "perfect", "goldfish", "-o", "compare.html")
    assert done.exit_code == 0, done.output
    assert "perfect is better than goldfish, +1.00 (95 % +" in done.output
    assert "page: compare.html" in done.output
    assert 'href="reports/perfect/report.html#e-colours-0"' in (two_runs / "compare.html").read_text("utf-8")
    assert 'href="/"' not in (two_runs / "compare.html").read_text("utf-8")
    everything = json.loads(command("compare", "--json").out)
    assert everything["entrants"] == ["goldfish", "perfect"]
    assert everything["cells"][1]["rank"] == [1, 1]
    smallest = everything["pairs"][0]["detectable"]
    assert f"it would probably show a difference of {smallest:.2f} points or more" in " ".join(
        done.output.split()
    )


def test_the_table_for_a_paper_is_printed_in_markdown_and_latex(two_runs: Path, command: "Command") -> None:
    table = command("compare", "--format", "markdown").out.splitlines()
    assert table[0] == "| Agent | Span | Score | 95 % | Chance | n | Cost |"
    assert [line.split(" | ")[:3] for line in table[2:]] == [
        ["| perfect", "2k", "1.00 / 1"],
        ["| goldfish", "2k", "0.00 / 1"],
    ]
    lines = command("compare", "--format", "latex").out.splitlines()
    assert (lines[0], lines[-1]) == (r"\begin{tabular}{lrrrrrr}", r"\end{tabular}")
    assert lines[2].startswith(r"Agent & Span & Score & 95 \% & Chance")
    assert sum(line.endswith(r" \\") for line in lines) == 3


def test_a_format_that_is_unknown_or_contradicted_is_refused(two_runs: Path, command: "Command") -> None:
    assert "--format latx: unknown; did you mean 'latex'?" in command("compare", "--format", "latx").output
    assert "exclude each other" in command("compare", "--format", "latex", "--json").output


def test_a_missing_run_is_named_with_its_neighbour(two_runs: Path, command: "Command") -> None:
    done = command("compare", "perfekt", "goldfish")
    assert done.exit_code == 1
    assert "no run is called 'perfekt'; did you mean 'perfect'?" in done.output


def test_the_same_run_twice_is_refused(two_runs: Path, command: "Command") -> None:
    done = command("compare", "perfect", "reports/perfect")
    assert done.exit_code == 1
    assert "two runs are called perfect" in done.output


def test_it_says_when_there_is_nothing_to_compare(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("compare")
    assert done.exit_code == 1
    assert "reports/ has no run to compare" in done.output


def test_a_picture_is_drawn_into_a_file(two_runs: Path, command: "Command") -> None:
    pytest.importorskip("vl_convert")
    done = command("plot", "perfect", "goldfish", "--kind", "scenarios", "-o", "all.svg")
    assert done.exit_code == 0, done.output
    assert (two_runs / "all.svg").read_text("utf-8").startswith("<svg")


def test_a_picture_can_be_limited_to_scenarios_and_rename_agents(two_runs: Path, command: "Command") -> None:
    pytest.importorskip("vl_convert")
    words = ("plot", "perfect", "goldfish", "--label", "perfect=Ours", "-o", "p.svg")
    assert command(*words, "--scenario", "colours", "--width", "200").exit_code == 0
    picture = (two_runs / "p.svg").read_text("utf-8")
    assert ">Ours<" in picture
    assert ">perfect<" not in picture
    for more, complaint in (
        (("--scenario", "colour"), "no run asked it; did you mean 'colours'?"),
        (("--label", "perfekt=x"), "--label perfekt: no drawn run has this name; did you mean 'perfect'?"),
        (("--label", "perfect"), "--label perfect: write it as RUN=TEXT"),
        (("--width", "9"), "--width 9: write a whole number, 100 or more"),
    ):
        assert complaint in command(*words, *more).err


def test_a_picture_of_published_runs_has_their_floor(two_runs: Path, command: "Command") -> None:
    pytest.importorskip("vl_convert")
    assert command("plot", "perfect", "--kind", "spans", "-o", "s.svg").exit_code == 0
    assert "dotted grey: score of goldfish" in (two_runs / "s.svg").read_text("utf-8")
    assert "score, as a share: 0" in (two_runs / "s.svg").read_text("utf-8")


def test_the_examples_needed_are_assumed_or_measured_in_earlier_runs(
    two_runs: Path, command: "Command"
) -> None:
    done = command("plan-size", "--detect", "0.5")
    assert done.exit_code == 0, done.output
    assert "a difference of 0.5 of 12 points between two agents on the same examples" in done.output
    assert "Assumed: both agents are right half of the time" in done.output
    everything = json.loads(command("plan-size", "--detect", "0.5", "--json").out)
    needed = everything["examples_needed"]["1"]
    assert 12 * needed == pytest.approx(12 * 12 * 0.5 * (1.96 + 0.84) ** 2 / 0.5**2, rel=0.03), (
        "the textbook's formula"
    )
    assert everything["seeds_needed"] > needed / 3
    fewer = command("plan-size", "--detect", "0.5", "perfect", "goldfish")
    assert "Measured: how much the differences of 1 pair of agents vary, in 2 runs." in fewer.output
    assert "Not included: runs may differ" in fewer.output, "one seed does not show how much runs differ"
    for agent in ("perfect", "goldfish"):
        assert command(*RUN, "--agent", agent, "--name", f"{agent}1", "--seed", "1").exit_code == 0
    seeds = command("plan-size", "--detect", "0.5", "perfect", "goldfish", "perfect1", "goldfish1").output
    assert "in 4 runs." in seeds
    assert "Not included" not in seeds
    assert "about 1 seed." in command("plan-size", "--detect", "10").output
    alone = command("plan-size", "--detect", "0.5", "reports/perfect")
    assert "how much the scores of perfect vary, in 1 run" in alone.output


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--detect", "13"], "--detect 13: more than the highest possible score, 12"),
        (["--detect", "0"], "--detect 0: write points of the score, such as 0.5"),
        (["--detect", "0.5", "--suite", "standart"], "did you mean 'standard'?"),
        (["--detect", "0.5", "nobody"], "no run is called 'nobody'"),
        ([], "Missing option '--detect'"),
    ],
)
def test_a_size_that_cannot_be_planned_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command", words: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    done = command("plan-size", *words)
    assert done.exit_code == 1
    assert done.err.count("\n") == 1
    assert complaint in done.err


def test_an_undecided_comparison_says_what_a_decision_would_take(two_runs: Path, command: "Command") -> None:
    done = command(*RUN, "--agent", "parrot", "--name", "parrot")
    assert done.exit_code == 0, done.output
    done = command("compare", "parrot", "goldfish", "-o", "compare.html")
    assert "no difference shown" in done.output
    assert (
        "to tell these two apart you would need" in done.output or "these two scored the same" in done.output
    )


def test_runs_are_listed_and_compared_where_they_lie(two_runs: Path, command: "Command") -> None:
    pytest.importorskip("fsspec")
    url = (two_runs / "reports").as_uri()
    here, there = (json.loads(command("list", "runs", "--json", *at).out) for at in ((), (url,)))
    assert here == there
    assert {(each["name"], each["state"], each["done"]) for each in there} == {
        ("perfect", "finished", 6),
        ("goldfish", "finished", 6),
    }
    assert json.loads(command("list", "runs", "reports", "--json").out) == here
    assert command("compare", "--json").out == command("compare", url, "--json").out
    assert command("compare", "--json").out == command("compare", "reports", "--json").out
    (two_runs / "reports" / "perfect" / "results.json").unlink()
    late = {each["name"]: each for each in json.loads(command("list", "runs", url, "--json").out)}
    assert (late["perfect"]["state"], late["perfect"]["done"], late["perfect"]["score"]) == (
        "unfinished",
        0,
        None,
    )
    done = command("list", "runs", "nowhere")
    assert (done.exit_code, "nowhere: there is no such folder" in done.err) == (1, True)
