"""`python -m ltm_bench` is `ltm-bench`."""

from ltm_bench.cli import main

if __name__ == "__main__":
    main()
