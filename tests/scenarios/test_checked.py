"""Every shipped scenario passes `ltm-bench check`, and says the same under every hash seed."""

import ast
from pathlib import Path

import pytest

from ltm_bench.core.agent import Finding
from ltm_bench.runner import checking
from ltm_bench.runner.checking import check_scenario

SCENARIOS = {
    path.stem: path
    for path in sorted((Path(__file__).parents[2] / "scenarios").iterdir())
    if path.suffix in (".py", ".toml")
}


@pytest.fixture
def brief(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave out most of what checking a scenario costs: processes of its own, and a note that no scenario can fail."""
    noted = Finding(True, "tests/scenarios/test_heaps.py tests what a heap scores in each scenario")
    monkeypatch.setattr(checking, "_differs_elsewhere", lambda _: (False, ""))
    monkeypatch.setattr(checking, "_recited", lambda *_: noted)


@pytest.mark.proof(scenarios="name")
@pytest.mark.usefixtures("brief")
@pytest.mark.parametrize("name", SCENARIOS)
def test_every_shipped_scenario_keeps_the_rules(name: str) -> None:
    keeps_the_rules(SCENARIOS[name])


@pytest.mark.proof
def test_every_shipped_scenario_says_the_same_under_every_hash_seed(monkeypatch: pytest.MonkeyPatch) -> None:
    each = f"for sys.argv[1] in {list(map(str, SCENARIOS.values()))}:\n    exec({checking._ELSEWHERE!r})"
    with monkeypatch.context() as patched:  # all in the same processes, since it takes longest to start one
        patched.setattr(checking, "_ELSEWHERE", f"import sys\n{each}")
        found = checking._differs_elsewhere(SCENARIOS["colours"])
    assert found == (False, ""), [
        name for name, path in SCENARIOS.items() if checking._differs_elsewhere(path)[0]
    ]


@pytest.mark.slow
@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("name", ["colours", "delayed_recall"])
def test_a_shipped_scenario_passes_the_whole_check(name: str) -> None:
    keeps_the_rules(SCENARIOS[name])


def keeps_the_rules(path: Path) -> None:
    findings = list(check_scenario(path, ast.parse(path.read_bytes()) if path.suffix == ".py" else None))
    assert [finding.text for finding in findings if not finding.ok] == []
    assert len(findings) >= 10
