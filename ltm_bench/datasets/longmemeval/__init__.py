"""LongMemEval (Wu et al. 2024): its format, its judging, its errata, and prediction files of others."""
