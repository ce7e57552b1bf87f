"""moeq: a compiler for quantized mixture-of-experts layers.

`parse` text into a `Module`, `run` it on the CPU, `compile` it to PTX, and `load`
and launch what was compiled; the last needs the CUDA driver only, not LLVM.
"""

from moeq.driver import Kernels, load
from moeq.errors import Diagnostic, Error
from moeq.module import Artifact, Module, compile, parse

__all__ = [
    "Artifact",
    "Diagnostic",
    "Error",
    "Kernels",
    "Module",
    "compile",
    "load",
    "parse",
    "run",
]


def __getattr__(name: str):
    # `run` needs NumPy, which a machine that only launches kernels may lack.
    if name == "run":
        from moeq.execution import run

        return run
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
