"""A proof runs again as soon as anything changes that it depends on, and only then."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from tests import keeping
    from tests.keeping import Proof, Watching
else:
    import keeping
    from keeping import Proof, Watching

ROOT = Path(__file__).parents[1]
pytestmark = pytest.mark.skipif(
    not (ROOT / "scripts").is_dir(), reason="the source distribution has no scripts"
)

PARTS = (
    "ltm_bench",
    "scenarios",
    "agents",
    "configs",
    "scripts",
    "perf",
    "tests/conftest.py",
    "pyproject.toml",
)
"""What the copy of a checkout has, besides all helpers of tests."""

PROOF = """
from collections.abc import Callable

import pytest
from ltm_bench.matchers.names import NamesOnly
from ltm_bench.plugins.scenarios import scenario
from pace import LEFT


@pytest.mark.proof(scenarios="name")
@pytest.mark.parametrize("name", ["colours", "jokes"])
def test_it_is_right(name: str, seeds: Callable[[int], range]) -> None:
    assert scenario(name).summary
    assert seeds(30)[0] < 30 and LEFT == 1
    with open("tried.txt", "a") as file:
        print(name, len(seeds(30)), file=file)


@pytest.mark.proof(scenarios=())
def test_it_opens_a_file_that_nobody_knows_of() -> None:
    open({hidden!r}).close()
"""

WHOLE = """
import pytest

pytestmark = pytest.mark.proof(scenarios=())


@pytest.mark.parametrize("case", [1, 2])
def test_a_whole_file_is_right(case: int) -> None:
    assert case


@pytest.mark.unkept
def test_a_whole_machine_is_right() -> None:
    with open("tried.txt", "a") as file:
        print("machine", file=file)
"""


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of this checkout with one file of tests."""
    place = tmp_path_factory.mktemp("checkout")
    ignore = shutil.ignore_patterns("__pycache__")
    helpers = [path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").glob("[!t]*.py")]
    for part in (*PARTS, *helpers):
        target = place / part
        target.parent.mkdir(exist_ok=True)
        if (ROOT / part).is_dir():
            shutil.copytree(ROOT / part, target, ignore=ignore)
        else:
            shutil.copyfile(ROOT / part, target)
    (place / "hidden.txt").write_text("", "utf-8")
    (place / "tests" / "pace.py").write_text("LEFT = 1\n", "utf-8")
    (place / "tests" / "test_some.py").write_text(PROOF.format(hidden=str(place / "hidden.txt")), "utf-8")
    (place / "tests" / "test_whole.py").write_text(WHOLE, "utf-8")
    return place


def check(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run the tests of a checkout as scripts/check does."""
    program = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "--prove",
        "changed",
        "tests/test_some.py",
        "tests/test_whole.py",
    ]
    environment = {**os.environ, "PYTHONPATH": str(place)}
    environment.pop("PYTEST_XDIST_WORKER", None)
    return subprocess.run(
        [*program, *words], cwd=place, env=environment, capture_output=True, text=True, check=False
    )


def files(place: Path) -> dict[str, Any]:
    found = [json.loads(path.read_text("utf-8")) for path in (place / "tests" / "kept").rglob("*.json")]
    return {each["proof"].partition("[")[2].rstrip("]"): each for each in found}


CHANGES = {
    "the test": "tests/test_some.py",
    "a helper of the test": "tests/pace.py",
    "the scenario": "scenarios/colours.py",
    "the scenario's data": "scenarios/colours.json",
    "a module that the test imports": "ltm_bench/matchers/names.py",
    "a module that those import": "ltm_bench/matchers/reading/stance.py",
    "a module that is found by its folder": "ltm_bench/datasets/beam/matcher.py",
    "the data of a module": "ltm_bench/core/tables/NOTICE",
    "an agent that a proof may make": "agents/perfect.py",
}

HASHES = """
import json, sys
from pathlib import Path
import pytest

class Collected:
    def pytest_collection_finish(self, session):
        import keeping
        from scripts import reach
        item = next(each for each in session.items if "colours" in each.nodeid)
        cached = [each for module in (keeping, reach) for each in vars(module).values() if hasattr(each, "cache_clear")]

        def now():
            for each in cached:
                each.cache_clear()
            return keeping.proof_of(item).hashes()

        found = {"nothing": now()}
        for what, name in json.loads(sys.argv[1]).items():
            text = Path(name).read_bytes()
            Path(name).write_bytes(text + b"\\n")
            found[what] = now()
            Path(name).write_bytes(text)
        found["nothing again"] = now()
        keeping.version = lambda name: "0"
        found["a package"] = now()
        keeping.sys.implementation.cache_tag = "cpython-399"
        found["the interpreter"] = now()
        Path("found.json").write_text(json.dumps(found))
        session.items.clear()

pytest.main(["-q", "-p", "no:cacheprovider", "tests/test_some.py"], plugins=[Collected()])
"""


@pytest.mark.slow
def test_a_byte_in_anything_that_a_proof_depends_on_changes_one_of_its_hashes(checkout: Path) -> None:
    words = [sys.executable, "-c", HASHES, json.dumps(CHANGES)]
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(words, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    assert (checkout / "found.json").exists(), done.stdout + done.stderr
    found = json.loads((checkout / "found.json").read_text("utf-8"))
    before = found.pop("nothing")
    assert found.pop("nothing again") == before
    own = {what for what, hashes in found.items() if hashes["own"] != before["own"]}
    shared = {what for what, hashes in found.items() if hashes["shared"] != before["shared"]}
    assert own == {"the test", "a helper of the test", "the scenario", "the scenario's data"}
    assert shared == set(CHANGES) - own | {"a package", "the interpreter"}


@pytest.mark.slow
def test_a_proof_is_kept_when_all_passed_and_runs_again_when_it_changes(checkout: Path) -> None:
    tried = checkout / "tried.txt"
    failed = check(checkout)
    assert "a proof opened what its hashes do not cover: hidden.txt" in failed.stdout
    assert files(checkout) == {}, "a check that failed keeps nothing"

    right = ("-k", "is_right")
    assert "0 proofs kept, 4 made now" in check(checkout, *right).stdout
    assert {name: each.get("seeds") or each["cases"] for name, each in files(checkout).items()} == {
        "colours": "all",
        "jokes": "all",
        "": {f"test_a_whole_file_is_right[{case}]": "all" for case in (1, 2)},
    }

    tried.unlink()
    module = checkout / "ltm_bench" / "matchers" / "names.py"
    module.write_text(f"{module.read_text('utf-8')}\n", "utf-8")
    scenario = checkout / "scenarios" / "colours.json"
    scenario.write_text(f"{scenario.read_text('utf-8')}\n", "utf-8")
    assert "0 proofs kept, 4 made now" in check(checkout, *right).stdout
    assert tried.read_text("utf-8") == "colours 30\njokes 10\nmachine\n"
    assert {name: each.get("seeds") or each["cases"] for name, each in files(checkout).items()} == {
        "colours": "all",
        "jokes": "some",
        "": {f"test_a_whole_file_is_right[{case}]": "some" for case in (1, 2)},
    }

    kept = check(checkout, *right)
    assert "    1 kept     some seeds" in kept.stdout
    assert "    2 kept     some seeds  tests/test_whole.py" in kept.stdout
    assert "4 proofs kept, 0 made now" in kept.stdout
    assert tried.read_text("utf-8").endswith("machine\nmachine\n"), "what is unkept runs each time"


def test_what_is_kept_cannot_be_read_or_is_of_another_proof_so_all_seeds_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "KEPT", tmp_path)
    proof = Proof("tests/test_one.py::test_it[a/b]", frozenset({Path(__file__)}), frozenset(), frozenset())
    path = keeping.file_of(proof.name)
    path.parent.mkdir(parents=True)
    assert path.parent == tmp_path / "test_one"
    for text, due in (
        ("", "all"),
        ("[]", "all"),
        (json.dumps({"proof": "another", **proof.hashes()}), "all"),
        (json.dumps({"proof": proof.name, **proof.hashes(), "shared": "another"}), "some"),
        (json.dumps({"proof": proof.name, **proof.hashes()}), "no"),
    ):
        path.write_text(text, "utf-8")
        assert keeping.due(proof, keeping.kept(proof.name)) == due, text


def test_cases_are_kept_together_as_long_as_both_hashes_are_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "KEPT", tmp_path)
    proof = Proof("tests/test_one.py", frozenset({Path(__file__)}), frozenset(), frozenset(), "test_it[a]")
    said = {"proof": proof.name, "case": proof.case, "seeds": "all", **proof.hashes()}
    assert keeping.due(proof, keeping.kept(proof.name)) == "all"
    keeping.keep(said)
    keeping.keep({**said, "case": "test_it[b]"})
    assert keeping.due(proof, keeping.kept(proof.name)) == "no"
    assert keeping.due(replace(proof, case="test_it[c]"), keeping.kept(proof.name)) == "all", (
        "another case was never proved"
    )
    keeping.keep({**said, "case": "test_it[b]", "shared": "another"})
    assert keeping.due(proof, keeping.kept(proof.name)) == "all", (
        "a case that held by other files says nothing of these"
    )
    assert proof.shown.partition("[")[0] == proof.name


def test_what_a_proof_depends_on_besides_the_checkout_is_in_its_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "BESIDE", tmp_path / "shared" / "data")
    keeping.BESIDE.mkdir(parents=True)
    (keeping.BESIDE / "published.json").write_text("{}", "utf-8")
    own = frozenset({Path(os.__file__)})
    _, shared, _ = keeping._reached(own, (), frozenset(), beside=True, whole=False)
    assert set(map(keeping.shown, shared)) == {"shared/data/published.json"}
    with Watching() as opened:
        (keeping.BESIDE / "published.json").read_bytes()
    assert opened == shared
    _, shared, _ = keeping._reached(own, (), frozenset(), beside=False, whole=True)
    assert {ROOT / "ltm_bench" / "cli" / "commands" / "show.py", ROOT / "ltm_bench" / "py.typed"} <= shared


def test_another_browser_or_another_font_changes_a_hash(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(keeping, "FONTS", (str(tmp_path),))
    said = set()
    for program in (None, sys.executable):
        monkeypatch.setattr(keeping, "find_browser", lambda program=program: program)
        said.add(keeping.browser())
    (tmp_path / "Some.ttf").write_bytes(b"")
    assert len({*said, keeping.browser()}) == 3


def test_what_is_opened_in_the_checkout_is_seen() -> None:
    with Watching() as opened:
        Path(__file__).read_bytes()
        Path(os.devnull).read_bytes()
    Path(ROOT / "pyproject.toml").read_bytes()
    assert opened == {Path(__file__)}


def test_the_table_counts_proofs_by_test() -> None:
    proved = {"a.py::one[x]": {"seeds": "some"}}
    assert keeping.table({"a.py::one[y]": "all", "a.py::one[z]": "all"}, proved).splitlines() == [
        "    2 kept      all seeds  a.py::one",
        "    1 made now some seeds  a.py::one",
        "2 proofs kept, 1 made now",
    ]
