"""What was written: the measured rates match a store that loses, keeps, invents and leaks at known ones."""

import json
from pathlib import Path

import pytest

from ltm_bench import Fact, Memory, run
from ltm_bench.matchers.reading.text import _PAIRS
from ltm_bench.score.results.written import Examined, State, Told, _plain, examine, held, summed

TOWNS = ("Ghent", "Porto", "Riga", "Lima", "Oslo")
NOWHERE = "Atlantis"


def town(name: str, value: str) -> Fact:
    return Fact(f"{name} lives", value, words=(name,), among=(*TOWNS, NOWHERE))


def states(
    told: list[Told],
    memories: list[str],
    deleted: tuple[str, ...] = (),
    before: tuple[str, ...] | None = ("Ines: Ghent", "Ines: Porto"),
) -> dict[str, State]:
    facts = [each.fact for each in told]
    had = {} if before is None else held(facts, map(Memory, before))
    found = examine(told, deleted, [Memory(text) for text in memories], facts, had)
    return {fact.value: fact.state for fact in found.facts}


IN_GHENT, IN_PORTO = Told(town("Ines", "Ghent")), Told(town("Ines", "Porto"))


@pytest.mark.parametrize(
    ("memories", "found", "why"),
    [
        (["Ines lives in Porto."], {"Ghent": State.GONE, "Porto": State.PRESENT}, "updated"),
        (
            ["Ines: Ghent.", "Ines: Porto."],
            {"Ghent": State.STALE, "Porto": State.PRESENT},
            "beside each other",
        ),
        (
            ["Ines moved from Ghent to Porto."],
            {"Ghent": State.GONE, "Porto": State.PRESENT},
            "tells of the change",
        ),
        (["Ines lives in Ghent."], {"Ghent": State.STALE, "Porto": State.MISSING}, "not updated"),
        (["Somebody lives in Porto."], {"Ghent": State.GONE, "Porto": State.MISSING}, "nobody knows who"),
        ([], {"Ghent": State.GONE, "Porto": State.MISSING}, "nothing"),
        (
            ["Ines lives in Riga."],
            {"Ghent": State.GONE, "Porto": State.MISSING, "Riga": State.INVENTED},
            "made up",
        ),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_a_fact_is_found_by_its_words(memories: list[str], found: dict[str, State], why: str) -> None:
    assert states([IN_GHENT, IN_PORTO], memories) == found, why


def test_what_was_never_stored_is_neither_replaced_nor_deleted() -> None:
    told = [IN_GHENT, IN_PORTO]
    facts = [each.fact for each in told]
    never = examine(told, (), [Memory("Ines: Porto")], facts, held(facts, []))
    assert {fact.value: fact.state for fact in never.facts} == {"Ghent": State.NEVER, "Porto": State.PRESENT}
    writing = summed([Examined(never, several=False)])
    assert writing is not None
    assert writing.updated.of == 0, "nothing was there to update"
    assert states([IN_GHENT], [], ("Ines lives",), before=()) == {"Ghent": State.NEVER}
    assert states([IN_GHENT], ["Ines: Ghent"], ("Ines lives",), before=()) == {"Ghent": State.UNDELETED}


def test_nothing_is_said_of_a_store_that_was_not_seen_before_the_change() -> None:
    assert states([IN_GHENT, IN_PORTO], ["Ines: Porto"], before=None) == {"Porto": State.PRESENT}
    assert states([IN_GHENT], [], ("Ines lives",), before=None) == {}


def test_a_deleted_fact_is_not_missing() -> None:
    assert states([IN_GHENT], [], ("Ines lives",)) == {"Ghent": State.DELETED}
    assert states([IN_GHENT], ["Ines: Ghent"], ("Ines lives",)) == {"Ghent": State.UNDELETED}


def test_a_fact_from_another_example_is_not_invented() -> None:
    others = [town("Ines", "Riga"), IN_GHENT.fact]
    found = examine([IN_GHENT], (), [Memory("Ines is in Ghent"), Memory("Ines is in Riga")], others, {})
    assert [fact.state for fact in found.facts] == [State.PRESENT]


def test_another_users_memory_has_leaked_and_one_of_no_user_is_common() -> None:
    told = [Told(Fact("Ada's code", "4711"), "Ada"), Told(Fact("Ben's code", "2208"), "Ben")]
    memories = [Memory("code 4711", user="Ada"), Memory("4711", user="Ben"), Memory("2208")]
    ada, ben = examine(told, (), memories, [], {}).facts
    assert (ada.leaked, ada.common, ben.leaked, ben.common) == (True, False, False, True)


def test_the_shares_are_the_rates_at_which_the_store_fails() -> None:
    """200 people, each with a town; every second one moves; and 40 codes of two users each."""
    told, memories = list[Told](), list[Memory]()
    for i in range(200):
        name = f"Person{i}"
        old, new = town(name, TOWNS[i % 5]), town(name, TOWNS[(i + 1) % 5])
        told.append(Told(old))
        if i % 2:
            told.append(Told(new))
        if i % 4 != 3:  # every fourth current fact is lost
            memories.append(Memory(f"{name} lives in {(new if i % 2 else old).value}"))
        if i % 2 and i % 3 == 0:  # a third of the replaced facts are kept
            memories.append(Memory(f"{name} lives in {old.value}"))
        if i % 10 == 0:  # every tenth gets an invented town
            memories.append(Memory(f"{name} lives in {NOWHERE}"))
    facts = [each.fact for each in told]
    people = examine(told, (), memories, facts, {(fact.about, fact.value): True for fact in facts})
    codes = [Told(Fact(f"{user}{i}", f"{user}code{i}"), user) for i in range(40) for user in ("ada", "ben")]
    kept = [Memory(each.fact.value, user=each.user) for each in codes]
    kept += [Memory(each.fact.value, user="ben" if each.user == "ada" else "ada") for each in codes[::8]]
    users = examine(codes, [each.fact.about for each in codes[::2]], kept[::1], [], {})
    found = summed([Examined(people, False), Examined(users, True)])
    assert found is not None
    assert (found.recall.count, found.recall.of) == (150 + 40, 200 + 40)
    assert found.states[State.INVENTED] == 20
    assert found.updated.of == 100
    assert (found.updated.count, found.beside.count, found.omitted.count) == (34, 16, 50)
    assert (found.leaked.count, found.leaked.of) == (10, 80)
    assert (found.undeleted.count, found.undeleted.of) == (40, 40)


LOSSY = '''
"""Lossy: writes down what it is told, but for every fourth fact; invents and leaks; and counts what it does."""

import json
from pathlib import Path

from ltm_bench import Agent, Memory, Message, Reply
from ltm_bench.core.tokens import counter
from ltm_bench.plugins.scenarios import scenario
from ltm_bench.script.rehearsal import rehearse
from ltm_bench.script.scenario import Example

NAMES = ("colours", "never_told", "two_users", "forget_me")


class Lossy(Agent):
    free = True
    observes = True
    keeps_users = True

    def __init__(self) -> None:
        self.facts = {
            step.text: step.line
            for name in NAMES
            for index in range(4)
            for step in rehearse(Example(scenario(name), index, 0, {}), counter())
            if getattr(step.line, "facts", ())
        }
        self.held, self.done, self.seen, self.shared = [], {"lost": 0, "invented": 0, "leaked": 0}, 0, 0

    async def reply(self, message: Message) -> Reply:
        line = self.facts.get(message.text)
        for fact in line.facts if line else ():
            self.seen += fact.about != "favourite colour"  # a colour that is lost is told by another example
            text = f"{' '.join(fact.words)}: {fact.value}"
            if self.seen % 4 == 0 and fact.about != "favourite colour":
                self.done["lost"] += 1
                continue
            self.held.append(Memory(text, user=message.user))
            if fact.among and self.seen % 3 == 0:
                told = {f.value for each in self.facts.values() for f in each.facts}
                wrong = next(value for value in fact.among if value not in told)
                self.held.append(Memory(f"{' '.join(fact.words)}: {wrong}"))
                self.done["invented"] += 1
            if message.user:
                self.shared += 1
                if self.shared % 2:
                    self.held.append(Memory(text, user="somebody else"))
                    self.done["leaked"] += 1
        Path("done.json").write_text(json.dumps(self.done))
        return Reply("Noted.")

    async def observe(self, turn) -> None:
        """Hear a turn."""

    async def memories(self):
        """Iterate over what is held."""
        for memory in self.held:
            yield memory
'''


def test_the_table_finds_the_rates_of_a_store_that_loses_keeps_invents_and_leaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "agents").mkdir()
    (tmp_path / "agents" / "lossy.py").write_text(LOSSY, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    result = run(
        agent="lossy",
        span="4k",
        scenarios=["colours", "never_told", "two_users", "forget_me"],
        examples=4,
        parameters={"colours": {"several": False}},
    )
    done = json.loads((tmp_path / "done.json").read_text("utf-8"))
    found = result.results.writing
    assert found is not None
    assert found.examples == 16
    facts = 4 * (4 + 2 + 2)
    lost = found.states.get(State.MISSING, 0) + found.states.get(State.NEVER, 0)
    assert done["lost"] == facts // 4 == lost
    assert found.states[State.STALE] == 4 * 2  # from every change of colour, since nothing is ever replaced
    assert found.states[State.INVENTED] == done["invented"]
    assert found.leaked.count == done["leaked"]
    assert found.updated.of == 4
    page = (result.folder / "report.html").read_text("utf-8")
    assert "What was written" in page
    assert f"{found.recall.count} of {found.recall.of}" in page


def test_a_value_is_found_in_every_number_and_spelling() -> None:
    written = {british: american for american, british in _PAIRS}
    written |= {"spy": "spies", "elf": "elves", "box": "boxes", "tie": "tie's", "a": "a", "hero": "heroes"}
    told = [Told(Fact(f"number {value}", value)) for value in written]
    facts = [each.fact for each in told]
    for value, said in written.items():
        for text in (said, f"They said: {said.upper()}s!"):
            had = held(facts, [Memory(text)])
            found = examine(told, (), [Memory(text)], facts, {})
            states = {each.value: each.state == State.PRESENT for each in found.facts}
            assert states == {fact.value: had[fact.about, fact.value] for fact in facts}
            assert states[value] or text != said, (value, said)
            everything = [*map(_plain, (text, text.replace("!", "")))]
            assert states == {each: any(_plain(each) in read for read in everything) for each in written}
