"""parse, print, verify, pipelines, and the diagnostics of what fails."""

import ctypes
import re
from pathlib import Path

import pytest

import moeq
from moeq import library

SOURCE = """
!x = !moeq.scaled<ui4, block = [32], scale = f16, zero = i8>
func.func @f(%a: tensor<?x64xbf16>, %w: tensor<8x64x!x> {moeq.name = "w"},
             %init: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %0 = moeq.matmul lhs(%a : tensor<?x64xbf16>) rhs(%w : tensor<8x64x!x>)
      outs(%init : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}
"""


def test_round_trips():
    module = moeq.parse(SOURCE)
    text = str(module)
    assert "moeq.matmul" in text and str(moeq.parse(text)) == text
    generic = module.print(generic=True)
    assert '"moeq.matmul"' in generic and str(moeq.parse(generic)) == text
    assert str(module.clone()) == text
    module.verify()


def test_signature():
    arguments, results = moeq.parse(SOURCE).signature("f")
    assert [(a.name, a.element, a.shape) for a in arguments] == [
        ("arg0", "bf16", (-1, 64)),
        ("w", "i8", (8, 32)),
        ("w.scale", "f16", (8, 2)),
        ("w.zero", "i8", (8, 2)),
        ("arg2", "f32", (-1, 8)),
    ]
    assert [(r.name, r.element, r.shape) for r in results] == [("result0", "f32", (-1, 8))]


@pytest.mark.parametrize("pipeline", ["canonicalize,cse", "builtin.module(canonicalize)"])
def test_pipeline(pipeline):
    text = "func.func @f(%a: i32) -> i32 {\n  %0 = arith.addi %a, %a : i32\n  return %a : i32\n}"
    module = moeq.parse(text)
    assert module.run_pipeline(pipeline) is module
    assert "arith.addi" not in str(module)


def test_parse_error():
    with pytest.raises(moeq.Error, match=r"could not parse layer\.mlir") as error:
        moeq.parse("func.func @f() {\n  moeq.nothing\n}", "layer.mlir")
    (diagnostic,) = error.value.diagnostics
    assert (diagnostic.severity, diagnostic.file, diagnostic.line) == ("error", "layer.mlir", 2)
    assert diagnostic.column == 3
    assert "moeq.nothing" in diagnostic.message
    assert "layer.mlir:2:3: error: " in str(error.value)


def test_verifier_error_with_notes():
    text = "func.func @f() -> i32 {\n  return\n}"
    with pytest.raises(moeq.Error) as error:
        moeq.parse(text)
    (diagnostic,) = error.value.diagnostics
    assert "has 0 operands" in diagnostic.message
    assert [n.severity for n in diagnostic.notes] in ([], ["note"])


def test_diagnostics_are_fresh():
    for _ in range(2):
        with pytest.raises(moeq.Error) as error:
            moeq.parse("func.func @f() -> i32 { return }")
        assert len(error.value.diagnostics) == 1


def test_pipeline_errors():
    module = moeq.parse("")
    with pytest.raises(moeq.Error, match="invalid pipeline 'no-such-pass'"):
        module.run_pipeline("no-such-pass")


def test_signature_errors():
    with pytest.raises(moeq.Error, match="expects a function 'g' with a body") as error:
        moeq.parse(SOURCE).signature("g")
    (diagnostic,) = error.value.diagnostics
    assert [note.message for note in diagnostic.notes] == ["there is 'f'"]
    text = "func.func @g(%a: vector<4xf32>) {\n  return\n}"
    with pytest.raises(moeq.Error, match="got 'vector<4xf32>' for 'arg0'"):
        moeq.parse(text).signature("g")


def test_modules_outlive_each_other():
    first = moeq.parse(SOURCE)
    second = first.clone()
    del first
    second.verify()


C_TYPES = {
    "void": None, "bool": ctypes.c_bool, "size_t": ctypes.c_size_t, "char *": ctypes.c_void_p,
}  # fmt: skip


def test_modules_keep_their_context():
    # In this order, which the garbage collector takes where both lie in one cycle.
    c = library.library()
    context = c.moeqContextCreate()
    module = c.moeqModuleParse(context, b"module {}", 9, b"a.mlir")
    copy = c.moeqModuleClone(module)
    c.moeqContextDestroy(context)
    c.moeqModuleDestroy(module)
    assert c.moeqModuleVerify(copy)
    c.moeqModuleDestroy(copy)


def test_prototypes_match_the_header():
    """Every function of the header has a prototype with as many parameters, and a
    result of the same kind, and no other does."""
    header = (Path(__file__).parents[2] / "include" / "moeq-c" / "Moeq.h").read_text()
    header = re.sub(r"/\*.*?\*/", "", header, flags=re.S)
    declared = re.findall(r"MOEQ_EXPORT\s+([\w\s]+\**)\s*(moeq\w+)\(([^)]*)\);", header)
    assert {name for _, name, _ in declared} == set(library.PROTOTYPES)
    for result, name, parameters in declared:
        got, *types = library.PROTOTYPES[name]
        count = 0 if parameters.strip() == "void" else len(parameters.split(","))
        assert len(types) == count, name
        result = result.strip()
        if result in C_TYPES:
            assert got is C_TYPES[result], name
        else:
            assert result.endswith("*") and got is not None, name


def test_only_the_interface_is_exported():
    symbols = Path(library.find()).read_bytes()
    assert b"moeqModuleParse" in symbols
    loaded = library.library()
    for name in library.PROTOTYPES:
        assert hasattr(loaded, name)


def test_missing_library(monkeypatch):
    monkeypatch.setenv("MOEQ_LIBRARY", "/nowhere/libmoeq-c.so")
    assert library.find().name == "libmoeq-c.so"
    monkeypatch.setattr(Path, "exists", lambda self: False)
    with pytest.raises(moeq.Error, match=r"found no libmoeq-c.so: looked for /nowhere"):
        library.find()
