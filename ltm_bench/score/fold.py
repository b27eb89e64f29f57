"""Derives verdicts and results from a run's event log, turn by turn: only the turns of open examples are held."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from decimal import Decimal
from pathlib import Path
from statistics import median
from typing import Any

from ltm_bench.core.errors import LogError
from ltm_bench.core.messages import Outcome, Turn, Usage
from ltm_bench.core.pricing import dollars, price_list
from ltm_bench.log.log import (
    Event,
    Manifest,
    begun_at,
    conversations,
    log_digest,
    message_of,
    read_events,
    read_manifest,
    recalls_of,
    reply_of,
    side_records,
)
from ltm_bench.plan.planning import About
from ltm_bench.plugins.matchers import load
from ltm_bench.score.judgements import Judgement, Override, Place, judgements, overrides
from ltm_bench.score.results import (
    Account,
    Costs,
    ExampleResult,
    JudgeNote,
    Latency,
    Needle,
    Question,
    Results,
    Retrieval,
    add_usage,
    count_outcomes,
    decide,
    decisive,
    example_score,
    judge,
    scores_by_judge,
    summarise_scenario,
)
from ltm_bench.score.statistics import sum_interval

_NOT_REACHED = Question(
    turn=None,
    text="",
    expected="",
    reply=None,
    outcome=Outcome.NOT_REACHED,
    score=None,
    reason="the run stopped before this question",
    scorer="",
    chance=0.0,
    position=None,
    at=None,
)


class _Open:
    """An example that is being read."""

    def __init__(self, name: str) -> None:
        self.id = name
        self.turns: list[Turn] = []
        self.needles: list[Needle] = []
        self.questions: list[Question] = []
        self.span = 0
        self.overrun = 0
        self.published: float | None = None

    def close(self, *, ended: bool) -> ExampleResult:
        """Return its result; what an unfinished example would still have asked stays in the denominator."""
        failed = bool(self.questions) and self.questions[-1].outcome is Outcome.AGENT_ERROR
        if not ended and not failed:  # a question that the agent failed at says as much already
            self.questions.append(_NOT_REACHED)
        last = max((q.position for q in self.questions if q.position is not None), default=0)
        if ended:  # what is told after the last question is nothing to remember: it takes leave
            self.needles = [needle for needle in self.needles if needle.position <= last]
        for needle in self.needles:
            needle.depth = max(0, last - needle.position)
        return ExampleResult(
            id=self.id,
            scenario=self.id.rpartition("/")[0],
            score=example_score(self.questions),
            span=self.span,
            overrun=self.overrun,
            needles=self.needles,
            questions=self.questions,
            published=self.published,
        )


class _Reading:
    """Sums over all conversations of a run."""

    def __init__(
        self,
        free: bool,
        judged: Mapping[Place, Judgement],
        by_hand: Mapping[Place, Override],
        *,
        explain: bool,
        on: datetime | None,
    ) -> None:
        self.free = free
        self._on = on
        self._explain = explain
        self._judged = judged
        self._by_hand = by_hand
        self.open: dict[str, _Open] = {}
        self.done: dict[str, ExampleResult] = {}
        self.turns = self.tokens = self.filler_tokens = 0
        self.time = timedelta()
        self.costs = Costs(price_list=price_list(on))
        self.accounts: dict[tuple[str, str | None], Account] = {}
        self._dollars: Decimal | None = Decimal()

    def conversation(self, path: Path, live_filler: bool) -> None:
        self._recalls = _recalls(recalls_of(path))
        sent: Event | None = None
        begun: datetime | None = None
        now = begun
        for event in read_events(path):
            kind = event["event"]
            if kind == "sent":
                sent = event
                now = datetime.fromisoformat(event["at"])
                begun = begun or now
                self.tokens += event["tokens"]
            elif kind == "replied" and sent is not None:
                self._turn(sent, event, live_filler)
                sent = None
            elif kind == "published":
                self.open[event["example"]].published = event["score"]
            elif kind == "ended":
                example = self.open.pop(event["example"])
                example.span, example.overrun = event["span"], event["overrun"]
                self.done[example.id] = example.close(ended=True)
            elif kind == "finished":
                now = datetime.fromisoformat(event["at"])
        if sent is not None and sent["kind"] == "ask":  # the agent never answered it
            self._question(self._example(sent), sent, None)
        for example in list(self.open.values()):
            self.done[example.id] = example.close(ended=False)
        self.open.clear()
        if begun is not None and now is not None:
            self.time += now - begun

    def _example(self, sent: Event) -> _Open:
        return self.open.setdefault(sent["example"], _Open(sent["example"]))

    def _turn(self, sent: Event, replied: Event, live_filler: bool) -> None:
        self.turns += 1
        self.tokens += replied["tokens"]
        message, reply = message_of(sent), reply_of(replied)
        if sent["kind"] == "fill":
            self.filler_tokens += sent["tokens"] + replied["tokens"]
        if sent["kind"] != "fill" or live_filler:
            self._cost(reply.usage)
        if "example" not in sent:
            return
        example = self._example(sent)
        example.turns.append(Turn(message, reply, sent["kind"], example.id))
        if sent["kind"] == "tell" or "buried" in sent:
            for text, before in sent.get("buried", [[message.text, 0]]):
                example.needles.append(
                    Needle(
                        turn=message.turn,
                        text=text,
                        position=sent["position"] + (before or 0),
                        depth=0,
                        at=message.at,
                        cut=before is None,
                    )
                )
        if sent["kind"] == "ask":
            self._question(example, sent, replied)

    def _question(self, example: _Open, sent: Event, replied: Event | None) -> None:
        expect = load(sent["expect"])
        try:
            right, chance = expect.right()[0], float(expect.chance)
        except Exception as error:  # a matcher takes whatever the log says for its fields
            name = type(expect).__name__
            raise LogError(
                f"the log's matcher {name!r} of turn {sent['turn']} cannot be used: {type(error).__name__}: {error}"
            ) from error
        common: dict[str, Any] = {
            "turn": sent["turn"],
            "text": _elided(sent["message"]),
            "expected": sent.get("ideal") or right,
            "scorer": f"{type(expect).__name__}@{expect.version}",
            "chance": chance,
            # Where a message brings its own material, the question comes after that.
            "position": sent["position"] + (sent["tokens"] if "buried" in sent else 0),
            "at": sent["at"],
        }
        if replied is None:
            question = Question(
                **common,
                reply=None,
                outcome=Outcome.AGENT_ERROR,
                score=None,
                reason="the agent did not reply",
            )
        else:
            reply = reply_of(replied)
            verdict = judge(expect, reply, example.turns)
            question = Question(
                **common,
                reply=replied["reply"],
                outcome=verdict.outcome,
                score=verdict.score,
                reason=verdict.reason,
                parts=verdict.parts,
            )
            place = (example.id, sent["turn"])
            question = decide(question, self._judged.get(place), self._by_hand.get(place))
            if self._explain and question.matched is None:
                question.decisive = decisive(expect, reply, example.turns, verdict)
            if question.score is not None and question.score < 1:
                question = question.model_copy(update={"retrieval": self._recalls.get(sent["turn"])})
        example.questions.append(question)

    def _cost(self, usage: Usage | None) -> None:
        self.costs.calls += 1
        price = None if usage is None else dollars(usage, self._on)
        if usage is not None:
            add_usage(self.costs.usage, usage)
        own = usage if usage is None else replace(usage, besides=())
        self._account("agent", own, usage.model if usage else None)
        for each in usage.besides if usage else ():
            self._account("beside the agent", each, each.model)
        if price is None and not self.free:
            self._dollars = None
        elif price is not None and self._dollars is not None:
            self._dollars += price
        self.costs.dollars = None if self._dollars is None else round(float(self._dollars), 6)

    def _account(self, purpose: str, usage: Usage | None, model: str | None) -> None:
        account = self.accounts.setdefault((purpose, model), Account(purpose=purpose, model=model))
        price = Decimal() if self.free else None if usage is None else dollars(usage, self._on)
        account.add(usage, price)


_SHOWN = 4000
"""Characters of a question that results and pages show; the log has all of it."""


def _elided(text: str) -> str:
    if len(text) <= _SHOWN:
        return text
    half = _SHOWN // 2
    return f"{text[:half]}\n[… {len(text) - 2 * half:,} characters, see the log …]\n{text[-half:]}"


def results_of(
    run: Path, about: Mapping[str, About], references: Mapping[str, float], *, explain: bool = False
) -> Results:
    """Score a run from its log. Questions that were not asked yet count as `not_reached`.

    Args:
        run: The run folder.
        about: Summary and skills by scenario.
        references: What floor and ceiling score on the same examples.
        explain: Whether to look for the words that decided each verdict, which takes as many verdicts as words.
    """
    manifest = read_manifest(run)
    reading = _Reading(
        manifest.agent.free, judgements(run), overrides(run), explain=explain, on=begun_at(run)
    )
    for path in conversations(run):
        reading.conversation(path, manifest.filler.mode == "live")
    examples = [reading.done.get(name) or _Open(name).close(ended=False) for name in _planned(manifest)]
    scenarios = [
        summarise_scenario(
            entry.name,
            about[entry.name].summary if entry.name in about else "",
            about[entry.name].skills if entry.name in about else (),
            [e for e in examples if e.scenario == entry.name],
        )
        for entry in manifest.suite.scenarios
    ]
    strata = {
        s.name: [e.score for e in examples if e.scenario == s.name and e.score is not None] for s in scenarios
    }
    complete = all(s.score is not None for s in scenarios)
    given = [[e.published for e in examples if e.scenario == s.name] for s in scenarios]
    known = [[score for score in each if score is not None] for each in given]
    so_far = sum(s.score_so_far or 0.0 for s in scenarios)
    return Results(
        run=run.name,
        agent=manifest.agent.name,
        suite=manifest.suite.name,
        span=manifest.span,
        seed=manifest.seed,
        complete=complete,
        score=so_far if complete else None,
        score_so_far=so_far,
        out_of=len(scenarios),
        interval=sum_interval(strata) if complete else None,
        chance=sum(s.chance for s in scenarios),
        references=dict(references),
        published=sum(sum(each) / len(each) for each in known if each) if any(known) else None,
        log=log_digest(run),
        turns=reading.turns,
        tokens=reading.tokens,
        filler_tokens=reading.filler_tokens,
        seconds=reading.time.total_seconds(),
        overruns=sum(e.overrun > 0 for e in examples),
        undecided=sum(q.outcome is Outcome.UNDECIDED for e in examples for q in e.questions),
        undecided_worth=_worth(examples),
        overridden=sum(q.override is not None for e in examples for q in e.questions),
        judges=_judges(examples),
        by_judge=scores_by_judge(examples),
        remarks=_remarks(manifest, examples),
        costs=reading.costs.model_copy(
            update={
                "judge_dollars": _judge_dollars(examples),
                "accounts": [*reading.accounts.values(), *_judge_accounts(examples)],
            }
        ),
        latency=_latency(run / "timings.jsonl"),
        outcomes=count_outcomes(examples),
        scenarios=scenarios,
        examples=examples,
    )


def _remarks(manifest: Manifest, examples: Sequence[ExampleResult]) -> list[str]:
    """Say what was asked although no person has looked at it, and what nobody could have answered."""
    found = []
    unseen = max((_whole(e.parameters.get("unvalidated")) for e in manifest.suite.scenarios), default=0)
    if unseen:
        found.append(
            f"{unseen} of the tasks have not been validated by a person (ltm-bench swim validate): "
            "their questions or answers may be wrong"
        )
    cut = sum(bool(e.needles) and all(needle.cut for needle in e.needles) for e in examples)
    if cut:
        found.append(
            f"in {cut} of {len(examples)} examples the message was cut, and what was asked for went with it"
        )
    return found


def _whole(value: object) -> int:
    return value if isinstance(value, int) else 0


def _worth(examples: Sequence[ExampleResult]) -> float:
    """Return by how much the score would be higher if every undecided question were right."""
    count = Counter(example.scenario for example in examples)
    return sum(
        (1.0 - (question.score or 0.0)) / len(example.questions) / count[example.scenario]
        for example in examples
        for question in example.questions
        if question.outcome is Outcome.UNDECIDED
    )


def _judges(examples: Sequence[ExampleResult]) -> list[JudgeNote]:
    """Return who judged how many replies; whether they have earned it is for others to add."""
    said = [opinion for e in examples for q in e.questions for opinion in q.opinions]
    return [
        JudgeNote(
            name=name,
            key=key,
            model=next((o.model for o in said if (o.judge, o.key) == (name, key) and o.model), None),
            replies=sum((o.judge, o.key) == (name, key) for o in said),
            unreadable=sum(
                (o.judge, o.key) == (name, key) and o.outcome is Outcome.JUDGE_ERROR for o in said
            ),
        )
        for name, key in dict.fromkeys((o.judge, o.key) for o in said)
    ]


def _judge_dollars(examples: Sequence[ExampleResult]) -> float | None:
    costs = [opinion.dollars for e in examples for q in e.questions for opinion in q.opinions]
    return None if None in costs else round(sum(each or 0.0 for each in costs), 6)


def _judge_accounts(examples: Sequence[ExampleResult]) -> list[Account]:
    found: dict[tuple[str, str | None], Account] = {}
    for opinion in (o for e in examples for q in e.questions for o in q.opinions):
        key = (f"judge {opinion.judge}", opinion.model)
        account = found.setdefault(key, Account(purpose=key[0], model=key[1]))
        price = None if opinion.dollars is None else Decimal(str(opinion.dollars))
        account.add(opinion.used, price)
    return list(found.values())


def _planned(manifest: Manifest) -> Iterator[str]:
    for entry in manifest.suite.scenarios:
        for index in range(entry.examples):
            yield f"{entry.name}/{index}"


def _latency(path: Path) -> Latency | None:
    if not path.exists():
        return None
    taken: list[float] = []
    retries = cached = 0
    for record in side_records(path):
        given, seconds = record.get("attempts"), record.get("seconds")
        attempts = [each for each in given if isinstance(each, dict)] if isinstance(given, list) else []
        retries += max(0, len(attempts) - 1) if seconds is not None else len(attempts)
        if isinstance(seconds, int | float):
            taken.append(seconds)
            cached += bool(attempts) and all(attempt.get("cached") for attempt in attempts)
    if not taken:
        return None
    taken.sort()
    return Latency(
        total=round(sum(taken), 3),
        median=round(median(taken), 4),
        p95=round(taken[min(len(taken) - 1, int(0.95 * len(taken)))], 4),
        retries=retries,
        cached=cached,
    )


def _recalls(path: Path) -> dict[int, Retrieval]:
    """Return what is known of retrieval, by turn."""
    found = {}
    for record in side_records(path):
        needles = record.get("needles")
        if not isinstance(needles, list) or not all(isinstance(n, list) and len(n) == 3 for n in needles):
            continue
        if isinstance(record.get("turn"), int) and needles:
            found[record["turn"]] = Retrieval(
                needles=len(needles),
                stored=sum(bool(each[1]) for each in needles),
                retrieved=sum(bool(each[2]) for each in needles),
            )
    return found
