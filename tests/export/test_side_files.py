"""Files beside a log are read in time that grows with their lines."""

from collections.abc import Callable
from pathlib import Path

from ltm_bench.export.side_files import check_side_files
from ltm_bench.score.results.timings import side_of
from tests.pace import cpu, in_proportion

LINE = b'{"turn":7,"seconds":0.25,"operations":[["answer",0.25,[]]]}\n'


def test_side_files_take_time_in_proportion_to_their_lines(tmp_path: Path) -> None:
    def took(read: Callable[[Path], object]) -> Callable[[int], float]:
        def of(lines: int) -> float:
            (tmp_path / "timings.jsonl").write_bytes(LINE * lines)
            return cpu(lambda: read(tmp_path))

        return of

    assert in_proportion(took(check_side_files), 8000)
    assert in_proportion(took(lambda folder: side_of(folder, None)), 8000)
