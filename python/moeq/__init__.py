"""moeq: a compiler for quantized mixture-of-experts layers.

`parse` text into a `Module`; `load` and launch what moeq-compile wrote, which needs
the CUDA driver only, not LLVM.
"""

from moeq.driver import Kernels, load
from moeq.errors import Diagnostic, Error
from moeq.module import Module, parse

__all__ = ["Diagnostic", "Error", "Kernels", "Module", "load", "parse"]
