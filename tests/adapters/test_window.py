"""The window: what is sent always fits, and nothing is dropped without need."""

import json
from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ltm_bench.adapters.text import sendable
from ltm_bench.adapters.window import KEPT, MESSAGE_OVERHEAD, Prompt, SentTurn, SentTurns, Window
from ltm_bench.core.errors import ConfigError
from ltm_bench.core.messages import Finish, Reply
from ltm_bench.core.tokens import counter
from tests.pace import cpu, in_proportion

SYSTEM = "sys"


class Letters:
    """Counts a token per character, and how often each text was counted."""

    name = "letters"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def count(self, text: str) -> int:
        self.asked.append(text)
        return len(text)

    def ends(self, text: str, head: int, tail: int) -> tuple[str, str]:
        return text[:head], text[max(head, len(text) - tail) :]


def conversation(window: int, *, ratio: float = 1.0, letters: Letters | None = None) -> Window:
    return Window(system=SYSTEM, window=window, max_output=20, counter=letters or Letters(), ratio=ratio)


def size(prompt: Prompt) -> int:
    """Return what a provider would count: each message with its overhead, and the reply's opening."""
    texts = [prompt.system, prompt.message]
    for exchange in prompt.history:
        texts += exchange.message, exchange.reply
    return sum(len(text) + MESSAGE_OVERHEAD for text in texts) + MESSAGE_OVERHEAD


def whole(prompt: Prompt | None) -> object:
    """Return the whole text of a prompt, for comparison."""
    return prompt and (prompt.system, list(prompt.history), prompt.message, prompt.tokens)


turns = st.lists(st.tuples(st.integers(1, 90), st.integers(0, 60)), min_size=1, max_size=60)
windows = st.integers(60, 600)


def texts(lengths: Sequence[tuple[int, int]]) -> list[tuple[str, str]]:
    """Give every message and reply a distinct content of at least the given length."""
    return [(f"m{n}".ljust(a, "."), f"r{n}".ljust(b, ".") if b else "") for n, (a, b) in enumerate(lengths)]


@given(lengths=turns, window=windows)
def test_what_is_sent_fits_is_in_order_and_is_dropped_only_when_it_must_be(
    lengths: list[tuple[int, int]], window: int
):
    talk = conversation(window)
    said: list[tuple[str, str]] = []
    before = 0  # where the history began in the last accepted request
    for message, reply in texts(lengths):
        prompt = talk.prompt(message)
        alone = len(SYSTEM) + len(message) + 3 * MESSAGE_OVERHEAD
        if prompt is None:
            assert alone > window - 20
            talk.take(message, Reply("", finish=Finish.OVERFLOW))
            continue
        assert prompt.tokens == size(prompt) <= window - 20
        assert (prompt.system, prompt.message) == (SYSTEM, message)
        history = [(exchange.message, exchange.reply) for exchange in prompt.history]
        start = len(said) - len(history)
        assert history == said[start:]
        assert start >= before
        everything = alone + sum(len(a) + len(b) + 2 * MESSAGE_OVERHEAD for a, b in said[before:])
        if everything <= window - 20:
            assert start == before
        else:
            assert start > before
            # Another turn would have left too little room before the next drop.
            one_more = size(prompt) + sum(map(len, said[start - 1])) + 2 * MESSAGE_OVERHEAD
            newest = len(message) + MESSAGE_OVERHEAD
            assert one_more > window - 20 or one_more - newest > int((window - 20) * KEPT)
        talk.take(message, Reply(reply))
        if reply.strip():
            said.append((message, reply))
            before = start


@given(lengths=turns, window=windows)
def test_asking_changes_nothing(lengths: list[tuple[int, int]], window: int):
    once, often = conversation(window), conversation(window)
    for message, reply in texts(lengths):
        often.prompt("something else entirely, which is sent and fails")
        often.most_tokens(message)
        often.prompt(message)
        assert whole(often.prompt(message)) == whole(once.prompt(message))
        once.take(message, Reply(reply))
        often.take(message, Reply(reply))


@given(
    count=st.integers(0, 12),
    head=st.integers(0, 12),
    start=st.integers(0, 12),
    index=st.integers(-14, 14),
    part=st.slices(12),
)
def test_a_history_stays_as_it_was_when_the_conversation_continues(
    count: int, head: int, start: int, index: int, part: slice
):
    exchanges = [SentTurn(str(i), "", i) for i in range(count)]
    start = min(start, count)
    head = min(head, start)
    history, copy = SentTurns(exchanges, head, start), [*exchanges[:head], *exchanges[start:]]
    exchanges.append(SentTurn("later", "", 1))
    assert list(history) == copy
    assert (len(history), history[part]) == (len(copy), copy[part])
    if -len(copy) <= index < len(copy):
        assert history[index] == copy[index]
    else:
        with pytest.raises(IndexError):
            history[index]


@given(lengths=turns)
def test_a_text_is_counted_once(lengths: list[tuple[int, int]]):
    letters = Letters()
    talk = conversation(300, letters=letters)
    for message, reply in texts(lengths):
        talk.most_tokens(message)
        talk.prompt(message)
        talk.take(message, Reply(reply))
    assert len(letters.asked) == len(set(letters.asked))


def test_later_prompts_begin_with_a_message_only_if_it_is_said_to_be_taken() -> None:
    talk = conversation(300)
    asked, taken = talk.prompt("Who?"), talk.prompt("Who?", continues=True)
    assert asked
    assert taken
    assert asked.kept == taken.kept - taken.message_tokens == len(SYSTEM) + 2 * MESSAGE_OVERHEAD


@given(lengths=turns, window=windows, ratio=st.floats(1.0, 2.0))
def test_a_ratio_shrinks_the_window_and_the_reserve_covers_it(
    lengths: list[tuple[int, int]], window: int, ratio: float
):
    talk = conversation(window * 2, ratio=ratio)
    for message, reply in texts(lengths):
        prompt = talk.prompt(message)
        most = talk.most_tokens(message)
        if prompt is None:
            assert most == 0
        else:
            assert prompt.tokens * ratio <= most
            assert prompt.tokens * ratio <= window * 2 - 20
        talk.take(message, Reply(reply))


def test_a_conversation_several_times_the_window_keeps_most_of_the_window_filled():
    """An earlier benchmark added the whole conversation to what it had already counted.

    Once a conversation outgrew half the window, its agents silently received the newest message without any history,
    and were scored as if that were their memory.
    """
    talk = Window(system="Be brief.", window=16_000, max_output=1024, counter=counter())
    message, reply = "The weather was fine again, and we walked to the mill. " * 16, "How lovely. " * 16
    per_turn = counter().count(message) + counter().count(reply)
    total, shares, histories = 0, [], []
    while total < 60_000:
        prompt = talk.prompt(message)
        assert prompt is not None
        assert prompt.tokens <= 16_000 - 1024
        if total > 16_000:
            shares.append(prompt.tokens / talk.budget)
            histories.append(len(prompt.history))
        talk.take(message, Reply(reply))
        total += per_turn
    assert min(histories) > 40
    assert min(shares) > KEPT - 0.05
    drops = [n for n, (a, b) in enumerate(pairwise(histories)) if b < a]
    assert len(drops) > 5
    assert min(b - a for a, b in pairwise(drops)) > 5


def test_a_long_message_does_not_cost_more_history_than_it_needs():
    talk = conversation(1020)
    for n in range(20):
        talk.take(f"{n:02}" * 10, Reply("r" * 12))
    prompt = talk.prompt("x" * 900)
    assert prompt is not None
    assert len(prompt.history) == 2
    assert 1000 - prompt.tokens < 40


def test_refused_overflowed_and_empty_turns_are_left_out():
    talk = conversation(1000)
    talk.take("one", Reply("I cannot say that.", finish=Finish.REFUSAL))
    talk.take("two", Reply("half a", finish=Finish.OVERFLOW))
    talk.take("three", Reply(" \n"))
    talk.take("four", Reply("cut o", finish=Finish.LENGTH))
    talk.take("x" * 2000, Reply("That does not fit."))
    prompt = talk.prompt("five")
    assert prompt is not None
    assert [(exchange.message, exchange.reply) for exchange in prompt.history] == [("four", "cut o")]


def test_the_budget_shrinks_when_a_provider_finds_a_prompt_too_long():
    talk = conversation(2000)
    for n in range(40):
        talk.take(f"message {n}", Reply("reply"))
    refused = talk.prompt("too much")
    assert refused is not None
    talk.take("too much", Reply("", finish=Finish.OVERFLOW))
    after = talk.prompt("x")
    assert after is not None
    assert len(refused.history) * 0.6 < len(after.history) < len(refused.history)
    assert talk.budget < refused.tokens


def test_without_a_history_the_budget_stays():
    talk = conversation(2000)
    talk.take("too much", Reply("", finish=Finish.OVERFLOW))
    assert talk.budget == 1980


@pytest.mark.parametrize(("window", "max_output"), [(20, 20), (1000, 990), (1000, 0), (-5, 10)])
def test_a_window_that_holds_nothing_is_an_error(window: int, max_output: int):
    with pytest.raises(ConfigError, match=rf"window={window} with max_output={max_output}"):
        Window(system=SYSTEM, window=window, max_output=max_output, counter=Letters())


@given(lengths=turns, window=windows, keep=st.sampled_from([0.3, 0.5, 0.75, 1.0]))
def test_a_middle_that_is_cut_leaves_both_ends_and_always_fits(
    lengths: list[tuple[int, int]], window: int, keep: float
):
    talk = Window(
        system=SYSTEM, window=window, max_output=20, counter=Letters(), truncate="middle", keep=keep
    )
    said: list[tuple[str, str]] = []
    for message, reply in texts(lengths):
        prompt = talk.prompt(message)
        assert prompt is not None
        assert prompt.tokens == size(prompt) <= window - 20
        history = [(exchange.message, exchange.reply) for exchange in prompt.history]
        head = next((i for i, pair in enumerate(history) if i >= len(said) or pair != said[i]), len(history))
        tail = history[head:]
        assert tail == said[len(said) - len(tail) :] if tail else True
        cut = len(message) > window - 20 - len(SYSTEM) - 3 * MESSAGE_OVERHEAD
        assert (prompt.message != message) == cut
        if cut:
            half = len(prompt.message) // 2
            assert message.startswith(prompt.message[:half])
            assert message.endswith(prompt.message[half:])
        talk.take(message, Reply(reply))
        if reply.strip():
            said.append((prompt.message, reply))


def test_the_oldest_turns_stay_where_the_middle_is_cut_and_the_prompt_cache_holds_between_two_cuts():
    talk = Window(system=SYSTEM, window=1020, max_output=20, counter=Letters(), truncate="middle", keep=0.6)
    histories = []
    for n in range(100):
        prompt = talk.prompt(f"m{n}".ljust(20))
        assert prompt is not None
        histories.append([exchange.message for exchange in prompt.history])
        talk.take(f"m{n}".ljust(20), Reply("r" * 10))
    assert all(history[0].startswith("m0") for history in histories[1:])
    assert histories[-1][-1].startswith("m98")
    cuts = [n for n, (a, b) in enumerate(pairwise(histories)) if b[: len(a)] != a]
    assert 3 < len(cuts) < 15


@given(lengths=turns, window=windows)
def test_nothing_is_dropped_where_dropping_is_ruled_out(lengths: list[tuple[int, int]], window: int):
    talk = Window(system=SYSTEM, window=window, max_output=20, counter=Letters(), truncate="none")
    said = 0
    for message, reply in texts(lengths):
        prompt = talk.prompt(message)
        if prompt is not None:
            assert len(prompt.history) == said
            said += bool(reply.strip())
        talk.take(message, Reply(reply) if prompt else Reply("", finish=Finish.OVERFLOW))


anything = st.text(st.characters(categories=None) | st.sampled_from('"\\\n\x00\x7f\ud800é✓😀'), max_size=12)
"""Halves of surrogate pairs as well."""


@given(
    said=st.lists(st.tuples(anything, anything), max_size=6),
    system=anything,
    newest=anything,
    first=st.booleans(),
)
@example(said=[("\ud800", "\ud83d x")], system="\udc00", newest="\ud83d\ude00 \ude00", first=True)
def test_a_request_is_its_settings_and_then_its_messages(
    said: list[tuple[str, str]], system: str, newest: str, first: bool
):
    talk = Window(system=system, window=10_000, max_output=20, counter=Letters())
    settings = {"model": "é", "system": sendable(system)}
    expected = [("system", system)] if first and system else []
    for message, reply in said:
        prompt = talk.prompt(message)
        assert prompt is not None
        prompt.request(settings, "input", system=first)
        talk.take(message, Reply(reply))
        if reply.strip():
            expected += [("user", message), ("assistant", reply)]
    prompt = talk.prompt(newest)
    assert prompt is not None
    body = json.loads(prompt.request(settings, "input", system=first))
    assert list(body) == ["model", "system", "input"]
    assert {name: body[name] for name in settings} == settings
    assert body["input"] == [
        {"role": role, "content": sendable(text)} for role, text in [*expected, ("user", newest)]
    ]


def test_the_json_of_a_turn_is_made_once_for_all_its_requests():
    talk = conversation(10_000)
    talk.take("Hello!", Reply("Hello to you."))
    one, other = talk.prompt("And now?"), talk.prompt("And now?")
    assert one is not None
    assert other is not None
    assert one.request({}, "messages", system=True) == other.request({}, "messages", system=True)
    assert one.history[0].json is other.history[0].json


def test_the_json_is_released_when_no_request_needs_the_turn():
    talk = conversation(300)
    sent: list[SentTurn] = []
    for n in range(30):
        prompt = talk.prompt(f"m{n}".ljust(20))
        assert prompt is not None
        prompt.request({}, "messages", system=True)
        sent += [each for each in prompt.history if each not in sent]
        talk.take(f"m{n}".ljust(20), Reply("r" * 10))
        held = [each for each in sent if "json" in vars(each)]  # rendered, and not released
        assert held == list(prompt.history)


@pytest.mark.parametrize("room", [100_000_000, 32_000])
def test_a_turn_costs_as_much_in_a_long_conversation_as_in_a_short_one(room: int) -> None:
    def took(turns: int) -> float:
        talk = Window(system=SYSTEM, window=room, max_output=1024, counter=counter())

        def converse() -> None:
            for number in range(turns):
                message = f"Turn {number}: the parcel {number * 7919} has arrived at the harbour office."
                assert talk.prompt(message) is not None
                talk.take(message, Reply(f"Noted, parcel {number * 7919} it is."))

        return cpu(converse)

    assert in_proportion(took, 3_000)
