"""Modules of MLIR, and what is compiled of them."""

import ctypes
import functools
import json
from dataclasses import dataclass, field
from pathlib import Path

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


@dataclass
class Artifact:
    """Kernels for a GPU, with the manifest that says how to launch them."""

    manifest: dict
    files: dict[str, bytes] = field(repr=False)

    @property
    def ptx(self) -> dict[str, str]:
        """The PTX of each kernel, by its name."""
        suffix = ".ptx"
        return {
            name.removesuffix(suffix): data.decode()
            for name, data in self.files.items()
            if name.endswith(suffix)
        }

    def save(self, directory) -> None:
        """Writes the files, which `load` reads."""
        directory = Path(directory)
        directory.mkdir(parents=True, exist_ok=True)
        for name, data in self.files.items():
            (directory / name).write_bytes(data)


def compile(module: Module, chip: str = "sm_90a", out_dir=None, variants: int = 1) -> Artifact:
    """Compiles the functions of a module for a chip, and saves them in `out_dir`. A matmul gets
    up to `variants` kernels, each for a range of rows."""
    handle = module.context.call(
        f"compile the module for {chip}",
        "moeqModuleCompile",
        module.handle,
        chip.encode(),
        variants,
    )
    try:
        count = ctypes.c_size_t()
        entries = library().moeqFilesGet(handle, ctypes.byref(count))[: count.value]
        files = {e.name.decode(): ctypes.string_at(e.data, e.size) for e in entries}
    finally:
        library().moeqFilesDestroy(handle)
    artifact = Artifact(json.loads(files["manifest.json"]), files)
    if out_dir is not None:
        artifact.save(out_dir)
    return artifact
