"""The scheduler keeps its promises for made-up scenarios and for the standard suite."""

import itertools
import math
import re
from collections import Counter as Tally
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltm_bench import Ask, Chat, Dice, Reply, Script, Tell, names_only, scenario
from ltm_bench.core.clock import spoken_time
from ltm_bench.core.errors import ConfigError, SpanTooSmall
from ltm_bench.core.messages import Line
from ltm_bench.core.tokens import counter
from ltm_bench.plan.suites import read_suite
from ltm_bench.plugins.scenarios import scenario as find_scenario
from ltm_bench.schedule.fitting import GRAIN, USABLE, due_position, expected_lateness, smallest_span
from ltm_bench.schedule.scheduler import NEAR, SLACK, AllSaid, Completed, Fill, Fork, Jump, Scheduler, Send
from ltm_bench.script.rehearsal import ACKNOWLEDGEMENT, ideal_reply, rehearse
from ltm_bench.script.scenario import Example, Scenario
from tests.core.test_clock import meant
from tests.pace import cpu, in_proportion

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
EXPECT = names_only("red", among=("red", "blue"))
COUNT = counter().count


@dataclass(frozen=True)
class Sent:
    """A scheduled message."""

    example: Example
    line: Line
    text: str
    due: int
    position: int
    tokens: int
    at: datetime


@dataclass
class Played:
    """A conversation played without an agent."""

    sent: list[Sent]
    fills: list[int]
    ended: list[Completed]
    tokens: int
    decisions: list[str]


def play(
    examples: Sequence[Example], span: int, *, seed: int = 0, talk: int | None = None, **more: float
) -> Played:
    """Let the scheduler run; replies are the ideal ones, or `talk` tokens long."""
    scheduler = Scheduler(examples, span=span, seed=seed, counter=counter(), start=START, **more)  # type: ignore[arg-type]  # options of any type
    played = Played([], [], [], 0, [])
    for _ in range(20_000):
        decision = scheduler.decide()
        assert scheduler.decide() is decision
        played.decisions.append(repr(decision) if not isinstance(decision, Send) else decision.text)
        if isinstance(decision, AllSaid):
            played.tokens = scheduler.position
            return played
        if isinstance(decision, Jump):
            assert decision.to > scheduler.clock.now
            scheduler.take()
        elif isinstance(decision, Fill):
            assert decision.tokens > 0
            played.fills.append(scheduler.position)
            scheduler.take(min(decision.tokens, 1000), Reply("[]"), 0)
        else:
            assert isinstance(decision, Send)
            said = ideal_reply(decision.line)
            size = COUNT(decision.text)
            assert decision.tokens in (None, size)
            assert decision.due is not None
            played.sent.append(
                Sent(
                    decision.example,
                    decision.line,
                    decision.text,
                    decision.due,
                    scheduler.position,
                    size,
                    scheduler.clock.now,
                )
            )
            played.ended += scheduler.take(size, Reply(said), COUNT(said) if talk is None else talk)
    raise AssertionError("the conversation does not end")


@st.composite
def scenarios(draw: st.DrawFn) -> list[Scenario]:
    """Made-up scenarios: needles and a question anywhere in the span, some with waits, some with chats that follow."""
    made = []
    for name in "abcdefgh"[: draw(st.integers(1, 8))]:
        ats = sorted(place / 10 for place in draw(st.sets(st.integers(0, 9), min_size=1, max_size=6)))
        waits = [draw(st.none() | st.integers(0, 600)) for _ in ats]
        chats = draw(st.integers(0, 3))
        words = draw(st.integers(1, 40))
        topic = draw(st.sampled_from(["", "shared", "other"]))
        made.append(_scenario(name, ats, waits, chats, words, {topic} - {""}))
    return made


def _scenario(
    name: str, ats: list[float], waits: list[int | None], chats: int, words: int, topics: set[str]
) -> Scenario:
    def build(dice: Dice) -> Script:
        for i, (at, wait) in enumerate(zip(ats, waits, strict=True)):
            after = timedelta(minutes=wait) if i and wait is not None else None
            yield Tell(f"{name} {i} " + "word " * dice.integer(1, words), at=at, after=after)
        yield Ask("Which colour?", expect=EXPECT, at=1.0)
        for _ in range(chats):
            yield Chat(f"{name} and now?")

    build.__name__ = name
    return scenario(skills={"x"}, topics=topics)(build)


def examples_of(made: Sequence[Scenario], each: int) -> list[Example]:
    return [Example(s, i, 0, {}) for s in made for i in range(each)]


@given(
    made=scenarios(),
    each=st.integers(1, 3),
    span=st.integers(4_000, 60_000),
    talk=st.none() | st.integers(0, 200),
)
@settings(max_examples=120, deadline=None)
def test_the_promises_hold_for_any_scenarios(
    made: list[Scenario], each: int, span: int, talk: int | None
) -> None:
    examples = examples_of(made, each)
    played = play(examples, span, talk=talk)
    assert sorted(e.example.id for e in played.ended) == sorted(e.id for e in examples), "every example ends"
    assert played.decisions == play(examples, span, talk=talk).decisions, "equal input gives equal output"
    _no_topic_overlaps(played)
    _waits_are_kept(played)
    _chats_are_not_interrupted(played)


def _no_topic_overlaps(played: Played) -> None:
    first: dict[str, int] = {}
    last: dict[str, int] = {}
    for i, sent in enumerate(played.sent):
        first.setdefault(sent.example.id, i)
        last[sent.example.id] = i
    scripts = {sent.example.id: sent.example for sent in played.sent}
    for one, two in itertools.combinations(scripts, 2):
        if set(scripts[one].scenario.topics) & set(scripts[two].scenario.topics):
            assert last[one] < first[two] or last[two] < first[one]


def _waits_are_kept(played: Played) -> None:
    before: dict[str, datetime] = {}
    for sent in played.sent:
        if sent.line.after is not None:
            assert sent.at >= before[sent.example.id] + sent.line.after
        before[sent.example.id] = sent.at


def _chats_are_not_interrupted(played: Played) -> None:
    for before, sent in itertools.pairwise(played.sent):
        if sent.line.at is None:
            assert before.example.id == sent.example.id
            fills = [f for f in played.fills if before.position + before.tokens <= f < sent.position]
            assert not fills


STANDARD = read_suite(Path(__file__).parents[2] / "configs" / "standard.toml")


def standard(seed: int, span: int = 32_000) -> list[Example]:
    return [
        Example(find_scenario(name), i, seed, STANDARD.parameters(name))
        for name in STANDARD.scenarios
        if span >= STANDARD.least_span(name)
        for i in range(STANDARD.count(name))
    ]


@pytest.mark.parametrize(
    ("span", "seed"), [(32_000, 0), (32_000, 1), (32_000, 2), (120_000, 0), (120_000, 7), (500_000, 0)]
)
def test_a_conversation_is_at_most_five_percent_longer_than_any_can_be(span: int, seed: int) -> None:
    played = play(standard(seed, span), span, seed=seed, stagger=STANDARD.stagger)
    bound = STANDARD.examples * 0.9 * span
    assert bound <= played.tokens <= 1.05 * bound


@pytest.mark.parametrize(
    ("span", "seed", "talk"),
    [(2_000, 0, None), (32_000, 3, None), (120_000, 0, None), (32_000, 0, 500), (120_000, 1, 500)],
)
def test_messages_are_sent_where_they_are_due_and_questions_within_the_span(
    span: int, seed: int, talk: int | None
) -> None:
    played = play(standard(seed, span), span, seed=seed, talk=talk, stagger=STANDARD.stagger)
    starts: dict[str, int] = {}
    late: list[int] = []
    for sent in played.sent:
        start = starts.setdefault(sent.example.id, sent.position)
        if sent.line.at is None:  # follows its predecessor
            continue
        assert abs(sent.due - due_position(start, sent.line.at, span)) <= (talk or 100) + NEAR
        assert sent.position >= sent.due - NEAR
        late.append(sent.position - sent.due)
    assert sorted(late)[len(late) // 2] <= (talk or 100)
    assert max(late) <= 0.1 * span
    assert all(ended.overrun == 0 and ended.span <= span for ended in played.ended)


def test_an_agent_that_talks_too_much_is_marked_as_overrun_and_by_how_much() -> None:
    played = play(standard(0, 2_000), 2_000, talk=500, stagger=STANDARD.stagger)
    assert len(played.ended) == 33
    assert [e for e in played.ended if e.overrun > 0] == [e for e in played.ended if e.span > 2_000]
    assert any(e.overrun > 0 for e in played.ended)


def test_filler_is_sent_only_when_nothing_else_is_due() -> None:
    span = 32_000
    played = play(standard(0), span, stagger=STANDARD.stagger)
    for fill in played.fills:
        waiting = [
            s for s in played.sent if s.line.after is None and s.due <= fill < s.position and s.line.at
        ]
        assert waiting == []


def test_starts_are_staggered() -> None:
    made = [_scenario(name, [0.0], [None], 0, 1, set()) for name in "abc"]
    starts = [sent.position for sent in play(examples_of(made, 1), 20_000, stagger=0.005).sent[:3]]
    assert starts == [0, 100, 200]


def test_staggering_hardly_lengthens_a_conversation_of_many_scenarios() -> None:
    made = [_scenario(f"s{i}", [0.0], [None], 0, 1, set()) for i in range(61)]
    for each in (1, 2):
        played = play(examples_of(made, each), 100_000, stagger=0.01)
        starts = [s.position for s in played.sent if s.example.index == 0 and isinstance(s.line, Tell)]
        stagger = int(100_000 * SLACK * USABLE * each / 60)
        assert starts == [i * stagger for i in range(61)]


def test_a_rehearsed_message_carries_its_tokens_and_a_changed_one_does_not() -> None:
    def talks_back(dice: Dice) -> Script:
        reply = yield Tell("My favourite colour is red.", at=0.0)
        yield Ask(f"You said “{reply.text}”. Which colour?", expect=EXPECT, at=1.0)

    example = Example(scenario(skills={"x"})(talks_back), 0, 0, {})
    scheduler = Scheduler([example], span=4_000, seed=0, counter=counter(), start=START)
    told = scheduler.decide()
    assert isinstance(told, Send)
    assert told.tokens == COUNT(told.text)
    scheduler.take(told.tokens, Reply("Something that no rehearsal would have said."), 8)
    while not isinstance(asked := scheduler.decide(), Send):
        assert isinstance(asked, Fill)
        scheduler.take(asked.tokens)
    assert "no rehearsal" in asked.text
    assert asked.tokens is None


def test_time_does_not_starve() -> None:
    played = play(standard(0), 32_000, stagger=STANDARD.stagger)
    jokes = [s for s in played.sent if s.example.id == "jokes/0"]
    assert all(s.position - s.due <= 300 for s in jokes)
    assert all(b.at - a.at >= timedelta(minutes=30) for a, b in itertools.pairwise(jokes))


def test_an_added_scenario_changes_no_other_scenarios_dice() -> None:
    examples = standard(0)
    fewer = [e for e in examples if e.scenario.name != "jokes"]
    texts = Tally(s.text for s in play(examples, 32_000).sent if s.example.scenario.name != "jokes")
    assert texts == Tally(s.text for s in play(fewer, 32_000).sent)


def test_a_span_that_is_too_small_names_the_scenario_and_the_smallest_that_works() -> None:
    with pytest.raises(
        SpanTooSmall, match=r"span of 200 tokens is too small for scenario (\w+) .*that works is (\d+)"
    ) as error:
        play(standard(0), 200)
    smallest = int(str(error.value).rsplit(" ", 1)[1])
    assert len(play(standard(0), smallest).ended) == 36
    with pytest.raises(SpanTooSmall):
        play(standard(0), smallest - 1)


def test_a_place_outside_the_span_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"scenario a: its script yields at=1\.5, which lies outside"):
        play(examples_of([_scenario("a", [0.0, 1.5], [None, None], 0, 1, set())], 1), 4_000)


def test_without_filler_messages_follow_each_other_at_once() -> None:
    played = play(standard(0)[:1], 32_000, filler=False)
    assert played.fills == []
    assert played.tokens < 500


def test_a_turn_costs_the_same_with_four_times_as_many_examples() -> None:
    decisions = {}

    def took(count: int) -> float:
        made = [_scenario(f"s{i}", [0.0, 0.3, 0.6], [None] * 3, 0, 5, set()) for i in range(count)]

        def work() -> None:
            decisions[count] = len(play(examples_of(made, 1), 20_000 * count, stagger=0.0001).decisions)

        return cpu(work)

    assert in_proportion(took, 50)
    assert decisions[200] > 3 * decisions[50]


def test_the_files_of_the_standard_suite_are_the_ones_in_scenarios() -> None:
    here = Path(__file__).parents[2] / "scenarios"
    assert set(STANDARD.scenarios) <= {path.stem for path in here.iterdir()}


def example_of(*lines: Line, name: str = "x") -> Example:
    def build(dice: Dice) -> Script:
        for line in lines:
            _ = yield line  # `yield from` a tuple could not be sent a reply

    build.__name__ = name
    return Example(scenario(skills={"x"})(build), 0, 0, {})


HEARD = Tell("I love red.", at=0.0)
ASKED = Ask("Which colour?", expect=EXPECT, at=1.0)


def test_in_its_smallest_span_a_question_is_in_time_even_if_filler_overshoots() -> None:
    lines = (HEARD, ASKED)
    smallest = smallest_span(rehearse(example_of(*lines), counter()))
    scheduler = Scheduler([example_of(*lines)], span=smallest, seed=0, counter=counter(), start=START)
    scheduler.take(COUNT("I love red."), Reply("Noted."), COUNT("Noted."))
    filler = scheduler.decide()
    assert isinstance(filler, Fill)
    scheduler.take(filler.tokens + GRAIN)
    [ended] = scheduler.take(COUNT("Which colour?"), Reply("Red."), 100)
    assert (ended.span <= smallest, ended.overrun) == (True, 0)


def test_the_smallest_span_of_a_short_conversation_is_its_length() -> None:
    told, asked = rehearse(
        example_of(Tell("I love red. " * 50, at=0.0), Ask("Which colour?", expect=EXPECT)), counter()
    )
    length = told.message_tokens + told.reply_tokens + asked.message_tokens
    assert smallest_span([told, asked]) == length


def test_a_question_is_expected_late_by_its_own_length_and_not_by_what_has_passed() -> None:
    told, asked = rehearse(example_of(HEARD, ASKED), counter())
    late = due_position(0, 1.0, 4_000) + 100
    assert expected_lateness([(0, [told, asked])], 0, 4_000, 0) == asked.message_tokens
    assert expected_lateness([(0, [asked])], late, 4_000, 0) == asked.message_tokens
    assert expected_lateness([(0, [told]), (0, [])], 30, 4_000, 0) == 0


def test_a_message_is_expected_late_by_the_turns_that_are_still_to_come_before_it() -> None:
    told, again = rehearse(example_of(HEARD, Tell("And blue.", at=0.01)), counter())
    due = due_position(0, 0.01, 4_000)
    assert expected_lateness([(0, [told, again])], 0, 4_000, 100) == told.message_tokens + 100 - due


@pytest.mark.parametrize("usual", [0, 400])
def test_replies_are_expected_to_be_as_long_as_rehearsed_or_as_usual(usual: int) -> None:
    steps = rehearse(example_of(ASKED), counter())
    turn = steps[0].message_tokens + max(steps[0].reply_tokens, usual)
    both = [(0, steps), (0, steps)]
    assert expected_lateness(both, 0, 4_000, usual) == turn + steps[0].message_tokens
    forked = rehearse(example_of(ASKED), counter(), forked=True)
    assert expected_lateness([(0, forked), (0, forked)], 0, 4_000, usual) == forked[0].message_tokens


def test_a_message_without_a_place_is_expected_at_once_and_one_with_a_wait_in_its_turn() -> None:
    at_once = rehearse(example_of(HEARD, Tell("And blue.")), counter())
    waiting = rehearse(example_of(HEARD, Tell("And blue.", after=timedelta(hours=1))), counter())
    one = rehearse(example_of(HEARD), counter())
    sizes = [step.message_tokens + step.reply_tokens for step in at_once]
    assert expected_lateness([(0, at_once), (0, one)], 0, 4_000, 0) == sum(sizes)
    assert expected_lateness([(0, waiting), (0, one)], 0, 4_000, 0) == sizes[0]


@pytest.mark.parametrize("limit", [0, 20, 100, 10_000])
def test_a_simulation_stops_where_it_is_late_enough_to_decide(limit: int) -> None:
    steps = rehearse(example_of(HEARD, ASKED), counter())
    talks = [(0, steps), (10, steps), (20, steps)]
    told, found = (expected_lateness(talks, 0, 4_000, 100, limit=each) for each in (limit, math.inf))
    assert (told > limit) == (found > limit)
    assert told <= found


def test_a_forked_question_takes_neither_tokens_nor_time_and_ends_the_span_of_its_example() -> None:
    question = Ask("Which colour?", expect=EXPECT, at=0.5)
    one = example_of(HEARD, question, Tell("Goodbye.", at=1.0))
    scheduler = Scheduler([one], span=4_000, seed=0, counter=counter(), start=START, forked=True)
    assert isinstance(scheduler.decide(), Send)
    assert scheduler.take(10, Reply("Noted."), 5) == []
    assert scheduler.decide() == Fill(1_800 - 15)
    scheduler.take(1_785)
    before = (scheduler.position, scheduler.clock.now)
    assert before[0] == 1_800
    fork = scheduler.decide()
    assert fork == Fork(2, one, question, "Which colour?", 1_800, before[1], 1_800, COUNT("Which colour?"))
    assert scheduler.take(7) == []
    assert (scheduler.position, scheduler.clock.now) == before
    assert scheduler.decide() == Fill(1_800)
    scheduler.take(1_800)
    assert isinstance(scheduler.decide(), Send)
    assert scheduler.take(3, Reply("Bye."), 1) == [Completed(one, 1_807, 0)]
    assert isinstance(scheduler.decide(), AllSaid)


def test_an_example_that_begins_with_a_fork_begins_where_the_fork_is_asked() -> None:
    both = [example_of(Ask("Which colour?", expect=EXPECT, at=0.0), name=name) for name in "ab"]
    scheduler = Scheduler(both, span=4_000, seed=0, counter=counter(), start=START, forked=True)
    spans = []
    while not isinstance(decision := scheduler.decide(), AllSaid):
        assert isinstance(decision, Fork | Fill)
        spans += [ended.span for ended in scheduler.take(decision.tokens or 0)]
    assert scheduler.position > 0
    assert spans == [COUNT("Which colour?")] * 2


@pytest.mark.parametrize("forked", [True, False])
def test_an_example_overruns_by_the_tokens_of_its_last_question_outside_its_span(forked: bool) -> None:
    one = example_of(HEARD, ASKED)
    scheduler = Scheduler([one], span=4_000, seed=0, counter=counter(), start=START, forked=forked)
    scheduler.take(10, Reply("Noted."), 4_000 - 10 - 5)
    assert isinstance(scheduler.decide(), Fork if forked else Send)
    assert scheduler.take(8, Reply("Red."), 0 if forked else 500) == [Completed(one, 4_003, 3)]


def test_a_message_lacks_its_rehearsed_tokens_once_its_text_depends_on_the_time() -> None:
    one = example_of(HEARD, Tell(lambda now: f"It is {now:%H:%M}."))
    scheduler = Scheduler([one], span=4_000, seed=0, counter=counter(), start=START)
    scheduler.take(10, Reply("Noted."), 5)
    told = scheduler.decide()
    assert isinstance(told, Send)
    assert (told.text[:6], told.tokens, told.first) == ("It is ", None, False)


def test_a_message_with_a_wait_alone_is_due_where_the_conversation_stands() -> None:
    one = example_of(Tell("I love red.", at=0.1), Tell("And blue.", after=timedelta(hours=1)))
    scheduler = Scheduler([one], span=4_000, seed=0, counter=counter(), start=START)
    scheduler.take(360)
    scheduler.take(10, Reply("Noted."), 5)
    begun = scheduler.clock.now
    jump = scheduler.decide()
    assert isinstance(jump, Jump)
    assert begun < jump.to <= begun + timedelta(hours=1)
    scheduler.take()
    told = scheduler.decide()
    assert isinstance(told, Send)
    assert (told.text, told.due) == ("And blue.", 375)


def test_a_place_that_a_reply_moves_outside_the_span_is_refused_during_the_run() -> None:
    def wanders(dice: Dice) -> Script:
        reply = yield Tell("I love red.", at=0.0)
        yield Tell("And blue.", at=0.5 if reply.text == ACKNOWLEDGEMENT else 2.0)

    one = Example(scenario(skills={"x"})(wanders), 0, 0, {})
    scheduler = Scheduler([one], span=4_000, seed=0, counter=counter(), start=START)
    with pytest.raises(ConfigError, match=r"^example wanders/0: at=2\.0 lies outside 0\.\.1$"):
        scheduler.take(10, Reply("Surprise!"), 5)


@pytest.mark.parametrize("time", ["stamp", "words"])
@pytest.mark.parametrize("span", [8_000, 120_000])
def test_a_joke_that_is_asked_for_by_time_is_the_only_one_that_is_meant(span: int, time: str) -> None:
    """Also among those of earlier examples, when others make time jump, and for whoever knows only what was told."""
    timed = [Example(find_scenario("jokes"), i, 3, {"by": "time", "time": time}) for i in range(4)]
    jump = scenario(skills={"x"})(leaps)
    others = [Example(jump, i, 3, {}) for i in range(8)]
    sent = play([*timed, *others], span, talk=40).sent
    told = [each for each in sent if each.example in timed and isinstance(each.line, Tell)]
    for asked in sent:
        if asked.example not in timed or not isinstance(asked.line, Ask):
            continue
        said = re.search(r"about ((?:\w+|,| )+?) ago", asked.text)
        assert said
        assert (spoken_time(asked.at) in asked.text) == (time == "words")
        then = asked.at - meant(said[1])
        nearest, next_one = sorted(
            (each for each in told if each.at < asked.at), key=lambda each: abs(each.at - then)
        )[:2]
        assert asked.line.expect.right()[0] in nearest.text
        # The words for the time are rounded by two and a half minutes, when it is told and when it is asked.
        away = abs(nearest.at - then) + timedelta(minutes=5)
        assert away <= abs(next_one.at - then) - timedelta(minutes=5)


def leaps(dice: Dice) -> Script:
    yield Tell("I'll be away for a while.", at=0.3)
    yield Ask("Which colour?", expect=EXPECT, at=0.8, after=timedelta(days=dice.integer(1, 12)))
