"""One fold over a run's log: events in, results out. Only the turns of open examples are held.

`fold` reads the log once; a `Listener` gets every turn, for example to write the transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple, Protocol

from ltm_bench.core.errors import LogError
from ltm_bench.core.messages import Matcher, Outcome, Reply, Turn, Verdict
from ltm_bench.datasets.matching import SetMatcher
from ltm_bench.log.environment import begun_at, environment_of
from ltm_bench.log.events import Answered, Ended, Event, Finished, Forked, Jumped, Published, Replied, Sent
from ltm_bench.log.forks import answers_in
from ltm_bench.log.journal import retrieval_trace_of, written_of
from ltm_bench.log.manifest import Manifest
from ltm_bench.log.reader import EventReader, conversations, join_digests, read_manifest
from ltm_bench.plan.scenarios import About
from ltm_bench.plugins.matchers import load
from ltm_bench.score.audits.auditing import audits
from ltm_bench.score.audits.judgements import Judgement, Override, Place, judgements, overrides, vague_trials
from ltm_bench.score.audits.raters import agreements
from ltm_bench.score.audits.verdicts import decisive, verdict_on
from ltm_bench.score.results.accounts import FIGURES, Bookkeeping
from ltm_bench.score.results.course import CourseFold
from ltm_bench.score.results.evidence import latency, timings, traces, untold, writings
from ltm_bench.score.results.examples import ExampleResult, Needle, Question
from ltm_bench.score.results.figures import bins, needle_recall, points, skills
from ltm_bench.score.results.headline import (
    count_outcomes,
    decide,
    example_score,
    gated,
    headline,
    leaks,
    mean,
    retrievals,
    scores_by_judge,
    summarise_scenario,
    worth_of_undecided,
)
from ltm_bench.score.results.hearing import Heard
from ltm_bench.score.results.ingestion import Spent, Taking, spent
from ltm_bench.score.results.operations import operations
from ltm_bench.score.results.published_runs import set_figures
from ltm_bench.score.results.remarks import confident, judges, remarks
from ltm_bench.score.results.retrieval import Retrieval, lost, ranking
from ltm_bench.score.results.run import Results
from ltm_bench.score.results.sets import set_question
from ltm_bench.score.results.written import Examined, summed
from ltm_bench.score.statistics.intervals import sum_interval

_NOT_REACHED = Question(
    turn=None,
    text="",
    expected="",
    reply=None,
    verdict=Verdict(Outcome.NOT_REACHED, None, "the run stopped before this question"),
    scorer="",
    chance=0.0,
    position=None,
    at=None,
)

Explain = Callable[[Matcher, Reply, Sequence[Turn], Verdict], tuple[tuple[int, int], ...]]


class Listener(Protocol):
    """Gets a run's turns, one after the other, while the log is read."""

    def conversation(self, example: str | None) -> None:
        """Begin a conversation: an isolated example's, or (None) the only one."""

    def turn(self, sent: Sent, replied: Replied | None, question: Question | None) -> None:
        """Take a turn; `replied` is None if the agent never answered, `question` if none was asked."""

    def forked(self, sent: Sent, replied: Replied | None, question: Question) -> None:
        """Take a forked question, at its place."""

    def jumped(self, jumped: Jumped) -> None:
        """Take a jump of the benchmark's clock."""


class Told(NamedTuple):
    """A needle of an open example."""

    turn: int
    text: str
    position: int
    at: datetime
    cut: bool


@dataclass
class _Open:
    """An example that is being read."""

    id: str
    turns: list[Turn] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)
    questions: list[Question] = field(default_factory=list)
    published: float | None = None
    taking: Taking = field(default_factory=lambda: Taking(free=False))

    def close(self, ended: Ended | None) -> ExampleResult:
        """Return its result; questions that an unfinished example did not reach stay in the denominator."""
        questions = list(self.questions)
        failed = bool(questions) and questions[-1].outcome is Outcome.AGENT_ERROR
        if ended is None and not failed:  # a question that the agent failed at already covers this
            questions.append(_NOT_REACHED)
        last = max((q.position for q in questions if q.position is not None), default=0)
        return ExampleResult(
            id=self.id,
            scenario=self.id.rpartition("/")[0],
            score=example_score(questions),
            span=ended.span if ended else 0,
            overrun=ended.overrun if ended else 0,
            needles=[
                Needle(depth=max(0, last - told.position), **told._asdict())
                for told in self.told
                if ended is None or told.position <= last  # the turns after the last question are a farewell
            ],
            questions=gated(questions),
            published=self.published,
            ingestion=self.taking.ingestion,
        )


class _Fold:
    """Sums over all conversations of a run."""

    def __init__(
        self,
        manifest: Manifest,
        *,
        judged: Mapping[Place, Judgement],
        by_hand: Mapping[Place, Override],
        verdicts: Mapping[Place, Verdict],
        explain: Explain | None,
        on: datetime | None,
    ) -> None:
        self._live_filler = manifest.filler.mode == "live"
        self._observes = manifest.agent.observes
        self._explain = explain
        self._judged, self._by_hand, self._verdicts = judged, by_hand, verdicts
        self._open: dict[str, _Open] = {}
        self._beside = 0
        """Tokens of forks of the conversation so far."""
        self._trace: Mapping[int, Retrieval] = {}
        self.taken: Mapping[int, float] = {}
        """Seconds that replies of the conversation took, by turn."""
        self.spent: Mapping[int, Spent] = {}
        """Spending on the turns of the conversation."""
        self._free = manifest.agent.free
        self.done: dict[str, ExampleResult] = {}
        self._users: dict[str, None] = {}
        self._keeps_users = bool(manifest.agent.keeps_users)
        self.examined: dict[str, Examined] = {}
        """Which of each example's facts the agent's store held."""
        self.positions: dict[int, int] = {}
        self.turns = self.tokens = self.filler_tokens = self.forks = self.fork_tokens = 0
        self.asked_tokens = self.scripted_tokens = 0
        self._isolated = manifest.suite.isolated
        self.time = timedelta()
        self.books = Bookkeeping(free=manifest.agent.free, on=on)
        self.course = CourseFold(isolated=manifest.suite.isolated)

    def conversation(
        self,
        events: Iterator[Event],
        trace: Mapping[int, Retrieval],
        answers: Mapping[int, Answered],
        listener: Listener | None,
    ) -> None:
        """Take all events of one conversation, and the replies to its forks, which come last."""
        self._trace, self._beside = trace, 0
        sent: Sent | None = None
        last: Sent | None = None
        begun: datetime | None = None
        now: datetime | None = None
        for event in events:
            if isinstance(event, Sent):
                sent = last = event
                self._speaks(event)
                if not self._isolated:
                    self.positions[event.turn] = event.position
                now = event.at
                begun = begun or now
                self.tokens += event.tokens
            elif isinstance(event, Replied) and sent is not None:
                question = self._turn(sent, event)
                if listener is not None:
                    listener.turn(sent, event, question)
                sent = None
            elif isinstance(event, Forked):
                self._speaks(event.sent)
                answered = answers.get(event.id)
                reply = None if answered is None else answered.replied
                question = self._fork(event.sent, reply)
                if listener is not None:
                    listener.forked(event.sent, reply, question)
            elif isinstance(event, Jumped):
                if last is not None:
                    self.course.jumped(last, event)
                if listener is not None:
                    listener.jumped(event)
            elif isinstance(event, Published):
                self._open[event.example].published = event.score
            elif isinstance(event, Ended):
                self.done[event.example] = self._open.pop(event.example).close(event)
            elif isinstance(event, Finished):
                now = event.at
        if sent is not None:  # the agent never answered it
            question = self._question(self._example(sent), sent, None) if sent.kind == "ask" else None
            if listener is not None:
                listener.turn(sent, None, question)
        for example in self._open.values():
            self.done[example.id] = example.close(None)
        self._open.clear()
        if begun is not None and now is not None:
            self.time += now - begun

    def _speaks(self, sent: Sent) -> None:
        if sent.user is not None:
            self._users[sent.user] = None

    @property
    def keeps_users(self) -> bool | None:
        """Whether the agent says that it keeps users apart; None if it had one user."""
        return self._keeps_users if len(self._users) > 1 else None

    @property
    def heard(self) -> Heard | None:
        """What reached the agent; None if the log does not record it."""
        if self.scripted_tokens and self._observes is None:
            return None
        observed = self.scripted_tokens if self._observes else 0
        return Heard(asked=self.asked_tokens, observed=observed, missed=self.scripted_tokens - observed)

    @property
    def filler_heard(self) -> str:
        """How filler reached the agent, in brief."""
        if not self.filler_tokens:
            return "no filler"
        if self._live_filler:
            return "asked"
        return {None: "not recorded", True: "observed", False: "not heard"}[self._observes]

    @property
    def missed(self) -> int:
        """Tokens known not to have reached the agent."""
        return 0 if self.heard is None else self.heard.missed

    def _example(self, sent: Sent) -> _Open:
        name = sent.example or ""
        return self._open.setdefault(name, _Open(name, taking=Taking(free=self._free)))

    def _turn(self, sent: Sent, replied: Replied) -> Question | None:
        self.turns += 1
        self.tokens += replied.tokens
        if sent.kind == "fill":
            self.filler_tokens += sent.tokens + replied.tokens
            self.course.filled(sent, replied)
        if replied.answered is None and (sent.kind != "fill" or self._live_filler):
            self.asked_tokens += sent.tokens + replied.tokens
            self.course.called(sent, replied.usage, self.books.add(replied.usage))
        else:
            self.scripted_tokens += sent.tokens + replied.tokens
        if sent.example is None:
            return None
        example = self._example(sent)
        example.turns.append(Turn(sent.said, replied.said, sent.kind, example.id))
        if sent.kind == "tell":
            example.taking.told(sent, self.spent.get(sent.turn), asked=replied.answered is None)
        if sent.kind == "tell" or sent.buried is not None:
            buried = ((sent.message, 0),) if sent.buried is None else sent.buried
            most = _SHOWN if sent.session is None else _OF_A_SESSION
            example.told += [
                Told(sent.turn, _elided(text, most), sent.position + (before or 0), sent.at, before is None)
                for text, before in buried
            ]
        return self._question(example, sent, replied) if sent.kind == "ask" else None

    def _fork(self, sent: Sent, replied: Replied | None) -> Question:
        """Take a forked question: neither it nor its reply is a turn."""
        if not self._isolated:
            self.positions[sent.turn] = sent.position
        example = self._example(sent)
        self.forks += 1
        if replied is None:
            return self._question(example, sent, None)
        self.course.called(sent, replied.usage, self.books.add(replied.usage))
        asked = Turn(sent.said, replied.said, "ask", example.id, forked=True)
        question = self._question(example, sent, replied, [*example.turns, asked])
        self.fork_tokens += sent.tokens + replied.tokens
        self._beside += sent.tokens + replied.tokens
        return question

    def _question(
        self, example: _Open, sent: Sent, replied: Replied | None, turns: Sequence[Turn] | None = None
    ) -> Question:
        turns = example.turns if turns is None else turns
        expect = load(sent.expect or {})
        try:
            right, chance = expect.right()[0], float(expect.chance)
            in_words = expect.in_words()
        except Exception as error:  # the log can contain anything in a matcher's fields
            raise LogError(
                f"the log's matcher {type(expect).__name__!r} of turn {sent.turn} cannot be used: "
                f"{type(error).__name__}: {error}"
            ) from error
        common: dict[str, Any] = {
            "turn": sent.turn,
            "text": _elided(sent.message),
            "expected": sent.ideal or right,
            "in_words": in_words,
            "scorer": f"{type(expect).__name__}@{expect.version}",
            "chance": chance,
            # If a message contains its own material, the question comes after it.
            "position": sent.position + (sent.tokens if sent.buried is not None else 0),
            "beside": self._beside,
            "at": sent.at,
            "can_leak": expect.can_leak,
            "shows": sent.shows,
            "needs": sent.needs,
        }
        example.taking.waited(self.spent.get(sent.turn))
        if replied is None:
            question = Question(
                **common,
                reply=None,
                verdict=Verdict(Outcome.AGENT_ERROR, None, "the agent did not reply"),
                published=set_question(expect, None, ()) if isinstance(expect, SetMatcher) else None,
            )
            example.questions.append(question)
            return question
        common |= self._used(replied) | {"seconds": self.taken.get(sent.turn)}
        reply, place = replied.said, (example.id, sent.turn)
        verdict = self._verdicts.get(place) or verdict_on(expect, reply, turns)
        plain = Question(**common, reply=replied.reply, verdict=verdict)
        question = decide(plain, self._judged.get(place), self._by_hand.get(place))
        changes: dict[str, Any] = {}
        if isinstance(expect, SetMatcher):
            changes["published"] = set_question(expect, replied.reply, question.opinions)
        if self._explain is not None and question.matched is None:
            changes["decisive"] = self._explain(expect, reply, turns, verdict)
        if sent.turn in self._trace:
            changes["retrieval"] = self._trace[sent.turn]
        question = question.model_copy(update=changes) if changes else question
        example.questions.append(question)
        return question

    def _used(self, replied: Replied) -> dict[str, Any]:
        """Return a reply's usage and cost."""
        price, usage = self.books.price(replied.usage), replied.usage
        return {
            "usage": None if usage is None else {name: getattr(usage, name) for name in FIGURES},
            "dollars": None if price is None else round(float(price), 9),
        }


_SHOWN = 4000
"""Maximum characters of a question or needle in results and pages; the log has all of it."""


_OF_A_SESSION = 400
"""Maximum characters of a message of a record's session: results hold many histories, whose texts are not needles."""


def _elided(text: str, most: int = _SHOWN) -> str:
    if len(text) <= most:
        return text
    half = most // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters, see the log …]\n{text[-half:]}"


def score_run(
    run: Path,
    manifest: Manifest | None = None,
    *,
    about: Mapping[str, About] | None = None,
    references: Mapping[str, float] | None = None,
    verdicts: Mapping[Place, Verdict] | None = None,
    explain: bool = False,
    listener: Listener | None = None,
) -> Results:
    """Score a run from its log, which is read once. Questions that were not asked yet count as `not_reached`.

    Args:
        run: The run folder.
        manifest: Its manifest, if that has been read.
        about: Summary and skills by scenario.
        references: Scores of baseline and oracle on the same examples.
        verdicts: Known verdicts of today's matchers, by example and turn; the others are computed.
        explain: Whether to find the words that decided each verdict, which takes one verdict per word.
        listener: Gets every turn.

    Raises:
        LogError: The log is damaged.
    """
    manifest = manifest or read_manifest(run)
    about = about or {}
    fold = _Fold(
        manifest,
        judged=judgements(run),
        by_hand=overrides(run),
        verdicts=verdicts or {},
        explain=decisive if explain else None,
        on=begun_at(run),
    )
    digest = _read(run, manifest, fold, listener)
    examples = [
        (fold.done.get(name) or _Open(name).close(None)).model_copy(
            update={"written": found.written if (found := fold.examined.get(name)) else None}
        )
        for name in planned(manifest)
    ]
    by_scenario = {
        entry.name: [e for e in examples if e.scenario == entry.name] for entry in manifest.suite.scenarios
    }
    scenarios = [
        summarise_scenario(
            name,
            about[name].summary if name in about else "",
            about[name].skills if name in about else (),
            of,
        )
        for name, of in by_scenario.items()
    ]
    strata = {name: [e.score for e in of if e.score is not None] for name, of in by_scenario.items()}
    complete = all(s.score is not None for s in scenarios)
    so_far = headline(strata)
    published = {name: [e.published for e in of] for name, of in by_scenario.items()}
    any_published = any(mean(scores) is not None for scores in published.values())
    return Results(
        run=run.name,
        agent=manifest.agent.name,
        suite=manifest.suite.name,
        span=manifest.span,
        seed=manifest.seed,
        bench_version=manifest.bench_version,
        mode=manifest.mode,
        complete=complete,
        score=so_far if complete else None,
        score_so_far=so_far,
        out_of=len(scenarios),
        interval=sum_interval(strata) if complete else None,
        chance=sum(s.chance for s in scenarios),
        references=dict(references or {}),
        published=headline(published) if any_published else None,
        log=digest,
        turns=fold.turns,
        tokens=fold.tokens,
        filler_tokens=fold.filler_tokens,
        forks=fold.forks,
        fork_tokens=fold.fork_tokens,
        heard=fold.heard,
        filler_heard=fold.filler_heard,
        seconds=fold.time.total_seconds(),
        overruns=sum(e.overrun > 0 for e in examples),
        undecided=sum(q.outcome is Outcome.UNDECIDED for e in examples for q in e.questions),
        undecided_worth=worth_of_undecided(examples),
        overridden=sum(q.override is not None for e in examples for q in e.questions),
        judges=judges(examples, vague_trials(run)),
        by_judge=scores_by_judge(examples),
        audits=audits(run, confident(examples)),
        raters=agreements(run),
        remarks=remarks(manifest, examples, missed=fold.missed, untold=untold(run / "timings.jsonl")),
        costs=fold.books.costs(examples),
        latency=latency(run / "timings.jsonl"),
        outcomes=count_outcomes(examples),
        lost=lost(retrievals(examples)),
        ranking=ranking(retrievals(examples)),
        writing=summed([fold.examined[e.id] for e in examples if e.id in fold.examined]),
        leaks=leaks(examples, keeps_users=fold.keeps_users),
        scenarios=scenarios,
        skills=skills(scenarios, examples),
        distances=bins(list(points(examples))),
        needle_recall=needle_recall(examples),
        examples=examples,
        sets=set_figures(run.name, examples),
        course=fold.course.course(),
        operations=operations(
            run / "timings.jsonl",
            fold.positions,
            [opinion for e in examples for q in e.questions for opinion in q.opinions],
            free=manifest.agent.free,
            on=begun_at(run),
        ),
        environment=environment_of(run),
    )


def _read(run: Path, manifest: Manifest, fold: _Fold, listener: Listener | None) -> str:
    """Read all logs of a run into a fold; return the digest of the run."""
    digests = {}
    names = {name.replace("/", "-"): name for name in planned(manifest)}
    taken, paid = timings(run / "timings.jsonl"), spent(run / "timings.jsonl", begun_at(run))
    for path in conversations(run, manifest):
        if listener is not None:
            listener.conversation(names.get(path.stem, path.stem) if manifest.suite.isolated else None)
        place = path.stem if manifest.suite.isolated else None
        fold.taken, fold.spent = taken.get(place, {}), paid.get(place, {})
        reader = EventReader(path)
        fold.conversation(iter(reader), traces(retrieval_trace_of(path)), answers_in(path), listener)
        fold.examined |= writings(written_of(path))
        digests[path] = reader.digest
    first = run / "events.jsonl"
    if first not in digests:
        reader = EventReader(first)
        for _ in reader:
            pass
        digests = {first: reader.digest, **digests}
    return join_digests(list(digests.values()))


def planned(manifest: Manifest) -> Iterator[str]:
    """Yield the ids of all examples of a run."""
    for entry in manifest.suite.scenarios:
        for index in range(entry.examples):
            yield f"{entry.name}/{index}"
