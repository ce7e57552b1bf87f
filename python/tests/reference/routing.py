"""Routing and dispatch: moeq.route, group, gather and combine."""

import numpy as np

from reference import formats
from reference.scaled import Scaled


def scores(logits, score: str = "softmax") -> np.ndarray:
    """The scores of logits [T, E], in f64."""
    x = np.asarray(logits).astype(np.float64)
    with np.errstate(invalid="ignore", over="ignore"):
        if score == "sigmoid":
            return 1 / (1 + np.exp(-x))
        top = np.nan_to_num(x.max(-1, keepdims=True, initial=-np.inf), posinf=np.inf)
        e = np.exp(x - top)
        return e / e.sum(-1, keepdims=True)


def select(score, k, bias=None, n_group=None, topk_group=None, group_score="max") -> np.ndarray:
    """The ids [T, k] of the best experts of scores [T, E]: the lower id wins a tie,
    NaN ranks below every number."""
    choice = score if bias is None else score + np.asarray(bias)
    choice = np.where(np.isnan(choice), -np.inf, choice)
    tokens, experts = choice.shape
    masked = np.zeros_like(choice, bool)
    if n_group:
        grouped = choice.reshape(tokens, n_group, -1)
        top = 1 if group_score == "max" else 2
        best = np.sort(grouped, -1)[:, :, -top:].sum(-1)
        kept = np.argsort(-best, axis=1, kind="stable")[:, :topk_group]
        allowed = np.zeros((tokens, n_group), bool)
        np.put_along_axis(allowed, kept, True, 1)
        masked = ~np.repeat(allowed, experts // n_group, 1)
    # Masked experts come after all others, those with the lowest ids first.
    order = np.lexsort((np.broadcast_to(np.arange(experts), choice.shape), -choice, masked), axis=1)
    return order[:, :k].astype(np.int32)


def route_weights(score, ids, renormalize=False, scale=1.0) -> np.ndarray:
    """The weights [T, k] of chosen ids, in f64."""
    weights = np.take_along_axis(score, ids.astype(np.int64), 1)
    if renormalize:
        total = weights.sum(-1, keepdims=True)
        weights = np.where(total == 0, 0, weights / np.where(total == 0, 1, total))
    return weights * scale


def group(ids, experts, expert_map=None, weights=None):
    """A stable sort of the slots t * k + j by expert: rows [S], slots [T, k],
    offsets [E + 1], padded offsets [E + 1] and sorted weights [S]. Equal bits."""
    ids = np.asarray(ids, np.int64)
    tokens, k = ids.shape
    flat = ids.ravel()
    if expert_map is not None:
        known = (flat >= 0) & (flat < len(expert_map))
        flat = np.where(known, np.asarray(expert_map)[np.where(known, flat, 0)], -1)
    local = (flat >= 0) & (flat < experts)
    order = [s for e in range(experts) for s in np.flatnonzero(local & (flat == e))]
    rows = np.full(tokens * k, -1, np.int32)
    slots = np.full(tokens * k, -1, np.int32)
    sorted_weights = np.zeros(tokens * k, np.float32)
    for row, slot in enumerate(order):
        rows[row], slots[slot] = slot // k, row
        if weights is not None:
            sorted_weights[row] = np.asarray(weights).ravel()[slot]
    counts = np.array([np.sum(local & (flat == e)) for e in range(experts)], np.int64)
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    padded = np.concatenate([[0], np.cumsum(-(-counts // 128) * 128)]).astype(np.int32)
    return rows, slots.reshape(tokens, k), offsets, padded, sorted_weights


def gather(x, rows, init):
    """Row rows[r] of `x`, scales included; the init where rows[r] < 0. Equal bits."""
    if isinstance(x, Scaled):
        zeros = None if x.zeros is None else gather(x.zeros, rows, init.zeros)
        values, scales = gather(x.values, rows, init.values), gather(x.scales, rows, init.scales)
        return Scaled(x.format, values, scales, zeros)
    keep = (np.asarray(rows) < 0).reshape(-1, *[1] * (x.ndim - 1))
    if len(x) == 0:
        return init
    return np.where(keep, init, x[np.maximum(rows, 0)]).astype(x.dtype)


def fma(a, b, c) -> np.ndarray:
    """a * b + c in f32 with one rounding."""
    exact = np.asarray(a, np.float64) * np.asarray(b, np.float64)  # 48 bits: exact
    total = exact + np.asarray(c, np.float64)
    # Round to odd in f64, so that the rounding to f32 is the only one.
    error = two_sum_error(exact, np.asarray(c, np.float64), total)
    bits = total.view(np.int64) if total.ndim else total.reshape(1).view(np.int64)
    away = np.sign(error) == np.sign(total)
    odd = np.where(error == 0, bits, np.where(away, bits, bits - 1) | 1)
    return odd.view(np.float64).reshape(total.shape).astype(np.float32)


def two_sum_error(a, b, total):
    with np.errstate(invalid="ignore"):
        b_part = total - a
        error = (a - (total - b_part)) + (b - b_part)
    return np.where(np.isfinite(error), error, 0)


def combine(x, slots, weights=None, element=None) -> np.ndarray:
    """Sum over j of weights[t, j] * x[slots[t, j]] by fma in f32, ascending j, from 0,
    rounded once. Equal bits."""
    element = element or {np.dtype(v): k for k, v in formats.STORAGE.items()}[x.dtype]
    tokens, k = slots.shape
    total = np.zeros((tokens, x.shape[1]), np.float32)
    for t in range(tokens):
        for j in range(k):
            if slots[t, j] >= 0:
                factor = np.float32(1) if weights is None else weights[t, j]
                total[t] = fma(factor, x[slots[t, j]].astype(np.float32), total[t])
    return formats.round_to(total, element)
