"""Checks that a run is consistent: its log, its verdicts, its results, and what its seed gives.

Nothing is re-scored: scorers change, and a verdict that today's scorer would not give does not prove a changed file.
`ltm-bench rescore` shows what they say today. Nor can this tell who wrote the files: changing a reply and everything
derived from it, including its token count, gives a consistent run again.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import NotVerified
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Outcome
from ltm_bench.export.retold import retold
from ltm_bench.export.side_files import check_side_files, reread
from ltm_bench.export.stored import (
    Logged,
    LoggedMessage,
    Place,
    VerdictLine,
    read_log,
    stored_results,
    stored_verdicts,
)
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import log_digest, read_manifest
from ltm_bench.plugins.matchers import versions
from ltm_bench.report.words import counted
from ltm_bench.score.audits.auditing import audits
from ltm_bench.score.audits.judgements import (
    blind_readings,
    judgements,
    majority,
    overrides,
    ratings,
    reply_hash,
    vague_trials,
)
from ltm_bench.score.audits.records import read_records
from ltm_bench.score.results.examples import BLIND, VERDICT, Question
from ltm_bench.score.results.headline import (
    count_deciders,
    count_outcomes,
    example_score,
    gated,
    headline,
    summarise_scenario,
)
from ltm_bench.score.results.remarks import confident, judges
from ltm_bench.score.results.run import Results

_SHOWN = 3
"""Maximum differences in an error."""

_ENDS = 1000
"""Maximum characters compared of a long question: results leave out its middle."""


class Verified(NamedTuple):
    """What was checked and agrees."""

    results: Results
    verdicts: int
    texts: int
    """Messages and replies whose tokens were recounted."""
    retold: int
    """Examples whose scripts reproduce the log; 0 if their scenarios have changed since."""
    changed_scorers: Mapping[str, str]
    """Scorers with a different version today, e.g. `NamesOnly@1` to `NamesOnly@2`."""
    pages: Sequence[str]
    """HTML in the folder, which nothing was checked of."""


def verify(run: Path) -> Verified:
    """Check a run's files against each other.

    Raises:
        NotVerified: They do not agree, and the message names the first differences; or a file says what cannot be.
        LogError: The log or the record of a judge or a reviewer is damaged.
    """
    manifest = read_manifest(run)
    results = stored_results(run)
    if results.log and results.log != (digest := log_digest(run)):
        raise NotVerified(
            f"{run.name}: the event log is not the one that was scored (SHA-256 {digest} now, {results.log} then): "
            "a message or a reply was changed, or the conversation continued; `ltm-bench rescore` scores it as it is"
        )
    logged = read_log(run, manifest)
    verdicts = stored_verdicts(run)
    check_side_files(run)
    told = retold(manifest, logged)
    differing = [
        *_against_manifest(run, manifest),
        *_against_log(results, logged, manifest),
        *_against_verdicts(results, verdicts),
        *_against_records(results, run),
        *reread(results, logged),
        *_against_vague_trials(results, run),
        *_against_audits(results, run),
        *_against_itself(results),
        *told.differing,
    ]
    if differing:
        more = f" (and {len(differing) - _SHOWN} more)" if len(differing) > _SHOWN else ""
        raise NotVerified(
            f"{run.name}: its files do not agree: {'; '.join(differing[:_SHOWN])}{more}; "
            "`ltm-bench rescore` derives them from the log again"
        )
    pages = sorted(path.name for path in run.glob("*.html"))
    return Verified(results, len(verdicts), logged.texts, told.examples, _changed_scorers(results), pages)


def questions_of(results: Results) -> Iterator[tuple[Place, Question]]:
    """Yield the questions of a run."""
    for example in results.examples:
        for question in example.questions:
            yield Place(example.id, question.turn), question


def _against_manifest(run: Path, manifest: Manifest) -> Iterator[str]:
    """Compare a bundle's manifest.json with the manifest in its log."""
    path = run / "manifest.json"
    try:
        if path.exists() and Manifest.model_validate(json_of(content_of(path))) != manifest:
            yield "manifest.json is not the manifest of the log"
    except (OSError, ValueError) as error:
        yield f"manifest.json cannot be read: {error}"


def _against_log(results: Results, logged: Logged, manifest: Manifest) -> Iterator[str]:
    """Compare the questions of results.json with those of the log."""
    planned = [f"{row.name}/{i}" for row in manifest.suite.scenarios for i in range(row.examples)]
    if (found := [example.id for example in results.examples]) != planned:
        different = next(iter(sorted({*found} ^ {*planned})), "their order")
        yield f"the examples of results.json are not those of the manifest: {different}"
    asked = {place: question for place, question in questions_of(results) if place.turn is not None}
    sent = logged.questions
    for place in dict.fromkeys((*sent, *asked)):
        if place not in asked:
            yield f"{place}: not in results.json"
        elif place not in sent:
            yield f"{place}: not in the log"
        else:
            yield from _question_differs(place, asked[place], sent[place])
    yield from _unequal("turns", results.turns, logged.turns, "in the log")
    yield from _unequal("tokens", results.tokens, logged.tokens, "in the log")


def _question_differs(place: Place, question: Question, logged: LoggedMessage) -> Iterator[str]:
    shown, said = question.text, logged.sent.message
    cut = len(said) > len(shown) and (said[:_ENDS], said[-_ENDS:]) == (shown[:_ENDS], shown[-_ENDS:])
    if shown != said and not cut:
        yield f"{place}: the question in results.json is not that of the log"
    if question.reply != (None if logged.replied is None else logged.replied.reply):
        yield f"{place}: the reply in results.json is not that of the log"


def _against_verdicts(results: Results, verdicts: Mapping[Place, VerdictLine]) -> Iterator[str]:
    """Compare every verdict of results.json with its line in verdicts.jsonl."""
    judged = dict(questions_of(results))
    for place in dict.fromkeys((*verdicts, *judged)):
        if place not in judged:
            yield f"{place}: not in results.json"
        elif place not in verdicts:
            yield f"{place}: not in verdicts.jsonl"
        else:
            question, line = judged[place], verdicts[place]
            yield from _unequal(f"{place}: scorer", question.scorer, line.scorer, "in verdicts.jsonl")
            for name in VERDICT:
                stated, found = getattr(question.verdict, name), getattr(line.verdict, name)
                yield from _unequal(f"{place}: {name}", stated, found, "in verdicts.jsonl")


def _against_records(results: Results, run: Path) -> Iterator[str]:
    """Compare verdicts by judges and by hand with the files that record them."""
    judged, by_hand, blind = judgements(run), overrides(ratings(run)), blind_readings(run)
    for place, question in questions_of(results):
        if place.turn is None:
            continue
        said = reply_hash(question.reply or "")
        override = by_hand.get((place.example, place.turn))
        if override is not None and override.reply != said:
            override = None
        if question.override != override:
            yield f"{place}: the verdict by hand in overrides.jsonl is not that of results.json"
        elif override is not None:
            yield from _decided_otherwise(place, question, override.outcome, override.score, "by hand")
        read = blind.get((place.example, place.turn))
        if question.reading != (read if read is not None and read.reply == said else None):
            yield f"{place}: what was read in blind.jsonl is not that of results.json"
        judgement = judged.get((place.example, place.turn))
        opinions = judgement.opinions if judgement and judgement.reply == said else ()
        if (question.matched is not Outcome.UNDECIDED or question.decided_by == BLIND) and not any(
            each.scores for each in opinions
        ):
            opinions = ()  # left from when the matcher was undecided; published scorers ask about every reply
        if question.opinions != opinions:
            yield f"{place}: the opinions in judgements.jsonl are not those of results.json"
        elif opinions and override is None:
            verdict = majority(opinions)
            yield from _decided_otherwise(place, question, verdict.outcome, verdict.score, "by the judges")


def _against_vague_trials(results: Results, run: Path) -> Iterator[str]:
    """Compare judges' scores for vague wrong replies with the file that records them."""
    said = {note.key: note for note in judges(results.examples, vague_trials(run))}
    for note in results.judges:
        found = said.get(note.key)
        known = found is not None and found.vague and (found.vague, found.false_accepts)
        if known and known != (note.vague, note.false_accepts):
            yield f"judge {note.name}: its false accepts in results.json are not those of vague.jsonl"


def _against_audits(results: Results, run: Path) -> Iterator[str]:
    """Compare the results of audits with the readings in `audit.jsonl`."""
    stated, found = (
        {(each.auditor, each.key): (each.total.read, each.contradictions) for each in of}
        for of in (results.audits, audits(read_records(run), confident(results.examples)))
    )
    for auditor, key in stated.keys() | found.keys():
        if stated.get((auditor, key)) != found.get((auditor, key)):
            yield f"the audit by {auditor} in results.json is not that of audit.jsonl"


def _decided_otherwise(
    place: Place, question: Question, outcome: Outcome, score: float | None, by: str
) -> Iterator[str]:
    yield from _unequal(f"{place}: outcome", question.outcome, outcome, by)
    yield from _unequal(f"{place}: score", question.score, score, by)


def _against_itself(results: Results) -> Iterator[str]:
    """Compute every score of results.json from its verdicts again."""
    for example in results.examples:
        score = example_score(example.questions)
        yield from _unequal(f"{example.id}: score", example.score, score, "by its questions")
        for question, again in zip(example.questions, gated(example.questions), strict=True):
            where = f"{example.id}, turn {question.turn}: counts"
            yield from _unequal(where, question.counts, again.counts, "by what the example showed")
    names = [scenario.name for scenario in results.scenarios]
    if stray := next((e.id for e in results.examples if e.scenario not in names), None):
        yield f"{stray}: its scenario is not in results.json"
    examples = [replace(each, score=example_score(each.questions)) for each in results.examples]
    scenarios = [
        summarise_scenario(s.name, s.summary, s.skills, [e for e in examples if e.scenario == s.name])
        for s in results.scenarios
    ]
    for scenario, fresh in zip(results.scenarios, scenarios, strict=True):
        for name in ("score", "score_so_far", "n", "outcomes"):
            stated, found = getattr(scenario, name), getattr(fresh, name)
            yield from _unequal(f"{scenario.name}: {name}", stated, found, "by its examples")
    questions = [question for _, question in questions_of(results)]
    total = headline({name: [e.score for e in examples if e.scenario == name] for name in names})
    complete = all(scenario.score is not None for scenario in results.scenarios)
    expected: dict[str, Any] = {
        "complete": complete,
        "score": total if complete else None,
        "score_so_far": total,
        "out_of": len(results.scenarios),
        "outcomes": count_outcomes(results.examples),
        "decided_by": count_deciders(results.examples),
        "undecided": sum(question.outcome is Outcome.UNDECIDED for question in questions),
        "overridden": sum(question.override is not None for question in questions),
    }
    for name, value in expected.items():
        yield from _unequal(name, getattr(results, name), value, "by its examples")


def _unequal(what: str, stated: Any, found: Any, where: str) -> Iterator[str]:
    """Yield a sentence if two values differ; numbers may differ by rounding."""
    if isinstance(stated, float) and isinstance(found, float) and abs(stated - found) < 1e-9:
        return
    if stated != found:
        yield f"{what}: {_spelt(stated)} in results.json, {_spelt(found)} {where}"


def _spelt(value: Any) -> str:
    if isinstance(value, dict):
        return counted(value)
    if isinstance(value, tuple):
        return " ".join(map(str, value)) or "none"
    return f"{value!r:.80}" if isinstance(value, str) and not isinstance(value, Outcome) else str(value)


def _changed_scorers(results: Results) -> Mapping[str, str]:
    today = {name: f"{name}@{version}" for name, version in versions().items()}
    used = dict.fromkeys(question.scorer for _, question in questions_of(results))
    return {
        scorer: today[name]
        for scorer in used
        if (name := scorer.partition("@")[0]) in today and today[name] != scorer
    }
