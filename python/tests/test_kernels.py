"""The kernels of every op but the tensor-core matmul, executed without a GPU."""

import re
from pathlib import Path

import numpy as np
import pytest

import moeq
from reference import compare, formats, routing
from reference.activation import GATED, activate_f64
from reference.matmul import grouped_matmul, matmul
from reference.quantize import dequantize, quantize, recipe
from reference.scaled import WHOLE, Format, Scaled
from simt import Machine

OUTLINE = "moeq-outline-kernels,canonicalize,cse"


def run(text: str, *arrays, branch=None) -> None:
    """Runs the kernels of @f of `text` on arrays, those that it writes in place; where the
    host branches, those of `branch` unless it is None. The loops that the CPU runs give the
    same bits."""
    on_cpu = [array.copy() for array in arrays]
    names = [f"arg{i}" for i in range(len(arrays))]
    moeq.run(moeq.parse(text), "f", dict(zip(names, on_cpu, strict=True)))
    module = moeq.parse(text).run_pipeline(OUTLINE)
    Machine(module.print(generic=True), branch).run("f", arrays)
    for name, array, other in zip(names, arrays, on_cpu, strict=True):
        compare.assert_same(array, other, name)


def memref(shape, element: str) -> str:
    """A memref type; None is a dynamic extent."""
    return "memref<" + "".join(f"{'?' if n is None else n}x" for n in shape) + f"{element}>"


@pytest.fixture
def rng():
    return np.random.default_rng(7)


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize(
    ("tokens", "k", "experts"), [(0, 2, 8), (1, 2, 8), (65, 1, 3), (1100, 4, 8)]
)
def test_group(rng, tokens, k, experts, mapped):
    known = 16 if mapped else experts
    run_map = f"expert_map(%map : memref<{known}xi32>)" if mapped else ""
    text = f"""
    func.func @f(%ids: memref<?x{k}xi32>, %w: memref<?x{k}xf32>, %map: memref<{known}xi32>,
        %rows: memref<?xi32>, %slots: memref<?x{k}xi32>, %offsets: memref<{experts + 1}xi32>,
        %padded: memref<{experts + 1}xi32>, %sorted: memref<?xf32>) {{
      moeq.group ids(%ids : memref<?x{k}xi32>) {run_map} weights(%w : memref<?x{k}xf32>)
          outs(%rows, %slots, %offsets
               : memref<?xi32>, memref<?x{k}xi32>, memref<{experts + 1}xi32>)
          padded_offsets(%padded : memref<{experts + 1}xi32>)
          sorted_weights(%sorted : memref<?xf32>)
      return
    }}"""
    ids = rng.integers(-1, known + 2, (tokens, k)).astype(np.int32)
    weights = rng.random((tokens, k)).astype(np.float32)
    expert_map = rng.integers(-1, experts, known).astype(np.int32)
    expected = routing.group(ids, experts, expert_map if mapped else None, weights)
    outs = [np.full_like(e, 77) for e in expected]
    run(text, ids, weights, expert_map, *outs)
    for out, value in zip(outs, expected, strict=True):
        np.testing.assert_array_equal(out, value)


@pytest.mark.parametrize(
    ("tokens", "rows", "columns"),
    [(5, 9, 4096), (5, 0, 64), (7, 33, 100), (3, 4, 33), (6, 70, 512)],
)
def test_gather(rng, tokens, rows, columns):
    blocks = -(-columns // 32)
    values, scales = f"memref<?x{columns}xf8E4M3FN>", f"memref<?x{blocks}xf32>"
    text = f"""
    !a = !moeq.scaled<f8E4M3FN, block = [32], scale = f32>
    func.func @f(%q: {values}, %s: {scales}, %rows: memref<?xi32>, %qo: {values}, %so: {scales}) {{
      moeq.gather input(%q, %s : {values}, {scales} as !a) rows(%rows : memref<?xi32>)
          outs(%qo, %so : {values}, {scales} as !a)
      return
    }}"""
    q = rng.integers(0, 256, (tokens, columns)).astype(np.uint8)
    s = rng.random((tokens, blocks)).astype(np.float32)
    index = rng.integers(-1, tokens, rows).astype(np.int32)
    q_out, s_out = np.full((rows, columns), 3, np.uint8), np.full((rows, blocks), 3, np.float32)
    expected = routing.gather(q, index, q_out.copy()), routing.gather(s, index, s_out.copy())
    run(text, q, s, index, q_out, s_out)
    np.testing.assert_array_equal(q_out, expected[0])
    np.testing.assert_array_equal(s_out, expected[1])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(
    ("tokens", "rows", "columns", "k", "element"),
    [
        (0, 3, 64, 2, "bf16"),
        (3, 4, 7168, 8, "bf16"),
        (37, 99, 100, 3, "f16"),
        (9, 4, 33, 1, "f32"),
    ],
)
def test_combine(rng, tokens, rows, columns, k, element, weighted):
    matrix, choices = f"memref<?x{columns}x{element}>", f"memref<?x{k}x"
    text = f"""
    func.func @f(%x: {matrix}, %slots: {choices}i32>, %w: {choices}f32>, %y: {matrix}) {{
      moeq.combine input(%x : {matrix}) slots(%slots : {choices}i32>)
          {f"weights(%w : {choices}f32>)" if weighted else ""} outs(%y : {matrix})
      return
    }}"""
    x = rng.standard_normal((rows, columns)).astype(formats.STORAGE[element])
    slots = rng.integers(-1, rows, (tokens, k)).astype(np.int32)
    weights = rng.random((tokens, k)).astype(np.float32)
    y = np.full((tokens, columns), 7, formats.STORAGE[element])
    run(text, x, slots, weights, y)
    expected = routing.combine(x, slots, weights if weighted else None, element)
    np.testing.assert_array_equal(y, expected)


@pytest.mark.parametrize(("rows", "columns"), [(0, 3), (5, 70)])
def test_elementwise(rng, rows, columns):
    text = f"""
    #id = affine_map<(i, j) -> (i, j)>
    #row = affine_map<(i, j) -> (j)>
    func.func @f(%x: memref<?x{columns}xf32>, %b: memref<{columns}xf32>, %t: memref<?x?xf32>,
        %y: memref<?x{columns}xf32>, %z: memref<?x{columns}xf32>) {{
      linalg.generic {{indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]}}
          ins(%x, %b : memref<?x{columns}xf32>, memref<{columns}xf32>)
          outs(%y : memref<?x{columns}xf32>) {{
      ^bb0(%a: f32, %c: f32, %o: f32):
        %i = linalg.index 0 : index
        %j = linalg.index 1 : index
        %t0 = memref.load %t[%j, %i] : memref<?x?xf32>
        %s = arith.addf %a, %c : f32
        %r = arith.mulf %s, %t0 : f32
        linalg.yield %r : f32
      }}
      memref.copy %y, %z : memref<?x{columns}xf32> to memref<?x{columns}xf32>
      return
    }}"""
    x, bias, t = (
        rng.random(s).astype(np.float32) for s in [(rows, columns), columns, (columns, rows)]
    )
    y, z = np.zeros_like(x), np.zeros_like(x)
    run(text, x, bias, t, y, z)
    np.testing.assert_array_equal(y, (x + bias) * t.T)
    np.testing.assert_array_equal(z, y)


@pytest.mark.parametrize(
    ("tokens", "experts", "k", "options"),
    [
        (0, 8, 2, {"score": "softmax"}),
        (9, 8, 2, {"score": "softmax", "renormalize": True}),
        (6, 60, 4, {"score": "softmax", "scale": 0.5, "element": "bf16"}),
        (6, 1024, 3, {"score": "softmax", "bias": True}),
        (6, 100, 4, {"score": "sigmoid", "groups": (5, 2, "max")}),
        (6, 256, 8, {"score": "sigmoid", "groups": (8, 4, "top2_sum"), "bias": True}),
        (6, 128, 8, {"score": "sigmoid", "groups": (64, 4, "top2_sum"), "renormalize": True}),
    ],
)
def test_route(rng, tokens, experts, k, options):
    element, score = options.get("element", "f32"), options["score"]
    scale, groups = options.get("scale", 1.0), options.get("groups")
    logits_type, bias_type = f"memref<?x{experts}x{element}>", f"memref<{experts}xf32>"
    ids_type, weights_type = f"memref<?x{k}xi32>", f"memref<?x{k}xf32>"
    group_text = "n_group({}) topk_group({}) group_score({})".format(*groups) if groups else ""
    text = f"""
    func.func @f(%l: {logits_type}, %b: {bias_type}, %i: {ids_type}, %w: {weights_type}) {{
      moeq.route logits(%l : {logits_type}) {f"bias(%b : {bias_type})" if "bias" in options else ""}
          outs(%i, %w : {ids_type}, {weights_type}) score({score})
          {"renormalize" if "renormalize" in options else ""} scale({scale}) {group_text}
      return
    }}"""
    logits = (rng.standard_normal((tokens, experts)) * 2).astype(formats.STORAGE[element])
    if tokens:
        logits[0] = 1  # ties
        logits[1, 3] = np.nan
        logits[2, :4] = logits[2, 4]
        logits[3, 5] = -np.inf
    bias = rng.standard_normal(experts).astype(np.float32)
    ids, weights = np.full((tokens, k), -7, np.int32), np.zeros((tokens, k), np.float32)
    run(text, logits, bias, ids, weights)
    scores = routing.scores(logits.astype(np.float32), score)
    chosen = routing.select(
        scores.astype(np.float32),
        k,
        bias if "bias" in options else None,
        *(groups or (None, None, "max")),
    )
    np.testing.assert_array_equal(ids, chosen)
    expected = routing.route_weights(scores, chosen, "renormalize" in options, scale)
    np.testing.assert_allclose(weights, expected, rtol=2e-6)


@pytest.mark.parametrize(
    ("function", "columns", "element", "options"),
    [
        ("swiglu", 4096, "bf16", {}),
        ("swiglu", 9000, "f32", {"gate_layout": "up_first"}),
        ("geglu", 33, "bf16", {"row_weight": True}),
        ("clamped_swiglu", 96, "f16", {"gate_layout": "interleaved"}),
        ("reglu", 15, "bf16", {"gate_layout": "interleaved"}),
        ("swiglu", 192, "bf16", {"gate_layout": "interleaved_64"}),
        ("gelu_tanh", 640, "bf16", {}),
        ("srelu", 17, "f16", {}),
    ],
)
def test_activate(rng, function, columns, element, options):
    layout = options.get("gate_layout", "gate_first")
    inputs = columns * (2 if function in GATED else 1)
    in_type, out_type = f"memref<?x{inputs}x{element}>", f"memref<?x{columns}x{element}>"
    weight_text = "row_weight(%w : memref<?xf32>)" if "row_weight" in options else ""
    text = f"""
    func.func @f(%x: {in_type}, %w: memref<?xf32>, %y: {out_type}) {{
      moeq.activate input(%x : {in_type}) {weight_text} outs(%y : {out_type}) function({function})
          {f"gate_layout({layout})" if function in GATED else ""}
      return
    }}"""
    x = (rng.standard_normal((5, inputs)) * 1.5).astype(formats.STORAGE[element])
    weight = rng.random(5).astype(np.float32)
    y = np.zeros((5, columns), formats.STORAGE[element])
    run(text, x, weight, y)
    expected = activate_f64(
        x,
        function,
        gate_layout=layout,
        row_weight=weight if "row_weight" in options else None,
    )
    compare.assert_ulps(y, expected, element, 4)


def component_types(format_: Format, arrays) -> list[str]:
    """The memref types of the components of a scaled tensor, rows dynamic."""
    storage = ["i8" if formats.is_packed(format_.value) else format_.value, format_.scale]
    elements = [*storage, format_.zero][: len(arrays)]
    return [memref((None, *a.shape[1:]), e) for a, e in zip(arrays, elements, strict=True)]


def quantize_case(text: str, inputs, expected: Scaled) -> None:
    """Runs a quantizing op; `text` has {arguments} and {outs} to fill in."""
    want = expected.components()
    types = component_types(expected.format, want)
    names = [f"%o{i}" for i in range(len(want))]
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    outs = f"outs({', '.join(names)} : {', '.join(types)} as {expected.format})"
    got = [np.full(w.shape, 9, w.dtype) for w in want]
    run(text.format(arguments=arguments, outs=outs), *inputs, *got)
    for g, w in zip(got, want, strict=True):
        compare.assert_same(g.view(w.dtype), w)


QUANTIZATIONS = [
    (Format("f8E4M3FN", (WHOLE,)), "vllm_token", (5, 4096), "bf16"),
    (Format("f8E4M3FN", (WHOLE,)), "deepgemm", (3, 9000), "f32"),
    (Format("f8E4M3FN", (WHOLE,)), "vllm_token", (300, 40), "f16"),
    (Format("f8E4M3FN", (128,)), "deepgemm", (5, 4096), "bf16"),
    (Format("f8E4M3FN", (128,)), "vllm_group", (5, 300), "bf16"),
    (Format("f8E4M3FN", (48,)), "torchao", (5, 100), "f32"),
    (Format("f8E4M3FN", (32,), "f8E8M0FNU"), "te_mx", (5, 2880), "bf16"),
    (Format("f8E5M2", (32,), "f8E8M0FNU"), "ocp", (5, 33), "f32"),
    (Format("f8E4M3FN", (WHOLE, WHOLE)), "te", (70, 512), "bf16"),
    (Format("f8E4M3FN", (WHOLE, WHOLE)), "te", (2, 3, 33), "f32"),
    (Format("f8E4M3FN", (128, 128)), "torchao", (150, 200), "f32"),
    (Format("i8", (WHOLE,)), "int8_sym", (5, 2048), "bf16"),
    (Format("i8", (WHOLE,), "f32", "i8"), "int8_asym", (5, 130), "f32"),
    (Format("i4", (32,), "bf16"), "int4_sym", (5, 64), "f32"),
    (Format("i4", (WHOLE,)), "int4_sym", (5, 33), "f32"),
    (Format("ui4", (128,), "f32", "i8"), "awq", (5, 256), "bf16"),
    (Format("ui4", (WHOLE,), "f32", "i8"), "awq", (5, 35), "f32"),
]


@pytest.mark.parametrize(("format_", "preset", "shape", "element"), QUANTIZATIONS)
def test_quantize(rng, format_, preset, shape, element):
    x = (rng.standard_normal(shape) * 4).astype(formats.STORAGE[element])
    x[0, ..., 1] = np.nan if "int" not in preset and len(shape) == 2 else 0
    x[1] = 0
    x[2 % shape[0], ..., -1] = 3e4
    in_type = memref((None, *shape[1:]), element)
    text = f"""
    func.func @f(%x: {in_type}, {{arguments}}) {{{{
      moeq.quantize input(%x : {in_type}) {{outs}} recipe(<{preset}>)
      return
    }}}}"""
    quantize_case(text, [x], quantize(x.astype(np.float32), format_, recipe(preset)))


@pytest.mark.parametrize("count", [0, 9, 70])
@pytest.mark.parametrize(
    ("format_", "preset"),
    [(Format("f8E4M3FN", (WHOLE,)), "vllm_token"), (Format("f8E4M3FN", (128,)), "deepgemm")],
)
def test_quantize_rows(rng, format_, preset, count):
    x = rng.standard_normal((5, 384)).astype(formats.STORAGE["bf16"])
    rows = rng.integers(-1, 5, count).astype(np.int32)
    whole = quantize(x.astype(np.float32), format_, recipe(preset))
    init = Scaled(
        format_,
        np.full((count, 384), 9, np.uint8),
        np.full((count, whole.scales.shape[1]), 9, np.float32),
    )
    in_type = memref((None, 384), "bf16")
    text = f"""
    func.func @f(%x: {in_type}, %rows: memref<?xi32>, {{arguments}}) {{{{
      moeq.quantize input(%x : {in_type}) rows(%rows : memref<?xi32>) {{outs}} recipe(<{preset}>)
      return
    }}}}"""
    quantize_case(text, [x, rows], routing.gather(whole, rows, init))


@pytest.mark.parametrize(
    ("function", "columns", "round_", "format_", "preset", "layout"),
    [
        ("swiglu", 4096, "bf16", Format("f8E4M3FN", (WHOLE,)), "vllm_token", "gate_first"),
        ("swiglu", 9000, "none", Format("f8E4M3FN", (128,)), "vllm_group", "up_first"),
        (
            "clamped_swiglu",
            96,
            "bf16",
            Format("f8E4M3FN", (32,), "f8E8M0FNU"),
            "te_mx",
            "interleaved",
        ),
        ("geglu", 33, "f16", Format("i8", (WHOLE,)), "int8_sym", "interleaved"),
        ("gelu", 64, "bf16", Format("f8E4M3FN", (WHOLE, WHOLE)), "te", None),
    ],
)
def test_act_quant(rng, function, columns, round_, format_, preset, layout):
    inputs = columns * (2 if layout else 1)
    x = (rng.standard_normal((7, inputs)) * 2).astype(formats.STORAGE["bf16"])
    element = "f32" if round_ == "none" else round_
    in_type, out_type = memref((None, inputs), "bf16"), memref((None, columns), element)
    options = f"function({function}) {f'gate_layout({layout})' if layout else ''}"
    activated = np.zeros((7, columns), formats.STORAGE[element])
    run(
        f"""
        func.func @f(%x: {in_type}, %y: {out_type}) {{
          moeq.activate input(%x : {in_type}) outs(%y : {out_type}) {options}
          return
        }}""",
        x,
        activated,
    )
    text = f"""
    func.func @f(%x: {in_type}, {{arguments}}) {{{{
      moeq.act_quant input(%x : {in_type}) {{outs}} {options} intermediate_round({round_})
          recipe(<{preset}>)
      return
    }}}}"""
    expected = quantize(activated.astype(np.float32), format_, recipe(preset))
    quantize_case(text, [x], expected)


@pytest.mark.parametrize(
    ("format_", "shape", "element"),
    [
        (Format("f8E4M3FN", (WHOLE,)), (5, 4096), "bf16"),
        (Format("f8E4M3FN", (128, 128)), (150, 200), "f32"),
        (Format("f8E5M2", (32,), "f8E8M0FNU"), (5, 80), "f32"),
        (Format("f8E4M3FN", (32,), "f8E8M0FNU"), (3, 37, 96), "bf16"),
        (Format("i8", (WHOLE, WHOLE)), (2, 7, 33), "f16"),
        (Format("i4", (32,), "bf16"), (3, 2, 64), "f32"),
        (Format("ui4", (4,), "f32", "i8"), (9, 33), "f32"),
        (Format("f4E2M1FN", (32,), "f8E8M0FNU"), (9, 320), "bf16"),
    ],
)
def test_dequantize(rng, format_, shape, element):
    scale_shape = format_.scale_shape(shape)
    codes = rng.integers(0, 15 if formats.is_packed(format_.value) else 100, shape)
    values = codes.astype(formats.STORAGE[format_.value])
    if format_.scale == "f8E8M0FNU":
        scales = rng.integers(100, 140, scale_shape).astype(np.uint8)
    else:
        scales = rng.random(scale_shape).astype(formats.STORAGE[format_.scale])
    zeros = rng.integers(0, 15, scale_shape).astype(np.int8) if format_.zero else None
    if format_.value == "i4":
        values = (values ^ 8) - 8
    q = Scaled(format_, values, scales, zeros)
    arrays = q.components()
    types = component_types(format_, arrays)
    out = memref((None, *shape[1:]), element)
    names = [f"%c{i}" for i in range(len(types))]
    text = f"""
    func.func @f({", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))}, %y: {out}) {{
      moeq.dequantize input({", ".join(names)} : {", ".join(types)} as {format_}) outs(%y : {out})
      return
    }}"""
    y = np.zeros(shape, formats.STORAGE[element])
    run(text, *arrays, y)
    compare.assert_same(y, dequantize(q, element))


MATMULS = [
    ("f32", "f32", 20, 7, 33),
    ("bf16", "bf16", 5, 30, 17),
    (Format("f8E4M3FN", (WHOLE,)), Format("f8E5M2", (WHOLE,)), 5, 9, 100),
    (Format("f8E4M3FN", (128,)), Format("f8E4M3FN", (128, 128)), 3, 130, 300),
    (Format("f8E4M3FN", (32,), "f8E8M0FNU"), Format("f8E4M3FN", (32,), "f8E8M0FNU"), 5, 9, 100),
    (Format("i8", (WHOLE,)), Format("i4", (64,)), 5, 9, 128),
    ("bf16", Format("ui4", (32,), "bf16", "i8"), 5, 9, 66),
    ("bf16", Format("f4E2M1FN", (32,), "f8E8M0FNU"), 5, 9, 64),
]


def random_operand(rng, format_, shape):
    """Numbers of a plain element type, or a scaled tensor."""
    x = rng.standard_normal(shape).astype(np.float32)
    if isinstance(format_, str):
        return x.astype(formats.STORAGE[format_]), [memref((None, *shape[1:]), format_)]
    if formats.is_packed(format_.value):
        codes = rng.integers(0, 15, shape)
        values = codes - 8 * (format_.value == "i4")
        scales = np.abs(rng.standard_normal(format_.scale_shape(shape))) + 0.1
        scales = (
            rng.integers(120, 130, scales.shape).astype(np.uint8)
            if format_.scale == "f8E8M0FNU"
            else scales.astype(formats.STORAGE[format_.scale])
        )
        zeros = rng.integers(0, 15, scales.shape).astype(np.int8) if format_.zero else None
        x = Scaled(format_, values.astype(formats.STORAGE[format_.value]), scales, zeros)
    else:
        preset = "ocp" if format_.scale == "f8E8M0FNU" else "amax"
        x = quantize(x, format_, recipe(preset))
    return x, component_types(format_, x.components())


def operand_text(name, format_, types):
    names = [f"%{name}{i}" for i in range(len(types))]
    as_ = "" if isinstance(format_, str) else f" as {format_}"
    arguments = ", ".join(f"{n}: {t}" for n, t in zip(names, types, strict=True))
    return arguments, f"({', '.join(names)} : {', '.join(types)}{as_})"


def arrays_of(x):
    return x.components() if isinstance(x, Scaled) else [x]


@pytest.mark.parametrize(("left", "right", "rows", "columns", "depth"), MATMULS)
def test_matmul(rng, left, right, rows, columns, depth):
    """The general kernel; the remark says why it is taken."""
    a, a_types = random_operand(rng, left, (rows, depth))
    b, b_types = random_operand(rng, right, (columns, depth))
    a_arguments, a_text = operand_text("a", left, a_types)
    b_arguments, b_text = operand_text("b", right, b_types)
    out = memref((None, None), "f32")
    text = f"""
    func.func @f({a_arguments}, {b_arguments}, %bias: memref<?xf32>, %c: {out}) {{
      moeq.matmul lhs{a_text} rhs{b_text} outs(%c : {out})
          epilogue(%bias : memref<?xf32>) maps [column] {{
        ^bb0(%acc: f32, %row: index, %column: index, %b: f32):
          %s = arith.addf %acc, %b : f32
          moeq.yield %s : f32
      }}
      return
    }}"""
    bias = rng.standard_normal(columns).astype(np.float32)
    c = np.full((rows, columns), np.nan, np.float32)
    run(text, *arrays_of(a), *arrays_of(b), bias, c)
    expected = matmul(a, b)
    expected.value += bias
    expected.error += 2.0**-23 * (np.abs(expected.value) + np.abs(bias))
    compare.assert_within(c, expected, "f32")


@pytest.mark.parametrize("counts", [(3, 0, 0, 5, 2), (0, 0, 0, 0, 0), (0, 9, 0, 0, 0)])
def test_grouped_matmul(rng, counts):
    left, right = Format("f8E4M3FN", (WHOLE,)), Format("f8E4M3FN", (WHOLE,))
    rows, columns, depth, experts = 12, 19, 50, len(counts)
    a, a_types = random_operand(rng, left, (rows, depth))
    b, b_types = random_operand(rng, right, (experts, columns, depth))
    a_arguments, a_text = operand_text("a", left, a_types)
    b_arguments, b_text = operand_text("b", right, b_types)
    out, offsets_type = memref((None, columns), "bf16"), f"memref<{experts + 1}xi32>"
    b_arguments = b_arguments.replace("memref<?x", f"memref<{experts}x")
    b_text = b_text.replace("memref<?x", f"memref<{experts}x")
    text = f"""
    func.func @f({a_arguments}, {b_arguments}, %o: {offsets_type}, %c: {out}) {{
      moeq.grouped_matmul lhs{a_text} rhs{b_text} offsets(%o : {offsets_type}) outs(%c : {out})
      return
    }}"""
    offsets = np.cumsum([0, *counts]).astype(np.int32)
    # Rows outside of every group are not read.
    a.values[offsets[-1] :] = 0x7F
    c = np.full((rows, columns), 7, formats.STORAGE["bf16"])
    init = c.copy()
    run(text, *a.components(), *b.components(), offsets, c)
    compare.assert_within(c, grouped_matmul(a, b, offsets, init), "bf16")
    np.testing.assert_array_equal(c[offsets[-1] :], init[offsets[-1] :])


EXAMPLES = Path(__file__).parents[2] / "examples"


TINY = [f for f in sorted(EXAMPLES.glob("*tiny*.mlir")) if "moeq.experts" in f.read_text()]
LAYER = "moeq-decompose,moeq-fuse"
LINEAR = f"{LAYER},moeq-decompose{{form=linear device-offsets=true}}"
MIXTRAL = [file for file in TINY if file.stem.startswith("mixtral")]
LAYERS = [(file, tokens, LAYER) for file in TINY for tokens in (0, 1, 9)]
LAYERS += [(file, tokens, LINEAR) for file in MIXTRAL for tokens in (0, 5)]


# moeq-to-kernels without moeq-select-config, for which a given config is a must.
TO_KERNELS = (
    "builtin.module(moeq-attach-target{chip=sm_80},moeq-unpack-scaled,"
    "one-shot-bufferize{bufferize-function-boundaries=true "
    "function-boundary-type-conversion=identity-layout-map},canonicalize,cse,"
    "moeq-outline-kernels,moeq-overlap-kernels,canonicalize,cse,lower-affine)"
)


def without_tensor_cores(module, form):
    """The layer in parts, its matmuls with a config that sm_80 has no tensor-core kernel of."""
    text = module.run_pipeline(f"builtin.module({form})").print(generic=True)
    config = "config = #moeq.config<tile = [64, 64], consumers = 1, schedule = simple>"
    return moeq.parse(re.sub(r'("moeq\.\w*matmul"\([^)]*\) <\{)', rf"\1{config}, ", text))


@pytest.mark.parametrize(("file", "tokens", "form"), LAYERS, ids=lambda p: getattr(p, "stem", p))
def test_layer(rng, file, tokens, form):
    """A whole layer by kernels, the matmuls without tensor cores: the bits of the CPU.
    Also with a matmul an expert, which finds its rows on the device."""
    module = moeq.parse(file.read_text())
    entry = re.search(r"func\.func @(\w+)", file.read_text())[1]
    arguments, _ = module.signature(entry)
    inputs = {}
    for argument in arguments:
        shape = [tokens if n < 0 else n for n in argument.shape]
        if argument.element in ("f8E8M0FNU", "f8E4M3FN", "i8"):
            low, high = (120, 124) if argument.element == "f8E8M0FNU" else (0, 120)
            value = rng.integers(low, high, shape).astype(np.uint8)
        elif argument.element == "i32":
            value = rng.integers(-1, 4, shape).astype(np.int32)
        else:
            value = rng.standard_normal(shape) / (20 if "." in argument.name else 1)
            value = value.astype(formats.STORAGE[argument.element])
        inputs[argument.name] = value
    (expected,) = moeq.run(module, entry, inputs)
    module = without_tensor_cores(module, form)
    module.run_pipeline(TO_KERNELS)
    arrays = [inputs[a.name] for a in arguments]
    (got,) = Machine(module.print(generic=True)).run(entry, arrays)
    compare.assert_same(got.astype(np.float32), expected.view(got.dtype).astype(np.float32))


@pytest.mark.parametrize("element", ["f8E4M3FN", "f8E5M2"])
def test_conversions(rng, element):
    """Every f16, and f32 of random bits, to fp8; every code back."""
    text = f"""
    #id = affine_map<(i) -> (i)>
    func.func @f(%x: memref<?xf32>, %codes: memref<?x{element}>, %back: memref<?xf32>) {{
      linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
          ins(%x : memref<?xf32>) outs(%codes : memref<?x{element}>) {{
      ^bb0(%a: f32, %o: {element}):
        %r = arith.truncf %a : f32 to {element}
        linalg.yield %r : {element}
      }}
      linalg.generic {{indexing_maps = [#id, #id], iterator_types = ["parallel"]}}
          ins(%codes : memref<?x{element}>) outs(%back : memref<?xf32>) {{
      ^bb0(%a: {element}, %o: f32):
        %r = arith.extf %a : {element} to f32
        linalg.yield %r : f32
      }}
      return
    }}"""
    halves = np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    words = rng.integers(0, 1 << 32, 1 << 13, dtype=np.uint64).astype(np.uint32).view(np.float32)
    x = np.concatenate([halves, words])
    x[np.isnan(x)] = np.nan  # NumPy warns of signalling ones
    codes, back = np.zeros(len(x), np.uint8), np.zeros_like(x)
    run(text, x, codes, back)
    np.testing.assert_array_equal(codes, formats.encode(x, element))
    np.testing.assert_array_equal(back, formats.decode(codes, element))
