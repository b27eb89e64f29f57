"""`picks`: which right answer would it refuse, which wrong one would it accept?"""

import pytest

from ltm_bench import Outcome, picks


@pytest.mark.parametrize(
    ("reply", "outcome"),
    [
        ("3", Outcome.CORRECT),
        ("3.", Outcome.CORRECT),
        ("**3**", Outcome.CORRECT),
        ("Option 3", Outcome.CORRECT),
        ("Option 3 (after chapter 12)", Outcome.CORRECT),
        ("Option three.", Outcome.CORRECT),
        ("The third one.", Outcome.CORRECT),
        ("Three", Outcome.CORRECT),
        ("The third", Outcome.CORRECT),
        ("I'd go with the third passage.", Outcome.CORRECT),
        ("The last of the six", Outcome.WRONG),
        ("Second to last", Outcome.WRONG),
        ("The penultimate one.", Outcome.WRONG),
        ('{"answer": 3}', Outcome.CORRECT),
        ('{"answer": "Option 3"}', Outcome.CORRECT),
        ("I believe that the true beginning is Option 3, not option 5.", Outcome.CORRECT),
        ("Option 1 has the wrong day. Option 2 the wrong dish. So the answer is option 3.", Outcome.CORRECT),
        ("3\n\nOption 5 mentions a cat, and there was none.", Outcome.CORRECT),
        ("The answer is 3, since the 40 guests were there.", Outcome.CORRECT),
        ("<think>Maybe 5? No.</think>3", Outcome.CORRECT),
        ("3. Option 2 would contradict the first chapter.", Outcome.CORRECT),
        ("2. Option 3 would contradict the first chapter.", Outcome.WRONG),
        ("5", Outcome.WRONG),
        ("Option 5", Outcome.WRONG),
        ("1, 2, 3, 4, 5, 6", Outcome.WRONG),
        ("Either option 3 or option 5.", Outcome.WRONG),
        ("Not option 3.", Outcome.WRONG),
        ("13", Outcome.MALFORMED),
        ("3.5", Outcome.MALFORMED),  # a decimal is one figure
        ("The answer is 3.5k words long.", Outcome.UNDECIDED),
        ("The one with the ferry.", Outcome.UNDECIDED),
        ("Jonas had 3 days to finish the twelve goblets for the lady.", Outcome.UNDECIDED),
        ("The three apprentices worked all night in the cold shop.", Outcome.UNDECIDED),
        ("It must be three.", Outcome.CORRECT),
        ("I choose 3, because of the 12 goblets.", Outcome.CORRECT),
        ("I cannot tell.", Outcome.ABSTAINED),
        ("", Outcome.MALFORMED),
    ],
)
def test_the_option_that_a_reply_settles_on_is_read(reply: str, outcome: Outcome) -> None:
    assert picks(3, of=6).verdict(reply, []).outcome is outcome


@pytest.mark.parametrize("of", [3, 4, 6])
def test_an_option_may_be_counted_from_either_end(of: int) -> None:
    for option, ways in {
        of: ("The last one.", "the last of them"),
        of - 1: ("Second to last", "the penultimate one"),
    }.items():
        for way in ways:
            assert picks(option, of=of).verdict(way, []).outcome is Outcome.CORRECT, way
