"""moeq.smooth, in f64."""

import numpy as np

BOUND = 2.0**-16  # the relative error of a factor


def smooth(amax, weight, experts: int, alpha=0.5, floor=1e-5) -> np.ndarray:
    """The factors [experts, K]: of each expert, or one for all of them."""
    weight_amax = np.abs(np.asarray(weight, np.float64)).max(1, initial=0)
    amax = np.broadcast_to(np.abs(np.asarray(amax, np.float64)), weight_amax.shape)
    if experts == 1:
        weight_amax, amax = (part.max(0, keepdims=True) for part in (weight_amax, amax))
    limited = lambda part: np.clip(part, np.float32(floor), np.finfo(np.float32).max)  # noqa: E731
    return limited(amax) ** alpha / limited(weight_amax) ** (1 - alpha)


def check(got, amax, weight, power_of_two=False, **parameters) -> float:
    """The largest relative error of factors; an AssertionError beyond the bound. A power
    of two is the nearest by its exponent, or next to that where two are about as near."""
    want = smooth(amax, weight, len(got), **parameters)
    error = np.abs(got / want - 1)
    if power_of_two:
        assert (np.frexp(got)[0] == 0.5).all(), "not a power of two"
        error = np.maximum(np.abs(np.log2(got / want)) - 0.5, 0)
    worst = float(error.max(initial=0))
    assert worst <= BOUND, f"a factor is off by {worst}"
    return worst
