"""Whole runs with misbehaving agents, through the command that a user types."""

import json
import os
import re
import shutil
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import ltm_bench
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.tokens import counter
from ltm_bench.log.lines import to_line

if TYPE_CHECKING:
    from tests.conftest import Command, Done

pytestmark = pytest.mark.proof(files=("agents/*.*", "configs/*.*"))

Run = Callable[..., "Done"]

HEAD = """
import os
from ltm_bench import Agent, AgentError, Finish, Message, Reply, Usage

"""
AGENTS = {
    "breaks": """
class Breaks(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        if message.turn >= 40 and os.path.exists("broken"):
            raise AgentError("the line is dead")
        return Reply("Okay.")
""",
    "crashes": """
class Crashes(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        return {}["sk-secret-never-shown"]
""",
    "mistypes": """
class Mistypes(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        return "a string"
""",
    "overflows": """
class Overflows(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        return Reply("", finish=Finish.OVERFLOW if message.turn > 100 else Finish.STOP)
""",
    "refuses": """
class Refuses(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        return Reply("I can't help with that.", finish=Finish.REFUSAL)
""",
    "babbles": """
TEXTS = ["\\x00\\x1b[2J", "\\ud800", "", "<script>alert(1)</script>", "{{x}}", "word " * 100_000, "\\u202e"]
class Babbles(Agent):
    free = True
    async def reply(self, message: Message) -> Reply:
        return Reply(TEXTS[message.turn % len(TEXTS)])
""",
    "costs": """
class Costs(Agent):
    async def reply(self, message: Message) -> Reply:
        return Reply("Okay.", Usage(uncached=100_000, output=10, model="gpt-4o", provider="openai"))
    def reserve(self, message: Message) -> Usage:
        return Usage(uncached=100_000, output=10, model="gpt-4o", provider="openai")
""",
    "mixes": """
MODEL = {"model": "gpt-4o", "provider": "openai"}
class Mixes(Agent):
    async def reply(self, message: Message) -> Reply:
        if message.turn == 0:
            return Reply("Okay.")
        beside = Usage(uncached=50, model="text-embedding-3-small", provider="openai")
        free = Usage(uncached=7, model="my-own")
        return Reply("Okay.", Usage(uncached=1000, cache_read=2000, output=10, **MODEL, besides=(beside, free)))
""",
    "recalls": """
from ltm_bench import Memory
PALETTE = "red blue green yellow purple orange pink brown black white grey turquoise beige gold silver".split()
class Recalls(Agent):
    free = True
    def __init__(self, *, way: str = "nothing", uses: int | None = None) -> None:
        self.way, self.uses, self.told = way, uses, []
    async def reply(self, message: Message) -> Reply:
        self.told.append(message)
        if self.way == "right" and "?" in message.text:
            said = [word.strip(".:,;") for each in self.told for word in each.text.split()]
            return Reply([word for word in said if word in PALETTE][-1])
        return Reply("Okay.")
    async def recall(self, query, limit):
        if self.way == "nothing":
            return []
        if self.way == "fails":
            raise AgentError("no")
        exact = [m for m in self.told if m.text == query]
        found = self.told if self.way in ("everything", "right") else exact
        if self.way == "distracted" and "?" in query:
            first = [m for m in self.told if "?" not in m.text][:1]
            return [Memory("Rain is likely.", relevance=0.75), *(Memory(m.text, turn=m.turn) for m in first)]
        if self.way == "halves":  # as products divide a limit among kinds of memories
            weather = [Memory(f"Rain {n}.") for n in range(limit // 2)]
            return [*weather, *(Memory(m.text, turn=m.turn) for m in reversed(self.told))][:limit]
        if self.way == "extracts":  # a memory of every turn, and the colours in none of them
            bare = [" ".join(word for word in m.text.split() if word.strip(".:,;!?").lower() not in PALETTE)
                    for m in self.told]
            return [Memory(f"The user said: {text}", turn=m.turn) for text, m in zip(bare, self.told)]
        return [Memory(m.text, m.at, m.turn if self.way != "texts" else None) for m in found]
""",
    "unpriced": """
class Unpriced(Agent):
    async def reply(self, message: Message) -> Reply:
        return Reply("Okay.")
""",
}


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "agents").mkdir()
    for name, code in AGENTS.items():
        (tmp_path / "agents" / f"{name}.py").write_text(f'"""{name.title()}."""\n{HEAD}{code}', "utf-8")
    return tmp_path


@pytest.fixture
def run(command: "Command") -> Run:
    def call(agent: str, *more: str) -> "Done":
        return command("run", "--span", "2k", "--suite", "smoke", "--name", "r", "--agent", agent, *more)

    return call


def results(place: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((place / "reports" / "r" / "results.json").read_text("utf-8"))
    return found


def turns(place: Path, event: str) -> list[int]:
    lines = (place / "reports" / "r" / "events.jsonl").read_text("utf-8").splitlines()
    return [e["turn"] for e in map(json.loads, lines) if e["event"] == event]


def test_an_agent_that_fails_leaves_a_run_that_can_be_resumed(
    place: Path, run: Run, command: "Command"
) -> None:
    (place / "broken").touch()
    stopped = run("breaks")
    assert stopped.exit_code == 3
    assert "the line is dead" in stopped.output
    assert "ltm-bench resume r" in stopped.output
    so_far = results(place)
    assert so_far["complete"] is False
    assert so_far["score"] is None
    unanswered = [q["outcome"] for e in so_far["examples"] for q in e["questions"] if q["reply"] is None]
    assert set(unanswered) <= {"agent_error", "not_reached"}
    assert "incomplete" in (place / "reports" / "r" / "report.html").read_text("utf-8").lower()
    (place / "broken").unlink()
    assert command("resume", "r").exit_code == 0
    assert results(place)["complete"] is True
    assert turns(place, "sent") == turns(place, "replied") == list(range(len(turns(place, "sent"))))


def test_a_bug_in_an_agent_is_one_line_and_not_a_wrong_answer(place: Path, run: Run) -> None:
    stopped = run("crashes")
    assert stopped.exit_code == 3
    assert "the agent failed at turn 0: KeyError" in " ".join(stopped.output.split())
    assert re.search(r"agents/crashes\.py:\d+\)", "".join(stopped.output.split()))
    assert "Traceback" not in stopped.output
    assert results(place)["outcomes"] == {"not_reached": 11}


def test_a_reply_of_the_wrong_type_is_named(place: Path, run: Run) -> None:
    stopped = run("mistypes")
    assert stopped.exit_code == 3
    assert "reply() returned str, not a Reply" in stopped.output


def test_an_overflow_and_a_refusal_are_told_apart_from_wrong_answers(place: Path, run: Run) -> None:
    assert run("overflows").exit_code == 0
    outcomes = results(place)["outcomes"]
    assert set(outcomes) <= {"overflow", "malformed", "wrong"}
    assert outcomes.get("wrong", 0) <= 1  # a quotation that was due, and was not said
    assert run("refuses", "--fresh").exit_code == 0
    fresh = next(path for path in (place / "reports").iterdir() if path.name != "r")
    assert json.loads((fresh / "results.json").read_text("utf-8"))["outcomes"] == {"abstained": 16}


def test_whatever_an_agent_says_the_run_ends_and_its_page_can_be_written(
    place: Path, run: Run, command: "Command"
) -> None:
    done = run("babbles")
    assert done.exit_code == 0, done.output
    assert results(place)["score"] == 0
    page = (place / "reports" / "r" / "report.html").read_text("utf-8")
    assert page.count("<script") == 1  # its own
    assert "<script" not in (place / "reports" / "r" / "transcript.html").read_text("utf-8")
    assert command("rescore", "r").exit_code == 0
    assert command("show", "r").exit_code == 0


def test_a_budget_stops_the_run_before_the_call_that_would_exceed_it(
    place: Path, run: Run, command: "Command"
) -> None:
    stopped = run("costs", "--max-cost", "1.10")  # a call costs 0.2501
    assert stopped.exit_code == 4, stopped.output
    assert len(turns(place, "replied")) - _scripted(place) == 4
    assert results(place)["costs"]["dollars"] == pytest.approx(1.0004)
    assert command("resume", "r", "--max-cost", "1.30").exit_code == 4
    assert len(turns(place, "replied")) - _scripted(place) == 5
    assert command("resume", "r").exit_code == 4, "nobody said that the limit falls"
    assert command("resume", "r", "--without", "max-cost").exit_code == 0


def test_a_call_whose_reply_was_lost_is_spent_so_that_a_crash_cannot_exceed_the_budget(
    place: Path, run: Run, command: "Command"
) -> None:
    assert run("costs", "--max-cost", "1.10").exit_code == 4
    log = place / "reports" / "r" / "events.jsonl"
    lines = log.read_bytes().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if b'"replied"' in line and b'"usage"' in line)
    log.write_bytes(b"".join(lines[:last]))  # as if killed after the fourth reply arrived
    resumed = command("resume", "r", "--max-cost", "1.10")
    assert resumed.exit_code == 4
    assert "may have been sent twice" not in resumed.output  # not sent again, since the budget is exhausted
    again = command("resume", "r", "--max-cost", "1.30")
    assert again.exit_code == 4
    assert "may have been sent twice" in again.output
    # The side file knows the lost call: five were paid, of whose replies the log has four.
    assert results(place)["costs"]["dollars"] == pytest.approx(1.2505)
    assert command("resume", "r", "--max-cost", "1.49").exit_code == 4
    assert results(place)["costs"]["dollars"] == pytest.approx(1.2505)  # too little is left for another call
    assert command("resume", "r", "--max-cost", "1.51").exit_code == 4
    assert results(place)["costs"]["dollars"] == pytest.approx(1.5006)


@pytest.mark.parametrize(
    "record",
    [
        {"turn": 5, "doubtful": True, "dollars": "many"},
        {"turn": 5, "doubtful": True, "dollars": float("nan")},
        {"turn": 5, "dollars": [1]},
        {"turn": 5, "failed_after": 1, "attempts": 3},
        {"turn": 5, "failed_after": 1, "attempts": ["x", {"status": "500"}, {}]},
        {"turn": 5, "failed_after": 1, "attempts": []},
    ],
)
@pytest.mark.parametrize("name", ["timings.jsonl", "calls.jsonl"])
def test_nonsense_in_a_side_file_neither_stops_a_run_nor_counts_as_money(
    place: Path, run: Run, command: "Command", record: dict[str, Any], name: str
) -> None:
    assert run("costs", "--max-cost", "1.10").exit_code == 4
    folder = place / "reports" / "r"
    lines = (folder / "events.jsonl").read_bytes().splitlines(keepends=True)
    last = max(i for i, line in enumerate(lines) if b'"replied"' in line and b'"usage"' in line)
    (folder / "events.jsonl").write_bytes(b"".join(lines[:last]))
    with (folder / name).open("a", encoding="utf-8") as file:
        file.write(json.dumps(record) + "\n")
    assert command("resume", "r", "--max-cost", "1.10").exit_code == 4  # the lost call counts as spent
    assert results(place)["costs"]["dollars"] == pytest.approx(4 * 0.2501)
    assert command("resume", "r", "--max-cost", "1.30").exit_code == 4
    assert results(place)["costs"]["dollars"] == pytest.approx(5 * 0.2501)


def test_in_an_isolated_run_every_timing_names_its_conversation(place: Path, run: Run) -> None:
    assert run("refuses", "--isolated").exit_code == 0
    lines = (place / "reports" / "r" / "timings.jsonl").read_bytes().splitlines()
    named = {json.loads(line)["conversation"] for line in lines}
    assert named == {path.stem for path in (place / "reports" / "r" / "isolated").glob("*.jsonl")}


@pytest.mark.parametrize(("agent", "seconds", "least", "most"), [
    ("costs", 0.0, 5, 300), ("costs", 1e9, 1, 11), ("goldfish", 0.0, 1, 11),
])  # fmt: skip
@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="asks Linux which file a descriptor is")
def test_paid_replies_are_synced_to_disk_as_they_arrive(
    place: Path,
    run: Run,
    monkeypatch: pytest.MonkeyPatch,
    agent: str,
    seconds: float,
    least: int,
    most: int,
) -> None:
    synced: list[str] = []
    monkeypatch.setattr("ltm_bench.log.recorder.SYNC_SECONDS", seconds)
    monkeypatch.setattr(os, "fsync", lambda file: synced.append(os.readlink(f"/proc/self/fd/{file}")))
    assert run(agent).exit_code == 0
    synced = [name for name in synced if name.startswith(str(place))]
    assert least <= len(synced) <= most  # the folder, besides the files
    side = [name for name in synced if name.endswith("timings.jsonl")]
    log = [name for name in synced if name.endswith("events.jsonl")]
    assert side
    assert len(side) >= len(log) - 1  # a reply's cost is there as soon as the reply is


def _scripted(place: Path) -> int:
    lines = (place / "reports" / "r" / "events.jsonl").read_text("utf-8").splitlines()
    events = [json.loads(line) for line in lines]
    fills = {e["turn"] for e in events if e.get("kind") == "fill"}
    return sum(e["event"] == "replied" and e["turn"] in fills and "usage" not in e for e in events)


def test_an_unknown_price_stays_unknown_and_rules_out_a_budget(place: Path, run: Run) -> None:
    refused = run("unpriced", "--max-cost", "1")
    assert refused.exit_code == 1
    assert "agent unpriced does not say what a reply uses at most" in " ".join(refused.output.split())
    done = run("unpriced")
    assert done.exit_code == 0
    assert results(place)["costs"]["dollars"] is None
    assert "unknown" in done.output


def test_a_finished_run_says_so_and_a_fresh_one_is_written_beside_it(place: Path, run: Run) -> None:
    assert run("goldfish").exit_code == 0
    before = (place / "reports" / "r" / "events.jsonl").read_bytes()
    again = run("goldfish")
    assert again.exit_code == 0
    assert "is finished already" in again.output
    assert run("parrot").exit_code == 1
    assert run("parrot", "--fresh").exit_code == 0
    assert (place / "reports" / "r" / "events.jsonl").read_bytes() == before
    assert len(list((place / "reports").iterdir())) == 2


def test_every_star_has_its_depth_and_closing_messages_are_not_needles(place: Path, run: Run) -> None:
    assert run("perfect").exit_code == 0
    stars = next(e for e in results(place)["examples"] if e["scenario"] == "counting_stars")
    assert len(stars["needles"]) == len(stars["questions"][0]["parts"]) == 8
    depths = [needle["depth"] for needle in stars["needles"]]
    assert depths == sorted(depths, reverse=True)
    assert 1700 < depths[0] <= 2000
    assert 100 < depths[-1] < 400


@pytest.mark.parametrize(
    ("way", "lost"),
    [
        ("nothing", "not stored"),
        ("exact", "not retrieved"),
        ("texts", "not retrieved"),
        ("everything", "retrieved, but not used"),
    ],
)
@pytest.mark.parametrize("isolated", [False, True])
def test_agents_with_retrieval_show_where_an_answer_was_lost(
    place: Path, run: Run, way: str, lost: str, isolated: bool
) -> None:
    more = ("--isolated",) if isolated else ()
    assert run("recalls", "-A", f"way={way}", *more).exit_code == 0
    failed = [q for e in results(place)["examples"] for q in e["questions"] if q["score"] < 1]
    kinds = {
        "not stored": lambda r: r["stored"] == 0,
        "not retrieved": lambda r: r["stored"] == r["needles"] > r["retrieved"] == 0,
        "retrieved, but not used": lambda r: r["stored"] == r["retrieved"] == r["needles"],
    }
    assert failed
    assert all(kinds[lost](q["retrieval"]) for q in failed)
    page = (place / "reports" / "r" / "report.html").read_text("utf-8")
    assert f"{len(failed)} {lost}" in page
    assert "Hit@5" in page


def test_a_lost_needle_is_shown_with_what_was_found_instead(place: Path, run: Run) -> None:
    assert run("recalls", "-A", "way=distracted", "--scenario", "colours", "--isolated").exit_code == 0
    content = results(place)
    asked = [q for e in content["examples"] for q in e["questions"]]
    for example in content["examples"]:
        for question in example["questions"]:
            traced = question["retrieval"]["traces"]
            assert [each["turn"] for each in traced] == [n["turn"] for n in example["needles"]]
            assert all(each["stored"] for each in traced)
            assert [each["rank"] for each in traced] == [2, *[None] * (len(traced) - 1)]
            [instead] = question["retrieval"]["instead"]
            assert (instead["rank"], instead["text"], instead["relevance"]) == (1, "Rain is likely.", 0.75)
    assert content["ranking"]["questions"] == len(asked)
    assert content["ranking"]["hit"] == {"1": 0.0, "3": 1.0, "5": 1.0, "10": 1.0, "50": 1.0}
    assert content["ranking"]["mrr"] == 0.5
    page = (place / "reports" / "r" / "report.html").read_text("utf-8")
    assert 'rank 1, score 0.75: <div class="said" dir="auto">Rain is likely.</div>' in page
    assert "stored, retrieved at rank 2" in page
    assert "stored, not retrieved" in page


def test_a_memory_of_the_turn_without_the_answer_is_not_the_answer_stored(place: Path, run: Run) -> None:
    assert run("recalls", "-A", "way=extracts", "--scenario", "colours", "--isolated").exit_code == 0
    content = results(place)
    asked = [q["retrieval"] for e in content["examples"] for q in e["questions"]]
    assert content["lost"] == {"not stored": len(asked)}
    for each in asked:
        newest = each["traces"][-1]  # the colour that is asked for
        assert (newest["stored"], newest["empty"], newest["rank"]) == (False, True, None)
        assert newest["turn"] in [other["turn"] for other in each["instead"]] or len(each["instead"]) == 5
        assert all(earlier["stored"] and not earlier["empty"] for earlier in each["traces"][:-1]), (
            "what gives no word of the answer is found by its turn"
        )
    page = (place / "reports" / "r" / "report.html").read_text("utf-8")
    assert "a memory of that turn exists, without the answer" in page


class Lists(ltm_bench.Agent):
    """Finds nothing, and lists all that it was told."""

    free = True

    def __init__(self) -> None:
        self.told: list[ltm_bench.Message] = []

    async def reply(self, message: ltm_bench.Message) -> ltm_bench.Reply:
        self.told.append(message)
        return ltm_bench.Reply("I do not know.")

    async def recall(self, query: str, limit: int) -> Sequence[ltm_bench.Memory]:
        return []

    async def memories(self) -> AsyncIterator[ltm_bench.Memory]:
        for each in self.told:
            yield ltm_bench.Memory(each.text, turn=each.turn)


@pytest.mark.unkept  # what stands behind an object of this file is more than a proof knows
def test_what_an_agent_lists_is_stored_whatever_its_search_finds(tmp_path: Path) -> None:
    found = ltm_bench.run(Lists, span="2k", scenarios=["colours", "counting_stars"], reports=tmp_path).results
    assert set(found.lost) == {"not retrieved"}


def test_what_lies_beyond_the_memories_that_the_agent_uses_is_not_retrieved(place: Path, run: Run) -> None:
    more = ("-A", "way=distracted", "-A", "uses=1", "--scenario", "colours", "--isolated")
    assert run("recalls", *more).exit_code == 0
    content = results(place)
    asked = [q["retrieval"] for e in content["examples"] for q in e["questions"]]
    assert {(each["k"], each["retrieved"], each["traces"][0]["rank"]) for each in asked} == {(1, 0, 2)}
    assert content["lost"] == {"not retrieved": len(asked)}
    assert (content["ranking"]["k"], content["ranking"]["recall"]["1"]) == (1, 0.0)
    page = (place / "reports" / "r" / "report.html").read_text("utf-8")
    assert "at rank 2, beyond those that the agent uses" in page
    assert "among the 1 memory that the agent uses" in page
    assert "The agent uses 1: what lies beyond counts as not retrieved; 50 is only a depth." in page


@pytest.mark.parametrize(("uses", "said"), [(4, 4), (60, 60), (0, None)])
def test_the_agent_is_asked_for_as_many_memories_as_it_uses(
    place: Path, run: Run, uses: int, said: int | None
) -> None:
    more = ("-A", "way=halves", "-A", f"uses={uses}", "--scenario", "colours", "--isolated")
    assert run("recalls", *more).exit_code == 0
    content = results(place)
    asked = [(e, q["retrieval"]) for e in content["examples"] for q in e["questions"]]
    assert content["ranking"]["k"] == said
    for example, each in asked:
        newest = [needle["turn"] for needle in example["needles"]][-((said or 50) // 2) :]
        assert [t["turn"] for t in each["traces"] if t["rank"] and t["used"] is not False] == newest
        assert each["retrieved"] == len(newest)
        assert min(t["rank"] for t in each["traces"]) == max(said or 0, 50) // 2 + 1, "at its full depth"


def test_needles_are_ranked_for_right_replies_too(place: Path, run: Run) -> None:
    assert run("recalls", "-A", "way=right", "--scenario", "colours", "--isolated").exit_code == 0
    content = results(place)
    assert set(content["outcomes"]) == {"correct"}
    found = [q["retrieval"] for e in content["examples"] for q in e["questions"]]
    assert all(each["stored"] is None and each["retrieved"] == each["needles"] for each in found)
    assert content["lost"] == {}
    assert content["ranking"]["hit"]["50"] == 1.0


INDEXER = '''"""Indexer: what it is told can be retrieved a while later, and only settle() waits for that."""
from pathlib import Path
from ltm_bench import Agent, AgentError, Message, Reply


class Indexer(Agent):
    free = True

    def __init__(self) -> None:
        self.pending = False

    async def settle(self) -> None:
        self.pending = False

    async def reply(self, message: Message) -> Reply:
        if "colour" in message.text and "?" in message.text and self.pending:
            raise AgentError("asked before the index was ready")
        self.pending = True
        if "colour" in message.text and "?" in message.text and not Path("asked").exists():
            Path("asked").touch()
            raise AgentError("killed at the question")
        return Reply("Noted.")

    async def observe(self, turn: object) -> None:
        self.pending = True
'''


def test_a_question_waits_for_the_agent_to_settle_even_when_repeated(place: Path, run: Run) -> None:
    (place / "agents").mkdir(exist_ok=True)
    (place / "agents" / "indexer.py").write_text(INDEXER, "utf-8")
    assert "killed at the question" in run("indexer", "--scenario", "colours").output
    assert run("indexer", "--scenario", "colours").exit_code == 0
    assert results(place)["outcomes"] == {"wrong": results(place)["scenarios"][0]["n"]}


@pytest.mark.parametrize("agent", [("recalls", "-A", "way=fails"), ("goldfish",)])
def test_agents_without_retrieval_do_not_say_where_an_answer_was_lost(
    place: Path, run: Run, agent: tuple[str, ...]
) -> None:
    assert run(*agent).exit_code == 0
    assert {q["retrieval"] for e in results(place)["examples"] for q in e["questions"]} == {None}
    assert "Where retrieval lost" not in (place / "reports" / "r" / "report.html").read_text("utf-8")


def test_a_missed_threshold_has_its_own_exit_code(place: Path, run: Run) -> None:
    missed = run("goldfish", "--fail-under", "3")
    assert missed.exit_code == 2
    assert "the score 0.00 of 11 is below --fail-under 3" in missed.output


def test_the_accounts_list_usage_by_purpose_and_model(place: Path, run: Run) -> None:
    assert run("mixes").exit_code == 0
    costs = results(place)["costs"]
    accounts = {(a["purpose"], a["model"]): a for a in costs["accounts"]}
    calls = costs["calls"] - 1
    [unknown, own, beside, free] = accounts.values()
    assert (unknown["model"], unknown["calls"], unknown["unknown"], unknown["dollars"]) == (None, 1, 1, None)
    assert (own["calls"], own["uncached"], own["cache_read"], own["output"]) == (
        calls,
        1000 * calls,
        2000 * calls,
        10 * calls,
    )
    assert own["dollars"] == pytest.approx(calls * (1000 * 2.5 + 2000 * 1.25 + 10 * 10) / 1e6)
    assert (beside["purpose"], beside["uncached"]) == ("beside the agent", 50 * calls)
    assert beside["dollars"] == pytest.approx(calls * 50 * 0.02 / 1e6)
    assert (free["model"], free["dollars"]) == ("my-own", None)
    assert costs["dollars"] is None
    day = json.loads((place / "reports/r/environment.json").read_text("utf-8"))["started"][0][:10]
    assert costs["price_list"].endswith(f", prices of {day}")
    page = (place / "reports" / "r" / "report.html").read_text("utf-8")
    assert "Usage and cost" in page
    assert "text-embedding-3-small" in page
    assert run("mixes").exit_code == 0  # finished, so read again from its log
    assert results(place)["costs"] == costs


def test_a_run_of_an_earlier_release_is_priced_as_on_the_day_it_ran(
    place: Path, run: Run, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    import genai_prices

    assert run("costs").exit_code == 0
    (place / "reports" / "r" / "calls.jsonl").unlink()
    asked: list[Any] = []
    price = genai_prices.calc_price

    def calc(*words: Any, **how: Any) -> Any:
        asked.append(how["genai_request_timestamp"])
        return price(*words, **how)

    monkeypatch.setattr(genai_prices, "calc_price", calc)
    path = place / "reports" / "r" / "environment.json"
    path.write_text(json.dumps({"started": ["2026-03-01T10:00:00+00:00", "2026-09-01T10:00:00+00:00"]}))
    assert command("report", "r").exit_code == 0
    assert {each.date().isoformat() for each in asked} == {"2026-03-01"}
    assert results(place)["costs"]["price_list"].endswith(", prices of 2026-03-01")


def test_live_filler_is_answered_by_the_agent(place: Path, run: Run) -> None:
    assert run("perfect", "--filler", "live", "--fail-under", "5").exit_code == 0
    assert results(place)["costs"]["calls"] == results(place)["turns"]
    assert run("goldfish", "--filler", "live", "--fresh").exit_code == 0


def test_timings_are_kept_out_of_the_log(place: Path, run: Run) -> None:
    run("goldfish")
    log = (place / "reports" / "r" / "events.jsonl").read_text("utf-8")
    assert "seconds" not in log
    timings = (place / "reports" / "r" / "timings.jsonl").read_text("utf-8").splitlines()
    assert {"turn", "seconds", "operations"} in [set(json.loads(line)) for line in timings]


def test_a_folder_that_cannot_be_written_to_is_reported(place: Path, run: Run) -> None:
    (place / "reports").write_text("a file where a folder should be", "utf-8")
    stopped = run("goldfish")
    assert stopped.exit_code == 1
    assert "reports" in stopped.output
    assert "Traceback" not in stopped.output


FILLER = 120
"""A filler turn after those that are composed again and compared."""


@pytest.fixture(scope="module")
def long_run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the reports of a conversation with enough filler that resuming skips most of it."""
    folder = tmp_path_factory.mktemp("long")
    ltm_bench.run(agent="goldfish", span="32k", name="r", reports=folder)
    return folder


@pytest.fixture
def log(place: Path, long_run: Path) -> Path:
    """Return the log of a copy of that run."""
    shutil.copytree(long_run, place / "reports")
    return place / "reports" / "r" / "events.jsonl"


def test_every_text_has_the_tokens_that_its_tokenizer_gives_it(log: Path) -> None:
    count = counter().count
    for event in map(json.loads, log.read_text("utf-8").splitlines()):
        if "tokens" in event and event["event"] != "finished":
            assert event["tokens"] == count(event.get("message") or event.get("reply") or ""), event


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
@pytest.mark.parametrize("boundary", [0, 1, 2])
def test_a_run_with_much_filler_resumes_as_if_nothing_had_happened(
    log: Path, command: "Command", share: float, boundary: int
) -> None:
    lines = log.read_bytes().splitlines(keepends=True)
    log.write_bytes(b"".join(lines[: int(share * (len(lines) - 2)) + boundary]))
    assert command("resume", "r").exit_code == 0
    assert log.read_bytes().splitlines(keepends=True) == lines


@pytest.mark.parametrize(
    ("key", "edit", "more"),
    [
        ("message", lambda text: "Quiz: " + text, 0),
        ("message", lambda text: "Quiz: " + text, 20),
        ("message", lambda text: text.replace("\n", "\nAnd forget all you know.\n", 1), 20),
        ("message", lambda text: text.replace(text[text.rfind("\n") + 3 :], "?"), 0),
        ("message", lambda text: text + "\nQ: One more? A: Yes", 0),
        ("message", lambda text: text + "\nQ: One more? A: Yes", 20),
        ("message", lambda text: text.rpartition("\n")[0], 0),
        ("message", lambda text: text.rpartition("\n")[0], 20),
        ("message", lambda text: text.partition("\n")[0], 0),
        ("reply", lambda text: "Fine.", 0),
    ],
)
def test_filler_in_a_log_that_is_not_ours_is_refused(
    log: Path, command: "Command", key: str, edit: Callable[[str], str], more: int
) -> None:
    events = [json.loads(line) for line in log.read_bytes().splitlines()]
    fills = [i for i, event in enumerate(events) if event.get("kind") == "fill"][FILLER:]
    # A quiz, whose questions are numbered or answered: a plan that lacks its last line could be one.
    place = next(k for k, i in enumerate(fills) if "quiz" in events[i]["message"].lower().partition("\n")[0])
    edited = events[fills[place] + (key == "reply")]
    edited[key] = edit(edited[key])
    log.write_bytes(b"".join(to_line(event) for event in events[: fills[place + more] + 2]))
    refused = command("resume", "r")
    assert refused.exit_code == 1, refused.output
    assert f"the log says {key} = " in refused.output
    assert "the scripts now say" in refused.output


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_key_appears_in_no_file_of_a_run(
    place: Path, server: Provider, key: str, provider: str, run: Run
) -> None:
    url = server.openai_url if provider == "openai" else server.url
    done = run(
        f"{provider}_chat", "-A", "model=x", "-A", "window=100000", "--base-url", url, "--scenario", "colours"
    )
    assert done.exit_code == 0, done.output
    assert key not in done.output
    for folder, _, files in os.walk(place / "reports"):
        for file in files:
            assert key.encode() not in (Path(folder) / file).read_bytes(), file


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
@pytest.mark.parametrize(
    ("kinds", "details", "exit_code"),
    [
        ((), {}, 0),
        (("error",), {"status": 429, "times": 2}, 0),
        (("error",), {"status": 500, "times": 2}, 0),
        (("cut",), {}, 0),
        (("hang",), {"seconds": 60}, 0),
        (("error",), {"status": 401, "times": 99}, 3),
    ],
)
def test_a_whole_run_through_the_sdks_survives_a_faulty_provider(
    place: Path,
    server: Provider,
    key: str,
    provider: str,
    kinds: tuple[Any, ...],
    details: dict[str, Any],
    exit_code: int,
    run: Run,
) -> None:
    url = server.openai_url if provider == "openai" else server.url
    if kinds:
        server.fail(*kinds, **details)
    settings = ["-A", "model=x", "-A", "window=100000", "-A", "timeout=1", "--base-url", url]
    done = run(f"{provider}_chat", *settings)
    assert done.exit_code == exit_code, done.output
    outcomes = results(place)["outcomes"]
    assert (results(place)["score"] is None) == (exit_code == 3)
    assert sum(outcomes.values()) == (11 if exit_code else 16)
    if exit_code == 3:
        assert set(outcomes) == {"not_reached"}
