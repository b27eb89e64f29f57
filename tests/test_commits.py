"""The messages of commits are checked since the release of 0.2.0, in any clone, and by git's hook."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "scripts" / "commits.py"

pytestmark = [
    pytest.mark.skipif(not SCRIPT.is_file(), reason="the source distribution has no scripts"),
    pytest.mark.skipif(shutil.which("git") is None, reason="makes a repository"),
]

LONG = "A subject that is one letter over seventy-two characters, and no shorter."
WHY = "Make it so\n\nSince it was not."


def git(folder: Path, *arguments: str) -> None:
    command = ["git", "-C", str(folder), "-c", "user.name=A", "-c", "user.email=a@example.org"]
    subprocess.run([*command, *arguments], check=True, capture_output=True)


def commit(folder: Path, message: str, version: str | None = None) -> None:
    if version is not None:
        (folder / "pyproject.toml").write_text(f'version = "{version}"\n', "utf-8")
    git(folder, "add", "--all")
    git(folder, "commit", "--allow-empty", "--message", message)


def check(script: Path, *arguments: object) -> tuple[int, list[str]]:
    command = [sys.executable, str(script), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, encoding="utf-8")
    assert done.stderr == ""
    return done.returncode, [line.partition(": ")[2] or line for line in done.stdout.splitlines()]


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with this script and a first version."""
    made = tmp_path / "made"
    (made / "scripts").mkdir(parents=True)
    shutil.copy(SCRIPT, made / "scripts")
    git(made, "init", "--initial-branch=main")
    commit(made, LONG, "0.1.0")
    return made


def test_nothing_is_checked_before_the_release(repository: Path) -> None:
    assert check(repository / "scripts" / "commits.py") == (0, ["0 commits, 0 faults"])
    commit(repository, LONG, "0.2.0")
    assert check(repository / "scripts" / "commits.py") == (0, ["0 commits, 0 faults"])


def test_every_commit_since_the_release_is_checked_whatever_the_version_is_now(repository: Path) -> None:
    commit(repository, LONG, "0.2.0")
    commit(repository, WHY)
    commit(repository, f"{LONG}\n\nSince it was not.", "0.3.0")
    commit(repository, "Make it so")
    code, said = check(repository / "scripts" / "commits.py")
    assert (code, len(LONG)) == (1, 73)
    assert said == [
        "3 commits, 2 faults",
        "no body says why: Make it so",
        f"the subject has 73 characters, more than 72: {LONG}",
    ]


def test_a_merge_is_not_checked_but_what_it_brings_is(repository: Path) -> None:
    git(repository, "switch", "--create", "beside")
    commit(repository, "Make it so")
    git(repository, "switch", "main")
    commit(repository, "Release", "0.2.0")
    git(repository, "merge", "--no-ff", "--message", LONG, "beside")
    code, said = check(repository / "scripts" / "commits.py")
    assert (code, said) == (1, ["1 commits, 1 faults", "no body says why: Make it so"])


def test_a_shallow_clone_checks_what_it_has(repository: Path, tmp_path: Path) -> None:
    commit(repository, "Release", "0.2.0")
    commit(repository, "At the edge", "0.3.0")
    commit(repository, "Make it so")
    for depth, found in ((1, []), (2, ["no body says why: Make it so"])):
        clone = tmp_path / f"clone-{depth}"
        git(tmp_path, "clone", f"--depth={depth}", repository.as_uri(), str(clone))
        code, said = check(clone / "scripts" / "commits.py")
        assert (code, said[1:]) == (len(found), found)


def test_outside_a_checkout_there_is_nothing_to_check(tmp_path: Path) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(SCRIPT, tmp_path / "scripts")
    code, said = check(tmp_path / "scripts" / "commits.py")
    assert (code, said) == (0, ["not a checkout, so no commits to check"])


@pytest.mark.parametrize(
    ("message", "problem"),
    [
        (WHY, None),
        ("Make it so\n\nSince it was not.\n# Please enter the commit message\n", None),
        (f"{LONG[:72]}\n\nSince it was not.", None),
        ("Merge branch 'beside'", None),
        ("", "the message is empty"),
        ("# a comment\n\n", "the message is empty"),
        (f"{LONG}\n\nSince it was not.", "the subject has 73 characters, more than 72"),
        ("Make it so\nSince it was not so at all, and everybody who looked\nhad to ask why.", "the subject has"),
        ("Make it so\n\n# a comment\n", "no body says why"),
        ("Make it so\n\nCo-authored-by: B <b@example.org>", "no body says why"),
        ("Make it so\n\n# ------------------------ >8 ------------------------\ndiff --git a b", "no body says why"),
    ],
)  # fmt: skip
def test_the_hook_reads_a_message_as_git_does(tmp_path: Path, message: str, problem: str | None) -> None:
    file = tmp_path / "COMMIT_EDITMSG"
    file.write_text(message, "utf-8")
    done = subprocess.run([sys.executable, str(SCRIPT), str(file)], capture_output=True, encoding="utf-8")
    assert done.returncode == (problem is not None)
    assert done.stdout.startswith(problem) if problem else done.stdout == ""


def test_the_hooks_run_what_the_development_tools_hold_and_need_no_network() -> None:
    yaml = pytest.importorskip("yaml", reason="reads the hooks")
    content = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text("utf-8"))
    assert [each["repo"] for each in content["repos"]] == ["local"]
    hooks = {hook["id"]: hook for repo in content["repos"] for hook in repo["hooks"]}
    assert {hook["language"] for hook in hooks.values()} == {"system"}
    tools = Path(sys.executable).parent
    for hook in hooks.values():
        assert shutil.which(hook["entry"].split()[0], path=str(tools)), hook["entry"]
    assert hooks["commits"]["entry"] == "python scripts/commits.py"
    stages = {stage for hook in hooks.values() for stage in hook.get("stages", content["default_stages"])}
    assert stages == set(content["default_install_hook_types"])
