"""How lit finds, runs and selects the tests of moeq."""

import glob
import os
import shutil

import lit.formats
from lit.llvm import llvm_config
from lit.llvm.subst import ToolSubst

config.name = "moeq"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Cases", "Inputs"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.moeq_build_dir, "test")

llvm_config.use_default_substitutions()
llvm_config.with_environment("PATH", config.llvm_tools_dir, append_path=True)
llvm_config.with_system_environment(["CUDA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"])

venv = os.path.join(config.moeq_build_dir, "venv")
venv_python = os.path.join(venv, "bin", "python3")
python = venv_python if os.path.exists(venv_python) else shutil.which("python3")
config.substitutions.append(("%python", python))
config.substitutions.append(("%moeq_source", config.moeq_source_dir))

tools = [ToolSubst(name, unresolved="ignore") for name in ("moeq-opt", "moeq-compile", "moeq-run")]
llvm_config.add_tool_substitutions(
    tools, [os.path.join(config.moeq_build_dir, "bin"), config.llvm_tools_dir]
)


def find_cuda(name):
    """A file of the CUDA toolkit, where moeq-compile looks for it too."""
    folders = [os.environ.get("CUDA_HOME")]
    ptxas = shutil.which("ptxas")
    if ptxas:
        folders.append(os.path.dirname(os.path.dirname(os.path.realpath(ptxas))))
    folders += glob.glob(f"{venv}/lib/python3*/site-packages/nvidia/*")
    found = [os.path.join(folder, name) for folder in folders if folder]
    return next((path for path in found if os.path.exists(path)), None)


# Features: `ptxas` and `libdevice` (parts of the CUDA toolkit), `asan`.
if find_cuda("bin/ptxas"):
    config.available_features.add("ptxas")
if find_cuda("nvvm/libdevice/libdevice.10.bc"):
    config.available_features.add("libdevice")
if config.moeq_sanitize:
    config.available_features.add("asan")
