#!/usr/bin/env bash
# Fuzzes the importer under libFuzzer with ASan and UBSan, from a corpus of small test models.
#
# usage: scripts/fuzz.sh        FUZZ_SECONDS: how long (600); the corpus is kept in build-fuzz/corpus
# Exit code: 0 if nothing was found; otherwise the input that shows it lies in build-fuzz.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-600}
tree=build-fuzz
[[ -f $tree/build.ninja ]] ||
  cmake --preset asan -B "$tree" -DINGOT_BUILD_FUZZERS=ON
ninja -C "$tree" import-fuzzer

mkdir -p "$tree/corpus" "$tree/seeds"
python3 test/models/families.py "$tree/seeds"
python3 test/fuzz/make_corpus.py "$tree/seeds"
find test -name '*.onnxtxt' -exec cp -t "$tree/seeds" {} +
# The large seeds only slow it down: what matters is structure.
find "$tree/seeds" -type f -size +64k -delete

# LLVM's libraries are not instrumented, so they never lift the poison that LLVM's headers put on memory here.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:allow_user_poisoning=0 UBSAN_OPTIONS=print_stacktrace=1
exec "$tree/bin/import-fuzzer" -max_total_time="$seconds" -rss_limit_mb=4096 -timeout=30 \
  -artifact_prefix="$tree/" "$tree/corpus" "$tree/seeds"
