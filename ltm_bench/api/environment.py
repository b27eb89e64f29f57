"""A conversation as an environment for training, with Gymnasium's signature; `gymnasium` itself is an extra.

    from ltm_bench import Environment

    environment = Environment(span="2k", scenarios=["colours"])
    message, info = environment.reset()
    while message:
        message, reward, terminated, truncated, info = environment.step(agent(message))

With the extra, it is a `gymnasium.Env`, and `gymnasium.make("ltm_bench/Conversation-v0", span="2k")` makes one.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import AgentError, ConfigError, LogError, ManifestDiffers, ReplayDiverged
from ltm_bench.core.messages import Reply
from ltm_bench.core.seeds import Seed, checked_seed, number_of, numbered
from ltm_bench.log.differences import differences
from ltm_bench.log.events import NotAnEvent, Replied, decode, encode
from ltm_bench.log.manifest import AgentEntry
from ltm_bench.log.reader import manifest_in
from ltm_bench.plan.planning import make_plan, reseeded
from ltm_bench.plan.request import Request
from ltm_bench.plugins.agents import player_of
from ltm_bench.runner.episode import Episode, Rewarded
from ltm_bench.runner.guarding import guarded

T = TypeVar("T")

try:
    import gymnasium
except ImportError:  # an extra
    gymnasium = None


class _Plain:
    """What stands in for `gymnasium.Env` where that is not installed."""

    def reset(self, *, seed: int | None = None, options: Any = None) -> Any:
        """Do nothing: Gymnasium would seed a generator of its own."""


if TYPE_CHECKING:
    _Env = _Plain
else:
    _Env = _Plain if gymnasium is None else gymnasium.Env

ID = "ltm_bench/Conversation-v0"
"""Its id in Gymnasium's registry."""

AGENT = "environment"
"""What its logs call the agent, which is whoever steps it."""

_LENGTH = 40
"""Characters of a sampled text."""


class Environment(_Env):
    """One conversation an episode: every observation is a message, every action the reply to it.

    The reward is the verdict on the reply to a question, from 0 to 1, and 0 for any other reply. Where a question only
    counts if another one shows that its fact was remembered, its reward comes with the later of the two.

    Args:
        suite: What is asked, as for `run`.
        span: Tokens between what is told and what is asked; the suite's own if left out.
        seed: The first episode's. `train:0` is a training seed; numbers are test seeds, which are not for training.
        scenarios: Only these scenarios of the suite.
        examples: Examples per scenario, instead of the suite's.
        filler: `scripted` (filler is observed, and needs no step) or `live` (every filler message is a step).
        acknowledge: `live` (every needle is a step) or `scripted` (needles are observed).
        parameters: Parameters by scenario, instead of the suite's.
        render_mode: There is none; Gymnasium passes it.

    It can be pickled and copied, an open episode included. Gymnasium's `AsyncVectorEnv` takes it with
    `shared_memory=False`, since texts have no fixed size.

    Raises ConfigError if an argument is invalid, or if the suite's examples do not share one conversation.
    """

    metadata: Mapping[str, Any] = {"render_modes": []}  # Gymnasium's own form of it

    def __init__(
        self,
        suite: str = "standard",
        span: str | int | None = "2k",
        seed: Seed = "train:0",
        *,
        scenarios: Sequence[str] = (),
        examples: int | None = None,
        filler: str = "scripted",
        acknowledge: str = "live",
        parameters: Mapping[str, Mapping[str, Any]] | None = None,
        render_mode: None = None,
    ) -> None:
        arguments: dict[str, Any] = {"suite": suite, "span": span, "seed": seed, "scenarios": scenarios}
        arguments |= {
            "examples": examples,
            "filler": filler,
            "acknowledge": acknowledge,
            "parameters": parameters,
        }
        # It observes, which is all that the plan asks of an agent.
        plan = make_plan(Request("goldfish", **arguments))
        if plan.manifest.suite.isolated:
            raise ConfigError(
                f"suite {suite}: each of its examples has a conversation of its own, and an environment is one "
                "conversation; choose another suite"
            )
        self._arguments = arguments
        agent = AgentEntry(name=AGENT, adapter=AGENT, hash="", settings={}, free=True, observes=True)
        manifest = plan.manifest.model_copy(update={"agent": agent, "questions": "in-line"})
        self.render_mode = render_mode
        self._plan = replace(plan, manifest=manifest)
        self._next = plan.manifest.seed
        self._episode: Episode | None = None

    def __reduce__(self) -> tuple[Any, ...]:
        """Return how to make it again: from its arguments and its state, since scenarios are code."""
        state = None if self._episode is None else self.save()
        return _made_again, (type(self), self._arguments, self._next, state)

    def reset(
        self, *, seed: int | str | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[str, dict[str, Any]]:
        """Begin an episode; return its first message, and what is known about it.

        Args:
            seed: Its seed: a number counts in the namespace that the environment was made with, so 17 is `train:17` by
                default. Left out, it is the one after the last episode's.
            options: Without effect.

        Returns:
            The message, and a mapping: `seed`; `message`, with its time and speaker; `observed`, the turns that the
            agent only observes, in order.

        Raises:
            ConfigError: The seed is invalid.
            SpanTooSmall: A script of this seed needs a longer span.
        """
        if seed is not None:
            self._next = checked_seed(numbered(self._next, seed) if isinstance(seed, int) else seed)
        super().reset(seed=number_of(self._next))
        plan, self._episode = reseeded(self._plan, self._next), None
        self._next = numbered(self._next, number_of(self._next) + 1)
        self._episode = Episode(plan)
        return self._seen(self._episode)

    def step(self, action: str | Reply) -> tuple[str, float, bool, bool, dict[str, Any]]:
        """Reply to the last message; return the next one, the reward, whether it is over, False, and what is known.

        Besides what `reset` gives, the mapping holds after a question `question`: its `example`, `text` and `expected`
        reply, and the verdict's `outcome`, `score` and `reason`. After the last message it holds `score`, the
        episode's score as a run would have it, and `out_of`.

        Raises ConfigError if the reply cannot be recorded, or if no episode is open.
        """
        episode = self._opened()
        answer = episode.take(Reply(action) if isinstance(action, str) else action)
        message, info = self._seen(episode)
        if answer is not None:
            info["question"] = _described(answer)
        terminated = episode.message is None
        if terminated:
            info["score"], info["out_of"] = episode.score, len(self._plan.manifest.suite.scenarios)
        return message, 0.0 if answer is None else answer.gain, terminated, False, info

    def play(self, agent: object, *, home: Path | None = None, timeout: float = 300.0) -> dict[str, Any]:
        """Have an agent play the open episode to its end, and return what is known then, as `step` does.

        Args:
            agent: An `Agent` or its class, or a function, a class or an object that takes a message and returns the
                reply.
            home: The agent's own folder; a temporary one if left out.
            timeout: Seconds for each of its calls.

        Raises:
            ConfigError: It is no agent, or no episode is open.
            AgentError: It failed, or took too long.
        """
        player, episode = player_of(agent, timeout), self._opened()
        with TemporaryDirectory(prefix="ltm-bench-") if home is None else nullcontext(home) as place:
            return asyncio.run(self._played(player, episode, Path(place), timeout))

    async def _played(self, agent: Agent, episode: Episode, home: Path, timeout: float) -> dict[str, Any]:
        turn = None

        async def within(call: Callable[[], Awaitable[T]]) -> T:
            try:
                async with asyncio.timeout(timeout):
                    return await guarded(call, turn)
            except TimeoutError:
                where = "" if turn is None else f" at turn {turn}"
                raise AgentError(
                    f"the agent took more than {timeout:g} s{where}; raise it with timeout="
                ) from None

        _, info = self._seen(episode)
        try:
            await within(partial(agent.open, home))
            while (asked := info["message"]) is not None:
                for each in info["observed"]:
                    turn = each.message.turn
                    await within(partial(agent.observe, each))
                turn = asked.turn
                await within(agent.settle)
                *_, info = self.step(await within(partial(agent.reply, asked)))
        finally:
            await guarded(agent.close)
        return info

    def save(self) -> bytes:
        """Return the episode so far: the event log of a run, which `restore` continues.

        Written to `reports/NAME/events.jsonl`, it is a run that `ltm-bench show`, `report` and `rescore` read.
        """
        episode = self._opened()
        return b"".join([episode.plan.manifest.line(), *map(encode, episode.events)])

    def restore(self, state: bytes) -> tuple[str, dict[str, Any]]:
        """Continue a saved episode, by saying again what was said; return what `reset` returns.

        An agent's memory is not part of the state: whoever restores an episode restores the agent.

        Raises:
            LogError: It is no saved episode.
            ManifestDiffers: It is one of an environment with other arguments, or of other scenarios.
        """
        first, *lines = state.splitlines(keepends=True) or [b""]
        manifest = manifest_in(first, Path("state"))
        try:
            replies = {each.turn: each for each in map(decode, lines) if isinstance(each, Replied)}
        except NotAnEvent as error:
            raise LogError(
                f"restore: the state is damaged: {error}; pass save()'s bytes unchanged"
            ) from error
        same = self._plan.manifest.model_copy(update={"seed": manifest.seed})
        if found := differences(same.identity(), manifest.identity()):
            raise ManifestDiffers(
                f"restore: the state is one of another environment ({'; '.join(found[:4])}); make it with the same "
                "arguments and files"
            )
        seen = self.reset(seed=str(manifest.seed))
        episode = self._opened()
        while episode.message is not None and (logged := replies.get(episode.message.turn)) is not None:
            episode.take(logged.said)
            seen = self._seen(episode)
        if not self.save().startswith(state):
            raise ReplayDiverged(
                "restore: the scripts now say something else than the state holds; restore the scenarios' files, or "
                "the version of ltm-bench that saved it"
            )
        return seen

    def _opened(self) -> Episode:
        if self._episode is None:
            raise ConfigError("no episode is open: call reset() first")
        return self._episode

    def _seen(self, episode: Episode) -> tuple[str, dict[str, Any]]:
        """Return a message and what is known about it."""
        message = episode.message
        seed, observed = episode.plan.manifest.seed, tuple(episode.observed)
        known = {"seed": seed, "message": message, "observed": observed}
        return "" if message is None else message.text, known


def _made_again(
    kind: type[Environment], arguments: Mapping[str, Any], following: Seed, state: bytes | None
) -> Any:
    made = kind(**arguments)
    if state is not None:
        made.restore(state)
    made._next = following
    return made


def _described(answer: Rewarded) -> dict[str, Any]:
    """Return what became of a reply, in plain values."""
    verdict, line = answer.verdict, answer.line
    return {
        "example": answer.example,
        "text": answer.text,
        "expected": line.ideal or line.expect.right()[0],
        "outcome": verdict.outcome.value,
        "score": verdict.score,
        "reason": verdict.reason,
    }


if gymnasium is not None and not TYPE_CHECKING:

    class _Texts(gymnasium.Space):
        """Texts of any length."""

        def __init__(self) -> None:
            super().__init__(shape=None, dtype=str)

        def sample(self, mask: object = None, probability: object = None) -> str:
            """Return a text of random letters."""
            return "".join(map(chr, self.np_random.integers(97, 123, _LENGTH)))

        def contains(self, x: object) -> bool:
            """Whether it is a text."""
            return isinstance(x, str)

        @property
        def is_np_flattenable(self) -> bool:
            """Whether it is of fixed size."""
            return False

        def __eq__(self, other: object) -> bool:
            return isinstance(other, _Texts)

        __hash__ = gymnasium.Space.__hash__

    Environment.observation_space, Environment.action_space = _Texts(), _Texts()
    gymnasium.register(ID, entry_point=Environment)
