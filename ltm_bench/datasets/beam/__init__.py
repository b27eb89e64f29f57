"""BEAM (Tavakoli et al. 2025): its format, its judging by rubric, its errata, and prediction files of others."""
