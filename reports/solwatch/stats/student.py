"""Student's t: tail and quantile."""

import functools
from typing import Any


@functools.cache
def _special() -> Any:
    # Loaded at first use: scipy costs 0.4 s, which commands that compute nothing must not pay.
    import scipy.special

    return scipy.special


def upper_tail(t: float, degrees: int) -> float:
    """Return P(T >= t) for Student's t with ``degrees`` degrees of freedom."""
    return float(_special().stdtr(degrees, -t))


@functools.lru_cache(maxsize=4096)
def upper_quantile(tail: float, degrees: int) -> float:
    """Return the t that is exceeded with probability ``tail``, 0 < ``tail`` < 1."""
    if not 0 < tail < 1:
        raise ValueError(f"tail is {tail}, wanted 0 < tail < 1")
    return float(-_special().stdtrit(degrees, tail))
