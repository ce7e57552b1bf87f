#!/usr/bin/env bash
# Installs what is missing, builds, compiles a layer to PTX and checks its tiny
# twin on the CPU against an independent reference.
#
#   ./run.sh              examples/mixtral-8x7b-fp8.mlir
#   ./run.sh FILE.mlir    another file
set -euo pipefail
file=$(realpath "${1:-$(dirname "$0")/examples/mixtral-8x7b-fp8.mlir}")
cd "$(dirname "$0")"
. scripts/setup.sh
[ -f "$file" ] || die "no such file: $file"

install_debian "${DEBIAN_PACKAGES[@]}"
install_python
build_preset release build

name=$(basename "$file" .mlir)
echo "== $name to PTX, build/out/$name"
mkdir -p build/out
build/bin/moeq-compile "$file" -o "build/out/$name"
echo "== $name on the CPU"
PYTHONPATH=python "$PYTHON" python/tests/check.py "$file"
