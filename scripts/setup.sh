#!/usr/bin/env bash
# Installs the tools to build and test Ingot on Debian 12: system packages, a
# pinned Python environment, ONNX's C++ library and oneDNN. Fast if all exist.
#
# usage: scripts/setup.sh        (INGOT_DEPS: where to, by default build/deps)
set -euo pipefail
cd "$(dirname "$0")/.."
deps=${INGOT_DEPS:-$PWD/build/deps}
onnx_version=1.23.2
onednn_version=2023.2.0 # oneDNN 3.2
mkdir -p "$deps"

packages=(build-essential ca-certificates ccache clang-22 git
  libbenchmark-dev libclang-rt-22-dev libgtest-dev libjemalloc-dev liblld-22-dev libmlir-22-dev
  libprotobuf-dev libstb-dev libzstd-dev lld-22 llvm-22-dev llvm-22-tools mlir-22-tools nlohmann-json3-dev
  ninja-build pkg-config protobuf-compiler python3 python3-dev python3-venv valgrind
  zlib1g-dev)
missing=()
for package in "${packages[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'ok installed' ||
    missing+=("$package")
done
if ((${#missing[@]})); then
  echo "setup: installing ${missing[*]}"
  export DEBIAN_FRONTEND=noninteractive
  apt-get update -qq
  apt-get install -y -qq --no-install-recommends "${missing[@]}" >"$deps/apt.log" ||
    { tail -n 20 "$deps/apt.log" >&2; exit 1; }
fi

# done_stamp NAME KEY: succeeds if step NAME was finished for exactly KEY.
done_stamp() { [[ -f $deps/.$1 && $(<"$deps/.$1") == "$2" ]]; }

python_key=$(sha256sum scripts/requirements.txt)
if ! done_stamp venv "$python_key"; then
  echo "setup: Python environment in $deps/venv"
  /usr/bin/python3 -m venv --clear "$deps/venv"
  "$deps/venv/bin/pip" install -q --disable-pip-version-check -r scripts/requirements.txt
  echo "$python_key" >"$deps/.venv"
fi
export PATH=$deps/venv/bin:$PATH

if ! done_stamp onnx "$onnx_version"; then
  echo "setup: building ONNX $onnx_version (about two minutes)"
  work=$(mktemp -d "$deps/onnx-build.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  pip download -q --disable-pip-version-check --no-deps --no-binary onnx \
    --no-build-isolation "onnx==$onnx_version" -d "$work"
  tar -C "$work" -xf "$work/onnx-$onnx_version.tar.gz"
  launcher=$(command -v ccache || true)
  { cmake -G Ninja -S "$work/onnx-$onnx_version" -B "$work/build" \
      -DCMAKE_BUILD_TYPE=Release -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
      -DONNX_ML=ON -DONNX_BUILD_PYTHON=OFF -DONNX_USE_PROTOBUF_SHARED_LIBS=ON \
      ${launcher:+-DCMAKE_CXX_COMPILER_LAUNCHER="$launcher"} \
      -DCMAKE_INSTALL_PREFIX="$deps/onnx"
    cmake --build "$work/build"
    cmake --install "$work/build"; } >"$deps/onnx.log" 2>&1 ||
    { tail -n 30 "$deps/onnx.log" >&2; exit 1; }
  rm -rf "$work"
  echo "$onnx_version" >"$deps/.onnx"
fi

if ! done_stamp onednn "$onednn_version"; then
  echo "setup: oneDNN ($onednn_version)"
  work=$(mktemp -d "$deps/onednn.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  pip download -q --disable-pip-version-check --no-deps -d "$work" \
    "onednn-devel-cpu-gomp==$onednn_version" "onednn-cpu-gomp==$onednn_version"
  for wheel in "$work"/*.whl; do python -m zipfile -e "$wheel" "$work/wheels"; done
  rm -rf "$deps/onednn" && mkdir "$deps/onednn"
  cp -a "$work"/wheels/*.data/data/. "$deps/onednn/"
  rm -rf "$work"
  echo "$onednn_version" >"$deps/.onednn"
fi
echo "setup: ready in $deps"
