"""Every row of the table of servers, through everybody who asks a model: agents, a gateway, judges, readers, caches.

tests/rows.py plays what the provider sends by a row. A row that is added is driven from then on.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest

from ltm_bench.adapters.http.answers import caching
from ltm_bench.adapters.http.traffic import listening
from ltm_bench.adapters.testing import Provider
from ltm_bench.adapters.testing.server import serving
from ltm_bench.core.budget import Budget
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message, ReplyForm, Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.longmemeval.scorer import inquiry
from ltm_bench.judge.interview import AT, Interview
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import AnswerFile
from ltm_bench.judge.reading import BlindCase
from ltm_bench.plugins.agents import make_agent
from ltm_bench.runner.standing import cost_of
from tests.adapters.test_gateway import OWN, Behind
from tests.rows import PROTOCOLS, UNKNOWN, Play, off, played

if TYPE_CHECKING:
    from tests.conftest import Command

pytestmark = [
    pytest.mark.usefixtures("key"),
    pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*")),
]

ADAPTERS = {"chat": "openai_chat", "responses": "openai_responses", "messages": "anthropic_chat"}
PYDANTIC = {"chat": "openai-chat:", "responses": "openai-responses:", "messages": "anthropic:"}
"""What names the protocols at Pydantic AI."""
ROWS = played()
ALL = [*(play for _, _, plays in ROWS for play in plays), *UNKNOWN]
SOME = [
    *(
        play
        for _, n, plays in ROWS
        for play in plays
        if len({p.protocol for p in plays}) < 3 or play.protocol == PROTOCOLS[n % 3]
    ),
    *UNKNOWN,
]
"""Every row, but those of no protocol in one of the three."""
ASKED = HistoryQuestion("q1", "multi-session", "Where do I live?", ("Lima",))
READ = BlindCase(
    "town/0", 1, "Where do I live?", "In Lima.", ReplyForm("one of a set", ("Lima", "Oslo")), whole=True
)
COPIED = '{"span": "Lima", "value": "Lima"}'
FIELDS = ("uncached", "cache_read", "cache_write", "cache_write_1h", "output", "reasoning")


@pytest.fixture(autouse=True)
def _hurried(monkeypatch: pytest.MonkeyPatch) -> None:
    for library in (openai, anthropic):
        monkeypatch.setattr(library._base_client, "INITIAL_RETRY_DELAY", 0.001)
        monkeypatch.setattr(library._base_client, "MAX_RETRY_DELAY", 0.001)


def settings(server: Provider, protocol: str) -> dict[str, Any]:
    url = server.url if protocol == "messages" else server.openai_url
    return {"model": "some-model", "base_url": url, "max_retries": 1, "max_output": 1000, "window": 9000}


async def asked(
    server: Provider, protocol: str, home: Path, text: str = "Hello!", *, pydantic: bool = False
) -> tuple[str, Usage | None]:
    """Return how a fresh agent's reply ended, or that there is none, and what it used."""
    given = settings(server, protocol)
    if pydantic:
        given["model"] = PYDANTIC[protocol] + given["model"]
    agent = make_agent("pydantic_ai_chat" if pydantic else ADAPTERS[protocol], given)
    await agent.open(home)
    try:
        with listening():
            reply = await agent.reply(Message(text, AT, 0))
    except AgentError:
        return "error", None
    finally:
        await agent.close()
    return reply.finish.value, reply.usage


def differing(found: dict[str, Any], due: dict[str, Any]) -> dict[str, Any]:
    """Return what differs, by play."""
    assert found.keys() == due.keys()
    return {name: (found[name], due[name]) for name in found if found[name] != due[name]}


def named(play: Play) -> str:
    return f"{play.protocol}: {play.row}"


@pytest.mark.unkept
def test_every_row_is_played_in_every_way(record_property: Callable[[str, object], None]) -> None:
    record_property(
        "rows by ways", f"{len(ROWS)} by 7"
    )  # agents, cache, judge, reader, gateway, killed, resumed
    assert [f"{kind} {n}" for kind, n, plays in ROWS if not plays] == []
    assert {(kind, n) for kind, n, plays in ROWS for play in plays if play in SOME} == {
        (kind, n) for kind, n, _ in ROWS
    }


@pytest.mark.unkept
@pytest.mark.parametrize("pydantic", [False, True], ids=["SDKs", "Pydantic AI"])
def test_an_agent_takes_it_for_what_it_is_and_asks_again_only_where_that_helps(
    server: Provider, tmp_path: Path, pydantic: bool
) -> None:
    if pydantic:
        pytest.importorskip("pydantic_ai")
    plays = [play for play in ALL if not (pydantic and play.usage)]  # which that library reads itself

    async def drive(play: Play) -> dict[str, Any]:
        off(server)
        play.on(server)
        server.requests.clear()
        found, usage = await asked(server, play.protocol, tmp_path, pydantic=pydantic)
        used = (
            None if play.usage is None or usage is None else {name: getattr(usage, name) for name in FIELDS}
        )
        return {"came": found, "tried": len(server.chats), "used": used}

    async def all_of() -> dict[str, Any]:
        return {named(play): await drive(play) for play in plays}

    def due(play: Play) -> dict[str, Any]:
        used = play.usage and {name: getattr(play.usage, name) for name in FIELDS}
        return {"came": play.outcome, "tried": play.tried, "used": used}

    assert differing(asyncio.run(all_of()), {named(play): due(play) for play in plays}) == {}


@pytest.mark.unkept
def test_a_cache_keeps_a_reply_and_nothing_else(server: Provider, tmp_path: Path) -> None:
    async def drive(n: int, play: Play) -> int:
        off(server)
        play.on(server)
        await asked(server, play.protocol, tmp_path, f"Question {n}?")
        off(server)
        server.requests.clear()
        assert (await asked(server, play.protocol, tmp_path, f"Question {n}?"))[0] in ("stop", play.outcome)
        return len(server.chats)

    async def all_of() -> dict[str, int]:
        return {named(play): await drive(n, play) for n, play in enumerate(SOME)}

    with caching(tmp_path / "answers.sqlite"):
        found = asyncio.run(all_of())
    whole = {
        named(play): play.outcome != "error" and play.fault is None and "in a 200" not in play.row
        for play in SOME
    }
    assert differing(found, {name: int(not kept) for name, kept in whole.items()}) == {}


PATHS = {"chat": "/v1/chat/completions", "responses": "/v1/responses", "messages": "/v1/messages"}
PRICED = {"chat": "gpt-6-luna", "responses": "gpt-6-luna", "messages": "claude-haiku-5-5"}
HELLO = [{"role": "user", "content": "Hello!"}]


def test_a_gateway_passes_it_on_and_charges_what_the_provider_bills(server: Provider, tmp_path: Path) -> None:
    def drive(url: str, play: Play) -> tuple[int, Any, str | None]:
        """Return what a program gets at this address."""
        off(server)
        play.on(server)
        model = {"model": PRICED[play.protocol]}
        body = (
            {"input": HELLO, "max_output_tokens": 99}
            if play.protocol == "responses"
            else {"messages": HELLO, "max_tokens": 99}
        )
        key = {"authorization": f"Bearer {OWN}", "x-api-key": OWN}
        try:
            answer = client.post(url + PATHS[play.protocol], json=model | body, headers=key)
        except httpx2.HTTPError:
            return 502, None, None
        said = json.loads(answer.content)
        return answer.status_code, said, answer.headers.get("x-should-retry")

    def billed(play: Play, status: int) -> Decimal | None:
        """Return what the provider bills; None if it does not say, so that what was reserved is charged."""
        if status >= 400 and play.row != "cut off":
            return Decimal()
        if play.row == "cut off" or "in a 200" in play.row:
            return None
        family = "anthropic" if play.protocol == "messages" else "openai"
        told = server.spent[-1]
        plain = Usage(uncached=told.prompt, output=told.output)
        return dollars(replace(play.usage or plain, model=PRICED[play.protocol], provider=family))

    found, due = {}, {}
    here = Behind(server, tmp_path, "1000")
    with here.gateway.listening(), httpx2.Client(timeout=20, trust_env=False) as client:
        for play in SOME:
            status, said, _ = drive(server.url, play)
            spent, calls = here.budget.spent, len(here.seen.calls)
            passed, heard, repeat = drive(f"{here.gateway.url}/c/a", play)
            charged = here.budget.spent - spent
            bill = billed(play, status)
            hidden = status in (401, 403)  # such messages may repeat a part of the key
            alike = passed == status and (hidden or said is None or heard == said)
            told = repeat == "false" and (not hidden or "no credit" in str(heard))
            vain = play.means != "money" or status == 200 or told
            found[named(play)] = (
                alike,
                vain,
                charged if bill is not None else charged > 0,
                len(here.seen.calls) - calls,
            )
            due[named(play)] = (True, True, True if bill is None else bill, 1)
        assert here.budget.held == 0
        assert here.seen.spent == here.budget.spent
    here.journal.close()
    assert differing(found, due) == {}


@pytest.mark.parametrize(
    ("text", "make"),
    [("Yes.", lambda: inquiry(ASKED, "In Lima.")), (COPIED, READ.inquiry)],
    ids=["judge", "blind reader"],
)
def test_a_judgement_that_did_not_end_well_is_none_is_not_kept_and_is_asked_for_again(
    server: Provider, tmp_path: Path, text: str, make: Callable[[], Any]
) -> None:
    server.answer = lambda _: text
    calls = 1 if text == "Yes." else 2

    async def drive(n: int, play: Play) -> list[tuple[bool, int, int]]:
        """Hold it in three processes: with the row, with a server that works, and once more."""
        found = []
        judge = Judge("j", {}, lambda: make_agent(ADAPTERS[play.protocol], settings(server, play.protocol)))
        for time in range(3):
            off(server)
            if time == 0:
                play.on(server)
            server.requests.clear()
            file = tmp_path / f"{n}.jsonl"
            answers = AnswerFile(file)
            heard = await Interview(answers, Budget()).hold(judge, make())
            kept = len(file.read_bytes().splitlines()) if file.exists() else 0
            found.append((heard.found is not None, len(server.chats), kept))
        return found

    async def all_of() -> dict[str, Any]:
        return {named(play): await drive(n, play) for n, play in enumerate(SOME)}

    def due(play: Play) -> list[tuple[bool, int, int]]:
        if play.outcome == "stop":
            return [(True, calls, calls), (True, 0, calls), (True, 0, calls)]
        return [(False, play.tried, 0), (True, calls, calls), (True, 0, calls)]

    assert differing(asyncio.run(all_of()), {named(play): due(play) for play in SOME}) == {}


SCENARIO = '''"""Rows: a colour is told, and asked for again and again."""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario


@scenario(skills={{"recall"}})
def rows(dice: Dice) -> Script:
    yield Tell("My favourite colour is red.", at=0.0)
    for n in range({many}):
        yield Ask(f"Row {{n}}: what is my favourite colour?", expect=names_only("red", among=("red", "blue")), at=0.5)
'''
PRICED_AGENT = '''"""Priced: a model of a list price, at a server of our own."""

from ltm_bench.adapters import agent_class


class Priced(agent_class("{adapter}")):
    provider = "{provider}"

    def __init__(self, *, base_url: str) -> None:
        super().__init__(model="{model}", base_url=base_url, window=100_000, max_output=1000, max_retries=1)
'''


class Playing(Provider):
    """Plays a row when its question is first asked, and works from then on."""

    plays: list[Play]
    met: set[int]
    """Rows that were played."""
    heard: list[int]
    """The questions that were asked, in order."""
    bill: Decimal
    """What was billed, but for answers that were cut off."""
    on_request: Callable[[], None]

    def receive(self, request: Any) -> Any:
        super().receive(request)
        if not (found := re.search(r"Row (\d+):", request.messages[-1]["content"] if request.body else "")):
            return None
        row = int(found[1])
        play = None if row in self.met else self.plays[row]
        self.met.add(row)
        self.heard.append(row)
        self.on_request()

        def edit(body: dict[str, Any]) -> dict[str, Any]:
            answer = play.edit(body) if play is not None and play.edit is not None else body
            if answer.get("usage"):
                told, model = self.spent[-1], request.body["model"]
                plain = Usage(
                    uncached=told.prompt - told.cached - told.written,
                    cache_read=told.cached,
                    cache_write=told.written,
                    cache_write_1h=told.for_an_hour,
                    output=told.output,
                )
                used = (play.usage if play is not None else None) or plain
                provider = "anthropic" if model.startswith("claude") else "openai"
                self.bill += dollars(replace(used, model=model, provider=provider)) or 0
            return answer

        self.edit = edit
        return None if play is None else play.fault


def logged(run: Path) -> list[dict[str, Any]]:
    """Return a run's log without the calls' costs: a repeated call may find a warm cache."""
    lines = (run / "events.jsonl").read_bytes().splitlines()
    return [{name: value for name, value in json.loads(line).items() if name != "usage"} for line in lines]


@pytest.mark.unkept
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_run_that_met_every_row_goes_on_wherever_it_was_killed_and_shows_what_was_billed(
    protocol: str, tmp_path: Path, command: "Command", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    plays = [play for play in SOME if play.protocol == protocol]
    provider = "anthropic" if protocol == "messages" else "openai"
    texts = {
        "scenarios/rows.py": SCENARIO.format(many=len(plays)),
        "agents/priced.py": PRICED_AGENT.format(
            adapter=ADAPTERS[protocol], provider=provider, model=PRICED[protocol]
        ),
    }
    for name, text in texts.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_text(text, "utf-8")
    run, kills = tmp_path / "reports" / "r", dict[int, tuple[set[int], Decimal]]()

    def finish(words: tuple[str, ...]) -> int:
        """Run to the end; return how often it stopped because of its account."""
        done = command(*words)
        codes = [done.exit_code]
        while codes[-1] == 3 and len(codes) < 30:
            done = command("resume", "r")
            codes.append(done.exit_code)
        assert codes[-1] == 0, (server.heard[-12:], done.err[-600:])
        return len(codes) - 1

    with serving(Playing(answer=lambda _: "It is red.")) as server:
        server.plays, server.met, server.heard, server.bill = plays, set(), [], Decimal()

        def keep() -> None:
            """Keep what a kill would leave, at every seventh request."""
            if len(server.heard) % 7 == 6:
                kills[len(server.heard)] = server.met - {server.heard[-1]}, server.bill
                shutil.copytree(run, tmp_path / "killed" / str(len(server.heard)))

        server.on_request = keep
        url = server.url if protocol == "messages" else server.openai_url
        words = (
            "--span",
            "4k",
            "--scenario",
            "rows",
            "--examples",
            "1",
            "--agent",
            "priced",
            "--base-url",
            url,
        )
        fatal = [play.row for play in plays if play.means in ("money", "rejected")]
        assert finish(("run", *words, "--name", "r")) == len(fatal)
        assert sorted(set(server.heard)) == list(range(len(plays)))
        whole = logged(run)
        assert 0 < server.bill <= cost_of(run).total
        moments = sorted(kills)
        for moment in {moments[0], moments[len(moments) // 2], moments[-1]}:
            shutil.rmtree(run)
            shutil.copytree(tmp_path / "killed" / str(moment), run)
            asked = {each["turn"]: each["message"] for each in logged(run) if each["event"] == "sent"}
            answered = [asked[each["turn"]] for each in logged(run) if each["event"] == "replied"]
            known = {int(found[1]) for text in answered if (found := re.search(r"Row (\d+):", text))}
            server.heard, (server.met, server.bill) = [], kills[moment]
            server.on_request = lambda: None
            finish(("resume", "r"))
            assert known.isdisjoint(server.heard), "a logged question was asked again"
            assert known | set(server.heard) == set(range(len(plays)))
            assert logged(run) == whole
            assert server.bill <= cost_of(run).total
