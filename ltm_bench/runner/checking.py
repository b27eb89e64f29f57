"""Checks a scenario or an adapter against the rules. Executes only that file."""

import ast
import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ltm_bench.core.agent import Agent, Finding
from ltm_bench.core.errors import ConfigError, LtmBenchError, PluginError, nearest
from ltm_bench.core.limits import python_in
from ltm_bench.core.messages import Ask, Matcher, Message, Outcome, Reply, Turn
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import shipped
from ltm_bench.matchers.forms import dump
from ltm_bench.plan.planning import rehearsal
from ltm_bench.plugins import files as plugins
from ltm_bench.plugins.agents import agent_class, make_agent
from ltm_bench.plugins.matchers import load
from ltm_bench.plugins.scenarios import scenario as find_scenario
from ltm_bench.runner.guarding import placed
from ltm_bench.runner.hooks import try_hooks
from ltm_bench.runner.isolation import second_conversation
from ltm_bench.runner.references import play, play_alone, total
from ltm_bench.schedule.fitting import load_of, smallest_span
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.score.statistics.intervals import above_zero
from ltm_bench.script.clashes import clashes, second_answers, spent
from ltm_bench.script.decoys import spare, told
from ltm_bench.script.rehearsal import Rehearsed, ideal_reply
from ltm_bench.script.scenario import Example, Scenario

_SEEDS = 20
_PLAYED = 3
"""Examples of a scenario that suites have by default."""
_HEAP = 8000
"""Span in tokens at which the reciter's last messages are a heap."""
_START = datetime(2026, 1, 5, 9, tzinfo=UTC)


def check_file(path: Path, settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the findings about a scenario or an adapter. Raises PluginError if the file cannot be read.

    Args:
        path: The file; no other is executed.
        settings: The adapter's settings.
    """
    if not path.is_file():
        raise ConfigError(f"{path}: there is no such file")
    real = path.resolve()
    if real.suffix == ".toml":
        yield from check_scenario(real, None)
        return
    try:
        tree = python_in(real)
    except (SyntaxError, ValueError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        what = error.msg if isinstance(error, SyntaxError) else error
        raise PluginError(f"{path}{line}: not valid Python: {what}") from error
    module = plugins.load(real)
    is_scenario = real.parent.name == "scenarios" or any(
        isinstance(value, Scenario) for value in vars(module).values()
    )
    yield from (check_scenario(real, tree) if is_scenario else check_adapter(real, tree, settings))


def _docstring(tree: ast.Module) -> Finding:
    first = (ast.get_docstring(tree) or "").partition("\n")[0]
    said = f"its docstring describes it: {first}" if first else "the file has no docstring"
    return Finding(bool(first), said)


def _imports(tree: ast.Module) -> Finding:
    names = [n.name for node in ast.walk(tree) if isinstance(node, ast.Import) for n in node.names]
    names += [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    roots = sorted({name.partition(".")[0] for name in names})
    foreign = [name for name in roots if name != "ltm_bench" and name not in sys.stdlib_module_names]
    return Finding(not foreign, f"imports only ltm_bench and the standard library{_but(foreign)}")


def check_scenario(path: Path, tree: ast.Module | None) -> Iterator[Finding]:
    """Return the findings about a scenario; one in TOML has no tree."""
    if tree is not None:
        yield _docstring(tree)
        yield _imports(tree)
    scenario = find_scenario(str(path))
    if tree is None:
        yield Finding(True, f"can be read: {scenario.summary}")
    yield from _skills(path, scenario)
    if tree is None and (alike := _alike(scenario)):
        # All else would follow from that.
        yield Finding(False, f"the values of each choice differ{_but(alike)}")
        return
    examples = [Example(scenario, i, 0, {}) for i in range(_SEEDS)]
    count = counter()
    try:
        rehearsals = [rehearsal(example, count) for example in examples]
    except LtmBenchError as error:
        yield Finding(False, str(error))
        return
    asked = [(steps[: i + 1], step.line) for steps in rehearsals for i, step in enumerate(steps)]
    asks = [(steps, line.expect) for steps, line in asked if isinstance(line, Ask)]
    yield Finding(len(asks) >= _SEEDS, f"asks at least one question in each of {_SEEDS} examples")
    if not asks:
        return
    found = list(clashes(list(zip(examples, rehearsals, strict=True))))
    yield from [Finding(False, each) for each in found] or [
        Finding(True, f"what it expects is right for a memory of all {_SEEDS} examples")
    ]
    decks = {deck: first for example in examples for deck, first in spent(example, count).items()}
    if decks:
        said = ", ".join(f"{deck!r} from example {first} on" for deck, first in decks.items())
        yield Finding(True, f"note: its decks run out, and items come back: {said}")
    if scenario.decoys is not None:
        yield from _decoys(scenario)
    differs, trouble = _differs_elsewhere(path)
    yield Finding(
        not differs, f"says the same in another process with a different PYTHONHASHSEED{_but([trouble])}"
    )
    yield from _matched(asks)
    for name in ("perfect", "goldfish", "parrot"):
        score = total(asyncio.run(play_alone(examples, agent_class(name), _START)))
        yield Finding(score == 1.0 if name == "perfect" else score < 0.5, f"{name} scores {score:.2f}")
    need, size = max(map(smallest_span, rehearsals)), max(map(load_of, rehearsals))
    yield _recited(examples, max(_HEAP, 2 * need))
    yield Finding(True, f"needs a span of at least {need:,} tokens; its own messages take up to {size:,}")


def _decoys(scenario: Scenario) -> Iterator[Finding]:
    """Yield whether a scenario has decoys, and whether none of them is a second answer."""
    played, count = [Example(scenario, i, 0, scenario.decoys or {}) for i in range(_PLAYED)], counter()
    said = [text for each in spare(played[-1], count) for text in told(each, count)]
    found = list(second_answers([(each, rehearsal(each, count)) for each in played], said))
    yield Finding(bool(said), f"its decks leave {len(said)} decoys beside {_PLAYED} examples")
    yield Finding(not found, f"none of its decoys answers a question{_but(found)}")


def _skills(path: Path, scenario: Scenario) -> Iterator[Finding]:
    """Yield what a scenario's skills are, and which of them no scenario that ships has: a slip, perhaps."""
    yield Finding(bool(scenario.skills), f"skills: {', '.join(scenario.skills) or 'none named'}")
    shipped_ones = [p for p in plugins.bundled("scenarios").glob("*.[pt]*") if p.suffix in (".py", ".toml")]
    if path in shipped_ones:
        return
    others = {skill for each in shipped_ones for skill in plugins.skills(each)}
    for skill in sorted({*scenario.skills} - others):
        yield Finding(True, f"note: no scenario that ships has the skill {skill!r}{nearest(skill, others)}")


def _alike(scenario: Scenario) -> list[str]:
    """Return what is wrong with the choices of a scenario in TOML: a single value, or one that stands twice."""
    found = []
    for name, values in scenario.parameters.items():
        told = [str(value).casefold().strip() for value in values]
        if len(values) == 1:
            found.append(f"{name} has a single one, {values[0]!r:.60}: write it into the texts")
        elif again := [value for value, said in zip(values, told, strict=True) if told.count(said) > 1]:
            found.append(f"{name} has {again[-1]!r:.60} twice")
    return found


def _matched(asks: Sequence[tuple[Sequence[Rehearsed], Matcher]]) -> Iterator[Finding]:
    """Yield whether the matchers of questions, each with the steps up to it, agree with their own replies."""
    refused = [r for steps, expect in asks for r in expect.right() if not _accepts(expect, steps, r)]
    yield Finding(not refused, f"its matchers accept their own right replies{_but(refused)}")
    accepted = [w for steps, expect in asks for w in expect.wrong() if _accepts(expect, steps, w)]
    yield Finding(not accepted, f"its matchers refuse their own wrong replies{_but(accepted)}")
    kept = all(load(json.loads(json.dumps(dump(expect)))) == expect for _, expect in asks)
    yield Finding(kept, "what it expects can be written into the log and read back")


def _recited(examples: Sequence[Example], span: int) -> Finding:
    """Return whether an agent that recites its last messages, filler included, scores above chance."""
    talk = play(
        examples, agent_class("reciter")(), span=span, seed=0, counter=counter(), bank=shipped(), start=_START
    )
    played = asyncio.run(talk)
    score = sum(each.score for each in played) / len(played)
    chance = sum(each.chance for each in played) / len(played)
    above = above_zero([each.score - each.chance for each in played])
    more = "more than" if above else "no more than"
    return Finding(True, f"reciter scores {score:.2f}, {more} chance ({chance:.2f})")


def _but(faults: Sequence[object]) -> str:
    return f", but: {faults[0]!r:.200}" if any(faults) else ""


def _accepts(expect: Matcher, steps: Sequence[Rehearsed], reply: str) -> bool:
    """Whether a reply to the last of these steps is right, after ideal replies to the others."""
    replies = [*(ideal_reply(step.line) for step in steps[:-1]), reply]
    turns = [
        Turn(Message(step.text, _START, i), Reply(said))
        for i, (step, said) in enumerate(zip(steps, replies, strict=True))
    ]
    return verdict_on(expect, turns[-1].reply, turns).outcome is Outcome.CORRECT


_HASH_SEEDS = ("1", "2", "3", "4")
"""A set of two words keeps its order under all of these hash seeds with a chance of 1 in 8, a larger one almost
never."""

_ELSEWHERE = """
import sys
from ltm_bench import Ask
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins import scenarios as plugins
from ltm_bench.script.scenario import Example
from ltm_bench.script.rehearsal import rehearse


class Letters:
    name = "letters"  # a table of tokens would take longer to load than all the rest

    def count(self, text):
        return len(text)


scenario = plugins.scenario(sys.argv[1])
for index in range(int(sys.argv[2])):
    for line, text, *_ in rehearse(Example(scenario, index, 0, {}), Letters()):
        print(ascii((text, line.at, line.after, dump(line.expect) if isinstance(line, Ask) else None)))
"""


def _differs_elsewhere(path: Path) -> tuple[bool, str]:
    """Return how scripts differ between processes with different hash seeds, or why one fails; empty if they agree."""
    # -P: import nothing from this folder
    command = [sys.executable, "-P", "-c", _ELSEWHERE, str(path), str(_SEEDS)]
    started = [
        subprocess.Popen(
            command,
            env={**os.environ, "PYTHONHASHSEED": seed},
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for seed in _HASH_SEEDS
    ]
    ended = [(*each.communicate(), each.returncode) for each in started]
    for _, complaint, code in ended:
        if code:
            said = complaint.decode("utf-8", "replace").splitlines()
            return True, said[-1] if said else "it ended without any message"
    return len({script for script, _, _ in ended}) > 1, ""


_TALK = (
    "Hello. My neighbour's dog is called Bruno.",
    "The weather is fine today.",
    "What is the name of my neighbour's dog?",
)


_OBSERVES = "observes: it receives filler, which costs no call"
_ASKED = (
    "does not observe: it is asked everything, filler included, about 3 times the calls at a span of 120k"
)
_APART = "keeps users apart: each user is answered only from their own messages"
_TOGETHER = "does not keep users apart: what one says, another may be told"
_UNTOLD = "cannot be told what was said before: a resumed run continues with what the agent kept itself"


def check_adapter(path: Path, tree: ast.Module, settings: Mapping[str, Any]) -> Iterator[Finding]:
    """Yield the findings about an adapter: talk to it for three turns, and try each of its hooks once."""
    yield _docstring(tree)
    try:
        agent = make_agent(str(path), settings)
    except LtmBenchError as error:
        yield Finding(False, str(error))
        return
    yield Finding(
        True, f"can be made: {type(agent).__name__}, {'free' if agent.free else 'not declared free'}"
    )
    yield Finding(True, _OBSERVES if agent.observes else _ASKED)
    yield Finding(True, _APART if agent.keeps_users else _TOGETHER)
    with tempfile.TemporaryDirectory() as folder:
        turns, findings = asyncio.run(_converse(agent, Path(folder) / "first"))
        yield from findings
        if turns and not agent.can_be_told:
            yield Finding(True, _UNTOLD)
        elif turns:
            yield asyncio.run(_restored(make_agent(str(path), settings), turns, Path(folder) / "second"))
        if turns:
            yield asyncio.run(
                second_conversation(lambda: make_agent(str(path), settings), Path(folder) / "apart")
            )


async def _converse(agent: Agent, home: Path) -> tuple[list[Turn], list[Finding]]:
    home.mkdir()
    turns: list[Turn] = []
    try:
        await agent.open(home)
        for i, text in enumerate(_TALK):
            message = Message(text, _START, i, text if agent.told_ideal else None)
            reply = await agent.reply(message)
            if not isinstance(reply, Reply) or not isinstance(reply.text, str):
                return [], [Finding(False, f"reply() returned {type(reply).__name__}, not a Reply")]
            turns.append(Turn(message, reply))
        seen = Turn(Message("By the way, it rains.", _START, len(_TALK)), Reply("Okay."))
        await agent.observe(seen)
        await agent.settle()
        answers = Finding(True, f"answers; to {_TALK[-1]!r} it says {turns[-1].reply.text!r:.120}")
        return turns, [answers, *await try_hooks(agent, turns)]
    except Exception as error:  # it can raise anything
        return [], [Finding(False, f"failed in a short talk: {placed(error)}")]
    finally:
        await agent.close()


async def _restored(agent: Agent, turns: list[Turn], home: Path) -> Finding:
    home.mkdir()
    try:
        await agent.open(home)
        await agent.restore(turns[:-1])
        message = turns[-1].message
        again = await agent.reply(message)
    except Exception as error:  # it can raise anything
        return Finding(False, f"cannot be restored: {placed(error)}")
    finally:
        await agent.close()
    same = "the same" if again.text == turns[-1].reply.text else "another"
    return Finding(True, f"can be restored from its turns, and then gives {same} reply")
