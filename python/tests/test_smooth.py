"""moeq.smooth and moeq-smooth-quant, in numbers."""

import numpy as np
import pytest

import moeq
from moeq.weights import quantize_weight
from programs import Program
from reference import formats, layer, smooth
from reference.compare import assert_same

F32 = np.float32


def smooth_on_cpu(amax, weight, experts, dims="static", **parameters):
    program = Program(dims)
    (a, a_type), (w, w_type) = program.add(amax), program.add(weight)
    out, out_type = program.add(np.full((experts, weight.shape[2]), np.nan, F32), static=True)
    words = "".join(
        f" {key}({value:e})" for key, value in parameters.items() if key != "power_of_two"
    )
    words += " power_of_two" * parameters.get("power_of_two", False)
    body = (
        f"moeq.smooth amax({a} : {a_type}) weight({w} : {w_type}) outs({out} : {out_type}){words}"
    )
    return program.run(body, [out_type])[0]


@pytest.mark.parametrize("power_of_two", [False, True])
@pytest.mark.parametrize(("calibrations", "experts"), [(3, 3), (1, 3), (3, 1), (1, 1)])
@pytest.mark.parametrize("alpha", [0.0, 0.25, 0.5, 1.0])
@pytest.mark.parametrize("element", ["f32", "bf16"])
def test_smooth(element, alpha, calibrations, experts, power_of_two):
    rng = np.random.default_rng(0)
    amax = np.exp2(rng.uniform(-20, 20, (calibrations, 40))).astype(F32)
    weight = formats.round_to(
        rng.normal(size=(3, 7, 40)) * np.exp2(rng.uniform(-9, 9, 40)), element
    )
    amax[:, 3], weight[..., 4], amax[:, 5] = 0, 0, 1e-30  # what the floor is for
    amax[:, 6], weight[..., 7] = 1e37, 1e37
    got = smooth_on_cpu(amax, weight, experts, alpha=alpha, power_of_two=power_of_two)
    assert np.isfinite(got).all() and (got > 0).all()
    smooth.check(got, amax, weight, alpha=alpha, power_of_two=power_of_two)


def test_smooth_dynamic_and_empty():
    weight = np.ones((2, 0, 5), F32)
    got = smooth_on_cpu(np.ones((2, 5), F32), weight, 2, dims="all", floor=0.25)
    assert_same(got, np.full((2, 5), 2, F32))  # an amax of 1, weights of none


def test_smooth_nonfinite():
    """A NaN is not hidden; an infinity counts as the largest f32."""
    amax, weight = np.ones((1, 4), F32), np.ones((1, 3, 4), F32)
    amax[0, 0], weight[0, 1, 1], amax[0, 2] = np.nan, np.nan, np.inf
    got = smooth_on_cpu(amax, weight, 1)
    assert np.isnan(got[0, :2]).all() and np.isfinite(got[0, 2:]).all()
    assert got[0, 2] == smooth_on_cpu(np.full((1, 1), np.finfo(F32).max), weight[..., 3:], 1)


# ------------------------------------------------------------------------------
# The pass


HIDDEN, FEATURES, EXPERTS, TOKENS = 64, 128, 4, 48


def layer_text(function, gate_layout="gate_first", bias=False, element="bf16", quantized=False):
    columns = FEATURES * (1 + (function in GATED))
    int8 = "!moeq.scaled<i8, block = [*], scale = f32>"
    value = int8 if quantized else element
    bias_argument = f', %b: tensor<{EXPERTS}x{columns}xf32> {{moeq.name = "bias13"}}' * bias
    bias_operand = f" bias13(%b : tensor<{EXPERTS}x{columns}xf32>)" * bias
    layout = f" gate_layout({gate_layout})" if gate_layout != "gate_first" else ""
    quantize = f" quantize(<int8_sym> to {int8})" * quantized
    x, logits = f"tensor<?x{HIDDEN}x{element}>", f"tensor<?x{EXPERTS}xf32>"
    w13 = f"tensor<{EXPERTS}x{columns}x{HIDDEN}x{value}>"
    w2 = f"tensor<{EXPERTS}x{HIDDEN}x{FEATURES}x{value}>"
    return f"""
    func.func @layer(%x: {x} {{moeq.name = "hidden"}}, %l: {logits} {{moeq.name = "logits"}},
        %w13: {w13} {{moeq.name = "w13"}}, %w2: {w2} {{moeq.name = "w2"}}{bias_argument}) -> {x} {{
      %c0 = arith.constant 0 : index
      %t = tensor.dim %x, %c0 : {x}
      %o = tensor.empty(%t) : {x}
      %r = moeq.experts hidden(%x : {x}) logits(%l : {logits})
          w13(%w13 : {w13}) w2(%w2 : {w2}){bias_operand}
          outs(%o : {x}) top_k(2) renormalize function({function}){layout}{quantize} -> {x}
      return %r : {x}
    }}"""


GATED = ("swiglu", "geglu", "reglu")


def random_inputs(function, element="bf16", seed=0):
    """A layer whose hidden states, and some of whose hidden features, have outliers."""
    rng = np.random.default_rng(seed)
    columns = FEATURES * (1 + (function in GATED))
    hidden = rng.normal(size=(TOKENS, HIDDEN))
    hidden[:, rng.choice(HIDDEN, 3, replace=False)] *= 60
    w13 = rng.normal(size=(EXPERTS, columns, HIDDEN)) / 8
    w13[:, rng.choice(np.arange(columns - FEATURES, columns), 4, replace=False)] *= 30
    w2 = rng.normal(size=(EXPERTS, HIDDEN, FEATURES)) / 11
    return {
        "hidden": formats.round_to(hidden, element),
        "logits": rng.normal(size=(TOKENS, EXPERTS)).astype(F32),
        "w13": formats.round_to(w13, element),
        "w2": formats.round_to(w2, element),
    }


def features_of(w13, hidden, function, bias=None):
    """The inputs of the second matmul of each expert for all tokens, in f64."""
    sums = np.einsum("tk,enk->etn", hidden.astype(np.float64), w13.astype(np.float64))
    if bias is not None:
        sums = sums + bias[:, None]
    gate, up = sums[..., : sums.shape[-1] - FEATURES], sums[..., -FEATURES:]
    silu = lambda x: x / (1 + np.exp(-x))  # noqa: E731
    apply = {"swiglu": silu, "reglu": lambda x: np.maximum(x, 0)}
    if function in apply:
        return apply[function](gate) * up
    return np.maximum(up, 0) if function == "relu" else up


def hidden_amax(inputs):
    return np.abs(inputs["hidden"].astype(F32)).max(0, keepdims=True)


def calibrate(inputs, function):
    features = np.abs(features_of(inputs["w13"], inputs["hidden"], function)).max(1)
    return hidden_amax(inputs), features.astype(F32)


def prepare(module, inputs, amax13, amax2=None):
    """What the layer's function takes, by name, after its preparation."""
    sources = {f"{name}.source": inputs[name] for name in inputs if name[:2] in ("w1", "w2", "bi")}
    arguments = sources | {"amax13": amax13}
    if amax2 is not None:
        arguments["amax2"] = amax2
    results = moeq.run(module, "layer_prepare", arguments)
    names = [result.name for result in module.signature("layer_prepare")[1]]
    prepared = dict(zip(names, results, strict=True))
    return {
        n: prepared.get(n, inputs.get(n)) for n in (a.name for a in module.signature("layer")[0])
    }


def to_columns(array, gate_layout):
    """The columns of gate and up, halves that lie apart, in another layout."""
    column = np.arange(array.shape[1] // 2)
    order = np.empty(array.shape[1], int)
    gate, up = {
        "gate_first": (column, column + len(column)),
        "up_first": (column + len(column), column),
        "interleaved": (2 * column, 2 * column + 1),
        "interleaved_64": (column // 64 * 128 + column % 64, column // 64 * 128 + 64 + column % 64),
    }[gate_layout]
    order[gate], order[up] = column, column + len(column)
    return array[:, order]


@pytest.mark.parametrize(
    ("gate_layout", "bias"),
    [("gate_first", False), ("up_first", True), ("interleaved", False), ("interleaved_64", True)],
)
def test_floats_are_unchanged(gate_layout, bias):
    """With factors that are powers of two the float layer gives the same bits."""
    inputs = random_inputs("swiglu")
    amax = calibrate(inputs, "swiglu")
    if bias:
        columns = inputs["w13"].shape[1]
        inputs["bias13"] = np.random.default_rng(1).normal(size=(EXPERTS, columns)).astype(F32)
    inputs = {k: to_columns(v, gate_layout) if "13" in k else v for k, v in inputs.items()}
    text = layer_text("swiglu", gate_layout, bias)
    (want,) = moeq.run(moeq.parse(text), "layer", inputs)
    module = moeq.parse(text).run_pipeline("moeq-smooth-quant{quantize=false power-of-two=true}")
    prepared = prepare(module, inputs, *amax)
    assert (prepared["w13"] != inputs["w13"].view(np.uint16)).mean() > 0.5
    assert (prepared["w2"] != inputs["w2"].view(np.uint16)).mean() > 0.5
    (got,) = moeq.run(module, "layer", prepared)
    assert_same(got, want)


@pytest.mark.parametrize("function", ["relu", "reglu"])
def test_functions_that_commute(function):
    inputs = random_inputs(function)
    text = layer_text(function)
    (want,) = moeq.run(moeq.parse(text), "layer", inputs)
    module = moeq.parse(text).run_pipeline("moeq-smooth-quant{quantize=false power-of-two=true}")
    amax2 = np.exp2(np.random.default_rng(2).uniform(-4, 4, (EXPERTS, FEATURES))).astype(F32)
    prepared = prepare(module, inputs, hidden_amax(inputs), amax2)
    assert_same(moeq.run(module, "layer", prepared)[0], want)


def test_function_that_does_not_commute():
    inputs = random_inputs("silu")
    text = layer_text("silu")
    (want,) = moeq.run(moeq.parse(text), "layer", inputs)
    module = moeq.parse(text).run_pipeline("moeq-smooth-quant{quantize=false power-of-two=true}")
    prepared = prepare(module, inputs, hidden_amax(inputs))
    assert_same(prepared["w2"], inputs["w2"].view(np.uint16))
    assert_same(moeq.run(module, "layer", prepared)[0], want)


def relative_error(got, want):
    got = got.view(formats.BF16).astype(np.float64)
    return np.linalg.norm(got - want) / np.linalg.norm(want)


def exact_layer(inputs, function):
    return layer.experts(
        inputs["hidden"], inputs["logits"], inputs["w13"], inputs["w2"],
        top_k=2, renormalize=True, function=function,
    )  # fmt: skip


def plain_error(inputs, function, exact):
    weights = {}
    for name in ("w13", "w2"):
        weights |= quantize_weight(inputs[name], "int8").arguments(name)
    module = moeq.parse(layer_text(function, quantized=True))
    arguments = {"hidden": inputs["hidden"], "logits": inputs["logits"]} | weights
    return relative_error(moeq.run(module, "layer", arguments)[0], exact)


@pytest.mark.parametrize(
    ("options", "seed"), [("", 0), ("{alpha=0.6}", 1), ("{power-of-two=true}", 2)]
)
def test_error_is_below_plain_int8(options, seed):
    """On data with outlier channels, by a factor of 2."""
    inputs = random_inputs("swiglu", seed=seed)
    exact = exact_layer(inputs, "swiglu")
    module = moeq.parse(layer_text("swiglu")).run_pipeline(f"moeq-smooth-quant{options}")
    (got,) = moeq.run(module, "layer", prepare(module, inputs, *calibrate(inputs, "swiglu")))
    assert relative_error(got, exact) < plain_error(inputs, "swiglu", exact) / 2


def test_zero_and_tiny_amax():
    """Channels and features that are always zero, or tiny, and weights that are."""
    inputs = random_inputs("swiglu")
    inputs["hidden"][:, :4], inputs["w13"][..., 4:8] = 0, 0
    inputs["hidden"][:, 8] *= 1e-30
    inputs["w13"][:, FEATURES : FEATURES + 4] = 0
    inputs["w13"][:, FEATURES + 4 : FEATURES + 8] *= 1e-30
    amax13, amax2 = calibrate(inputs, "swiglu")
    assert (amax2[:, :4] == 0).all() and (amax2[:, 4:8] < 1e-20).all()
    module = moeq.parse(layer_text("swiglu")).run_pipeline("moeq-smooth-quant")
    (got,) = moeq.run(module, "layer", prepare(module, inputs, amax13, amax2))
    assert relative_error(got, exact_layer(inputs, "swiglu")) < 0.1
