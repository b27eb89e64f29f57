"""Every error that ltm-bench raises on purpose, as one tree.

    LtmBenchError                   exit 1   base class; printed as one line, without a traceback
      ConfigError                            a flag, a suite, a preset or a setting is wrong
        PluginError                          a file in scenarios/ or agents/ cannot be used
        CannotCombine                        agent, suite, span and mode can be used, but not together
          SpanTooSmall                       a script does not fit into the span
      LogError                               the event log cannot be used
        ManifestDiffers                      the run exists already, with a different manifest
        ReplayDiverged                       the scripts no longer say what the log recorded
        RunLocked                            another process is using this run
        NotVerified                          a run or a bundle contradicts its own log
      ThresholdMissed               exit 2   the score is below --fail-under or --baseline
      RunIncomplete                 exit 3   the run stopped early and can be resumed
        AgentError                           the agent could not reply
        CannotResume                         the agent cannot be restored to the logged turns
      BudgetReached                 exit 4   the next call could exceed --max-cost

A message says what, where, which value, and what to do about it.
"""

import difflib
import re
from collections.abc import Collection, Iterable
from typing import Any


class LtmBenchError(Exception):
    """Base class of all errors that ltm-bench raises on purpose."""

    exit_code = 1


class ConfigError(LtmBenchError):
    """A flag, a suite, a preset or a setting has a value that cannot be used."""


class PluginError(ConfigError):
    """A file in scenarios/ or agents/ is missing, ambiguous or broken."""


class CannotCombine(ConfigError):
    """An agent, a suite, a span and a mode can be used, but not together."""


class SpanTooSmall(CannotCombine):
    """A script needs more tokens than the span has."""


class LogError(LtmBenchError):
    """The event log is damaged, or its format is unknown."""


class ManifestDiffers(LogError):
    """The run folder holds a run with a different manifest."""


class ReplayDiverged(LogError):
    """Replaying the scripts gave different messages from those in the log."""


class RunLocked(LogError):
    """Another process is using this run."""


class NotVerified(LogError):
    """What a run or a bundle states differs from what its log gives."""


class ThresholdMissed(LtmBenchError):
    """The score is below the required threshold, or too far below the baseline."""

    exit_code = 2


class RunIncomplete(LtmBenchError):
    """The run stopped before its last question; it can be resumed."""

    exit_code = 3


class AgentError(RunIncomplete):
    """The agent could not reply: because of the network, the provider, or an error of its own. Never a wrong answer."""


class CannotResume(RunIncomplete):
    """The agent's own memory cannot be cut back to the turns in the log."""


class BudgetReached(LtmBenchError):
    """The next call to the agent could exceed the budget; the run can be resumed with a larger one."""

    exit_code = 4


MOST_SAID = 2000
"""Characters of a foreign error that are shown."""


def described(error: BaseException) -> str:
    """Return a foreign error's type and text, cut to a limit; some errors cannot even be turned into text."""
    while isinstance(error, BaseExceptionGroup) and len(error.exceptions) == 1:
        error = error.exceptions[0]  # the group itself says nothing
    try:
        said = str(error)
    except Exception:  # a class of the user's own can raise anything
        said = "(it has no text)"
    shown = said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]} …"
    return f"{type(error).__name__}: {shown}" if shown else type(error).__name__


def first_problem(error: Any) -> str:
    """Return what is wrong first, and where, of a ValidationError of pydantic, which takes long to import.

    Of another error, return its text.
    """
    if not hasattr(error, "errors"):
        return str(error)
    problem = error.errors()[0]
    # without the name of a class of ours, or of pydantic's
    said = re.split(r" or (?:an )?instance of ", problem["msg"].removeprefix("Value error, "))[0]
    return f"{'.'.join(map(str, problem['loc']))}: {said}"


def wrong_with(error: Exception) -> str:
    """Return what is wrong with a record of others, by the error of reading it; Python's own words name no key."""
    if isinstance(error, KeyError):
        return f"{error.args[0]!r} is missing"
    if isinstance(error, ValueError | OSError | ArithmeticError | LtmBenchError):
        return str(error)
    return "one of its values has another type than in files of this kind, or is missing"


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean 'x'?` if a known word is close to `word`, otherwise an empty string."""
    close = difflib.get_close_matches(word, list(known), n=1, cutoff=0.6)
    return f"; did you mean {close[0]!r}?" if close else ""


def unknown(said: str, word: str, known: Iterable[str], more: str = "") -> str:
    """Return the text of an error about a word that is none of the known ones, which it names, the nearest first.

    Args:
        said: What is wrong: `--sort stat: there is no such key`.
        word: The word.
        known: The known ones.
        more: What can be written besides these.
    """
    names = list(known)
    return f"{said}{nearest(word, names)} (known: {', '.join(names) or 'none'}{more})"


def check_known(said: str, word: str, known: Collection[str]) -> None:
    """Raise ConfigError, with the text of `unknown`, if a word is none of the known ones."""
    if word not in known:
        raise ConfigError(unknown(said, word, known))
