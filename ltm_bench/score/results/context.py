"""Tokens a question: what an agent's model had to read to answer, apart from its memory's own calls."""

from collections.abc import Sequence

from pydantic import BaseModel, computed_field

from ltm_bench.score.results.examples import ExampleResult


class ContextTokens(BaseModel, frozen=True):
    """The context of a run's questions, folded from their calls."""

    mean: float | None = None
    """Prompt tokens of the calls that answered, averaged over the questions of which they are known; None for none."""
    known: int = 0
    """These questions."""
    questions: int = 0
    """Questions with a reply."""
    whole_turns: int = 0
    """Of those that are known, how many were answered in several calls, whose prompts are all counted."""

    @computed_field  # type: ignore[prop-decorator]  # mypy takes no decorator on a property
    @property
    def but(self) -> str:
        """What the mean leaves out, or counts more than it should, in words; may be empty."""
        unknown, found = self.questions - self.known, []
        if self.whole_turns:
            found.append(f"{self.whole_turns:,} of {self.known:,} are totals of several calls")
        if unknown:
            found.append(f"unknown for {unknown:,} of {self.questions:,}")
        return ", ".join(found)

    @property
    def words(self) -> str:
        """The figure in words."""
        if self.mean is None:
            return "context tokens unknown"
        return f"{self.mean:,.0f} context tokens a question{f' ({self.but})' if self.but else ''}"


def context_tokens(examples: Sequence[ExampleResult]) -> ContextTokens:
    """Return the context of the questions that were answered."""
    asked = [each for example in examples for each in example.questions if each.reply is not None]
    known = [(each.context, each.context_calls) for each in asked if each.context is not None]
    return ContextTokens(
        mean=sum(tokens for tokens, _ in known) / len(known) if known else None,
        known=len(known),
        questions=len(asked),
        whole_turns=sum(calls > 1 for _, calls in known),
    )
