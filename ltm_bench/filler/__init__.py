"""Talk between the needles that nobody scores. It is composed to size, and knows nothing of scenarios."""
