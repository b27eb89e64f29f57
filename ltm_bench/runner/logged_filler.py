"""Filler that the log holds is passed over, not composed again: it makes up nine tenths of a long log."""

from typing import NamedTuple

from ltm_bench.filler.filler import Filler
from ltm_bench.log.events import Replied, Sent
from ltm_bench.log.recorder import Recorder

COMPARED = 100
"""Logged filler turns that a replay composes again and compares; later ones are passed over.

The manifest determines the filler (its digest, the seed), and a hundred messages show whether that still holds. Of the
others, only the opening, which comes from the same dice, and the end, which shows how many items came before, are
compared, and all of the last one.
"""


class LoggedTurn(NamedTuple):
    """A turn as the log holds it."""

    sent: Sent
    replied: Replied


def pass_over(
    recorder: Recorder, filler: Filler, *, turn: int, position: int, composed: int
) -> LoggedTurn | None:
    """Take a filler turn from the log without composing it; None if it must be composed.

    It must be where the scheduler wants filler, have its reply, and begin as the dice say. The log's last one is
    composed: it is the same only if all earlier ones had the right length.

    Args:
        recorder: The conversation's recorder.
        filler: The source of filler, which advances as if it had composed the message.
        turn: The number of the turn.
        position: The position that the scheduler has reached.
        composed: Filler turns that were composed so far.
    """
    sent, last = recorder.logged, recorder.last_filler
    if not isinstance(sent, Sent) or last is None or composed < COMPARED or turn >= last:
        return None
    if (sent.kind, sent.turn, sent.position) != ("fill", turn, position):
        return None
    # Looked at before the filler advances: a message whose reply was lost is composed and sent again.
    replied = recorder.peek()
    if not isinstance(replied, Replied):
        return None
    opening, ending = filler.pass_over(sent.message)
    if not (sent.message.startswith(opening) and sent.message.endswith(ending)):
        raise recorder.diverged(f"turn {turn} the log says message", sent.message, f"{opening} … {ending}")
    recorder.skip()
    recorder.skip()
    return LoggedTurn(sent, replied)
