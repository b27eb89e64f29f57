"""No name of an agent is markup in the table of a paper."""

from typing import TYPE_CHECKING

from ltm_bench.report.paper_table import latex, markdown
from ltm_bench.score.comparison.runs import compare

if TYPE_CHECKING:
    from tests.made import Made

NASTY = "a|b_c & 50% \\\\input{x} #1 $y$ ~^ <b>\n`z`"


def test_names_are_escaped_in_both_forms(made: "Made") -> None:
    comparison = compare([made.run(NASTY, span=8_000), made.run("plain", span=8_000)])
    lines = markdown(comparison).splitlines()
    assert len(lines) == 4
    [row] = [line for line in lines if "input" in line]
    assert "a\\|b\\_c" in row
    assert "\\<b\\>" in row
    rows = latex(comparison).splitlines()
    [row] = [line for line in rows if "input" in line]
    assert r"a|b\_c \& 50\% \textbackslash{}\textbackslash{}input\{x\} \#1 \$y\$" in row
    assert len(rows) == 8
