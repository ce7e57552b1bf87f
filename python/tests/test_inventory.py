"""What the project has, some test names: ops, passes, options, pipelines, diagnostics."""

import functools
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@functools.cache
def sources(*patterns: str) -> dict[Path, str]:
    """The text of the repository's files of these patterns."""
    listed = subprocess.run(
        ["git", "ls-files", "-co", "--exclude-standard", *patterns],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split("\n")
    return {ROOT / name: (ROOT / name).read_text() for name in listed if (ROOT / name).is_file()}


@functools.cache
def texts_of_tests() -> dict[Path, str]:
    """The text of every test."""
    patterns = ("test/*.mlir", "test/*.test", "python/tests/*.py", "unittests/*.cpp")
    found = dict(sources(*patterns))
    found.pop(Path(__file__))
    return found


@functools.cache
def all_tests() -> str:
    return "\n".join(texts_of_tests().values())


def test_files(suffix: str) -> set[str]:
    return {path.name for path in texts_of_tests() if path.name.endswith(suffix)}


test_files.__test__ = False

# ------------------------------------------------------------------------------
# Ops


def ops() -> list[tuple[str, str]]:
    """The dialect and the mnemonic of each op."""
    found = []
    for path, text in sources("include/*Ops.td").items():
        dialect = "moeq_gpu" if "MoeqGPU" in path.name else "moeq"
        for base, name in re.findall(r'^def \w+ : (\w+)<"([\w.]+)"', text, re.M):
            found.append((dialect, "ring." + name if base.endswith("RingOp") else name))
    return found


@pytest.mark.parametrize(("dialect", "name"), ops())
def test_op(dialect, name):
    assert re.search(rf"\b{dialect}\.{re.escape(name)}\b", all_tests())
    if dialect == "moeq":
        # The file of an op that has none of its own.
        stem = {"unpack": "pack", "yield": "matmul"}.get(name, name.replace("_", "-"))
        assert f"{stem}-roundtrip.mlir" in test_files("-roundtrip.mlir")
        assert f"{stem}-invalid.mlir" in test_files("-invalid.mlir")


# ------------------------------------------------------------------------------
# Passes and pipelines


def passes() -> dict[str, list[str]]:
    """The options of each pass and pipeline."""
    found = {}
    for text in sources("include/*Passes.td").values():
        for definition in re.split(r"^def ", text, flags=re.M)[1:]:
            name = re.search(r'Pass<\s*"([\w-]+)"', definition)
            if name:
                found[name[1]] = re.findall(r'Option<"\w+", "([\w-]+)"', definition)
    header = (ROOT / "include/moeq/Pipelines/Pipelines.h").read_text()
    structs = {
        name: re.findall(r'\*this,\s*"([\w-]+)"', body)
        for name, body in re.findall(r"^struct (\w+).*?\{(.*?)^\};", header, re.M | re.S)
    }
    for text in sources("lib/Pipelines/*.cpp").values():
        for options, name in re.findall(r'PassPipelineRegistration<(\w*)>\(\s*"([\w-]+)"', text):
            found[name] = structs.get(options, [])
    return found


@pytest.mark.parametrize("name", passes())
def test_pass(name):
    assert re.search(rf"\b{name}\b(?!-)", all_tests())


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name, options in passes().items() for option in options]
)
def test_pass_option(name, option):
    """A line of a test names the pass and its option."""
    lines = [line for line in all_tests().replace("\\\n", "").splitlines() if name in line]
    assert any(re.search(rf"\b{option}\b(?!-)", line.replace(name, "", 1)) for line in lines)


def test_fuzzer_runs_each_pass():
    """The fuzzer's pipelines hold each pass, itself or in a pipeline."""
    text = (ROOT / "unittests/Fuzz/FuzzTest.cpp").read_text()
    built = "\n".join(sources("lib/Pipelines/*.cpp").values())
    definitions = {}
    for source in sources("include/*Passes.td").values():
        for record, name in re.findall(r'^def (\w+)\s*: Pass<\s*"([\w-]+)"', source, re.M):
            definitions[name] = record
    missing = [
        name
        for name in passes()
        if f'"{name}' not in text
        and f",{name}" not in text
        and f"create{definitions.get(name)}(" not in built
    ]
    assert not missing


# ------------------------------------------------------------------------------
# Diagnostics


def diagnostics() -> list[tuple[str, str]]:
    """The file, and the longest literal, of each statement that emits an error."""
    found = []
    literal = re.compile(r'"((?:[^"\\]|\\.)*)"')
    for path, text in sources("lib/*.cpp", "tools/*.cpp").items():
        code = re.sub(r"^\s*//.*$", "", text, flags=re.M)
        for start in re.finditer(r"emit(?:Op)?Error\(|\bemit\(\) <<", code):
            statement = re.match(r'(?:[^;"]|"(?:[^"\\]|\\.)*")*;', code[start.start() :])
            if not statement:
                continue
            joined = re.sub(r'"\s+"', "", statement[0])
            texts = [t.replace('\\"', '"').strip() for t in literal.findall(joined)]
            longest = max(texts, key=len, default="")
            if longest:
                found.append((path.name, longest))
    return sorted(set(found))


# What no input of the tools brings about.
UNREACHABLE = {
    # A machine without space, a broken toolkit, another build of LLVM.
    "cannot create a temporary file for ptxas",
    "cannot link",
    "cannot read the output of ptxas",
    "cannot write the input of ptxas",
    "could not compile for this CPU:",
    "could not run:",
    "this LLVM was built without the NVPTX target",
    # The parser strips them; builders in C++ get the error.
    "expects no leading block extent of 1",
    # moeq-outline-kernels asks before it builds.
    "no kernel:",
    # The limit of threads comes first.
    "expects at most 16 named barriers, got",
}


@pytest.mark.parametrize(("file", "text"), diagnostics())
def test_diagnostic(file, text):
    assert text in all_tests() or text in UNREACHABLE


# ------------------------------------------------------------------------------
# Files


@pytest.mark.parametrize(
    "path",
    sources("*.cpp", "*.h", "*.td", "*.py", "*.sh", "*.txt", "*.cmake", "*.md", "*.mlir"),
    ids=lambda path: str(path.relative_to(ROOT)),
)
def test_file(path):
    text = path.read_text()
    if path.suffix in (".cpp", ".h", ".td", ".py"):
        assert text.count("\n") < 600
    for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK", "XFA" + "IL"):
        assert not re.search(rf"\b{word}\b", text)
