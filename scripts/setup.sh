# Sourced by run.sh and test.sh, in the repository root: installs what is missing
# and builds. Sets PYTHON to the interpreter of build/venv.

LLVM_VERSION=22
DEBIAN_PACKAGES=(
  libmlir-$LLVM_VERSION-dev mlir-$LLVM_VERSION-tools
  llvm-$LLVM_VERSION-dev llvm-$LLVM_VERSION-tools
  clang-$LLVM_VERSION lld-$LLVM_VERSION
  cmake g++ ninja-build libgtest-dev python3-venv)
PYTHON=$PWD/build/venv/bin/python

die() {
  echo "error: $*" >&2
  exit 1
}

# install_debian PACKAGE...: installs those that are missing from the configured sources.
install_debian() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
      missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "installing ${missing[*]}"
  local sudo=
  [ "$(id -u)" -eq 0 ] || sudo=sudo
  $sudo apt-get update -qq || die "apt-get update failed: expects configured Debian sources"
  for package in "${missing[@]}"; do
    [ -n "$(apt-cache madison "$package")" ] ||
      die "the configured Debian sources have no package $package: expects Debian 12 with LLVM $LLVM_VERSION"
  done
  DEBIAN_FRONTEND=noninteractive $sudo apt-get install -y -qq --no-install-recommends \
    "${missing[@]}" >/dev/null || die "apt-get could not install ${missing[*]}"
}

# have_cuda: whether a CUDA toolkit with ptxas is on PATH or in CUDA_HOME.
have_cuda() {
  command -v ptxas >/dev/null || [ -x "${CUDA_HOME:-}/bin/ptxas" ]
}

# install_python: build/venv with the packages of scripts/constraints.txt.
install_python() {
  local packages=(numpy ml_dtypes pytest ruff setuptools) stamp
  have_cuda || packages+=(nvidia-cuda-nvcc nvidia-nvvm)
  stamp="${packages[*]} $(cksum <scripts/constraints.txt)"
  [ "$(cat build/venv/stamp 2>/dev/null)" = "$stamp" ] && return
  echo "installing ${packages[*]} into build/venv"
  mkdir -p build
  /usr/bin/python3 -m venv build/venv || die "could not make build/venv"
  "$PYTHON" -m pip install -q --disable-pip-version-check -c scripts/constraints.txt \
    "${packages[@]}" || die "pip could not install ${packages[*]}"
  echo "$stamp" >build/venv/stamp
}

# build_preset PRESET FOLDER: configures where needed, and builds everything.
build_preset() {
  if [ ! -f "$2/build.ninja" ]; then
    cmake --preset "$1" >"$2.configure.log" 2>&1 || {
      cat "$2.configure.log" >&2
      die "cmake could not configure $2"
    }
    mv "$2.configure.log" "$2/configure.log"
  fi
  ninja -C "$2" --quiet || die "the build failed"
}
