"""libmoeq-c by ctypes: its structures, and the prototypes of its functions."""

import ctypes
import functools
import os
from ctypes import POINTER, c_bool, c_char_p, c_int, c_int64, c_size_t, c_uint32, c_void_p
from pathlib import Path

from moeq.errors import Diagnostic, Error

SEVERITIES = ("note", "warning", "error", "remark")


class CDiagnostic(ctypes.Structure):
    _fields_ = (
        ("severity", c_int),
        ("line", c_uint32),
        ("column", c_uint32),
        ("file", c_char_p),
        ("message", c_char_p),
    )


class CTensorType(ctypes.Structure):
    _fields_ = (
        ("name", c_char_p),
        ("element", c_char_p),
        ("shape", POINTER(c_int64)),
        ("rank", c_int64),
    )


class CSignature(ctypes.Structure):
    _fields_ = (
        ("arguments", POINTER(CTensorType)),
        ("results", POINTER(CTensorType)),
        ("num_arguments", c_size_t),
        ("num_results", c_size_t),
    )


class CArray(ctypes.Structure):
    _fields_ = (
        ("element", c_char_p),
        ("data", c_void_p),
        ("shape", POINTER(c_int64)),
        ("rank", c_int64),
    )


class CFile(ctypes.Structure):
    _fields_ = (("name", c_char_p), ("data", c_void_p), ("size", c_size_t))


# Each function of moeq-c/Moeq.h: its result and its parameters.
PROTOTYPES = {
    "moeqContextCreate": (c_void_p,),
    "moeqContextDestroy": (None, c_void_p),
    "moeqContextGetDiagnostics": (POINTER(CDiagnostic), c_void_p, POINTER(c_size_t)),
    "moeqContextClearDiagnostics": (None, c_void_p),
    "moeqStringDestroy": (None, c_void_p),
    "moeqModuleParse": (c_void_p, c_void_p, c_char_p, c_size_t, c_char_p),
    "moeqModuleDestroy": (None, c_void_p),
    "moeqModuleClone": (c_void_p, c_void_p),
    "moeqModulePrint": (c_void_p, c_void_p, c_bool),
    "moeqModuleVerify": (c_bool, c_void_p),
    "moeqModuleRunPipeline": (c_bool, c_void_p, c_char_p),
    "moeqModuleGetSignature": (POINTER(CSignature), c_void_p, c_char_p),
    "moeqModuleRun": (c_void_p, c_void_p, c_char_p, c_char_p, POINTER(CArray), c_size_t),
    "moeqArraysGet": (POINTER(CArray), c_void_p, POINTER(c_size_t)),
    "moeqArraysDestroy": (None, c_void_p),
    "moeqModuleCompile": (c_void_p, c_void_p, c_char_p, c_int64),
    "moeqFilesGet": (POINTER(CFile), c_void_p, POINTER(c_size_t)),
    "moeqFilesDestroy": (None, c_void_p),
}


def find() -> Path:
    """libmoeq-c: that of MOEQ_LIBRARY, of the wheel, or of the build beside the sources."""
    package = Path(__file__).parent
    candidates = [package / "lib", package.parents[1] / "build" / "lib"]
    paths = [folder / "libmoeq-c.so" for folder in candidates]
    if named := os.environ.get("MOEQ_LIBRARY"):
        paths.insert(0, Path(named))
    for path in paths:
        if path.exists():
            return path
    raise Error(f"found no libmoeq-c.so: looked for {', '.join(map(str, paths))}")


@functools.cache
def library() -> ctypes.CDLL:
    """The library, loaded once, with typed functions."""
    path = find()
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise Error(f"could not load {path}: {error}") from error
    for name, (result, *parameters) in PROTOTYPES.items():
        function = getattr(loaded, name)
        function.restype, function.argtypes = result, parameters
    return loaded


class Context:
    """A context of the compiler, which turns its diagnostics into errors."""

    def __init__(self):
        self.handle = library().moeqContextCreate()

    def __del__(self):
        if handle := getattr(self, "handle", None):
            library().moeqContextDestroy(handle)

    def call(self, what: str, function: str, *arguments):
        """The result of a function of the library; an Error where it is false."""
        library().moeqContextClearDiagnostics(self.handle)
        result = getattr(library(), function)(*arguments)
        if not result:
            raise Error(f"could not {what}", self.diagnostics())
        return result

    def diagnostics(self) -> list[Diagnostic]:
        count = c_size_t()
        entries = library().moeqContextGetDiagnostics(self.handle, ctypes.byref(count))
        result: list[Diagnostic] = []
        for entry in entries[: count.value]:
            diagnostic = Diagnostic(
                SEVERITIES[entry.severity],
                entry.message.decode(),
                entry.file.decode(),
                entry.line,
                entry.column,
            )
            if diagnostic.severity == "note" and result:
                result[-1].notes.append(diagnostic)
            else:
                result.append(diagnostic)
        return result
