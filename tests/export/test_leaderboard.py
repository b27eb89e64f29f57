"""A leaderboard is built from verified bundles; a forged one is refused, and the page says why."""

import hashlib
import json
import re
import shutil
import zipfile
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench import run
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Outcome
from ltm_bench.core.tokens import counter
from ltm_bench.export import bundle
from ltm_bench.export.bundle import pack, unpack
from ltm_bench.export.leaderboard.boards import BoardRow, SpanTable, groups, mode_of
from ltm_bench.export.leaderboard.entries import BoardEntry, Refusal, read_bundles
from ltm_bench.export.leaderboard.pages import Built, write_site
from ltm_bench.score.audits.records import Audit, Rate
from ltm_bench.score.comparison.runs import compare
from ltm_bench.score.results.headline import example_score, summarise_scenario
from ltm_bench.score.results.remarks import JudgeNote
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.scoring import derived
from ltm_bench.score.results.stored import SUMS
from ltm_bench.score.statistics.intervals import Interval

if TYPE_CHECKING:
    from tests.browser import Browser
    from tests.conftest import Command
    from tests.made import Made, Page

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"), packages=("chromium",))

RIGHT, WRONG = Outcome.CORRECT, Outcome.WRONG
AGENTS = ("goldfish", "parrot", "perfect", "vector_memory")


@pytest.fixture(scope="module")
def bundles(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Ten bundles: four shipped agents at two spans, one of them in another mode, and one that is forged."""
    place = tmp_path_factory.mktemp("board")
    folder = place / "bundles"
    folder.mkdir()
    asked: dict[str, Any] = {"scenarios": ["colours", "jokes"], "examples": 3, "reports": place / "reports"}
    for agent in AGENTS:
        for span in ("2k", "4k"):
            done = run(agent, span, name=f"{agent}-{span}", **asked)
            pack(done.folder, folder / f"{agent}-{span}.zip")
    pack(run("vector_memory", "2k", name="quick", quick=True, **asked).folder, folder / "quick.zip")
    forge(folder / "goldfish-2k.zip", folder / "forged.zip", verdicts_in_every_file)
    return folder


@pytest.fixture(scope="module")
def built(bundles: Path) -> Built:
    return Built(bundles)


@pytest.fixture(scope="module")
def site(built: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
    target = tmp_path_factory.mktemp("pages") / "site"
    write_site(built, target)
    return target


def forge(original: Path, target: Path, change: Callable[[Path], object]) -> Path:
    """Change the files of a bundle, and write hashes that fit them."""
    place = target.with_suffix("")
    folder = unpack(original, place)
    change(folder)
    (folder / SUMS).unlink(missing_ok=True)
    (folder / "manifest.json").unlink()
    pack(folder, target)
    shutil.rmtree(place)
    return target


def verdicts_in_every_file(folder: Path) -> None:
    """Make every verdict right, in every file, and every figure that depends on it."""
    results = Results.model_validate_json((folder / "results.json").read_bytes())
    examples = []
    for example in results.examples:
        questions = [
            replace(q, verdict=replace(q.verdict, outcome=RIGHT, score=1.0)) for q in example.questions
        ]
        examples.append(replace(example, questions=questions, score=example_score(questions)))
    scenarios = [
        summarise_scenario(s.name, s.summary, s.skills, [e for e in examples if e.scenario == s.name])
        for s in results.scenarios
    ]
    forged = results.model_copy(update=derived(scenarios, examples))
    (folder / "results.json").write_bytes(forged.model_dump_json().encode())
    lines = [json.loads(line) for line in (folder / "verdicts.jsonl").read_bytes().splitlines()]
    text = "".join(json.dumps(line | {"outcome": "correct", "score": 1.0}) + "\n" for line in lines)
    (folder / "verdicts.jsonl").write_text(text, "utf-8")


def one_verdict(folder: Path) -> None:
    content = json.loads((folder / "results.json").read_bytes())
    content["examples"][0]["questions"][0].update(outcome="correct", score=1.0)
    (folder / "results.json").write_text(json.dumps(content), "utf-8")


def one_reply(folder: Path) -> None:
    log = folder / "events.jsonl"
    log.write_bytes(
        log.read_bytes().replace(
            b'"event":"replied","turn":3,"reply":"', b'"event":"replied","turn":3,"reply":"x', 1
        )
    )


def events_of(folder: Path, change: Callable[[dict[str, Any]], object]) -> None:
    """Change the events of a log, recount its tokens, and derive all its files again."""
    from ltm_bench.plan.scenarios import abouts
    from ltm_bench.report.publishing import read_to_publish
    from ltm_bench.score.results.files import RunFiles

    count = counter("cl100k_base").count
    first, *rest = (folder / "events.jsonl").read_bytes().splitlines()
    events = [json.loads(line) for line in rest]
    for event in events:
        change(event)
        if event["event"] == "sent":
            event["tokens"] = count(event["message"])
    lines = [json.dumps(event, ensure_ascii=False, separators=(",", ":")).encode() for event in events]
    (folder / "events.jsonl").write_bytes(b"\n".join([first, *lines]) + b"\n")
    with RunFiles(folder) as files, read_to_publish(files) as publication:
        publication.publish(abouts(files.manifest), {})


def easier_questions(folder: Path) -> None:
    def change(event: dict[str, Any]) -> None:
        if event.get("kind") == "ask":
            event["message"] = "What is the colour of the sky?"

    events_of(folder, change)


def other_answers(folder: Path) -> None:
    def change(event: dict[str, Any]) -> None:
        if event.get("expect", {}).get("matcher") == "NamesOnly":
            expect = event["expect"]
            expect["value"] = next(name for name in expect["among"] if name != expect["value"])

    events_of(folder, change)


def cut_short(folder: Path) -> None:
    events_of(folder, lambda event: None)
    log = folder / "events.jsonl"
    log.write_bytes(b"".join(log.read_bytes().splitlines(keepends=True)[:40]))
    events_of(folder, lambda event: None)


def negative_charge(folder: Path) -> None:
    (folder / "timings.jsonl").write_bytes(b'{"turn":0}\n{"turn":1}\n{"turn":2,"dollars":-5}\n')


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (one_verdict, "outcome: correct in results.json, "),
        (verdicts_in_every_file, "of the same reply: the verdict was changed"),
        (one_reply, "the event log is not the one that was scored"),
        (easier_questions, "the log has 'What is the colour of the sky?', seed 0 gives"),
        (other_answers, "the log expects a different answer from the one that seed 0 gives"),
        (cut_short, "incomplete ("),
        (negative_charge, "timings.jsonl:3: dollars is -5, which is impossible"),
    ],
)
def test_a_forged_or_unfinished_bundle_is_refused_with_the_reason(
    bundles: Path, tmp_path: Path, change: Callable[[Path], object], reason: str
) -> None:
    forge(bundles / "parrot-2k.zip", tmp_path / "forged.zip", change)
    [refused] = read_bundles(tmp_path)
    assert isinstance(refused, Refusal)
    assert reason in refused.reason
    assert str(tmp_path) not in refused.reason


def test_of_ten_bundles_nine_are_on_the_boards_and_the_forged_one_is_refused(
    built: Built, site: Path
) -> None:
    assert len(built.entries) == 9
    assert all(entry.retold == len(entry.results.examples) == 6 for entry in built.entries), (
        "including the forked ones"
    )
    [refusal] = built.refusals
    assert refusal.file == "forged.zip"
    assert "of the same reply: the verdict was changed" in refusal.reason
    index = (site / "index.html").read_text("utf-8")
    assert "forged.zip" in index
    assert "the verdict was changed" in index
    assert "9 runs on 2 boards" in index
    assert not any("forged" in str(path) for path in site.rglob("*"))


def test_scores_that_mean_different_things_have_separate_boards(built: Built) -> None:
    titles = [(board.title, len(board.entries)) for board in built.boards]
    version = built.entries[0].manifest.bench_version
    assert titles == [
        (f"standard · in-line · bench_version {version}", 8),
        (f"standard · forked, scripted acknowledgements, quick · bench_version {version}", 1),
    ]


def test_examples_that_have_no_filler_to_skip_are_not_called_quick(built: Built) -> None:
    manifest = built.entries[0].manifest
    alone = manifest.suite.model_copy(update={"isolated": True})
    forked = manifest.model_copy(
        update={"suite": alone, "questions": "forked", "acknowledge": "scripted"},
    )
    assert mode_of(forked).endswith(", isolated examples")
    assert "quick" not in mode_of(forked)


def test_versions_contents_and_imported_runs_are_kept_apart(built: Built) -> None:
    from ltm_bench.export.leaderboard.boards import boards

    entry = built.entries[0]

    def changed(**changes: Any) -> BoardEntry:
        return entry._replace(name="other", manifest=entry.manifest.model_copy(update=changes))

    suite = entry.manifest.suite
    row = suite.scenarios[0].model_copy(update={"version": 99})
    other_content = suite.model_copy(update={"scenarios": [row, *suite.scenarios[1:]]})
    fewer = suite.model_copy(update={"scenarios": suite.scenarios[:1]})
    for other, word in (
        (changed(bench_version=99), "bench_version 99"),
        (changed(suite=other_content), "another content of colours"),
        (changed(suite=fewer), "without jokes"),
        (changed(tokenizer="o200k_base"), "tokens of o200k_base"),
        (changed(agent=entry.manifest.agent.model_copy(update={"adapter": "imported"})), ""),
    ):
        found = boards([entry, entry, other])
        assert len(found) == 2
        assert word in found[1].title
    assert boards([entry, changed(agent=entry.manifest.agent.model_copy(update={"adapter": "imported"}))])[
        1
    ].historical
    assert len(boards([entry, changed(version="9.9.9")])) == 1, (
        "another package version alone does not make another board"
    )
    alike = suite.model_copy(
        update={"scenarios": [r.model_copy(update={"examples": 60}) for r in suite.scenarios]}
    )
    assert len(boards([entry, changed(suite=alike)])) == 1, "more examples do not make it another question"


def test_groups_follow_from_the_data_and_ties_are_shown(made: "Made") -> None:
    best, worst = [RIGHT], [WRONG]
    mixed, mixed_too = [RIGHT, WRONG, RIGHT], [RIGHT, WRONG, WRONG, RIGHT, RIGHT]
    found = compare(
        [made.run("best", best, each=12), made.run("one", mixed, each=12), made.run("other", mixed_too, each=12),
         made.run("worst", worst, each=12)]
    )  # fmt: skip
    rows = [BoardRow(cell, []) for cell in found.at(120_000)]
    cut = [[row.cell.entrant for row in group] for group in groups(rows, found.pairs)]
    assert [sorted(group) for group in cut] == [["best"], ["one", "other"], ["worst"]]
    assert [row.place for row in rows] == ["1", "2–3", "2–3", "4"]
    [whole] = groups(rows, [])
    assert whole == rows


def test_the_finding_says_who_is_ahead_only_where_that_is_shown(made: "Made", built: Built) -> None:
    entry = built.boards[-1].entries[0]

    def finding(**outcomes: list[Outcome]) -> str:
        found = compare([made.run(name, kind, each=12) for name, kind in outcomes.items()])
        rows = [BoardRow(cell, [entry]) for cell in found.at(120_000)]
        return SpanTable(120_000, groups(rows, found.pairs), [], found.pairs).finding

    mixed, mixed_too = [RIGHT, WRONG, RIGHT], [RIGHT, WRONG, WRONG, RIGHT, RIGHT]
    assert finding(a=[RIGHT], b=mixed, c=[WRONG]) == "At a span of 120k, a is ahead of both others."
    assert finding(a=[RIGHT], b=[WRONG]) == "At a span of 120k, a is ahead of the other one."
    tied = finding(a=mixed, b=mixed_too, c=[WRONG])
    assert tied.startswith("At a span of 120k any of 2 agents may be the best, of 3 in all: ")
    assert finding(a=mixed, b=mixed_too).startswith(
        "At a span of 120k the data does not tell which of two agents is better: "
    )
    assert finding(a=mixed) == "At a span of 120k there is one agent, a."


def test_judges_and_the_scorers_error_are_shown_beside_the_score(made: "Made", built: Built) -> None:
    entry = built.entries[0]
    rate = Rate(
        verdicts=400,
        drawn=100,
        read=100,
        contradicted=1,
        agreement=0.99,
        error=0.01,
        interval=Interval(low=0, high=0.05),
    )
    audit = Audit(
        auditor="ada",
        key="",
        model=None,
        seed=0,
        measured=None,
        total=rate,
        kappa=0.9,
        scenarios={},
        contradictions=[],
    )
    notes = [
        JudgeNote(
            name="wise",
            model="m",
            key="1",
            replies=3,
            unreadable=0,
            sensitivity=0.99,
            specificity=0.98,
            believed=True,
        ),
        JudgeNote(name="rash", model="m", key="2", replies=1, unreadable=0),
        JudgeNote(
            name="lax",
            model="m",
            key="3",
            replies=2,
            unreadable=0,
            vague=4,
            false_accepts=0.5,
            published=True,
        ),
    ]
    changed = {"judges": notes, "audits": [audit], "overridden": 2, "undecided": 4}
    [cell] = compare([made.run("a")]).cells
    row = BoardRow(cell, [entry._replace(results=entry.results.model_copy(update=changed))])
    assert row.judged_by == [
        "wise: 3 replies, sensitivity 0.99, specificity 0.98",
        "rash: 1 reply, never calibrated",
        "lax: 2 replies, used the set's own prompts, passes 0.50 of 4 vague wrong answers",
        "2 verdicts by hand",
        "4 undecided, which count 0",
    ]
    [headline_of_audit] = row.audited
    assert headline_of_audit.startswith("Scorer error 1.0 % (0.0–5.0), audited by ada")


def test_the_page_of_a_board_shows_what_was_measured_and_what_was_checked(
    built: Built, site: Path, read: Callable[[str], "Page"]
) -> None:
    board = built.boards[0]
    page = read((site / f"{board.name}.html").read_text("utf-8"))
    for table in board.spans:
        for n, group in enumerate(table.groups, 1):
            tied = f": {len(group)} agents, with no clear line between them" if len(group) > 1 else ""
            first = group[0]
            assert f"Group {n}{tied} {first.place} {first.cell.entrant}" in page.words
    assert "perfect oracle: is told the answers 2.00 / 2" in page.words
    assert "vector_memory" in page.words
    assert "goldfish baseline: remembers nothing 0.00 / 2" in page.words
    for word in (
        "Abilities",
        "Score over span",
        "no judge",
        "not audited",
        "6 of 6 examples",
        "free",
        "under 1 ms",
    ):
        assert word in page.words
    assert [name for name, times in page.ids.items() if times > 1] == []
    assert page.tables_without_caption == 0
    assert page.tags["script"] == 0
    for table in board.spans:
        assert table.finding in page.words
        assert "perfect" not in table.finding, "an oracle is not ranked ahead of anyone"
    for link in page.links:
        assert link.startswith(("#", "data:")) or (site / link.partition("#")[0]).is_file(), link


def test_no_page_loads_anything_or_links_elsewhere(site: Path) -> None:
    for page in site.rglob("*.html"):
        text = page.read_text("utf-8")
        assert "default-src 'none'" in text
        assert not re.search(r'(?:src|href|action)="(?:https?:)?//', text), page


def test_pages_come_from_the_log_not_from_the_bundle(
    bundles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def plant(folder: Path) -> None:
        for name in ("report.html", "transcript.html"):
            (folder / name).write_text("<script>alert(1)</script>", "utf-8")

    monkeypatch.setattr(bundle, "_SUFFIXES", (".jsonl", ".json", ".html"))  # as versions up to 0.3 did
    forge(bundles / "goldfish-2k.zip", tmp_path / "planted.zip", plant)
    [entry] = read_bundles(tmp_path)
    assert isinstance(entry, BoardEntry)
    assert all(b"alert" not in page and b"goldfish" in page for page in entry.pages.values())


def test_names_of_bundles_are_text_and_never_paths(bundles: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(bundles / "goldfish-2k.zip") as archive:
        contents = {name.partition("/")[2]: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "<b>x.zip", "w") as archive:
        for name, content in contents.items():
            archive.writestr(f"<script>:CON/{name}", content)
    [entry] = read_bundles(tmp_path)
    assert isinstance(entry, BoardEntry)
    assert re.fullmatch(r"[A-Za-z0-9._-]+", entry.name)
    write_site(Built(tmp_path), tmp_path / "site")
    assert all("<script>:" not in page.read_text("utf-8") for page in (tmp_path / "site").glob("*.html"))


def test_one_run_counts_once(bundles: Path, tmp_path: Path) -> None:
    for name in ("a.zip", "b.zip"):
        shutil.copy(bundles / "parrot-2k.zip", tmp_path / name)
    first, second = read_bundles(tmp_path)
    assert isinstance(first, BoardEntry)
    assert isinstance(second, Refusal)
    assert second.reason == "its event log is that of a.zip, to the byte: one run counts once"


def test_anything_that_is_not_a_bundle_is_refused_too(tmp_path: Path) -> None:
    (tmp_path / "x.zip").write_bytes(b"no zip")
    [refused] = read_bundles(tmp_path)
    assert isinstance(refused, Refusal)
    assert refused.reason.startswith("x.zip: ")


def tree(folder: Path) -> Mapping[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_equal_bundles_give_equal_pages_and_a_new_board_replaces_the_old_one(
    bundles: Path, site: Path, tmp_path: Path, built: Built
) -> None:
    again = tmp_path / "again"
    write_site(Built(bundles), again)
    assert tree(again) == tree(site)
    (again / "runs" / "stray.html").write_text("old", "utf-8")
    write_site(built, again)
    assert tree(again) == tree(site)


def test_a_folder_with_anything_else_in_it_is_left_alone(built: Built, tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("years of work", "utf-8")
    with pytest.raises(ConfigError, match="holds other files, which would be lost"):
        write_site(built, tmp_path)
    with pytest.raises(ConfigError, match="there is a file of this name"):
        write_site(built, tmp_path / "thesis.tex")
    assert (tmp_path / "thesis.tex").read_text("utf-8") == "years of work"


def test_the_command_reports_the_outcome(
    bundles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    some = tmp_path / "some"
    some.mkdir()
    for name in ("forged.zip", "vector_memory-2k.zip"):
        shutil.copy(bundles / name, some / name)
    done = command("leaderboard", "build", "some", "-o", "site")
    assert done.exit_code == 0, done.output
    assert "refused: forged.zip: " in done.err
    assert "1 run verified, 1 refused; page: site" in done.out
    assert (
        json.loads((tmp_path / "site" / "leaderboard.json").read_bytes())["refused"][0]["file"]
        == "forged.zip"
    )
    for words, complaint in (
        (["nowhere"], "nowhere: there is no such folder"),
        (["site"], "site: it has no bundle"),
    ):
        refused = command("leaderboard", "build", *words)
        assert refused.exit_code == 1
        assert complaint in refused.err


def test_a_seed_drawn_after_submission_is_marked(
    bundles: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("vector_memory-2k.zip", "parrot-2k.zip"):
        shutil.copy(bundles / name, tmp_path / name)
    done = command("leaderboard", "draw", "vector_memory-2k.zip")
    assert done.exit_code == 0, done.output
    seed = int(re.findall(r"--seed (\d+)", done.out)[0])
    asked: dict[str, Any] = {"scenarios": ["colours"], "examples": 2, "reports": tmp_path / "reports"}
    for agent in ("vector_memory", "parrot"):
        pack(
            run(agent, "2k", seed=seed, name=f"{agent}-drawn", **asked).folder,
            tmp_path / f"{agent}-drawn.zip",
        )
    pack(
        run("vector_memory", "2k", seed=seed, name="other", settings={"memories": 3}, **asked).folder,
        tmp_path / "other.zip",
    )
    drawn = {each.file: each.drawn_on for each in read_bundles(tmp_path) if isinstance(each, BoardEntry)}
    assert len(drawn) == 5
    assert [name for name, day in drawn.items() if day] == ["vector_memory-drawn.zip"], "only for this agent"
    write_site(Built(tmp_path), tmp_path / "site")
    pages = [page.read_text("utf-8") for page in (tmp_path / "site").glob("board-*.html")]
    assert (
        sum(f"drawn on {drawn['vector_memory-drawn.zip']}, after the agent was submitted" in p for p in pages)
        == 1
    )
    assert any("chosen by the submitter" in page for page in pages)
    text = (tmp_path / "drawn.toml").read_text("utf-8")
    (tmp_path / "drawn.toml").write_text(re.sub(r'on = ".*"', 'on = "2999-01-01"', text), "utf-8")
    assert not any(each.drawn_on for each in read_bundles(tmp_path) if isinstance(each, BoardEntry)), (
        "the run began before the draw"
    )
    (tmp_path / "drawn.toml").write_text(text.replace("seed", "sead"), "utf-8")
    with pytest.raises(ConfigError, match=r"drawn\.toml: drawn 1: "):
        list(read_bundles(tmp_path))
    assert "there is no such file" in command("leaderboard", "draw", "nothing.zip").err


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_pages_fit_load_nothing_and_can_be_read_by_everybody(
    browser: "Browser", site: Path, built: Built, width: int, dark: bool
) -> None:
    axe_core = pytest.importorskip("axe_core_python")
    axe = (Path(axe_core.__path__[0]) / "axe.min.js").read_text("utf-8")
    for page in (site / "index.html", site / f"{built.boards[0].name}.html"):
        browser.open(page.as_uri(), width=width, dark=dark, scripts=True)
        browser.ask("document.querySelectorAll('details').forEach(each => each.open = true)")
        assert browser.ask("document.documentElement.scrollWidth") <= width
        assert browser.problems == []
        assert {each for each in browser.requests if not each.startswith("data:")} == {page.as_uri()}
        browser.ask(axe + "; 0")
        found = (
            "axe.run(document, {resultTypes: ['violations']}).then(f => f.violations.map(each => each.id))"
        )
        assert browser.ask(found) == []


def test_a_run_with_a_training_seed_is_refused_with_the_reason(tmp_path: Path) -> None:
    asked: dict[str, Any] = {"scenarios": ["colours"], "examples": 2, "reports": tmp_path / "reports"}
    for seed in (3, "train:3"):
        pack(run("goldfish", "2k", seed=seed, **asked).folder, tmp_path / f"seed-{str(seed)[:5]}.zip")
    entered, refused = read_bundles(tmp_path)
    assert isinstance(entered, BoardEntry)
    assert isinstance(refused, Refusal)
    assert "train:3 is a training seed, on which an agent may have been trained" in refused.reason


def test_bundles_behind_a_url_give_the_same_pages(bundles: Path, tmp_path: Path, command: "Command") -> None:
    pytest.importorskip("fsspec")
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "one.zip").write_bytes((bundles / "goldfish-2k.zip").read_bytes())
    (tmp_path / "far" / "notes").mkdir()
    places = {"near": f"{tmp_path / 'far'}", "url": f"file://{tmp_path / 'far'}"}
    for name, place in places.items():
        done = command("leaderboard", "build", place, "-o", str(tmp_path / name))
        assert done.exit_code == 0, done.err
    near, url = (
        {
            path.relative_to(tmp_path / name): path.read_bytes()
            for path in (tmp_path / name).rglob("*")
            if path.is_file()
        }
        for name in places
    )
    assert near == url
    done = command("leaderboard", "build", f"file://{tmp_path / 'far' / 'notes'}")
    assert (done.exit_code, "it has no bundle" in done.err) == (1, True)
