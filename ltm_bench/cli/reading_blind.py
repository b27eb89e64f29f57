"""Shows replies to a person without their verdicts."""

from collections.abc import Callable, Sequence
from contextlib import suppress

from ltm_bench.cli.asking import ask_key, print_titled
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
    with suppress(EOFError):
        for number, each in enumerate(drawn, start=1):
            _show(number, len(drawn), each)
            key, reason = ask_key("r/o/w/n/s/q > ", KEYS.keys() | {"s"}, HELP, words=True)
            if key in KEYS:
                save(each, KEYS[key], reason)
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
    shown = {"question": case.question, "right": case.expected, "reply": case.reply}
    print_titled(*((title, _short(text)) for title, text in shown.items()))


def _short(text: str) -> str:
    text = safe(text)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} […] {text[-_SHOWN // 2 :]}"
