#!/usr/bin/env bash
# quantulum3 0.10.0: a range is its middle, and a dozen is one of a unit that is called dozen.
#
# Guess:     "between 25 and 35" gives 25 and 35, as "25 or 35" does; "two dozen" is 24.
# Behaviour: a range is one quantity whose `value` is the middle, which nobody said; the half width is in `uncertainty`. A
#            dozen is a unit without a factor: the value is the number before it.
# Output:    'between 25 and 35 stars' -> 30.0 dimensionless
#            '25 or 35 stars' -> 25.0 dimensionless, 35.0 dimensionless
#            'two dozen eggs' -> 2.0 dozen
# Matters:   a reply that does not commit itself to a count of 30 is read as 30 and scores, and a right one in dozens does not.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check quantulum3==0.10.0 inflect==7.6.0 num2words==0.5.14
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
from quantulum3 import parser

due = {
    "between 25 and 35 stars": "30.0 dimensionless",
    "25 or 35 stars": "25.0 dimensionless, 35.0 dimensionless",
    "two dozen eggs": "2.0 dozen",
}
for said, read in due.items():
    found = ", ".join(f"{each.value} {each.unit.name}" for each in parser.parse(said))
    print(f"{said!r} -> {found}")
    assert found == read, "changed"
PYTHON
