"""examples/smooth_quant.py, and what docs/Tutorial.md says that it prints."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_error_table():
    script = ROOT / "examples" / "smooth_quant.py"
    result = subprocess.run(
        [sys.executable, script], cwd=ROOT, env={"PYTHONPATH": str(ROOT / "python")},
        capture_output=True, text=True,
    )  # fmt: skip
    assert result.returncode == 0, result.stderr
    errors = {line[:28].strip(): float(line[28:-1]) for line in result.stdout.splitlines()[1:]}
    plain = errors.pop("plain INT8")
    assert errors.pop("the same in bf16") == 0
    assert len(errors) == 4 and max(errors.values()) < plain / 2
    assert result.stdout in (ROOT / "docs" / "Tutorial.md").read_text()
