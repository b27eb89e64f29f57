"""Sealed replies: what a script gets for a forked question, so that the conversation need not wait."""

from datetime import datetime
from typing import NoReturn

from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Ask, Finish, Line, Reply, Usage


class ReplySealed(ConfigError):
    """A script reads a sealed reply."""


class SealedReply(Reply):
    """The reply to a forked question, as its script receives it: only the time of the question."""

    __slots__ = ()

    def __init__(self, at: datetime) -> None:
        object.__setattr__(self, "at", at)  # the base is frozen, and its other fields stay empty

    @property
    def text(self) -> str:
        """Raise ReplySealed."""
        self._raise()

    @property
    def usage(self) -> Usage | None:
        """Raise ReplySealed."""
        self._raise()

    @property
    def finish(self) -> Finish:
        """Raise ReplySealed."""
        self._raise()

    def _raise(self) -> NoReturn:
        raise ReplySealed(
            "its script reads the reply to a question that is asked beside the conversation; "
            "mark that question with Ask(…, inline=True), or run with --questions in-line"
        )

    def __repr__(self) -> str:
        return f"SealedReply(at={self.at!r})"


def is_beside(line: Line) -> bool:
    """Whether a line is asked beside the conversation if questions are forked."""
    return isinstance(line, Ask) and not line.inline
