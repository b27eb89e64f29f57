#!/usr/bin/env bash
# pydantic-evals 2.62.0: three of four tasks fail, and the average of the assertions is 1.0.
#
# Guess:     a case whose task raised is a wrong answer, or the report's average is missing.
# Behaviour: such a case moves to `report.failures`; `averages()`, and "Averages" in the printed table, are over
#            `report.cases` alone. A case without an expected output has no assertion under EqualsExpected, and is left out
#            in the same way.
# Output:    assertions 1.0 over 1 case, 3 failures
# Matters:   long contexts fail more often (windows, timeouts), so the mean rises with the length at which the agent breaks.
#            Two memories are compared over different questions.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pydantic-evals==2.62.0
"$folder/venv/bin/python" - <<'PYTHON'
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected

def answer(turns):
    if turns > 8:
        raise RuntimeError("the context window is full")
    return "green"

cases = [Case(name=f"{turns} turns", inputs=turns, expected_output="green") for turns in (8, 32, 120, 500)]
data = Dataset(name="door", cases=cases, evaluators=[EqualsExpected()])
report = data.evaluate_sync(answer, progress=False)
print(f"assertions {report.averages().assertions} over {len(report.cases)} case, {len(report.failures)} failures")
assert (report.averages().assertions, len(report.cases), len(report.failures)) == (1.0, 1, 3), "changed"
PYTHON
