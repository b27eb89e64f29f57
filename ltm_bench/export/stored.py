"""Reads a run's files: its log, `verdicts.jsonl` and `results.json`, each checked against its schema."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from pydantic import BaseModel, ValidationError, field_validator, model_validator

from ltm_bench.core.errors import NotVerified, first_problem
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Verdict
from ltm_bench.core.tokens import counter
from ltm_bench.export.scrub import REMOVED
from ltm_bench.log.events import Ended, Forked, Replied, Sent
from ltm_bench.log.forks import answers_in
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import conversations, read_events
from ltm_bench.score.results.examples import nested
from ltm_bench.score.results.run import SCHEMA, Results


class VerdictLine(BaseModel, frozen=True, extra="ignore"):
    """A line of verdicts.jsonl, as far as results.json says the same."""

    example: str
    turn: int | None
    scorer: str
    verdict: Verdict

    _nested = model_validator(mode="before")(nested)

    @field_validator("verdict")
    @classmethod
    def _within(cls, verdict: Verdict) -> Verdict:
        if verdict.score is not None and not 0 <= verdict.score <= 1:
            raise ValueError(f"a score of {verdict.score}, which is not from 0 to 1")
        return verdict


class Place(NamedTuple):
    """Where a question was asked."""

    example: str
    turn: int | None
    """None if it was not reached."""

    def __str__(self) -> str:
        return self.example if self.turn is None else f"{self.example} turn {self.turn}"


@dataclass
class LoggedMessage:
    """A message of an example in the log, and its reply."""

    sent: Sent
    replied: Replied | None
    """None if the agent did not answer."""
    forked: bool


@dataclass
class Logged:
    """What a log says of its examples, and the number of texts whose token counts were verified."""

    messages: dict[str, list[LoggedMessage]] = field(default_factory=lambda: defaultdict(list))
    """By example."""
    ended: set[str] = field(default_factory=set)
    """Finished examples."""
    texts: int = 0
    turns: int = 0
    tokens: int = 0

    @property
    def questions(self) -> dict[Place, LoggedMessage]:
        """The questions, forked or not."""
        asked = (each for of in self.messages.values() for each in of if each.sent.kind == "ask")
        return {Place(each.sent.example or "", each.sent.turn): each for each in asked}


def stored_results(run: Path) -> Results:
    """Read results.json. Raises NotVerified if it is missing, damaged or of another schema."""
    try:
        content = json_of(content_of(run / "results.json"))
        stated = content.get("schema_version") if isinstance(content, dict) else None
        if isinstance(stated, int) and stated != SCHEMA:
            raise NotVerified(
                f"{run.name}: results.json has schema version {stated}, this version reads {SCHEMA}; "
                "write it with `ltm-bench rescore`"
            )
        results = Results.model_validate(content)
    except FileNotFoundError as error:
        raise NotVerified(f"{run.name}: has no results.json; write it with `ltm-bench rescore`") from error
    except ValidationError as error:
        raise NotVerified(f"{run.name}: results.json: {first_problem(error)}") from error
    except (OSError, ValueError) as error:
        raise NotVerified(f"{run.name}: results.json cannot be read: {error}") from error
    return results


def stored_verdicts(run: Path) -> Mapping[Place, VerdictLine]:
    """Read verdicts.jsonl. Raises NotVerified if it is missing, damaged, or judges a question twice."""
    found: dict[Place, VerdictLine] = {}
    try:
        for number, line in enumerate(content_of(run / "verdicts.jsonl").splitlines(), start=1):
            stated = VerdictLine.model_validate(json_of(line))
            place = Place(stated.example, stated.turn)
            if place in found:
                raise NotVerified(f"{run.name}: verdicts.jsonl:{number}: a second verdict on {place}")
            found[place] = stated
    except ValidationError as error:
        raise NotVerified(f"{run.name}: verdicts.jsonl:{number}: {first_problem(error)}") from error
    except (OSError, ValueError) as error:
        raise NotVerified(
            f"{run.name}: verdicts.jsonl cannot be read: {error}; write it with `ltm-bench rescore`"
        ) from error
    return found


def read_log(run: Path, manifest: Manifest) -> Logged:
    """Read the log once: its examples, recounting the tokens of every text. Raises NotVerified."""
    count = counter(manifest.tokenizer).count
    logged = Logged()
    for path in conversations(run, manifest):
        last: LoggedMessage | None = None
        answers = answers_in(path)
        for event in read_events(path):
            if isinstance(event, Sent):
                text, last = event.message, LoggedMessage(event, None, forked=False)
                if event.example is not None or event.kind == "ask":
                    logged.messages[event.example or ""].append(last)
            elif isinstance(event, Replied):
                text = event.reply
                logged.turns += 1
                if last is not None:
                    last.replied = event
            elif isinstance(event, Forked):
                answered = answers.get(event.id)
                reply = None if answered is None else answered.replied
                logged.messages[event.example].append(LoggedMessage(event.sent, reply, forked=True))
                continue
            else:
                if isinstance(event, Ended):
                    logged.ended.add(event.example)
                continue
            logged.tokens += event.tokens
            if REMOVED in text:
                continue
            logged.texts += 1
            if (tokens := count(text)) != event.tokens:
                raise NotVerified(
                    f"{path.name}: the text of turn {event.turn} ({event.event}) has {tokens} tokens, "
                    f"the log says {event.tokens}: it was changed"
                )
    return logged
