"""One function an op, with the signatures of the reference, that builds MLIR text and
runs it on the CPU through the package. Inits are poisoned, so that an element that is
not written shows."""

from dataclasses import dataclass, field

import numpy as np

import moeq
from reference import formats
from reference.scaled import WHOLE, Format, Scaled

ELEMENTS = {
    np.dtype(np.float32): "f32",
    np.dtype(np.float64): "f64",
    np.dtype(np.float16): "f16",
    np.dtype(formats.BF16): "bf16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int8): "i8",
}


def poison(shape, element: str) -> np.ndarray:
    """NaN, or a code that no result holds."""
    dtype = np.dtype(formats.STORAGE[element])
    if element in ("f32", "f64", "f16", "bf16"):
        return np.full(shape, np.nan, dtype)
    return np.full(shape, -77 if dtype.kind == "i" else 0x5A, dtype)


def poison_scaled(shape, format: Format) -> Scaled:
    scales = format.scale_shape(shape)
    zeros = poison(scales, format.zero) if format.zero else None
    return Scaled(format, poison(shape, format.value), poison(scales, format.scale), zeros)


@dataclass
class Program:
    """A function under construction. `dims` says which extents are dynamic: "static"
    none, "rows" the first of each tensor, "all"."""

    dims: str = "rows"
    arguments: list[str] = field(default_factory=list)
    inputs: list[np.ndarray] = field(default_factory=list)

    def type_of(self, shape, element: str, packed=False) -> str:
        dynamic = {"static": 0, "rows": 1, "all": len(shape)}[self.dims]
        if packed:
            dynamic = min(dynamic, len(shape) - 1)
        extents = ["?" if i < dynamic else str(n) for i, n in enumerate(shape)]
        return f"tensor<{'x'.join([*extents, element])}>"

    def add(self, value, element: str | None = None, static=False) -> tuple[str, str]:
        """An argument that holds `value`: its name and type."""
        name = f"%a{len(self.arguments)}"
        if isinstance(value, Scaled):
            packed = formats.is_packed(value.format.value)
            text = self.type_of(value.shape, str(value.format), packed)
            self.inputs += value.components()
        else:
            value = np.asarray(value)
            element = element or ELEMENTS[value.dtype]
            text = self.type_of(value.shape, element)
            if static:
                text = f"tensor<{'x'.join(map(str, value.shape))}x{element}>"
            self.inputs.append(value)
        self.arguments.append(f"{name}: {text}")
        return name, text

    def text(self, body: str, results: list[str], before: str = "") -> str:
        names = ", ".join(f"%r#{i}" for i in range(len(results)))
        target = "%r" if len(results) == 1 else f"%r:{len(results)}"
        names = "%r" if len(results) == 1 else names
        types = ", ".join(results)
        return (
            f"func.func @f({', '.join(self.arguments)}) -> ({types}) {{\n  {before}\n"
            f"  {target} = {body} -> {types}\n"
            f"  return {names} : {types}\n}}\n"
        )

    def run(
        self, body: str, results: list[str], pipeline: str = "", before: str = ""
    ) -> list[np.ndarray]:
        """Runs `before` and `%r = body -> results` after `pipeline`, and gives the
        arrays back."""
        module = moeq.parse(self.text(body, results, before))
        if pipeline:
            module.run_pipeline(pipeline)
        return moeq.run(module, "f", self.inputs)


def typed(array, element: str) -> np.ndarray:
    """An array of the carrier of `element` in the type of the reference."""
    return array.view(formats.STORAGE[element])


def scaled_result(arrays, format: Format, shape) -> Scaled:
    values = arrays[0].view(np.uint8 if formats.is_packed(format.value) else arrays[0].dtype)
    scales = typed(arrays[1], format.scale)
    zeros = [typed(arrays[2], format.zero)] if format.zero else []
    return Scaled.of_components(format, shape, [values, scales, *zeros])


def quantize(x, format: Format, recipe, rows=None, dims="rows") -> Scaled:
    program = Program(dims)
    a, a_type = program.add(x)
    shape = np.shape(x)
    gathered = ""
    if rows is not None:
        shape = (len(rows), *shape[1:])
        r, r_type = program.add(np.asarray(rows, np.int32))
        gathered = f" rows({r} : {r_type})"
    out, out_type = program.add(poison_scaled(shape, format))
    body = (
        f"moeq.quantize input({a} : {a_type}){gathered} outs({out} : {out_type}) "
        f"recipe({str(recipe).removeprefix('#moeq.recipe')})"
    )
    return scaled_result(program.run(body, [out_type]), format, shape)


def result_shapes(rows, columns, outs, columnwise, offsets) -> list[tuple[int, ...]]:
    """The shapes of the rowwise and the columnwise result of `rows` x `columns` numbers."""
    shapes = []
    if outs:
        shapes.append((rows, columns))
    if columnwise:
        transposed = len(columnwise.block) == 1 or columnwise.block[-1] != 1
        padded = rows if offsets is None else (rows // 128 + len(offsets) - 1) * 128
        shapes.append((columns, padded) if transposed else (rows, columns))
    return shapes


def quantize_both(
    x, recipe, outs: Format | None, columnwise: Format | None, offsets=None, rows=None,
    function=None, intermediate_round="none", grad=None, bias_grad=False, dims="rows", **options,
) -> list:  # fmt: skip
    """quantize, act_quant of a function or act_quant_grad of it for the gradient `grad`, with
    a rowwise and a columnwise result, and the gradient by the bias."""
    program = Program(dims)
    body = f"moeq.{'act_quant' if function else 'quantize'}"
    if grad is not None:
        d, d_type = program.add(grad)
        body += f"_grad grad({d} : {d_type})"
    a, a_type = program.add(x)
    body += f" input({a} : {a_type})"
    if rows is not None:
        r, r_type = program.add(np.asarray(rows, np.int32))
        body += f" rows({r} : {r_type})"
    if offsets is not None:
        o, o_type = program.add(np.asarray(offsets, np.int32), static=True)
        body += f" offsets({o} : {o_type})"
    count = len(x if rows is None else rows)
    columns = x.shape[1] if grad is not None else width(x, function or "identity")
    shapes = result_shapes(count, columns, outs, columnwise, offsets)
    formats_of = [format for format in (outs, columnwise) if format]
    types = []
    for name, format, shape in zip(
        ["outs"] * bool(outs) + ["columnwise"] * bool(columnwise), formats_of, shapes, strict=True
    ):
        out, out_type = program.add(poison_scaled(shape, format))
        body += f" {name}({out} : {out_type})"
        types.append(out_type)
    if bias_grad:
        out, out_type = program.add(poison((len(offsets) - 1, columns), "f32"))
        body += f" bias_grad({out} : {out_type})"
        types.append(out_type)
    if function:
        body += f" function({function}){activation_options(**options)}"
        if intermediate_round != "none":
            body += f" intermediate_round({intermediate_round})"
    body += f" recipe({str(recipe).removeprefix('#moeq.recipe')})"
    arrays, results = program.run(body, types), []
    for format, shape in zip(formats_of, shapes, strict=True):
        parts = 3 if format.zero else 2
        results.append(scaled_result(arrays[:parts], format, shape))
        arrays = arrays[parts:]
    return results + arrays


def dequantize(q: Scaled, element="f32", dims="rows") -> np.ndarray:
    program = Program(dims)
    a, a_type = program.add(q)
    out, out_type = program.add(poison(q.shape, element))
    body = f"moeq.dequantize input({a} : {a_type}) outs({out} : {out_type})"
    return typed(program.run(body, [out_type])[0], element)


def convert(x, source: str, target: str) -> np.ndarray:
    """arith.extf or truncf of each element, through f32 where source is not."""
    program = Program("static")
    a, a_type = program.add(x, source, static=True)
    out, out_type = program.add(poison(np.shape(x), target), target, static=True)
    steps, at = [], source
    if source != "f32":
        steps.append(f"%e = arith.extf %x : {source} to f32")
        at = "f32"
    if target != "f32":
        steps.append(f"%t = arith.truncf %{'e' if steps else 'x'} : {at} to {target}")
    result = "%t" if target != "f32" else "%e"
    maps = ", ".join(2 * ["affine_map<(i) -> (i)>"])
    body = (
        f'linalg.generic {{indexing_maps = [{maps}], iterator_types = ["parallel"]}} '
        f"ins({a} : {a_type}) outs({out} : {out_type}) {{\n"
        f"  ^bb0(%x: {source}, %y: {target}):\n    "
        + "\n    ".join(steps)
        + f"\n    linalg.yield {result} : {target}\n  }}"
    )
    return typed(program.run(body, [out_type])[0], target)


def route(
    logits, k, score="softmax", renormalize=False, scale=None, bias=None,
    n_group=None, topk_group=None, group_score="max", dims="rows",
):  # fmt: skip
    """The ids and weights."""
    program = Program(dims)
    a, a_type = program.add(logits)
    options = f" score({score})" if score != "softmax" else ""
    options += " renormalize" if renormalize else ""
    options += f" scale({np.float32(scale):.8e})" if scale is not None else ""
    options += f" n_group({n_group}) topk_group({topk_group})" if n_group else ""
    options += f" group_score({group_score})" if group_score != "max" else ""
    biased = ""
    if bias is not None:
        b, b_type = program.add(np.asarray(bias, np.float32))
        biased = f" bias({b} : {b_type})"
    ids, ids_type = program.add(poison((len(logits), k), "i32"))
    weights, weights_type = program.add(poison((len(logits), k), "f32"))
    body = (
        f"moeq.route logits({a} : {a_type}){biased} "
        f"outs({ids}, {weights} : {ids_type}, {weights_type}){options}"
    )
    return program.run(body, [ids_type, weights_type])


def group(ids, experts, expert_map=None, weights=None, padded=False, dims="rows"):
    """rows, slots, offsets, and padded offsets and sorted weights where asked for."""
    program = Program(dims)
    ids = np.asarray(ids, np.int32)
    slots_count = ids.size
    a, a_type = program.add(ids)
    options = ""
    if expert_map is not None:
        m, m_type = program.add(np.asarray(expert_map, np.int32))
        options += f" expert_map({m} : {m_type})"
    if weights is not None:
        w, w_type = program.add(np.asarray(weights, np.float32))
        options += f" weights({w} : {w_type})"
    outs = [
        program.add(poison((slots_count,), "i32")),
        program.add(poison(ids.shape, "i32")),
        program.add(poison((experts + 1,), "i32"), static=True),
    ]
    extra = ""
    if padded:
        outs.append(program.add(poison((experts + 1,), "i32"), static=True))
        extra += f" padded_offsets({outs[-1][0]} : {outs[-1][1]})"
    if weights is not None:
        outs.append(program.add(poison((slots_count,), "f32")))
        extra += f" sorted_weights({outs[-1][0]} : {outs[-1][1]})"
    names, types = ", ".join(o[0] for o in outs[:3]), ", ".join(o[1] for o in outs[:3])
    body = f"moeq.group ids({a} : {a_type}){options} outs({names} : {types}){extra}"
    return program.run(body, [o[1] for o in outs])


def plan(offsets, columns, tile_columns, max_width, ctas, step=8, overhead=24) -> np.ndarray:
    program = Program("rows")
    o, o_type = program.add(np.asarray(offsets, np.int32))
    out, out_type = program.add(poison((len(offsets), 4), "i32"))
    body = (
        f"moeq.plan offsets({o} : {o_type}) columns(%columns) outs({out} : {out_type}) "
        f"tile_columns({tile_columns}) max_width({max_width}) ctas({ctas}) "
        f"width_step({step}) overhead({overhead})"
    )
    before = f"%columns = arith.constant {columns} : index"
    return program.run(body, [out_type], before=before)[0]


def gather(x, rows, init, dims="rows"):
    program = Program(dims)
    a, a_type = program.add(x)
    r, r_type = program.add(np.asarray(rows, np.int32))
    out, out_type = program.add(init)
    body = f"moeq.gather input({a} : {a_type}) rows({r} : {r_type}) outs({out} : {out_type})"
    arrays = program.run(body, [out_type])
    if isinstance(x, Scaled):
        return scaled_result(arrays, x.format, init.shape)
    return arrays[0].view(x.dtype)


def prepack(x, source: str, target: str):
    program = Program("static")
    a, a_type = program.add(x)
    init = poison_scaled(x.shape, x.format) if isinstance(x, Scaled) else np.full_like(x, 77)
    out, out_type = program.add(init)
    body = (
        f"moeq.prepack input({a} : {a_type}) outs({out} : {out_type}) from({source}) to({target})"
    )
    arrays = program.run(body, [out_type])
    if isinstance(x, Scaled):
        return scaled_result(arrays, x.format, x.shape)
    return arrays[0].view(x.dtype)


def combine(x, slots, weights=None, element=None, dims="rows") -> np.ndarray:
    program = Program(dims)
    element = element or ELEMENTS[x.dtype]
    a, a_type = program.add(x)
    s, s_type = program.add(np.asarray(slots, np.int32))
    weighted = ""
    if weights is not None:
        w, w_type = program.add(np.asarray(weights, np.float32))
        weighted = f" weights({w} : {w_type})"
    out, out_type = program.add(poison((len(slots), x.shape[1]), element))
    body = (
        f"moeq.combine input({a} : {a_type}) slots({s} : {s_type}){weighted} "
        f"outs({out} : {out_type})"
    )
    return typed(program.run(body, [out_type])[0], element)


def activation_options(gate_layout="gate_first", limit=None, alpha=None) -> str:
    options = f" gate_layout({gate_layout})" if gate_layout != "gate_first" else ""
    options += f" limit({np.float32(limit):.8e})" if limit is not None else ""
    return options + (f" alpha({np.float32(alpha):.8e})" if alpha is not None else "")


def width(x, function) -> int:
    from reference.activation import GATED

    return x.shape[1] // (2 if function in GATED else 1)


def activate(x, function, element="f32", row_weight=None, dims="rows", **options) -> np.ndarray:
    program = Program(dims)
    a, a_type = program.add(x)
    weighted = ""
    if row_weight is not None:
        w, w_type = program.add(np.asarray(row_weight, np.float32))
        weighted = f" row_weight({w} : {w_type})"
    out, out_type = program.add(poison((len(x), width(x, function)), element))
    body = (
        f"moeq.activate input({a} : {a_type}){weighted} outs({out} : {out_type}) "
        f"function({function}){activation_options(**options)}"
    )
    return typed(program.run(body, [out_type])[0], element)


def activate_grad(
    grad, x, function, element="f32", row_weight=None, dims="rows", **options
) -> np.ndarray:  # fmt: skip
    program = Program(dims)
    (d, d_type), (a, a_type) = program.add(grad), program.add(x)
    weighted = ""
    if row_weight is not None:
        w, w_type = program.add(np.asarray(row_weight, np.float32))
        weighted = f" row_weight({w} : {w_type})"
    out, out_type = program.add(poison(x.shape, element))
    body = (
        f"moeq.activate_grad grad({d} : {d_type}) input({a} : {a_type}){weighted} "
        f"outs({out} : {out_type}) function({function}){activation_options(**options)}"
    )
    return typed(program.run(body, [out_type])[0], element)


def act_quant(
    x, function, format: Format, recipe, intermediate_round="none", row_weight=None,
    dims="rows", **options,
) -> Scaled:  # fmt: skip
    program = Program(dims)
    a, a_type = program.add(x)
    weighted = ""
    if row_weight is not None:
        w, w_type = program.add(np.asarray(row_weight, np.float32))
        weighted = f" row_weight({w} : {w_type})"
    shape = (len(x), width(x, function))
    out, out_type = program.add(poison_scaled(shape, format))
    rounded = f" intermediate_round({intermediate_round})" if intermediate_round != "none" else ""
    body = (
        f"moeq.act_quant input({a} : {a_type}){weighted} outs({out} : {out_type}) "
        f"function({function}){activation_options(**options)}{rounded} "
        f"recipe({str(recipe).removeprefix('#moeq.recipe')})"
    )
    return scaled_result(program.run(body, [out_type]), format, shape)


@dataclass
class Epilogue:
    """A scalar epilogue: `body` maps %acc, %row, %col and %e0, ... to %y."""

    body: str
    operands: list[np.ndarray]
    maps: list[str]


def epilogue_text(program: Program, epilogue: Epilogue | None, element: str) -> str:
    if epilogue is None:
        return ""
    added = [program.add(operand) for operand in epilogue.operands]
    operands = ""
    if added:
        names, types = ", ".join(a[0] for a in added), ", ".join(a[1] for a in added)
        operands = f"({names} : {types}) maps [{', '.join(epilogue.maps)}]"
    elements = "".join(
        f", %e{i}: {ELEMENTS[np.asarray(o).dtype]}" for i, o in enumerate(epilogue.operands)
    )
    return (
        f" epilogue{operands} {{\n  ^bb0(%acc: f32, %row: index, %col: index{elements}):\n"
        f"    {epilogue.body}\n    moeq.yield %y : {element}\n  }}"
    )


def matmul(a, b, element="f32", epilogue=None, dims="rows", accumulate=None) -> np.ndarray:
    program = Program(dims)
    (x, x_type), (y, y_type) = program.add(a), program.add(b)
    out, out_type = program.add(poison((a.shape[0], b.shape[0]), element))
    mode = f" accumulate(<{accumulate}>)" if accumulate else ""
    body = (
        f"moeq.matmul lhs({x} : {x_type}) rhs({y} : {y_type}) outs({out} : {out_type}){mode}"
        + epilogue_text(program, epilogue, element)
    )
    return typed(program.run(body, [out_type])[0], element)


def grouped_matmul(
    a, b, offsets, init, epilogue=None, dims="rows", accumulate=None, pipeline="", form=""
) -> np.ndarray:  # fmt: skip
    """`form` is what follows the outs: `contract(rows)`, `transpose_rhs`."""
    program = Program(dims)
    element = ELEMENTS[init.dtype]
    (x, x_type), (y, y_type) = program.add(a), program.add(b)
    o, o_type = program.add(np.asarray(offsets, np.int32))
    out, out_type = program.add(init)
    mode = f" accumulate(<{accumulate}>)" if accumulate else ""
    body = (
        f"moeq.grouped_matmul lhs({x} : {x_type}) rhs({y} : {y_type}) offsets({o} : {o_type}) "
        f"outs({out} : {out_type}) {form}{mode}" + epilogue_text(program, epilogue, element)
    )
    return typed(program.run(body, [out_type], pipeline)[0], element)


PER_TENSOR = (WHOLE, WHOLE)
PER_ROW = (WHOLE,)
