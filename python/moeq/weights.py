"""Weights of experts to the components of scaled tensors, once, when they are loaded."""

from dataclasses import dataclass, replace

import numpy as np

from moeq.errors import Error
from moeq.execution import CARRIERS, as_array, run
from moeq.module import parse

# The element type of an array of numbers, by the name of its type elsewhere.
ELEMENTS = {"float32": "f32", "float16": "f16", "bfloat16": "bf16"}
# What torch calls the types that NumPy carries as integers; it takes E8M0 as bytes.
TORCH_TYPES = {"f8E4M3FN": "float8_e4m3fn", "f8E5M2": "float8_e5m2", "bf16": "bfloat16"}
PACKED = ("i4", "ui4", "f4E2M1FN")
# The bits and the number of the largest scale of each type: of positive numbers, bits
# are in the order of the numbers, and those of infinity and NaN come after.
LARGEST_SCALE = {
    "f32": (0x7F7FFFFF, "3.4e38"),
    "f16": (0x7BFF, "65504"),
    "bf16": (0x7F7F, "3.4e38"),
    "f8E4M3FN": (0x7E, "448"),
    "f8E8M0FNU": (0xFE, "2^127"),
}


@dataclass(frozen=True)
class Scheme:
    """How weights [.., N, K] are quantized: `group` elements of K share a scale, or all
    of them where it is None. Types are MLIR's names; `zero` is that of zero points."""

    value: str
    group: int | None = None
    scale: str = "f32"
    zero: str | None = None
    recipe: str = "amax"

    @property
    def type(self) -> str:
        """The element type of the scaled tensor."""
        zero = f", zero = {self.zero}" if self.zero else ""
        block = self.group or "*"
        return f"!moeq.scaled<{self.value}, block = [{block}], scale = {self.scale}{zero}>"


SCHEMES = {
    "int8": Scheme("i8", recipe="int8_sym"),
    "fp8_e4m3": Scheme("f8E4M3FN"),
    "fp8_e5m2": Scheme("f8E5M2"),
    "int4": Scheme("i4", 128, recipe="int4_sym"),
    "uint4": Scheme("ui4", 128, zero="i8", recipe="awq"),
    "mxfp8": Scheme("f8E4M3FN", 32, "f8E8M0FNU", recipe="ocp"),
    "mxfp4": Scheme("f4E2M1FN", 32, "f8E8M0FNU", recipe="ocp"),
}


@dataclass(frozen=True)
class Weight:
    """The components of a scaled tensor whose elements are of `type`: arrays as
    `moeq.run` takes them, or torch tensors."""

    type: str
    values: object
    scales: object
    zeros: object = None

    def arguments(self, name: str) -> dict:
        """The inputs of an argument NAME, by the names that `run` and `launch` know."""
        components = {name: self.values, f"{name}.scale": self.scales}
        return components if self.zeros is None else components | {f"{name}.zero": self.zeros}


def quantize_weight(array, scheme: str | Scheme, recipe: str | None = None, **changes) -> Weight:
    """Quantizes weights [N, K], or a stack [E, N, K], of f32, f16 or bf16: NumPy's or
    torch's, and the components are the same. `scheme` is a name of `SCHEMES` or a
    Scheme; `changes` replace fields of it (group, scale, zero), `recipe` its recipe: a
    preset's name, or the parameters of a `#moeq.recipe`. The codes and scales are those
    of `moeq.quantize`, which is run on the CPU.

    A group that does not divide K, zero points on floating-point values, weights that
    are not finite and scales beyond their type are errors."""
    if isinstance(scheme, str):
        if scheme not in SCHEMES:
            raise Error(f"expects a scheme of {', '.join(SCHEMES)}, got {scheme}")
        scheme = SCHEMES[scheme]
    if recipe is not None:
        changes["recipe"] = recipe
    try:
        scheme = replace(scheme, **changes)
    except TypeError as error:
        raise Error(f"expects value, group, scale, zero or recipe to change: {error}") from error
    numbers, element = numbers_of(array)
    check_groups(scheme, numbers.shape)
    parts = run(
        parse(program(scheme, numbers.shape, element), "quantize_weight.mlir"),
        "quantize",
        [numbers],
        level="layer",
    )
    check_scales(scheme, parts[1])
    return as_weight(scheme, parts, array)


def numbers_of(array) -> tuple[np.ndarray, str]:
    """The array on the host, in the carrier of its element type, and that type."""
    if is_torch(array):
        array = array.detach().cpu()
        name = str(array.dtype).removeprefix("torch.")
    else:
        array = np.asarray(array)
        name = array.dtype.name
    if name not in ELEMENTS:
        raise Error(f"expects weights of float32, float16 or bfloat16, got {name}")
    if len(array.shape) not in (2, 3) or 0 in array.shape:
        raise Error(f"expects weights [N, K] or [E, N, K], got shape {list(array.shape)}")
    carrier = CARRIERS[ELEMENTS[name]]
    return np.ascontiguousarray(as_array(array)).view(carrier), ELEMENTS[name]


def is_torch(array) -> bool:
    return hasattr(array, "detach") and hasattr(array, "element_size")


def check_groups(scheme: Scheme, shape) -> None:
    group, depth = scheme.group, shape[-1]
    if group is not None and (group <= 0 or depth % group):
        raise Error(f"expects a group that divides K = {depth}, got {group}")
    if scheme.value in PACKED and depth % 2:
        raise Error(f"expects an even K for values of {scheme.value}, got {depth}")
    if scheme.zero and scheme.value not in ("i8", "i4", "ui4"):
        raise Error(f"expects zero points only on integer values, got values of {scheme.value}")


def program(scheme: Scheme, shape, element: str) -> str:
    extents = "x".join(map(str, shape))
    source, target = f"tensor<{extents}x{element}>", f"tensor<{extents}x{scheme.type}>"
    return f"""
    func.func @quantize(%w: {source}) -> {target} {{
      %init = tensor.empty() : {target}
      %q = moeq.quantize input(%w : {source}) outs(%init : {target})
          recipe(<{scheme.recipe}>) -> {target}
      return %q : {target}
    }}"""


def check_scales(scheme: Scheme, scales: np.ndarray) -> None:
    """An Error that names the place of a scale that its type cannot hold: `moeq.quantize`
    limits it to the largest number of the type."""
    bits = scales.view(f"u{scales.itemsize}")
    largest, limit = LARGEST_SCALE[scheme.scale]
    too_large = np.argwhere(bits >= largest)
    if not len(too_large):
        return
    names = ("expert", "channel", "group")[-scales.ndim :]
    place = ", ".join(f"{n} {i}" for n, i in zip(names, too_large[0], strict=True))
    if bits[tuple(too_large[0])] > largest:
        raise Error(f"{place}: expects finite weights")
    raise Error(f"{place}: expects a scale below {limit}, the largest {scheme.scale}")


def as_weight(scheme: Scheme, parts: list[np.ndarray], like) -> Weight:
    """The components, as tensors of torch where `like` is one."""
    if scheme.value in PACKED:
        parts[0] = parts[0].view(np.uint8)
    if is_torch(like):
        import torch

        for i, element in enumerate((scheme.value, scheme.scale, scheme.zero)[: len(parts)]):
            tensor = torch.from_numpy(parts[i]).to(like.device)
            name = TORCH_TYPES.get(element)
            parts[i] = tensor.view(getattr(torch, name)) if name else tensor
    return Weight(scheme.type, *parts)
