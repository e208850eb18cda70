"""The words of DESIGN.md as types: cells, blocks, rounds, estimates, verdicts. Imports nothing of solwatch."""
