"""A full-context adapter's own work per turn: filling the window must not cost more as the conversation grows.

    python -m perf.window [--turns 10000]

For a window that holds everything, and for one that moves, it prints the microseconds per turn for building the prompt
and taking the reply, over blocks of the conversation. Serialising the request is not included.
"""

import time

from ltm_bench.adapters.chat import SYSTEM
from ltm_bench.adapters.window import Window
from ltm_bench.core.messages import Reply
from ltm_bench.core.tokens import counter
from perf.arguments import parser_for
from perf.tables import table

BLOCKS = (10, 100, 1_000, 3_000, 10_000, 30_000, 100_000)


def main() -> None:
    """Measure and print."""
    args = parser_for(__doc__, turns=10_000).parse_args()
    count = counter()
    count.count("warm")
    row = table("window", "up to turn", "us/turn", "ratio to the first block")
    for size in (100_000_000, 32_000):
        window = Window(system=SYSTEM, window=size, max_output=1024, counter=count)
        first = None
        done = 0
        for end in (block for block in BLOCKS if block <= args.turns):
            spent = 0.0
            for turn in range(done, end):
                message = f"Turn {turn}: by the way, the parcel number {turn * 7919} has arrived at the harbour office."
                begun = time.process_time()
                prompt = window.prompt(message)
                window.take(message, Reply(f"Noted, parcel {turn * 7919} it is."))
                spent += time.process_time() - begun
                assert prompt is not None
            each = 1e6 * spent / (end - done)
            first = first or each
            row(f"{size:,}", f"{end:,}", f"{each:.1f}", f"{each / first:.2f}")
            done = end


if __name__ == "__main__":
    main()
