"""Checks that a run's examples match its seed, by playing the scripts against the log.

Scripts draw everything from the seed, and read replies. So with the logged replies each script repeats the logged
messages word for word, and expects what the log says was expected. A log with an easier question or another answer
matches no script.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, cast

from ltm_bench.core.messages import Ask, Line, Reply
from ltm_bench.export.scrub import REMOVED
from ltm_bench.log.events import Ended, Forked, Replied, Sent
from ltm_bench.log.manifest import IMPORTED, Manifest
from ltm_bench.log.reader import conversations, read_events
from ltm_bench.matchers.forms import dump
from ltm_bench.plan.planning import reference_examples
from ltm_bench.runner.recording import json_form
from ltm_bench.script.scenario import Example
from ltm_bench.script.sealed import SealedReply


class Retold(NamedTuple):
    """The result of retelling a run's examples."""

    examples: int
    """Examples that match; 0 if their scenarios have changed, are unknown here, or read a user's files."""
    differing: Sequence[str]
    """A sentence for each example that differs."""


class _Said(NamedTuple):
    sent: Sent
    reply: Reply | None
    """None if the agent did not answer."""


class _Log(NamedTuple):
    said: Mapping[str, Sequence[_Said]]
    """Each example's messages and replies."""
    ended: frozenset[str]
    """Finished examples."""


def retold(run: Path, manifest: Manifest) -> Retold:
    """Retell a run's examples. Raises LogError for a damaged log."""
    examples = [] if manifest.agent.adapter == IMPORTED else reference_examples(manifest)
    if not examples:
        return Retold(0, ())
    log = _logged(run, manifest)
    known = {example.id for example in examples}
    differing = [
        f"{stray}: it is in the log but not in the manifest" for stray in log.said if stray not in known
    ]
    told = 0
    for example in examples:
        if _reads_files(example):
            continue
        said = log.said.get(example.id, ())
        problem = _problem(example, said, ended=example.id in log.ended)
        if problem is None:
            told += 1
        elif not any(
            REMOVED in _heard(each) for each in said
        ):  # else a secret was removed from what it heard
            differing.append(problem)
    return Retold(told, differing)


def _reads_files(example: Example) -> bool:
    """Whether a script reads files named in the manifest: others must not choose which files are read here."""
    named = {**example.scenario.parameters, **example.parameters}
    return any(named.get(key) for key in ("data", "tasks"))


def _heard(said: _Said) -> str:
    return "" if said.reply is None or isinstance(said.reply, SealedReply) else said.reply.text


def _logged(run: Path, manifest: Manifest) -> _Log:
    found: dict[str, list[_Said]] = defaultdict(list)
    ended: set[str] = set()
    for path in conversations(run, manifest):
        waiting: Sent | None = None
        for event in read_events(path):
            if isinstance(event, Sent):
                waiting = event if event.example is not None else None
                if waiting is not None:
                    found[str(event.example)].append(_Said(event, None))
            elif isinstance(event, Replied) and waiting is not None:
                reply = Reply(event.reply, event.usage, event.finish, waiting.at)
                found[str(waiting.example)][-1] = _Said(waiting, reply)
            elif isinstance(event, Forked):
                found[event.example].append(_Said(event.sent, SealedReply(event.at)))
            elif isinstance(event, Ended):
                ended.add(event.example)
    return _Log(found, frozenset(ended))


def _problem(example: Example, said: Sequence[_Said], *, ended: bool) -> str | None:
    """Return where a script first differs from the log; None if it does not."""
    script, reply = example.script(), None
    for sent, heard in said:
        where = f"{example.id} turn {sent.turn}"
        try:
            line = script.send(cast(Reply, reply))  # a fresh generator takes None
        except StopIteration:
            return f"{where}: its script never sends the logged message"
        except Exception as error:  # a script can raise anything on untrusted replies
            return f"{where}: its script fails with the logged replies: {error}"
        text = line.text if isinstance(line.text, str) else line.text(sent.at)
        if text != sent.message:
            return f"{where}: the log has {sent.message!r:.80}, seed {example.seed} gives {text!r:.80}"
        if _expects_otherwise(line, sent):
            return f"{where}: the log expects a different answer from the one that seed {example.seed} gives"
        if heard is None:
            return None
        reply = heard
    if ended and said:
        try:
            script.send(cast(Reply, reply))
        except StopIteration:
            return None
        except Exception as error:  # as above
            return f"{example.id}: its script fails with the logged replies: {error}"
        return f"{example.id}: its script sends more than is in the log"
    return None


def _expects_otherwise(line: Line, sent: Sent) -> bool:
    """Whether the log's matcher is not the script's; one of another version cannot be compared."""
    if not isinstance(line, Ask) or sent.expect is None:
        return isinstance(line, Ask) is not (sent.expect is not None)
    mine = json_form(dump(line.expect))
    alike = all(mine.get(key) == sent.expect.get(key) for key in ("matcher", "version"))
    return alike and mine != sent.expect
