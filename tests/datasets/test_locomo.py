"""LoCoMo: its format, the official F1 to the last digit, its wrong keys, and prediction files in the usual formats."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltm_bench.datasets.errata import Erratum, asked_twice, errata, error_of, question_digest, wrong_keys
from ltm_bench.datasets.locomo.files import histories
from ltm_bench.datasets.locomo.porter import stem
from ltm_bench.datasets.locomo.scorer import official, strict

if TYPE_CHECKING:
    from tests.conftest import Command

SHARED = Path(__file__).parents[3] / "shared" / "data" / "locomo"

STEMS = """
sky:sky skies:sky dying:die lying:lie news:news innings:inning proceed:proceed exceed:exceed flies:fli
dies:die ties:tie tied:tie died:die cried:cri caresses:caress ponies:poni cats:cat feed:feed agreed:agre
plastered:plaster bled:bled motoring:motor sing:sing conflated:conflat troubled:troubl sized:size
hopping:hop tanned:tan falling:fall hissing:hiss fizzed:fizz failing:fail filing:file happy:happi
enjoy:enjoy say:say toy:toy relational:relat conditional:condit rational:ration valenci:valenc
hesitanci:hesit digitizer:digit conformabli:conform radicalli:radic differentli:differ vileli:vile
analogousli:analog vietnamization:vietnam predication:predic operator:oper feudalism:feudal
decisiveness:decis hopefulness:hope callousness:callous formaliti:formal sensitiviti:sensit
sensibiliti:sensibl triplicate:triplic formative:form formalize:formal electriciti:electr electrical:electr
hopeful:hope goodness:good revival:reviv allowance:allow inference:infer airliner:airlin gyroscopic:gyroscop
adjustable:adjust defensible:defens irritant:irrit replacement:replac adjustment:adjust dependent:depend
adoption:adopt homologou:homolog communism:commun activate:activ angulariti:angular homologous:homolog
effective:effect bowdlerize:bowdler probate:probat rate:rate cease:ceas controll:control roll:roll
generally:gener hopefully:hope biology:biolog geology:geolog yearly:yearli syzygy:syzygi yyy:yyy being:be
going:go oed:o easily:easili volunteering:volunt counseling:counsel transgender:transgend agencies:agenc
"""
"""What the PorterStemmer of NLTK 3.10 says."""

TALK: dict[str, Any] = {
    "sample_id": "conv-1",
    "conversation": {
        "speaker_a": "Ada",
        "speaker_b": "Ben",
        "session_1_date_time": "1:56 pm on 8 May, 2023",
        "session_1": [
            {"speaker": "Ada", "dia_id": "D1:1", "text": "I planted two pear trees on Sunday."},
            {"speaker": "Ben", "dia_id": "D1:2", "text": "Nice!", "blip_caption": "a photo of a garden"},
        ],
        "session_2_date_time": "9:00 am on 12 June, 2023",
        "session_2": [{"speaker": "Ben", "dia_id": "D2:1", "text": "My boat is called Heron."}],
        "session_3_date_time": "9:00 am on 13 June, 2023",
    },
    "qa": [
        {"question": "How many trees did Ada plant?", "answer": 2, "evidence": ["D1:1"], "category": 4},
        {"question": "What is Ben's boat called?", "answer": "Heron", "evidence": ["D2:1"], "category": 1},
        {"question": "What does Ada sail?", "adversarial_answer": "Heron", "evidence": [], "category": 5},
        {"question": "Broken?", "answer": "yes", "category": 9},
        {"question": "What is Ben's boat called?", "answer": "the Heron", "category": 2},
    ],
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    path = tmp_path / "locomo10.json"
    path.write_text(json.dumps([TALK, {"sample_id": "empty", "conversation": {}, "qa": []}]))
    return path


def test_words_are_stemmed_as_in_nltk() -> None:
    pairs = [pair.partition(":") for pair in STEMS.split()]
    assert len(pairs) > 100
    assert {word: stem(word) for word, _, _ in pairs} == {word: found for word, _, found in pairs}


def test_a_dialogue_is_read_with_dates_speakers_pictures_and_evidence(data: Path) -> None:
    complaints: list[str] = []
    (history,) = histories(data, complaints.append)
    first, second = history.sessions
    assert str(first.at) == "2023-05-08 13:56:00+00:00"
    assert [(u.role, u.speaker, u.id) for u in first.utterances] == [
        ("user", "Ada", "D1:1"),
        ("assistant", "Ben", "D1:2"),
    ]
    assert "a photo of a garden" in first.utterances[1].text
    assert second.id == "D2"
    assert [(q.id, q.type, q.gold[0]) for q in history.questions[:2]] == [
        ("locomo_0_qa0", "4", "2"),
        ("locomo_0_qa1", "1", "Heron"),
    ]
    assert history.questions[2].unanswerable
    assert len(complaints) == 2
    assert "category 9" in complaints[0]
    assert "record 2" in complaints[1]


VECTORS = [
    ("Adoption agencies", "adoption agency", "4", 1.0, 1.0),
    ("The answer is: seven trees", "7 trees", "4", 1 / 3, 0.0),
    ("pears, and a plum", "pears, plums", "1", 1.0, 1.0),
    ("pears", "pears, plums", "1", 0.5, 0.5),
    ("yes", "yes; she said so", "3", 1.0, 1.0),
    ("No information available.", "whatever", "5", 1.0, 1.0),
    ("I don't know.", "whatever", "5", 0.0, 1.0),
    ("", "pears", "4", 0.0, 0.0),
    ("a the and", "an", "4", 0.0, 0.0),
]


@pytest.mark.parametrize(("said", "gold", "category", "published", "ours"), VECTORS)
def test_answers_are_scored_as_published_and_strictly(
    said: str, gold: str, category: str, published: float, ours: float
) -> None:
    assert official(said, gold, category) == pytest.approx(published)
    assert strict(said, gold, category) == pytest.approx(ours)


@given(said=st.text(max_size=60), gold=st.text(min_size=1, max_size=20), category=st.sampled_from("12345"))
def test_no_answer_makes_a_scorer_fail(said: str, gold: str, category: str) -> None:
    assert 0 <= official(said, gold, category) <= 1
    assert 0 <= strict(said, gold, category) <= 1


def test_a_heap_of_words_earns_nothing_from_the_strict_scorer() -> None:
    assert strict("pears plums " + "and something else " * 100, "pears", "4") == 0


FORMS: dict[str, Any] = {
    "audit.jsonl": {
        "question_id": "locomo_0_qa0",
        "category": 4,
        "golden_answer": 2,
        "generated_answer": "2",
        "judgments": [True, False, True],
    },
    "eval_results.json": {
        "metadata": {"n": 1},
        "detailed_results": {
            "user_0": [
                {
                    "question_id": "locomo_0_qa0",
                    "question": "How many trees did Ada plant?",
                    "golden_answer": "2",
                    "generated_answer": "2",
                    "llm_judgments": {"judgment_1": True, "judgment_2": True, "judgment_3": False},
                    "category": "4",
                }
            ]
        },
    },
    "graded.json": {
        "locomo_experiment_user_0": [
            {
                "question": "How many trees did Ada plant?",
                "answer": "2",
                "golden_answer": 2,
                "grade": True,
                "category": 4,
            }
        ]
    },
    "scored.json": {
        "0": [
            {
                "question": "How many trees did Ada plant?",
                "answer": "2",
                "response": "2",
                "category": "4",
                "llm_score": 1,
            }
        ]
    },
    "own.json": [
        {
            "sample_id": "conv-1",
            "qa": [
                {
                    "question": "How many trees did Ada plant?",
                    "answer": 2,
                    "category": 4,
                    "some-model_prediction": 2,
                    "evidence": [],
                    "judge": "CORRECT",
                }
            ],
        }
    ],
}


@pytest.mark.parametrize("name", FORMS)
def test_prediction_files_are_read_in_every_form_in_use(
    tmp_path: Path, data: Path, command: "Command", name: str
) -> None:
    path = tmp_path / name
    path.write_text(json.dumps(FORMS[name]))
    done = command("score", "locomo", "--json", "--data", str(data), str(path))
    (found,) = json.loads(done.out)["files"]
    overall = found["lines"][0]
    assert (overall["name"], overall["n"]) == ("overall", 1)
    assert {key: each["mean"] for key, each in overall["figures"].items()} == {
        "official": 1.0,
        "strict": 1.0,
        "judge": 1.0,
    }
    assert found["missing"] == []  # of the types in the file


def test_a_question_that_is_asked_twice_is_answered_twice_and_missing_ones_are_named(
    tmp_path: Path, data: Path, command: "Command"
) -> None:
    rows = [
        {"user": "u_0", "question": "What is Ben's boat called?", "answer": "Heron", "golden_answer": "x"}
    ] * 3
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([*rows, {"user": "u_0", "question": "None said"}]))
    done = command("score", "locomo", "--json", "--data", str(data), str(path))
    (found,) = json.loads(done.out)["files"]
    assert found["n"] == 2
    assert "it has no answer" in done.err
    assert "category or gold answer is unknown" in done.err
    done = command("score", "locomo", str(path), "--data", str(data))
    assert "overall" in done.out


@pytest.mark.parametrize(("content", "complaint"), [("{}", "it has no answer"), ("[{", "not JSON")])
def test_a_file_without_answers_is_refused(
    tmp_path: Path, command: "Command", content: str, complaint: str
) -> None:
    path = tmp_path / "mine.json"
    path.write_text(content)
    refused = command("score", "locomo", str(path))
    assert refused.exit_code == 1
    assert complaint in refused.err


def test_the_wrong_keys_are_named_with_reason_and_source() -> None:
    known = errata("locomo")
    assert (len(known), len(wrong_keys("locomo"))) == (156, 99)
    assert all(each.why and each.source and len(each.digest) == 12 for each in known.values())


GOLDEN = {
    "predictions-gpt-4.1-mini-cot": ([0.2026, 0.2885, 0.2299, 0.0906, 0.1762], 0.9266, 0.616),
    "predictions-vague-wrong": ([0.1479, 0.0659, 0.2945, 0.0974, 0.1252], 0.6273, 0.525),
    "graded-zep": ([0.1866], 0.7513, None),
}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data must not be shipped")
@pytest.mark.parametrize("with_data", [False, True])
def test_published_files_get_their_figures_to_the_last_digit(command: "Command", with_data: bool) -> None:
    files = [str(SHARED / f"{name}.jsonl.gz") for name in GOLDEN]
    more = ["--data", str(SHARED / "locomo10.json.gz")] if with_data else []
    wrong = ["--wrong", str(SHARED / "predictions-vague-wrong.jsonl.gz")]
    found = json.loads(command("score", "locomo", "--json", *files, *more, *wrong).out)
    for file, (f1, judge, on_wrong) in zip(found["files"], GOLDEN.values(), strict=True):
        lines = {line["name"]: line["figures"] for line in file["lines"]}
        names = ["overall", "1", "2", "3", "4"][: len(f1)]
        assert [round(lines[name]["official"]["mean"], 4) for name in names] == f1
        assert round(lines["overall"]["judge"]["mean"], 4) == judge
        assert file["wrong_keys"] == 99
        if on_wrong is not None:
            assert round(lines["wrong keys alone"]["judge"]["mean"], 3) == on_wrong
    graded = {line["name"]: line["figures"]["judge"] for line in found["files"][2]["lines"]}
    assert [round(graded[name]["mean"], 4) for name in "1234"] == [0.7411, 0.6604, 0.6771, 0.7979]
    assert "it passes 0.6273" in found["notes"][0]
    first = found["compared"][0]["difference"]
    assert first["interval"]["low"] < first["difference"] < first["interval"]["high"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data must not be shipped")
def test_the_audits_own_file_names_the_same_wrong_keys(command: "Command") -> None:
    path = str(SHARED / "graded-zep.jsonl.gz")
    errors = ["--errors", str(SHARED / "errors.json"), "--data", str(SHARED / "locomo10.json.gz")]
    (found,) = json.loads(command("score", "locomo", "--json", path, *errors).out)["files"]
    assert found["wrong_keys"] == 99
    every = [q for h in histories(SHARED / "locomo10.json.gz", pytest.fail) for q in h.questions]
    assert len(every) == 1986


PLACED = {"locomo_0_qa2": Erratum("locomo_0_qa2", "why", "who", digest=question_digest("What is wrong?"))}
NAMED = {"370a8ff4": Erratum("370a8ff4", "why", "who")}


@pytest.mark.parametrize(
    ("known", "name", "text", "wrong"),
    [
        (PLACED, "locomo_0_qa2", "What is wrong?", True),
        (PLACED, "locomo_0_qa7", " what is  WRONG?", True),
        (PLACED, "locomo_0_qa2", "What is Ana's cat called?", False),
        (PLACED, "locomo_0_qa2", None, True),
        (PLACED, "locomo_0_qa7", None, False),
        (NAMED, "370a8ff4", "Whatever was asked", True),
        (NAMED, "370a8ff5", "Whatever was asked", False),
    ],
)
def test_a_wrong_key_is_known_by_its_question_and_by_its_id_only_where_that_is_all_there_is(
    known: dict[str, Erratum], name: str, text: str | None, wrong: bool
) -> None:
    assert (error_of(known, name, text) is not None) is wrong


def own(folder: Path, name: str, questions: list[tuple[str, str]]) -> str:
    """Write a dialogue of one's own in the set's form."""
    asked = [
        {"question": text, "answer": gold, "evidence": ["D1:1"], "category": 4} for text, gold in questions
    ]
    (folder / f"{name}.json").write_text(json.dumps([{**TALK, "sample_id": name, "qa": asked}]))
    return str(folder / f"{name}.json")


OWN = [("What is the cat called?", "Miso"), ("Is Ana a vet?", "yes"), ("Where does she live?", "Lima")]
OTHER = [("What does Ana play?", "the oboe"), ("Does Ben sail?", "yes"), ("Where does she live?", "Lima")]


def test_runs_are_paired_on_equal_questions_alone_and_own_ones_have_no_wrong_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command"
) -> None:
    monkeypatch.chdir(tmp_path)
    files = {"a": own(tmp_path, "a", OWN), "b": own(tmp_path, "b", OTHER)}
    for name, agent, file in (("a", "perfect", "a"), ("b", "goldfish", "b"), ("c", "goldfish", "a")):
        done = command(
            "run",
            "--suite",
            "locomo",
            "--data",
            files[file],
            "--agent",
            agent,
            "--name",
            name,
        )
        assert done.exit_code == 0, done.err
        assert json.loads(Path("reports", name, "results.json").read_text())["sets"][0]["wrong_keys"] == 0
    for runs, n in ((("a", "b"), 1), (("a", "c"), 3)):
        found = json.loads(command("compare", *runs, "--json").out)
        assert {each["difference"]["n"] for each in found["sets"]} == {n}
        assert [each["paired"]["n"] for each in found["pairs"]] == [1 if n == 3 else 0]
        assert {len(row["marks"]) for row in found["rows"]} == ({2} if n == 3 else {1})
    again = json.loads(command("compare", "b", "c", "--json").out)
    assert len(again["entrants"]) == 2, "one agent on other data is no repetition"
    scored = json.loads(command("score", "locomo", "reports/a", "reports/b", "--json").out)
    assert [each["wrong_keys"] for each in scored["files"]] == [0, 0]
    assert {each["difference"]["n"] for each in scored["compared"]} == {1}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the data must not be shipped")
def test_part_of_the_file_in_another_order_has_its_own_wrong_keys(tmp_path: Path, command: "Command") -> None:
    import gzip

    whole = json.loads(gzip.decompress((SHARED / "locomo10.json.gz").read_bytes()))
    part = [{**talk, "qa": talk["qa"][::-1]} for talk in (whole[5], whole[3])]
    (tmp_path / "part.json").write_text(json.dumps(part))
    done = json.loads(
        command("datasets", "show", "locomo", "--data", str(tmp_path / "part.json"), "--json").out
    )
    expected = {
        each.digest
        for name, each in wrong_keys("locomo").items()
        if name.startswith(("locomo_3_", "locomo_5_"))
    }
    texts = {q.id: q.text for h in histories(tmp_path / "part.json", pytest.fail) for q in h.questions}
    assert {question_digest(texts[name]) for name in done["wrong_keys"]} == expected
    twice = [
        question_digest(q.text)
        for h in histories(SHARED / "locomo10.json.gz", pytest.fail)
        for q in h.questions
    ]
    assert {each for each in twice if twice.count(each) > 1} == set(asked_twice("locomo"))


@pytest.mark.parametrize("with_data", [False, True])
@pytest.mark.parametrize("named", [False, True])
def test_a_file_twice_in_one_is_not_counted_twice(
    tmp_path: Path, data: Path, command: "Command", with_data: bool, named: bool
) -> None:
    rows = [
        {"user": "u_0", "question": each["question"], "answer": "x", "golden_answer": "x", "category": 4}
        | ({"question_id": f"locomo_0_qa{place}"} if named else {})
        for place, each in enumerate(TALK["qa"][:2])
    ]
    path = tmp_path / "mine.json"
    path.write_text(json.dumps(rows * 2))
    more = ["--data", str(data)] if with_data else []
    done = command("score", "locomo", "--json", str(path), *more)
    (file,) = json.loads(done.out)["files"]
    twice = with_data and not named  # the data asks for the boat twice
    assert file["n"] == 2 + twice
    assert done.err.count("answered twice; the first answer counts") == 2 - twice


def test_an_answer_to_another_question_than_that_of_the_data_is_not_scored_by_its_key(
    tmp_path: Path, data: Path, command: "Command"
) -> None:
    row = {
        "question_id": "locomo_0_qa1",
        "question": "Who sails?",
        "answer": "Heron",
        "golden_answer": "Ben",
        "category": 4,
    }
    path = tmp_path / "mine.json"
    path.write_text(json.dumps([row]))
    (file,) = json.loads(command("score", "locomo", "--json", str(path), "--data", str(data)).out)["files"]
    assert file["lines"][0]["figures"]["official"]["mean"] == 0
