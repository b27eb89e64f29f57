"""`ltm-bench`, and `python -m ltm_bench`."""

import sys

from ltm_bench.core.extras import dependency


def main() -> None:
    """Run the command line, or say which package it lacks."""
    try:
        from ltm_bench.cli.main import main as run
    except ModuleNotFoundError as error:
        sys.exit(f"ltm-bench: {dependency(error)}")
    run()


if __name__ == "__main__":
    main()
