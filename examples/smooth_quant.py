"""SmoothQuant from end to end: a float layer to INT8, and what that costs.

    PYTHONPATH=python build/venv/bin/python examples/smooth_quant.py

Calibrates the layer of mixtral-tiny-bf16.mlir on random hidden states a few channels of
which are large, as they are in models, prepares its weights by moeq-smooth-quant, and
prints the error of the layer's output, on other tokens, beside that of plain INT8.
"""

import sys
from pathlib import Path

import ml_dtypes
import numpy as np

import moeq

LAYER = Path(__file__).parent / "mixtral-tiny-bf16.mlir"
INT8 = "!moeq.scaled<i8, block = [*], scale = f32>"
EXPERTS, HIDDEN, FEATURES = 8, 64, 128
BF16 = ml_dtypes.bfloat16


def make_weights(rng) -> dict:
    """Of the second half of w13, the `up` rows, some are large too."""
    w13 = rng.normal(size=(EXPERTS, 2 * FEATURES, HIDDEN)) / np.sqrt(HIDDEN)
    w13[:, FEATURES + rng.choice(FEATURES, 4, replace=False)] *= 20
    w2 = rng.normal(size=(EXPERTS, HIDDEN, FEATURES)) / np.sqrt(FEATURES)
    return {"w13": w13.astype(BF16), "w2": w2.astype(BF16)}


def make_tokens(rng, outliers, count: int) -> dict:
    hidden = rng.normal(size=(count, HIDDEN))
    hidden[:, outliers] *= 50
    logits = rng.normal(size=(count, EXPERTS)).astype(np.float32)
    return {"hidden": hidden.astype(BF16), "logits": logits}


def calibrate(weights, hidden) -> dict:
    """The largest magnitudes of the inputs of both matmuls, all tokens by all experts."""
    x = hidden.astype(np.float32)
    gate, up = np.split(np.einsum("tk,enk->etn", x, weights["w13"].astype(np.float32)), 2, -1)
    features = gate / (1 + np.exp(-gate)) * up
    return {
        "amax13": np.abs(x).max(0, keepdims=True),
        "amax2": np.abs(features).max(1).astype(np.float32),
    }


def smooth(options: str, weights, amax, tokens) -> np.ndarray:
    """The output of the layer after moeq-smooth-quant."""
    module = moeq.parse(LAYER.read_text()).run_pipeline(f"moeq-smooth-quant{{{options}}}")
    sources = {f"{name}.source": weight for name, weight in weights.items()}
    prepared = moeq.run(module, "mixtral_layer_prepare", sources | amax)
    names = [result.name for result in module.signature("mixtral_layer_prepare")[1]]
    inputs = tokens | dict(zip(names, prepared, strict=True))
    return moeq.run(module, "mixtral_layer", inputs)[0]


def plain(weights, tokens) -> np.ndarray:
    """The output with weights and activations quantized to INT8 as they are."""
    text = LAYER.read_text()
    for shape in ("8x256x64x", "8x64x128x"):
        text = text.replace(shape + "bf16", shape + INT8)
    text = text.replace("function(swiglu)", f"function(swiglu) quantize(<int8_sym> to {INT8})")
    inputs = dict(tokens)
    for name, weight in weights.items():
        inputs |= moeq.quantize_weight(weight, "int8").arguments(name)
    return moeq.run(moeq.parse(text), "mixtral_layer", inputs)[0]


def error_table(seed: int = 0) -> list[tuple[str, float]]:
    """The error of each way, relative to the norm of the float layer's output."""
    rng = np.random.default_rng(seed)
    weights, outliers = make_weights(rng), rng.choice(HIDDEN, 3, replace=False)
    amax = calibrate(weights, make_tokens(rng, outliers, 256)["hidden"])
    tokens = make_tokens(rng, outliers, 64)
    (exact,) = moeq.run(moeq.parse(LAYER.read_text()), "mixtral_layer", tokens | weights)

    def error(output) -> float:
        want = exact.view(BF16).astype(np.float64)
        difference = output.view(BF16).astype(np.float64) - want
        return float(np.linalg.norm(difference) / np.linalg.norm(want))

    rows = [("plain INT8", error(plain(weights, tokens)))]
    for alpha in (0.25, 0.5, 0.75):
        output = smooth(f"alpha={alpha}", weights, amax, tokens)
        rows.append((f"SmoothQuant, alpha {alpha}", error(output)))
    output = smooth("power-of-two=true", weights, amax, tokens)
    rows.append(("SmoothQuant, powers of two", error(output)))
    output = smooth("power-of-two=true quantize=false", weights, amax, tokens)
    rows.append(("the same in bf16", error(output)))
    return rows


def main() -> int:
    print(f"{'layer':28} error")
    for name, error in error_table():
        print(f"{name:28} {error:.3%}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
