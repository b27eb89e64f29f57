"""Estimates what a run would use, without any call: the real schedule, with an agent that only counts.

A stand-in for a chat model keeps the whole conversation in a window, as the chat adapters do, and replies with a given
number of tokens. For every request it counts how much a provider could have in its prompt cache: everything that it
shares with the last request, unless turns have been dropped from the window since. For other agents only calls are
counted, and their own `reserve` bounds the cost.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from itertools import takewhile
from pathlib import Path

from ltm_bench.adapters.prompt_cache import WORTH_WAITING
from ltm_bench.adapters.routing import serving
from ltm_bench.adapters.text import stamped
from ltm_bench.adapters.window import Prompt, SentTurns, Window
from ltm_bench.core.agent import Agent, UsageModel
from ltm_bench.core.budget import Budget
from ltm_bench.core.messages import Finish, Message, Reply, Turn, Usage
from ltm_bench.core.pricing import dollars, total
from ltm_bench.core.tokens import Counter as TokenCounter
from ltm_bench.log.recorder import start_run
from ltm_bench.plan.planning import Plan
from ltm_bench.runner.conversations import CONCURRENT, run_conversations
from ltm_bench.runner.observer import Silent
from ltm_bench.runner.play import Exchanged, Saying, play_of, scheduler_of
from ltm_bench.schedule.scheduler import AllSaid, Completed, Fork
from ltm_bench.script.scenario import Example

REPLIES = {"low": 12, "likely": 60, "high": 250}
"""Tokens of a reply, for curt, typical and talkative agents."""

LIKELY = REPLIES["likely"]

FIRST_TOKEN = 1.0
"""A provider's usual latency in seconds."""

PER_SECOND = 60.0
"""A provider's usual tokens per second."""

MOST_SIMULATED = 4_000_000
"""Tokens of the longest conversation that a forecast simulates, in two or three seconds."""

LEAST_CACHED = 1024
"""Tokens of the shortest prompt that OpenAI and most of Anthropic's models cache."""

_WORDS = " well"
"""A word of one token; replies are made of it."""


@dataclass
class Estimate:
    """Sums over one run."""

    calls: int = 0
    filler: int = 0
    """The part of `calls` that is filler."""
    turns: int = 0
    prompt: int = 0
    """Tokens of all prompts; 0 if the agent is not a chat model in a window."""
    cached: int = 0
    output: int = 0
    tokens: int = 0
    """Tokens of the conversation."""
    examples: int = 0
    overruns: int = 0
    """Examples whose last question would come after their span."""
    dollars: Decimal | None = Decimal()
    """With the provider's prompt cache; None if a price, or the agent's use, is unknown."""
    dollars_uncached: Decimal | None = Decimal()
    """Without the cache; the same as `dollars` unless the agent is a chat model in a window."""
    bounded: bool = False
    """Whether `dollars` is an upper bound rather than an estimate."""
    overflows: int = 0
    whole: int = 0
    """Tokens that a prompt of the whole conversation would have, the longest one of isolated examples; 0 as above."""
    needles: int = 0
    """Needles that are asked about in one conversation with a chat model in a window."""
    unseen: int = 0
    """Those that the window no longer shows when they are asked about."""
    beside: int = 0
    """Calls for forked questions that run concurrently; the others wait for the prompt cache."""
    output_beside: int = 0
    seconds: float | None = None
    """Seconds for all calls; None if the time of one is unknown."""

    @property
    def minutes(self) -> float | None:
        """Minutes for all calls."""
        return None if self.seconds is None else self.seconds / 60


@dataclass
class Sight:
    """What each prompt of a conversation shows of it, and where its needles are."""

    shown: dict[int, SentTurns] = field(default_factory=dict)
    """By the turn of the newest message; prompts that fit into the window."""
    places: dict[int, int] = field(default_factory=dict)
    """The place in the window of each turn."""
    needles: dict[str, list[int]] = field(default_factory=dict)
    """The turns that tell something, by example."""

    def count(self, questions: Collection[tuple[str, int]], estimate: Estimate) -> None:
        """Count the needles that are asked about, and those that one of the questions cannot see."""
        asked = {
            (told, turn)
            for example, turn in questions
            for told in self.needles.get(example, ())
            if told < turn
        }
        unseen = {told for told, turn in asked if not self._shows(turn, told)}
        estimate.needles, estimate.unseen = len({told for told, _ in asked}), len(unseen)

    def _shows(self, turn: int, told: int) -> bool:
        return turn in self.shown and told in self.places and self.shown[turn].shows(self.places[told])


class Counting(Agent):
    """Counts what each reply would use.

    Args:
        model: The model and its window.
        reply_tokens: Tokens of every reply, up to the model's maximum.
        counter: Counts tokens.
        estimate: Gets the sums.
        sight: Gets what each prompt shows.
    """

    forks = "snapshot"

    def __init__(
        self,
        model: UsageModel,
        reply_tokens: int,
        counter: TokenCounter,
        estimate: Estimate,
        sight: Sight,
    ) -> None:
        self._model = model
        self._window = Window(
            system=model.system,
            window=model.window,
            max_output=model.max_output,
            counter=counter,
            ratio=model.ratio,
            truncate=model.truncate,
            keep=model.keep,
        )
        self._reply = (_WORDS * min(reply_tokens, model.max_output)).strip()
        self._output = min(reply_tokens, model.max_output)
        self._frame = counter.count(model.system)
        self._last: Prompt | None = None
        self._estimate, self._sight = estimate, sight

    async def reply(self, message: Message) -> Reply:
        """Count a reply."""
        reply = self._answer(self._prompt(message, continues=True))
        self._take(message, reply)
        return reply

    async def fork(self, message: Message) -> Callable[[], Awaitable[Reply]]:
        """Freeze a prompt, whose reply is counted later."""
        prompt = self._prompt(message)

        async def answer() -> Reply:
            return self._answer(prompt)

        return answer

    def _answer(self, prompt: Prompt | None) -> Reply:
        if prompt is None:
            self._estimate.overflows += 1
            return Reply("", finish=Finish.OVERFLOW)
        cached = 0 if self._last is None else self._cached(self._last, prompt)
        written = prompt.kept - cached if self._model.writes_cost and prompt.kept >= LEAST_CACHED else 0
        self._count(prompt.tokens, cached, written)
        if not prompt.continues and written < WORTH_WAITING:
            self._estimate.beside += 1
            self._estimate.output_beside += self._output
        self._last = prompt
        return Reply(self._reply)

    def _cached(self, last: Prompt, prompt: Prompt) -> int:
        """Return the tokens that a prompt has in the cache after the last one."""
        before = len(last.history)
        if before <= len(prompt.history) and (not before or prompt.history[before - 1] is last.history[-1]):
            common = last.kept
        elif self._model.writes_cost:  # only whole entries are found
            return 0
        else:
            pairs = zip(last.history, prompt.history, strict=False)
            common = self._frame + sum(
                one.tokens for one, _ in takewhile(lambda pair: pair[0] is pair[1], pairs)
            )
        return min(common, prompt.tokens) if common >= LEAST_CACHED else 0

    async def observe(self, turn: Turn) -> None:
        """Take a turn into the window."""
        self._take(turn.message, turn.reply)

    async def close(self) -> None:
        """Note the whole conversation's length."""
        self._estimate.whole = max(self._estimate.whole, self._window.whole)

    def _prompt(self, message: Message, *, continues: bool = False) -> Prompt | None:
        prompt = self._window.prompt(stamped(message), continues=continues)
        if prompt is not None and isinstance(prompt.history, SentTurns):
            self._sight.shown[message.turn] = prompt.history
        return prompt

    def _take(self, message: Message, reply: Reply) -> None:
        place = len(self._window)
        self._window.take(stamped(message), reply)
        if len(self._window) > place:
            self._sight.places[message.turn] = place

    def _count(self, prompt: int, cached: int, written: int) -> None:
        estimate, model = self._estimate, self._model
        estimate.calls += 1
        estimate.prompt += prompt
        estimate.cached += cached
        estimate.output += self._output
        whole = Usage(uncached=prompt, output=self._output, model=model.model, provider=model.provider)
        split = replace(whole, uncached=prompt - cached - written, cache_read=cached, cache_write=written)
        estimate.dollars = total([estimate.dollars, dollars(split)])
        estimate.dollars_uncached = total([estimate.dollars_uncached, dollars(whole)])


def bound(plan: Plan) -> Decimal | None:
    """Return what a run's agent costs at most; None if that is unknown.

    The shortest replies leave room for the most calls, each of which is taken for one with the longest message.
    """
    agent = plan.agents.sample
    if agent.free:
        return Decimal()
    found = Estimate()
    longest = _walk_all(plan, 1, found)
    return most(agent, found.calls, longest)


def _walk_all(plan: Plan, reply_tokens: int, found: Estimate) -> str:
    """Walk through all conversations of a run; return the longest message."""
    isolated = plan.manifest.suite.isolated
    talks = [[each] for each in plan.examples] if isolated else [plan.examples]
    return max((_walk(plan, examples, reply_tokens, found) for examples in talks), key=len)


def _walk(plan: Plan, examples: Sequence[Example], reply_tokens: int, found: Estimate) -> str:
    """Walk through a conversation and count its calls, for agents whose prompts are unknown.

    Returns the longest message.
    """
    talk, longest, said = play_of(plan, scheduler_of(plan, examples)), "", None
    reply, seen = Reply((_WORDS * reply_tokens).strip()), _TurnCounter(found, Sight())
    while not isinstance(step := talk.send(said), AllSaid):
        said = None
        if isinstance(step, Completed):
            seen.ended(step)
        elif isinstance(step, Saying):
            asked = step.known is None
            longest = max(longest, step.message.text, key=len) if asked else longest
            found.calls += asked
            found.output += asked * reply_tokens
            if isinstance(step.send, Fork):
                found.beside += 1
                found.output_beside += reply_tokens
                said = Exchanged(step.tokens())
            else:
                turn = step.turn(step.known or reply)
                answer = reply_tokens if asked else step.reply_tokens(turn.reply)
                said = Exchanged(step.tokens(), turn.reply, answer)
                seen.turn(turn, said.tokens + answer, 0, replayed=False)
    return longest


@dataclass
class _TurnCounter(Silent):
    """Observes the turns of a simulated run."""

    estimate: Estimate
    sight: Sight

    def turn(self, turn: Turn, tokens: int, position: int, *, replayed: bool) -> None:
        self.estimate.turns += 1
        self.estimate.filler += turn.kind == "fill" and turn.answered == "agent"
        self.estimate.tokens += tokens
        if turn.kind == "tell" and turn.example is not None:
            self.sight.needles.setdefault(turn.example, []).append(turn.message.turn)

    def ended(self, ended: Completed) -> None:
        self.estimate.examples += 1
        self.estimate.overruns += ended.overrun > 0


def estimate(plan: Plan, reply_tokens: int = LIKELY, latency: float | None = None) -> Estimate:
    """Run a plan's conversation with an agent that only counts, keeping nothing. Blocking form of `simulate`."""
    return asyncio.run(simulate(plan, reply_tokens, latency))


async def simulate(
    plan: Plan, reply_tokens: int = LIKELY, latency: float | None = None, *, ladder: bool = False
) -> Estimate:
    """Run a plan's conversation with an agent that only counts, keeping nothing.

    Args:
        plan: The run.
        reply_tokens: Tokens of every reply, up to the maximum of the agent's model.
        latency: Seconds per call; None for the usual time of chat providers.
        ladder: Whether every question is missed and asked again; only for chat models in a window.
    """
    await plan.agents.find_window()
    agent = plan.agents.sample
    model = agent.usage_model()
    isolated = plan.manifest.suite.isolated
    found, sight, pauses = Estimate(), Sight(), list[float]()

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    if model is not None:
        with tempfile.TemporaryDirectory() as folder, serving(None):
            start_run(Path(folder), plan.manifest)
            verdicts = await run_conversations(
                plan,
                partial(Counting, model, reply_tokens, plan.counter, found, sight),
                Path(folder),
                budget=Budget(),
                observer=_TurnCounter(found, sight),
                clock=lambda: 0.0,
                sleep=pause,
                ladder=ladder,
            )
        if not isolated:
            sight.count(verdicts.keys(), found)
    else:
        _walk_all(plan, reply_tokens, found)
        found.dollars = found.dollars_uncached = bound(plan)
        found.bounded = not agent.free
    if latency is not None or (model is not None and model.provider is not None):
        lanes = min(CONCURRENT, len(plan.examples)) if isolated and not agent.interactive else 1
        one_by_one = _seconds(found.calls - found.beside, found.output - found.output_beside, latency)
        at_once = _seconds(found.beside, found.output_beside, latency)
        found.seconds = (one_by_one + sum(pauses)) / lanes + at_once / min(CONCURRENT, max(found.beside, 1))
    return found


def _seconds(calls: int, output: int, latency: float | None) -> float:
    """Return the seconds of calls one after the other; without a `latency`, at a provider's usual speed."""
    return calls * FIRST_TOKEN + output / PER_SECOND if latency is None else calls * latency


async def forecast(plan: Plan, latency: float | None = None) -> Estimate | None:
    """Estimate a run just before it starts; None if it is too long to simulate quickly.

    Also None if there is no room for the simulation: the run may have some, or reports what it lacks.
    """
    rounds = max((example.index for example in plan.examples), default=0) + 1
    if not plan.manifest.suite.isolated and rounds * plan.manifest.span > MOST_SIMULATED:
        return None
    try:
        return await simulate(plan, latency=latency)
    except OSError:
        return None


def most(agent: Agent, calls: int, longest: str) -> Decimal | None:
    """Return an upper bound for the cost of these calls, from what the agent reserves for the longest message."""
    if agent.free:
        return Decimal()
    most = agent.reserve(Message(longest, _ANY_TIME, 0))
    price = None if most is None else dollars(most)
    return None if price is None else price * calls


_ANY_TIME = datetime(2026, 1, 1, tzinfo=UTC)
