"""Every proof that is kept by content can fail: a deliberate fault in the product makes it fail."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(not (ROOT / "perf").is_dir(), reason="the source distribution has no perf")

CHECKED = "tests/scenarios/test_checked.py::test_every_shipped_scenario"
SCENARIOS = "tests/scenarios/test_scenarios.py::test"
STYLES = "tests/scenarios/test_styles.py::test_a_right_answer"
TIME = "tests/matchers/test_time.py::test"

JUDGED = """
from ltm_bench import Outcome, Verdict
import ltm_bench.score.audits.verdicts as verdicts
verdicts.verdict_on = lambda *_: Verdict(Outcome.{outcome}, {score}, "whatever was said")
import ltm_bench.score.audits.heaps as heaps
heaps.Guard.checked = lambda self, verdict, *_: verdict
"""
DICE = """
import random
import ltm_bench.core.dice as dice
dice.Random = lambda name: random.Random(random.SystemRandom().random())
"""
MATCHED = """
from ltm_bench import Outcome, Verdict
from ltm_bench.matchers.choices import Picks
verdict = Picks.verdict
{slow}
Picks.verdict = lambda self, reply, turns: {verdict}
"""
SLOW = "slow = lambda text, parts: sum(1 for _ in range(len(text) ** 2 // parts))"

FAULTS = {
    JUDGED.format(outcome="CORRECT", score=1.0): (
        "tests/scenarios/test_floor.py::test_an_agent_that_remembers_nothing_scores_no_more_than_chance[tally-goldfish]",
        "tests/scenarios/test_floor.py::test_the_floor_scores_no_more_than_chance_at_every_span[besides-goldfish-2000]",
        "tests/scenarios/test_heaps.py::test_an_agent_that_repeats_what_it_heard_scores_no_more_than_chance_with_all_scenarios_together[echo]",
        "tests/scenarios/test_heaps.py::test_an_agent_that_repeats_what_it_heard_scores_no_more_than_chance_with_a_scenario_alone[echo-colours]",
        "tests/test_validity.py::test_no_guesser_beats_chance_in_any_scenario[who_said_it]",
        "tests/test_validity.py::test_no_reciter_beats_chance_in_a_conversation_with_all_scenarios",
        f"{CHECKED}_keeps_the_rules[colours]",
        "tests/scenarios/test_checked.py::test_a_shipped_scenario_passes_the_whole_check[colours]",
        f"{SCENARIOS}_the_ideal_reply_is_right_and_the_wrong_ones_are_not[colours]",
        f"{SCENARIOS}_an_echo_of_every_message_scores_next_to_nothing[colours]",
    ),
    JUDGED.format(outcome="WRONG", score=0.0): (
        f"{STYLES}_is_right_in_every_style[0]",
        f"{STYLES}_about_an_ability_or_trust_is_right_in_every_style[trust]",
        f"{STYLES}_about_an_ability_is_right_at_every_span[2k]",
        f"{STYLES}_is_right_in_every_style_at_a_longer_span",
    ),
    DICE: (
        f"{CHECKED}_says_the_same_under_every_hash_seed",
        f"{SCENARIOS}_a_seed_always_gives_the_same_messages_and_another_seed_others[colours]",
    ),
    """
import ltm_bench.core.dice as dice
dice.Dice._owner = lambda self: (self.name.rpartition("/")[0], 0)
""": ("tests/scenarios/test_pools.py::test_no_answer_occurs_twice_in_a_run[colours]",),
    """
import ltm_bench.core.tokens as tokens
tokens.TiktokenCounter.count = lambda self, text: 10_000
""": (f"{SCENARIOS}_no_question_reveals_its_answer_and_every_script_fits_a_small_span[colours]",),
    """
from dataclasses import replace
import ltm_bench.plugins.scenarios as scenarios
found = scenarios.scenario
scenarios.scenario = lambda name: replace(found(name), skills=())
""": (f"{SCENARIOS}_a_scenario_that_wants_json_names_format_as_a_skill[shopping_list]",),
    """
import ltm_bench.plugins.files as files
load = files.load
def twice(path, *words):
    module = load(path, *words)
    if hasattr(module, "heard"):
        heard = module.heard
        module.heard = lambda *said: heard(*said) * 2
    return module
files.load = twice
""": ("tests/scenarios/test_restaurant.py::test_the_waiter_takes_each_dish_once_in_a_thousand_orders",),
    """
import perf.audits as audits
simulate = audits.simulate
audits.simulate = lambda *words: simulate(*words)._replace(held=True)
""": (
        "tests/score/audits/test_auditing.py::test_the_interval_holds_the_truth_in_93_to_97_of_100_simulated_audits[0.02-100]",
    ),
    MATCHED.format(slow=SLOW, verdict="(slow(reply[:20_000], 1), verdict(self, reply, turns))[1]"): (
        f"{TIME}_a_matcher_takes_time_in_proportion_to_the_reply[Picks]",
        f"{TIME}_a_huge_reply_is_judged_quickly[Picks]",
    ),
    MATCHED.format(slow="", verdict='Verdict(Outcome.JUDGE_ERROR, 2.0, "x")'): (
        f"{TIME}_no_json_crashes_a_matcher[lists]",
        "tests/matchers/test_all.py::test_nor_does_any_of_many_replies[Picks]",
    ),
    """
import perf.mutants.changes as changes
changes.Mutant.applied = lambda self, text, line: text
""": ("tests/test_mutants.py::test_a_mutant_dies_of_a_test_a_proof_or_its_time_or_survives_and_is_run_once",),
    """
import re
import ltm_bench.report.text as text
text._UNSEEN = re.compile("a[^b]*c")
""": (
        "tests/test_untrusted.py::test_a_pattern_takes_time_in_proportion_to_the_text[ltm_bench.report.text._UNSEEN]",
    ),
    f"""
import ltm_bench.matchers.reading as reading
import ltm_bench.matchers.reading.quantities as quantities
{SLOW}
read, mentions, distances = reading.read, reading.mentions, quantities.distances
reading.read = lambda text: (slow(text, 600), read(text))[1]
reading.mentions = lambda read, *words: (slow(read.text, 30), mentions(read, *words))[1]
quantities.distances = lambda block, *words: (slow(block.text, 100), distances(block, *words))[1]
""": (
        "tests/matchers/reading/test_structure.py::test_reading_takes_time_in_proportion_to_the_reply[(]",
        "tests/matchers/reading/test_stance.py::test_reading_takes_time_in_proportion_to_the_reply[-red ]",
        "tests/matchers/reading/test_quantities.py::test_reading_takes_time_in_proportion_to_the_reply[1+]",
    ),
}
"""Faults, as Python, and proofs that they break."""
ALREADY = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")
"""A fault imports what pytest would like to import first."""


def proofs() -> Iterator[str]:
    """Yield the names of all tests that are marked as proofs, by themselves or with their file."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text("utf-8")
        if "mark.proof" not in text or path.name in ("test_keeping.py", Path(__file__).name):
            continue
        tree = ast.parse(text)
        whole = re.search(r"^pytestmark = .*mark\.proof", text, re.MULTILINE) is not None
        tests = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")]
        for test in tests:
            if whole or any("mark.proof" in ast.unparse(each) for each in test.decorator_list):
                yield f"{path.relative_to(ROOT).as_posix()}::{test.name}"


def test_every_proof_has_a_fault_that_breaks_it() -> None:
    broken = {name.partition("[")[0] for names in FAULTS.values() for name in names}
    assert broken == set(proofs())


@pytest.mark.long
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: FAULTS[fault][0].partition("::test_")[2][:40])
def test_a_fault_breaks_the_proofs_that_should_see_it(fault: str, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        fault, "utf-8"
    )  # which programs that a test starts import as well
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    words = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rA",
        "-p",
        "no:cacheprovider",
        "--timeout=250",
        *ALREADY,
        *FAULTS[fault],
    ]
    done = subprocess.run(
        words, cwd=ROOT, env={**os.environ, "PYTHONPATH": path}, capture_output=True, text=True, check=False
    )
    failed = set(re.findall(r"^FAILED (\S+?)(?:\[.*)?(?: - |$)", done.stdout, re.MULTILINE))
    assert failed == {name.partition("[")[0] for name in FAULTS[fault]}, (
        done.stdout[-3000:] + done.stderr[-3000:]
    )
