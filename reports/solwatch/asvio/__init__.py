"""Everything that knows asv: finding and running its benchmarks, its result files, its environments, its site."""
