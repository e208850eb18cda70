"""The suite: which cells of the op are measured."""
