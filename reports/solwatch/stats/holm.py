"""Holm's adjustment: one error rate over a family of tests."""

from collections.abc import Mapping


def holm(p_values: Mapping[str, float], family: int | None = None) -> dict[str, float]:
    """Return the adjusted p-value of each test; rejecting those at or below a rate keeps the family's at it.

    Holm (1979): the p-values in ascending order are multiplied by m, m - 1, … 1, made monotone and cut at 1.
    Holds under any dependence between the tests. ``family``: m, when it is larger than the tests given; the
    absent ones stand in with p = 1. Raises ``ValueError`` for a p-value outside [0, 1].
    """
    for name, p_value in p_values.items():
        if not 0 <= p_value <= 1:
            raise ValueError(f"the p-value of {name} is {p_value}, wanted 0 <= p <= 1")
    adjusted: dict[str, float] = {}
    reached = 0.0
    left = max(family or 0, len(p_values))
    for name, p_value in sorted(p_values.items(), key=lambda item: item[1]):
        reached = max(reached, min(1.0, left * p_value))
        adjusted[name] = reached
        left -= 1
    return {name: adjusted[name] for name in p_values}
