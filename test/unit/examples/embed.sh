#!/usr/bin/env bash
# embed.sh SOURCE BUILD ARTIFACTS CMAKE CC CXX: see CMakeLists.txt.
set -euo pipefail
source=$1 build=$2 artifacts=$3 cmake=$4 cc=$5 cxx=$6
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# expect TEXT COMMAND...: the command succeeds and prints TEXT.
expect() {
  local text=$1 output
  shift
  output=$("$@" 2>&1) || { echo "failed: $*"; echo "$output"; exit 1; }
  [[ $output == *"$text"* ]] || { echo "no '$text' from: $*"; echo "$output"; exit 1; }
}
# refuse TEXT COMMAND...: the command fails and prints TEXT.
refuse() {
  local text=$1 output
  shift
  if output=$("$@" 2>&1); then echo "succeeded: $*"; exit 1; fi
  [[ $output == *"$text"* ]] || { echo "no '$text' from: $*"; echo "$output"; exit 1; }
}

echo "C with dlopen alone"
"$cc" -std=gnu11 -Wall -Wextra -Werror -I "$source/runtime/include" \
  "$source/examples/embed_c/app.c" -ldl
expect "y: 2x3 0 0.285714" ./a.out "$artifacts/static.so"
expect "count:  3" ./a.out "$artifacts/dynamic.so"
refuse "no model of ABI version" ./a.out "$artifacts/future_abi.so"
refuse "no code that runs here" ./a.out "$artifacts/needs_future.so"
refuse "no code that runs here" ./a.out "$artifacts/for_cuda.so"
refuse "no model of ABI version 2" ./a.out "$artifacts/old_symbol.so"

"$cmake" --install "$build" --prefix "$work/prefix" --component runtime > install.log
library=$(find "$work/prefix" -name libingot.so.0)
[[ -n $library ]] || { echo "libingot.so.0 is not installed"; exit 1; }
libdir=$(dirname "$library")
export LD_LIBRARY_PATH=$libdir

if command -v pkg-config > /dev/null; then
  echo "C with pkg-config"
  export PKG_CONFIG_PATH=$libdir/pkgconfig
  "$cc" -Wall -Wextra -Werror "$source/examples/embed_c/with_libingot.c" \
    $(pkg-config --cflags --libs ingot) -o shared
  expect "y: float32 2x3 starting with 0" ./shared "$artifacts/static.so"
  refuse "ABI version 9" ./shared "$artifacts/future_abi.so"
fi

echo "C with the static library"
"$cc" "$source/examples/embed_c/with_libingot.c" -I "$work/prefix/include" \
  "$libdir/libingot.a" -ldl -lpthread -o static
expect "y: float32 0" env -u LD_LIBRARY_PATH ./static "$artifacts/dynamic.so"

echo "C++ with find_package"
"$cmake" -S "$source/examples/embed_cpp" -B cpp -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_CXX_COMPILER="$cxx" > cmake.log
"$cmake" --build cpp > build.log
expect "y: 6 elements, sum 27" cpp/embed_cpp "$artifacts/static.so"
refuse "error: cannot open model file" cpp/embed_cpp missing.so

echo "C alone with find_package"
mkdir c
cat > c/CMakeLists.txt << END
cmake_minimum_required(VERSION 3.16)
project(EmbedIngot LANGUAGES C)
find_package(Ingot 0.1 REQUIRED)
add_executable(app $source/examples/embed_c/with_libingot.c)
target_link_libraries(app Ingot::ingot_static)
END
"$cmake" -S c -B cbuild -DCMAKE_PREFIX_PATH="$work/prefix" \
  -DCMAKE_C_COMPILER="$cc" > cmake.log
"$cmake" --build cbuild > build.log
expect "y: float32 2x3" cbuild/app "$artifacts/static.so"
