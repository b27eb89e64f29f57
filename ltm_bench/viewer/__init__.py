"""The folder of runs in a browser: a table with live progress, active runs, comparisons, and a search.

    states   how far each run is, and what it came to
    live     its score so far, and what was last said
    search   where words occur in transcripts
    access   who may ask, and which files they may have
    server   the routes

Read-only: nothing here starts or changes a run. Pages come from `ltm_bench.report`; the caller decides about addresses
and tokens.
"""
