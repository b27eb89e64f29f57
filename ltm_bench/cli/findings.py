"""Prints findings: `ok`, `no` (optional) or `FAIL`, and a sentence."""

from ltm_bench.cli.console import out, safe
from ltm_bench.core.agent import Finding
from ltm_bench.core.keys import scrubbed


def print_finding(finding: Finding) -> None:
    """Print one finding on a line of its own."""
    line = " ".join(safe(scrubbed(finding.text)).split())
    out().print(f"{'FAIL' if not finding.ok else 'no  ' if finding.lacks else 'ok  '}  {line}")
