"""The reference memories: perfect, but for the fault that was asked for."""

import asyncio
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from ltm_bench import Ask, Chat, Fact, Message, Reply, Tell, Turn, lists_all, names_only, run, withholds
from ltm_bench.adapters import ConfigError, make_agent
from ltm_bench.core.dice import Dice
from ltm_bench.core.messages import Buried, Line
from ltm_bench.core.tokens import counter
from ltm_bench.filler.filler import Filler, shipped
from ltm_bench.script.rehearsal import ideal_reply

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

START = datetime(2026, 1, 5, 9, tzinfo=UTC)
TOWNS = ("Cork", "Delft", "Graz", "Izmir", "Leuven")
UNKNOWN = "I do not know."


def told(owner: str, value: str) -> Tell:
    return Tell(f"{owner} lives in {value}.", facts=(Fact(f"where {owner} lives", value),))


def asked(value: str, stale: tuple[str, ...] = (), text: str = "Where?") -> Ask:
    return Ask(text, expect=names_only(value, among=TOWNS, stale=stale))


def replies(lines: Iterable[Line | str], stream: str = "0/towns/0", **settings: Any) -> list[str]:
    """Say these lines to a reference, ten seconds apart; a string is filler. Return its replies to questions."""

    async def talk() -> list[str]:
        agent, said = make_agent("reference", settings), list[str]()
        for turn, line in enumerate(lines):
            at = START + timedelta(seconds=10 * turn)
            if isinstance(line, str):
                await agent.observe(Turn(Message(line, at, turn), Reply("Yes."), "fill"))
                continue
            assert isinstance(line.text, str)
            message = Message(line.text, at, turn, ideal_reply(line), None, line, stream)
            reply = await agent.reply(message)
            said += [reply.text] if isinstance(line, Ask | Chat) else []
        return said

    return asyncio.run(talk())


def share(settings: dict[str, Any], *lines: Line, right: str = "It is Cork.") -> float:
    """Return how often the last reply is right over 400 examples."""
    return sum(replies(lines, f"0/towns/{i}", **settings)[-1] == right for i in range(400)) / 400


def test_a_filter_neither_writes_nor_counts_what_does_not_look_like_a_needle() -> None:
    filler = Filler(shipped(), Dice("x"), counter())
    quiz = next(each.text for each in iter(lambda: filler.compose(900), None) if each.frame.kind == "quiz")
    shopping = Tell("Put an apple on my shopping list for the picnic please.")
    apples = Ask("What is on it?", expect=names_only("apple", among=["apple", "pear"]))
    lines: list[Line | str] = [shopping, *[quiz] * 4, apples]
    assert replies(lines, filters=True, forgets_after=2000) == ["It is apple."]
    assert replies(lines, forgets_after=2000) == [UNKNOWN]
    lost = Tell(f"{quiz} Put an apple on my list.")
    assert replies([lost, apples]) == ["It is apple."]
    assert replies([lost, apples], filters=True) == [UNKNOWN]


@pytest.mark.slow
def test_a_filter_forgets_over_a_longer_span_as_one_that_hears_everything_does(tmp_path: Path) -> None:
    near, far = (run("filter", span, seed=1, reports=tmp_path).score or 0 for span in ("8k", "120k"))
    plain = run("forgetful", "120k", seed=1, reports=tmp_path).score
    assert plain is not None
    assert near > 11
    assert far - plain < 1.5, "it is worth next to nothing to keep only what looks like a needle"


def test_a_needle_inside_a_longer_message_is_what_is_known_of_it() -> None:
    text = "Ada lives in Cork."
    inside = Tell(f"Hi. {text} And you in Graz?", buried=(Buried(text, 2),))
    other = Tell("Bo lives in Graz.")
    assert replies([inside, other, asked("Cork")]) == ["It is Cork."]
    found = [replies([inside, other, asked("Graz")], f"0/towns/{i}", loses=0.5)[-1] for i in range(100)]
    assert 30 < found.count("It is Graz.") < 70, "it rests on the other alone"


def test_it_is_perfect_without_a_fault() -> None:
    assert replies([told("Ada", "Cork"), asked("Cork")]) == ["It is Cork."]


@pytest.mark.parametrize(
    ("settings", "kept"), [({"loses": 0.3}, 0.7), ({"finds": 0.6}, 0.6), ({"uses": 0.8}, 0.8)]
)
def test_a_share_of_the_facts_is_kept(settings: dict[str, Any], kept: float) -> None:
    assert share(settings, told("Ada", "Cork"), asked("Cork")) == pytest.approx(kept, abs=0.07)


def test_a_lost_fact_stays_lost_and_one_that_is_not_found_may_be_found_later() -> None:
    lines: list[Line | str] = [told("Ada", "Cork"), *(asked("Cork", text=f"{i}?") for i in range(20))]
    assert {len(set(replies(lines, f"0/towns/{i}", loses=0.5))) for i in range(20)} == {1}
    assert set(replies(lines, finds=0.5)) == {"It is Cork.", UNKNOWN}


def test_a_fact_that_was_told_twice_is_lost_only_if_both_are() -> None:
    twice = share({"loses": 0.5}, told("Ada", "Cork"), told("Ada", "Cork"), asked("Cork"))
    assert twice == pytest.approx(0.75, abs=0.07)


def test_only_the_facts_that_the_reply_names_are_needed() -> None:
    assert replies([told("Ada", "Cork"), told("Ben", "Graz"), asked("Graz")], holds=1) == ["It is Graz."]
    assert replies([told("Ada", "Cork"), told("Ben", "Graz"), asked("Cork")], holds=1) == [UNKNOWN]


def test_a_list_lacks_what_is_lost() -> None:
    lines: list[Line | str] = [Tell(f"I like {town}.") for town in TOWNS[:4]]
    question = Ask("Which?", expect=lists_all(TOWNS[:4], among=TOWNS))
    assert json.loads(replies([*lines, question], holds=3)[0]) == ["Delft", "Graz", "Izmir"]


def test_needles_without_facts_are_needed_if_they_name_the_answer_or_else_all() -> None:
    needles: list[Line | str] = [Tell("Off to Cork!"), Tell("It rains.")]
    assert replies([*needles, asked("Cork")], holds=1) == [UNKNOWN]
    assert replies([*needles[::-1], asked("Cork")], holds=1) == ["It is Cork."]
    assert replies([*needles[::-1], asked("Graz")], holds=1) == [UNKNOWN]


def test_a_task_that_an_earlier_reply_fulfils_fails_there() -> None:
    assert replies([Tell("Remember: Cork."), Chat("Now!", ideal="Cork.")], loses=1.0) == [UNKNOWN]


def test_a_stale_reply_is_the_value_before() -> None:
    lines: list[Line | str] = [told("Ada", "Graz"), told("Ada", "Cork"), asked("Cork", stale=("Graz",))]
    assert replies(lines, stale=1.0) == ["It is Graz."]
    assert replies([told("Ada", "Cork"), asked("Cork")], stale=1.0) == ["It is Cork."]


def test_a_mixed_up_reply_is_the_value_of_another_owner() -> None:
    assert replies([told("Ada", "Cork"), told("Ben", "Graz"), asked("Cork")], mixes=1.0) == ["It is Graz."]
    assert replies([told("Ada", "Cork"), asked("Cork")], mixes=1.0) == ["It is Cork."]


def test_a_leaking_reply_says_the_secret() -> None:
    question = Ask("Where does Ada live?", expect=withholds("Cork", among=TOWNS))
    assert "Cork" not in replies([told("Ada", "Cork"), question])[0]
    assert "Cork" in replies([told("Ada", "Cork"), question], leaks=1.0)[0]


def test_what_was_told_long_ago_is_forgotten_and_what_was_told_just_now_cannot_be_read() -> None:
    lines: list[Line | str] = [told("Ada", "Cork"), "Good night. " * 100, asked("Cork")]
    assert replies(lines, forgets_after=100) == [UNKNOWN]
    assert replies(lines, forgets_after=1000) == ["It is Cork."]
    assert replies(lines, readable_after=30) == [UNKNOWN]
    assert replies(lines, readable_after=20) == ["It is Cork."]


def test_chance_depends_on_the_seeds_and_the_fact_alone() -> None:
    lines: list[Line | str] = [told("Ada", "Cork"), asked("Cork")]
    found = [
        [replies(lines, f"{run}/towns/{i}", loses=0.5, seed=seed) for i in range(30)]
        for run, seed in ((0, 0), (1, 0), (0, 1))
    ]
    assert found[0] == [replies(["Hm.", *lines], f"0/towns/{i}", loses=0.5) for i in range(30)]
    assert found[0] != found[1] != found[2] != found[0]


def test_it_scores_the_same_in_every_mode(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    only: dict[str, Any] = {"scenarios": ["colours", "name_list", "prospective_memory"], "examples": 2}
    faults: dict[str, Any] = {"loses": 0.3, "finds": 0.7}
    modes: list[dict[str, Any]] = [{}, {"quick": True}, {"isolated": True}]
    found = [run(agent="reference", span="2k", settings=faults, **only, **mode).score for mode in modes]
    assert found[0] == found[1] == found[2]
    assert 0 < (found[0] or 0) < 3


def test_a_share_outside_the_possible_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"reference: loses = 1.5, but it is a share, from 0 to 1"):
        make_agent("reference", {"loses": 1.5})
