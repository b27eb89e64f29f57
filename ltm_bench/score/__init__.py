"""From the log of a run to its results: verdicts, scores, statistics, comparisons. It calls no agent."""
