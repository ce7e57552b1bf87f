"""Random layers: whatever the scheme, the extents and the routing, each level gives
the same bits, and each op what its model says."""

import numpy as np
import pytest

from check import check
from reference.activation import GATED
from reference.quantize import PRESETS
from reference.scaled import WHOLE, Format

FP8, MX = "f8E4M3FN", "f8E8M0FNU"
# Of activations and weights; a recipe for the activations.
SCHEMES = {
    "bf16": (None, "bf16", None),
    "fp8-channel": (Format(FP8, (WHOLE,)), Format(FP8, (WHOLE,)), "vllm_token"),
    "fp8-block": (Format(FP8, (32,)), Format(FP8, (32, 32)), "deepgemm"),
    "fp8-tensor": (Format(FP8, (WHOLE, WHOLE)), Format(FP8, (WHOLE, WHOLE)), "te"),
    "mxfp8": (Format(FP8, (32,), MX), Format(FP8, (32,), MX), "te_mx"),
    "int8": (Format("i8", (WHOLE,)), Format("i8", (WHOLE,)), "int8_sym"),
    "int8-weight": (None, Format("i8", (WHOLE,)), None),
    "int4-weight": (None, Format("ui4", (32,), "bf16", "i8"), None),
    "mxfp4-weight": (None, Format("f4E2M1FN", (32,), MX), None),
}
FUNCTIONS = ("swiglu", "geglu", "reglu", "clamped_swiglu", "silu", "srelu")


def random_layer(rng, scheme: str) -> str:
    """The text of a function `layer` with one moeq.experts."""
    act, weight, recipe = SCHEMES[scheme]
    experts = int(rng.choice([1, 3, 4, 8]))
    top_k = int(rng.integers(1, min(experts, 3) + 1))
    k, f = (int(rng.choice([32, 64, 96])) for _ in range(2))
    function = str(rng.choice(FUNCTIONS))
    wide = 2 * f if function in GATED else f
    shared = int(rng.integers(0, 2))
    local = experts + shared
    arguments = {
        "hidden": f"tensor<?x{k}xbf16>",
        "logits": f"tensor<?x{experts}xf32>",
        "w13": f"tensor<{local}x{wide}x{k}x{weight}>",
        "w2": f"tensor<{local}x{k}x{f}x{weight}>",
    }
    clauses = []
    if rng.random() < 0.3:
        arguments |= {"b13": f"tensor<{local}x{wide}xf32>", "b2": f"tensor<{local}x{k}xf32>"}
        clauses += [f"bias13(%b13 : {arguments['b13']})", f"bias2(%b2 : {arguments['b2']})"]
    arguments["init"] = f"tensor<?x{k}xbf16>"
    options = [f"top_k({top_k})"]
    options += [f"score({rng.choice(['softmax', 'sigmoid'])})"]
    options += ["renormalize"] if rng.random() < 0.5 else []
    options += [f"function({function})"]
    if function in GATED:
        options += [f"gate_layout({rng.choice(['gate_first', 'up_first', 'interleaved'])})"]
    if function == "clamped_swiglu":
        options += ["limit(7.0)", "alpha(1.702)"]
    if act is not None:
        options += [f"quantize(<{recipe}> to {act})"]
    options += ["weight_on_input"] if rng.random() < 0.3 else []
    options += [f"shared_experts({shared})"] if shared else []
    named = ", ".join(f"%{n}: {t}" for n, t in arguments.items())
    main = " ".join(f"{n}(%{n} : {arguments[n]})" for n in ("hidden", "logits", "w13", "w2"))
    result = arguments["init"]
    return f"""
func.func @layer({named}) -> {result} {{
  %0 = moeq.experts {main} {" ".join(clauses)}
      outs(%init : {result}) {" ".join(options)} -> {result}
  return %0 : {result}
}}
"""


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("scheme", SCHEMES)
def test_random_layer(scheme, seed):
    assert set(r for *_, r in SCHEMES.values() if r) <= set(PRESETS)
    rng = np.random.default_rng([seed, list(SCHEMES).index(scheme)])
    text = random_layer(rng, scheme)
    tokens = [0, 1, 7, 23][seed]
    lines = check(text, "layer.mlir", None, tokens, seed)
    failures = [str(line) for line in lines if line.outcome is None]
    assert not failures, "\n".join([text, *failures])
