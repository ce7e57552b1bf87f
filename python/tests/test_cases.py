"""The cases of test/Cases, one test each, on the reference and on the compiler."""

from dataclasses import replace

import numpy as np
import pytest

import cases
import moeq
import programs
from programs import PER_ROW, PER_TENSOR, poison
from reference import activation, formats, routing
from reference import matmul as matmuls
from reference.compare import assert_same
from reference.quantize import PRESETS, Recipe, dequantize, quantize
from reference.scaled import Format, Scaled

CASES = cases.all_cases()
F32 = np.float32


class Reference:
    """The ops by the NumPy models."""

    quantize = staticmethod(quantize)
    dequantize = staticmethod(dequantize)
    gather = staticmethod(routing.gather)
    combine = staticmethod(routing.combine)
    activate = staticmethod(activation.activate)
    act_quant = staticmethod(activation.act_quant)

    @staticmethod
    def convert(x, source, target):
        return formats.encode(x, target)

    @staticmethod
    def route(logits, k, renormalize=False):
        score = routing.scores(logits)
        ids = routing.select(score, k)
        return ids, routing.route_weights(score, ids, renormalize).astype(F32)

    @staticmethod
    def group(ids, experts):
        return routing.group(ids, experts)[:3]

    @staticmethod
    def matmul(a, b, element="f32"):
        return formats.round_to(matmuls.matmul(a, b).value, element)

    @staticmethod
    def grouped_matmul(a, b, offsets, init):
        value = matmuls.grouped_matmul(a, b, offsets, init).value
        return value.astype(init.dtype)


@pytest.fixture(params=["reference", "compiled"])
def ops(request):
    return Reference if request.param == "reference" else programs


def load(name):
    """The inputs and expected outcome of a case, tensors as arrays."""

    def value(spec):
        if isinstance(spec, dict) and "dtype" in spec:
            return cases.tensor(spec)
        if isinstance(spec, dict):
            return {key: value(inner) for key, inner in spec.items()}
        return spec

    case = CASES[name]
    return value(case["inputs"]), value(case["expected"]), case["tolerance"]


def per_tensor(values, scale, element="f8E4M3FN"):
    scale = np.reshape(np.asarray(scale, F32), (-1, *[1] * (values.ndim - 1)))
    lead = (len(values) if values.ndim == 3 else 1,)
    scales = np.broadcast_to(scale, lead + (1,) * (values.ndim - 1)).copy()
    return Scaled(Format(element, PER_TENSOR), values, scales)


def offsets_of(counts):
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)


@pytest.mark.parametrize("name", ["fp8-single-rounding", "fp8-subnormal-encode"])
def test_fp8_number(ops, name):
    inputs, expected, _ = load(name)
    assert_same(ops.convert(inputs["x"], "f32", "f8E4M3FN"), expected["q"])


def test_scale_zero_row(ops):
    inputs, expected, _ = load("scale-zero-row")
    q = ops.quantize(inputs["x"], Format("f8E4M3FN", PER_ROW), Recipe())
    # 0x80 is accepted where the input is a zero.
    assert_same(np.where(inputs["x"] == 0, q.values & 0x7F, q.values), expected["q"], "q")
    for got, want in zip(q.scales.ravel(), expected["scale"], strict=True):
        assert np.isfinite(got) and got > 0 if want == "positive finite" else got == want
    assert_same(np.abs(ops.dequantize(q)), np.abs(expected["dequant"]), "dequant")


def test_scale_tiny_row(ops):
    inputs, expected, _ = load("scale-tiny-row")
    q = ops.quantize(inputs["x"], Format("f8E4M3FN", PER_ROW), Recipe())
    numbers = ops.dequantize(q)
    for bound in expected["dequant_bounds"]:
        row = numbers[bound["row"]]
        assert np.isfinite(row).all() and np.abs(row).max() <= bound["max_abs"]
    assert_same(numbers[2], expected["dequant_row_2"])


@pytest.mark.parametrize("rule", ["e8m0_up", "te_mx", "e8m0_floor"])
def test_mx_957(ops, rule):
    inputs, expected, _ = load("mx-957")
    recipe = {
        "e8m0_up": Recipe(scale_round="e8m0_up", zero_block="min"),
        "te_mx": PRESETS["te_mx"],
        "e8m0_floor": PRESETS["ocp"],
    }[rule]
    q = ops.quantize(inputs["x"], Format("f8E4M3FN", (32,), "f8E8M0FNU"), recipe)
    want = expected["by_scale_rule"][rule]
    assert_same(q.scales, want["scale"], "scale")
    assert_same(q.values, want["q"], "q")
    assert ops.dequantize(q)[0, 0] == want["dequant_first"]


def test_mx_scale_codes(ops):
    inputs, expected, _ = load("mx-scale-codes")
    q = Scaled(Format("f8E4M3FN", (32,), "f8E8M0FNU"), inputs["q"], inputs["scale"])
    want = np.broadcast_to(expected["row_value"][:, None], (7, 32))
    assert_same(ops.dequantize(q), want)


def test_mx_padded_scale_two_experts(ops):
    """The rowwise half of the case: compact scales, which the padded tensors hold."""
    inputs, expected, _ = load("mx-padded-scale-two-experts")
    format = Format("f8E4M3FN", (32,), "f8E8M0FNU")
    q = ops.quantize(inputs["x"], format, PRESETS["te_mx"])
    for expert in range(2):
        got = q.scales[64 * expert : 64 * (expert + 1)]
        assert_same(got, expected["rowwise_scale_each"][:64], f"expert {expert}")


def test_mx_padded_scales_of_groups():
    """All of the case, by the op that pads: the scales of an expert are 128 rows apart, those of
    its columns 128 / 32."""
    inputs, expected, _ = load("mx-padded-scale-two-experts")
    row = Format("f8E4M3FN", (32,), "f8E8M0FNU", None, "padded", groups=2)
    outs, columnwise = programs.quantize_both(
        inputs["x"], PRESETS["te_mx"], row, replace(row, block=(32, 1)),
        offsets_of(inputs["tokens_per_expert"]),
    )  # fmt: skip
    for expert in range(2):
        got = outs.scales[128 * expert : 128 * (expert + 1)]
        assert_same(got, expected["rowwise_scale_each"], f"expert {expert}")
        got = columnwise.scales[4 * expert : 4 * expert + 2]
        assert_same(got, expected["colwise_scale_each"], f"columns of expert {expert}")


def test_mx_colwise_expert_edge():
    inputs, expected, _ = load("mx-colwise-expert-edge")
    format = Format("f8E4M3FN", (32, 1), "f8E8M0FNU", groups=2)
    (q,) = programs.quantize_both(
        inputs["x"], PRESETS["te_mx"], None, format, offsets_of(inputs["tokens_per_expert"])
    )
    assert_same(q.values, expected["q"])
    assert_same(q.scales[:1], expected["scale_expert_0"])
    assert_same(q.scales[4:6], expected["scale_expert_1"])


def test_int8_round_half_even(ops):
    inputs, expected, _ = load("int8-round-half-even")
    q = ops.quantize(inputs["x"], Format("i8", PER_ROW), Recipe())
    assert_same(q.values, expected["q"], "q")
    assert_same(q.scales.ravel(), expected["scale"], "scale")


def test_int8_w8a16_f16_range(ops):
    inputs, expected, _ = load("int8-w8a16-f16-range")
    scale = next(v for k, v in inputs.items() if "scale" in k)
    b = Scaled(Format("i8", PER_ROW), inputs["b_nk"], np.reshape(scale, (-1, 1)).astype(F32))
    assert_same(ops.matmul(inputs["a"], b, "f16"), expected["out"])


def test_int4_group_32(ops):
    inputs, expected, _ = load("int4-group-32")
    scale = next(v for k, v in inputs.items() if "scale" in k)
    b = Scaled(Format("i4", (32,), "f32"), inputs["b_nk"], scale.astype(F32))
    assert_same(ops.matmul(inputs["a"], b), expected["out"])


def test_scale_direction(ops):
    inputs, expected, _ = load("scale-direction")
    a = per_tensor(inputs["a"], inputs["a_scale"])
    b = per_tensor(inputs["b_nk"], inputs["b_scale"])
    assert_same(ops.matmul(a, b), expected["out"])


def test_route_nan_row(ops):
    inputs, expected, _ = load("route-nan-row")
    ids, _ = ops.route(inputs["logits"], 4)
    for row in ids[:2]:
        assert len(set(row)) == 4 and row.min() >= 0 and row.max() < 8
    assert_same(ids[2], expected["ids_row_2"])


def test_route_many_experts(ops):
    inputs, expected, tolerance = load("route-many-experts")
    ids, weights = ops.route(inputs["logits"], 3)
    assert_same(ids, expected["ids"])
    np.testing.assert_allclose(weights, expected["weights"], tolerance["rtol"])


@pytest.mark.parametrize("renormalize", [False, True])
def test_route_ties(ops, renormalize):
    inputs, expected, tolerance = load("route-ties")
    ids, weights = ops.route(inputs["logits"], 3, renormalize=renormalize)
    assert_same(ids, expected["ids"])
    want = expected["weights_renormalized" if renormalize else "weights"]
    np.testing.assert_allclose(weights, want, tolerance["rtol"])


def test_dispatch_id_minus_one(ops):
    inputs, expected, _ = load("dispatch-id-minus-one")
    x, ids = inputs["x"], np.array(inputs["ids"], np.int32)
    rows, slots, offsets = ops.group(ids, 2)
    gathered = ops.gather(x, rows, poison((6, 2), "bf16"))
    identity = np.stack([f * np.eye(2) for f in inputs["expert_factor"]]).astype(formats.BF16)
    y = ops.grouped_matmul(gathered, identity, offsets, poison((6, 2), "f32"))
    assert_same(ops.combine(y, slots, inputs["weights"]), expected["out"])


def test_dispatch_empty_middle(ops):
    inputs, expected, _ = load("dispatch-empty-middle")
    a, b = per_tensor(inputs["a"], 1), per_tensor(inputs["b_nk"], [1, 1, 1])
    offsets = np.array(inputs["offsets"], np.int32)
    assert_same(ops.grouped_matmul(a, b, offsets, poison((3, 4), "f32")), expected["out"])


@pytest.mark.parametrize("where", ["weight_on_output", "weight_on_input"])
def test_combine_weight_once(ops, where):
    inputs, expected, _ = load("combine-weight-once")
    x, weights = inputs["x"], inputs["weights"]
    slots = np.arange(len(x), dtype=np.int32).reshape(-1, 1)
    if where == "weight_on_input":
        x = ops.activate(x, "identity", row_weight=weights.ravel())
    y = ops.activate(x, "srelu")
    y = ops.combine(y, slots, weights if where == "weight_on_output" else None)
    assert_same(y, expected[where])


def test_tail_k33_n5(ops):
    inputs, expected, _ = load("tail-k33-n5")
    a = per_tensor(inputs["a"], inputs["a_scale"])
    b = per_tensor(inputs["b_nk"], inputs["b_scale_e"])
    offsets = offsets_of(inputs["tokens_per_expert"])
    # Guard rows outside every group, whose operands are NaN and whose results stay.
    guard = np.full((2, 33), 0x7F, np.uint8)
    values = np.concatenate([guard, a.values, guard])
    guarded = Scaled(a.format, values, a.scales)
    init = np.full((9, 5), -7, F32)
    out = ops.grouped_matmul(guarded, b, offsets + 2, init)
    assert_same(out[2:7], expected["out"])
    assert_same(out[[0, 1, 7, 8]], init[:4], "guard rows")


@pytest.mark.parametrize("layout", ["gate_first", "up_first", "interleaved"])
def test_act_gate_then_up(ops, layout):
    inputs, expected, tolerance = load("act-gate-then-up")
    got = ops.activate(inputs["x"], "swiglu", gate_layout=layout)
    np.testing.assert_allclose(got, expected["by_gate_layout"][layout], tolerance["rtol"])


def test_act_silu_extremes(ops):
    inputs, expected, tolerance = load("act-silu-extremes")
    x = np.concatenate([inputs["gate"], np.ones_like(inputs["gate"])], 1)
    got = ops.activate(x, "swiglu")
    np.testing.assert_allclose(got, expected["out"], tolerance["rtol"], tolerance["atol"])


def test_act_srelu(ops):
    inputs, expected, _ = load("act-srelu")
    assert_same(np.abs(ops.activate(inputs["x"], "srelu")), expected["act"], "act")
    q = ops.act_quant(inputs["x"], "srelu", Format("f8E4M3FN", PER_ROW), Recipe())
    assert_same(q.scales.ravel(), expected["scale"], "scale")
    assert_same(q.values, expected["q"], "q")


def test_layout_offset_scale(ops):
    inputs, expected, _ = load("layout-offset-scale")
    view = inputs["b_scale"]
    scales = view["buffer"][view["offset"] :][: view["length"]].reshape(-1, 1)
    b = Scaled(Format("i8", PER_ROW), inputs["b_nk"], scales)
    assert_same(ops.matmul(inputs["a"], b), expected["out"])


def test_verify_scale_count():
    """verify-scale-count: refused at parsing, with both numbers."""
    text = """
    func.func @f(%v: tensor<2x8x16xi8>, %s: tensor<2x4x1xf32>)
        -> tensor<2x8x16x!moeq.scaled<i8, block = [*], scale = f32>> {
      %0 = moeq.pack %v, %s : tensor<2x8x16xi8>, tensor<2x4x1xf32>
          -> tensor<2x8x16x!moeq.scaled<i8, block = [*], scale = f32>>
      return %0 : tensor<2x8x16x!moeq.scaled<i8, block = [*], scale = f32>>
    }"""
    with pytest.raises(moeq.Error) as error:
        moeq.parse(text)
    (diagnostic,) = error.value.diagnostics
    assert diagnostic.severity == "error" and diagnostic.line == 4
    assert "2x8x1xf32" in diagnostic.message and "2x4x1xf32" in diagnostic.message
