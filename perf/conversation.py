"""Score, time and memory of whole offline runs as the span grows: a turn should cost the same at every span.

    python -m perf.conversation [--agents goldfish,perfect] [--spans 2k,32k,120k]

`ms/turn` excludes start-up, measured once as `ltm-bench --help`; `ratio` is relative to the smallest span.
"""

import json
import tempfile
from pathlib import Path

from perf.arguments import parser_for
from perf.processes import spent_on


def main() -> None:
    """Run and print."""
    args = parser_for(__doc__, agents="goldfish,perfect,vector_memory", spans="2k,32k,120k").parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        start_up = min(spent_on(["--help"], folder).wall for _ in range(3))
        print(f"start-up {start_up:.2f} s")
        print("agent           span  turns   tokens      s    MB  ms/turn  ratio  scores")
        for agent in args.agents.split(","):
            floor = None
            for span in args.spans.split(","):
                name = f"{agent}-{span}"
                spent = spent_on(["run", "--span", span, "--agent", agent, "--name", name], folder)
                results = json.loads((folder / "reports" / name / "results.json").read_text("utf-8"))
                each = 1000 * (spent.wall - start_up) / results["turns"]
                floor = floor or each
                scores = " ".join(f"{s['name']} {s['score']:.2f}" for s in results["scenarios"])
                print(
                    f"{agent:<14} {span:>5} {results['turns']:>6} {results['tokens']:>8} {spent.wall:>6.1f} "
                    f"{spent.mb:>5.0f} {each:>8.2f} {each / floor:>6.2f}  {results['score']:.2f} = {scores}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
