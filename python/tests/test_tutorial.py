"""The Python of docs/Tutorial.md runs, as far as it needs no GPU."""

import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_tutorial():
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "Tutorial.md").read_text(), re.S)
    local = [block for block in blocks if "torch" not in block]
    assert len(local) == 5
    result = subprocess.run(
        [sys.executable, "-c", "\n".join(local)],
        cwd=ROOT,
        env=os.environ | {"PYTHONPATH": str(ROOT / "python")},
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    assert "FNUZ" in result.stdout and "grouped_matmul" in result.stdout
