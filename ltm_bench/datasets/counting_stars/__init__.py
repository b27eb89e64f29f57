"""Counting-Stars (Song, Zheng and Luo 2024): its scorer, its matchers, and the figures of prediction files and runs."""
