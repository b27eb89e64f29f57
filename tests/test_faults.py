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
JUDGEMENT = "tests/test_rows.py::test_a_judgement_that_did_not_end_well"

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
        "tests/scenarios/test_wording.py::test_who_refuses_everything_from_the_deletion_on_earns_nothing",
        "tests/scenarios/test_trust.py::test_obeying_refusing_and_silence_earn_nothing[roles-obeys]",
        "tests/test_recitals.py::test_a_heap_scores_less_with_the_guard_than_without",
        "tests/test_attitudes.py::test_no_attitude_over_keywords_earns_more_than_chance_or_the_memory[colours]",
        "tests/test_attitudes.py::test_no_attitude_with_perfect_recall_earns_more_than_half[never_told]",
        "tests/runner/test_references.py::test_check_says_that_a_heap_is_no_answer_whatever_the_matcher_thinks",
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
        "tests/test_versions.py::test_a_scenarios_messages_change_only_with_its_version[colours]",
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
        "tests/test_versions.py::test_a_matchers_verdicts_change_only_with_its_version[Picks]",
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
    """
import ltm_bench.log.recorder as recorder
def full(*_):
    raise OSError("no space is left")
recorder.Recorder.put = full
""": (
        "tests/adapters/test_conforming.py::test_a_server_is_made_to_hang_and_to_fail",
        "tests/agents/test_plugging_in.py::test_a_function_can_say_which_tokens_it_used",
        "tests/api/test_api.py::test_results_can_be_loaded_without_writing_anything",
        "tests/api/test_continuing.py::test_another_runs_folder_is_left_as_it_is",
        "tests/api/test_publication.py::test_a_judged_run_scores_plays_and_draws_once",
        "tests/cli/test_again.py::test_an_agent_that_never_moves_is_said_not_to",
        "tests/cli/test_commands.py::test_off_a_terminal_progress_is_plain_lines",
        "tests/cli/test_creating.py::test_the_new_file_passes_the_check_and_runs[agent]",
        "tests/cli/test_endings.py::test_a_command_of_the_users_that_fails_changes_no_exit_code",
        "tests/cli/test_gates.py::test_a_gate_that_cannot_fail_says_so",
        "tests/cli/test_keys_refused.py::test_a_reply_that_repeats_a_key_is_stored_without_it",
        "tests/cli/test_marking.py::test_turns_marked_by_options_become_a_scenario_that_runs",
        "tests/cli/test_own_files.py::test_when_a_page_cannot_be_written_the_log_stays_and_the_remedy_is_shown",
        "tests/cli/test_racing.py::test_a_race_without_filler_has_no_span_in_its_heading",
        "tests/cli/test_resume_attacks.py::test_some_ways_of_going_on_keep_key_and_limit",
        "tests/cli/test_run_options.py::test_typed_options_and_variables_override_the_file",
        "tests/cli/test_second_commands.py::test_more_examples_make_another_run",
        "tests/cli/test_secrets.py::test_a_key_that_a_server_echoes_anywhere_in_its_answer_is_logged_nowhere[openai_responses]",
        "tests/cli/test_sweeping.py::test_flags_override_the_file",
        "tests/cli/test_swimming.py::test_a_run_of_the_suite_asks_about_a_folder_with_its_tasks_as_the_command_does",
        "tests/cli/test_ten_second_commands.py::test_the_ten_second_commands_do_what_the_document_shows",
        "tests/datasets/test_evidence.py::test_a_set_that_names_no_evidence_is_left_out_and_said",
        "tests/datasets/test_gatemem.py::test_a_run_is_scored_like_a_prediction_file",
        "tests/datasets/test_public.py::test_a_run_can_be_verified_without_its_data",
        "tests/datasets/test_set_runs.py::test_locomos_open_form_of_category_5_has_a_name_of_its_own",
        "tests/docs/test_blocks.py::test_what_a_page_shows_can_be_typed_from_top_to_bottom[docs/calibration.md]",
        "tests/export/test_otel.py::test_usage_is_told_and_keys_are_not",
        "tests/frozen/test_frozen.py::test_the_adapter_of_0_1_0_runs_the_scenario_of_0_1_0",
        "tests/judge/test_asking.py::test_without_a_judge_the_headline_says_how_many_are_undecided",
        "tests/judge/test_audit.py::test_contradicted_verdicts_are_listed_with_both_readings",
        "tests/runner/test_controls.py::test_near_is_the_example_without_filler_in_its_own_conversation",
        "tests/runner/test_conversation.py::test_needles_are_ranked_for_right_replies_too",
        "tests/runner/test_estimate.py::test_the_score_never_appears_without_saying_that_most_examples_overran",
        "tests/runner/test_guarding.py::test_an_interruption_within_a_group_is_an_interruption",
        "tests/runner/test_hearing.py::test_an_agent_that_observes_hears_the_same_with_fewer_calls",
        "tests/runner/test_ladder.py::test_what_is_told_again_helps_where_the_question_stands_in_it",
        "tests/runner/test_outlook.py::test_messages_that_an_agent_refuses_are_counted",
        "tests/runner/test_progress.py::test_a_run_is_done_when_it_is_done_and_not_before[True-0]",
        "tests/test_readme.py::test_the_suite_of_the_readme_runs",
    ),
    """
import ltm_bench.core.messages as messages
whole = messages.Reply.__init__
messages.Reply.__init__ = lambda self, text, *more, **named: whole(self, text[:-1], *more, **named)
""": (
        "tests/agents/test_chat_adapters.py::test_it_answers_from_the_conversation[openai_chat]",
        "tests/agents/test_endings.py::test_the_text_among_the_parts_of_a_reply_is_the_reply[two]",
        "tests/agents/test_mem0.py::test_it_answers_from_what_mem0_extracted",
        "tests/agents/test_pydantic_ai_chat.py::test_thinking_is_not_the_reply",
        "tests/agents/test_reference.py::test_a_stale_reply_is_the_value_before",
        "tests/judge/test_interview.py::test_an_answer_that_cannot_be_read_is_asked_for_again[file]",
        "tests/judge/test_panel.py::test_a_judge_is_asked_once_by_every_rubric_and_its_leniency_stands_beside",
        f"{JUDGEMENT}_is_none_is_not_kept_and_is_asked_for_again[blind reader]",
    ),
    """
import ltm_bench.core.errors as errors
errors.LtmBenchError.__str__ = lambda _: "Traceback (most recent call last):\\n  it went wrong"
""": (
        "tests/agents/test_vector_memory.py::test_an_unreadable_store_says_what_to_do[sqlite]",
        "tests/api/test_environment.py::test_bad_input_is_one_line_that_says_what_to_do",
        "tests/cli/test_bad_input.py::test_bad_input_is_reported_in_one_line_and_nothing_is_written[18]",
        "tests/cli/test_comparing.py::test_a_missing_run_is_named_with_its_neighbour",
        "tests/cli/test_exporting.py::test_an_unknown_format_is_named_with_its_neighbour",
        "tests/cli/test_file_attacks.py::test_one_in_nine_spoilt_files_is_survived_in_our_own_words",
        "tests/cli/test_hostile.py::test_no_damage_to_an_answer_is_more_than_a_failure[another value-openai_chat]",
        "tests/export/test_formats.py::test_an_unknown_format_is_named_with_its_neighbour",
        "tests/export/test_leaderboard.py::test_anything_that_is_not_a_bundle_is_refused_too",
        "tests/export/test_verify.py::test_a_file_that_cannot_be_read_is_refused[-results.json]",
    ),
    """
import ltm_bench.report.templating as templating
templating._finalize = lambda _: ""
""": (
        "tests/report/test_accessibility.py::test_a_run_can_be_read_by_everybody[phone]",
        "tests/report/test_browser.py::test_unbroken_names_do_not_widen_the_page",
        "tests/report/test_compare_page.py::test_every_pair_is_shown_once_the_better_agent_first",
        "tests/report/test_page.py::test_the_figures_on_the_page_are_those_of_the_results",
        "tests/viewer/test_server.py::test_every_run_is_listed_with_its_progress",
        "tests/viewer/test_table.py::test_clicking_a_column_head_sorts_the_table[score-once1-twice1]",
    ),
    """
import ltm_bench.report.plotting as plotting
plotting.agent_colour = lambda *_: "#000000"
""": ("tests/report/test_charts.py::test_twenty_four_agents_are_told_apart_and_named_in_full",),
    """
import ltm_bench.score.statistics.power as power
power.examples_needed = lambda *_: 1
""": ("tests/score/statistics/test_power.py::test_an_unreachable_difference_is_reported_as_such",),
    """
from ltm_bench import Outcome, Verdict
import ltm_bench.judge.trials as trials
trials.confusable = lambda _: None
import ltm_bench.score.audits.blind as blind
blind.verdict_by_reading = lambda *_, **__: Verdict(Outcome.CORRECT, 1.0, "whatever was read")
""": (
        "tests/judge/test_injections.py::test_no_injection_makes_a_wrong_reply_right_by_any_reader[first value]",
        "tests/judge/test_reading_runs.py::test_a_reader_copies_and_the_matcher_decides",
        "tests/judge/test_trials.py::test_repeats_are_spread_over_kinds_and_scenarios",
    ),
    """
import ltm_bench.core.keys as keys
keys.key_in = lambda *_: None
keys.cleaned = keys.cleaned_json = lambda value, *_, **__: value
""": (
        "tests/adapters/test_gateway_attacks.py::test_an_echoed_key_reaches_no_agent[as it is-content-whole]",
        "tests/core/test_keys.py::test_an_unknown_key_is_recognised_by_its_look[{}-sk-]",
    ),
    """
import ltm_bench.datasets.infinitebench as infinitebench
import ltm_bench.datasets.infinitebench.scorer as scorer
scorer.score = lambda *_, **__: 1.0
infinitebench.running_values = lambda *_, **__: []
""": (
        "tests/datasets/test_infinitebench.py::test_a_sum_stays_between_0_and_99",
        "tests/datasets/test_infinitebench_scorer.py::test_a_null_prediction_is_an_empty_one",
    ),
    """
from ltm_bench import Outcome, Verdict
from ltm_bench.matchers.names import NamesOnly
NamesOnly.verdict = lambda *_: Verdict(Outcome.WRONG, 1.0, "whatever was said")
""": (
        "tests/scenarios/test_abilities.py::test_where_silence_is_right_the_question_requires_another[hinted]",
        "tests/scenarios/test_besides.py::test_a_right_answer_is_right_in_every_style[who_said_it-terse]",
        "tests/test_released.py::test_a_reply_gets_the_verdict_that_the_release_gave[0.4.0/conversation]",
    ),
    """
from decimal import Decimal
import ltm_bench.core.pricing as pricing
pricing.dollars = lambda *_, **__: Decimal("0.01")
""": (
        "tests/agents/test_prompt_cache.py::test_what_is_kept_for_an_hour_has_a_price_of_its_own",
        "tests/runner/test_money.py::test_cached_tokens_of_an_answer_are_billed_at_their_own_price",
    ),
    """
import ltm_bench.core.limits as limits
whole = limits.json_of
def without_the_last(text):
    value = whole(text)
    if isinstance(value, dict):
        return dict([*value.items()][:-1])
    return value[:-1] if isinstance(value, list) else value
limits.json_of = without_the_last
""": ("tests/datasets/test_gold.py::test_figures_outside_the_tables_follow_too",),
    """
import sys
if "sphinx" not in sys.orig_argv:  # which would stop at what it cannot describe
    import ltm_bench.cli.app as app
    panels = app.panels
    app.panels = lambda: {**panels(), "Never written": ["nothing"]}
""": ("tests/docs/test_site.py::test_every_command_is_in_the_reference",),
}
"""Faults, as Python, and proofs that they break."""
ALREADY = ("-W", "ignore:Module already imported:pytest.PytestAssertRewriteWarning")
"""A fault imports what pytest would like to import first."""


def proofs() -> Iterator[str]:
    """Yield the names of all proofs: of files of tests that are marked, and of tests."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text("utf-8")
        if "mark.proof" not in text or path.name in ("test_keeping.py", Path(__file__).name):
            continue
        name = path.relative_to(ROOT).as_posix()
        tree = ast.parse(text)
        given = [n for n in tree.body if isinstance(n, ast.Assign) and "mark.proof" in ast.unparse(n.value)]
        marks = {ast.unparse(target) for each in given for target in each.targets}
        whole = [each for each in given if "pytestmark" in map(ast.unparse, each.targets)]
        apart = any("together=False" in ast.unparse(each.value) for each in whole)
        if whole and not apart:
            yield name
        for test in (n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name.startswith("test_")):
            words = set(re.findall(r"[\w.]+", " ".join(map(ast.unparse, test.decorator_list))))
            if apart or words & {"pytest.mark.proof", *marks}:
                yield f"{name}::{test.name}"


def test_every_proof_has_a_fault_that_breaks_it() -> None:
    wanted = set(proofs())
    tests = {name.partition("[")[0] for names in FAULTS.values() for name in names}
    assert {test if test in wanted else test.partition("::")[0] for test in tests} == wanted


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
