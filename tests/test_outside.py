"""Bytes from outside are read up to a limit: no door lets a gigabyte into memory, and no place reads past the door."""

import json
import subprocess
import sys
from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from tests.doors import DOORS
from tests.outside import Read, all_reads, reads

ROOT = Path(__file__).parents[1]

REVIEWED = {
    "the doors themselves": (
        "ltm_bench/core/limits.py :: * :: *",
        "ltm_bench/adapters/http/shared.py :: read :: response.aiter_bytes",
        "ltm_bench/adapters/gateway/forwarding.py :: stream.events :: answer.aiter_bytes",  # given to events_in
        "ltm_bench/log/remote.py :: Remote.* :: self._fs.cat_*",  # with an end; small files of known names
        "ltm_bench/log/remote.py :: Remote.get :: *",  # to the disk
    ),
    "what a door has read already": (
        "ltm_bench/adapters/http/shared.py :: _watched.Watched.send :: response.content",
        "ltm_bench/adapters/http/endings.py :: * :: response.*",
        "ltm_bench/judge/*.py :: * :: answer.text",
        "ltm_bench/adapters/gateway/* :: * :: answer.content",
        "ltm_bench/adapters/gateway/* :: * :: answer.text",
        "ltm_bench/adapters/chat.py :: _ask :: answer.content",
        "ltm_bench/export/sending.py :: * :: *.content",
        "agents/http.py :: Http.* :: answer.*",
        "agents/anthropic_chat.py :: AnthropicChat.* :: answer.content",
        "ltm_bench/api/environment.py :: _described :: answer.text",
        "ltm_bench/datasets/recounting.py :: _rows :: csv.DictReader",
        "ltm_bench/datasets/swim/documents.py :: _pdf :: PdfReader",
    ),
    "a method of ours that is called like one that reads": (
        "* :: * :: self.read",
        "* :: * :: Catalogue.open",
        "* :: * :: self.open",
        "* :: * :: calls.open",
        "* :: * :: toml.read",
        "* :: * :: layout.read",
        "* :: * :: meter.read",
        "* :: * :: each.read",
        "* :: * :: folder.read",
        "* :: * :: self._folder(message.user).read",
        "* :: * :: mind.folder.read",
        "* :: * :: self._journal.read",
        "* :: * :: self._process.read",
        "* :: * :: place.read",
        "* :: * :: shared.read",
        "* :: * :: files.read",
        "* :: * :: calls.read",
        "ltm_bench/log/calls.py :: read_calls :: KeptCalls().read",
    ),
    "a block, a line or an element at a time, with a limit": (
        "ltm_bench/datasets/streaming.py :: read_elements :: file.read",
        "ltm_bench/datasets/streaming.py :: _of_list :: file.read",
        "ltm_bench/datasets/streaming.py :: _of_lines :: file.read",
        "ltm_bench/datasets/dialogue.py :: content_hash :: *",
        "ltm_bench/export/bundle.py :: _check_sums :: path.open",
        "ltm_bench/export/leaderboard/entries.py :: _read :: bundle.open",
        "ltm_bench/core/download.py :: download :: *",  # to the disk
        "ltm_bench/log/lines.py :: backwards :: file.read",
        "ltm_bench/log/lines.py :: mend :: path.open",
        "ltm_bench/log/forks.py :: * :: *.open",
        "ltm_bench/log/recorder.py :: _last_filler :: path.open",
        "ltm_bench/log/reader.py :: is_finished :: *",  # its last 400 bytes
        "ltm_bench/report/transcript.py :: TranscriptWriter.* :: *",  # of our own draft
        "ltm_bench/adapters/memories/product_process.py :: ProductProcess.read :: self._process.stdout.readline",
        "agents/command.py :: Command._once :: self._process.stdout.readline",
        "agents/command.py :: _last_of :: stream.read",  # the last 4,096 bytes
        "ltm_bench/viewer/desk.py :: Desk.application.answer :: request.body",  # its stated length is checked
        "ltm_bench/export/bundle.py :: unpack :: *",  # after check_zip
        "ltm_bench/export/leaderboard/entries.py :: _read :: (run / name).read_bytes",  # from there
        "ltm_bench/filler/fetching.py :: _unpack :: for in tar",
        "ltm_bench/filler/fetching.py :: _unpack :: shutil.copyfileobj",
        "ltm_bench/filler/fetching.py :: _unpack :: tar*",  # an archive of a known hash, to the disk
    ),
    "what we shipped": (
        "* :: * :: files('ltm_bench.*",
        "* :: * :: *resources.files('ltm_bench.*",
        "* :: * :: (bundled(*).read_text",
        "* :: * :: Path(__file__).with_name(*",
        "agents/reference.py :: Reference.__init__ :: _LEARNT.read_text",
        "ltm_bench/core/tokens.py :: _shipped_table :: gzip.decompress",
        "ltm_bench/datasets/errata.py :: _file :: found.read_text",
        "ltm_bench/filler/kinds.py :: _texts :: path.read_text",
        "ltm_bench/plugins/matchers.py :: _texts :: path.read_text",
        "ltm_bench/score/results/guessing.py :: _shipped :: FILE.read_text",
        "ltm_bench/cli/app.py :: line_of :: path.read_bytes",
        "ltm_bench/core/extras.py :: pip :: *",  # what the installer wrote beside it
    ),
    "code of the user's, and what stands beside it": (
        "ltm_bench/plugins/files.py :: * :: *",
        "ltm_bench/plugins/targets.py :: target_of :: file.read_bytes",
        "ltm_bench/script/scenario.py :: content :: path.read_text",
        "scenarios/chapter_break.py :: public :: *",  # a changed scenario could not resume the runs of the old one
        "scenarios/counting_stars.py :: _text :: *",
    ),
    "what we wrote ourselves, beside a run or in an agent's folder": (
        "ltm_bench/adapters/compaction.py :: Compactions.__init__ :: *",
        "ltm_bench/adapters/memories/folder_journal.py :: * :: *",
        "ltm_bench/adapters/memories/forgotten.py :: * :: *",
        "ltm_bench/adapters/memories/kept_folder.py :: * :: *",
        "ltm_bench/adapters/ledger.py :: * :: *",
        "ltm_bench/adapters/memories/memory_store.py :: * :: *",
        "ltm_bench/adapters/memories/scratchpad.py :: * :: *",
        "ltm_bench/adapters/testing/* :: * :: *",
        "ltm_bench/cli/commands/bundle.py :: bundle :: *",
        "ltm_bench/export/bundle.py :: pack :: *",
        "ltm_bench/datasets/fetching.py :: fetch_file :: sums.read_text",
        "ltm_bench/report/compiled.py :: * :: open",
        "ltm_bench/runner/ray/* :: * :: *",
        "agents/graphiti.py :: * :: *",
        "agents/hindsight.py :: * :: *",
        "agents/http.py :: Http.* :: *.read_text",
        "agents/human.py :: Human.restore :: *",
        "agents/letta_code.py :: LettaCode.* :: path.read_text",
        "agents/supermemory.py :: * :: *",
        "agents/transcript.py :: * :: path.open",
        "agents/transcript.py :: * :: for in lines",
        "agents/zep.py :: * :: *",
    ),
    "programs on this machine that the user named, or that are ours, and the terminal": (
        "ltm_bench/adapters/memories/product_process.py :: ProductProcess.start :: *",
        "ltm_bench/adapters/memories/product_process.py :: ProductProcess._last_words :: *",
        "ltm_bench/cli/ending.py :: * :: subprocess.run",
        "ltm_bench/cli/commands/new.py :: _edited :: *",
        "ltm_bench/cli/publishing.py :: * :: *",
        "ltm_bench/runner/checking.py :: _differs_elsewhere :: *",
        "agents/_cognee_worker.py :: * :: *",
        "agents/command.py :: Command._start :: *",
        "agents/human.py :: _line :: *",
        "ltm_bench/cli/* :: * :: input",
        "agents/letta_code.py :: * :: *create_subprocess_exec",
        "agents/letta_code.py :: * :: process.communicate",
    ),
    "a cache of ours, each of whose answers is read up to a limit": (
        "ltm_bench/adapters/http/answers.py :: AnswerCache.get :: *.fetchone",
        "ltm_bench/judge/opinions.py :: OpinionStore._get :: *.fetchone",
    ),
    "a descriptor that is not read": (
        "ltm_bench/cli/console.py :: * :: os.open",
        "ltm_bench/cli/main.py :: * :: os.open",
        "ltm_bench/log/lines.py :: sync_* :: os.open",
        "ltm_bench/log/recorder.py :: locked_folder :: os.open",
    ),
}  # fmt: skip
"""Places that were looked at, by why they may read as they do: file, function, what reads."""


def shown(read: Read) -> str:
    return f"{read.file} :: {read.function} :: {read.what}"


def test_whatever_reads_from_outside_does_so_through_the_doors_or_was_looked_at() -> None:
    known = [pattern for patterns in REVIEWED.values() for pattern in patterns]
    found = [
        f"{each.file}:{each.line}: {each.what} in {each.function or 'the file'}: read through ltm_bench.core.limits, "
        "or say in REVIEWED why not"
        for each in all_reads(ROOT)
        if not any(fnmatchcase(shown(each), pattern) for pattern in known)
    ]
    assert found == []


def test_no_place_that_was_looked_at_has_gone() -> None:
    found = [shown(each) for each in all_reads(ROOT)]
    known = [pattern for patterns in REVIEWED.values() for pattern in patterns]
    assert [pattern for pattern in known if not any(fnmatchcase(each, pattern) for each in found)] == []


@pytest.mark.parametrize(
    "code",
    [
        "x = gzip.open(path).read()", "x = path.read_text('utf-8')", "x = httpx2.get(url).json()", "open(path)",
        "async def f(answer):\n    return await answer.aread()", "json.load(file)", "tomllib.load(file)",
        "async def f(r):\n    async for x in r.aiter_lines(): pass", "csv.reader(file)", "path.open()",
        "path.open('rb')", "path.open(encoding='utf-8')", "zipfile.ZipFile(path)", "def f(response): response.content",
        "with opened(p) as file:\n    for line in file: pass", "file = open(p)\nx = [n for n in enumerate(file)]",
        "with gzip.open(p) as f:\n    x = sum(1 for _ in f)", "input()", "database.execute(q).fetchone()",
        "mmap.mmap(f.fileno(), 0)", "shutil.copyfileobj(a, b)", "io.open(p)", "codecs.open(p)", "np.loadtxt(p)",
        "pandas.read_csv(p)", "urlretrieve(u)", "archive.open(name)", "self._fs.open(path)", "os.pread(fd, n, 0)",
        "await request.body()", "sys.stdin", "await p.communicate()", "class A:\n  x = urllib.request.urlopen(u)",
    ],
)  # fmt: skip
def test_every_way_of_reading_is_found(code: str) -> None:
    import ast

    assert list(reads("x.py", ast.parse(code, mode="exec")))


GIGABYTE = 1 << 30

MOST = {"log": 1100, "log of a run that is viewed": 1100, "timings of one line": 1100, "elements .gz": 400}
"""Megabytes of memory that a door may take: as much as it reads, and what that needs meanwhile; of most, 300."""


def through(door: str, size: int) -> dict[str, object]:
    """Send bytes through a door, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.doors", door, str(size)], cwd=ROOT, capture_output=True, check=True
    )
    told: dict[str, object] = json.loads(done.stdout)
    return told


def check(door: str, size: int) -> None:
    told = through(door, size)
    assert int(str(told["peak"])) < MOST.get(door, 300), told
    said = str(told["said"])
    assert (
        "more than" in said
        or "at most 5,000,000 are read" in said
        or "did not arrive in full in time" in said
    ), told
    assert "Traceback" not in said


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not say how much memory a process had at most"
)
@pytest.mark.parametrize("door", [each for each in DOORS if each != "download"])
def test_no_door_lets_a_gigabyte_into_memory(door: str) -> None:
    check(door, GIGABYTE)


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not say how much memory a process had at most"
)
@pytest.mark.parametrize(
    "door", ["gateway request in chunks", "gateway packed answer", "collector's packed answer", "lines .gz"]
)
def test_no_door_lets_in_more_than_its_limit(door: str) -> None:
    check(door, 160 << 20)


@pytest.mark.long
@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not say how much memory a process had at most"
)
def test_a_download_goes_to_the_disk_and_not_into_memory() -> None:
    assert int(str(through("download", GIGABYTE)["peak"])) < 100
