"""The folder of runs in a browser: a list with live progress, the pages of runs, and a search in transcripts.

    states   how far each run is
    search   where words occur in a transcript
    access   who may ask, and which files they may have
    server   the routes

Read-only: nothing here starts, changes or scores a run. Pages come from `ltm_bench.report`, and whoever starts the
server decides about addresses and tokens.
"""
