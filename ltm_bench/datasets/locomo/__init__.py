"""LoCoMo (Maharana et al. 2024): its format, its official scorer, its errata, and prediction files of others."""
