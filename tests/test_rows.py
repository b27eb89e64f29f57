"""Every row of the table of servers, through everybody who asks a model: agents, a gateway, judges, readers, caches.

tests/rows.py plays what the provider sends by a row. A row that is added is driven from then on.
"""

import asyncio
import json
import re
import shutil
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from email.utils import format_datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anthropic
import httpx2
import openai
import pytest

from ltm_bench.adapters import EmbeddingModel
from ltm_bench.adapters.http.answers import caching
from ltm_bench.adapters.http.traffic import listening
from ltm_bench.adapters.testing import Fault, Provider
from ltm_bench.adapters.testing.server import serving
from ltm_bench.core.budget import Budget
from ltm_bench.core.clock import wall
from ltm_bench.core.errors import AgentError
from ltm_bench.core.messages import Message, ReplyForm, Usage
from ltm_bench.core.pricing import dollars
from ltm_bench.core.servers import KINDS, rows
from ltm_bench.datasets.dialogue import HistoryQuestion
from ltm_bench.datasets.longmemeval.scorer import inquiry
from ltm_bench.judge.interview import AT, Interview
from ltm_bench.judge.judges import Judge
from ltm_bench.judge.opinions import AnswerFile
from ltm_bench.judge.reading import BlindCase
from ltm_bench.plugins.agents import make_agent
from ltm_bench.runner.spent import cost_of
from tests.adapters.test_gateway import OWN, Behind
from tests.rows import EMBEDDINGS, PROTOCOLS, UNKNOWN, Play, off, played

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
MUST = {
    "chat": {"prompt_tokens", "completion_tokens", "total_tokens"},
    "responses": {"input_tokens", "output_tokens"},
}
"""The figures without which Pydantic AI takes no answer."""
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
    assert {kind for kind, _, _ in ROWS} == KINDS.keys() - {
        "embeddings",
        "cuts",
    }  # which have tests of their own
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
    refused = set[str]()

    async def drive(play: Play) -> dict[str, Any]:
        off(server)
        play.on(server)
        edit = server.edit

        def whole(body: dict[str, Any]) -> dict[str, Any]:
            """Add a total, as servers do; that library takes no answer without a figure that it knows."""
            body = edit(body)
            if play.usage is not None:
                body["usage"].setdefault("total_tokens", play.usage.prompt + play.usage.output)
                if not MUST.get(play.protocol, set()) <= body["usage"].keys():
                    refused.add(named(play))
            return body

        if pydantic:
            server.edit = whole
        server.requests.clear()
        found, usage = await asked(server, play.protocol, tmp_path, pydantic=pydantic)
        used = (
            None if play.usage is None or usage is None else {name: getattr(usage, name) for name in FIELDS}
        )
        return {"came": found, "tried": len(server.chats), "used": used}

    async def all_of() -> dict[str, Any]:
        return {named(play): await drive(play) for play in ALL}

    def due(play: Play) -> dict[str, Any]:
        if named(play) in refused:
            return {"came": "error", "tried": 1, "used": None}
        used = play.usage and {name: getattr(play.usage, name) for name in FIELDS}
        return {"came": play.outcome, "tried": play.tried, "used": used}

    found = asyncio.run(all_of())
    assert differing(found, {named(play): due(play) for play in ALL}) == {}
    assert len(refused) == (4 if pydantic else 0), "which speak words of another protocol"


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


WAITS: dict[str, list[tuple[str, float | None]]] = {
    "seconds": [
        ("3", 3), ("0.5", 0.5), ("0", None), ("-7", None), ("4200000", 7), ("inf", 7), ("nan", None), ("soon", None),
        ("", None), ("{date:+4}", 4), ("{date:-60}", None), ("{date:+99999}", 7),
    ],
    "milliseconds": [("3000", 3), ("250", 0.25), ("0", None), ("-5", None), ("4200000000", 7), ("x", None)],
    "reset": [
        ("3s", 3), ("1.5s", 1.5), ("120ms", 0.12), ("0h0m2s", 2), ("6m0s", None), ("4", 4), ("0", None), ("-1", None),
        ("{instant:+4}", 4), ("{instant:-9}", None), ("{instant:+90000}", None), ("", None), ("never", None),
    ],
}  # fmt: skip
"""What servers say in each unit, and the seconds that are waited then; None: the SDK's own pause."""


def timed(text: str) -> str:
    """Return a header with a date that is due in so many seconds."""
    if (found := re.fullmatch(r"\{(date|instant):(.+)\}", text)) is None:
        return text
    at = wall() + timedelta(seconds=float(found[2]))
    return format_datetime(at, usegmt=True) if found[1] == "date" else at.isoformat().replace("+00:00", "Z")


PAUSES = [(row["header"], said, due) for row in rows("pauses") for said, due in WAITS[row["unit"]]]


@pytest.mark.parametrize("adapter", ["openai_chat", "anthropic_chat"])
def test_a_pause_is_as_long_as_any_server_says_and_no_longer_than_an_attempt_may_take(
    server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, adapter: str
) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def all_of() -> list[Any]:
        wrong = list[Any]()
        url = server.url if adapter == "anthropic_chat" else server.openai_url
        agent = make_agent(adapter, {"model": "m", "base_url": url, "max_retries": 1, "timeout": 7.0})
        await agent.open(tmp_path)
        monkeypatch.setattr("anyio.sleep", sleep)
        for turn, (header, said, due) in enumerate([*PAUSES, ("x-nothing", "1", None)]):
            headers = {header: timed(said), header.replace("reset", "remaining"): "0"} | {header: timed(said)}
            waited.clear()
            server.faults.append(Fault(status=429, message="Slow down.", headers=headers))
            await agent.reply(Message("Hello!", AT, turn))
            [pause] = waited
            if abs(pause - due) > 1.1 if due is not None else pause > 0.01:
                wrong.append((header, said, due, pause))
        await agent.close()
        return wrong

    assert asyncio.run(all_of()) == []


def test_a_limit_of_which_something_is_left_is_not_waited_for(
    server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    async def all_of() -> None:
        agent = make_agent("openai_chat", settings(server, "chat"))
        await agent.open(tmp_path)
        monkeypatch.setattr("anyio.sleep", sleep)
        for status, left in ((429, "7"), (429, "-1"), (500, "0")):
            headers = {"x-ratelimit-reset-requests": "5s", "x-ratelimit-remaining-requests": left}
            server.faults.append(Fault(status=status, message="No.", headers=headers))
            await agent.reply(Message("Hello!", AT, len(waited)))
        both = {"x-ratelimit-reset-tokens": "5s", "x-ratelimit-remaining-tokens": "0", "retry-after": "2"}
        server.faults.append(Fault(status=429, message="No.", headers=both))
        await agent.reply(Message("Hello!", AT, 9))
        await agent.close()

    asyncio.run(all_of())
    assert [pause > 0.01 for pause in waited] == [False, False, False, True]
    assert waited[-1] == 2


def test_every_row_of_embeddings_is_played() -> None:
    assert [row["sends"] for row in rows("embeddings")] == list(EMBEDDINGS)


@pytest.mark.parametrize("row", rows("embeddings"), ids=lambda row: str(row["sends"]))
def test_vectors_are_read_as_every_server_sends_them_and_counted_if_it_says_how_many(
    server: Provider, monkeypatch: pytest.MonkeyPatch, row: dict[str, str]
) -> None:
    texts, plain = ["My boat is called Undine.", "I like rain.", "And snow."], Provider.embeddings

    async def embedded() -> tuple[Any, int | None]:
        model = EmbeddingModel("some-model", server.openai_url, max_retries=1)
        try:
            return await model.embed(texts), model.tokens
        finally:
            await model.close()

    rows_, tokens = asyncio.run(embedded())
    server.requests.clear()
    monkeypatch.setattr(
        Provider, "embeddings", lambda self, body: EMBEDDINGS[row["sends"]](plain(self, body))
    )
    if row["means"] == "fails":
        with pytest.raises(AgentError, match=r"^some-model at 127\.0\.0\.1: ") as raised:
            asyncio.run(embedded())
        again = row["sends"] == "an error within a success"
        assert len(server.requests) == 1 + again
        assert "HTTP 429" in str(raised.value) if again else "could not be read" in str(raised.value)
        return
    found, counted = asyncio.run(embedded())
    assert all(
        abs(a - b) < 1e-6 for x, y in zip(found, rows_, strict=True) for a, b in zip(x, y, strict=True)
    )
    assert counted == (tokens if row["means"] == "vectors" else None)


@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("row", rows("cuts"), ids=lambda row: str(row["counts"]))
def test_a_prompt_that_a_server_cut_without_a_word_is_noted_and_said_once(
    server: Provider, tmp_path: Path, protocol: str, row: dict[str, str]
) -> None:
    counts = int(row["counts"])
    names = (
        ("prompt_tokens", "completion_tokens") if protocol == "chat" else ("input_tokens", "output_tokens")
    )
    server.edit = lambda body: (
        body | {"usage": dict(zip(names, (min(counts, server.spent[-1].prompt), 7), strict=True))}
    )

    async def told() -> list[int | None]:
        agent = make_agent(ADAPTERS[protocol], settings(server, protocol) | {"window": 100_000})
        await agent.open(tmp_path)
        noted = list[int | None]()
        for turn, words in enumerate((50, 1500, 20_000, 20_000)):
            with listening() as traffic:
                await agent.reply(Message("word " * words, AT, turn))
            noted.append(traffic.sent)
        await agent.close()
        return noted

    with pytest.warns(UserWarning, match="it cuts prompts") as warned:
        small, fits, cut, again = asyncio.run(told())
    assert (small, fits) == (None, None)
    assert cut is not None
    assert again is not None
    assert again > cut > 20_000 > 2 * counts
    assert len(warned) == 1


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
        if play.means == "stop":
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
        fatal = [play.row for play in plays if play.means in ("money", "rejected", "silent")]
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
