"""A run's usage is summed by purpose and model."""

from ltm_bench.core.messages import Outcome, Usage
from ltm_bench.log.calls import Call, KeptCalls, calls_of
from ltm_bench.score.audits.judgements import Opinion
from ltm_bench.score.results.accounts import Bookkeeping

BESIDE = Usage(uncached=1_000_000, model="text-embedding-3-small", provider="openai")
"""0.02 dollars."""
OWN = Usage(uncached=1_000_000, output=100_000, model="gpt-4o", provider="openai", besides=(BESIDE,))
"""3.50 dollars, without what is beside it."""


def test_every_call_is_in_the_account_of_its_purpose_and_model() -> None:
    books = Bookkeeping(free=False)
    for usage in (OWN, OWN, None):
        books.add(calls_of(usage, Call()))
    found = [(each.purpose, each.model, each.calls, each.dollars) for each in books.costs([]).accounts]
    assert found == [
        ("agent", "gpt-4o", 2, 7.0),
        ("beside the agent", "text-embedding-3-small", 2, 0.04),
        ("agent", None, 1, None),
    ]


def test_the_accounts_of_a_free_agent_cost_nothing() -> None:
    books = Bookkeeping(free=True)
    books.add([Call()])
    (account,) = books.costs([]).accounts
    assert (account.calls, account.unknown, account.dollars) == (1, 1, 0.0)


def test_what_old_opinions_cost_stays_when_calls_of_a_judge_of_that_name_are_recorded() -> None:
    def opinion(*, recorded: bool) -> Opinion:
        return Opinion(
            judge="j",
            key="k",
            rubric="r",
            prompt="p",
            answer="a",
            outcome=Outcome.CORRECT,
            reason="",
            dollars=1.0,
            recorded=recorded,
        )

    opinions = [opinion(recorded=False), opinion(recorded=False), opinion(recorded=True)]
    kept = KeptCalls()
    assert Bookkeeping(free=True, kept=kept).costs(opinions).judge_dollars == 3.0, (
        "no calls, so they know it alone"
    )
    for role in ("reader", "judge"):
        kept.take({"role": role, "name": "j", "key": role, "ending": "stop", "usage": None, "dollars": 0.5})
    books = Bookkeeping(free=True, kept=kept)
    assert books.costs(opinions).judge_dollars == 3.0
    assert any("no calls to j" in each for each in books.remarks(opinions, kept=True))
