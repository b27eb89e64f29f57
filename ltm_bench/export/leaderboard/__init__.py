"""Static pages of verified runs: bundles in, a folder of pages out. Nothing on them loads anything."""
