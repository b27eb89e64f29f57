"""Unscored talk between the needles, composed to size. Knows nothing of scenarios."""
