"""The package as a wheel, installed elsewhere."""

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = """
import moeq
module = moeq.parse("func.func @f(%a: tensor<2xi32>) { return }")
print(moeq.__file__, moeq.library.find(), module.signature("f")[0][0].element)
"""


def test_wheel(tmp_path):
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    flags = ["-q", "--no-build-isolation", "--no-deps", "--no-index"]
    subprocess.run([*pip, "wheel", *flags, "-w", tmp_path, ROOT], check=True)
    (wheel,) = tmp_path.glob("moeq-*.whl")
    assert wheel.name.split("-")[2:4] == ["py3", "none"]
    target = tmp_path / "installed"
    subprocess.run([*pip, "install", "-q", "--no-deps", "--target", target, wheel], check=True)
    environment = os.environ | {"PYTHONPATH": str(target)}
    result = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    package, library, element = result.stdout.split()
    assert package.startswith(str(target)) and library.startswith(str(target))
    assert element == "i32"
