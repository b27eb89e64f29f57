"""PrecisionMemBench (tenurehq 2026; MIT): which beliefs a memory retrieves for a query, scored by their ids."""
