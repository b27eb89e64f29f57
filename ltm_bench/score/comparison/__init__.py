"""Several runs side by side: entrants, their scores by span, and the differences that the data shows."""
