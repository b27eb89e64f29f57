"""Filler that the log holds is passed over, not composed again: it makes up nine tenths of a long log."""

from ltm_bench.filler.filler import Filler
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.recorder import Recorder
from ltm_bench.runner.play import Filled, composed
from ltm_bench.schedule.scheduler import Scheduler

COMPARED = 100
"""Logged filler turns that a replay composes again and compares; later ones are passed over.

The manifest determines the filler (its digest, the seed), and a hundred messages show whether that still holds. Of the
others, only the opening, which comes from the same dice, and the end, which shows how many items came before, are
compared, and all of the last one.
"""


class LoggedFiller:
    """The filler of one conversation, as its scheduler wants it.

    Args:
        filler: The source of filler, which advances over a logged message as if it had composed it.
        recorder: The conversation's recorder.
        scheduler: The conversation's scheduler.
        compared: Whether all of it is composed, logged or not.
    """

    def __init__(self, filler: Filler, recorder: Recorder, scheduler: Scheduler, *, compared: bool) -> None:
        self._filler, self._recorder, self._scheduler = filler, recorder, scheduler
        self._compared = compared
        self._composed = 0

    def __call__(self, tokens: int) -> Filled:
        """Return about this many tokens of filler: from the log, or composed."""
        passed = None if self._compared else self._pass_over()
        self._composed += passed is None
        return passed or composed(self._filler, tokens)

    def _pass_over(self) -> Filled | None:
        """Take a filler turn from the log without composing it; None if it must be composed.

        It must be where the scheduler wants filler, have its reply, and begin as the dice say. The log's last one is
        composed: it is the same only if all earlier ones had the right length.
        """
        recorder, turn, position = self._recorder, self._scheduler.number, self._scheduler.position
        sent, last = recorder.logged, recorder.last_filler
        if not isinstance(sent, Sent) or last is None or self._composed < COMPARED or turn >= last:
            return None
        if (sent.kind, sent.turn, sent.position) != ("fill", turn, position):
            return None
        # Looked at before the filler advances: a message whose reply was lost is composed and sent again.
        replied = recorder.peek()
        if not isinstance(replied, Replied):
            return None
        opening, ending = self._filler.pass_over(sent.message)
        if not (sent.message.startswith(opening) and sent.message.endswith(ending)):
            raise recorder.diverged(
                f"turn {turn} the log says message", sent.message, f"{opening} … {ending}"
            )
        recorder.skip()
        recorder.skip()
        return Filled(sent.message, replied.said, lambda: sent.tokens, lambda: replied.tokens, logged=True)
