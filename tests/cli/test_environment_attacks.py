"""Machines on which something is missing or odd: a run ends with the usual log, or says in one line what is in its way.

A case is one thing about the process that begins it: a variable, a limit, a folder, a stream. All take minutes; the
quick test takes one in ten.
"""

import os
import random
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, suppress
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

if TYPE_CHECKING:
    from tests.attacks import complaint
else:
    from attacks import complaint

CASES = 110
WORDS = (
    "run",
    "--span",
    "2k",
    "--suite",
    "smoke",
    "--examples",
    "1",
    "--agent",
    "vector_memory",
    "--name",
    "r",
)
WHO = ("PATH", "HOME", "LANG", "VIRTUAL_ENV")

PLACES = (
    "/nonexistent",
    "/dev/null",
    "/proc",
    "",
    "relative/folder",
    "/root/\udcff\udcfe",
    "x" * 3000,
    "/tmp/" + "a/" * 900,
)
"""Where no file can be, or is."""
HOMES = (
    "HOME",
    "TMPDIR",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
    "TIKTOKEN_CACHE_DIR",
    "NUMBA_CACHE_DIR",
    "PYTHONPYCACHEPREFIX",
)
VALUES = {
    "LANG": ("tlh_KL.UTF-8", "C", "", "\udcff", "POSIX", "ja_JP.eucJP"),
    "LC_ALL": ("C", "xx", "POSIX", "tr_TR.UTF-8"),
    "LC_NUMERIC": ("de_DE.UTF-8",),
    "PYTHONIOENCODING": ("ascii", "utf-16", "latin-1:strict"),
    "PYTHONUTF8": ("0",),
    "PYTHONCOERCECLOCALE": ("0",),
    "PYTHONHASHSEED": ("0", "4294967295"),
    "PYTHONOPTIMIZE": ("1", "2"),
    "PYTHONDEVMODE": ("1",),
    "PYTHONWARNINGS": ("error", "default"),
    "PYTHONASYNCIODEBUG": ("1",),
    "PYTHONDONTWRITEBYTECODE": ("1",),
    "PYTHONUNBUFFERED": ("1",),
    "PYTHONINTMAXSTRDIGITS": ("640", "0"),
    "PYTHONNODEBUGRANGES": ("1",),
    "PYTHONMALLOC": ("debug",),
    "TZ": (
        "Asia/Kathmandu",
        "America/St_Johns",
        "nowhere",
        ":/dev/null",
        "XYZ+99",
        "../../etc/passwd",
        "\udcff",
    ),
    "COLUMNS": ("0", "1", "-1", "abc", "1e9", "99999999"),
    "LINES": ("0", "-3"),
    "TERM": ("dumb", "", "xterm-" + "x" * 400),
    "FORCE_COLOR": ("1", "0"),
    "NO_COLOR": ("1",),
    "PAGER": ("/nonexistent",),
    "PATH": ("", "/nonexistent"),
    "SSL_CERT_FILE": ("/nonexistent", "/dev/null"),
    "HTTPS_PROXY": ("x", "http://[", "socks5://127.0.0.1:1"),
    "NO_PROXY": ("[::1", ",,,", "*" * 4000),
    "OPENAI_BASE_URL": ("x", "http://[", "file:///etc/passwd"),
    "OMP_NUM_THREADS": ("0", "-1", "x"),
    "OPENBLAS_NUM_THREADS": ("x", "100000"),
    "SOURCE_DATE_EPOCH": ("x", "-1"),
    "LTM_BENCH_SEED": ("x", "-1", "1e3", ""),
    "LTM_BENCH_SPAN": ("", "0", "-2k"),
    "LTM_BENCH_TIMEOUT": ("nan", "-1", "1e400"),
    "LTM_BENCH_MAX_COST": ("nan", "-0", "inf", "1,5"),
    "LTM_BENCH_MAX_CONNECTIONS": ("0", "99999999999"),
    "LTM_BENCH_TAG": ("=", "a", "a=b a=c", "a=\udcff"),
    "LTM_BENCH_LOG_LEVEL": ("LOUD", ""),
    "LTM_BENCH_CONFIG": ("/nonexistent", "/dev/zero", "."),
    "LTM_BENCH_OTEL": ("x", "http://[", "http://127.0.0.1:1"),
    "LTM_BENCH_QUIET": ("maybe", "2"),
    "LTM_BENCH_NOTIFY": ("/nonexistent/program", "false", "'"),
    "LTM_BENCH_JUDGE": ("x y z",),
    "LTM_BENCH_WITHOUT": ("x", "gateway"),
    "_TYPER_STANDARD_TRACEBACK": ("1",),
    "ltm_bench_seed": ("5",),
    "OTEL_EXPORTER_OTLP_HEADERS": ("=,=", "a"),
}
LIMITS: dict[str, tuple[int, int]] = {
    "few files": (resource.RLIMIT_NOFILE, 24),
    "few files more": (resource.RLIMIT_NOFILE, 64),
    "a small stack": (resource.RLIMIT_STACK, 1 << 20),
    "small files": (resource.RLIMIT_FSIZE, 30_000),
    "files of one byte": (resource.RLIMIT_FSIZE, 1),
    "no locked memory": (resource.RLIMIT_MEMLOCK, 0),
    "no dumps": (resource.RLIMIT_CORE, 0),
    "two gigabytes of addresses": (resource.RLIMIT_AS, 2 << 30),
    "few seconds": (resource.RLIMIT_CPU, 120),
}


class Case(NamedTuple):
    """One thing that is odd."""

    name: str
    changes: Mapping[str, str | None] = MappingProxyType({})
    prepare: Callable[[Path], object] = lambda _: None
    """What is done to the folder before."""
    inside: Callable[[], object] | None = None
    """What the process does to itself before it begins."""
    streams: Mapping[str, str] = MappingProxyType({})


def cases() -> Iterator[Case]:
    for name in HOMES:
        for value in (None, *PLACES):
            yield Case(f"{name}={value!r:.30}", {name: value})
    for name, values in VALUES.items():
        for value in values:
            yield Case(f"{name}={value!r:.30}", {name: value})
    for name in ("LANG", "PATH", "HOME"):
        yield Case(f"no {name}", {name: None})
    for name, (what, most) in LIMITS.items():
        # byte code that is cut by a limit would be read by whoever comes next
        bare = {"PYTHONDONTWRITEBYTECODE": "1"}
        yield Case(name, bare, inside=partial(resource.setrlimit, what, (most, most)))
    for number in (0, 1, 2):
        yield Case(f"stream {number} closed", inside=partial(os.close, number))
    for mask in (0o777, 0o000, 0o277):
        yield Case(f"umask {mask:o}", inside=partial(os.umask, mask))
    yield Case("output full", streams={"stdout": "/dev/full"})
    yield Case("errors full", streams={"stderr": "/dev/full"})
    yield Case("all full", streams={"stdout": "/dev/full", "stderr": "/dev/full"})
    yield Case("input is endless", streams={"stdin": "/dev/zero"})
    yield Case("a folder that is gone", inside=_gone)
    for name in ("reports", "reports/r"):
        yield Case(f"{name} is a file", prepare=partial(_written, name))
        yield Case(f"{name} is a loop", prepare=partial(_linked, name, Path(name).name))
        yield Case(f"{name} leads nowhere", prepare=partial(_linked, name, "nowhere/x"))
    for name in ("random", "json", "numpy", "typing", "ltm_bench", "openai", "sitecustomize", "secrets"):
        yield Case(f"a file {name}.py", prepare=partial(_written, f"{name}.py"))
    for name in ("agents", "configs", "scenarios"):
        yield Case(f"{name} is a file", prepare=partial(_written, name))
        yield Case(f"{name} is a loop", prepare=partial(_linked, name, name))
        yield Case(f"{name} has odd names", prepare=partial(_odd, name))


def _gone() -> None:
    os.mkdir("gone")
    os.chdir("gone")
    os.rmdir("../gone")


def _written(name: str, place: Path) -> None:
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).write_text("raise SystemExit(7)", "utf-8")


def _linked(name: str, to: str, place: Path) -> None:
    (place / name).parent.mkdir(exist_ok=True)
    (place / name).symlink_to(to)


def _odd(name: str, place: Path) -> None:
    (place / name).mkdir()
    for each in ("\udcff.py", "a b.py", "x" * 200 + ".toml", "-.py", "..py", "é.toml", "n\nl.py"):
        (place / name / each).write_text("x = (", "utf-8")


def chosen() -> list[Case]:
    """Return the cases: all of each kind but for variables of places, of which there are too many."""
    every = list(cases())
    dice = random.Random("environments 1")
    dice.shuffle(every)
    return every[:CASES]


def begun(case: Case, place: Path) -> subprocess.CompletedProcess[str]:
    """Begin a run in this environment."""
    environment = {name: os.environ[name] for name in WHO if name in os.environ}
    for name, value in case.changes.items():
        environment.pop(name, None)
        if value is not None:
            environment[name] = value
    case.prepare(place)
    streams: dict[str, Any] = dict.fromkeys(("stdout", "stderr"), subprocess.PIPE)
    streams["stdin"] = subprocess.DEVNULL
    program: list[str | Path] = [sys.executable, Path(sys.executable).with_name("ltm-bench"), *WORDS]
    with ExitStack() as stack:
        for name, where in case.streams.items():
            streams[name] = stack.enter_context(open(where, "r+b", buffering=0))
        streams |= {"text": True, "errors": "replace", "preexec_fn": case.inside, "timeout": 120}
        done: subprocess.CompletedProcess[str] = subprocess.run(
            program, cwd=place, env=environment, check=False, **streams
        )
    return done


def fault(case: Case, place: Path, usual: bytes) -> str:
    """Return what is wrong with a run in this environment; empty if nothing is."""
    done = begun(case, place)
    heard = "stderr" not in case.streams and "stream 2" not in case.name
    err = (done.stderr or "") if heard else "nobody hears it"
    found = complaint(done.returncode, done.stdout or "", err)
    if found and not ("FORCE_COLOR" in case.changes and "escape" in found):
        return f"{case.name}: {found}"
    log = place / "reports" / "r" / "events.jsonl"
    another = {"LTM_BENCH_SPAN", "LTM_BENCH_SEED", "LTM_BENCH_CONFIG"} & set(case.changes)
    if done.returncode == 0 and not another and (not log.exists() or log.read_bytes() != usual):
        return f"{case.name}: another log"
    last = err.strip().rpartition("\n")[2]
    if done.returncode and heard and not last.startswith(("ltm-bench: ", "The run can be resumed", "bash: ")):
        return f"{case.name}: {err[-400:]!r}"
    return ""


@pytest.fixture
def usual(tmp_path: Path) -> bytes:
    (tmp_path / "usual").mkdir()
    assert begun(Case("usual"), tmp_path / "usual").returncode == 0
    return (tmp_path / "usual" / "reports" / "r" / "events.jsonl").read_bytes()


def tried(some: list[Case], tmp_path: Path, usual: bytes) -> list[str]:
    found = []
    for number, case in enumerate(some):
        (tmp_path / str(number)).mkdir()
        with suppress(UnicodeEncodeError):
            found.append(fault(case, tmp_path / str(number), usual))
    return list(filter(None, found))


@pytest.mark.slow
def test_one_in_ten_odd_machines_gives_the_usual_log_or_one_line(tmp_path: Path, usual: bytes) -> None:
    assert tried(chosen()[::10], tmp_path, usual) == []


@pytest.mark.long
@pytest.mark.timeout(3000)
def test_a_hundred_odd_machines_give_the_usual_log_or_one_line(tmp_path: Path, usual: bytes) -> None:
    assert tried(chosen(), tmp_path, usual) == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["agents is a loop", "output full", "all full"])
def test_a_loop_of_links_and_a_full_output_are_said_in_one_line(
    tmp_path: Path, usual: bytes, name: str
) -> None:
    assert tried([case for case in cases() if case.name == name], tmp_path, usual) == []
