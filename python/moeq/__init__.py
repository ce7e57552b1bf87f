"""moeq: a compiler for quantized mixture-of-experts layers.

`parse` text into a `Module`, `run` it on the CPU, `compile` it to PTX, and `load`
and launch what was compiled; the last needs the CUDA driver only, not LLVM.
`quantize_weight` makes the weights, `unpack_awq` and `unpack_gptq` take those of a
checkpoint, and `pack_fragments` gives them the order that kernels read fastest.
"""

import importlib

from moeq.driver import Kernels, load
from moeq.errors import Diagnostic, Error
from moeq.module import Artifact, Module, compile, parse

__all__ = [
    "SCHEMES",
    "Artifact",
    "Diagnostic",
    "Error",
    "Kernels",
    "Module",
    "Scheme",
    "Weight",
    "compile",
    "load",
    "pack_fragments",
    "parse",
    "quantize_weight",
    "run",
    "unpack_awq",
    "unpack_fragments",
    "unpack_gptq",
]


# What needs NumPy, which a machine that only launches kernels may lack.
WITH_NUMPY = {
    "SCHEMES": "moeq.weights",
    "Scheme": "moeq.weights",
    "Weight": "moeq.weights",
    "pack_fragments": "moeq.packing",
    "quantize_weight": "moeq.weights",
    "run": "moeq.execution",
    "unpack_awq": "moeq.checkpoints",
    "unpack_fragments": "moeq.packing",
    "unpack_gptq": "moeq.checkpoints",
}


def __getattr__(name: str):
    if name in WITH_NUMPY:
        return getattr(importlib.import_module(WITH_NUMPY[name]), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
