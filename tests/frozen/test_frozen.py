"""What authors wrote for released versions still works: adapters, scenarios, a matcher and tests, unchanged."""

import json
import runpy
import shutil
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ltm_bench.plugins.matchers import load
from ltm_bench.plugins.scenarios import scenario as scenario_named

if TYPE_CHECKING:
    from tests.conftest import Command
    from tests.test_versions import RELEASES
else:
    from test_versions import RELEASES

pytestmark = pytest.mark.proof(
    files=("tests/frozen/**/*.*", "tests/golden/**/*.*", "tests/versions.json", "agents/*.*", "configs/*.*")
)

HERE = Path(__file__).parent
OLD, NEW = HERE / "v0_1_0", HERE / "v0_2_0"
NAMES = [
    (file.parent.name, module, names)
    for file in sorted(HERE.glob("*/names.json"))
    for module, names in json.loads(file.read_text("utf-8")).items()
]


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Path:
    """A folder in which a user has put the files of a release."""
    release = getattr(request, "param", NEW)
    for folder in ("agents", "scenarios"):
        shutil.copytree(release / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def score_of(place: Path) -> float | None:
    (results,) = place.glob("reports/*/results.json")
    found: float | None = json.loads(results.read_text("utf-8"))["score"]
    return found


@pytest.mark.parametrize("place", [OLD], indirect=True)
def test_the_adapter_of_0_1_0_runs_the_scenario_of_0_1_0(place: Path, command: "Command") -> None:
    done = command("run", "--span", "2k", "--agent", "notebook", "-A", "pages=50", "--scenario", "parking")
    assert done.exit_code == 0, done.output
    assert score_of(place) is not None


@pytest.mark.parametrize("place", [OLD], indirect=True)
def test_the_adapter_from_0_1_0_runs_todays_scenarios(place: Path, command: "Command") -> None:
    done = command("run", "--span", "2k", "--agent", "notebook")
    assert done.exit_code == 0, done.output


FILES = [
    (OLD, "agents/notebook.py"),
    (OLD, "scenarios/parking.py"),
    (NEW, "agents/almanac.py"),
    (NEW, "scenarios/lighthouse.py"),
]


@pytest.mark.usefixtures("quick_check")
@pytest.mark.parametrize(
    ("place", "file"),
    FILES,
    indirect=["place"],
    ids=lambda each: each if isinstance(each, str) else each.name,
)
def test_they_keep_todays_rules(place: Path, command: "Command", file: str) -> None:
    done = command("check", file)
    assert done.exit_code == 0, done.output
    assert "FAIL" not in done.out


@pytest.mark.usefixtures("quick_check")
def test_a_scenario_that_takes_nothing_back_now_fails_the_check(place: Path, command: "Command") -> None:
    done = command("check", "scenarios/moving.toml")
    (failed,) = [line for line in done.out.splitlines() if line.startswith("FAIL")]
    assert "nothing takes" in failed


@pytest.mark.parametrize("scenario", ["lighthouse", "moving"])
def test_the_oracle_has_full_marks_in_the_scenarios_of_0_2_0(
    place: Path, command: "Command", scenario: str
) -> None:
    done = command("run", "--span", "4k", "--agent", "perfect", "--scenario", scenario, "--fail-under", "1")
    assert done.exit_code == 0, done.output


@pytest.mark.parametrize("questions", ["in-line", "forked"])
def test_the_memory_of_0_2_0_runs_the_scenarios_of_0_2_0(
    place: Path, command: "Command", questions: str
) -> None:
    chosen = ("--scenario", "lighthouse", "--scenario", "moving", "--questions", questions)
    done = command("run", "--span", "4k", "--agent", "almanac", "-A", "memories=9", *chosen)
    assert done.exit_code == 0, done.output
    assert (score_of(place) or 0) > 0.1


def test_the_matcher_of_0_2_0_is_known_from_its_log(place: Path) -> None:
    scenario_named("lighthouse")
    matcher = load({"matcher": "Flashes", "version": 2, "code": "..-", "among": ["-.."]})
    assert [matcher.verdict(said, ()).outcome for said in ("..-", "-..", "...", "")] == [
        "correct",
        "stale",
        "wrong",
        "malformed",
    ]
    assert (matcher.in_words(), matcher.chance) == ("the flashes ..-", 0.125)


TESTS = NEW / "tests" / "keeps_the_rules.py"


@pytest.mark.parametrize("name", [name for name in runpy.run_path(str(TESTS)) if name.startswith("test_")])
def test_the_tests_of_an_author_of_0_2_0_pass(place: Path, key: str, name: str) -> None:
    runpy.run_path(str(TESTS))[name]()


def test_the_public_names_of_the_newest_release_are_kept() -> None:
    assert f"v{[*RELEASES][-1].replace('.', '_')}" in {release for release, _, _ in NAMES}


@pytest.mark.parametrize(("release", "module", "names"), NAMES, ids=[" ".join(each[:2]) for each in NAMES])
def test_every_public_name_of_a_release_is_still_there(release: str, module: str, names: list[str]) -> None:
    missing = [name for name in names if not hasattr(import_module(module), name)]
    assert missing == [], release
