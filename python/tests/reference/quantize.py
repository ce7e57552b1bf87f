"""moeq.quantize and moeq.dequantize: equal bits."""

from dataclasses import dataclass, replace

import numpy as np

from reference import formats
from reference.scaled import Format, Scaled

F32 = np.float32
# The smallest and the largest scale of each type.
LIMITS = {
    "f32": (F32(2.0**-149), np.finfo(F32).max),
    "f16": (F32(2.0**-24), F32(65504)),
    "bf16": (F32(2.0**-133), F32((2 - 2.0**-7) * 2.0**127)),
    "f8E4M3FN": (F32(2.0**-9), F32(448)),
}


@dataclass(frozen=True)
class Recipe:
    """#moeq.recipe<...>."""

    amax_floor: float = 0.0
    scale: str = "amax_div_max"
    scale_round: str = "none"
    apply: str = "divide"
    zero_block: str = "one"
    compute: str = "f32"
    lo: int | None = None
    hi: int | None = None
    zero_point: str = "none"
    nonfinite: str = "propagate"

    def __str__(self):
        default = Recipe()
        fields = {k: v for k, v in vars(self).items() if v != getattr(default, k)}
        if "amax_floor" in fields:
            fields["amax_floor"] = f"{F32(self.amax_floor):.8e}"
        parameters = ", ".join(f"{k} = {v}" for k, v in fields.items())
        return f"#moeq.recipe<{parameters or 'amax'}>"

    def range(self, element: str) -> tuple[int, int]:
        """The codes that integers may take."""
        if self.lo is not None:
            return self.lo, self.hi
        bits = 8 if element == "i8" else 4
        if element == "ui4":
            return 0, 15
        low = -(1 << bits - 1) + (self.zero_point == "none")
        return low, (1 << bits - 1) - 1


PRESETS = {
    "amax": Recipe(),
    "deepgemm": Recipe(1e-4, apply="mul_rcp", zero_block="floor"),
    "vllm_group": Recipe(1e-10, zero_block="floor"),
    "vllm_token": Recipe(2.0**-9, zero_block="floor"),
    "te": Recipe(scale="rcp_of_quant", apply="mul_quant", nonfinite="te_fp8"),
    "te_mx": Recipe(
        scale="amax_mul_rcp",
        scale_round="e8m0_up",
        apply="mul_rcp",
        zero_block="min",
        nonfinite="te_mx",
    ),
    "torchao": Recipe(
        1e-12, scale="rcp_of_quant", apply="mul_quant", zero_block="floor", compute="f64"
    ),
    "ocp": Recipe(scale_round="e8m0_floor", apply="mul_rcp", zero_block="min"),
    "int8_sym": Recipe(1e-10, zero_block="floor"),
    "int8_asym": Recipe(1e-10, zero_block="floor", lo=-128, hi=127, zero_point="affine"),
    "awq": Recipe(1e-5, zero_block="floor", lo=0, hi=15, zero_point="affine"),
    "int4_sym": Recipe(1e-10, zero_block="floor", lo=-8, hi=7),
}


def recipe(name: str, **parameters) -> Recipe:
    return replace(PRESETS[name], **parameters)


def parse_recipe(text: str) -> Recipe:
    """The recipe that MLIR prints as `text`."""
    body = text[text.index("<") + 1 : text.rindex(">")]
    result = Recipe()
    for field in body.split(","):
        key, _, value = (part.strip() for part in field.partition("="))
        if not value:
            result = PRESETS[key]
        elif key == "amax_floor":
            result = replace(result, amax_floor=float(value))
        else:
            result = replace(result, **{key: int(value) if key in ("lo", "hi") else value})
    return result


def e8m0_up(scale) -> int:
    """The code of the smallest power of two that is not below `scale`, by the bits."""
    bits = int(F32(scale).view(np.uint32))
    exponent, mantissa = bits >> 23 & 0xFF, bits & 0x7FFFFF
    up = mantissa > 0x400000 if exponent == 0 else mantissa != 0
    return min(exponent + up, 254)


def e8m0_floor(amax, element: str) -> int:
    """floor(log2 amax) less the exponent of the largest value."""
    emax = {"f8E4M3FN": 8, "f8E5M2": 15, "f4E2M1FN": 2}[element]
    return int(np.clip(np.frexp(float(amax))[1] - 1 - emax + 127, 0, 254))


def scale_of(amax, format: Format, r: Recipe, qmax: float) -> tuple[np.ndarray, np.ndarray]:
    """The scale and the quant scale of a block of finite numbers, in f32, before the
    scale is stored; (2^(b-127), 2^(127-b)) where the rule is an E8M0 one."""
    if amax == 0 and r.zero_block == "one":
        return F32(1), F32(1)
    if amax == 0 and r.zero_block == "min":
        code = 0 if format.scale == "f8E8M0FNU" else 1
        return F32(2.0 ** (code - 127)), F32(2.0 ** (127 - code))
    amax = max(F32(amax), F32(r.amax_floor))
    if r.scale_round == "e8m0_floor":
        code = e8m0_floor(amax, format.value)
        return F32(2.0 ** (code - 127)), F32(2.0 ** (127 - code))
    wide = np.float64 if r.compute == "f64" else F32
    with np.errstate(over="ignore", divide="ignore", under="ignore"):
        if r.scale == "rcp_of_quant":
            quant = F32(wide(qmax) / wide(amax))
            if np.isinf(quant):
                quant = np.finfo(F32).max
            if r.scale_round == "pow2_up":
                quant = F32(np.ldexp(F32(0.5), np.frexp(quant)[1]))
            scale = F32(F32(1) / quant)
        elif r.scale == "amax_mul_rcp":
            scale = F32(wide(amax) * wide(F32(1) / F32(qmax)))
        else:
            scale = F32(wide(amax) / wide(qmax))
        if r.scale_round == "pow2_up" and r.scale != "rcp_of_quant":
            mantissa, exponent = np.frexp(scale)
            scale = F32(np.ldexp(1.0, int(exponent) - (mantissa == 0.5)))
        if r.scale_round == "e8m0_up":
            code = e8m0_up(scale)
            return F32(2.0 ** (code - 127)), F32(2.0 ** (127 - code))
    # A scale that is stored is positive and finite.
    scale = np.clip(scale, *LIMITS[format.scale])
    return scale, quant if r.scale == "rcp_of_quant" else reciprocal(scale)


def reciprocal(scale):
    """1 / scale, limited to f32."""
    with np.errstate(over="ignore", divide="ignore"):
        return np.minimum(F32(1) / scale, np.finfo(F32).max)


def store_scale(scale, element: str):
    """A scale in the type in which it is stored."""
    if element == "f8E8M0FNU":
        if np.isnan(scale):
            return np.uint8(255)
        return np.uint8(np.frexp(float(scale))[1] - 1 + 127)
    if element == "f8E4M3FN":
        return formats.encode(scale, element)[()]
    return formats.round_to(F32(scale), element)[()]


def quantize_block(x, format: Format, r: Recipe):
    """The codes, scale and zero point of one block, flat."""
    element = format.value
    lo, hi = r.range(element) if formats.is_integer(element) else (None, None)
    qmax = hi if lo is not None else formats.MAX[element]
    finite = np.isfinite(x).all()
    affine = r.zero_point == "affine"
    if affine:
        top, bottom = x.max(initial=-np.inf), x.min(initial=np.inf)
        with np.errstate(invalid="ignore"):
            amax = F32(top - bottom)
        qmax = hi - lo
    else:
        amax = np.abs(x).max(initial=0)
    if finite:
        scale, quant = scale_of(amax, format, r, qmax)
    elif r.nonfinite == "te_fp8":
        scale, quant = F32(1), F32(1)
    elif r.nonfinite == "te_mx" and not np.isnan(x).any():
        scale, quant = F32(2.0**127), F32(2.0**-127)
    else:
        scale = quant = F32(np.nan)
    stored = store_scale(scale, format.scale)
    used = formats.decode(np.asarray(stored), format.scale)[()]
    zero = np.int8(0)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore", under="ignore"):
        if format.scale == "f8E8M0FNU" or r.scale_round.startswith("e8m0"):
            scaled = x * quant
        elif r.apply == "divide":
            scaled = x / used
        elif r.apply == "mul_quant" and format.scale == "f32":
            scaled = x * quant
        else:
            scaled = x * reciprocal(used)
        if lo is None:
            return formats.encode(scaled, element), stored, zero
        rounded = np.rint(scaled)
        if affine:
            zero = np.nan_to_num(np.clip(lo - np.rint(bottom / used), lo, hi))
            rounded = rounded + zero
        codes = np.clip(np.nan_to_num(rounded, nan=0.0, posinf=hi, neginf=lo), lo, hi)
    return codes.astype(np.int8), stored, np.int8(zero)


def quantize(x, format: Format, r: Recipe) -> Scaled:
    """Numbers to a scaled tensor of the same shape."""
    x = np.asarray(x).astype(F32)
    blocks, shape = format.blocks(x.shape), format.scale_shape(x.shape)
    values = np.zeros(x.shape, formats.STORAGE[format.value])
    scales = np.zeros(shape, formats.STORAGE[format.scale])
    zeros = np.zeros(shape, formats.STORAGE[format.zero]) if format.zero else None
    for index in np.ndindex(*shape):
        where = tuple(slice(i * b, (i + 1) * b) for i, b in zip(index, blocks, strict=True))
        part = x[where]
        codes, scales[index], zero = quantize_block(part.ravel(), format, r)
        values[where] = codes.reshape(part.shape)
        if format.zero:
            zeros[index] = zero
    return Scaled(format, values, scales, zeros)


def dequantize(q: Scaled, element: str = "f32") -> np.ndarray:
    """(value - zero) * scale in f32, rounded once to `element`."""
    scales = q.format.expand(q.scale_numbers(), q.shape)
    with np.errstate(invalid="ignore", over="ignore"):
        return formats.round_to(q.codes() * scales, element)
