"""`export`, `bundle`, `verify` and `--baseline`, as they are typed, on real runs."""

import csv
import hashlib
import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.api import load_run
from ltm_bench.core.errors import ConfigError
from ltm_bench.export.formats import known
from ltm_bench.plugins.members import members
from ltm_bench.score.audits.judgements import append

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.finished import Finished
    from tests.made import Made

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

NASTY = """
from ltm_bench import Agent, Message, Reply

TEXTS = ["=1+1", "<script>&", "\\x00\\x1b[2J", "\\ud800", "", "-5", "\\u202eabc", "a\\r\\nb",
         '"quoted", and more', "fine sk-{}"]

class Nasty(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        return Reply(TEXTS[message.turn % len(TEXTS)].replace("{}", "A1b2C3d4" * 4))
"""
KEY = "sk-" + "A1b2C3d4" * 4
SECRET = "hunter2-hunter2"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, finished: "Finished") -> Path:
    """The folder of a run whose agent says anything that could break a format, and something that looks like a key."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "nasty.py").write_text(NASTY, "utf-8")
    return finished.copy(tmp_path / "reports" / "nasty", "nasty", scenarios=("colours", "jokes"))


@pytest.mark.parametrize("form", ["csv", "jsonl", "operations", "parquet"])
def test_many_runs_are_exported_as_one_table(
    run: Path, command: "Command", tmp_path: Path, form: str
) -> None:
    if form == "parquet":
        pytest.importorskip("pyarrow")
    shutil.copytree(run, run.with_name("again"))
    done = command("export", "reports", "--format", form)
    assert done.exit_code == 0, done.output
    assert command("export", "again", "nasty", "--format", form, "-o", "named").exit_code == 0
    [made] = (tmp_path / "reports").glob("*.*")
    assert (tmp_path / "named").read_bytes() == made.read_bytes()
    if form == "csv":
        with made.open(newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        alone = len(load_run("nasty").rows())
        assert [row["run"] for row in rows] == ["again"] * alone + ["nasty"] * alone


def test_a_format_of_one_run_refuses_several(run: Path, command: "Command") -> None:
    shutil.copytree(run, run.with_name("again"))
    done = command("export", "again", "nasty", "--format", "junit")
    assert done.exit_code == 1
    assert "--format junit: its files hold one run each; name one, or choose a table" in done.err


@pytest.mark.parametrize("form", ["csv", "inspect"])
def test_a_run_behind_a_url_is_exported_as_it_is_in_a_folder(
    run: Path, command: "Command", form: str
) -> None:
    pytest.importorskip("fsspec")
    url = run.as_uri()
    assert "name the file to write with -o" in command("export", url, "--format", form).err
    for name, target in ((url, "far"), ("nasty", "near")):
        assert command("export", name, "--format", form, "-o", target).exit_code == 0
    assert Path("far").read_bytes() == Path("near").read_bytes()


@pytest.mark.parametrize("form", [name for name in known() if name != "parquet"])
def test_a_run_is_exported_into_its_folder_or_into_any_file(
    run: Path, command: "Command", tmp_path: Path, form: str
) -> None:
    done = command("export", "nasty", "--format", form)
    assert done.exit_code == 0, done.output
    [made] = (run / "exports").iterdir()
    assert command("export", "nasty", "--format", form, "-o", str(tmp_path / "x")).exit_code == 0
    assert made.read_bytes() == (tmp_path / "x").read_bytes() != b""


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize(
    "words", ["export nasty --format csv", "bundle nasty", "plot nasty", "compare nasty"], ids=str.split
)
def test_a_device_or_a_pipe_is_not_replaced_by_a_file(
    run: Path, command: "Command", tmp_path: Path, words: str
) -> None:
    pipe = tmp_path / "pipe.png"
    os.mkfifo(pipe)
    done = command(*words.split(), "-o", str(pipe))
    assert done.exit_code == 1
    assert f"-o {pipe}: it is a device or a pipe, which must not be replaced; name a file" in " ".join(
        done.err.split()
    )
    assert pipe.is_fifo()
    with pytest.raises(ConfigError, match="not an ordinary file"):
        load_run("nasty").report(pipe)
    assert pipe.is_fifo()


def test_an_unknown_format_is_named_with_its_neighbour(run: Path, command: "Command") -> None:
    done = command("export", "--format", "junid")
    assert done.exit_code == 1
    assert "--format junid: unknown; did you mean 'junit'?" in done.output


def test_the_help_describes_every_format_and_every_chart(command: "Command") -> None:
    for name, package in (("export", "ltm_bench.export.formats"), ("plot", "ltm_bench.report.charts")):
        printed = command(name, "--help").output
        assert all(f"{each}: {line.removesuffix('.')}" in printed for each, line in members(package).items())


def bundled(command: "Command", target: Path) -> Path:
    done = command("bundle", "nasty", "-o", str(target))
    assert done.exit_code == 0, done.output
    assert hashlib.sha256(target.read_bytes()).hexdigest() in done.output
    return target


def test_a_bundle_is_verified_far_from_its_run(
    run: Path, command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = bundled(command, tmp_path / "b.zip")
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path / "elsewhere")
    done = command("verify", str(bundle))
    assert done.exit_code == 0, done.output
    assert "nasty agrees: 6 verdicts checked" in done.output
    with zipfile.ZipFile(bundle) as archive:
        names = {name.removeprefix("nasty/") for name in archive.namelist()}
        assert {"manifest.json", "events.jsonl", "verdicts.jsonl", "SHA256SUMS"} <= names
        assert not any(name.startswith((".", "agent", "exports")) for name in names)


def test_a_bundle_holds_no_secret(
    run: Path, command: "Command", tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_API_KEY", SECRET)
    log = (run / "events.jsonl").read_bytes()
    assert KEY.encode() in log
    (run / "environment.json").write_text(
        json.dumps({"started": ["2026-01-05T09:00:00Z"], "platform": SECRET}), "utf-8"
    )
    bundle = bundled(command, tmp_path / "b.zip")
    with zipfile.ZipFile(bundle) as archive:
        for name in archive.namelist():
            content = archive.read(name)
            assert KEY.encode() not in content, name
            assert SECRET.encode() not in content, name
    assert (run / "events.jsonl").read_bytes() == log
    assert command("verify", str(bundle)).exit_code == 0


Change = Callable[[dict[str, bytes]], None]


def tampered(bundle: Path, target: Path, change: Change, *, honest_sums: bool) -> Path:
    """Change the files of a bundle; with `honest_sums`, correct the hashes as well."""
    with zipfile.ZipFile(bundle) as archive:
        contents = {name.removeprefix("nasty/"): archive.read(name) for name in archive.namelist()}
    change(contents)
    if honest_sums:
        del contents["SHA256SUMS"]
        sums = [f"{hashlib.sha256(content).hexdigest()}  {name}\n" for name, content in contents.items()]
        contents["SHA256SUMS"] = "".join(sums).encode()
    with zipfile.ZipFile(target, "w") as archive:
        for name, content in contents.items():
            archive.writestr(f"nasty/{name}", content)
    return target


def change_reply(contents: dict[str, bytes]) -> None:
    assert b'"reply":"=1+1"' in contents["events.jsonl"]
    contents["events.jsonl"] = contents["events.jsonl"].replace(
        b'"reply":"=1+1"', b'"reply":"It is blue, I think."'
    )


def change_reply_and_what_was_scored(contents: dict[str, bytes]) -> None:
    change_reply(contents)
    digest = hashlib.sha256(contents["events.jsonl"]).hexdigest()
    results = json.loads(contents["results.json"]) | {"log": digest}
    contents["results.json"] = json.dumps(results).encode()


def change_score(contents: dict[str, bytes]) -> None:
    results = json.loads(contents["results.json"])
    results["examples"][0]["score"] = 0.875
    contents["results.json"] = json.dumps(results).encode()


def change_verdict(contents: dict[str, bytes]) -> None:
    assert b'"outcome":"wrong"' in contents["verdicts.jsonl"]
    contents["verdicts.jsonl"] = contents["verdicts.jsonl"].replace(
        b'"outcome":"wrong"', b'"outcome":"correct"', 1
    )


@pytest.mark.parametrize(
    ("change", "honest_sums", "complaint"),
    [
        (change_reply, False, "events.jsonl was changed: its SHA-256 is"),
        (change_reply, True, "the event log is not the one that was scored"),
        (change_reply_and_what_was_scored, True, "tokens, the log says"),
        (change_score, True, "colours/0: score: 0.875 in results.json, 0.0 by its questions"),
        (change_verdict, True, "in verdicts.jsonl"),
    ],
)
def test_a_changed_bundle_is_refused(
    run: Path, command: "Command", tmp_path: Path, change: Change, honest_sums: bool, complaint: str
) -> None:
    bundle = tampered(
        bundled(command, tmp_path / "b.zip"), tmp_path / "t.zip", change, honest_sums=honest_sums
    )
    done = command("verify", str(bundle))
    assert done.exit_code == 1
    assert complaint in done.output


def test_the_pages_of_an_older_bundle_are_called_unverified(
    run: Path, command: "Command", tmp_path: Path
) -> None:
    bundled(command, tmp_path / "b.zip")
    assert "not verified" not in command("verify", str(tmp_path / "b.zip")).output
    tampered(
        tmp_path / "b.zip",
        tmp_path / "old.zip",
        lambda contents: contents.update({"report.html": b"FAKE 11/11<script>1</script>"}),
        honest_sums=True,
    )
    done = command("verify", str(tmp_path / "old.zip"))
    assert (done.exit_code, done.out.splitlines()[-1]) == (
        0,
        "not verified: report.html; `ltm-bench report` writes pages from the log",
    )


def test_a_run_whose_reply_was_changed_is_refused_until_it_is_rescored(run: Path, command: "Command") -> None:
    assert command("verify", "nasty").exit_code == 0
    log = run / "events.jsonl"
    log.write_bytes(log.read_bytes().replace(b'"reply":"-5"', b'"reply":"-7"'))
    done = command("verify", "nasty")
    assert done.exit_code == 1
    assert "the event log is not the one that was scored" in done.output
    assert command("rescore", "nasty").exit_code == 0
    assert command("verify", "nasty").exit_code == 0


def test_manual_verdicts_are_in_the_bundle_and_agree(
    run: Path, command: "Command", made: "Made", tmp_path: Path
) -> None:
    results = json.loads((run / "results.json").read_text("utf-8"))
    question = results["examples"][0]["questions"][0]
    append(run, [made.by_hand("colours/0", question)])
    done = command("verify", "nasty")  # decided after scoring
    assert done.exit_code == 1
    assert "the verdict by hand in overrides.jsonl is not that of results.json" in done.output
    bundle = bundled(command, tmp_path / "b.zip")
    done = command("verify", str(bundle))
    assert done.exit_code == 0, done.output
    assert "6 verdicts checked (1 by hand)" in done.output


def attempt(command: "Command", agent: str, *more: str) -> Any:
    return command(
        "run", "--span", "2k", "--scenario", "colours", "--agent", agent, "--name", f"{agent}-now", *more
    )


def test_a_run_too_far_below_its_baseline_exits_with_two(run: Path, command: "Command") -> None:
    assert attempt(command, "perfect").exit_code == 0
    shutil.copytree("reports/perfect-now", "reports/before")
    assert attempt(command, "perfect", "--baseline", "before").exit_code == 0
    done = attempt(command, "goldfish", "--baseline", "before", "--max-drop", "0.5")
    assert done.exit_code == 2
    assert (
        "the score fell from 1.000 (baseline before) to 0.000 of 1, by 1.000; --max-drop is 0.5"
        in done.output
    )
    assert attempt(command, "goldfish", "--baseline", "before", "--max-drop", "1").exit_code == 0
    done = attempt(command, "goldfish", "--baseline", "nasty", "--max-drop", "1")
    assert "warning: settings differ: scenario jokes is not in this run" in done.output


def test_a_run_is_called_better_or_worse_than_its_baseline(run: Path, command: "Command") -> None:
    many = ("--examples", "8")
    assert attempt(command, "goldfish", *many).exit_code == 0
    done = attempt(command, "perfect", *many, "--baseline", "goldfish-now")
    assert "perfect-now is better than baseline goldfish-now, +1.00 (95 % +" in " ".join(done.out.split())
    worse = attempt(command, "goldfish", *many, "--fresh", "--baseline", "perfect-now", "--max-drop", "1")
    told = " ".join(worse.out.split())
    assert "baseline perfect-now is better than goldfish-now-2, +1.00 (95 % +" in told
    assert told.count("is better than") == 1
    assert "paired score test)" in done.out


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        (("--span", "4k"), "that run has a span of 2k, this one of 4k"),
        (("--scenario", "jokes"), "that run has no scenario in common with this one"),
    ],
)
def test_a_baseline_that_cannot_be_compared_is_refused_before_the_agent_is_asked(
    run: Path, command: "Command", options: tuple[str, str], complaint: str
) -> None:
    assert attempt(command, "goldfish", "--name", "before").exit_code == 0
    words = {"--span": "2k", "--scenario": "colours"} | dict([options])
    done = command(
        "run",
        *(word for pair in words.items() for word in pair),
        "--agent",
        "perfect",
        "--baseline",
        "before",
    )
    assert done.exit_code == 1
    assert complaint in done.err
    assert not list(Path("reports").glob("*perfect*"))


def test_a_baseline_made_differently_brings_a_warning_before_the_run(run: Path, command: "Command") -> None:
    assert attempt(command, "goldfish", "--name", "before").exit_code == 0
    done = attempt(command, "perfect", "--baseline", "before", "--examples", "4", "--seed", "1")
    assert (
        "settings differ: different number of examples of scenario colours: 3 in before; 4 in this run"
        in done.err
    )
    assert "settings differ: before has the seed 0, so its examples are different" in done.err
    assert done.err.index("settings differ") < done.err.index("4 examples · reports")


def test_an_invalid_baseline_is_refused_before_the_agent_is_asked(run: Path, command: "Command") -> None:
    lines = (run / "events.jsonl").read_bytes().splitlines(keepends=True)
    (run / "events.jsonl").write_bytes(b"".join(lines[:20]))
    for words, complaint in (
        (["--baseline", "nothing"], "no run is called 'nothing'"),
        (["--baseline", "nasty"], "that run is incomplete"),
        (["--baseline", "nasty", "--max-drop", "5"], "--max-drop 5: write a share from 0 to 1"),
    ):
        done = attempt(command, "perfect", *words)
        assert done.exit_code == 1
        assert complaint in done.output
    assert not Path("reports/perfect-now").exists()
