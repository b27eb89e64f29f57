"""How long a user waits for `--help`, and for the first logged turn of a run.

Each figure is the best of many alternating measurements, since other work on the machine can only add time. The first
two columns are with byte code, as in every call but the first after an installation; the others set
PYTHONDONTWRITEBYTECODE, so every module is compiled every time. `python -c pass` is the reference.

    python -m perf.start [TIMES]
"""

import os
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory

OURS = [sys.executable, "-m", "ltm_bench"]
COMMANDS = {
    "python -c pass": [sys.executable, "-c", "pass"],
    "--help": [*OURS, "--help"],
    "run --help": [*OURS, "run", "--help"],
    "first turn, parrot": [*OURS, "run", "--span", "32k", "--agent", "parrot"],
    "first turn, vector_memory": [*OURS, "run", "--span", "32k"],
}
FIRST_TURN = 3
"""Lines of a log whose first turn is complete: the manifest, what was sent, and the reply."""


def wait(command: list[str], environment: dict[str, str]) -> tuple[float, float]:
    """Return the seconds until a command ends, or its first turn is logged, and its CPU seconds."""
    with TemporaryDirectory() as place:
        log = Path(place) / "reports"
        began = time.perf_counter()
        process = subprocess.Popen(
            command, cwd=place, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while "--span" in command:
            logs = list(log.glob("*/events.jsonl"))
            if logs and logs[0].read_bytes().count(b"\n") >= FIRST_TURN:
                process.kill()
                break
            time.sleep(0.001)
        _, status, used = os.wait4(process.pid, 0)
        waited = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
    return waited, used.ru_utime + used.ru_stime


def main() -> None:
    """Measure, and print a row for every command."""
    times = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    with TemporaryDirectory() as cached:
        bare = {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
        environments = (bare | {"PYTHONPYCACHEPREFIX": cached}, bare | {"PYTHONDONTWRITEBYTECODE": "1"})
        found: dict[tuple[str, int], list[tuple[float, float]]] = {}
        for turn in range(times + 1):
            for name, command in COMMANDS.items():
                for which, environment in enumerate(environments):
                    waited = wait(command, environment)
                    if turn:  # the first one writes the byte code
                        found.setdefault((name, which), []).append(waited)
    print("| | s | CPU s | without byte code: s | CPU s |\n|---|---|---|---|---|")
    for name in COMMANDS:
        least = [min(column) for which in (0, 1) for column in zip(*found[name, which], strict=True)]
        print(f"| {name} |", " | ".join(f"{seconds:.2f}" for seconds in least), "|")


if __name__ == "__main__":
    main()
