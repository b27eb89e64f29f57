"""Whatever can answer is an agent, wherever an agent is taken; and what cannot is refused in the same words."""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Agent, Environment, Message, Reply, arun, make_agent, race, run
from ltm_bench.adapters.testing import conformance
from ltm_bench.adapters.testing.conforming import try_rule
from ltm_bench.api.options import Options
from ltm_bench.api.playing import play
from ltm_bench.api.racing import RunningRace
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import ConfigError
from ltm_bench.plan.agents import named_apart
from ltm_bench.plan.request import NewRun, Request
from ltm_bench.runner.grid import Grid, jobs_of
from ltm_bench.runner.observer import Silent
from ltm_bench.runner.sweep import sweep

ASKED: dict[str, Any] = {"scenarios": ["colours"], "examples": 1}


def function(message: str) -> str:
    return "Okay."


async def later(message: str) -> str:
    return "Okay."


class Bot:
    def __init__(self, word: str = "Okay") -> None:
        self.word = word

    def __call__(self, message: str) -> str:
        return f"{self.word}."

    def answer(self, message: str) -> str:
        return self(message)


class Adapter(Agent):
    free = True

    async def reply(self, message: Message) -> Reply:
        return Reply("Okay.")


def makes() -> Bot:
    return Bot()


def local() -> Callable[[str], str]:
    return lambda message: "Okay."


KINDS: dict[str, Callable[[], Any]] = {
    "function": lambda: function,
    "lambda": local,
    "async function": lambda: later,
    "partial": lambda: partial(Bot().answer),
    "object": Bot,
    "method": lambda: Bot().answer,
    "class": lambda: Bot,
    "class with arguments": lambda: partial(Bot, "Okay"),
    "factory": lambda: makes,
    "factory of an adapter": lambda: lambda: Adapter(),
    "adapter": lambda: Adapter,
    "adapter's object": Adapter,
}


class Unobserved:
    """Observes no sweep."""

    def begun(self, job: Any, *, already: bool) -> Silent:
        return Silent()

    def noted(self, job: Any, line: str) -> None:
        """Hear a note."""

    def done(self, job: Any, problem: Any) -> None:
        """Hear of an end."""


def by_run(agent: Any, place: Path) -> bool:
    return asyncio.run(arun(agent, "2k", reports=place, **ASKED)).complete  # as `run`, in a thread of its own


def by_race(agent: Any, place: Path) -> bool:
    request = Request(span="2k", questions="in-line", **ASKED)
    planned = RunningRace(
        named_apart([agent, "goldfish"]), request, Options(reports=place), NewRun(), 2, None
    )
    return len(planned.race.agents) == 2


def by_sweep(agent: Any, place: Path) -> bool:
    jobs = jobs_of(Grid(agents=[agent], spans=["2k"]), Request(**ASKED), reports=place).jobs
    [ended] = asyncio.run(sweep(jobs, Budget(), Unobserved(), connections=2))
    return ended.problem is None


def by_conforms(agent: Any, place: Path) -> bool:
    found = try_rule("answers", agent)
    if not found.ok:
        raise ConfigError(found.text)
    return True


def by_conformance(agent: Any, place: Path) -> bool:
    return not conformance(agent).broken


def by_memory_run(agent: Any, place: Path) -> bool:
    return play(agent, place / "run", span="2k", **ASKED).complete


def by_make_agent(agent: Any, place: Path) -> bool:
    made = make_agent(agent, {})
    return asyncio.run(made.reply(Message("Hello", None, 0))) == Reply("Okay.")  # type: ignore[arg-type]  # none is read


def by_environment(agent: Any, place: Path) -> bool:
    environment = Environment(span="2k", **ASKED)
    environment.reset()
    return bool(environment.play(agent)["score"] == 0.0)


DOORS = (
    by_run,
    by_race,
    by_sweep,
    by_conforms,
    by_memory_run,
    by_make_agent,
    by_environment,
)


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("kind", KINDS)
def test_whatever_can_answer_is_an_agent(
    kind: str, door: Callable[[Any, Path], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    if kind == "adapter's object" and door in (by_race, by_sweep):
        with pytest.raises(ConfigError, match="one agent, for one conversation; pass its class"):
            door(KINDS[kind](), tmp_path)
    else:
        assert door(KINDS[kind](), tmp_path)


class Deaf:
    """Cannot be called."""


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("thing", [7, None, [], Deaf, Deaf()])
def test_what_cannot_answer_is_refused_in_the_same_words(
    thing: object, door: Callable[[Any, Path], bool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        ConfigError, match=r"is no agent: pass a name, an Agent or its class, or what takes a message"
    ):
        door(thing, tmp_path)
    assert not list(tmp_path.iterdir())


def test_every_rule_for_adapters_can_be_tried_on_a_class() -> None:
    assert by_conformance(Bot, Path())


def test_an_object_is_asked_anew_each_time_and_what_can_be_imported_is_not(tmp_path: Path) -> None:
    """No name says what an object knows: what another one replied must not be taken for its replies."""
    first, second = (run(Bot(word), "2k", reports=tmp_path, **ASKED) for word in ("One", "Two"))
    assert first.name != second.name
    assert {q.reply for run in (first, second) for e in run.examples for q in e.questions} == {"One.", "Two."}
    assert run(Bot, "2k", reports=tmp_path, **ASKED).name == run(Bot, "2k", reports=tmp_path, **ASKED).name


def test_objects_of_one_class_are_told_apart_in_a_race(tmp_path: Path) -> None:
    raced = race(Bot("One"), Bot("Two"), most=2, span="2k", reports=tmp_path, questions="in-line", **ASKED)
    assert list(raced.agents) == ["Bot", "Bot-2"]


def test_one_agent_is_not_asked_in_several_conversations(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="every example alone needs its own; pass its class"):
        run(Adapter(), "2k", isolated=True, reports=tmp_path, **ASKED | {"examples": 2})
    agent = Adapter()
    run(agent, "2k", reports=tmp_path, **ASKED)
    with pytest.raises(ConfigError, match="has had its conversation; pass its class"):
        run(agent, "2k", reports=tmp_path, **ASKED)
