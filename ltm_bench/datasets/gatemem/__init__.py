"""GateMem (rzhub/GateMem, 2026): its format, its rule scorer, and prediction files of others."""
