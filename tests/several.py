"""Several commands in one process, which imports the program once."""

import sys

_PROGRAM = """
import sys
from ltm_bench.cli.main import main

worst = 0
for words in {commands!r}:
    sys.argv = ["ltm-bench", *words]
    try:
        main()
    except SystemExit as ended:
        worst = max(worst, ended.code or 0)
        print(end={separator!r}, flush=True)
sys.exit(worst)
"""


def one_after_another(*commands: tuple[str, ...], separator: str = "") -> list[str]:
    """Return a program that runs these commands as `ltm-bench` would, and ends with the highest exit code.

    Args:
        commands: Their words.
        separator: What to print after each.
    """
    return [sys.executable, "-c", _PROGRAM.format(commands=commands, separator=separator)]
