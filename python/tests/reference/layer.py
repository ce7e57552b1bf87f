"""moeq.experts: a whole layer, step by step. Quantized bytes depend on values that the
compiled layer rounds in f32 and this one in f64, so results agree in norm, not in bits."""

import numpy as np

from reference import formats, routing
from reference.activation import activate_f64
from reference.matmul import grouped_matmul
from reference.quantize import Recipe, quantize
from reference.scaled import Format


def experts(
    hidden,
    logits,
    w13,
    w2,
    *,
    top_k,
    function,
    score="softmax",
    renormalize=False,
    scale=1.0,
    router_bias=None,
    n_group=None,
    topk_group=None,
    group_score="max",
    bias13=None,
    bias2=None,
    expert_map=None,
    act_format: Format | None = None,
    recipe: Recipe | None = None,
    intermediate_round="bf16",
    weight_on_input=False,
    shared_experts=0,
    **activation,
) -> np.ndarray:
    """Hidden states [T, K] and logits [T, E] to [T, K], in f64 but for the roundings."""
    element = {np.dtype(v): k for k, v in formats.STORAGE.items()}[hidden.dtype]
    tokens, local = len(hidden), w13.shape[0]
    scores = routing.scores(logits, score)
    ids = routing.select(scores, top_k, router_bias, n_group, topk_group, group_score)
    weights = routing.route_weights(scores, ids, renormalize, scale)
    if shared_experts:
        shared = np.arange(local - shared_experts, local, dtype=np.int32)
        ids = np.concatenate([ids, np.tile(shared, (tokens, 1))], 1)
        weights = np.concatenate([weights, np.ones((tokens, shared_experts))], 1)
    rows, slots, offsets, _, sorted_weights = routing.group(ids, local, expert_map, weights)
    expert_of = np.searchsorted(offsets[1:], np.arange(len(rows)), side="right")
    expert_of = np.minimum(expert_of, local - 1)

    def quantized(x):
        return x if act_format is None else quantize(x, act_format, recipe)

    def linear(x, weight, bias):
        init = np.zeros((len(rows), weight.shape[1]))
        y = grouped_matmul(quantized(x), weight, offsets, init).value
        if bias is not None:
            y = y + np.where(np.arange(len(rows)) < offsets[-1], 1, 0)[:, None] * bias[expert_of]
        return formats.round_to(y, element)

    x = routing.gather(hidden, rows, np.zeros((len(rows), hidden.shape[1]), hidden.dtype))
    if weight_on_input:
        x = formats.round_to(x.astype(np.float64) * sorted_weights[:, None], element)
    h = activate_f64(linear(x, w13, bias13), function, **activation)
    h = formats.round_to(h, "f32" if intermediate_round == "none" else intermediate_round)
    if act_format is None:
        h = formats.round_to(h.astype(np.float64), element)
    y = linear(h, w2, bias2).astype(np.float64)
    factor = np.where(slots >= 0, 1.0 if weight_on_input else weights, 0.0)
    chosen = y[np.maximum(slots, 0)] if len(y) else np.zeros((*slots.shape, y.shape[1]))
    return np.einsum("tk,tkn->tn", factor, chosen)
