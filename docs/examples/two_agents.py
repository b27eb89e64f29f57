"""Runs two agents on the same conversation, compares them, and draws a chart. Needs no key; the chart needs `plot`."""

from ltm_bench import compare, plot, run

SETTINGS = {"span": "2k", "scenarios": ["colours", "name_list", "jokes"], "examples": 5}

runs = [run(agent=name, **SETTINGS) for name in ("vector_memory", "parrot")]
for each in runs:
    print(f"{each.manifest.agent.name}: {each.score:.2f} of {each.out_of}, {each.verdict}")

pair = compare(*runs).pairs[0]
print(f"{pair.first} against {pair.second}: {pair.verdict}, {pair.paired.difference:+.2f}")
print(plot(*runs, kind="scenarios", path="scenarios.svg"))
