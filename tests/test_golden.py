"""The format of the log matches a stored file. Renew it with: python tests/test_golden.py"""

import json
import os
import tempfile
from pathlib import Path
from subprocess import run
from sys import executable

GOLDEN = Path(__file__).parent / "golden" / "colours-0.jsonl"


def log_of_an_example() -> str:
    """Run one example alone with the perfect agent; return its manifest (except what any edit changes) and events."""
    words = [
        "run",
        "--isolated",
        "--scenario",
        "colours",
        "--examples",
        "1",
        "--agent",
        "perfect",
        "--name",
        "g",
    ]
    with tempfile.TemporaryDirectory() as folder:
        run(
            [executable, "-m", "ltm_bench", *words],
            cwd=folder,
            check=True,
            capture_output=True,
            env={**os.environ},
        )
        home = Path(folder) / "reports" / "g"
        manifest = json.loads((home / "events.jsonl").read_text("utf-8"))
        for part in (manifest["agent"], *manifest["suite"]["scenarios"]):
            part["hash"] = "…"
        manifest |= {"version": "…", "scorers": {"NamesOnly": manifest["scorers"]["NamesOnly"]}}
        manifest["filler"]["digest"] = "…"
        events = (home / "isolated" / "colours-0.jsonl").read_bytes().decode()
        return json.dumps(manifest, ensure_ascii=False, separators=(",", ":")) + "\n" + events


def test_the_form_of_the_log_matches_the_stored_file() -> None:
    assert log_of_an_example() == GOLDEN.read_bytes().decode()


if __name__ == "__main__":
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_bytes(log_of_an_example().encode())
