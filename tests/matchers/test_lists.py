"""Table: which replies list all the values."""

import pytest

from ltm_bench import lists_all
from ltm_bench.core.messages import Outcome

NAMES = ("Beatrice", "Callum", "Mary Jane", "Delphine", "Edmund", "Silas")
EXPECT = lists_all(["Beatrice", "Mary Jane", "Silas"], among=NAMES)
TABLE = [
    ('["Beatrice", "Mary Jane", "Silas"]', 1.0, "as asked"),
    ('["silas", "BEATRICE", "Mary Jane"]', 1.0, "another order, other case"),
    ('{"names": ["Beatrice", "Mary Jane", "Silas"]}', 1.0, "a wrapping object"),
    ('[{"name": "Beatrice"}, {"name": "Mary Jane"}, {"name": "Silas"}]', 1.0, "a list of objects"),
    ('{"1": "Beatrice", "2": "Mary Jane", "3": "Silas"}', 1.0, "numbered"),
    ('You told me [three] names: ["Beatrice", "Mary Jane", "Silas"]', 1.0, "a bracket earlier in the prose"),
    ("```json\n['Beatrice', 'Mary Jane', 'Silas',]\n```", 1.0, "a fence, single quotes, a comma too many"),
    ("""{"answer": "['Beatrice', 'Mary Jane', 'Silas']"}""", 1.0, "Python's list in a string of an object"),
    (r'{"answer": "[\"Beatrice\", \"Mary Jane\", \"Silas\"]"}', 1.0, "JSON in a string of an object"),
    ("""["['Beatrice', 'Mary Jane', 'Silas']"]""", 1.0, "a list in the one string of a list"),
    ("""{"answer": "['Beatrice', 'Callum']"}""", 1 / 3, "a list in a string that is not all right"),
    ("""{"answer": "['Edmund']"}""", 0.0, "a list in a string that is wrong"),
    ("""{"answer": "[none of them]"}""", 0.0, "a bracket in a string that is no list"),
    ("They were Beatrice, Mary Jane and Silas.", 1.0, "prose"),
    ('["Beatricee", "Mary Jane", "Silas"]', 1.0, "a slip of the finger"),
    ('["Beatrice", "Beatrice", "Mary Jane", "Silas"]', 0.75, "twice the same is one too many"),
    ('["Beatrice", "Mary Jane"]', 2 / 3, "one missing"),
    ('["Beatrice", "Mary Jane", "Silas", "Edmund"]', 3 / 4, "one too many"),
    ('["Beatrice", "Callum", "Mary Jane", "Delphine", "Edmund", "Silas"]', 0.5, "every candidate"),
    ('["Mary", "Jane"]', 0.0, "halves of a name"),
    ('["Edmund"]', 0.0, "another one"),
]


@pytest.mark.parametrize(("reply", "score", "why"), TABLE, ids=[why for _, _, why in TABLE])
def test_all_values_are_listed_and_no_others(reply: str, score: float, why: str) -> None:
    verdict = EXPECT.verdict(reply, [])
    assert verdict.score == pytest.approx(score, abs=1e-6), verdict.reason
    assert verdict.outcome is (Outcome.CORRECT if score == 1 else Outcome.PARTIAL if score else Outcome.WRONG)


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("I do not know your names.", Outcome.ABSTAINED),
        ('I have no record of that. For example: ["Edmund"]', Outcome.ABSTAINED),
        ("", Outcome.MALFORMED),
        ("Okay.", Outcome.MALFORMED),
        ("7", Outcome.MALFORMED),
        ('["Beatrise", "Mary Jane", "Silas"]', Outcome.UNDECIDED),  # another name, or another spelling
        ('["Beatrice", "Mary Jane"], oh, and Silas, who came last.', Outcome.UNDECIDED),
        ("beatrice, mary jane and sillas", Outcome.UNDECIDED),
        ('At first Silas. ["Beatrice", "Mary Jane"]', Outcome.PARTIAL),  # the list is its conclusion
        ('{"past": ["Beatrice", "Mary Jane"], "present": "Silas"}', Outcome.CORRECT),
        ("There was Edmund, but he left. So the names are: Beatrice, Mary Jane, Silas.", Outcome.CORRECT),
    ],
)
def test_a_reply_that_is_no_plain_list_is_not_called_wrong(reply: str, outcome: Outcome) -> None:
    assert EXPECT.verdict(reply, []).outcome is outcome
