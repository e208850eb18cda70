"""Judgement: from a record of rounds to verdicts with their reasons and evidence. Pure: no clock, no files."""
