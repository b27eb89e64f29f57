"""Hostile files and answers: does any of them reach the command line's last resort, or hang it?

    python -m perf.hostile [--inputs 2000] [--seed 0] [--only zip]

Every input is a valid file, bundle, configuration or provider's answer, damaged by dice: cut, bytes changed, a value in
its JSON replaced by one of another type, size or depth, lines lost, doubled or swapped. A command that reads it is
called in this process. It may succeed, or complain in one line; it must not reach the handler in `ltm_bench.cli.main`
that catches unexpected errors as a last resort. The table shows how many of each kind were tried and survived, and
which were not.
"""

import os
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import NamedTuple
from unittest import mock

from perf.harness import Arguments, measurement
from perf.hostile.ground import Attack, Ground, perform

SLOW = 20.0
"""Maximum CPU seconds of a command; whatever else the machine does is not its fault."""


class Tally(NamedTuple):
    """The results of many attacks."""

    tried: Counter[str]
    fallen: list[tuple[Attack, str]]


def siege(inputs: int, seed: int, only: str = "") -> Tally:
    """Execute this many attacks."""
    tried: Counter[str] = Counter()
    fallen = []
    with (
        tempfile.TemporaryDirectory() as folder,
        mock.patch.dict(
            os.environ, {"OPENAI_API_KEY": "no-key", "ANTHROPIC_API_KEY": "no-key", "NO_PROXY": "127.0.0.1"}
        ),
    ):
        ground = Ground(Path(folder), seed)
        for _ in range(inputs):
            attack = ground.attack(only)
            tried[attack.kind] += 1
            begun = time.process_time()
            said, caught = perform(ground, attack)
            seconds = time.process_time() - begun
            if caught is not None:
                last = traceback.extract_tb(caught.__traceback__)[-1]
                fallen.append(
                    (attack, f"{type(caught).__name__}: {caught!s:.100} at {last.filename}:{last.lineno}")
                )
            elif seconds > SLOW:
                fallen.append((attack, f"{seconds:.0f} CPU s"))
            elif "Traceback (most recent" in said:
                fallen.append((attack, "a traceback"))
    return Tally(tried, fallen)


@measurement(
    __doc__,
    inputs=2000,
    seed=0,
    only={"default": "", "choices": ("file", "zip", "toml", "predictions", "reply")},
)
def main(options: Arguments) -> None:
    """Print what was tried and what survived; exit with 1 if something did not."""
    tally = siege(options.inputs, options.seed, options.only)
    lost = Counter(attack.kind for attack, _ in tally.fallen)
    for kind, count in sorted(tally.tried.items()):
        print(f"{kind:22}  tried {count:5}  survived {count - lost[kind]:5}")
    print(f"{'all':22}  tried {tally.tried.total():5}  survived {tally.tried.total() - len(tally.fallen):5}")
    for attack, why in tally.fallen:
        print(f"  {attack.kind}, {attack.what}: {' '.join(attack.words)}: {why}")
    sys.exit(1 if tally.fallen else 0)
