"""Checks the ops of a function one by one: given the inputs that each had, the model
of the op says what its results may be."""

import re
from dataclasses import dataclass

import numpy as np

from reference import compare, formats, routing, smooth
from reference.activation import act_quant, activate_f64, gradient_factors
from reference.generic import Op
from reference.matmul import Bounded, contract_rows, grouped_matmul, matmul
from reference.quantize import dequantize, parse_recipe, quantize
from reference.scaled import Format, Scaled

# The operand groups of each op, in the order of its segments.
GROUPS = {
    "moeq.quantize": ("input", "rows", "offsets", "outs", "columnwise"),
    "moeq.dequantize": ("input", "outs"),
    "moeq.route": ("logits", "bias", "ids", "weights"),
    "moeq.group": (
        "ids", "expert_map", "weights", "rows", "slots", "offsets", "padded_offsets",
        "sorted_weights",
    ),
    "moeq.gather": ("input", "rows", "outs"),
    "moeq.combine": ("input", "slots", "weights", "outs"),
    "moeq.activate": ("input", "row_weight", "outs"),
    "moeq.activate_grad": ("grad", "input", "row_weight", "outs"),
    "moeq.act_quant": ("input", "row_weight", "offsets", "outs", "columnwise"),
    "moeq.act_quant_grad": (
        "grad", "input", "row_weight", "offsets", "outs", "columnwise", "bias_grad",
    ),
    "moeq.matmul": ("lhs", "rhs", "epilogue_operands", "outs"),
    "moeq.grouped_matmul": (
        "lhs", "rhs", "offsets", "counts", "rows", "plan", "epilogue_operands", "outs",
    ),
    "moeq.smooth": ("amax", "weight", "outs"),
    "moeq.experts": (
        "hidden", "logits", "w13", "w2", "router_bias", "bias13", "bias2", "expert_map", "outs",
    ),
}  # fmt: skip
# The groups without segments where their number is that of the operands.
OPTIONAL = {"bias", "weights", "row_weight"}
FUNCTIONS = (
    "identity", "relu", "srelu", "silu", "gelu", "gelu_tanh", "swiglu", "geglu", "reglu",
    "clamped_swiglu",
)  # fmt: skip
ENUMS = {
    "score": ("softmax", "sigmoid"),
    "group_score": ("max", "top2_sum"),
    "function": FUNCTIONS,
    "gate_layout": ("gate_first", "up_first", "interleaved", "interleaved_64"),
    "intermediate_round": ("none", "bf16", "f16"),
    "exp": ("ieee", "approx"),
}


@dataclass
class Outcome:
    """How a result compared: `error` is at most `bound`, in `unit`."""

    error: float
    bound: float
    unit: str


EQUAL = Outcome(0, 0, "bits")


def element_type(text: str) -> str:
    """The element type of a tensor type."""
    return re.fullmatch(r"tensor<(?:[\d?]+x)*(.*)>", text).group(1)


def operand_groups(op: Op, values: dict) -> dict:
    """The operands by their groups: a value, a list for epilogue operands, else None."""
    names = GROUPS[op.name]
    if segments := op.attributes.get("operandSegmentSizes"):
        sizes = [int(n) for n in re.findall(r"\d+", segments.split(":")[1])]
    else:
        absent = len(names) - len(op.operands)
        sizes = [0 if name in OPTIONAL and absent > 0 else 1 for name in names]
    found, at = {}, 0
    for name, size in zip(names, sizes, strict=True):
        group = [values[operand] for operand in op.operands[at : at + size]]
        found[name] = group if name == "epilogue_operands" else (group or [None])[0]
        at += size
    return found


def options(op: Op, names) -> dict:
    """Those attributes of `names` that the op has, as Python values."""
    found = {}
    for name in names:
        text = op.attributes.get(name)
        if text is None:
            continue
        if name in ENUMS:
            found[name] = ENUMS[name][int(text.split(":")[0])]
        elif not text:
            found[name] = True
        elif text.startswith("#moeq.recipe"):
            found[name] = parse_recipe(text)
        elif text.startswith("!moeq.scaled"):
            found[name] = Format.parse(text)
        else:
            number = float(text.split(":")[0])
            found[name] = int(number) if text.endswith("i64") else number
    return found


ACTIVATION = ("gate_layout", "limit", "alpha")


def check_quantized(got: Scaled, want: Scaled, written) -> Outcome:
    for part in ("values", "scales", "zeros"):
        a, b = getattr(got, part), getattr(want, part)
        if b is not None:
            rows = written if len(b) == len(written) else slice(None)
            compare.assert_same(a[rows], b[rows], part)
    return EQUAL


def check_op(op: Op, values: dict, results: list) -> Outcome:
    """Compares the results of an op with its model; an AssertionError where they differ."""
    inputs = operand_groups(op, values)
    element = element_type(op.result_types[0])
    match op.name:
        case "moeq.quantize":
            x, rows, got = inputs["input"], inputs["rows"], results[0]
            if rows is not None:
                x = x[np.maximum(rows, 0)] if len(x) else x
            written = np.ones(len(got.values), bool) if rows is None else rows >= 0
            recipe = parse_recipe(op.attributes["recipe"])
            return check_quantized(got, quantize(x, Format.parse(element), recipe), written)
        case "moeq.dequantize":
            compare.assert_same(results[0], dequantize(inputs["input"], element))
            return EQUAL
        case "moeq.route":
            return check_route(op, inputs, *results)
        case "moeq.group":
            experts = len(results[2]) - 1
            want = routing.group(inputs["ids"], experts, inputs["expert_map"], inputs["weights"])
            kept = [*want[:3]]
            kept += [want[3]] if inputs["padded_offsets"] is not None else []
            kept += [want[4]] if len(results) > len(kept) else []
            for got, expected in zip(results, kept, strict=True):
                compare.assert_same(got, expected)
            return EQUAL
        case "moeq.gather":
            rows, init = inputs["rows"], inputs["outs"]
            written = rows >= 0
            got = results[0]
            if isinstance(got, Scaled):
                want = routing.gather(inputs["input"], rows, got)
                return check_quantized(got, want, written)
            init = got if init is None else init
            compare.assert_same(got, routing.gather(inputs["input"], rows, init))
            return EQUAL
        case "moeq.combine":
            want = routing.combine(inputs["input"], inputs["slots"], inputs["weights"], element)
            compare.assert_same(results[0], want)
            return EQUAL
        case "moeq.activate":
            o = options(op, ACTIVATION)
            function = options(op, ["function"])["function"]
            want = activate_f64(inputs["input"], function, row_weight=inputs["row_weight"], **o)
            return check_ulps(results[0], want, element, 2)
        case "moeq.activate_grad":
            o = options(op, (*ACTIVATION, "function"))
            given = inputs["grad"], inputs["input"], o.pop("function")
            return check_gradient(
                results[0], gradient_factors(*given, row_weight=inputs["row_weight"], **o), element
            )
        case "moeq.act_quant":
            o = options(op, (*ACTIVATION, "intermediate_round", "function"))
            format, recipe = Format.parse(element), parse_recipe(op.attributes["recipe"])
            want = act_quant(
                inputs["input"], o.pop("function"), format, recipe,
                o.pop("intermediate_round", "none"), row_weight=inputs["row_weight"], **o,
            )  # fmt: skip
            return check_close_codes(results[0], want)
        case "moeq.act_quant_grad":
            o = options(op, (*ACTIVATION, "intermediate_round", "function"))
            rounding = o.pop("intermediate_round", "none")
            given = inputs["grad"], inputs["input"], o.pop("function")
            gradient = np.prod(
                gradient_factors(*given, row_weight=inputs["row_weight"], **o), axis=0
            )
            gradient = formats.round_to(gradient, "f32" if rounding == "none" else rounding)
            recipe = parse_recipe(op.attributes["recipe"])
            return check_close_codes(results[0], quantize(gradient, Format.parse(element), recipe))
        case "moeq.matmul" | "moeq.grouped_matmul":
            return check_matmul(op, inputs, results[0], element)
        case "moeq.smooth":
            o = options(op, ("alpha", "floor", "power_of_two"))
            error = smooth.check(results[0], inputs["amax"], inputs["weight"], **o)
            return Outcome(error, smooth.BOUND, "of a factor")
    raise ValueError(f"the reference does not know {op.name}")


def check_route(op: Op, inputs: dict, ids, weights) -> Outcome:
    o = options(op, ("score", "renormalize", "scale"))
    score = routing.scores(inputs["logits"], o.pop("score", "softmax"))
    k, bias = ids.shape[1], inputs["bias"]
    if "n_group" in op.attributes:
        groups = options(op, ("n_group", "topk_group", "group_score"))
        compare.assert_same(ids, routing.select(score, k, bias, **groups), "ids")
        error = compare.assert_route_weights(ids, weights, score, **o)
    else:
        error = compare.assert_route(ids, weights, score, k, bias=bias, **o)
    return Outcome(error, 4 + 4 * o.get("renormalize", False), "ulp")


def check_ulps(got, want, element, limit) -> Outcome:
    compare.assert_ulps(got, want, element, limit)
    return Outcome(float(np.max(compare.ulps(got, want, element), initial=0)), limit, "ulp")


def check_gradient(got, factors, element) -> Outcome:
    """A product of two, of which the second is off by 2^-21."""
    outer, inner = factors
    error = np.abs(outer) * (2.0**-21 + 2.0**-22 * np.abs(inner))
    error = compare.assert_within(got, Bounded(outer * inner, error), element)
    return Outcome(error, 1, "of bound")


def check_close_codes(got: Scaled, want: Scaled) -> Outcome:
    """Quantized values whose numbers were a few ulp apart: a code may be the next one."""
    step = np.abs(got.numbers() - want.numbers())
    unit = np.maximum(np.abs(want.numbers()), 2.0**-6 * np.abs(want.scale_numbers()).max(initial=0))
    error = float(np.max(step / np.where(unit == 0, 1, unit), initial=0))
    assert error <= 0.15, f"quantized values differ by {error} of their size"
    differing = float(np.mean(got.values != want.values)) if got.values.size else 0.0
    assert differing <= 0.01, f"{differing:.1%} of the codes differ"
    return Outcome(differing, 0.01, "of codes")


def check_matmul(op: Op, inputs: dict, got, element: str) -> Outcome:
    lhs, rhs, init = inputs["lhs"], inputs["rhs"], inputs["outs"]
    if op.attributes.get("contract", "0").startswith("1"):
        added = init if "add_to_outs" in op.attributes else None
        want = contract_rows(lhs, rhs, inputs["offsets"], added)
        return Outcome(compare.assert_within(got, want, element), 1, "of bound")
    if "transpose_rhs" in op.attributes:
        rhs = np.swapaxes(rhs, 1, 2)
    rows = len(got)
    inside = np.ones(rows, bool)
    expert_of = np.zeros(rows, np.int64)
    if op.name == "moeq.matmul":
        want = matmul(lhs, rhs)
    else:
        offsets = inputs["offsets"]
        want = grouped_matmul(lhs, rhs, offsets, np.zeros(got.shape))
        expert_of = np.minimum(
            np.searchsorted(offsets[1:], np.arange(rows), side="right"), len(offsets) - 2
        )
        inside = (np.arange(rows) >= offsets[0]) & (np.arange(rows) < offsets[-1])
        if init is not None:
            compare.assert_same(got[~inside], np.asarray(init)[~inside], "rows outside groups")
    if op.regions and op.regions[0]:
        want = apply_epilogue(op, inputs["epilogue_operands"], want, expert_of)
    error = compare.assert_within(
        got[inside], Bounded(want.value[inside], want.error[inside]), element
    )
    return Outcome(error, 1, "of bound")


def apply_epilogue(op: Op, operands, acc: Bounded, expert_of) -> Bounded:
    """The scalar region on every element, at the accumulator and at both ends of its
    bound."""
    block = op.regions[0][0]
    rows, columns = acc.value.shape
    maps = re.findall(r"\d+", op.attributes.get("epilogue_maps", "").partition(":")[2])
    extra = []
    for operand, kind in zip(operands, maps, strict=True):
        if kind == "0":
            extra.append(np.asarray(operand).reshape(rows, 1))
        elif kind == "1" and np.ndim(operand) == 2:
            extra.append(np.asarray(operand)[expert_of])
        else:
            extra.append(np.asarray(operand))

    def run(values):
        environment = {}
        index = np.indices((rows, columns))
        given = [values, index[0], index[1], *(np.broadcast_to(e, acc.value.shape) for e in extra)]
        for (name, _), value in zip(block.arguments, given, strict=True):
            environment[name] = value.astype(np.float64) if value.dtype.kind != "i" else value
        for inner in block.ops:
            arguments = [environment[o] for o in inner.operands]
            if inner.name == "moeq.yield":
                return arguments[0]
            environment[inner.results[0]] = SCALARS[inner.name](inner, *arguments)
        raise ValueError("the epilogue has no moeq.yield")

    middle = run(acc.value)
    ends = [run(acc.value + acc.error), run(acc.value - acc.error)]
    error = np.maximum(*(np.abs(end - middle) for end in ends))
    # Each step rounds in f32; a rounding to a narrower type is part of the last one.
    return Bounded(middle, error + len(block.ops) * 2.0**-23 * np.abs(middle))


def constant(op: Op, *_):
    return np.float64(op.attributes["value"].split(":")[0])


SCALARS = {
    "arith.constant": constant,
    "arith.addf": lambda op, a, b: a + b,
    "arith.subf": lambda op, a, b: a - b,
    "arith.mulf": lambda op, a, b: a * b,
    "arith.divf": lambda op, a, b: a / b,
    "arith.maximumf": lambda op, a, b: np.maximum(a, b),
    "arith.maxnumf": lambda op, a, b: np.fmax(a, b),
    "arith.truncf": lambda op, a: (
        formats.round_to(a, op.result_types[0]).astype(np.float64)
        if op.result_types[0] == "f32"
        else a
    ),
    "arith.extf": lambda op, a: a,
    "math.fma": lambda op, a, b, c: a * b + c,
}
