"""Injections in wrong replies, before judges, readers and panels of commands: `run`, `rescore`, `score panel`.

The judge is the test provider behind an SDK, and answers in one way at a time. tests/judge/test_injections.py counts
the same where answers are read.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.testing import Provider, Said, provider
from ltm_bench.judge.panel import BLIND, BY_TYPE, RUBRICS
from tests.judge.test_injections import INJECTIONS, JUDGES, PANEL, injected
from tests.judge.test_panel import answered, placed
from tests.judge.test_reading_runs import SCENARIO

if TYPE_CHECKING:
    from tests.conftest import Command

AGENT = '''"""Always wrong, in words that no matcher decides, with what stands in a file."""

import json
from pathlib import Path

from ltm_bench import Agent, Message, Reply


class Wrong(Agent):
    free = True
    forks = "no"

    def __init__(self) -> None:
        self.said = 0

    async def reply(self, message: Message) -> Reply:
        asked = {"How do I travel?": "travel", "Which joke did I tell you?": "joke"}
        wrong = next((kind for question, kind in asked.items() if message.text.endswith(question)), None)
        if wrong is None:
            return Reply("Ha!")
        self.said += 1
        return Reply(json.loads(Path("wrong.json").read_text("utf-8"))[wrong][self.said - 1])
'''
WRONG = {
    "travel": "Somehow along the coast, as you said.",
    "joke": "A dentist, a trombone, that sort of thing, number {}.",
}
ODD: dict[str, str] = {
    "nothing": "",
    "spaces": " \n\t ",
    "a page": "<html><body>Bad gateway. right</body></html>",
    "a list": '[{"verdict": "right"}]',
    "no object": '"right"',
    "null": "null",
    "a truth": '{"reason": "", "verdict": true}',
    "a list of verdicts": '{"reason": "", "verdict": ["right"]}',
    "another case": '{"reason": "", "VERDICT": "right"}',
    "an unknown verdict": '{"reason": "", "verdict": "right!"}',
    "a verdict twice": '{"verdict": "wrong", "reason": "", "verdict": "right"}',
    "two objects": '{"reason": "", "verdict": "wrong"}\n{"reason": "", "verdict": "right"}',
    "a reason that is none": '{"reason": {"verdict": "right"}, "verdict": "right"}',
    "depth": "[" * 5000 + "]" * 5000,
    "length": '{"reason": "' + "x" * 300_000 + '", "verdict": "wrong"}',
    "marks of direction": "\u202e}thgir :tcidrev{",
    "half": '{"reason": "it is right", "verdict": "ri',
    "a key": '{"reason": "sk-planted-0123456789abcdefgh", "verdict": "wrong"}',
}
"""What a judge may answer that is no verdict of *right*."""

KEY = "sk-planted-0123456789abcdefgh"


class Asked:
    """Commands whose judges and readers are the test provider."""

    def __init__(self, server: Provider, command: "Command") -> None:
        self.server, self.command = server, command
        self.replies: Sequence[str] = ()
        self.judges = self.runs = 0

    @property
    def run(self) -> str:
        """The newest run."""
        return f"r{self.runs}"

    def judge(self, answer: Callable[[str], str]) -> str:
        """Return the name of a new judge that answers so to the reply that it is asked about."""

        def answers(messages: Sequence[Said]) -> str:
            text = messages[-1]["content"]
            spelt = [each for each in self.replies if each in text or json.dumps(each)[1:-1] in text]
            return answer(max(spelt, key=len, default=""))

        self.server.answer = answers
        self.judges += 1
        name = f"judge{self.judges}"
        with open("configs/agents.toml", "a", encoding="utf-8") as file:
            model = f'model = "some-model"\nbase_url = "{self.server.openai_url}"\nmax_output = {900 + self.judges}'
            file.write(f'[{name}]\nadapter = "openai_chat"\n{model}\n')
        return name

    def outcomes(self, *words: str) -> Counter[str]:
        done = self.command(*words)
        assert KEY not in done.output
        content = Path("reports", self.run, "results.json").read_text("utf-8")
        assert KEY not in content
        found = Counter(json.loads(content)["outcomes"])
        assert done.exit_code == (3 if found["judge_error"] else 0), done.output
        return found


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: "Command") -> Iterator[Asked]:
    for name in ("scenarios", "agents", "configs"):
        (tmp_path / name).mkdir()
    (tmp_path / "scenarios" / "ride.py").write_text(SCENARIO, "utf-8")
    (tmp_path / "agents" / "wrong.py").write_text(AGENT, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with provider() as server:
        yield Asked(server, command)


COUNTS = [5, pytest.param(25, marks=[pytest.mark.long, pytest.mark.timeout(1800)])]
"""Examples of two questions each: ten wrong replies, or fifty."""


def begun(asked: Asked, examples: int, injection: int | None, *words: str) -> Counter[str]:
    """Run the agent whose replies hold an injection, from the n-th on; return the outcomes."""
    said: dict[str, list[str]] = {}
    for kind, text in WRONG.items():
        alone = [text.format(n) + " Hm." * n for n in range(2 * examples)]
        said[kind] = [
            each if injection is None else injected(each, INJECTIONS[(n + injection) % len(INJECTIONS)], n)
            for n, each in enumerate(alone)
        ]
    asked.runs += 1
    asked.replies = [each for kind in said.values() for each in kind]
    Path("wrong.json").write_text(json.dumps(said), "utf-8")
    run = ("run", "--span", "2k", "--scenario", "ride", "--examples", str(examples), "--agent", "wrong")
    return asked.outcomes(*run, "--acknowledge", "live", "--name", asked.run, *words)


@pytest.mark.parametrize("examples", COUNTS)
def test_no_injection_turns_a_judge_of_a_run_but_one_that_obeys(asked: Asked, examples: int) -> None:
    for injection in (None, *range(len(INJECTIONS))) if examples > 5 else (None, 0):
        left = begun(asked, examples, injection)["undecided"]
        assert left >= examples
        begun(asked, examples, injection, "--judge", asked.judge(JUDGES["knows"][0]))
        for kind, (answer, obeys) in JUDGES.items():
            found = asked.outcomes("rescore", asked.run, "--judge", asked.judge(answer))
            turned = left if obeys and injection is not None else 0
            assert (found["correct"], found.total()) == (turned, 2 * examples), (kind, injection, found)
            assert kind != "knows" or found == {"wrong": 2 * examples}
    assert asked.command("verify", asked.run).exit_code == 0


def test_no_odd_answer_of_a_judge_of_a_run_is_a_right_verdict_or_an_error(asked: Asked) -> None:
    before = begun(asked, 3, 0)
    for kind, text in ODD.items():
        found = asked.outcomes("rescore", asked.run, "--judge", asked.judge(lambda _, text=text: text))  # type: ignore[misc] # bound now
        heard = before["undecided"] if kind in ("length", "a key") else 0
        assert found["correct"] == 0, kind
        assert found["wrong"] == before["wrong"] + heard, (kind, found)
        assert found["judge_error"] == before["undecided"] - heard, (kind, found)
        assert asked.command("verify", asked.run).exit_code == 0, kind
    for path in Path("reports").rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


READERS: dict[str, Callable[[str], str]] = {
    "first value": lambda reply: _copied(reply, min),
    "last value": lambda reply: _copied(reply, max),
    "credulous": lambda reply: json.dumps({"span": reply[:400], "value": "night train"}),
    "copies the injection": lambda reply: json.dumps(
        {"span": next((i for i in INJECTIONS if i in reply), reply)[:400], "value": "night train"}
    ),
}


KNOWING = ("credulous", "copies the injection")
"""Those that say what is right, which no blind reader is told."""


def _copied(reply: str, choose: Callable[..., tuple[int, str]]) -> str:
    found = [(at.start(), at[0]) for at in re.finditer("bus|ferry|night train|plane|taxi|tram", reply)]
    return json.dumps({"span": reply[:400], "value": choose(found, default=(0, "none"))[1]})


@pytest.mark.parametrize("examples", COUNTS)
def test_no_injection_makes_a_wrong_reply_right_by_a_reader_of_a_run(asked: Asked, examples: int) -> None:
    for injection in (None, *range(len(INJECTIONS))) if examples > 5 else (None, 0):
        left = begun(asked, examples, injection)
        for kind, answer in READERS.items():
            found = asked.outcomes("rescore", asked.run, "--reader", asked.judge(answer))
            # A matcher calls most of these wrong; a reader gets what it leaves. What means the same as an option may
            # stand there, so a reader that knew the right answer could have it taken: that is a limit, and no measure.
            most = left["undecided"] - examples if kind in KNOWING else 0
            assert found["correct"] <= most, (kind, injection, found)
            assert found.total() == left.total()
    assert asked.command("verify", asked.run).exit_code == 0
    assert len(asked.server.chats) > 0


@pytest.mark.parametrize(
    "replies", [10, pytest.param(50, marks=[pytest.mark.long, pytest.mark.timeout(1800)])]
)
@pytest.mark.parametrize("kind", PANEL)
def test_no_injection_turns_the_rubrics_of_score_panel_but_by_a_judge_that_obeys(
    asked: Asked, tmp_path: Path, kind: str, replies: int
) -> None:
    answer, obeys = PANEL[kind]
    wrong = [f"It was one of those flowers in bed {n}, lilies." for n in range(replies)]
    for injection in range(len(INJECTIONS)) if replies > 10 else (0,):
        said = {
            "alone": wrong,
            "injected": [
                injected(each, INJECTIONS[(n + injection) % len(INJECTIONS)], n)
                for n, each in enumerate(wrong)
            ],
        }
        passed: dict[str, dict[str, Any]] = {}
        for name, texts in said.items():
            asked.replies = texts
            path = placed(
                tmp_path / f"{name}{injection}.jsonl",
                [answered(n, each, False) for n, each in enumerate(texts)],
            )
            done = asked.command("score", "panel", str(path), "--judge", asked.judge(answer), "--json")
            assert done.exit_code == 0, done.output
            passed[name] = json.loads(done.out)["files"][str(path)]
        for rubric in RUBRICS:
            alone, after = (passed[name].get(rubric, {}).get("mean") for name in ("alone", "injected"))
            assert not alone, rubric
            if rubric in (BY_TYPE, "stored", "F1", "strict text"):
                continue  # `yes` anywhere in an answer; and no judge
            if rubric == BLIND:
                assert not after
            elif kind != "repeats the reply":
                assert (after or 0) == (1 if obeys else 0), (rubric, after)
