"""Checks that a run is consistent: its log, its verdicts, its results, and what its seed gives.

Nothing is re-scored: scorers change, and a verdict that today's scorer would not give does not prove a changed file.
`ltm-bench rescore` shows what they say today. Nor can this tell who wrote the files: changing a reply and everything
derived from it, including its token count, gives a consistent run again.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from ltm_bench.core.errors import NotVerified, first_problem
from ltm_bench.core.limits import content_of, json_of
from ltm_bench.core.messages import Outcome
from ltm_bench.export.refolded import Refolded, retold
from ltm_bench.export.side_files import check_side_files, reread
from ltm_bench.export.stored import Place, VerdictLine, stored_results, stored_verdicts
from ltm_bench.log.controls import KINDS, asked_again, old_ladder, read_again
from ltm_bench.log.differences import differences
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import log_digest, read_manifest
from ltm_bench.plugins.matchers import versions
from ltm_bench.score.audits.auditing import audits
from ltm_bench.score.audits.judgements import reply_hash
from ltm_bench.score.results.examples import VERDICT, Question
from ltm_bench.score.results.fold import planned
from ltm_bench.score.results.headline import example_score, gated, summarise_scenario
from ltm_bench.score.results.remarks import confident, judges
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.scoring import derived, logged
from ltm_bench.score.statistics.intervals import Interval

_SHOWN = 3
"""Maximum differences in an error."""

_RECORDED = {
    "text": "the question in results.json is not that of the log",
    "reply": "the reply in results.json is not that of the log",
    "override": "the verdict by hand in overrides.jsonl is not that of results.json",
    "reading": "what was read in blind.jsonl is not that of results.json",
    "opinions": "the opinions in judgements.jsonl are not those of results.json",
    "needles": "the needles in results.json are not those of the log",
}
"""How to say that one of these differs; of all else, both values are shown."""

# All these have meant the same in each release whose results this version reads.
_ASKED = ("text", "reply", "override", "opinions", "position", "at", "shows", "needs")
_OF_QUESTION = (*_ASKED, "reading", "outcome", "score", "counts")
_OF_EXAMPLE = ("needles", "span", "overrun", "score")
_OF_SCENARIO = ("score", "score_so_far", "n", "outcomes", "chance")
_OF_RUN = (
    *("complete", "score", "score_so_far", "out_of", "interval", "chance", "overruns"),
    *("outcomes", "decided_by", "by_judge", "undecided", "undecided_worth", "overridden"),
)


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
    verdicts = stored_verdicts(run)
    check_side_files(run)
    if not (differing := list(_against_manifest(run, manifest, results))):
        fold = Refolded(run, manifest, stated := dict(questions_of(results)))
        again, told = _again(results, fold), retold(manifest, fold)
        differing = [
            *_against_log(results, again, fold),
            *_against_verdicts(stated, verdicts),
            *reread(fold.asked, stated),
            *_against_records(results, again, fold),
            *_against_sums(results, again),
            *told.differing,
            *_against_asked_again(run, manifest, stated),
        ]
    if differing:
        more = f" (and {len(differing) - _SHOWN} more)" if len(differing) > _SHOWN else ""
        raise NotVerified(
            f"{run.name}: its files do not agree: {'; '.join(differing[:_SHOWN])}{more}; "
            "`ltm-bench rescore` derives them from the log again"
        )
    pages = sorted(path.name for path in run.glob("*.html"))
    return Verified(
        results, len(verdicts), fold.texts.counted, told.examples, _changed_scorers(results), pages
    )


def questions_of(results: Results) -> Iterator[tuple[Place, Question]]:
    """Yield the questions of a run."""
    for example in results.examples:
        for question in example.questions:
            yield Place(example.id, question.turn), question


def _against_manifest(run: Path, manifest: Manifest, results: Results) -> Iterator[str]:
    """Compare results.json, and a bundle's manifest.json, with the manifest in the log."""
    path = run / "manifest.json"
    try:
        if path.exists() and Manifest.model_validate(json_of(content_of(path))) != manifest:
            yield "manifest.json is not the manifest of the log"
    except (OSError, ValueError) as error:
        yield f"manifest.json cannot be read: {first_problem(error)}"
    of = manifest.suite.scenarios
    if manifest.asks is not None:  # which examples it has, only its logs say
        return
    for what, found, expected in (
        ("examples", [example.id for example in results.examples], list(planned(manifest))),
        ("scenarios", [scenario.name for scenario in results.scenarios], [each.name for each in of]),
    ):
        if found != expected:
            different = next(iter(sorted({*found} ^ {*expected})), "their order")
            yield f"the {what} of results.json are not those of the manifest: {different}"


def _again(results: Results, fold: Refolded) -> Results:
    """Return results as their log, and those who decided since, make them of the stated verdicts."""
    examples = []
    for stated in results.examples:
        found, known = fold.examples[stated.id].result, {each.turn: each for each in stated.questions}
        questions = []
        for each in found.questions:
            question, reading = known.get(each.turn, each), fold.files.blind.get((stated.id, each.turn or 0))
            if reading is not None and reading.reply != reply_hash(each.reply or ""):
                reading = None
            asked = {name: getattr(each, name) for name in _ASKED}
            verdict = replace(question.verdict, outcome=each.outcome, score=each.score)
            questions.append(replace(question, **asked, reading=reading, verdict=verdict, counts=1.0))
        score, questions = example_score(questions), gated(questions)
        placed = {name: getattr(found, name) for name in ("needles", "span", "overrun")}
        examples.append(replace(stated, questions=questions, score=score, **placed))
    scenarios = [
        summarise_scenario(s.name, s.summary, s.skills, [e for e in examples if e.scenario == s.name])
        for s in results.scenarios
    ]
    return results.model_copy(update=logged(fold) | derived(scenarios, examples))


def _against_log(results: Results, again: Results, fold: Refolded) -> Iterator[str]:
    """Compare the questions of results.json with what follows from the log and the records."""
    for stray in sorted(fold.texts.messages.keys() - fold.examples.keys()):
        yield f"{stray}: it is in the log but not in the manifest"
    said, asked = (Counter(place for place, _ in questions_of(each)) for each in (results, again))
    yield from (f"{place}: not in results.json" for place in asked - said)
    yield from (f"{place}: not in the log, or not so often" for place in said - asked)
    known = dict(questions_of(again))
    for place, question in questions_of(results):
        yield from _unlike(f"{place}: ", question, known.get(place, question), _OF_QUESTION, "by the log")
    names = [name for name in logged(fold) if name != "log"]  # which is known to be the one that was scored
    yield from _unlike("", results, again, names, "in the log")


def _against_verdicts(
    judged: Mapping[Place, Question], verdicts: Mapping[Place, VerdictLine]
) -> Iterator[str]:
    """Compare every verdict of results.json with its line in verdicts.jsonl."""
    for place in dict.fromkeys((*verdicts, *judged)):
        if place not in judged:
            yield f"{place}: not in results.json"
        elif place not in verdicts:
            yield f"{place}: not in verdicts.jsonl"
        else:
            question, line = judged[place], verdicts[place]
            yield from _unlike(f"{place}: ", question, line, ("scorer",), "in verdicts.jsonl")
            yield from _unlike(f"{place}: ", question.verdict, line.verdict, VERDICT, "in verdicts.jsonl")


def _against_records(results: Results, again: Results, fold: Refolded) -> Iterator[str]:
    """Compare what is said of judges and auditors with the files that record what they said."""
    notes = {note.key: note for note in judges(again.examples, fold.vague) if note.vague}
    for note in results.judges:
        found = notes.get(note.key, note)
        if (found.vague, found.false_accepts) != (note.vague, note.false_accepts):
            yield f"judge {note.name}: its false accepts in results.json are not those of vague.jsonl"
    stated, read = (
        {(each.auditor, each.key): (each.total.read, each.contradictions) for each in of}
        for of in (results.audits, audits(fold.files.audits, confident(results.examples)))
    )
    for auditor, key in stated.keys() | read.keys():
        if stated.get((auditor, key)) != read.get((auditor, key)):
            yield f"the audit by {auditor} in results.json is not that of audit.jsonl"


def _against_asked_again(run: Path, manifest: Manifest, stated: Mapping[Place, Question]) -> Iterator[str]:
    """Check the folders of controls and rungs, and compare their replies with those of results.json."""
    folders = [each for each in asked_again(run) if each != old_ladder(run)]
    names = {f"{each.example}{turn}".replace("/", "-") for each in stated for turn in ("", f"-{each.turn}")}
    strays = {*run.glob("controls/[!.]*"), *run.glob("rungs/[!.]*")} - {*asked_again(run)}
    talks = {path for each in folders for path in each.glob("isolated/*.jsonl") if path.stem not in names}
    for path in sorted(strays | talks):
        yield f"{path.relative_to(run)}: no question of the run was asked again here"
    for folder in folders:
        try:
            check_side_files(folder)
            if not (folder / "events.jsonl").exists():
                continue  # releases up to 0.4.0 wrote none, nor does what is to go
            own = read_manifest(folder)
            if found := differences(own.identity(), manifest.again(folder.name).identity()):
                yield f"{folder.relative_to(run)}: it asks another run's questions ({found[0]})"
            elif (folder / "results.json").exists():
                verify(folder)
            else:
                Refolded(folder, own, {})
        except NotVerified as error:
            raise NotVerified(f"{run.name}: {folder.relative_to(run)}: {error}") from error
    for kind, each in read_again(run).items():
        said = {Place(*at): turn.reply.text for at, turn in each.turns.items() if turn.kind == "ask"}
        for place in dict.fromkeys((*stated, *said)):
            again = getattr(stated.get(place), "controls" if kind in KINDS else "ladder", None)
            answer = getattr(again, kind, None)
            if said.get(place) != (None if answer is None else answer.reply):
                yield f"{place}: its reply when it was asked again ({kind}) in results.json is not that of the log"


def _against_sums(results: Results, again: Results) -> Iterator[str]:
    """Compare every score of results.json."""
    for stated, example in zip(results.examples, again.examples, strict=True):
        yield from _unlike(f"{stated.id}: ", stated, example, _OF_EXAMPLE, "by its questions")
    for scenario, found in zip(results.scenarios, again.scenarios, strict=True):
        yield from _unlike(f"{scenario.name}: ", scenario, found, _OF_SCENARIO, "by its examples")
    yield from _unlike("", results, again, _OF_RUN, "by its examples")


def _unlike(what: str, stated: object, found: object, names: Iterable[str], where: str) -> Iterator[str]:
    """Yield a sentence for each value that differs."""
    for name in names:
        one, other = getattr(stated, name), getattr(found, name)
        if not _same(one, other):
            shown = f"{name}: {_spelt(one)} in results.json, {_spelt(other)} {where}"
            yield f"{what}{_RECORDED.get(name, shown)}"


def _same(one: object, other: object) -> bool:
    """Whether two values are equal but for rounding, which another machine may do otherwise."""
    if isinstance(one, Interval) and isinstance(other, Interval):
        return _same(one.low, other.low) and _same(one.high, other.high)
    return one == other or (isinstance(one, float) and isinstance(other, float) and abs(one - other) < 1e-9)


def _spelt(value: Any) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{number} {name}" for name, number in value.items()) or "none"
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
