"""What a model thinks is not what it says."""

import pytest

from ltm_bench.core.servers import without_thinking

FORMS = {
    "think": ("<think>", "</think>"),
    "thinking": ("<thinking>", "</thinking>"),
    "capitals": ("<Thought>", "</Thought>"),
    "brackets": ("[THINK]", "[/THINK]"),
    "seed": ("<seed:think>", "</seed:think>"),
    "lozenges": ("◁think▷", "◁/think▷"),
    "channels": (
        "<|channel|>analysis<|message|>",
        "<|end|><|start|>assistant<|channel|>final<|message|>",
    ),
    "channels without marks": ("analysis", "assistantfinal"),
}


@pytest.mark.parametrize(("opens", "closes"), FORMS.values(), ids=FORMS)
def test_what_follows_the_last_closed_thought_is_said(opens: str, closes: str) -> None:
    assert without_thinking(f"{opens}We could say yes.{closes}no").strip() == "no"
    assert without_thinking(f"We could say yes.{closes}\n\nno").strip() == "no", (
        "the opening mark may be missing"
    )
    assert without_thinking(f"{opens}Yes?{closes}maybe{closes} no").strip() == "no"


@pytest.mark.parametrize(("opens", "closes"), FORMS.values(), ids=FORMS)
def test_a_thought_that_is_cut_or_alone_says_nothing(opens: str, closes: str) -> None:
    assert without_thinking(f"{opens}We could say yes, or") == ""
    assert without_thinking(f"{opens}We could say yes.{closes}").strip() == ""
    assert without_thinking(f"{opens}We could say yes.{closes}{opens}Or") == ""


@pytest.mark.parametrize(
    "text",
    ["", "no", "Analysis: yes", "analysis of it all: yes", "a < b", '{"reason": "it says <think>", "verdict": 1}',
     '```json\n{"reason": "</think>"}\n```', "yes\n"],
)  # fmt: skip
def test_a_text_without_thinking_stays_as_it_is(text: str) -> None:
    assert without_thinking(text) == text


def test_a_mark_at_the_end_is_no_part_of_what_is_said() -> None:
    said = "<|channel|>analysis<|message|>Hm.<|end|><|start|>assistant<|channel|>final<|message|>no<|return|>"
    assert without_thinking(said) == "no"
