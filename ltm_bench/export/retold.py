"""Checks that a run's examples match its seed, by playing the scripts against the log.

Scripts draw everything from the seed, and read replies. So with the logged replies each script repeats the logged
messages word for word, and expects what the log says was expected. A log with an easier question or another answer
matches no script.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, cast

from ltm_bench.core.messages import Ask, Line, Reply
from ltm_bench.export.refolded import LoggedMessage, Refolded
from ltm_bench.export.scrub import REMOVED
from ltm_bench.log.events import Sent
from ltm_bench.log.manifest import Manifest
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


def retold(manifest: Manifest, log: Refolded) -> Retold:
    """Retell a run's examples."""
    examples = reference_examples(manifest)
    told, differing = 0, list[str]()
    for example in examples:
        if _reads_files(example):
            continue
        said = log.texts.messages.get(example.id, ())
        problem = _problem(example, said, ended=log.examples[example.id].ended is not None)
        # A script that hears a reply without its secret may go on otherwise, although nobody has changed the log.
        if problem is None:
            told += 1
        elif not any(REMOVED in each.replied.reply for each in said if each.replied and not each.forked):
            differing.append(problem)
    return Retold(told, differing)


def _reads_files(example: Example) -> bool:
    """Whether a script reads files named in the manifest: others must not choose which files are read here."""
    named = {**example.scenario.parameters, **example.parameters}
    return any(named.get(key) for key in ("data", "tasks"))


def _problem(example: Example, said: Sequence[LoggedMessage], *, ended: bool) -> str | None:
    """Return where a script first differs from the log; None if it does not."""
    script = example.script()
    reply: Reply | SealedReply | None = None
    for each in said:
        sent = each.sent
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
        if each.forked:
            reply = SealedReply(sent.at)
        elif each.replied is None:
            return None
        else:
            reply = replace(each.replied.said, at=sent.at)
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
