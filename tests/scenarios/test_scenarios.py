"""Rules for every shipped scenario, and the promises of each."""

import itertools
import json
import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from ltm_bench import Ask, Message, Outcome, Reply, Tell, Turn
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Line
from ltm_bench.core.tokens import counter
from ltm_bench.datasets.counting_stars.matcher import StarCounts
from ltm_bench.matchers.forms import dump
from ltm_bench.plugins.files import find, load
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.script.rehearsal import ideal_reply, rehearse
from ltm_bench.script.scenario import Example

FILES = [
    path for path in (Path(__file__).parents[2] / "scenarios").iterdir() if path.suffix in (".py", ".toml")
]
NAMES = sorted(path.stem for path in FILES)
SEEDS = range(20)


def example(name: str, seed: int = 0, **parameters: Any) -> Example:
    return Example(scenario(name), 0, seed, parameters)


def talk(one: Example, answer: dict[int, str] | None = None) -> Iterator[tuple[Line, str, list[Turn]]]:
    """Hold only an example's own conversation; `answer` replaces the ideal reply to the n-th message."""
    now, turns = datetime(2026, 1, 5, 9, tzinfo=UTC), list[Turn]()
    script, reply = one.script(), None
    while True:
        try:
            line = script.send(cast(Reply, reply))
        except StopIteration:
            return
        now += line.after or timedelta(minutes=1)
        text = line.text if isinstance(line.text, str) else line.text(now)
        said = (answer or {}).get(len(turns), ideal_reply(line))
        reply = Reply(said, at=now)
        turns.append(Turn(Message(text, now, len(turns)), reply))
        yield line, text, list(turns)


def scores(one: Example, answer: dict[int, str] | None = None) -> list[float | None]:
    return [
        verdict_on(line.expect, turns[-1].reply, turns).score
        for line, _, turns in talk(one, answer)
        if isinstance(line, Ask)
    ]


@pytest.mark.parametrize("name", NAMES)
def test_the_ideal_reply_is_right_and_the_wrong_ones_are_not(name: str) -> None:
    for seed in SEEDS:
        one = example(name, seed)
        assert set(scores(one)) == {1.0}
        for i, (line, _, _) in enumerate(talk(one)):
            if isinstance(line, Ask):
                for wrong in line.expect.wrong():
                    assert min(s for s in scores(one, {i: wrong}) if s is not None) < 1, wrong


@pytest.mark.parametrize("name", NAMES)
def test_an_echo_of_every_message_scores_next_to_nothing(name: str) -> None:
    for seed in SEEDS:
        one = example(name, seed)
        echo = {i: text for i, (_, text, _) in enumerate(talk(one))}
        assert max(s for s in scores(one, echo) if s is not None) < 0.5


@pytest.mark.parametrize("name", NAMES)
def test_a_seed_always_gives_the_same_messages_and_another_seed_others(name: str) -> None:
    said = [tuple(text for _, text, _ in talk(example(name, seed))) for seed in SEEDS]
    assert said == [tuple(text for _, text, _ in talk(example(name, seed))) for seed in SEEDS]
    assert len(set(said)) > 15


@pytest.mark.parametrize("name", NAMES)
def test_no_question_reveals_its_answer_and_every_script_fits_a_small_span(name: str) -> None:
    for seed in SEEDS:
        steps = rehearse(example(name, seed), counter())
        # Long texts, which need a larger span.
        longest = {"chapter_break": 1500, "infinitebench": 2000, "swim": 3500}.get(name, 1000)
        assert sum(step.message_tokens + step.reply_tokens for step in steps) < longest
        assert any(isinstance(step.line, Ask) for step in steps)
        assert [step.line.at for step in steps if step.line.at is not None] == sorted(
            step.line.at for step in steps if step.line.at is not None
        )


@pytest.mark.parametrize("name", NAMES)
def test_an_unknown_parameter_names_the_nearest(name: str) -> None:
    known = next(iter(scenario(name).parameters))
    with pytest.raises(ConfigError, match=f"no parameter '{known}x'; did you mean '{known}'"):
        rehearse(example(name, **{f"{known}x": 1}), counter())


def test_every_scenario_says_what_it_tests() -> None:
    for name in NAMES:
        found = scenario(name)
        assert found.name == name
        assert found.skills
        assert found.summary.endswith((".", "?"))


def test_a_shopping_list_never_goes_below_nothing_and_is_never_empty() -> None:
    for seed in range(200):
        asked = [
            line for line, _, _ in talk(example("shopping_list", seed, changes=12)) if isinstance(line, Ask)
        ]
        expected = json.loads(asked[0].expect.right()[0])
        assert expected
        assert all(entry["quantity"] > 0 for entry in expected)


def test_jokes_are_hours_apart_and_asked_for_by_the_time_that_has_passed() -> None:
    for seed in SEEDS:
        *told, (_, question, turns) = talk(example("jokes", seed, least_minutes=1000, most_minutes=2000))
        times = [each[2][-1].message.at for each in told]
        assert all(later - earlier >= timedelta(minutes=1000) for earlier, later in itertools.pairwise(times))
        ago = re.search(r"about (.*) ago", question)
        assert ago is not None
        amounts = {unit: int(n) for n, unit in re.findall(r"(\d+) (day|hour|minute)", ago[1])}
        spoken = timedelta(**{f"{unit}s": n for unit, n in amounts.items()})
        nearest = min(times, key=lambda at: abs(turns[-1].message.at - at - spoken))
        assert abs(turns[-1].message.at - nearest - spoken) < timedelta(minutes=1)


@pytest.mark.parametrize("stars", [1, 8, 64, 1024])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_stars_are_distinct_and_as_many_as_requested(stars: int, language: str) -> None:
    for task in ("searching", "reasoning"):
        one = example("counting_stars", stars=stars, task=task, language=language)
        *lines, _forget = [line for line, _, _ in talk(one)]
        ask = lines[-1]
        assert isinstance(ask, Ask)
        assert isinstance(ask.expect, StarCounts)
        numbers = [*ask.expect.counts, *ask.expect.mistaken]
        assert len(set(numbers)) == len(numbers) == stars * (2 if task == "reasoning" else 1)
        assert len(lines) == stars + 1
        assert [line.at for line in lines[:-1]] == [i / stars for i in range(stars)]


def test_stars_come_in_order_only_on_request() -> None:
    def counts(order: str) -> tuple[int, ...]:
        *_, ask, _ = (line for line, _, _ in talk(example("counting_stars", stars=32, order=order)))
        assert isinstance(ask, Ask)
        assert isinstance(ask.expect, StarCounts)
        return ask.expect.counts

    assert list(counts("ordered")) == sorted(counts("shuffled")) == sorted(counts("ordered"))
    assert list(counts("shuffled")) != sorted(counts("shuffled"))


@pytest.mark.parametrize(
    ("parameters", "complaint"),
    [
        ({"stars": 0}, "stars = 0"),
        ({"stars": 1025}, "from 1 to 1024"),
        ({"order": "x"}, "order = 'x'"),
        ({"language": "de"}, "language = 'de'"),
        ({"task": "adding"}, "task = 'adding'"),
    ],
)
def test_parameters_of_the_stars_are_checked(parameters: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ConfigError, match=complaint):
        rehearse(example("counting_stars", **parameters), counter())


def test_the_last_colour_is_new_and_a_stale_one_is_recognised() -> None:
    for seed in SEEDS:
        *told, (line, _, turns) = talk(example("colours", seed, changes=4))
        assert all(isinstance(each[0], Tell) for each in told)
        assert isinstance(line, Ask)
        stale = line.expect.wrong()[1]
        assert verdict_on(line.expect, Reply(stale), turns).outcome is Outcome.STALE


def test_a_spy_meeting_names_each_person_and_each_group_once() -> None:
    for seed in SEEDS:
        opening, *messages, question, _ = [text for _, text, _ in talk(example("spy_meeting", seed))]
        names = load(find("scenarios", "spy_meeting")).NAMES
        people = [name for message in messages for name in names if re.search(rf"\b{name}\b", message)]
        assert len(people) == len(messages) == len(set(people)) == 3
        assert all(person in opening and person in question for person in people)


def test_sally_looks_where_she_believes_the_object_is() -> None:
    answers = set()
    for seed in range(60):
        *told, (line, question, _), _ = talk(example("sally_anne", seed))
        assert isinstance(line, Ask)
        story = "\n".join(text for _, text, _ in told)
        placed = re.search(r"puts the (\w+) into the (\w+)", story)
        moved = re.search(r"puts it away in the (\w+)", story)
        assert placed is not None
        assert moved is not None
        unseen = "leaves" in story and ("at the window" not in story or "think that" in question)
        wanted = placed[2] if unseen else moved[1]
        assert verdict_on(line.expect, Reply(json.dumps({"answer": wanted})), []).outcome is Outcome.CORRECT
        assert verdict_on(line.expect, Reply('{"answer": null}'), []).score == 0
        answers.add((unseen, "think that" in question))
    assert len(answers) == 4


def test_a_quotation_is_due_in_the_announced_reply() -> None:
    for seed in SEEDS:
        *talked, (line, _, turns), _ = talk(example("prospective_memory", seed, least=3, most=8))
        assert isinstance(line, Ask)
        said = [i for i, turn in enumerate(turns[1:], start=1) if "think about that. " in turn.reply.text]
        ordinals = "first second third fourth fifth sixth seventh eighth".split()
        assert [ordinals[i - 1] in turns[1].message.text for i in said] == [True]
        late = dict.fromkeys((said[0],), "Let me think.")
        assert scores(example("prospective_memory", seed, least=3, most=8), late) == [0.0]
        assert len(talked) == said[0] + 1


def test_an_earlier_example_does_not_make_the_answer_to_a_later_one_ambiguous() -> None:
    """A scenario that asks for everything, or for a story, must first say that earlier messages no longer count.

    The favourite colour is always the last one, and a joke is asked for by its time.
    """
    for name in NAMES:
        *_, last = (line for line, _, _ in talk(example(name)))
        assert isinstance(last, Tell) != (name in ("colours", "jokes"))


def test_a_play_continues_whatever_the_guest_says_and_each_scene_counts_a_fifth() -> None:
    one = example("restaurant")
    for said in ("", "Nothing, thank you.", "What do you recommend?"):
        assert scores(one, dict.fromkeys(range(20), said)) == [0.0] * 5
    scenes = [i for i, (line, _, _) in enumerate(talk(one)) if isinstance(line, Ask)]
    for scene in scenes:
        assert sum(s or 0.0 for s in scores(one, {scene: "I should have to think about that."})) == 4.0


def test_a_guest_who_orders_nothing_is_served_something_to_remember() -> None:
    one = example("restaurant")
    *_, (line, _, turns) = [each for each in talk(one, {1: "Hm."}) if isinstance(each[0], Ask)]
    assert isinstance(line, Ask)
    assert any(line.expect.right()[1] in turn.message.text for turn in turns[2:])
    assert scores(one, {1: "Hm."}) == [0.0, 1.0, 1.0, 1.0, 1.0]


def test_the_dish_served_by_mistake_was_never_mentioned() -> None:
    for seed in SEEDS:
        asked = [
            (dump(line.expect), turns)
            for line, _, turns in talk(example("restaurant", seed))
            if isinstance(line, Ask)
        ]
        [(served, turns)] = [(expect["served"], turns) for expect, turns in asked if "served" in expect]
        assert served in turns[-1].message.text
        assert not any(served in turn.reply.text for turn in turns[:-1])


def test_no_sentence_is_lost_between_the_pages_of_a_story() -> None:
    module = load(find("scenarios", "chapter_break"))
    for story in module.shipped():
        for most in (100, 333, 600, 5000):
            read = module.pages(story.text, most)
            assert " ".join(" ".join(read).split()) == " ".join(story.text.split())
            assert all(len(page) <= most or not module.SENTENCE.search(page) for page in read)


def test_examples_read_different_stories_and_no_opening_is_betrayed_by_its_length() -> None:
    module = load(find("scenarios", "chapter_break"))
    assert len(module.shipped()) >= 6
    first_pages = set()
    for index in range(6):
        lines = [text for _, text, _ in talk(Example(scenario("chapter_break"), index, 7, {}))]
        first_pages.add(lines[0])
        options = re.findall(r"^Option \d: (.*)$", lines[-2], re.MULTILINE)
        assert len(options) == 6
        assert max(map(len, options)) - min(map(len, options)) < 20
    assert len(first_pages) == 6


def test_chapter_break_reads_the_public_data(tmp_path: Path) -> None:
    path = tmp_path / "chapterbreak.json"
    work = {"ctx": "He came. He saw. " * 40, "pos": "Then he won.", "negs": [f"Wrong {i}." for i in range(5)]}
    path.write_text(json.dumps({"ao3": {"7": [work]}, "pg19": {}}))
    one = example("chapter_break", data=str(path))
    assert set(scores(one)) == {1.0}
    with pytest.raises(ConfigError, match=r"split = 'fan'"):
        rehearse(example("chapter_break", data=str(path), split="fan"), counter())


def test_a_needle_in_a_haystack_is_at_each_depth_in_turn() -> None:
    for index in range(10):
        lines = [line for line, _, _ in talk(Example(scenario("niah"), index, 3, {}))]
        assert lines[0].at == (0.0, 0.25, 0.5, 0.75, 0.95)[index % 5]
    several = example("niah", 4, needles=4)
    assert scores(several) == [1.0] * 4
    places = [line.at or 0.0 for line, _, _ in talk(several) if isinstance(line, Tell)][:4]
    assert places == sorted(places)
    with pytest.raises(ConfigError, match="needles = 9"):
        rehearse(example("niah", needles=9), counter())
