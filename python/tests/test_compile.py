"""compile, the artifact, and its way to the launcher."""

from pathlib import Path

import pytest

import moeq

COPY = Path(__file__).parents[2] / "test" / "Tools" / "Inputs" / "copy.mlir"


@pytest.fixture(scope="module")
def module():
    return moeq.parse(COPY.read_text(), "copy.mlir")


def test_artifact(module):
    before = str(module)
    artifact = moeq.compile(module)
    assert set(artifact.ptx) == {"copy_rows", "copy_again"}
    assert ".target sm_90a" in artifact.ptx["copy_rows"]
    assert artifact.manifest["chip"] == "sm_90a"
    assert [k["name"] for k in artifact.manifest["entries"]["copy"]["kernels"]] == [
        "copy_rows",
        "copy_again",
    ]
    assert str(module) == before


def test_chip(module):
    assert ".target sm_80" in moeq.compile(module, "sm_80").ptx["copy_rows"]


def test_save_and_load(module, tmp_path):
    folder = tmp_path / "a" / "b"
    artifact = moeq.compile(module, out_dir=folder)
    assert {p.name for p in folder.iterdir()} == set(artifact.files)
    kernels = moeq.load(folder)
    assert list(kernels.entries) == ["copy"]

    class Tensor:
        shape = (7,)

    (output,) = kernels.outputs("copy", {"x": Tensor()})
    assert (output.name, output.element, output.shape) == ("result0", "f32", (7,))


def test_errors(module):
    with pytest.raises(moeq.Error, match="could not compile the module for sm_1") as error:
        moeq.compile(module, "sm_1")
    assert any("sm_1" in d.message for d in error.value.diagnostics)
