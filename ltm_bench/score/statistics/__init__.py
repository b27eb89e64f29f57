"""How much of a figure, or of a difference, is luck: intervals, tests and power. Pure; knows no run."""
