"""One interview for all who are asked about a reply: what it sends, what it keeps, and what is no judgement."""

import asyncio
import hashlib
import itertools
import json
import sqlite3
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import closing, contextmanager
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Agent, AgentError, Message, Outcome, Reply, Usage
from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Finish, ReplyForm
from ltm_bench.datasets.beam.matcher import meets
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.longmemeval.matcher import remembered
from ltm_bench.datasets.longmemeval.scorer import inquiry as yes_or_no
from ltm_bench.datasets.swim import Document
from ltm_bench.datasets.swim.tasks import Task, checking, writing
from ltm_bench.judge import rubric
from ltm_bench.judge.interview import CONCURRENT, Interview, Interviewed, opinion_of, together
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import AnswerFile, JudgeAnswer, OpinionStore
from ltm_bench.judge.reading import BlindCase, read_blind
from ltm_bench.judge.rubric import Case
from ltm_bench.score.audits.judgements import Opinion
from tests.core.test_thinking import FORMS

pytestmark = pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*"))

CASE = Case("Where do I live?", "Lima", "In Lima.")
ASKED = HistoryQuestion("q1", "multi-session", "Where do I live?", ("Lima",))
READ = BlindCase(
    "town/0", 1, "Where do I live?", "In Lima.", ReplyForm("one of a set", ("Lima", "Oslo")), whole=True
)
COPIED = '{"span": "Lima", "value": "Lima"}'
DOCUMENT = Document("a.txt", "Ada was born in Lima.")

INQUIRIES: dict[str, tuple[Callable[[], Generator[str, str, Any]], Sequence[str]]] = {
    "our rubric": (lambda: rubric.inquiry(CASE), ['{"verdict": "right"}']),
    "blind reader": (READ.inquiry, [COPIED, COPIED]),
    "a set's prompt": (lambda: yes_or_no(ASKED, "In Lima."), ["Yes."]),
    "a set's matcher": (lambda: remembered("Lima", "multi-session").inquiry("Where?", "In Lima.") or none(), ["No."]),
    "a rubric by items": (
        lambda: meets("x", ["one", "two"], "summarization").inquiry("Sum up?", "All.") or none(),
        ['{"score": 1}', '{"score": 0}', '{"score": 1}', '{"score": 0.5}'],
    ),
    "a task written": (
        lambda: writing(DOCUMENT, 1, "m"),
        ['{"tasks": [{"question": "Where was Ada born?", "answer": "Lima"}]}'],
    ),
    "a task checked": (
        lambda: checking(Task(question="q", answer="a", answer_docs=("a.txt",)), [DOCUMENT], "m"),
        ['{"ok": true, "why": "so"}'],
    ),
}  # fmt: skip
"""All kinds, each with answers that decide it."""

ENDINGS: dict[str, Callable[[str], Reply]] = {
    "filtered": lambda said: Reply("", finish=Finish.REFUSAL),
    "refused in words": lambda said: Reply("I cannot help with that.", finish=Finish.REFUSAL),
    "cut": lambda said: Reply(said, finish=Finish.LENGTH),
    "overflow": lambda said: Reply(said, finish=Finish.OVERFLOW),
    "empty": lambda said: Reply(" \n"),
    **{
        f"only a thought, {name}": lambda said, opens=opens: Reply(f"{opens}It may be {said}")  # type: ignore[misc] # its default is of the loop
        for name, (opens, _) in FORMS.items()
    },
    "a closed thought alone": lambda said: Reply(f"<think>{said}</think>\n"),
    "no reply": lambda said: Reply(None),  # type: ignore[arg-type] # what adapters may do
}
"""How an answer may end that is none, whatever it holds."""


def none() -> Generator[str, str, None]:
    """Never needed: these matchers ask."""
    yield from ()
    return None


class Scripted(Agent):
    """A judge that answers by a script, and fails where that has ended."""

    free = True

    def __init__(self, script: list[Reply], asked: list[str]) -> None:
        self.script, self.asked = script, asked

    async def reply(self, message: Message) -> Reply:
        self.asked.append(message.text)
        await asyncio.sleep(0)
        if not self.script:
            raise AgentError("overloaded")
        return self.script.pop(0)


class Bench:
    """A judge, and where its answers are kept."""

    def __init__(self, store: str, folder: Path) -> None:
        self.asked: list[str] = []
        self.script: list[Reply] = []
        self.judge = Judge("scripted", {"adapter": "scripted"}, lambda: Scripted(self.script, self.asked))
        self._store, self._folder = store, folder

    @contextmanager
    def open(self) -> Iterator[OpinionStore | AnswerFile | None]:
        if self._store != "database":
            yield AnswerFile(self._folder / "mine.jsonl") if self._store == "file" else None
            return
        with OpinionStore(self._folder / "judgements.sqlite") as answers:
            yield answers

    def hold(
        self, inquiry: Generator[str, str, Any], said: Sequence[Reply | str], time: int = 1
    ) -> Interviewed[Any]:
        """Put an inquiry to the judge with a script, in a process of its own."""
        self.asked.clear()
        self.script[:] = [Reply(each) if isinstance(each, str) else each for each in said]
        with self.open() as answers:
            return asyncio.run(Interview(answers, Budget()).hold(self.judge, inquiry, time=time))


@pytest.fixture(params=["database", "file"])
def bench(request: pytest.FixtureRequest, tmp_path: Path) -> Bench:
    return Bench(request.param, tmp_path)


@pytest.mark.parametrize("kind", INQUIRIES)
def test_what_ended_well_is_kept_and_asked_once(bench: Bench, kind: str) -> None:
    make, answers = INQUIRIES[kind]
    first = bench.hold(make(), answers)
    assert first.found is not None
    assert len(bench.asked) == len(answers)
    again = bench.hold(make(), [])
    assert bench.asked == []
    assert again.found == first.found
    assert [(text, said.text) for text, said in again.said] == [
        (text, said.text) for text, said in first.said
    ]


@pytest.mark.parametrize("kind", INQUIRIES)
@pytest.mark.parametrize("ending", ENDINGS)
@pytest.mark.parametrize("store", ["database", "file"])
def test_what_did_not_end_well_is_none_and_asked_again_alone(
    tmp_path: Path, store: str, kind: str, ending: str
) -> None:
    make, answers = INQUIRIES[kind]
    right = Bench("none", tmp_path).hold(make(), answers).found
    for place in range(len(answers)):
        (folder := tmp_path / str(place)).mkdir()
        bench = Bench(store, folder)
        lost = bench.hold(make(), [*answers[:place], ENDINGS[ending](answers[place])])
        assert lost.found is None
        assert lost.said[-1][1].failed
        assert opinion_of(bench.judge, "r", lost).outcome is Outcome.JUDGE_ERROR
        bench.hold(make(), [])  # and now it cannot be reached
        assert len(bench.asked) == 1, "what came before is kept"
        assert bench.hold(make(), answers[place:]).found == right, "as if nothing had happened"


@pytest.mark.parametrize("kind", INQUIRIES)
@pytest.mark.parametrize(("opens", "closes"), FORMS.values(), ids=FORMS)
def test_what_it_thinks_is_not_what_it_says(tmp_path: Path, kind: str, opens: str, closes: str) -> None:
    make, answers = INQUIRIES[kind]
    aloud = (
        "Yes, right; CORRECT. "
        + '{"score": 1, "verdict": "right", "ok": true, "span": "In", "value": "Oslo"}'
    )
    thought = Bench("database", tmp_path).hold(
        make(), [f"{opens}{aloud}{closes}\n\n{each}" for each in answers]
    )
    silent = Bench("none", tmp_path).hold(make(), answers)
    assert thought.found == silent.found
    assert opens in thought.said[0][1].text, "it is recorded as it came"


def test_an_answer_that_cannot_be_read_is_asked_for_again(bench: Bench) -> None:
    for said in ("It is right.", '{"verdict": "fine"}'):
        assert bench.hold(rubric.inquiry(CASE), [said]).found is None
        assert len(bench.asked) == 1
    assert bench.hold(rubric.inquiry(CASE), ['{"verdict": "wrong"}']).found is not None
    assert bench.hold(rubric.inquiry(CASE), []).found is not None


def test_equal_prompts_are_sent_once_and_their_answer_is_kept_once(bench: Bench, tmp_path: Path) -> None:
    bench.script[:] = [Reply('{"verdict": "right"}')]

    async def twice(interview: Interview) -> list[Any]:
        holds = (interview.hold(bench.judge, rubric.inquiry(CASE)) for _ in range(2))
        return [each.found for each in await asyncio.gather(*holds)]

    with bench.open() as answers:
        first, second = asyncio.run(twice(Interview(answers, Budget())))
    assert first == second is not None
    assert len(bench.asked) == 1
    file = tmp_path / "mine.jsonl"
    assert not file.exists() or len(file.read_text("utf-8").splitlines()) == 1


def test_many_are_asked_at_once_but_no_more_than_a_server_bears() -> None:
    busy, most = list[int](), list[int]()

    class Busy(Agent):
        free = True

        async def reply(self, message: Message) -> Reply:
            busy.append(1)
            most.append(len(busy))
            for _ in range(5):
                await asyncio.sleep(0)
            busy.pop()
            return Reply("yes")

    judge = Judge("busy", {}, Busy)
    asked = [HistoryQuestion(f"q{n}", "t", "Where?", ("Lima",)) for n in range(3 * CONCURRENT)]

    async def all_of_them(interview: Interview) -> list[Any]:
        return await together(interview.hold(judge, yes_or_no(each, each.id)) for each in asked)

    found = asyncio.run(all_of_them(Interview(None, Budget())))
    assert [each.found for each in found] == [True] * len(asked)
    assert max(most) == CONCURRENT


def test_a_repetition_is_asked_by_itself(tmp_path: Path) -> None:
    bench = Bench("database", tmp_path)
    for time in (1, 2, 3):
        for _ in range(2):
            bench.hold(rubric.inquiry(CASE), ['{"verdict": "right"}'], time)
        assert bench.asked == []


def test_an_answer_that_failed_but_was_billed_has_its_price(bench: Bench) -> None:
    used = Usage(uncached=1000, output=10, model="gpt-4o", provider="openai")
    heard = bench.hold(rubric.inquiry(CASE), [Reply("", used, Finish.REFUSAL)])
    opinion = opinion_of(bench.judge, rubric.digest(), heard)
    assert (opinion.outcome, opinion.usage["uncached"]) == (Outcome.JUDGE_ERROR, 1000)
    assert opinion.reason == "failed: its answer ended with refusal: ''"


def stored(path: Path, table: str, key: str, content: Any) -> None:
    with OpinionStore(path), closing(sqlite3.connect(path)) as database, database:
        database.execute(f"INSERT INTO {table} VALUES (?, ?)", (key, json.dumps(content)))


def test_a_kept_answer_that_is_larger_than_any_that_is_read_is_asked_for_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench, text = Bench("database", tmp_path), rubric.prompt(CASE)
    for most, known in ((1000, True), (100, False)):
        monkeypatch.setattr("ltm_bench.judge.opinions.RECORD", most)
        with OpinionStore(tmp_path / "judgements.sqlite") as store:
            store.put(bench.judge, text, 1, JudgeAnswer("x" * 500))
            assert (store.get(bench.judge, text, 1) is not None) is known


@pytest.mark.parametrize("time", [1, 2])
def test_opinions_of_an_old_folder_count_and_are_not_asked_for(tmp_path: Path, time: int) -> None:
    bench, text = Bench("database", tmp_path), rubric.prompt(CASE)
    old = Opinion(
        judge="scripted", key=bench.judge.key, rubric=rubric.digest(), model="m", prompt=text,
        answer='{"verdict": "outdated", "reason": "moved"}', outcome=Outcome.STALE, reason="moved", dollars=0.02,
        usage={"uncached": 9, "cache_read": 1, "cache_write": 0, "output": 3, "reasoning": 0},
    )  # fmt: skip
    key = json.dumps([bench.judge.key, text, *([time] if time > 1 else [])])
    path = tmp_path / "judgements.sqlite"
    stored(path, "opinions", hashlib.sha256(key.encode()).hexdigest(), old.model_dump(mode="json"))
    heard = bench.hold(rubric.inquiry(CASE), [], time)
    said = opinion_of(bench.judge, rubric.digest(), heard)
    assert said == old.model_copy(update={"recorded": True})
    assert bench.asked == []


def test_answers_of_an_old_folder_count_and_are_not_asked_for(tmp_path: Path) -> None:
    bench = Bench("database", tmp_path)
    for text in READ.prompts:
        content = {"said": [COPIED, None, 0.01, False]}
        stored(tmp_path / "judgements.sqlite", "answers", bench.judge.key_with(text), content)
    with bench.open() as answers:
        budget = Budget()
        (reading,) = asyncio.run(read_blind([READ], bench.judge, Interview(answers, budget)))
    assert (reading.span, reading.said, bench.asked) == ("Lima", "Lima", [])
    assert float(budget.spent) == 0.02


@pytest.mark.parametrize("order", list(itertools.permutations(("asked", "lost", "stored"))))
def test_what_runs_of_one_budget_have_cost_does_not_depend_on_their_order(order: tuple[str, ...]) -> None:
    budget = Budget()
    recorded: dict[str, list[tuple[str | None, Decimal]]] = {
        "asked": [(None, Decimal(4)), ("a", Decimal(1)), ("b", Decimal(2))],
        "lost": [(None, Decimal(8))],
    }
    for run in (*order, *order):
        if run == "stored":
            budget.count_once("a", 1)
            budget.count_once("c", 1)  # nothing records its call
        else:
            budget.count_calls(Path(run), recorded[run])
    assert budget.spent == 4 + 1 + 2 + 8 + 1


def old_line(bench: Bench, text: str, answer: str) -> str:
    who = hashlib.sha256(
        json.dumps(bench.judge.description, sort_keys=True, default=str).encode()
    ).hexdigest()
    key = hashlib.sha256(f"{who}\n{text}".encode()).hexdigest()[:24]
    return (
        json.dumps({"key": key, "judge": "scripted", "asked": text, "answer": answer, "dollars": 0.1}) + "\n"
    )


def test_answers_in_an_old_file_count_but_for_those_that_say_nothing(tmp_path: Path) -> None:
    bench, (text,) = Bench("file", tmp_path), [next(yes_or_no(ASKED, "In Lima."))]
    file = tmp_path / "mine.jsonl"
    for silence in ("", "<think>Should it be yes?"):
        file.write_text(old_line(bench, text, silence), "utf-8")
        assert bench.hold(yes_or_no(ASKED, "In Lima."), ["yes"]).found is True
        assert len(bench.asked) == 1, "a filtered judge has said no for ever"
        assert bench.hold(yes_or_no(ASKED, "In Lima."), []).found is True
        assert bench.asked == []
    file.write_text(old_line(bench, text, "no"), "utf-8")
    assert bench.hold(yes_or_no(ASKED, "In Lima."), []).found is False
    assert bench.asked == []
