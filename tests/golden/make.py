"""Makes the golden runs of a release, and the list of its public names, once, by the code of that release:

    python -m tests.golden.make

They land in `tests/golden/VERSION/` and `tests/frozen/`, and are never made again: later versions must read them as
they are.
"""

import gzip
import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from tests import sets

MODULES = ("ltm_bench", "ltm_bench.adapters", "ltm_bench.adapters.testing")
"""Modules whose names are public."""

KEPT = ("events.jsonl", "forks.jsonl", "results.json", "timings.jsonl", "verdicts.jsonl", "isolated")
"""What a golden run keeps of a run's folder: no page, no environment, no agent's store."""

ALONE = """
isolated = true
examples = 1
start = 2026-01-05T09:00:00Z
[scenarios.conflicting_facts]
[scenarios.delayed_recall]
[scenarios.instruction_recall]
[scenarios.key_value]
[scenarios.locations]
[scenarios.revised_plan]
[scenarios.the_third_poem]
[scenarios.who_said_it]
[scenarios.summed]
scenario = "counting_stars"
stars = 6
total = true
[scenarios.passkey]
scenario = "infinitebench"
task = "passkey"
[scenarios.documents]
scenario = "swim"
test = "position"
[scenarios.left_out]
scenario = "swim"
test = "absent"
[scenarios.plate]
"""
PLATE = '''
"""Serves what was not ordered: no shipped scenario asks for a matcher that notices it."""

from ltm_bench import Ask, Dice, Script, Tell, notices, scenario


@scenario(skills={"recall"})
def plate(dice: Dice) -> Script:
    yield Tell("At the Old Mill I always have the lamb stew.")
    yield Ask(
        "You are me at the Old Mill. Here is your order, one plum tart. What do you say?",
        expect=notices("lamb stew", served="plum tart"),
    )
'''
STORY = """
isolated = true
examples = 1
start = 2026-01-05T09:00:00Z
[scenarios.chapter_break]
"""


def commands(data: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of every golden run, and the words of the command that makes it."""
    for suite, text in (("alone", ALONE), ("story", STORY)):
        (data / "configs").mkdir(exist_ok=True)
        (data / "configs" / f"{suite}.toml").write_text(text, "utf-8")
    (data / "scenarios").mkdir()
    (data / "scenarios" / "plate.py").write_text(PLATE, "utf-8")
    small = ["--span", "2k", "--examples", "1"]
    yield "goodai-2k-imported", ["import", "goodai", predecessors(data / "goodai").name]
    yield "conversation", ["run", *small]
    yield "forked", ["run", *small, "--quick", "--scenario", "colours", "--scenario", "name_list"]
    yield "abilities", ["run", *small, "--suite", "abilities"]
    yield "trust", ["run", *small, "--suite", "trust"]
    yield "paced", ["run", *small, "--scenario", "too_soon", "--pace"]  # takes a minute
    yield "alone", ["run", "--span", "1k", "--suite", "alone", "--agent", "perfect"]
    yield "story", ["run", "--span", "8k", "--suite", "story"]
    made = {
        "locomo": sets.locomo(data / "locomo.json", 1),
        "longmemeval-s": sets.longmemeval(data / "longmemeval.json", 6),
        "beam-100k": sets.beam(data / "beam"),
        "factconsolidation-sh-6k": sets.facts(data / "facts.json"),
        "gatemem": sets.gatemem(data / "gatemem"),
        "personamem-32k": sets.personamem(data / "personamem"),
    }
    for suite, path in made.items():
        yield suite.partition("-")[0], ["run", "--suite", suite, "--data", path.name]


def predecessors(folder: Path) -> Path:
    """Write a made-up result in the predecessor's form, to be imported."""
    said = (
        ("We are playing restaurant; you are the guest.", "With pleasure."),
        ("Waiter: What may I bring you?", "The soup, please."),
        ("Waiter: And which drink was it?", "Tea, I believe."),
    )
    turns = [
        (who, f"2024-05-02 10:0{minute}:0{second}", text)
        for minute, exchange in enumerate(said)
        for second, (who, text) in enumerate(zip(("Test", "Agent"), exchange, strict=True))
    ]
    result = {
        "benchmark": "2k",
        "agent": "imported",
        "scenario": "Restaurant",
        "example": "0",
        "expected": ["soup", "tea"],
        "actual": ["The soup, please.", "Tea, I believe."],
        "score": 0.6,
        "max_score": 1,
        "reasoning": ["The drink came late."],
        "span_tokens": 900,
        "manually_revised": False,
        "turns": turns,
    }
    definition = folder / "definitions-2k" / "Restaurant" / "0.def.json"
    definition.parent.mkdir(parents=True)
    empty: dict[str, list[str]] = {"script": [], "is_question": [], "waits": [], "expected_responses": []}
    definition.write_text(json.dumps(empty), "utf-8")
    (folder / "results-2k.jsonl.gz").write_bytes(gzip.compress(json.dumps(result).encode()))
    return folder


def main() -> None:
    """Make every golden run of the installed version."""
    target = Path(__file__).parent / version("ltm-bench")
    if target.exists():
        raise SystemExit(f"{target} exists; golden runs are never made again")
    with tempfile.TemporaryDirectory() as place:
        home = Path(place)
        for name, words in commands(home):
            named = ["--name", name, "--quiet"] if words[0] == "run" else []
            subprocess.run([sys.executable, "-m", "ltm_bench", *words, *named], cwd=home, check=True)
            for kept in KEPT:
                source = home / "reports" / name / kept
                goal = target / name / kept
                if source.is_dir():
                    shutil.copytree(source, goal)
                elif source.exists():
                    goal.parent.mkdir(parents=True, exist_ok=True)
                    shutil.copyfile(source, goal)
        sets_at = target / "sets"  # a run of a public set is scored again beside the set
        sets_at.mkdir()
        for source in home.glob("*.json"):
            shutil.copyfile(source, sets_at / source.name)
        for folder in ("beam", "gatemem", "personamem"):
            shutil.copytree(home / folder, sets_at / folder)
    names = {module: sorted(import_module(module).__all__) for module in MODULES}
    frozen = target.parents[1] / "frozen" / f"v{target.name.replace('.', '_')}"
    frozen.mkdir(exist_ok=True)
    (frozen / "names.json").write_text(json.dumps(names, indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    main()
