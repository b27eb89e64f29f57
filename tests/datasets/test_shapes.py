"""Every kind of published file is known by its rows, and its golden figures follow to the last digit."""

from pathlib import Path
from typing import Any

import pytest

from ltm_bench.datasets.recounting import Recounts, explaining, learn, read_published, recount
from ltm_bench.datasets.shapes import SHAPES, shape_of
from tests.published import shared

LOCOMO, LABELS = "locomo_answers_verdicts", "labels.eval-results-gpt-4o-2024-08-06.jsonl"
QUESTIONS = "longmemeval_official/data/longmemeval_s_questions.jsonl.gz"
CASES = "precisionmembench/data"

GOLD: list[tuple[str, str, str, dict[str, Any]]] = [
    # file, data, what it says it is, figures as published: measure, group
    (f"{LOCOMO}/fullcontext_gpt-4o-mini_memos-prompt.answers_and_judgments.jsonl.gz", "", "LoCoMo: answers, each", {
        "judgments, all": 0.7428571428571429, "majority, all": 1145 / 1540, "unanimous, all": 1523 / 1540,
        "judgment 1, all": 1143 / 1540, "judgment 2, all": 1144 / 1540, "judgment 3, all": 1145 / 1540,
        "majority, 1": 199 / 282, "majority, 2": 165 / 321, "majority, 3": 54 / 96, "majority, 4": 727 / 841,
    }),
    (f"{LOCOMO}/fullcontext_gpt-4.1-mini_cot-prompt.answers_and_judgments.jsonl.gz", "", "LoCoMo: answers, each", {
        "judgments, all": 0.9261904761904762, "majority, all": 1427 / 1540, "majority, 3": 78 / 96,
    }),
    (f"{LOCOMO}/vague-wrong_v1.answers_and_judgments.jsonl.gz", "", "LoCoMo: answers, each", {
        "judgments, all": 0.10606060606060606, "majority, all": 164 / 1540, "majority, 4": 128 / 841,
        "judgment 1, all": 163 / 1540, "judgment 2, all": 166 / 1540, "judgment 3, all": 161 / 1540,
    }),
    (f"{LOCOMO}/amb_cognee_gemini-3.1-pro.answers_and_verdicts.jsonl", "", "Agent Memory Benchmark",
     {"right, all": 0.7763157894736842}),
    (f"{LOCOMO}/data/locomo_key_errors.json", "", "LoCoMo: errors", {"rows, WRONG_CITATION": 57, "rows, all": 156}),
    (f"mentedb/{LABELS}", QUESTIONS, "LongMemEval: labels", {
        "right, all": 0.924, "right, mean of 6 types": 0.9341308774144595, "right, abstention": 0.8666666666666667,
        "right, multi-session": 0.835820895522388, "right, temporal-reasoning": 0.9696969696969697,
    }),
    (f"mentedb/{LABELS}.gz", QUESTIONS, "LongMemEval: labels", {"right, knowledge-update": 0.9230769230769231}),
    ("mentedb/hypotheses.jsonl.gz", "", "LongMemEval: replies", {"rows, all": 250}),
    (QUESTIONS, "", "LongMemEval: questions", {"rows, abstention": 30, "rows, multi-session": 133}),
    ("longmemeval_official/prompts_of_mentedb_replies.sha256.jsonl", "", "LongMemEval: hashes",
     {"same hash, all": 1.0}),
    ("longmemeval_official/prompt_templates.json", "", "LongMemEval: official prompts", {"rows, all": 12}),
    ("mempalace_locomo/results_locomo_raw_session_top10_20260414_1634.json.gz", "", "LoCoMo: retrieved", {
        "recall, all": 0.6028744864847583, "recall, 1": 0.5902116402116404, "recall, 2": 0.6921079958463136,
        "recall, 3": 0.46044146825396837, "recall, 4": 0.5808561236623068, "recall, 5": 0.6188340807174888,
        "recall, 1-4": 0.598252422180994, "recall, with evidence": 0.602073022279884,
        "all found, all": 1099 / 1986, "none found, all": 695 / 1986,
    }),
    ("mnemoverse_54/validation_54.even.jsonl", "", "LoCoMo: answers rated by people", {
        "golden_v2 CORRECT, all": 0.8888888888888888, "human_lead CORRECT, all": 20 / 27,
        "human_OI AMBIGUOUS, all": 3 / 27, "human_NS WRONG, all": 2 / 27, "majority CORRECT, all": 24 / 27,
        "golden_v2 agrees with human_lead, all": 21 / 22, "golden_v2 agrees with human_OI, all": 1.0,
        "golden_v2 agrees with human_NS, all": 24 / 26, "golden_v2 agrees with majority, all": 24 / 25,
    }),
    ("personamem_32k/pred_32k_k=5_r=rag_m=gpt-4o.csv", "personamem_32k/data", "PersonaMem: predicted", {
        "right, all": 0.6400679117147708, "right, suggest_new_ideas": 0.5376344086021505,
        "right, recalling_facts_mentioned_by_the_user": 0.7058823529411765, "says a, all": 212 / 589,
    }),
    ("personamem_32k/pred_32k_k=5_r=none_m=gpt-4o.csv", "personamem_32k/data", "PersonaMem: predicted", {
        "right, all": 0.4685908319185059, "right, generalizing_to_new_scenarios": 0.08771929824561403,
        "says b, all": 107 / 589,
    }),
    ("personamem_32k/data/queries.json.gz", "", "PersonaMem: questions", {"rows, suggest_new_ideas": 93}),
    ("personamem_32k/data/documents.json.gz", "", "PersonaMem: documents", {"rows, all": 195}),
    ("personamem_32k/data/categories.json", "", "PersonaMem: ids by type", {"rows, suggest_new_ideas": 93}),
    ("gatemem/constructed/leak_literal/household.scores.jsonl.gz", "", "GateMem: scores", {
        "action_correct, all": 0.3333333333333333, "utility_correct, all": 0.0, "deletion_leak, all": 1.0,
        "privacy_leak, all": 0.9945652173913043, "over_refusal, utility": 0.0,
    }),
    ("gatemem/constructed/mute/medical.scores.jsonl.gz", "", "GateMem: scores",
     {"action_correct, all": 0.30569948186528495, "over_refusal, all": 1.0, "privacy_leak, all": 0.0}),
    ("gatemem/constructed/mute/medical.predictions.jsonl", "", "GateMem: replies", {"rows, all": 579}),
    ("gatemem/data/office/checkpoints.jsonl.gz", "", "GateMem: questions", {"rows, all": 547}),
    ("gatemem/data/office/episodes.jsonl.gz", "", "GateMem: episodes", {"rows, all": 17}),
    ("beam/100K/10/chat.json.gz", "", "BEAM: a conversation",
     {"turns, all": 115, "messages, all": 344, "characters, all": 665399}),
    ("beam/100K/5/chat_trunecated.json.gz", "", "BEAM: a conversation",
     {"turns, all": 81, "messages, all": 232, "characters, all": 391410}),
    ("beam/event_ordering_vectors.json", "", "BEAM: orders", {"f1, half reversed": 0.6, "tau_norm, order 31425": 0.7}),
]  # fmt: skip

REPORTS = {
    # system: passed, active, structural, trivial, precision, recall; turns passed, drift, precision, recall
    "tenure": (77, 43, 25, 9, 1.0, 1.0, 12, 0.0, 1.0, 1.0),
    "open-knowledge-format": (
        36, 18, 13, 5, 0.4685340083645168, 0.9147286821705425,
        2, 0.2152777777777778, 0.5694444444444444, 0.45454545454545453,
    ),
    "agentmemory": (
        7, 0, 5, 2, 0.17289115646258502, 0.9706533776301218,
        0, 0.8087301587301589, 0.19126984126984126, 0.7424242424242423,
    ),
    "gbrain": (34, 5, 20, 9, 0.1360544217687075, 0.1744186046511628, 1, 0.0, None, 0.0),
    "vector": (11, 0, 8, 3, 0.08756218905472639, 1.0, 0, 0.9142361111111111, 0.0857638888888889, 1.0),
    "mem0": (
        9, 0, 6, 3, 0.05583617504973, 0.9883720930232558,
        0, 0.9398148148148149, 0.060185185185185196, 0.7727272727272727,
    ),
    "cognee": (
        11, 0, 7, 4, 0.05482635840405811, 0.9186046511627907,
        1, 0.8458605664488018, 0.07724301841948901, 0.9090909090909091,
    ),
}  # fmt: skip


def counted(path: Path, *data: Path) -> Recounts:
    file = read_published(path)
    return recount(file, learn([*(each for part in data for each in explaining(part)), file]))


def means(found: Recounts) -> dict[str, float]:
    return {f"{each.measure}, {each.group}": each.mean for each in found.figures}


@pytest.mark.parametrize(("name", "data", "what", "gold"), GOLD, ids=[row[0] for row in GOLD])
def test_published_figures_follow_to_the_last_digit(
    name: str, data: str, what: str, gold: dict[str, float]
) -> None:
    beside = [shared(data)] if data else []
    if "sha256" in name:
        beside = [shared("longmemeval_official"), shared(f"mentedb/{LABELS}.gz")]
    found = counted(shared(name), *beside)
    assert found.what.startswith(what)
    ours = {f"{each.measure}, {each.group}": each for each in found.figures}
    whole = {key: ours[key].total if value > 1 else ours[key].mean for key, value in gold.items()}
    assert whole == gold


@pytest.mark.parametrize("system", REPORTS)
def test_reports_of_precisionmembench_follow_from_their_ids(system: str) -> None:
    passed, active, structural, trivial, precision, recall, turns, *session = REPORTS[system]
    report = counted(shared(f"precisionmembench/reports/retrieval-report-{system}.json"), shared(CASES))
    totals = {each.measure: each.total for each in report.figures if each.group == "all"}
    kinds = totals["active retrieval"], totals["structural"], totals["trivially empty"]
    assert (totals["passed"], *kinds) == (passed, active, structural, trivial)
    assert (means(report)["precision, all"], means(report)["recall, all"]) == (precision, recall)
    assert not report.notes, "stored precision, recall and passes follow from the ids"
    report = counted(
        shared(f"precisionmembench/reports/session-retrieval-report-{system}.json"), shared(CASES)
    )
    found = means(report)
    assert [found.get(f"{name}, all") for name in ("drift", "precision", "recall")] == session
    assert found["passed, all"] == turns / 12
    assert not report.notes


def test_what_a_report_states_and_does_not_follow_is_shown() -> None:
    mem0 = counted(shared("precisionmembench/reports/retrieval-report-mem0.json"))
    assert [each.name for each in mem0.stated if each.published != each.ours] == [
        "meanPrecision, Scope disambiguation",
        "meanPrecision, Cross-user isolation",
        "meanRecall, Cross-user isolation",
    ]
    older = counted(shared("precisionmembench/reports/nomic-retrieval-report-vector.json"))
    assert [
        (each.name, each.published, each.ours) for each in older.stated if each.published != each.ours
    ] == [
        ("activeRetrieval, all", 1, 0),
        ("structural, all", 0, 8),
        ("triviallyEmpty, all", 10, 3),
    ]


def test_a_verdict_on_another_reply_is_said() -> None:
    found = counted(shared(f"mentedb/{LABELS}.gz"), shared("mentedb/hypotheses.jsonl.gz"))
    assert found.notes[0].startswith("in 7 of 250 rows the verdict belongs to another reply")


def test_a_line_of_gatemems_leaderboard_that_is_no_product_is_named() -> None:
    found = counted(shared("gatemem/leaderboard_given.json"))
    assert (found.rows, found.notes[0].partition(" (")[0]) == (
        96,
        "in 1 of 96 rows the stored mgs does not follow",
    )
    row = read_published(shared("gatemem/leaderboard_given.json")).rows[
        int(found.notes[0].split()[-1].strip(")")) - 1
    ]
    assert (row["method"], row["backbone"], row["domain"]) == ("Mem0", "Llama-4-Maverick", "Education")


def test_every_shape_is_reached_by_a_row_of_its_own() -> None:
    for each in SHAPES:
        assert shape_of(dict.fromkeys(each.keys.split())) is each, each.about
    assert shape_of({}) is None
