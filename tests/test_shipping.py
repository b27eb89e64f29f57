"""Whatever ships the package, as far as it can be tested here: workflows, the action, the image, the metadata."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from tests.finished import Finished

ROOT = Path(__file__).parents[1]

if not (ROOT / ".github").exists():
    pytest.skip("not a checkout", allow_module_level=True)

yaml = pytest.importorskip("yaml", reason="reads the workflows")

WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]


def read(path: Path) -> Any:
    return yaml.safe_load(path.read_text("utf-8"))


def steps(content: Any) -> list[Any]:
    jobs = content["jobs"].values() if "jobs" in content else [content["runs"]]
    return [step for job in jobs for step in job["steps"]]


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / "action.yml"], ids=lambda path: path.name)
def test_every_action_is_pinned_to_a_commit_and_names_its_version(path: Path) -> None:
    used = re.findall(r"uses: (\S+)(.*)", path.read_text("utf-8"))
    assert len(used) == sum("uses" in step for step in steps(read(path)))
    for action, comment in used:
        assert action == "./" or re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40}", action), action
        assert action == "./" or re.fullmatch(r" # v\d+\.\d+\.\d+", comment), action


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_has_no_more_permissions_than_it_needs(path: Path) -> None:
    content = read(path)
    assert content["permissions"] == {"contents": "read"}
    for name, job in content["jobs"].items():
        assert job["timeout-minutes"] <= 60
        wanted = set(job.get("permissions", {}))
        assert wanted <= {"id-token", "attestations"} or (
            name == "tag" and wanted == {"contents"} and not any("uses" in step for step in job["steps"])
        ), name
    text = path.read_text("utf-8")
    assert "secrets." not in text
    assert "pull_request_target" not in text
    for step in steps(content):
        assert "${{" not in step.get("run", ""), "an expression in a script would be read as code"


def test_tests_run_on_every_supported_version_and_platform() -> None:
    matrix = read(ROOT / ".github/workflows/test.yml")["jobs"]["quick"]["strategy"]["matrix"]
    versions = [c.rpartition(" ")[2] for c in PROJECT["classifiers"] if re.search(r"Python :: 3\.\d+$", c)]
    assert matrix["python"] == versions
    assert PROJECT["requires-python"] == f">={versions[0]}"
    assert {name.partition("-")[0] for name in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_the_metadata_promise_no_system_that_the_readme_does_not_call_tested() -> None:
    systems = [each for each in PROJECT["classifiers"] if each.startswith("Operating System")]
    assert systems == ["Operating System :: POSIX :: Linux"]
    assert "developed and tested on Linux; macOS" in " ".join((ROOT / "README.md").read_text("utf-8").split())


def test_published_files_are_built_once_checked_and_attested() -> None:
    content = read(ROOT / ".github/workflows/publish.yml")
    jobs = content["jobs"]
    on = {"push": {"branches": ["main"], "paths": ["pyproject.toml"]}}
    assert content[True] == on  # `on` is a boolean in YAML
    assert jobs["build"]["if"] == "needs.version.outputs.raised != ''"
    assert "twine check --strict" in json.dumps(jobs["build"])
    assert [jobs[job]["needs"] for job in ("build", "attest", "publish")] == ["version", "build", "attest"]
    assert jobs["tag"]["needs"] == ["version", "publish"], "only what is published is tagged"
    assert sum("python -m build" in step.get("run", "") for step in steps(content)) == 1
    publish = jobs["publish"]
    assert publish["permissions"] == {"id-token": "write"}, "trusted publishing, without a password"
    assert publish["environment"]["name"] == "pypi"


@pytest.mark.parametrize(
    ("versions", "raised"),
    [
        (["0.3.0", "0.4.0"], "0.4.0"),
        (["0.9.0", "0.10.0", "0.10.0"], "0.10.0"),
        (["0.4.0", "0.4.0"], None),
        (["0.4.0", "0.3.0"], None),
    ],
    ids=["raised", "raised before the last commit of the push", "kept", "lowered"],
)
def test_a_push_publishes_only_the_version_that_it_raises(
    tmp_path: Path, versions: list[str], raised: str | None
) -> None:
    def git(*words: str) -> str:
        author = ("-c", "user.name=A", "-c", "user.email=a@example.org", "-c", "commit.gpgsign=false")
        done = subprocess.run(
            ["git", *author, *words], cwd=tmp_path, check=True, capture_output=True, text=True
        )
        return done.stdout.strip()

    if shutil.which("bash") is None or shutil.which("git") is None:
        pytest.skip("no bash or git")
    git("init", "--quiet")
    commits = []
    for number, version in enumerate(versions):
        text = f'[project]\nname = "ltm-bench"\nversion = "{version}"\n# {number}\n'
        (tmp_path / "pyproject.toml").write_text(text, "utf-8")
        git("add", "pyproject.toml")
        git("commit", "--quiet", "-m", version)
        commits.append(git("rev-parse", "HEAD"))
    [step] = read(ROOT / ".github/workflows/publish.yml")["jobs"]["version"]["steps"][1:]
    output = tmp_path / "output"
    output.touch()
    subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=tmp_path,
        env={**os.environ, "BEFORE": commits[0], "GITHUB_OUTPUT": str(output)},
        check=True,
        timeout=60,
    )
    assert output.read_text("utf-8") == (f"raised={raised}\n" if raised else "")


def test_the_metadata_name_the_authors_the_links_and_the_purpose() -> None:
    assert PROJECT["authors"] == [{"name": "ltm-bench contributors"}]
    assert all(url.startswith("https://") for url in PROJECT["urls"].values())
    assert "Homepage" in PROJECT["urls"]
    assert len(PROJECT["classifiers"]) == len(set(PROJECT["classifiers"])) >= 10


class Job(NamedTuple):
    """The result of a step of the action."""

    exit_code: int
    summary: str
    outputs: dict[str, str]
    place: Path


ACTION = read(ROOT / "action.yml")


def act(place: Path, **given: str) -> Job:
    """Run the action's step `run`, as a runner would."""
    if shutil.which("bash") is None:
        pytest.skip("no bash")
    assert set(given) <= set(ACTION["inputs"])
    inputs = {name: each.get("default", "") for name, each in ACTION["inputs"].items()} | given
    [step] = [step for step in ACTION["runs"]["steps"] if step.get("id") == "run"]
    filled = {
        name: re.sub(r"\$\{\{ inputs\.(\w+) \}\}", lambda found: inputs[found[1]], value)
        for name, value in step["env"].items()
    }
    environment = {name: value for name, value in os.environ.items() if not name.startswith("LTM_BENCH_")}
    environment |= {
        **filled,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "GITHUB_ACTION_PATH": str(ROOT),
        "GITHUB_OUTPUT": str(place / "output"),
        "GITHUB_STEP_SUMMARY": str(place / "summary"),
    }
    done = subprocess.run(
        ["bash", "-e", "-o", "pipefail", "-c", step["run"]],
        cwd=place,
        env=environment,
        check=False,
        timeout=120,
    )
    summary, output = place / "summary", place / "output"
    lines = output.read_text("utf-8").splitlines() if output.exists() else []
    return Job(
        done.returncode,
        summary.read_text("utf-8") if summary.exists() else "",
        {name: value for name, _, value in (line.partition("=") for line in lines)},
        place,
    )


def test_the_action_runs_writes_its_table_and_leaves_the_page_to_be_kept(tmp_path: Path) -> None:
    job = act(tmp_path, agent="perfect", span="2k", suite="smoke")
    assert job.exit_code == 0
    assert job.outputs == {
        "folder": "reports/this-run",
        "score": "11.0",
        "artifact": "ltm-bench-perfect-2k-smoke",
    }
    assert "| perfect | 2k | 11.00 / 11 |" in job.summary
    assert "The page of the run is in the artefact `ltm-bench-perfect-2k-smoke`." in job.summary
    [keep] = [step for step in ACTION["runs"]["steps"] if step.get("with", {}).get("path")]
    assert "always()" in keep["if"]
    for line in keep["with"]["path"].splitlines():
        assert list((tmp_path / job.outputs["folder"]).glob(line.rpartition("/")[2])), line
    for name, output in ACTION["outputs"].items():
        assert output["value"] == f"${{{{ steps.run.outputs.{name} }}}}"
        assert name in job.outputs


def test_the_action_fails_where_the_score_falls_below_the_baseline(
    tmp_path: Path, finished: "Finished"
) -> None:
    finished.copy(tmp_path / "reports" / "this-run", "perfect", suite="smoke")
    job = act(tmp_path, agent="goldfish", span="2k", suite="smoke", baseline="reports/this-run")
    assert job.exit_code == 2
    assert job.outputs["folder"] == "reports/this-run-2"
    assert job.outputs["score"] == "0.0"
    assert "| perfect | 2k |" in job.summary
    assert "| goldfish | 2k |" in job.summary
    assert "The score is too far below the baseline." in job.summary


def test_no_input_of_the_action_is_run_as_a_command(tmp_path: Path) -> None:
    job = act(tmp_path, agent="$(touch stolen)`touch stolen`; touch stolen", span="2k")
    assert job.exit_code == 1
    assert not (tmp_path / "stolen").exists()
    assert job.outputs == {}


DOCKERFILE = ROOT / "Dockerfile"


def test_the_image_copies_the_sources_of_the_wheel_and_runs_without_privileges() -> None:
    text = DOCKERFILE.read_text("utf-8")
    copied = [name for line in re.findall(r"^COPY (.+) \S+$", text, re.MULTILINE) for name in line.split()]
    assert all((ROOT / name).exists() for name in copied)
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"][
        "wheel"
    ]
    assert {*wheel["only-include"], "pyproject.toml", PROJECT["readme"], "LICENSE"} == set(copied)
    allowed = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    assert allowed[0] == "*"
    assert {f"!{name}" for name in copied} == {line for line in allowed if line.startswith("!")}
    last = text[text.rindex("\nFROM ") :]
    user = re.search(r"^USER (\d+)$", last, re.MULTILINE)
    assert user is not None
    assert f"useradd --uid {user[1]} " in last
    assert last.index("RUN ") < last.index("USER ") < last.index("ENTRYPOINT ")
    assert '["ltm-bench"]' in last
    assert 'CMD ["run"]' in last
