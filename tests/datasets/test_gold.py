"""Published files at hand: each is known by its rows, and every row of every GOLD.md follows to the last digit."""

import gzip
import json
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from ltm_bench.core.limits import json_of
from ltm_bench.datasets.gatemem.predictions import FILES, rows_of
from ltm_bench.datasets.predictions import Data
from ltm_bench.datasets.recounting import explaining, learn, read_published
from ltm_bench.datasets.shapes import SHAPES, shape_of
from ltm_bench.score.statistics.recounts import Recounts, recount
from tests.published import shared

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"), beside=True)

FOLDERS = (
    "beam", "gatemem", "locomo_answers_verdicts", "longmemeval_official", "mempalace_locomo", "mentedb",
    "mnemoverse_54", "personamem_32k", "precisionmembench",
)  # fmt: skip


class Row(NamedTuple):
    """A row of a table of a GOLD.md."""

    folder: str
    table: str
    """The heading of the table's first column."""
    cells: Mapping[str, str]

    @property
    def name(self) -> str:
        return next(iter(self.cells.values()))


def gold() -> Iterator[Row]:
    """Yield the rows of all tables of all GOLD.md at hand."""
    for folder in FOLDERS:
        try:
            text = shared(folder, "GOLD.md").read_text("utf-8")
        except pytest.skip.Exception:
            return
        headings: list[str] = []
        for line in text.splitlines():
            cells = [each.strip() for each in line.strip("|").split("|")] if line.startswith("|") else []
            if not cells:
                headings = []
            elif not headings:
                headings = cells
            elif set(line) != set("|-"):
                yield Row(folder, headings[0], dict(zip(headings, cells, strict=True)))


def number(cell: str) -> float | None:
    """Return a figure as a file may state it; None where there is none."""
    return None if cell.strip("'") in ("", "-", "None") else float(cell.replace(",", ""))


class Counted:
    """The figures of a file, by `measure, group`."""

    def __init__(self, found: Recounts) -> None:
        self.found = found
        self._by = {f"{each.measure}, {each.name}": each for each in found.figures}

    def mean(self, key: str) -> float | None:
        return self._by[key].mean if key in self._by else None

    def total(self, key: str) -> float:
        return self._by[key].total if key in self._by else 0

    def n(self, key: str) -> int:
        return self._by[key].n if key in self._by else 0

    def share(self, key: str) -> tuple[float, int]:
        return self.total(key), self.n(key)


@cache
def counted(name: str, *data: str) -> Counted:
    file = read_published(shared(name))
    return Counted(
        recount(file, learn([*(each for part in data for each in explaining(shared(part))), file]))
    )


LABELS = "mentedb/labels.eval-results-gpt-4o-2024-08-06.jsonl.gz"
QUESTIONS = "longmemeval_official/data/longmemeval_s_questions.jsonl.gz"
ORDERED = "beam/event_ordering_vectors.json"
REPORTS = "precisionmembench/reports"


def sizes_of_beam(row: Row) -> Iterator[tuple[object, object]]:
    for name in ("chat.json", "chat_trunecated.json"):
        file = counted(f"beam/100K/{row.cells['folder']}/{name}.gz")
        ours = [file.found.rows, *(file.total(f"{key}, all") for key in ("turns", "messages", "characters"))]
        yield [float(each) for each in row.cells[name].split(", ")], ours


def orders_of_beam(row: Row) -> Iterator[tuple[object, object]]:
    for column in ("precision", "recall", "f1", "tau_norm", "final_score"):
        yield number(row.cells[column]), counted(ORDERED).mean(f"{column}, {row.name}")


@cache
def checkpoints() -> Data:
    return list(FILES.questions(shared("gatemem/data"), pytest.fail))


@cache
def gated(rule: str) -> list[dict[str, float | str | bool]]:
    files = sorted(shared("gatemem/constructed", rule).glob("*.predictions.jsonl*"))
    return rows_of(
        {str(path): list(FILES.read(path, checkpoints(), pytest.fail)) for path in files}, checkpoints()
    )


def figures_of_gatemem(row: Row) -> Iterator[tuple[object, object]]:
    def ours(key: str) -> object:
        (found,) = (
            each for each in gated(row.name)
            if (each["domain"], each["scorer"]) == (row.cells["domain"], "official")
            if str(each["gate"]) == row.cells["gate_by_action"]
        )  # fmt: skip
        return found[key]

    counts = {"n": "n", "U n": "n_utility", "A n": "n_privacy", "F n": "n_safety"}
    rates = ("action accuracy", "utility", "privacy leak", "deletion leak", "over refusal", "score")
    for column, key in {**counts, **{each: each.replace(" ", "_") for each in rates}}.items():
        yield number(row.cells[column]), ours(key)
    if row.cells["gate_by_action"] == "False" and row.cells["domain"] != "ALL":
        stored = counted(f"gatemem/constructed/{row.name}/{row.cells['domain']}.scores.jsonl.gz")
        yield number(row.cells["action accuracy"]), stored.mean("action_correct, all")
        for column in ("privacy leak", "deletion leak", "over refusal"):
            yield number(row.cells[column]), stored.mean(f"{column.replace(' ', '_')}, all")


def votes_of_locomo(row: Row) -> Iterator[tuple[object, object]]:
    cells = row.cells
    file = counted(f"locomo_answers_verdicts/{row.name}.answers_and_judgments.jsonl.gz")
    yield number(cells["n"]), file.found.rows
    # The count beside the stored accuracy follows no one rule: the majority for two files, the rounded mean for one.
    mean = round((file.mean("judgments, all") or 0) * file.found.rows)
    assert number(cells["stored correct"]) in (mean, file.total("majority, all"))
    yield number(cells["stored accuracy"]), file.mean("judgments, all")
    yield number(cells["mean of 4,620 judgments"]), file.mean("judgments, all")
    yield number(cells["majority of 3"]), file.total("majority, all")
    yield number(cells["unanimous"]), file.total("unanimous, all")
    yield json_of(cells["per judgment"]), [file.total(f"judgment {place}, all") for place in (1, 2, 3)]
    for group, right, n in re.findall(r"(\d): (\d+)/(\d+)", cells["by category (majority)"]):
        yield (float(right), int(n)), file.share(f"majority, {group}")


def recall_of_mempalace(row: Row) -> Iterator[tuple[object, object]]:
    file = counted("mempalace_locomo/results_locomo_raw_session_top10_20260414_1634.json.gz")
    yield number(row.cells["mean recall"]), file.mean(f"recall, {row.name}")
    yield number(row.cells["n"]), file.n(f"recall, {row.name}")


def labels_of_mentedb(row: Row) -> Iterator[tuple[object, object]]:
    names = {"overall": "all", "mean of the six types": "mean of 6 types", "abstention (_abs)": "abstention"}
    key = f"right, {names.get(row.name, row.name)}"
    file = counted(LABELS, QUESTIONS)
    yield number(row.cells["value"]), file.mean(key)
    if row.cells["n"]:
        yield (number(row.cells["correct"]), number(row.cells["n"])), file.share(key)


def raters_of_mnemoverse(row: Row) -> Iterator[tuple[object, object]]:
    file = counted("mnemoverse_54/validation_54.even.jsonl")
    for word in ("CORRECT", "WRONG", "AMBIGUOUS"):
        yield number(row.cells[word]), file.total(f"{row.name} {word}, all")
    agrees = number(row.cells["golden-v2 agrees"]), number(row.cells["decided"])
    yield agrees, file.share(f"golden_v2 agrees with {row.name}, all")
    yield 24 / 27, file.mean("golden_v2 CORRECT, all")


def letters_of_personamem(row: Row) -> Iterator[tuple[object, object]]:
    kind, model = row.table.split("_")
    key = f"right, {row.name}"
    file = counted(f"personamem_32k/pred_32k_k=5_r={kind}_m={model}.csv", "personamem_32k/data")
    yield number(row.cells["accuracy"]), file.mean(key)
    yield (number(row.cells["correct"]), number(row.cells["n"])), file.share(key)


def reports_of_precisionmembench(row: Row) -> Iterator[tuple[object, object]]:
    cells = row.cells
    older = row.name.partition("vector-")[2]  # the same queries by other embeddings
    name = f"{older}-retrieval-report-vector" if older else f"retrieval-report-{row.name}"
    report = counted(f"{REPORTS}/{name}.json", "precisionmembench/data")
    assert not report.found.notes, "stored precision, recall and passes follow from the ids"
    kinds = {"active": "active retrieval", "trivial": "trivially empty"}
    for column in ("passed", "active", "structural", "trivial"):
        yield number(cells[column]), report.total(f"{kinds.get(column, column)}, all")
    for column, key in (("mean precision (n)", "precision"), ("mean recall (n)", "recall")):
        mean, n = re.findall(r"[\d.]+", cells[column])
        yield (float(mean), int(n)), (report.mean(f"{key}, all"), report.n(f"{key}, all"))
    means = {each.name: each.ours for each in report.found.stated}
    stored = [float(each) for each in cells["stored P / R"].split(" / ")]
    yield stored, [means["meanPrecision, all"], means["meanRecall, all"]]
    if (turns := cells["session turns passed"]) == "-":
        return
    session = counted(f"{REPORTS}/session-retrieval-report-{row.name}.json", "precisionmembench/data")
    assert not session.found.notes
    passed, of = turns.split("/")
    yield (float(passed), int(of)), session.share("passed, all")
    yield number(cells["mean drift"]), session.mean("drift, all")
    yield number(cells["session P (n)"].partition(" (")[0]), session.mean("precision, all")
    yield cells["session P (n)"].partition(" (")[2].strip(")"), str(session.n("precision, all"))
    yield number(cells["session R"]), session.mean("recall, all")


CHECKS: Mapping[tuple[str, str], Callable[[Row], Iterator[tuple[object, object]]]] = {
    ("beam", "half"): sizes_of_beam,
    ("beam", "name"): orders_of_beam,
    ("gatemem", "constructed reply rule"): figures_of_gatemem,
    ("locomo_answers_verdicts", "system"): votes_of_locomo,
    ("mempalace_locomo", "slice"): recall_of_mempalace,
    ("mentedb", "measure"): labels_of_mentedb,
    ("mnemoverse_54", "rater"): raters_of_mnemoverse,
    ("personamem_32k", "rag_gpt-4o"): letters_of_personamem,
    ("personamem_32k", "none_gpt-4o"): letters_of_personamem,
    ("precisionmembench", "system"): reports_of_precisionmembench,
}

NOT_AT_HAND = {
    (
        "mnemoverse_54",
        "conv",
    ): "1,485 of the 1,539 answers and all verdicts on them are not published with it",
}
"""Tables that follow from no file at hand, and why."""

ROWS = [
    pytest.param(row, id="-".join([row.folder, *list(row.cells.values())[:3]])[:80]) for row in gold()
] or [pytest.param(None, id="none", marks=pytest.mark.skip(reason="GOLD.md is not at hand"))]


@pytest.mark.parametrize("row", ROWS)
def test_a_published_figure_follows_to_the_last_digit(row: Row) -> None:
    if (row.folder, row.table) in NOT_AT_HAND:
        assert (row.folder, row.table) not in CHECKS
        return
    compared = list(CHECKS[row.folder, row.table](row))
    assert compared
    for published, ours in compared:
        assert ours == published


def test_figures_outside_the_tables_follow_too() -> None:
    cognee = counted("locomo_answers_verdicts/amb_cognee_gemini-3.1-pro.answers_and_verdicts.jsonl")
    assert (cognee.share("right, all"), cognee.mean("right, all")) == ((59, 76), 0.7763157894736842)
    errors = counted("locomo_answers_verdicts/data/locomo_key_errors.json")
    assert (errors.total("rows, WRONG_CITATION"), errors.found.rows) == (57, 156)
    palace = counted("mempalace_locomo/results_locomo_raw_session_top10_20260414_1634.json.gz")
    assert (palace.total("all found, all"), palace.total("none found, all")) == (1099, 695)
    for kind, letters in (
        ("rag", {"b": 136, "d": 123, "a": 212, "c": 118}),
        ("none", {"b": 107, "a": 224, "c": 114, "d": 144}),
    ):
        file = counted(f"personamem_32k/pred_32k_k=5_r={kind}_m=gpt-4o.csv")
        assert {each: file.total(f"says {each}, all") for each in letters} == letters
    prompts = counted(
        "longmemeval_official/prompts_of_mentedb_replies.sha256.jsonl", "longmemeval_official", LABELS
    )
    assert prompts.share("same hash, all") == (250, 250)
    asked = counted(QUESTIONS)
    types = {"multi-session": 133, "temporal-reasoning": 133, "knowledge-update": 78, "abstention": 30,
             "single-session-user": 70, "single-session-assistant": 56, "single-session-preference": 30}  # fmt: skip
    assert {each: asked.total(f"rows, {each}") for each in types} == types


def test_what_a_report_states_and_does_not_follow_is_shown() -> None:
    mem0 = counted(f"{REPORTS}/retrieval-report-mem0.json").found
    assert [each.name for each in mem0.stated if each.published != each.ours] == [
        "meanPrecision, Scope disambiguation",
        "meanPrecision, Cross-user isolation",
        "meanRecall, Cross-user isolation",
    ]
    older = counted(f"{REPORTS}/nomic-retrieval-report-vector.json").found
    odd = [(each.name, each.published, each.ours) for each in older.stated if each.published != each.ours]
    assert odd == [
        ("activeRetrieval, all", 1, 0),
        ("structural, all", 0, 8),
        ("triviallyEmpty, all", 10, 3),
    ]


def test_a_verdict_on_another_reply_is_said() -> None:
    found = counted(LABELS, "mentedb/hypotheses.jsonl.gz").found
    assert found.notes[0].startswith("in 7 of 250 rows the verdict belongs to another reply")


def test_a_line_of_gatemems_leaderboard_that_is_no_product_is_named() -> None:
    found = counted("gatemem/leaderboard_given.json").found
    note = found.notes[0]
    assert (found.rows, note.partition(" (")[0]) == (96, "in 1 of 96 rows the stored mgs does not follow")
    row = read_published(shared("gatemem/leaderboard_given.json")).rows[int(note.split()[-1].strip(")")) - 1]
    assert (row["method"], row["backbone"], row["domain"]) == ("Mem0", "Llama-4-Maverick", "Education")


def data_files() -> Iterator[Path]:
    for folder in FOLDERS:
        for path in sorted(shared(folder).rglob("*")):
            if re.search(r"\.(jsonl?|csv)(\.gz)?$", path.name) and path.parent.name != "official":
                yield path


def test_every_data_file_at_hand_says_what_it_is() -> None:
    kinds = {path: recount(read_published(path), {}).what for path in data_files()}
    assert len(kinds) > 70
    assert {kind.partition(":")[0] for kind in kinds.values()} > {"LoCoMo", "LongMemEval", "GateMem", "BEAM"}


def turned(path: Path, form: str) -> bytes:
    """Return a file's rows in another form: the keys of each in another order, as lines or as a list, packed or not."""
    file = read_published(path)
    rows = [dict(reversed(list(row.items()))) for row in file.rows]
    if path.suffix == ".csv":
        names = list(rows[0])
        text = "\n".join([",".join(names), *(",".join(map(str, row.values())) for row in rows)])
    elif file.head:  # a report, whose rows stand under a key
        text = json.dumps({"rows": rows, **file.head})
    else:
        text = json.dumps(rows) if form == "list" else "\n".join(map(json.dumps, rows))
    return gzip.compress(text.encode()) if form == "packed lines" else text.encode()


@pytest.mark.parametrize("form", ["list", "lines", "packed lines"])
def test_figures_are_the_same_whatever_the_form_and_the_name_of_a_file(form: str, tmp_path: Path) -> None:
    tried: dict[str, Path] = {}
    for path in data_files():
        tried.setdefault(read_published(path).shape.about, path)
    for place, path in enumerate(tried.values()):
        copy = tmp_path / f"{place}.txt"
        copy.write_bytes(turned(path, form))
        before, after = (recount(read_published(each), {}) for each in (path, copy))
        assert set(after.figures) == set(before.figures), path
        assert (after.what, after.rows, set(after.stated), after.notes) == (
            before.what,
            before.rows,
            set(before.stated),
            before.notes,
        )


def test_every_shape_is_reached_by_a_row_of_its_own() -> None:
    for each in SHAPES:
        assert shape_of(dict.fromkeys(each.keys.split())) is each, each.about
    assert shape_of({}) is None
