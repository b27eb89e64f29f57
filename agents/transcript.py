"""Transcript: plays back what another agent replied in an earlier run."""

from collections import deque
from collections.abc import Iterable
from pathlib import Path

from ltm_bench import Agent, CannotResume, Message, Reply, Turn
from ltm_bench.adapters import json_of


class Transcript(Agent):
    """Answers as the agent of the run in folder `run` did, message by message.

    For demonstrations, and to score old replies in a new run of the same plan. It observes filler if that agent did. A
    message that does not occur there, or not in that order, is an error.

    Args:
        run: The folder of the run.
    """

    free = True

    def __init__(self, *, run: str) -> None:
        path = Path(run) / "events.jsonl"
        if not path.is_file():
            raise ValueError(f"run={run!r}: it has no events.jsonl")
        self._run = run
        self.observes = _was_told(path)
        self._left: deque[tuple[str, str]] = deque(_exchanges(path))

    async def reply(self, message: Message) -> Reply:
        """Return the next reply."""
        return Reply(self._next(message.text))

    async def observe(self, turn: Turn) -> None:
        """Skip a turn."""
        self._next(turn.message.text)

    async def restore(self, turns: Iterable[Turn]) -> None:
        """Skip the turns that have been played back."""
        for turn in turns:
            self._next(turn.message.text)

    def _next(self, said: str) -> str:
        if not self._left:
            raise CannotResume(f"{self._run} has ended, and there is no reply to {said[:80]!r}")
        message, reply = self._left.popleft()
        if message != said:
            raise CannotResume(
                f"{self._run} was a different conversation: it continues with {message[:80]!r}, this one with "
                f"{said[:80]!r}"
            )
        return reply


def _was_told(path: Path) -> bool:
    """Whether the agent of a run observed filler instead of being asked it."""
    with path.open(encoding="utf-8") as lines:
        try:
            manifest = json_of(next(lines, ""))
            return bool(manifest["filler"]["mode"] != "live")
        except (ValueError, TypeError, KeyError):
            return True


def _exchanges(path: Path) -> list[tuple[str, str]]:
    found, message = [], None
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            try:
                event = json_of(line)
            except ValueError:  # torn off where the run was killed
                break
            if event.get("event") == "sent":
                message = event["message"]
            elif event.get("event") == "replied" and message is not None:
                found.append((message, event["reply"]))
    return found
