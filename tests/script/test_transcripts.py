"""Transcripts: chats in the shapes in which others store them become turns."""

import json
from typing import Any

import pytest

from ltm_bench.script.transcripts import StoredTurn, stored_turns

WANTED = [StoredTurn(0, "Hello", "Hi."), StoredTurn(1, "Bye", "")]
IMAGE = {"type": "image_url", "image_url": {"url": "data:x"}}
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}


def lc(name: str, kind: str, said: Any) -> dict[str, Any]:
    """Return a message as LangChain's `dumpd` writes it."""
    path = ["langchain", "schema", "messages", name]
    return {"lc": 1, "type": "constructor", "id": path, "kwargs": {"content": said, "type": kind}}


SHAPES: dict[str, Any] = {
    "openai": [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": "Hello"},
        CALL,
        {"role": "tool", "tool_call_id": "1", "content": "42"},
        {"role": "assistant", "content": "Hi."},
        {"role": "user", "content": [{"type": "text", "text": "Bye"}, IMAGE]},
    ],
    "request": {
        "model": "m",
        "messages": [
            {"role": "user", "content": "Hello"},
            {"role": "assistant", "content": "Hi."},
            {"role": "user", "content": "Bye"},
        ],
    },
    "responses": {
        "input": [{"role": "user", "content": [{"type": "input_text", "text": "Hello"}]}],
        "output": [
            {"type": "reasoning", "content": [{"type": "reasoning_text", "text": "Hm."}]},
            {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hi."}]},
            {"type": "message", "role": "user", "content": "Bye"},
        ],
    },
    "anthropic": [
        {"role": "user", "content": "Hello"},
        {"role": "assistant", "content": [{"type": "thinking", "thinking": "Hm."}, {"type": "tool_use"}]},
        {"role": "user", "content": [{"type": "tool_result", "content": "42"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Hi."}]},
        {"role": "user", "content": "Bye"},
    ],
    "langchain, messages_to_dict": [
        {"type": "human", "data": {"content": "Hello", "type": "human"}},
        {"type": "ai", "data": {"content": "Hi.", "type": "ai"}},
        {"type": "human", "data": {"content": "Bye", "type": "human"}},
    ],
    "langchain, dumpd": [
        lc("HumanMessage", "human", "Hello"),
        lc("ToolMessage", "tool", "42"),
        lc("AIMessage", "ai", [{"type": "text", "text": "Hi."}]),
        lc("HumanMessage", "human", ["Bye"]),
    ],
    "langchain, model_dump": [
        {"content": "Hello", "type": "human", "id": None},
        {"content": "Hi.", "type": "ai", "id": None},
        {"content": "Bye", "type": "human", "id": None},
    ],
    "sharegpt": {
        "id": "x",
        "conversations": [
            {"from": "human", "value": "Hello"},
            {"from": "gpt", "value": "Hi."},
            {"from": "human", "value": "Bye"},
        ],
    },
}


@pytest.mark.parametrize("shape", SHAPES)
def test_every_shape_gives_the_same_turns(shape: str) -> None:
    assert stored_turns(json.dumps(SHAPES[shape], indent=1).encode()) == WANTED


def test_a_file_of_lines_is_read_and_conversations_follow_each_other() -> None:
    messages = "\r\n".join(map(json.dumps, SHAPES["openai"]))
    assert stored_turns(b"\xef\xbb\xbf" + messages.encode()) == WANTED
    talks = "\n".join([json.dumps(SHAPES["request"]), "", json.dumps(SHAPES["sharegpt"])])
    assert [turn.number for turn in stored_turns(talks.encode())] == [0, 1, 2, 3]


def test_several_replies_to_one_message_are_one_reply() -> None:
    said = [("user", "Hello"), ("assistant", "One."), ("assistant", "Two.")]
    data = [{"role": role, "content": text} for role, text in said]
    assert stored_turns(json.dumps(data).encode())[0].reply == "One.\nTwo."


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"Hello there", "expected value"),
        (b'{"role": "user"}\nHello', "line 2"),
        (b'{"role": "assistant", "content": "Hi."}', "no message of a user"),
        (b"[]", "no message of a user"),
        (b'{"lc": 1, "type": "constructor", "id": ["x"], "kwargs": 5}', "no message of a user"),
        (b"[" * 5000, "recursion"),
        (b'{"role": "user", "content": "\xff"}', "unicode"),
    ],
)
def test_what_cannot_be_read_is_named(content: bytes, says: str) -> None:
    with pytest.raises(ValueError, match=f"(?i){says}"):
        stored_turns(content)


@pytest.mark.parametrize("charset", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_file_is_read_in_the_character_set_that_its_first_bytes_name(charset: str) -> None:
    said = json.dumps([{"role": "user", "content": "né\u2028漢"}], ensure_ascii=False)
    assert [turn.text for turn in stored_turns(said.encode(charset))] == ["né\u2028漢"]
