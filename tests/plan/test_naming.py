"""Different runs have different names, and the name says how they differ."""

import re
from pathlib import Path
from typing import Any

import pytest

from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request

SCENARIO = '''"""Parking: where the car is."""

from ltm_bench import Ask, Dice, Script, Tell, names_only, scenario

PLACES = ("harbour", "station", "market")


@scenario(skills={"recall"}, topics={"parking"})
def parking(dice: Dice, *, moves: int = 1) -> Script:
    place = dice.choice(PLACES)
    yield Tell(f"My car is at the {place}.", at=0.0)
    yield Ask("Where is my car?", expect=names_only(place, among=PLACES), at=1.0)
'''


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "scenarios").mkdir()
    (tmp_path / "scenarios" / "parking.py").write_text(SCENARIO, "utf-8")
    return tmp_path


def name(**asked: Any) -> str:
    return make_plan(Request(**{"span": "2k", "suite": "smoke", "agent": "goldfish"} | asked)).name


def test_a_run_without_options_is_named_after_suite_span_agent_and_seed() -> None:
    assert name() == "smoke-2k-goldfish-seed0"
    assert (
        name(suite="standard", span="32k", agent="vector_memory", seed=3)
        == "standard-32k-vector_memory-seed3"
    )
    assert name(suite="isolated") == "isolated-2k-goldfish-seed0"


OPTIONS: list[tuple[dict[str, Any], str]] = [
    ({"suite": "standard", "scenarios": ["parking"]}, "parking-2k-goldfish-seed0"),
    ({"suite": "standard", "scenarios": ["parking"], "examples": 20}, "parking-x20-2k-goldfish-seed0"),
    ({"scenarios": ["colours", "jokes"]}, "smoke-colours-jokes-2k-goldfish-seed0"),
    ({"examples": 5}, "smoke-x5-2k-goldfish-seed0"),
    ({"isolated": True}, "smoke-2k-goldfish-seed0-isolated"),
    ({"filler": "live"}, "smoke-2k-goldfish-seed0-live"),
    ({"agent": "vector_memory", "settings": {"memories": 9}}, "smoke-2k-vector_memory-seed0-memories-9"),
    ({"suite": "standard", "scenarios": ["parking"], "parameters": {"parking": {"moves": 2}}},
     "parking-2k-goldfish-seed0-parking.moves-2"),
]  # fmt: skip


@pytest.mark.parametrize(("asked", "expected"), OPTIONS)
def test_an_option_shows_in_the_name(asked: dict[str, Any], expected: str) -> None:
    assert name(**asked) == expected


def test_every_kind_of_seed_has_a_name_of_its_own() -> None:
    named = [name(seed=seed) for seed in (1, -1, "train:1")]
    assert [each.partition("seed")[2] for each in named] == ["1", "-1", "train-1"]


def test_the_model_follows_its_adapter(key: str) -> None:
    settings = {"model": "meta/llama 4", "window": 8000}
    assert re.fullmatch(
        r"smoke-2k-openai_chat-meta-llama-4-seed0-window-8000",
        name(agent="openai_chat", settings=settings),
    )


def test_two_urls_have_two_names_that_are_kept_short() -> None:
    names = [
        name(agent="http", settings={"url": f"http://localhost:{port}/a/long/path/to/chat"})
        for port in (8000, 8001, 8000)
    ]
    assert names[0] == names[2] != names[1]
    assert all(
        re.fullmatch(r"smoke-2k-http-seed0-url-localhost-800\d-a-lon-[0-9a-f]{6}", each) for each in names
    )


def test_choices_too_long_to_spell_out_are_told_apart() -> None:
    many = ["colours", "jokes", "name_list", "sally_anne"]
    first, second = name(scenarios=many), name(scenarios=[*many[:3], "spy_meeting"])
    assert first != second
    assert first.startswith("smoke-4-scenarios-2k-goldfish-seed0-")


def test_an_option_that_changes_nothing_does_not_change_the_name() -> None:
    assert name(examples=1) == name(filler="scripted") == name()


def test_an_edited_file_keeps_the_name_of_its_run(place: Path) -> None:
    before = name(scenarios=["parking"])
    path = place / "scenarios" / "parking.py"
    path.write_text(path.read_text("utf-8").replace("My car", "The car"), "utf-8")
    assert name(scenarios=["parking"]) == before
