"""Static pages of verified runs: bundles in, a folder of pages out. The pages load nothing."""
