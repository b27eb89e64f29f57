"""Scores measure memory, not phrasing: `perfect`, worded in four styles, scores full marks through the engine.

The frames in `tests/styles.py` were written without knowledge of the matchers. Each answer is set into a frame, with
the values that its matcher calls stale as the history; other messages are answered as `perfect` answers them.
"""

import json
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench import run

if TYPE_CHECKING:
    from tests.styles import STYLES
else:
    from styles import STYLES

AGENT = '''
"""Perfect, in a style."""

import json
import sys
import zlib
from pathlib import Path

sys.path.insert(0, {tests!r})

from ltm_bench import Agent, Message, Reply, Turn
from styles import STYLES


class Styled(Agent):
    free = True
    observes = True
    told_ideal = True

    def __init__(self, *, style: str) -> None:
        self.style = STYLES[style]
        self.histories = json.loads(Path("histories.json").read_text("utf-8"))

    async def reply(self, message: Message) -> Reply:
        waiting = self.histories.get(message.text)
        if not message.ideal or not waiting:
            return Reply(message.ideal or "Noted.")
        pick = zlib.crc32(f"{{message.turn}} {{message.text}}".encode())
        return Reply(self.style(message.ideal, waiting.pop(0), "", pick))

    async def observe(self, turn: Turn) -> None:
        """Hear a turn; nothing has to be remembered, so it can be opened again."""

    can_reopen = True
'''


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A working directory with an agent `styled`."""
    (tmp_path / "agents").mkdir()
    source = AGENT.format(tests=str(Path(__file__).parents[1]))
    (tmp_path / "agents" / "styled.py").write_text(source, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def histories(folder: Path) -> dict[str, list[list[str]]]:
    """Return, for the text of each question of a run, the stale values of its matcher, each time it was asked."""
    found = defaultdict(list)
    with (folder / "events.jsonl").open(encoding="utf-8") as events:
        for event in map(json.loads, events):
            if event.get("event") == "sent" and event.get("expect"):
                found[event["message"]].append(list(event["expect"].get("stale") or ()))
    return found


def check(place: Path, span: str, seed: int, suite: str = "standard") -> None:
    told = run(agent="perfect", suite=suite, span=span, seed=seed)
    assert told.score == told.out_of
    known = histories(told.folder)
    assert any(stale for each in known.values() for stale in each) or suite != "standard"
    (place / "histories.json").write_text(json.dumps(known), encoding="utf-8")
    short = []
    for style in STYLES:
        result = run(agent="styled", settings={"style": style}, suite=suite, span=span, seed=seed, name=style)
        short += [
            f"{style}, {each.scenario}: {question.outcome} ({question.reason}): {question.reply!r}"
            for each in result.examples
            for question in each.questions
            if question.score != 1
        ]
    assert short == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_right_answer_is_right_in_every_style(place: Path, seed: int) -> None:
    check(place, "8k", seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_a_right_answer_about_an_ability_is_right_in_every_style(place: Path, seed: int) -> None:
    check(place, "8k", seed, "abilities")


@pytest.mark.slow
def test_a_right_answer_about_trust_is_right_in_every_style(place: Path) -> None:
    check(place, "8k", 0, "trust")


@pytest.mark.long
@pytest.mark.parametrize("span", ["2k", "32k", "120k"])
def test_a_right_answer_about_an_ability_is_right_at_every_span(place: Path, span: str) -> None:
    check(place, span, 7, "abilities")


@pytest.mark.long
@pytest.mark.parametrize(
    ("span", "seed"), [("8k", 2), ("8k", 3), ("8k", 4), *(("32k", seed) for seed in range(5))]
)
def test_a_right_answer_is_right_in_every_style_at_other_seeds_and_spans(
    place: Path, span: str, seed: int
) -> None:
    check(place, span, seed)
