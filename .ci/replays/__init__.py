"""The rule, replayed on recorded rounds of one build against itself: resampled, and walked through once."""
