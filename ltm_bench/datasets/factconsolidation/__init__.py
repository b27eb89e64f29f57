"""FactConsolidation (Hu et al. 2025, MemoryAgentBench): its format, its scorer, and prediction files of others."""
