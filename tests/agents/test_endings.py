"""However a reply ends at any server, through the real SDKs: a good end is a reply, a bad one is asked for again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ltm_bench.adapters.http.answers import caching
from ltm_bench.adapters.testing import Provider
from ltm_bench.core.errors import AgentError, ConfigError
from ltm_bench.core.messages import Finish
from ltm_bench.core.servers import rows
from tests.rows import ended

if TYPE_CHECKING:
    from tests.conftest import Talk

pytestmark = [
    pytest.mark.usefixtures("key"),
    pytest.mark.proof(scenarios=(), files=("agents/*.*", "configs/*.*")),
]

ADAPTERS = {"chat": "openai_chat", "responses": "openai_responses", "messages": "anthropic_chat"}
MEANS = {"stop": Finish.STOP, "tools": Finish.STOP, "length": Finish.LENGTH, "refusal": Finish.REFUSAL} | {
    "overflow": Finish.OVERFLOW
}
ENDINGS = [(row["protocol"], word, row["means"]) for row in rows("endings") for word in row["words"]]
GOOD = [each for each in ENDINGS if each[2] != "fails"]
BAD = [each for each in ENDINGS if each[2] == "fails"]
UNKNOWN = [(protocol, word, "fails") for protocol in ADAPTERS for word in ("halted", None, "")]

Start = Callable[..., "Talk"]
TEXT = {"type": "text", "text": "It is a colour."}


@pytest.fixture
def start(server: Provider, talk_to: Start) -> Start:
    def begin(protocol: str, **settings: Any) -> "Talk":
        url = server.url if protocol == "messages" else server.openai_url
        return talk_to(ADAPTERS[protocol], model="some-model", base_url=url, **settings)

    return begin


def turns(server: Provider, *edits: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Edit the next answers one after the other; later ones are as they are."""
    left: Iterator[Callable[[dict[str, Any]], dict[str, Any]]] = iter(edits)
    server.edit = lambda body: next(left, lambda same: same)(body)


@pytest.mark.parametrize(("protocol", "word", "means"), GOOD, ids=str)
def test_a_good_end_is_a_reply(start: Start, server: Provider, protocol: str, word: str, means: str) -> None:
    server.edit = ended(word)
    assert start(protocol).say("My boat is called Undine.").finish is MEANS[means]
    assert len(server.chats) == 1


@pytest.mark.parametrize(("protocol", "word", "means"), [*BAD, *UNKNOWN], ids=str)
def test_a_reply_that_broke_off_is_asked_for_again_and_not_taken(
    start: Start, server: Provider, protocol: str, word: str, means: str
) -> None:
    turns(server, ended(word))
    reply = start(protocol, max_retries=2).say("My boat is called Undine.")
    assert (reply.finish, len(server.chats)) == (Finish.STOP, 2)


@pytest.mark.parametrize(("protocol", "word", "means"), BAD, ids=str)
def test_a_reply_that_always_breaks_off_is_an_error_that_names_the_word_and_the_attempts(
    start: Start, server: Provider, protocol: str, word: str, means: str
) -> None:
    server.edit = ended(word)
    with pytest.raises(AgentError, match=f"the reply broke off: it ended with '{word}'.*after 2 retries"):
        start(protocol, max_retries=2).say("My boat is called Undine.")
    assert len(server.chats) == 3


@pytest.mark.parametrize(("protocol", "word", "means"), UNKNOWN, ids=str)
def test_an_end_that_nobody_knows_is_tried_once_more_and_says_which_row_to_add(
    start: Start, server: Provider, protocol: str, word: str | None, means: str
) -> None:
    server.edit = ended(word)
    with pytest.raises(AgentError) as raised:
        start(protocol, max_retries=4).say("My boat is called Undine.")
    assert "after 1 retry" in str(raised.value)
    row = f"[[endings]] protocol = '{protocol}', words = ['{word}'], means = 'stop'"
    told = "without a word for its end" if word is None else f"add to ./servers.toml: {row}"
    assert told in str(raised.value)
    assert len(server.chats) == 2


@pytest.mark.parametrize(("protocol", "word", "means"), [*BAD[:1], *BAD[-1:], *UNKNOWN[:1]], ids=str)
def test_a_reply_that_broke_off_is_never_cached(
    start: Start, server: Provider, tmp_path: Any, protocol: str, word: str, means: str
) -> None:
    with caching(tmp_path / "answers.sqlite"):
        server.edit = ended(word)
        with pytest.raises(AgentError):
            start(protocol, max_retries=0).say("My boat is called Undine.")
        server.edit = lambda body: body
        assert start(protocol, max_retries=0).say("My boat is called Undine.").finish is Finish.STOP
    assert len(server.chats) == 2


@pytest.mark.parametrize("protocol", ["responses", "messages"])
def test_a_reply_of_as_many_tokens_as_it_may_have_was_cut_whatever_the_server_calls_it(
    start: Start, server: Provider, protocol: str
) -> None:
    talk = start(protocol, max_output=16)
    server.edit = lambda body: body | {"usage": {"input_tokens": 100, "output_tokens": 16}}
    assert talk.say("My boat is called Undine.").finish is Finish.LENGTH
    server.edit = lambda body: body | {"usage": {"input_tokens": 100, "output_tokens": 15}}
    assert talk.say("My dog is called Rex.").finish is Finish.STOP


@pytest.mark.parametrize("protocol", ADAPTERS)
def test_an_empty_reply_is_asked_for_once_more_and_then_counts(
    start: Start, server: Provider, protocol: str
) -> None:
    talk = start(protocol, max_retries=3)
    stop = {"responses": "completed", "messages": "end_turn"}.get(protocol, "stop")
    server.fail("empty", finish=stop)
    reply = talk.say("My boat is called Undine.")
    assert (bool(reply.text), len(server.chats)) == (True, 2)
    assert reply.usage is not None
    assert reply.usage.prompt == sum(each.prompt for each in server.spent)
    server.fail("empty", times=2, finish=stop)
    assert talk.say("And my dog is called Rex.").text == ""
    assert len(server.chats) == 4
    assert talk.say("What is my boat called?").text


@pytest.mark.parametrize("protocol", ADAPTERS)
def test_a_reply_that_is_only_thought_is_asked_for_once_more_and_all_of_it_is_paid(
    start: Start, server: Provider, protocol: str
) -> None:
    talk, answers = start(protocol), iter(["<think>Undine?", "It is called Undine."])
    server.answer = lambda _: next(answers)
    reply = talk.say("My boat is called Undine.")
    assert (reply.text, len(server.chats)) == ("It is called Undine.", 2)
    assert reply.usage is not None
    assert [each.prompt for each in reply.usage.parts] == [each.prompt for each in server.spent]


@pytest.mark.parametrize("protocol", ADAPTERS)
@pytest.mark.parametrize(
    ("error", "status"),
    [
        ({"message": "upstream is rate-limited, retry shortly", "code": 429}, 429),
        ({"message": "upstream is rate-limited, retry shortly", "code": "429"}, 429),
        ({"message": "Overloaded", "type": "overloaded_error"}, 529),
        ({"message": "Provider returned error", "code": 503}, 503),
        ("something broke", 502),
    ],
    ids=str,
)
def test_an_error_that_comes_as_a_success_is_tried_again(
    start: Start, server: Provider, protocol: str, error: object, status: int
) -> None:
    turns(server, lambda _: {"error": error})
    assert start(protocol, max_retries=1).say("My boat is called Undine.").text
    server.edit = lambda _: {"error": error}
    with pytest.raises(AgentError, match=f"HTTP {status}"):
        start(protocol, max_retries=1).say("My boat is called Undine.")
    assert len(server.chats) == 4


@pytest.mark.parametrize("protocol", ADAPTERS)
@pytest.mark.parametrize(
    ("status", "message", "code"),
    [
        (400, "Your credit balance is too low to access the API.", None),
        (429, "You exceeded your current quota, please check your plan.", "insufficient_quota"),
        (402, "Insufficient Balance", None),
        (200, "This request requires more credits", "402"),
    ],
)
def test_an_account_without_credit_is_not_asked_again(
    start: Start, server: Provider, protocol: str, status: int, message: str, code: str | None
) -> None:
    if status == 200:
        server.edit = lambda _: {"error": {"message": message, "code": code}}
    else:
        server.fail(status=status, message=message, code=code, times=9)
    with pytest.raises(AgentError, match=r"the account has no credit left .*; add credit"):
        start(protocol, max_retries=4).say("Hello!")
    assert len(server.chats) == 1


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ([{"type": "thinking", "thinking": [TEXT]}, {"type": "text", "text": "Red."}], "Red."),
        ([{"type": "text", "text": "Red"}, {"type": "text", "text": " it is."}], "Red it is."),
        ([{"type": "reference", "reference_ids": [1]}, {"type": "text", "text": "Red."}], "Red."),
    ],
    ids=["thinking", "two", "reference"],
)  # fmt: skip
def test_the_text_among_the_parts_of_a_reply_is_the_reply(
    start: Start, server: Provider, content: object, said: str
) -> None:
    def edit(body: dict[str, Any]) -> dict[str, Any]:
        choice = body["choices"][0]
        return body | {"choices": [choice | {"message": choice["message"] | {"content": content}}]}

    server.edit = edit
    assert start("chat").say("Which colour?").text == said


@pytest.mark.parametrize("protocol", ADAPTERS)
def test_a_filter_that_comes_as_a_success_is_a_refusal_and_not_asked_again(
    start: Start, server: Provider, protocol: str
) -> None:
    server.edit = lambda _: {"error": {"message": "The prompt was filtered", "code": "content_filter"}}
    assert start(protocol, max_retries=4).say("Hello!").finish is Finish.REFUSAL
    assert len(server.chats) == 1


BEHIND = '{"error": {"message": "Prompt is too long"}}'


@pytest.mark.parametrize("protocol", ADAPTERS)
@pytest.mark.parametrize(
    ("status", "body", "finish"),
    [
        (400, {"detail": "Content Exists Risk"}, Finish.REFUSAL),
        (400, {"object": "error", "message": "max_tokens must be at least 1, got -7.", "code": 400}, Finish.OVERFLOW),
        (413, {"error": {"message": "Provider error", "metadata": {"raw": BEHIND}}}, Finish.OVERFLOW),
    ],
    ids=["detail", "message", "metadata"],
)  # fmt: skip
def test_an_error_is_understood_wherever_a_server_writes_its_words(
    start: Start, server: Provider, protocol: str, status: int, body: dict[str, Any], finish: Finish
) -> None:
    server.fail(status=status, body=body)
    assert start(protocol, max_retries=4).say("Hello!").finish is finish
    assert len(server.chats) == 1


@pytest.mark.parametrize("protocol", ADAPTERS)
def test_a_prompt_that_an_error_quotes_does_not_speak_for_the_server(
    start: Start, server: Provider, protocol: str
) -> None:
    quoted = {"type": "missing", "msg": "Field required", "input": {"content": "Prompt is too long"}}
    server.fail(status=400, body={"detail": [quoted]})
    with pytest.raises(AgentError, match="HTTP 400"):
        start(protocol, max_retries=4).say("Hello!")


@pytest.mark.parametrize("protocol", ADAPTERS)
def test_a_mistake_in_rows_of_ones_own_is_said_before_anything_is_sent(
    start: Start, server: Provider, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, protocol: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("servers.toml").write_text('[[money]]\npattern = "("\n', "utf-8")
    with pytest.raises(ConfigError, match=r"servers\.toml: \[\[money\]\] pattern"):
        start(protocol)
    assert server.requests == []
