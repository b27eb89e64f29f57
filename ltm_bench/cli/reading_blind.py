"""Shows replies to a person without their verdicts."""

from collections.abc import Callable, Sequence

from ltm_bench.cli.console import out, safe
from ltm_bench.core.messages import Outcome
from ltm_bench.judge.audit import Drawn

KEYS = {"r": Outcome.CORRECT, "o": Outcome.STALE, "w": Outcome.WRONG, "n": Outcome.ABSTAINED}
HELP = (
    "r right, all of it; o outdated; w wrong, vague or only a part; n no answer; s skip, q quit. "
    "Words after the letter are your reason."
)

_SHOWN = 2000
"""Maximum characters of a text shown."""


def read_blind(drawn: Sequence[Drawn], save: Callable[[Drawn, Outcome, str], None]) -> int:
    """Show replies one by one, and pass on the decisions; return how many were made.

    Args:
        drawn: The replies to read.
        save: Called with each decision immediately, so that none is asked for again.
    """
    done = 0
    for number, each in enumerate(drawn, start=1):
        _show(number, len(drawn), each)
        decided = _decide()
        if decided is None:
            break
        if decided:
            save(each, *decided)
            done += 1
    return done


def _show(number: int, count: int, drawn: Drawn) -> None:
    case = drawn.case
    out().rule(f"{number} of {count}", align="left")
    for turn in case.told:
        out().print(f"{turn.at}\n  said      {_short(turn.user)}")
        if turn.agent:
            out().print(f"  answered  {_short(turn.agent)}")
    out().print(case.at)
    for title, text in (("question", case.question), ("right", case.expected), ("reply", case.reply)):
        out().print(f"{title:<9} {_short(text)}")


def _short(text: str) -> str:
    text = safe(text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} […] {text[-_SHOWN // 2 :]}"


def _decide() -> tuple[Outcome, str] | tuple[()] | None:
    """Read a decision: outcome and reason; nothing to skip it; None to quit, as at end of input."""
    try:
        while True:
            key, _, reason = input("r/o/w/n/s/q > ").strip().partition(" ")
            match key.lower():
                case "q":
                    return None
                case "s":
                    return ()
                case known if known in KEYS:
                    return KEYS[known], reason.strip()
                case _:
                    out().print(HELP)
    except EOFError:
        return None
