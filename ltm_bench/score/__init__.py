"""From the log of a run to its results, and from results to comparisons. It calls no agent.

    comparison   several runs: who is better, and how they differ
    results      one run: its log is folded into questions, examples and figures
    audits       verdicts on replies, by matchers, judges and people, and how often matchers err
    statistics   intervals, tests and power; knows no run

Each imports only from those below it.
"""
