"""Upper ends of one-sided 95 % intervals, exact."""

LEVEL = 0.95


def upper_share(found: int, trials: int) -> float:
    """Return the upper bound (Clopper and Pearson) of a share of which ``found`` of ``trials`` were seen."""
    import scipy.special

    return 1.0 if found >= trials else float(scipy.special.betaincinv(found + 1, trials - found, LEVEL))


def upper_rate(found: int, trials: int) -> float:
    """Return the upper bound (Garwood) of a Poisson rate a trial of which ``found`` events were seen."""
    import scipy.special

    return float(scipy.special.gammaincinv(found + 1, LEVEL)) / trials


def fewest_trials(rate: float) -> int:
    """Return how many trials without any event put the bound of the rate at ``rate`` or below."""
    import math

    return math.ceil(upper_rate(0, 1) / rate)
