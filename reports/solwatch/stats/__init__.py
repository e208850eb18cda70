"""Statistics of rounds: robust centres, intervals, tests against a margin, families of tests, detectable effects."""
