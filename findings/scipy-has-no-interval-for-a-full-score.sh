#!/usr/bin/env bash
# scipy 1.17.1: the bootstrap interval of an agent that answered everything is (nan, nan).
#
# Guess:     twenty right answers of twenty have an interval: (1, 1) by resampling, or wider by a better method.
# Behaviour: the default method, BCa, divides by the spread of the values, which is zero: nan and a warning. Every comparison
#            with nan is false, so "low < .9" does not hold, and neither does "low >= .9". method="percentile" gives (1, 1),
#            which claims certainty (twenty of twenty are .84 to 1 by Wilson).
# Output:    BCa (nan, nan); percentile (1.0, 1.0)
# Matters:   the best and the worst agents of a table lose their intervals, a gate written with "<" lets them pass, and one
#            written with ">=" refuses a full score.
set -euo pipefail
folder=$(mktemp -d); trap 'rm -rf "$folder"' EXIT
python3 -m venv "$folder/venv"
"$folder/venv/bin/pip" install --quiet --disable-pip-version-check scipy==1.17.1 numpy==2.4.6
"$folder/venv/bin/python" -W ignore - <<'PYTHON'
import math

import numpy as np
from scipy.stats import bootstrap

def interval(**options):
    found = bootstrap(([1.0] * 20,), np.mean, rng=np.random.default_rng(0), **options).confidence_interval
    return float(found.low), float(found.high)

default, percentile = interval(), interval(method="percentile")
print(f"BCa {default}; percentile {percentile}")
assert all(math.isnan(bound) for bound in default), "changed: it has an interval"
assert percentile == (1.0, 1.0), "changed"
PYTHON
