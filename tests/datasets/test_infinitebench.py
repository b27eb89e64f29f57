"""InfiniteBench's tasks, made from dice and read from files of the published format."""

import json
import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Ask, Dice, Outcome, benchmarked
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.tokens import counter
from ltm_bench.datasets.infinitebench import GENERATORS, Record, read_tasks, running_values
from ltm_bench.datasets.infinitebench.files import label_of
from ltm_bench.datasets.infinitebench.generating import LAYERS, TARGETS, Order, found, signed_numbers
from ltm_bench.datasets.infinitebench.prompts import STYLES
from ltm_bench.datasets.infinitebench.scorer import MODES
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins.matchers import load
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.rehearsal import Rehearsed, ideal_reply, rehearse
from ltm_bench.script.scenario import Example

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"), beside=True)


def made(task: str, index: int = 0, tokens: int = 4000, seed: int = 0, **wanted: Any) -> Record:
    return GENERATORS[task](Dice(f"{seed}/{task}/{index}"), Order(index, tokens, **wanted))


def text_of(record: Record) -> str:
    return record.joint.join(piece.text for piece in record.pieces)


@pytest.mark.parametrize("task", GENERATORS)
@pytest.mark.parametrize("tokens", [1000, 8000, 60_000])
def test_material_has_the_requested_length(task: str, tokens: int) -> None:
    for index in range(5):
        assert counter().count(text_of(made(task, index, tokens))) == pytest.approx(tokens, rel=0.06, abs=60)


@pytest.mark.parametrize(
    ("task", "size", "unit"),
    [
        ("passkey", 52, r"So it goes"),
        ("number_string", 52, r"So it goes"),
        ("kv_retrieval", 25, r'": "'),
        ("math_find", 300, r"\d+"),
        ("math_calc", 150, r"\d+"),
        ("code_run", 50, r"def "),
    ],
)
def test_material_has_the_published_units(task: str, size: int, unit: str) -> None:
    units = len(re.findall(unit, text_of(made(task, size=size))))
    assert abs(units - size) <= (2 if task in ("passkey", "number_string") else 0)


@pytest.mark.parametrize("task", ["passkey", "number_string", "kv_retrieval"])
def test_the_needle_is_at_every_depth_in_turn(task: str) -> None:
    for index in range(10):
        record = made(task, index, 8000, depths=5)
        text = text_of(record)
        where = text.index(record.asked[0].label[0]) / len(text)
        assert where == pytest.approx((index % 5) / 4, abs=0.02)


def test_ten_digits_are_five_with_some_doubled() -> None:
    for seed in range(50):
        (number,) = made("number_string", seed=seed).asked[0].label
        assert len(number) == 10
        assert any(a == b for a, b in pairwise(number))


def test_keys_and_values_are_json() -> None:
    record = made("kv_retrieval", questions=7)
    held = json.loads(text_of(record))
    assert len(record.asked) == 7
    assert all(held[each.text] == each.label[0] for each in record.asked)
    assert len({each.text for each in record.asked}) == 7


def test_targets_are_asked_in_turn_and_their_answers_are_those_of_the_list() -> None:
    for index in range(14):
        record = made("math_find", index, questions=1)
        numbers = [int(n) for n in re.findall(r"\d+", text_of(record))]
        distinct = sorted(set(numbers))
        by_target = dict(
            zip(TARGETS, [*distinct[:-4:-1], *distinct[:3], sorted(numbers)[len(numbers) // 2]], strict=True)
        )
        (asked,) = record.asked
        assert asked.text == TARGETS[index % 7]
        if asked.text != "median" or len(numbers) % 2:
            assert asked.label == [by_target[asked.text]]
    assert found("median", [1, 2, 3, 4]) == 2.5
    assert found("second largest number", [9, 9, 4]) == 4


def test_a_sum_stays_between_0_and_99() -> None:
    for seed in range(20):
        numbers = signed_numbers(Dice(f"{seed}"), Order(0, 3000))
        values = running_values(numbers)
        assert len(values) == len(numbers) - 1
        assert all(0 <= value <= 99 for value in values)
    record = made("math_calc")
    first, *rest = re.findall(r"(?:[+-] )?\d+", text_of(record))
    values, value = [], int(first)
    for term in rest:
        value += int(term.replace(" ", ""))
        values.append(value)
    assert record.asked[0].label == [values]


def test_functions_return_what_python_says() -> None:
    for index in range(10):
        record = made("code_run", index, questions=3)
        names: dict[str, Any] = {}
        exec(text_of(record), names)  # made here
        for asked in record.asked:
            assert asked.label == [eval(asked.text, names)]
        needles = [piece for piece in record.pieces if piece.kind == "needle"]
        assert len(needles) >= LAYERS[index % len(LAYERS)]


def steps_of(index: int = 0, **parameters: Any) -> list[Rehearsed]:
    return rehearse(Example(scenario("infinitebench"), index, 0, parameters), counter())


@pytest.mark.parametrize("task", GENERATORS)
@pytest.mark.parametrize("delivery", ["one_shot", "chunked", "scattered"])
@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("scorer", MODES)
def test_the_ideal_reply_is_right_in_every_delivery_style_and_mode(
    task: str, delivery: str, style: str, scorer: str
) -> None:
    for index in range(3):
        for step in steps_of(index, task=task, delivery=delivery, style=style, scorer=scorer, questions=2):
            if isinstance(step.line, Ask):
                assert step.line.expect.verdict(ideal_reply(step.line), ()).outcome is Outcome.CORRECT
                assert load(json.loads(json.dumps(dump(step.line.expect)))) == step.line.expect


ITEMS: dict[str, list[dict[str, Any]]] = {
    "longbook_qa_eng": [
        {"input": "Who mended the pump?", "answer": ["Aunt Berthe"]},
        {"input": "Where did the goat sleep?", "answer": ["in the chapel", "the chapel"]},
    ],
    "longbook_choice_eng": [
        {
            "input": "What was stolen?",
            "answer": ["the bell"],
            "options": ["the pump", "the bell", "a goat", "rope"],
        },
        {
            "input": "By whom?",
            "answer": ["a monk", "C"],
            "options": ["Berthe", "nobody", "a monk", "the goat"],
        },
        {"input": "When?", "answer": "in May", "options": ["in May", "in June", "on Friday", "never"]},
    ],
    "longbook_sum_eng": [{"input": "", "answer": ["A pump breaks and is mended."]}],
    "longbook_qa_chn": [{"input": "谁修好了水泵？", "answer": ["姑姑", "小梅姑姑"]}],
    "longdialogue_qa_eng": [{"input": "", "answer": ["BERTHE", "AUNT BERTHE"]}],
    "code_debug": [
        {"input": "", "answer": ["mend"], "options": ["pump", "mend", "sleep", "Goat.bleat"]},
    ],
}
CONTEXT = "The pump broke.\nAunt Berthe mended it, and $$MASK$$ laughed.\nThe goat slept in the chapel.\ndef mend(x):"


@pytest.fixture(params=ITEMS)
def file(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    task: str = request.param
    path = tmp_path / f"{task}.jsonl"
    lines = [{"id": i, "context": CONTEXT, "options": [], **item} for i, item in enumerate(ITEMS[task])]
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), "utf-8")
    return path


def test_files_of_every_form_are_asked_and_scored(file: Path) -> None:
    task = file.stem
    for delivery in ("one_shot", "chunked", "scattered"):
        steps = steps_of(task=task, data=str(file), delivery=delivery, questions=9)
        asks = [step for step in steps if isinstance(step.line, Ask)]
        assert len(asks) == len(ITEMS[task])  # questions about the same document share its delivery
        for step in asks:
            assert isinstance(step.line, Ask)
            for mode in MODES:
                right = benchmarked(task, step.line.expect.label, mode=mode)  # type: ignore[attr-defined]  # theirs has one
                assert right.verdict(right.right()[0], ()).score == 1
    assert CONTEXT in steps_of(task=task, data=str(file))[0].text
    with pytest.raises(ConfigError, match="there is no delivery number 9 in it"):
        steps_of(9, task=task, data=str(file))


def test_a_bad_line_is_named_and_passed_over_and_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "qa.jsonl"
    good = {"context": "a\nb", "input": "Who?", "answer": ["b"]}
    path.write_text('{"context": "x"\n' + json.dumps(good) + "\n[]\n\n", "utf-8")
    with pytest.warns(UserWarning, match=r"qa.jsonl:(1|3): skipped") as warned:
        (document,) = read_tasks(str(path), "longbook_qa_eng", "")
    assert len(warned) == 2
    assert [asked.text for asked in document.asked] == ["Who?"]
    path.write_text(json.dumps(good) + "\n", "utf-8")
    with pytest.raises(ConfigError, match="the file has changed: its SHA-256 no longer begins with 0000"):
        steps_of(task="longbook_qa_eng", data=str(path), digest="0000")
    with pytest.raises(ConfigError, match="No such file"):
        steps_of(task="longbook_qa_eng", data=str(tmp_path / "none.jsonl"))


def test_evidence_is_found_where_the_answer_is_and_a_cut_says_it_is_gone(tmp_path: Path) -> None:
    path = tmp_path / "book.jsonl"
    lines = ["Nothing happened that day, and then it was over."] * 60
    lines[30] = "It was Aunt Berthe who mended the pump."
    path.write_text(
        json.dumps({"context": "\n".join(lines), "input": "Who?", "answer": ["Aunt Berthe"]}) + "\n", "utf-8"
    )
    whole, cut = (steps_of(task="longbook_qa_eng", data=str(path), most=most)[0].line for most in (0, 200))
    assert isinstance(whole, Ask)
    assert isinstance(cut, Ask)
    assert [each.text for each in whole.buried] == [each.text for each in cut.buried] == [lines[30]]
    assert whole.buried[0].tokens is not None
    assert cut.buried[0].tokens is None


@pytest.mark.parametrize(
    ("answer", "label"),
    [
        ("b", ["b", "B"]),
        (["b"], ["b", "B"]),
        (["b", "B"], ["b", "B"]),
        ("D", ["d", "D"]),
        (["A"], ["a", "A"]),
    ],
)
def test_answers_with_options_become_text_and_letter(answer: Any, label: list[str]) -> None:
    assert label_of("code_debug", answer, ["a", "b", "c", "d"]) == label


@pytest.mark.parametrize(("answer", "options"), [("e", ["a", "b", "c", "d"]), ("a", ["a"])])
def test_answers_that_are_not_options_are_refused(answer: str, options: list[str]) -> None:
    with pytest.raises(ValueError, match="option"):
        label_of("longbook_choice_eng", answer, options)


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"task": "passkeys"}, "task = 'passkeys': it is one of passkey"),
        ({"task": "longbook_qa_eng"}, "it is read from a file: set data"),
        ({"scorer": "kind"}, "scorer = 'kind'"),
        ({"style": "loud"}, "style = 'loud'"),
        ({"delivery": "loud"}, "delivery = 'loud'"),
        ({"task": "math_calc", "delivery": "loud"}, "delivery = 'loud'"),
        ({"depths": 0}, "depths = 0"),
    ],
)
def test_an_unknown_task_is_named(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(complaint)):
        steps_of(**parameters)


PROMPTS = """
open("executed", "w").write("it was")
gpt4_templates = {
    # "passkey": "an older one",
    "passkey": "Find it.\\n{context}\\n{input}",
    "kv_retrieval": "{{JSON}}\\n\\n{context}{input}",
    "math_find": "{prefix}\\n\\n{context}\\n\\n{input}",
    "math_calc": "Compute.\\n\\n{context}",
    "code_run": "There is ${func}.\\n\\n{context}\\n\\nGive {func_call}.",
    "code_debug": "{context}\\n\\nA. {OPTION_A}\\nD. {OPTION_D}",  # noqa
    "longbook_sum_eng": "Summarize.\\n\\n{context}",
    "longbook_qa_eng": "{context}\\n\\nQuestion: {question}\\nAnswer:",
}
claude2_templates = {
    "math_calc": "1 + 1 is [2].\\n{context} is",
    "passkey": "{input}",
    "number_string": "{context}{context}",
    "code_debug": "Read {file:{context}}",
    "longbook_qa_eng": "Be brief." + "{context}",
    "longbook_choice_eng": "{context.__class__} {context}",
    "code_run": "{context} {func_call}",
}
"""
MATERIAL = "The {pump} broke.\n\n  x = {1: 2} $$MASK$$\n"
FIND = "The second largest number of the list is: only one number. The second largest number of the list is:"
FILLED = [
    ("passkey", {"input": "What is it? "}, f"Find it.\n{MATERIAL}\nWhat is it? "),
    ("kv_retrieval", {"input": "{x}:"}, f"{{JSON}}\n\n{MATERIAL}{{x}}:"),
    (
        "math_find",
        {"input": FIND, "answer": 3},
        "What is the second largest number of the list is: only one number. the second largest number in the "
        f"following list?\n\n{MATERIAL}\n\n{FIND}",
    ),
    ("code_run", {"input": "What is func_2(-7)?"}, f"There is $func_2.\n\n{MATERIAL}\n\nGive func_2(-7)."),
    ("code_debug", {"options": ["a", "b", "c", "d{}"], "answer": "b"}, f"{MATERIAL}\n\nA. a\nD. d{{}}"),
    ("longbook_sum_eng", {}, f"Summarize.\n\n{MATERIAL}"),
    ("longbook_qa_eng", {"input": "Who?"}, f"{MATERIAL}\n\nQuestion: Who?\nAnswer:"),
]


def asked(folder: Path, task: str, more: dict[str, Any], **parameters: Any) -> str:
    (folder / "prompt.py").write_text(PROMPTS, "utf-8")
    item = {"context": MATERIAL, "input": "", "answer": "1", "options": [], **more}
    (folder / "items.jsonl").write_text(json.dumps(item) + "\n", "utf-8")
    given = {"data": str(folder / "items.jsonl"), "prompts": str(folder / "prompt.py"), **parameters}
    return steps_of(task=task, **given)[0].text


@pytest.mark.parametrize(("task", "more", "whole"), FILLED, ids=[task for task, *_ in FILLED])
def test_a_published_prompt_is_filled_in_as_its_program_does_and_its_file_is_never_executed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, more: dict[str, Any], whole: str
) -> None:
    monkeypatch.chdir(tmp_path)
    assert asked(tmp_path, task, more) == whole
    assert not (tmp_path / "executed").exists()


@pytest.mark.parametrize(
    ("task", "parameters", "says"),
    [
        (
            "math_calc",
            {},
            "math_calc has no template of 'gpt4' that is a text around one {context} ('gpt4'); templates = claude2",
        ),
        ("longdialogue_qa_eng", {}, "templates = none"),
        ("passkey", {"templates": "gpt5"}, "passkey has no template of 'gpt5'"),
        (
            "longbook_qa_eng",
            {"templates": "claude2"},
            "has no template of 'claude2' that is a text around one {context}",
        ),
        ("passkey", {"templates": "claude2"}, "passkey has no template of"),
        (
            "number_string",
            {"templates": "claude2"},
            "number_string has no template of",
        ),
        ("code_debug", {"templates": "claude2"}, "around one {context} ('file')"),
        ("longbook_choice_eng", {"templates": "claude2"}, "around one {context} ('context.__class__')"),
        ("code_run", {"templates": "claude2"}, "around one {context} ('func_call')"),
        ("passkey", {"prompts": "none.py"}, "prompts = 'none.py': cannot be read: No such file"),
        ("passkey", {"prompts": "odd.py"}, "prompts = 'odd.py': cannot be read: "),
        ("passkey", {"delivery": "chunked"}, "each published prompt holds one question"),
        ("passkey", {"questions": 2}, "each published prompt holds one question"),
        ("passkey", {"style": "recall"}, "each published prompt holds one question"),
        ("passkey", {"data": ""}, "each published prompt holds one question"),
    ],
)
def test_a_published_prompt_that_is_none_is_refused_in_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, task: str, parameters: dict[str, Any], says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("odd.py").write_text("gpt4_templates = {", "utf-8")
    more = {"options": ["1", "b", "c", "d"]} if task in ("code_debug", "longbook_choice_eng") else {}
    with pytest.raises(ConfigError) as error:
        asked(tmp_path, task, more, **parameters)
    assert says in str(error.value)
