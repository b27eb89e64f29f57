"""The part of a conversation that fits into an agent's window. Pure: no SDK, no I/O.

The whole conversation is kept; what is sent is always the system message, the newest turns that fit, and the newest
message. A provider's prompt cache holds as long as a request begins with the one before it, so turns are not dropped
one by one: when the next request would be too long, whole turns are dropped, oldest first, until the history takes up
at most `KEPT` of the budget, and then nothing more is dropped for a good while.

Every text is tokenised once. The state depends on the sequence of `take` calls alone, so that an agent that was
restored from its turns sends the same requests as one that was never interrupted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ltm_bench.errors import ConfigError
from ltm_bench.messages import Finish, Reply
from ltm_bench.tokens import Counter

MESSAGE_OVERHEAD = 4
"""Tokens that chat formats put around each message (role, separators)."""

KEPT = 0.75
"""The share of the budget that may be in use after turns were dropped."""


class Exchange(NamedTuple):
    """One turn of the history, as it is sent."""

    message: str
    reply: str
    tokens: int
    """Both texts with their overhead, in the counter's tokens."""


@dataclass(frozen=True, slots=True)
class Prompt:
    """What the next request consists of, in this order."""

    system: str
    history: Sequence[Exchange]
    message: str
    tokens: int
    """All of it with its overhead, in the counter's tokens."""


class Window:
    """A conversation and the window that moves over it.

    `window` and `max_output` are in the model's tokens; `ratio` is how many of the model's tokens one token of
    `counter` can become at worst. Raises ConfigError where nothing but the system message would fit.
    """

    def __init__(
        self, *, system: str, window: int, max_output: int, counter: Counter, ratio: float = 1.0
    ) -> None:
        self._system = system
        self._count = counter.count
        self._ratio = ratio
        self._frame = MESSAGE_OVERHEAD * 2 + self._count(
            system
        )  # the system message, and the reply's opening
        self._budget = int((window - max_output) / ratio)
        if max_output < 1 or self._budget <= self._frame + MESSAGE_OVERHEAD:
            raise ConfigError(
                f"window={window} with max_output={max_output}: {max(self._budget, 0)} tokens remain for the "
                f"prompt, and the system message alone takes {self._frame}; "
                "give a larger window or a smaller, positive max_output"
            )
        self._exchanges: list[Exchange] = []
        self._start = 0  # the first exchange that is still sent
        self._sent = 0  # tokens of all exchanges from there on
        self._newest = ("", 0)

    @property
    def budget(self) -> int:
        """The most tokens that a prompt may have, in the counter's tokens."""
        return self._budget

    def prompt(self, message: str) -> Prompt | None:
        """Return what to send for this message; None where it does not fit even without any history."""
        fit = self._fit(message)
        if fit is None:
            return None
        start, sent = fit
        tokens = self._frame + sent + self._size(message)
        return Prompt(self._system, self._exchanges[start:], message, tokens)

    def most_tokens(self, message: str) -> int:
        """Return the most that the prompt for this message can have, in the model's tokens; 0 if it does not fit."""
        fit = self._fit(message)
        return 0 if fit is None else int((self._frame + fit[1] + self._size(message)) * self._ratio) + 1

    def take(self, message: str, reply: Reply) -> None:
        """Take a message and its reply as having happened.

        A refused turn is left out: providers go on refusing whatever still contains it. So are an empty reply,
        which no provider accepts in a history, and a message that never fitted. Where the provider found a prompt
        too long that should have fitted, the budget shrinks to what is known to be less.
        """
        fit = self._fit(message)
        if fit is None:
            return
        if reply.finish is Finish.OVERFLOW:
            start, sent = fit
            if start < len(self._exchanges):
                self._budget = self._frame + max(sent, self._size(message))
        elif reply.finish is not Finish.REFUSAL and reply.text.strip():
            self._start, self._sent = fit
            tokens = self._size(message) + self._count(reply.text) + MESSAGE_OVERHEAD
            self._exchanges.append(Exchange(message, reply.text, tokens))
            self._sent += tokens

    def _fit(self, message: str) -> tuple[int, int] | None:
        """Return where the history must start for this message, and its tokens; changes nothing."""
        room = self._budget - self._frame - self._size(message)
        if room < 0:
            return None
        start, sent = self._start, self._sent
        if sent > room:
            room = min(room, int(self._budget * KEPT) - self._frame)
            while start < len(self._exchanges) and sent > room:
                sent -= self._exchanges[start].tokens
                start += 1
        return start, sent

    def _size(self, message: str) -> int:
        # The same message is asked for several times in a row: reserved, sent, sent again, taken.
        if self._newest[0] != message or not self._newest[1]:
            self._newest = (message, self._count(message) + MESSAGE_OVERHEAD)
        return self._newest[1]
