"""Comparisons, each with a message that shows the worst element."""

import numpy as np

from reference.matmul import Bounded
from reference.routing import route_weights


def assert_same(got, want, what="result"):
    """Equal bits; a NaN equals any NaN."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.shape == want.shape, f"{what}: expects shape {want.shape}, got {got.shape}"
    if want.dtype.kind in "fV" and got.dtype == want.dtype:
        a, b = got.astype(np.float64), want.astype(np.float64)
        same = (a == b) & (np.signbit(a) == np.signbit(b)) | np.isnan(a) & np.isnan(b)
    else:
        same = got == want
    if not same.all():
        at = tuple(np.argwhere(~np.atleast_1d(same))[0])
        raise AssertionError(
            f"{what}: {np.sum(~same)} of {same.size} differ, first at {at}: "
            f"expects {np.atleast_1d(want)[at]}, got {np.atleast_1d(got)[at]}"
        )


def unit(x, element: str) -> np.ndarray:
    """The unit of the last place of `element` at f64 numbers."""
    digits = {"f32": 24, "bf16": 8, "f16": 11}[element]
    lowest = {"f32": -149, "bf16": -133, "f16": -24}[element]
    exponent = np.frexp(np.where(np.isfinite(x), x, 0))[1]
    return np.ldexp(1.0, np.maximum(exponent - digits, lowest))


def ulps(got, want, element: str) -> np.ndarray:
    """The distance of numbers from f64 ones, in units of the last place of `element`."""
    got, want = np.asarray(got).astype(np.float64), np.asarray(want, np.float64)
    with np.errstate(invalid="ignore"):
        distance = np.abs(got - want) / unit(want, element)
    return np.where((got == want) | np.isnan(got) & np.isnan(want), 0, distance)


def assert_ulps(got, want, element: str, limit=2.0, what="result"):
    """`limit` is one number, or one for each element."""
    got = np.asarray(got)
    assert got.shape == want.shape, f"{what}: expects shape {want.shape}, got {got.shape}"
    distance = ulps(got, want, element)
    # Not `> limit`: a NaN where a number is due is a failure.
    wrong = ~(distance <= limit)
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise AssertionError(
            f"{what}: {np.sum(wrong)} of {wrong.size} are too many ulp off, first at "
            f"{at}: expects {want[at]} to {np.broadcast_to(limit, got.shape)[at]} ulp, "
            f"got {got[at]}"
        )


def assert_within(got, want: Bounded, element: str, what="result") -> float:
    """Within the bound, after a rounding to `element`. Gives the worst error over bound."""
    got = np.asarray(got)
    assert got.shape == want.value.shape, (
        f"{what}: expects shape {want.value.shape}, got {got.shape}"
    )
    rounded = want.rounding(element)
    limit = float(np.finfo(np.float32).max if element != "f16" else 65504)
    number = got.astype(np.float64)
    with np.errstate(invalid="ignore"):
        overflow = np.isinf(number) & (np.abs(rounded.value) + rounded.error >= limit)
        same = np.isnan(number) & np.isnan(rounded.value) | (number == rounded.value) | overflow
        error = np.where(same, 0, np.abs(number - rounded.value))
    wrong = ~(error <= rounded.error) & ~same
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        raise AssertionError(
            f"{what}: {np.sum(wrong)} of {wrong.size} are out of bound, first at {at}: expects "
            f"{rounded.value[at]} within {rounded.error[at]}, got {number[at]}"
        )
    bound = np.where(rounded.error == 0, 1, rounded.error)
    return float(np.max(np.where(same, 0, error) / bound, initial=0))


def assert_route(ids, weights, score, k, renormalize=False, scale=1.0, bias=None, ulp=4):
    """Distinct ids in range, best first, with nothing better left out (scores closer
    than `ulp` units of f32 are ties), and their weights. Gives the weights' distance."""
    ids = np.asarray(ids)
    choice = score if bias is None else score + np.asarray(bias, np.float64)
    for t, row in enumerate(ids):
        assert len(set(row)) == k and row.min() >= 0 and row.max() < score.shape[1], (
            f"token {t}: expects {k} distinct ids in range, got {row}"
        )
        if np.isnan(choice[t]).any():
            continue
        chosen = choice[t, row]
        slack = ulp * 2.0**-23 * np.abs(choice[t]).max()
        assert (chosen[:-1] >= chosen[1:] - slack).all(), f"token {t}: ids {row} not best first"
        rest = np.delete(choice[t], row)
        assert rest.max(initial=-np.inf) <= chosen.min() + slack, f"token {t}: better than {row}"
    return assert_route_weights(ids, weights, score, renormalize, scale, ulp)


def assert_route_weights(ids, weights, score, renormalize=False, scale=1.0, ulp=4):
    """The weights of chosen ids: each step of renormalizing rounds too."""
    want = route_weights(score, ids, renormalize, scale)
    assert_ulps(weights, want, "f32", ulp + 4 * renormalize, "weights")
    return float(np.max(ulps(weights, want, "f32"), initial=0))
