"""JSON for tools whose shape we do not know."""

from typing import Any

import pytest

from ltm_bench.adapters.templates import filled, items_in


def test_words_are_filled_in_wherever_they_occur() -> None:
    template = {"text": "{time}: {text}", "many": [{"n": "{limit}"}], "other": "{unknown}", "flag": True}
    values = {"time": "noon", "text": "say {time}", "limit": 5}
    assert filled(template, values) == {
        "text": "noon: say {time}",  # a message is not a template
        "many": [{"n": 5}],
        "other": "{unknown}",
        "flag": True,
    }


@pytest.mark.parametrize(
    ("data", "texts"),
    [
        (
            {
                "entities": [
                    {"name": "Zebedee", "entityType": "parrot", "observations": ["likes nuts", "is grey"]}
                ],
                "relations": [{"from": "Ada", "to": "Zebedee", "relationType": "owns"}],
            },
            ["Zebedee parrot: likes nuts", "Zebedee parrot: is grey", "Ada Zebedee owns"],
        ),
        ({"entities": [{"name": "Ribe", "entityType": "town", "observations": []}]}, ["Ribe town"]),
        ({"result": [{"id": 3, "memory": "I moved.", "score": 0.5}]}, ["I moved."]),
        ({"result": "One thing.\n\nAnother."}, ["One thing. Another."]),
        ("One thing.\n\nAnother.", ["One thing.", "Another."]),
        (["a", {"text": "b"}], ["a", "b"]),
        ({}, []),
        (None, []),
    ],
)
def test_what_an_answer_holds_is_read_from_any_shape(data: Any, texts: list[str]) -> None:
    assert [" ".join(text.split()) for text, _ in items_in(data)] == texts


def test_a_thing_brings_its_fields() -> None:
    [(_, fields)] = items_in({"name": "Zebedee", "observations": ["likes nuts"]})
    assert fields == {"name": "Zebedee", "item": "likes nuts"}
