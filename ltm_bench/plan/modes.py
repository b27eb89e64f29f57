"""Modes: who acknowledges needles, and whether questions are part of the conversation. Both are part of a run."""

from collections.abc import Iterable
from typing import Literal, NamedTuple, cast, get_args

from ltm_bench.core.agent import Agent
from ltm_bench.core.errors import CannotCombine, ConfigError, nearest
from ltm_bench.core.messages import Ask, Line
from ltm_bench.log.manifest import ALONE, Acknowledge, Questions

Filler = Literal["scripted", "live"]


class Mode(NamedTuple):
    """Which parts of a conversation the agent answers, and where."""

    questions: Questions
    acknowledge: Acknowledge


def mode_of(questions: str, acknowledge: str, *, quick: bool, filler: str) -> Mode:
    """Return the requested mode. `quick` means forked questions, scripted acknowledgements and scripted filler.

    Raises ConfigError for an unknown word, and for `quick` with live filler.
    """
    if quick:
        if filler != "scripted":
            raise ConfigError("--quick: this scripts filler; leave out --filler live, or --quick")
        return Mode("forked", "scripted")
    return Mode(
        cast(Questions, _one_of("--questions", questions, get_args(Questions))),
        cast(Acknowledge, _one_of("--acknowledge", acknowledge, get_args(Acknowledge))),
    )


def _one_of(option: str, given: str, known: tuple[str, ...]) -> str:
    if given not in known:
        raise ConfigError(f"{option} {given}: must be {' or '.join(known)}{nearest(given, known)}")
    return given


def check_mode(mode: Mode, name: str, agent: Agent, *, public: bool) -> None:
    """Raise CannotCombine, before anything is asked, if the agent or the suite does not support this mode.

    `public` says that the suite's examples are the histories of a public set, each in a conversation of its own.
    """
    if mode.questions == ALONE and not public:
        raise CannotCombine(
            "--questions alone: this suite's examples are no histories of a public set, which could be told again; "
            "run it with --questions in-line or forked"
        )
    if mode.acknowledge == "scripted":
        if not agent.observes:
            raise CannotCombine(
                f"--acknowledge scripted: {name} does not observe, so no needle would reach it; run it with "
                "--acknowledge live"
            )
        if agent.writes_in_reply:
            raise CannotCombine(
                f"--acknowledge scripted: {name} decides what to remember while it replies, so it would not "
                "remember observed needles as it does otherwise; run it with --acknowledge live"
            )
    if mode.questions == "forked" and agent.forks == "no":
        raise CannotCombine(
            f"--questions forked: {name} cannot answer beside the conversation; run it with --questions in-line"
        )


def lacks(lines: Iterable[Line], name: str, agent: Agent) -> str:
    """Return what an agent lacks for the lines of a script; empty if it can play them."""
    asked = [line for line in lines if isinstance(line, Ask)]
    if any(line.restart for line in asked) and not agent.can_reopen:
        return f"{name} keeps nothing by itself (Agent.can_reopen)"
    if not all(line.settle for line in asked) and not agent.answers_early:
        return f"{name} does not say whether its replies wait for its indexer (Agent.answers_early)"
    return ""


def check_lines(
    scenario: str, lines: Iterable[Line], mode: Mode, name: str, agent: Agent, *, pace: bool
) -> None:
    """Check that a script wants nothing that this run or its agent does not do, before anything is asked.

    Args:
        scenario: The scenario's name.
        lines: Those of one of its scripts.
        mode: The run's mode.
        name: The agent's name.
        agent: The agent.
        pace: Whether the run may wait in real time.

    Raises:
        CannotCombine: It wants something else.
    """
    asked = [line for line in lines if isinstance(line, Ask)]
    forked, lacking = mode.questions == "forked", lacks(asked, name, agent)
    if any(line.restart for line in asked) and (forked or not agent.can_reopen):
        why = "a question beside the conversation cannot wait for that" if forked else lacking
        raise CannotCombine(
            f"--scenario {scenario}: its agent is closed and opened again, but {why}; play it without that: "
            f"-P {scenario}.restart=false"
        )
    if all(line.settle for line in asked):
        return
    if forked:
        raise CannotCombine(
            f"--quick, --questions forked: {scenario} waits in real time, and a question beside the conversation does "
            "not; run it with --questions in-line"
        )
    if lacking:
        raise CannotCombine(f"--pace: {lacking}, so it has no figure of delay; leave {scenario} out")
    if not pace:
        raise CannotCombine(
            f"--scenario {scenario}: it waits in real time before it asks; add --pace to allow that"
        )
