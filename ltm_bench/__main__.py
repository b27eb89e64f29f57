"""`ltm-bench`, and `python -m ltm_bench`."""

import os
import sys


def main() -> None:
    """Run the command line, or say which package it lacks."""
    try:
        import signal

        heard = signal.getsignal(signal.SIGINT)
        # It can be ignored, as in the background of a shell.
        signal.signal(signal.SIGINT, _leave if heard is signal.default_int_handler else heard)
        from ltm_bench.cli.main import main as run

        signal.signal(signal.SIGINT, heard)
    except ModuleNotFoundError as error:
        from ltm_bench.core.extras import dependency

        sys.exit(f"ltm-bench: {dependency(error)}")
    except KeyboardInterrupt:
        _leave()
    run()


def _leave(*_: object) -> None:
    """End at once: what is being imported could catch an exception, or make another one of it."""
    os.write(2, b"ltm-bench: interrupted\n")
    os._exit(130)


if __name__ == "__main__":
    main()
