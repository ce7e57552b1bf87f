"""Adds libmoeq-c of the build to the wheel: `pip wheel .` after ./run.sh.

The metadata is in pyproject.toml.
"""

import shutil
from pathlib import Path

from setuptools import Distribution, setup
from setuptools.command.bdist_wheel import bdist_wheel
from setuptools.command.build_py import build_py

LIBRARY = Path(__file__).parent / "build" / "lib" / "libmoeq-c.so"


class BuildWithLibrary(build_py):
    def run(self):
        super().run()
        if not LIBRARY.exists():
            raise SystemExit(f"found no {LIBRARY}: build first, by ./run.sh")
        folder = Path(self.build_lib) / "moeq" / "lib"
        self.mkpath(str(folder))
        shutil.copy2(LIBRARY, folder)


class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True


class AnyPythonWheel(bdist_wheel):
    """ctypes loads the library: one wheel is for every Python 3."""

    def get_tag(self):
        return "py3", "none", super().get_tag()[2]


setup(
    cmdclass={"build_py": BuildWithLibrary, "bdist_wheel": AnyPythonWheel},
    distclass=BinaryDistribution,
)
