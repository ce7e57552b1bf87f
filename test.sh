#!/usr/bin/env bash
# Builds and runs every test that this machine can.
#
#   ./test.sh           lit, GoogleTest, pytest, formatting; closes with the counts
#   ./test.sh --asan    lit and GoogleTest with address and undefined-behaviour sanitizers
#   ./test.sh --tidy    clang-tidy over every source
set -uo pipefail
cd "$(dirname "$0")" || exit 1
. scripts/setup.sh

mode=${1:-}
case $mode in
"" | --asan | --tidy) ;;
*) die "unknown option '$mode': expects --asan or --tidy" ;;
esac

build=build preset=release
if [ "$mode" = --asan ]; then
  build=build-asan preset=asan
  DEBIAN_PACKAGES+=(libclang-rt-$LLVM_VERSION-dev)
  # The packaged libraries are not instrumented. LLVM's allocators, inlined into our code,
  # poison what theirs do not unpoison; and what LLVM leaks (on purpose, where its backend
  # is left by crash recovery) is not ours.
  export ASAN_OPTIONS=allow_user_poisoning=0
  export LSAN_OPTIONS=suppressions=$PWD/test/lsan.supp:print_suppressions=0
fi
install_debian "${DEBIAN_PACKAGES[@]}" clang-format-$LLVM_VERSION clang-tidy-$LLVM_VERSION
install_python
build_preset $preset $build

results=$PWD/$build/results
rm -rf "$results" && mkdir -p "$results"

# A suite writes its JUnit report to $results/NAME.xml; tally.py adds them up.
run_lit() {
  "/usr/lib/llvm-$LLVM_VERSION/bin/lit" -sv $build/test --xunit-xml-output "$results/lit.xml"
}
run_unit_tests() {
  local test
  for test in $build/unittests/*Tests $build/unittests/*/*Tests; do
    [ -x "$test" ] && [ -f "$test" ] || continue
    "$test" --gtest_brief=1 --gtest_output="xml:$results/$(basename "$test").xml" ||
      [ -f "$results/$(basename "$test").xml" ] || crashed "$(basename "$test")"
  done
}
run_pytest() {
  PYTHONPATH=python "$PYTHON" -m pytest -q python/tests --junitxml "$results/pytest.xml" \
    -o junit_family=xunit2
}
# check NAME COMMAND...: one command as one test.
check() {
  local name=$1 failure=
  shift
  "$@" || failure='<failure/>'
  echo "<testsuite><testcase name=\"$name\">$failure</testcase></testsuite>" >"$results/$name.xml"
}
crashed() {
  check "$1" false
}
sources() {
  git ls-files -co --exclude-standard "$@"
}
run_format() {
  sources '*.cpp' '*.h' | xargs -r "clang-format-$LLVM_VERSION" --dry-run --Werror
}
run_tidy() {
  sources 'lib/*.cpp' 'tools/*.cpp' |
    xargs -r -n 1 -P "$(nproc)" "clang-tidy-$LLVM_VERSION" -p $build --quiet --warnings-as-errors='*'
}

if [ "$mode" = --tidy ]; then
  check clang-tidy run_tidy
else
  run_lit || [ -f "$results/lit.xml" ] || crashed lit
  run_unit_tests
  if [ -z "$mode" ]; then
    run_pytest || [ -f "$results/pytest.xml" ] || crashed pytest
    check ruff "$PYTHON" -m ruff check -q python bench test scripts
    check ruff-format "$PYTHON" -m ruff format -q --check python bench scripts
    check clang-format run_format
  fi
fi
exec "$PYTHON" scripts/tally.py "$results"
