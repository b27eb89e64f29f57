#!/usr/bin/env bash
# pandas 3.1.1: the same answer is read as '007', 7 or 7.0, by what stands in the other lines of the file.
#
# Guess:     a string in JSON is a string in the frame, since JSON says so.
# Behaviour: `read_json` turns a column of strings into numbers if all of them look like numbers, into floats if one is
#            null, and leaves them if one does not; columns whose names end in `_time` or `_at` become timestamps, so that
#            LoCoMo's `date_time` loses its words. `dtype=False` leaves everything as it is.
# Output:    beside '1,200': '007'
#            beside '12': 7
#            beside null: 7.0
#            date_time '1:56 pm on 8 May, 2023': Timestamp('2023-05-08 13:56:00')
# Matters:   predictions and golds are often joined and written again with pandas. Ids with leading zeros stop matching, a
#            counted "12" becomes "12.0" and fails an exact match, a date is no longer what the speaker said: all of it
#            depends on which questions happen to be in the file.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check pandas==3.1.1
"$folder/venv/bin/python" - <<'PYTHON'
import io, json
import pandas

def read(*answers, name="hypothesis", **settings):
    lines = "\n".join(json.dumps({name: answer}) for answer in answers)
    return pandas.read_json(io.StringIO(lines), lines=True, **settings)[name].tolist()[0]

seen = [read("007", other) for other in ("1,200", "12", None)]
for other, value in zip(("'1,200'", "'12'", "null"), seen):
    print(f"beside {other}: {value!r}")
assert [repr(value) for value in seen] == ["'007'", "7", "7.0"], "changed"
date = "1:56 pm on 8 May, 2023"
print(f"date_time {date!r}: {read(date, name='date_time')!r}")
assert isinstance(read(date, name="date_time"), pandas.Timestamp), "changed"
assert read("007", None, dtype=False) == "007"
assert read(date, name="date_time", dtype=False) == date
PYTHON
