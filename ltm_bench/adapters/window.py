"""The part of a conversation that fits into an agent's window. Pure: no SDK, no I/O.

The whole conversation is kept; a request contains the system message, the newest turns that fit, and the newest
message. A provider's prompt cache holds as long as each request begins with the previous one, so turns are not dropped
one by one: when a request would be too long, whole turns are dropped, oldest first, until it takes up at most the share
`keep` of the budget. Then nothing is dropped for a good while.

Lone surrogates, which no provider accepts, are replaced.

That is `step`. With `middle` the oldest turns also stay, in half of the room, and a message that is too long by itself
loses its middle, as InfiniteBench truncates prompts. With `none` nothing is ever dropped.

Every text is tokenised once. The state depends only on the sequence of `take` calls, so that an agent restored from its
turns sends the same requests as one that was never interrupted.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import Literal, NamedTuple, get_args, overload

from pydantic_core import to_json

from ltm_bench.adapters.compaction import Compacted
from ltm_bench.adapters.text import sendable
from ltm_bench.core.errors import ConfigError, check_known
from ltm_bench.core.messages import Finish, Reply
from ltm_bench.core.tokens import Counter

MESSAGE_OVERHEAD = 4
"""Tokens that chat formats put around each message (role, separators)."""

KEPT = 0.75
"""Default share of the budget that stays in use after turns are dropped."""

Truncate = Literal["step", "middle", "none"]
"""How a conversation that outgrows the window is truncated."""


@dataclass(frozen=True)
class SentTurn:
    """One turn of the history, as it is sent."""

    message: str
    reply: str
    tokens: int
    """Both texts with their overhead, in the counter's tokens."""
    said: Sequence[Mapping[str, object]] = ()
    """What is sent instead of the reply's text, if the provider wants it back unchanged."""

    @cached_property
    def json(self) -> bytes:
        """Its messages as elements of a JSON array, rendered once for all requests."""
        return b",".join(map(to_json, self._messages))

    def marked(self, mark: Mapping[str, object]) -> bytes:
        """Return the same, with a `cache_control` at the last block."""
        *before, last = self._messages
        content = last["content"]
        blocks = list(content) if isinstance(content, list) else [{"type": "text", "text": content}]
        blocks[-1] = {**blocks[-1], "cache_control": mark}
        return b",".join(map(to_json, (*before, {**last, "content": blocks})))

    @property
    def _messages(self) -> Sequence[Mapping[str, object]]:
        return [_said("user", self.message), *(self.said or [_said("assistant", self.reply)])]

    def release(self) -> None:
        """Free the memory of `json`, for an exchange that no further request contains."""
        self.__dict__.pop("json", None)


class SentTurns(Sequence[SentTurn]):
    """The part of a conversation sent with a message: a view, so that long conversations are not copied every turn.

    The list of exchanges may grow behind it.
    """

    def __init__(self, exchanges: Sequence[SentTurn], head: int, start: int) -> None:
        self._exchanges = exchanges
        self._places = (range(head), range(start, len(exchanges)))

    def __len__(self) -> int:
        """Return the number of exchanges sent."""
        return sum(map(len, self._places))

    def shows(self, place: int) -> bool:
        """Whether the exchange at this place of the whole conversation is sent."""
        return any(place in each for each in self._places)

    def __iter__(self) -> Iterator[SentTurn]:
        """Iterate over them in order."""
        return map(self._exchanges.__getitem__, chain(*self._places))

    @overload
    def __getitem__(self, index: int) -> SentTurn: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[SentTurn]: ...

    def __getitem__(self, index: int | slice) -> SentTurn | Sequence[SentTurn]:
        """Return one of them, or several as a list."""
        if isinstance(index, slice):
            return list(self)[index]
        head, rest = self._places
        place = range(len(self))[index]
        return self._exchanges[head[place] if place < len(head) else rest[place - len(head)]]


@dataclass(frozen=True, slots=True)
class Prompt:
    """The parts of the next request, in order."""

    system: str
    history: Sequence[SentTurn]
    message: str
    tokens: int
    """All of it with its overhead, in the counter's tokens."""
    message_tokens: int
    """The newest message's part of that."""
    continues: bool
    """Whether the message and its reply become part of the conversation, so that later prompts begin with it."""
    marks: Collection[int] = ()
    """The exchanges of the history at whose ends the provider is told to cache."""

    @property
    def kept(self) -> int:
        """Tokens of the part that later prompts begin with."""
        return self.tokens if self.continues else self.tokens - self.message_tokens

    def request(
        self,
        settings: Mapping[str, object],
        messages: str,
        *,
        system: bool,
        more: Sequence[Mapping[str, object]] = (),
        mark: Mapping[str, object] | None = None,
    ) -> bytes:
        """Return the JSON of a request to a chat API: the settings, and the messages in the field of that name.

        Args:
            settings: The request's other fields.
            messages: The name of the field that holds the messages.
            system: Whether the system message, if any, comes first among them.
            more: Messages in the API's own form that follow the newest one, such as tool calls.
            mark: The `cache_control` to send at `marks`; None for no marks.
        """
        said = [to_json(_said("system", self.system))] if system and self.system else []
        said += [exchange.json for exchange in self.history]
        if mark is not None:
            for n in self.marks:
                said[n - len(self.history)] = self.history[n].marked(mark)
        said.append(to_json(_said("user", self.message)))
        said += map(to_json, more)
        return to_json({**settings, messages: []})[:-2] + b",".join(said) + b"]}"


def _said(role: str, text: str) -> dict[str, object]:
    return {"role": role, "content": text}


class _Fit(NamedTuple):
    """The part of the history sent with a message: its first `head` exchanges, and those from `start` on."""

    head: int
    start: int
    sent: int
    """Their tokens."""


class Window:
    """A conversation and its sliding window.

    Args:
        system: The system message, which every request contains.
        window: The model's context window, in its own tokens.
        max_output: Maximum tokens of one reply, in the model's own tokens; reserved in the window.
        counter: Counts the tokens of messages and replies.
        ratio: The model's tokens per token of `counter`, at worst; 1.0 by default.
        truncate: How to fit a conversation that outgrows the window: `step` (the default), `middle` or `none`.
        keep: The share of the window that stays in use after turns are dropped, from 0.05 to 1; 0.75 by default.

    Raises ConfigError if only the system message would fit, or if `truncate` or `keep` is invalid.
    """

    def __init__(
        self,
        *,
        system: str,
        window: int,
        max_output: int,
        counter: Counter,
        ratio: float = 1.0,
        truncate: str = "step",
        keep: float = KEPT,
    ) -> None:
        check_known(f"truncate = {truncate!r}: no such way", truncate, get_args(Truncate))
        if not 0.05 <= keep <= 1.0:
            raise ConfigError(
                f"keep = {keep}: the share of the window that stays in use must be from 0.05 to 1"
            )
        self._truncate = truncate
        self._keep = keep
        self._system = system = sendable(system)
        self._counter = counter
        self._count = counter.count
        self._ratio = ratio
        # The system message, and the reply's opening.
        self._frame = MESSAGE_OVERHEAD * 2 + self._count(system)
        self._budget = int((window - max_output) / ratio)
        if max_output < 1 or self._budget <= self._frame + MESSAGE_OVERHEAD:
            raise ConfigError(
                f"window={window} with max_output={max_output}: {max(self._budget, 0)} tokens remain for the "
                f"prompt, and the system message alone takes {self._frame}; "
                "give a larger window or a smaller, positive max_output"
            )
        self._exchanges: list[SentTurn] = []
        self._head = 0  # number of first exchanges that are always sent
        self._start = 0  # the first exchange after those that is still sent
        self._sent = 0  # tokens of all exchanges that are sent
        self._newest = ("", "", 0)

    def __len__(self) -> int:
        """Return the number of turns taken, those that are no longer sent included."""
        return len(self._exchanges)

    @property
    def whole(self) -> int:
        """Tokens that a prompt of the whole conversation would have, in the counter's tokens."""
        return self._frame + sum(exchange.tokens for exchange in self._exchanges)

    @property
    def budget(self) -> int:
        """Maximum tokens of a prompt, in the counter's tokens."""
        return self._budget

    def prompt(self, message: str, *, continues: bool = False) -> Prompt | None:
        """Return the prompt for this message; None if it does not fit.

        `continues` says whether the message and its reply are going to be taken.
        """
        fit = self._fit(message)
        if fit is None:
            return None
        history = SentTurns(self._exchanges, fit.head, fit.start)
        text, size = self._sized(message)
        return Prompt(self._system, history, text, self._frame + fit.sent + size, size, continues)

    def most_tokens(self, message: str) -> int:
        """Return the maximum size of this message's prompt in the model's tokens; 0 if it does not fit."""
        fit = self._fit(message)
        return 0 if fit is None else int((self._frame + fit.sent + self._sized(message)[1]) * self._ratio) + 1

    def take(self, message: str, reply: Reply) -> None:
        """Add a message and its reply.

        A refused turn is left out: providers keep refusing any history that contains it. So are an empty reply, which
        no provider accepts in a history, and a message that never fitted. If the provider rejects a prompt as too long
        that should have fitted, the budget shrinks below it. A compacted reply stands
        for everything before it, and is dropped only if a message needs its room.
        """
        fit = self._fit(message)
        if fit is None:
            return
        text, size = self._sized(message)
        if reply.finish is Finish.OVERFLOW:
            if fit.start < len(self._exchanges) or fit.head:
                self._budget = self._frame + max(fit.sent, size)
                self._newest = ("", "", 0)
        elif reply.finish is not Finish.REFUSAL and reply.text.strip():
            for dropped in self._exchanges[max(self._start, fit.head) : fit.start]:
                dropped.release()
            self._head, self._start, self._sent = fit
            answer = sendable(reply.text)
            tokens = size + self._count(answer) + MESSAGE_OVERHEAD
            said: Sequence[Mapping[str, object]] = ()
            if isinstance(reply, Compacted):
                said, tokens = reply.said, size + reply.tokens + MESSAGE_OVERHEAD
                # Always sent from now on; forks may still look at the old list.
                self._exchanges, self._head, self._start, self._sent = [], 1, 1, 0
            self._exchanges.append(SentTurn(text, answer, tokens, said))
            self._sent += tokens

    def _fit(self, message: str) -> _Fit | None:
        """Return the history that fits with this message; changes nothing."""
        room = self._budget - self._frame - self._sized(message)[1]
        if room < 0:
            return None
        head, start, sent = self._head, self._start, self._sent
        if sent <= room:
            return _Fit(head, start, sent)
        if self._truncate == "none":
            return None
        room = min(room, int(self._budget * self._keep) - self._frame)
        if self._truncate == "middle" and not head and not start:
            held = 0
            while head < len(self._exchanges) and held + self._exchanges[head].tokens <= room // 2:
                held += self._exchanges[head].tokens
                head += 1
            start = head
        # a long message needs that room
        if sum(exchange.tokens for exchange in self._exchanges[:head]) > room:
            head, sent = 0, sum(exchange.tokens for exchange in self._exchanges[start:])
        while start < len(self._exchanges) and sent > room:
            sent -= self._exchanges[start].tokens
            start += 1
        return _Fit(head, start, sent)

    def _sized(self, message: str) -> tuple[str, int]:
        """Return a message as sent, and its tokens."""
        # The same message is sized several times in a row: reserved, sent, retried, taken.
        if self._newest[0] != message or not self._newest[2]:
            text = sendable(message)
            size = self._count(text) + MESSAGE_OVERHEAD
            room = self._budget - self._frame
            if size > room and self._truncate == "middle":
                text = self._cut(text, room - MESSAGE_OVERHEAD)
                size = self._count(text) + MESSAGE_OVERHEAD
            self._newest = (message, text, size)
        return self._newest[1:]

    def _cut(self, message: str, room: int) -> str:
        """Cut the middle out of a message; joining the ends can add a token."""
        while True:
            start, end = self._counter.ends(message, room // 2, room - room // 2)
            if self._count(start + end) <= room or not start:
                return start + end
            room -= 1
