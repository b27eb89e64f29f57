"""Controls of public sets: the sessions that hold a question's evidence, where the set names them."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import Run
from ltm_bench import run as run_it
from ltm_bench.datasets.public import public_set
from ltm_bench.log.events import Sent
from ltm_bench.log.reader import read_events
from ltm_bench.score.results.controls import Controls
from tests import sets

if TYPE_CHECKING:
    from ltm_bench.score.results.examples import Question

pytestmark = pytest.mark.proof(scenarios=("dialogue",), files=("agents/*.*", "configs/*.*"), beside=True)


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def asked(suite: str, data: Path, agent: str = "perfect") -> tuple[Run, Controls]:
    done = run_it(agent, "32k", suite=suite, data=str(data), name="r", controls=["blind", "evidence"])
    assert done.results.controls is not None
    return done, done.results.controls


def message(done: Run, example: str, question: "Question") -> str:
    log = (
        done.folder
        / "controls"
        / "evidence"
        / "isolated"
        / f"{example.replace('/', '-')}-{question.turn}.jsonl"
    )
    [sent] = (event for event in read_events(log) if isinstance(event, Sent))
    return sent.message


@pytest.mark.parametrize(
    ("suite", "make"),
    [("longmemeval-s", sets.longmemeval), ("locomo", sets.locomo), ("personamem-32k", sets.personamem)],
)
def test_evidence_is_the_sessions_that_the_set_names(
    place: Path, suite: str, make: Callable[[Path], Path]
) -> None:
    data = make(place / "data")
    held = {
        question.id: (history, {name.partition(":")[0] for name in question.evidence})
        for history in public_set(suite).read(data, lambda _: None)
        for question in history.questions
    }
    done, controls = asked(suite, data)
    assert controls.evidence is not None
    assert controls.evidence.mean == 1.0
    told = 0
    for example in done.examples:
        for question in example.questions:
            assert question.published is not None
            history, named = held[question.published.id]
            assert question.controls is not None
            if not named:
                assert question.controls.left_out
                assert question.controls.evidence is None
                continue
            text = message(done, example.id, question)
            told += 1
            for session in history.sessions:
                for said in session.utterances:
                    assert (said.text in text) == (session.id in named), said.text
            assert text.endswith(question.text)
    assert told
    nameless = sum(not named for _, named in held.values())
    assert ("some questions of" in " ".join(controls.left_out["evidence"])) == bool(nameless)


def test_of_a_long_session_only_the_parts_with_the_evidence_are_said(place: Path) -> None:
    done, controls = asked("beam-100k", sets.beam(place / "chats"))
    assert controls.evidence is not None
    whole = sum(len(turn.text) for turn in next(iter(done.examples)).needles)
    texts = [
        message(done, e.id, q)
        for e in done.examples
        for q in e.questions
        if q.controls and not q.controls.left_out
    ]
    assert texts
    assert all(len(text) < whole + 2000 for text in texts)
    assert controls.missing == 0


def test_a_set_that_names_no_evidence_is_left_out_and_said(place: Path) -> None:
    done, controls = asked("gatemem", sets.gatemem(place / "data"), "goldfish")
    assert controls.blind is not None
    assert controls.evidence is None
    assert controls.remarks == [
        "left out of evidence: gatemem (its set does not name what holds the answers)"
    ], "blind is asked, and stands in the figures"
    assert [each.name for each in controls.scenarios] == ["gatemem"]
    assert done.results.complete


@pytest.mark.parametrize("mode", ["in-line", "forked"])
@pytest.mark.parametrize(("suite", "make"), [("longmemeval-s", sets.longmemeval), ("locomo", sets.locomo)])
def test_hooks_look_for_the_evidence_alone_as_the_ladder_tells_it_again(
    place: Path, suite: str, make: Callable[[Path], Path], mode: str
) -> None:
    data = make(place / "data")
    done = run_it(
        "vector_memory",
        "32k",
        suite=suite,
        data=str(data),
        name="r",
        questions=mode,
        settings={"memories": 1},
        ladder=True,
    )
    named = {
        question.id: {
            said.text
            for session in history.sessions
            for said in session.utterances
            if {session.id, said.id} & {*question.evidence}
        }
        for history in public_set(suite).read(data, lambda _: None)
        for question in history.questions
    }
    sought = 0
    for example in done.examples:
        told = {needle.turn: needle.text for needle in example.needles}
        for question in example.questions:
            assert question.published is not None
            texts, found = named[question.published.id], question.retrieval
            if not texts:
                assert found is None, "nothing says what to look for"
                continue
            assert found is not None
            assert found.needles == len(found.traces) < len(told)
            assert all(any(text in told[trace.turn] for text in texts) for trace in found.traces)
            assert all(any(text in told[trace.turn] for trace in found.traces) for text in texts)
            sought += 1
    assert sought
    assert done.results.ranking is not None
    assert done.results.ranking.questions == sought


def test_a_share_of_full_marks_is_no_loss_of_memory_where_a_set_is_scored_by_shares(place: Path) -> None:
    data = sets.locomo(place / "data")
    done = run_it("vector_memory", "32k", suite="locomo", data=str(data), name="r")
    found = [q for e in done.examples for q in e.questions if q.retrieval is not None]
    shares = [q for q in found if q.score not in {None, 0, 1}]
    assert shares, "its replies are whole sentences, of which the answer is a part"
    assert all(q.retrieval is not None and q.retrieval.lost is None for q in shares)
    assert all(q.retrieval is not None and q.retrieval.traces for q in shares), "what was found is kept"
    assert sum(done.results.lost.values()) == sum(
        q.retrieval is not None and q.retrieval.lost is not None for q in found
    )


def test_hooks_of_a_set_that_names_no_evidence_say_nothing(place: Path) -> None:
    data = sets.gatemem(place / "data")
    done = run_it("vector_memory", "32k", suite="gatemem", data=str(data), name="r")
    assert not [q for e in done.examples for q in e.questions if q.retrieval is not None]
    assert done.results.ranking is None


@pytest.mark.parametrize("agent", ["goldfish", "perfect"])
def test_who_says_that_an_unanswerable_question_is_one_has_not_guessed(place: Path, agent: str) -> None:
    _, controls = asked("longmemeval-s", sets.longmemeval(place / "data", histories=60), agent)
    assert controls.blind is not None
    assert controls.blind.mean == pytest.approx(10 / 60), "of 60 questions, 10 cannot be answered"
    assert controls.blind.interval is not None
    assert controls.blind.interval.low > 0
    assert [each.guessable for each in controls.scenarios] == [False]
    assert controls.remarks == []


def test_what_text_cannot_decide_in_the_controls_is_said(place: Path) -> None:
    agents = place / "agents"
    agents.mkdir()
    (agents / "vague.py").write_text(
        "from ltm_bench import Agent, Reply\n\n\n"
        "class Vague(Agent):\n    free = True\n    observes = True\n    forks = 'barrier'\n"
        "    async def reply(self, message):\n        return Reply('Lilies, I suppose.')\n"
        "    async def fork(self, message):\n        return lambda: self.reply(message)\n",
        "utf-8",
    )
    _, controls = asked("longmemeval-s", sets.longmemeval(place / "data"), "vague")
    assert controls.blind is not None
    assert controls.evidence is not None
    assert controls.blind.undecided == controls.evidence.undecided > 6
    assert f"undecided in the controls: blind {controls.blind.undecided}, evidence" in " ".join(
        controls.remarks
    )
