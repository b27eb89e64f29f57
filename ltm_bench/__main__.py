"""`ltm-bench`, and `python -m ltm_bench`."""

import sys


def main() -> None:
    """Run the command line, or say which package it lacks."""
    try:
        from ltm_bench.cli.main import main as run
    except ModuleNotFoundError as error:
        from ltm_bench.core.extras import dependency

        sys.exit(f"ltm-bench: {dependency(error)}")
    except KeyboardInterrupt:  # which the command line handles itself, once it is there
        sys.stderr.write("ltm-bench: interrupted\n")
        sys.exit(130)
    run()


if __name__ == "__main__":
    main()
