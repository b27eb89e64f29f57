"""The folder of runs in a browser: a table with live progress, active runs, comparisons, and a search.

    states   how far each run is, its results or its score so far, and its last turns
    access   who may use the server, and which files it serves
    server   the routes, and a search in transcripts
    desk     apart from them: a page at which a person answers, for the agent `human`

Read-only but for the desk's answers: nothing here starts or changes a run. Pages come from `ltm_bench.report`; the
caller decides about addresses and tokens.
"""
