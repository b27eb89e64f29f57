"""What a reply is worth in which nothing can be found that answers the question."""

from ltm_bench.core.messages import Outcome, Verdict
from ltm_bench.matchers.reading import abstains, is_foreign


def unanswered(reply: str, outcome: Outcome, reason: str) -> Verdict:
    """Return the verdict on such a reply: abstained, undecided if its language is not read, or else `outcome`."""
    if abstains(reply):
        return Verdict(Outcome.ABSTAINED, 0.0, "the reply says that it does not know")
    if is_foreign(reply):
        return Verdict(Outcome.UNDECIDED, 0.0, "the reply is in a language that no matcher reads")
    return Verdict(outcome, 0.0, reason)
