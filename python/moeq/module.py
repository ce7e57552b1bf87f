"""Modules of MLIR."""

import ctypes
import functools
from dataclasses import dataclass

from moeq.library import Context, library


@functools.cache
def default_context() -> Context:
    return Context()


@dataclass(frozen=True)
class TensorType:
    """An argument or result: `element` is MLIR's name, a dynamic extent is -1."""

    name: str
    element: str
    shape: tuple[int, ...]


class Module:
    """A module of MLIR. Made by `parse`."""

    def __init__(self, handle: int, context: Context):
        self.handle, self.context = handle, context

    def __del__(self):
        if handle := getattr(self, "handle", None):
            library().moeqModuleDestroy(handle)

    def __str__(self) -> str:
        return self.print()

    def print(self, generic: bool = False) -> str:
        """The module as text, which parses again."""
        text = library().moeqModulePrint(self.handle, generic)
        try:
            return ctypes.string_at(text).decode()
        finally:
            library().moeqStringDestroy(text)

    def clone(self) -> "Module":
        return Module(library().moeqModuleClone(self.handle), self.context)

    def verify(self) -> None:
        """Raises an Error where the module is not valid."""
        self.context.call("verify the module", "moeqModuleVerify", self.handle)

    def run_pipeline(self, pipeline: str) -> "Module":
        """Runs passes, such as "moeq-decompose,canonicalize", on this module."""
        what = f"run the pipeline {pipeline}"
        self.context.call(what, "moeqModuleRunPipeline", self.handle, pipeline.encode())
        return self

    def signature(self, entry: str) -> tuple[list[TensorType], list[TensorType]]:
        """The arguments and results of a function, scaled tensors by their components."""
        found = self.context.call(
            f"find the signature of {entry}", "moeqModuleGetSignature", self.handle, entry.encode()
        ).contents

        def types(entries, count):
            return [
                TensorType(e.name.decode(), e.element.decode(), tuple(e.shape[: e.rank]))
                for e in entries[:count]
            ]

        return (
            types(found.arguments, found.num_arguments),
            types(found.results, found.num_results),
        )


def parse(text: str | bytes, name: str = "module.mlir") -> Module:
    """Parses and verifies MLIR, text or bytecode; `name` is the file in diagnostics."""
    data = text.encode() if isinstance(text, str) else bytes(text)
    context = default_context()
    handle = context.call(
        f"parse {name}", "moeqModuleParse", context.handle, data, len(data), name.encode()
    )
    return Module(handle, context)
