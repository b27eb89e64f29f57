"""Progress is right even when examples overrun; the time left follows from it."""

from itertools import pairwise
from pathlib import Path

import pytest

from ltm_bench import run
from ltm_bench.cli import display
from ltm_bench.runner.progress import Progress

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

CHATTY = '''"""Chatty: says far more than anybody planned."""
from ltm_bench import Agent, Message, Reply


class Chatty(Agent):
    free = True

    def __init__(self, *, words: int = 0) -> None:
        self._reply = "and " * words or "Yes."

    async def reply(self, message: Message) -> Reply:
        return Reply(self._reply)
'''


@pytest.mark.parametrize("words", [0, 800])
@pytest.mark.parametrize("isolated", [False, True])
def test_a_run_is_done_when_it_is_done_and_not_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: int, isolated: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "chatty.py").write_text(CHATTY, "utf-8")
    seen: list[Progress] = []
    run(
        agent="chatty", span="2k", scenarios=["colours", "jokes"], isolated=isolated,
        settings={"words": words}, progress=seen.append,
    )  # fmt: skip
    fractions = [each.fraction for each in seen]
    assert all(a <= b for a, b in pairwise(fractions))
    assert all(each.fraction < 1 for each in seen if each.done < each.examples)
    assert fractions[-1] == 1
    middle = next(each for each in seen if each.turns >= seen[-1].turns / 2)
    assert 0.2 < middle.fraction < 0.8


@pytest.mark.parametrize("suite", ["abilities", "standard"])
def test_the_score_so_far_ends_as_the_final_score(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suite: str
) -> None:
    monkeypatch.chdir(tmp_path)
    seen: list[Progress] = []
    done = run(agent="vector_memory", span="8k", suite=suite, examples=2, isolated=True, progress=seen.append)
    assert seen[-1].score == pytest.approx(done.results.score_so_far)
    assert 0 < seen[-1].score < seen[-1].out_of


def test_the_score_so_far_never_falls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mean of what has been asked would begin with all points if the first reply is right, and then fall."""
    monkeypatch.chdir(tmp_path)
    seen: list[Progress] = []

    class Forgets:
        def __init__(self) -> None:
            self.right = ["It is red.", "It is green.", "It is blue.", "It is white.", "It is black."]

        def __call__(self, message: str) -> str:
            return self.right.pop() if "favourite" in message and self.right else "Okay."

    for agent in ("vector_memory", Forgets):
        run(agent=agent, span="2k", scenarios=["colours", "jokes"], examples=4, progress=seen.append)
        scores = [each.score for each in seen]
        assert all(a <= b for a, b in pairwise(scores))
        seen.clear()


def test_the_time_left_counts_from_what_was_done_before(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 100.0
    monkeypatch.setattr("ltm_bench.cli.display.time.monotonic", lambda: now)
    clock = display.Remaining()
    clock.start(0.5)
    assert clock.left(0.5) == ""
    now = 160.0
    assert clock.left(0.6) == "0:04:00 left"
