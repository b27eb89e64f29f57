"""An agent's speed comes from the earlier run that is most like the planned one."""

import json
from pathlib import Path

from ltm_bench.log.recorder import start_run
from ltm_bench.plan.planning import make_plan
from ltm_bench.plan.request import Request
from ltm_bench.runner.measured import seconds_per_reply


def test_a_run_that_cannot_be_read_is_passed_over(tmp_path: Path) -> None:
    manifest = make_plan(Request("parrot", "2k", scenarios=("colours",), examples=1)).manifest
    for name in ("a-damaged", "c-damaged"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "events.jsonl").write_text("{}\n", "utf-8")
        _measured(tmp_path / name, seconds=99.0)
    (tmp_path / "b").mkdir()
    start_run(tmp_path / "b", manifest)
    _measured(tmp_path / "b", seconds=1.5)
    assert seconds_per_reply(manifest.agent, 2000, tmp_path) == 1.5
    _measured(tmp_path / "b", seconds=None)
    assert seconds_per_reply(manifest.agent, 2000, tmp_path) is None, "another run was taken for this one"


def _measured(run: Path, *, seconds: float | None) -> None:
    latency = None if seconds is None else {"total": 4 * seconds}
    (run / "results.json").write_text(json.dumps({"costs": {"calls": 4}, "latency": latency}), "utf-8")
