"""Rules for every shipped scenario, and the promises of each."""

import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest

from ltm_bench import Ask, Dice, Message, Outcome, Reply, Tell, Turn
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Line
from ltm_bench.core.tokens import counter
from ltm_bench.datasets.counting_stars.matcher import StarCounts
from ltm_bench.datasets.swim import read_tasks
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.plan.suites import read_suite
from ltm_bench.plugins.files import bundled, find, load
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.schedule.fitting import load_of
from ltm_bench.score.audits.verdicts import verdict_on
from ltm_bench.script.deliveries import room
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


@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("name", NAMES)
def test_the_ideal_reply_is_right_and_the_wrong_ones_are_not(name: str) -> None:
    for seed in SEEDS:
        one = example(name, seed)
        assert set(scores(one)) == {1.0}
        for i, (line, _, _) in enumerate(talk(one)):
            if isinstance(line, Ask):
                for wrong in line.expect.wrong():
                    assert min(s for s in scores(one, {i: wrong}) if s is not None) < 1, wrong


@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("name", NAMES)
def test_a_scenario_that_wants_json_names_format_as_a_skill(name: str) -> None:
    asked = [text for seed in SEEDS for line, text, _ in talk(example(name, seed)) if isinstance(line, Ask)]
    assert any("JSON" in text for text in asked) <= ("format" in scenario(name).skills)


@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("name", NAMES)
def test_an_echo_of_every_message_scores_next_to_nothing(name: str) -> None:
    earned = list[float]()
    for seed in SEEDS:
        one = example(name, seed)
        echo = {i: text for i, (_, text, _) in enumerate(talk(one))}
        earned += [s for s in scores(one, echo) if s is not None]
    assert sum(earned) <= 0.1 * len(earned)  # the dish on the plate may be the one that was ordered


@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("name", NAMES)
def test_a_seed_always_gives_the_same_messages_and_another_seed_others(name: str) -> None:
    said = [tuple(text for _, text, _ in talk(example(name, seed))) for seed in SEEDS]
    assert said == [tuple(text for _, text, _ in talk(example(name, seed))) for seed in SEEDS]
    assert len(set(said)) > 15


@pytest.mark.proof(scenarios="name")
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


def test_jokes_are_hours_apart_and_asked_for_by_the_occasion_on_which_they_were_told() -> None:
    occasions = load(find("scenarios", "jokes")).OCCASIONS
    for seed in SEEDS:
        for least, most in ((30, 240), (1000, 2000)):
            one = example("jokes", seed, least_minutes=least, most_minutes=most)
            *told, (line, question, turns) = talk(one)
            times = [turn.message.at for turn in turns]
            assert all(
                later - earlier >= timedelta(minutes=least) for earlier, later in itertools.pairwise(times)
            )
            assert isinstance(line, Ask)
            heard = [[occasion for occasion in occasions if occasion in text] for _, text, _ in told]
            assert [len(each) for each in heard] == [1] * len(told)
            assert len({occasion for (occasion,) in heard}) == len(told)
            asked = [then for then in occasions.values() if then in question]
            meant = [
                text
                for (_, text, _), (occasion,) in zip(told, heard, strict=True)
                if occasions[occasion] in asked
            ]
            assert len(asked) == len(meant) == 1
            assert line.expect.right()[0] in meant[0]


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


def _matched(template: str, text: str) -> dict[str, str] | None:
    """Return what stands for each name in braces, if a text holds the template."""
    names = list[str]()

    def group(found: re.Match[str]) -> str:
        names.append(found[1])
        return f"(?P<{found[1]}>[\\w ]+?)" if names.count(found[1]) == 1 else f"(?P={found[1]})"

    found = re.search(re.sub(r"\\{(\w+)\\}", group, re.escape(template)) + r"(?![\w ])", text)
    return None if found is None else found.groupdict()


def test_sally_looks_where_she_believes_the_object_is() -> None:
    events = load(find("scenarios", "sally_anne")).MESSAGES["events"]
    answers = set()
    for seed in range(60):
        *told, (line, question, _), _ = talk(example("sally_anne", seed))
        assert isinstance(line, Ask)
        story = [text for _, text, _ in told]

        def seen(event: str, story: list[str] = story) -> list[dict[str, str]]:
            found = (_matched(template, text) for template in events[event] for text in story)
            return [each for each in found if each is not None]

        (placed, *_), (moved, *_) = seen("puts"), seen("moves")
        second = placed["mover"] in question
        unseen = bool(seen("leaves")) and (second or not seen("watches"))
        wanted = placed["before"] if unseen else moved["after"]
        assert verdict_on(line.expect, Reply(wanted), []).outcome is Outcome.CORRECT
        assert verdict_on(line.expect, Reply('{"answer": null}'), []).score == 0
        answers.add((unseen, second))
    assert len(answers) == 4


def test_a_quotation_is_due_in_the_reply_to_the_cue_and_in_no_other() -> None:
    for seed in SEEDS:
        one = example("prospective_memory", seed, least=3, most=8)
        *talked, (line, _, turns), _ = talk(one)
        assert isinstance(line, Ask)
        assert 5 <= len(talked) <= 10
        quotation = turns[-1].reply.text.removeprefix("Let me think about that. ")
        assert [quotation in turn.message.text for turn in turns] == [True] + [False] * (len(turns) - 1)
        last = len(talked)
        assert scores(one, {last: "Let me think."}) == [0.0]
        assert scores(one, dict.fromkeys(range(1, last + 1), quotation)) == [0.0]
        due = line.at
        assert due is not None
        assert all((each.at or 0.0) <= due - 0.05 for each, _, _ in talked)


def test_a_quotation_that_is_counted_is_due_in_the_reply_of_its_number_and_in_no_other() -> None:
    ordinals = load(find("scenarios", "prospective_memory")).ORDINALS
    for seed in SEEDS:
        one = example("prospective_memory", seed, due="count", least=2, most=8)
        told, request, *counted, (line, _, turns), _ = talk(one)
        assert isinstance(line, Ask)
        number = next(i for i, each in enumerate(ordinals, start=2) if f" {each} " in request[1])
        assert number == len(counted) + 1
        quotation = turns[number].reply.text.removeprefix("Let me think about that. ")
        assert quotation in told[1]
        assert not any(each.at or each.after for each, _, _ in (*counted, (line, "", [])))
        forgotten, due = "Let me think.", {number: "Let me think."}
        for place in (number - 1, number + 1):
            assert scores(one, {place: quotation} if place == 1 else due | {place: quotation}) == [
                1.0 if place == 1 else 0.0
            ]
        assert scores(one, due) == [0.0]
        assert scores(one, dict.fromkeys(range(2, number + 2), quotation)) == [0.0]
        assert scores(one, {number + 1: forgotten}) == [1.0]


@pytest.mark.parametrize(
    ("name", "forms"),
    [
        ("jokes", ({"by": "both"}, {"by": "time"}, {"by": "occasion"})),
        ("prospective_memory", ({"due": "both"}, {"due": "count"}, {"due": "cue"})),
    ],
)
def test_both_forms_of_a_scenario_come_in_turn(name: str, forms: tuple[dict[str, Any], ...]) -> None:
    both, *each = (
        [[text for _, text, _ in talk(Example(scenario(name), i, 0, chosen))] for i in range(6)]
        for chosen in forms
    )
    assert both == [each[i % 2][i] for i in range(6)]
    assert all(one != other for one, other in zip(*each, strict=True))


@pytest.mark.parametrize(
    ("name", "chosen", "said"),
    [
        ("jokes", {"by": "clock"}, "by = 'clock'"),
        ("jokes", {"time": "clock"}, "time = 'clock'"),
        ("prospective_memory", {"due": "soon"}, "due = 'soon'"),
        ("prospective_memory", {"due": "count", "most": 12}, "from 1 to 11 are possible"),
    ],
)
def test_a_form_that_there_is_not_is_refused_by_name(name: str, chosen: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        rehearse(example(name, **chosen), counter())


def test_an_earlier_example_does_not_make_the_answer_to_a_later_one_ambiguous() -> None:
    """A scenario that asks for everything, or for a story, must first say that earlier messages no longer count.

    The favourite colour is always the last one, and a joke is asked for by its occasion.
    """
    for name in NAMES:
        *_, last = (line for line, _, _ in talk(example(name)))
        assert isinstance(last, Tell) != (name in ("colours", "jokes"))


def test_a_play_continues_whatever_the_guest_says_and_each_scene_counts_a_fourth() -> None:
    one = example("restaurant")
    for said in ("", "Nothing, thank you.", "What do you recommend?"):
        assert scores(one, dict.fromkeys(range(20), said)) == [0.0] * 4
    scenes = [i for i, (line, _, _) in enumerate(talk(one)) if isinstance(line, Ask)]
    for scene in scenes:
        assert sum(s or 0.0 for s in scores(one, {scene: "I should have to think about that."})) == 3.0


def test_a_guest_who_orders_nothing_is_served_something_to_remember() -> None:
    one = example("restaurant")
    *_, (line, _, turns) = [each for each in talk(one, {1: "Hm."}) if isinstance(each[0], Ask)]
    assert isinstance(line, Ask)
    assert any(line.expect.right()[1] in turn.message.text for turn in turns[2:])
    assert scores(one, {1: "Hm."}) == [1.0] * 4


def test_any_dish_of_the_menu_may_be_on_the_plate() -> None:
    kinds = set()
    for seed in range(60):
        *_, (plate, text, _), _ = [
            each for each in talk(example("restaurant", seed)) if isinstance(each[0], Ask)
        ]
        assert isinstance(plate, Ask)
        assert isinstance(plate.expect, NamesOnly)
        (served,) = [dish for dish in plate.expect.among if dish.casefold() in text.casefold()]
        kinds.add(served == plate.expect.value)
    assert kinds == {True, False}


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
    first_pages, ranks = set(), Counter[int]()
    for index in range(240):
        lines = list(talk(Example(scenario("chapter_break"), index, 7, {})))
        first_pages.add(lines[0][1])
        question, text, _ = lines[-2]
        options = re.findall(r"^Option \d: (.*)$", text, re.MULTILINE)
        assert isinstance(question, Ask)
        right = options[int(question.expect.right()[0]) - 1]
        ranks[sorted(options, key=len).index(right)] += 1
    assert len(first_pages) > 100
    assert all(20 <= ranks[rank] <= 60 for rank in range(6))  # 40 each, if length tells nothing


def test_where_there_are_several_books_pages_question_and_farewell_name_the_one_that_they_belong_to() -> None:
    titles = set()
    for index in range(6):
        first, *rest = [
            text
            for _, text, _ in talk(
                Example(scenario("chapter_break"), index, 3, {"several": True, "chapters": 3, "page": 2000})
            )
        ]
        title = re.findall("“([^”]*)”\n\n", first)[0]
        titles.add(title)
        assert all(f"“{title}”" in text for text in rest), title
    assert len(titles) == 6


def test_where_there_are_several_restaurants_each_has_somebody_else_who_serves() -> None:
    roles = set()
    for index in range(8):
        rules, *scenes = [
            text for _, text, _ in talk(Example(scenario("restaurant"), index, 3, {"several": True}))
        ]
        role = re.findall("“([A-Z][a-z]+):”", rules)[0]
        roles.add(role)
        assert all(text.startswith(f"{role}: ") for text in scenes[:-1])
        assert role.lower() in scenes[-1].lower()
    assert len(roles) == 8


@pytest.mark.parametrize(
    ("span", "most", "chapters"), [(0, 8, 8), (8_000, 8, 2), (32_000, 8, 8), (32_000, 3, 3)]
)
def test_a_book_has_chapters_for_an_eighth_of_the_span_at_most(span: int, most: int, chapters: int) -> None:
    plots = load(find("scenarios", "chapter_break")).shipped()
    sentences = [max(re.findall(r"[^.?!{}“”\n]{20,}", plot.text), key=len).strip() for plot in plots]
    for seed in SEEDS:
        one = example("chapter_break", seed, span=span, chapters=most, page=2000)
        *told, (question, _, _), _ = talk(one)
        read = "\n".join(text for _, text, _ in told)
        assert sum(sentence in read for sentence in sentences) == chapters
        assert not span or counter().count(read) <= span / 8 * 1.1
        assert isinstance(question, Ask)


def test_chapter_break_reads_the_public_data(tmp_path: Path) -> None:
    path = tmp_path / "chapterbreak.json"
    work = {"ctx": "He came. He saw. " * 40, "pos": "Then he won.", "negs": [f"Wrong {i}." for i in range(5)]}
    path.write_text(json.dumps({"ao3": {"7": [work]}, "pg19": {}}))
    one = example("chapter_break", data=str(path))
    assert set(scores(one)) == {1.0}
    with pytest.raises(ConfigError, match=r"split = 'fan'"):
        rehearse(example("chapter_break", data=str(path), split="fan"), counter())


def test_no_regularity_of_the_counts_shows_which_are_missing() -> None:
    a_hundred_each = 0
    for seed in SEEDS:
        *_, ask, _ = (line for line, _, _ in talk(example("counting_stars", seed, stars=32, order="ordered")))
        counts = json.loads(ask.expect.right()[0])["counts"]  # type: ignore[union-attr]  # of a question
        assert counts == sorted(set(counts))
        assert min(counts) > 2
        assert all(abs(one - other) > 2 for one, other in itertools.pairwise(counts))
        a_hundred_each += len({count // 100 for count in counts}) == len(counts)
    assert not a_hundred_each


def test_the_table_of_the_counting_stars_paper_can_be_run() -> None:
    suite = read_suite(bundled("configs") / "counting-stars-v1.toml")
    rows = {name: suite.parameters(name) for name in suite.scenarios}
    shape = {name: (row["stars"], row["columns"], suite.count(name)) for name, row in rows.items()}
    assert shape == {
        "32-16": (32, 16, 16),
        "16-32": (16, 32, 32),
        "32-32": (32, 32, 32),
        "64-32": (64, 32, 32),
        "32-32-shuffled": (32, 32, 32),
    }
    assert [name for name, row in rows.items() if row["order"] == "shuffled"] == ["32-32-shuffled"]
    assert all(row["language"] == "zh" and row["delivery"] == "one_shot" for row in rows.values())


@pytest.mark.parametrize("language", ["en", "zh"])
def test_no_sentence_of_the_sky_comes_twice_up_to_128k(language: str) -> None:
    sky = load(find("scenarios", "counting_stars"))._sky(Dice("7/sky"), language, "", "")
    tokens, seen = 0, set()
    while tokens < 128_000:
        sentence = next(sky)
        assert sentence not in seen
        seen.add(sentence)
        tokens += counter().count(sentence)


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


@pytest.mark.parametrize("span", [8_000, 32_000, 128_000])
def test_filled_documents_fill_the_span_and_answer_no_question(span: int) -> None:
    module = load(find("scenarios", "swim"))
    tasks = read_tasks(find("scenarios", "swim").with_suffix(".json"))
    steps = rehearse(example("swim", 3, span=span, filled=True, test="voting"), counter())
    assert 0.8 * span <= load_of(steps) <= 0.9 * span
    more = [*module._more(Dice("3/more"), room(span) - 2_500)]
    assert len({each.name for each in more}) == len(more)
    for (
        task
    ) in tasks.values():  # who or what it is about, and what the answer says of them, stand nowhere together
        about = set(re.findall(r"\b[A-Z]\w+", task.question)[1:])
        said_of = {
            word for word in re.findall(r"\w+", task.answer) if word not in ("the", "his", "a", "into")
        }
        for each in more:
            for sentence in re.split(r"[.?!\n]", each.text):
                found = set(re.findall(r"\w+", sentence))
                assert not (found & about and said_of <= found), (task.question, sentence)
    said = [
        part for each in more for part in re.split(r"(?<=[.?!])\s+|\n+", each.text) if part.count(" ") > 4
    ]
    assert len(said) - len(set(said)) < 0.05 * len(said)
