#!/usr/bin/env bash
# Fuzzes readers of untrusted input, under libFuzzer with ASan and UBSan.
#
# usage: scripts/fuzz.sh [TARGET ...]      all by default
#   import    models: the importer, up to the module
#   artifact  compiled models: the check of the ELF file, and the artifact's description
#   npy       .npy files of inputs
#   options   arguments of commands, shapes and random inputs of `ingot run`
#   shape     --shape, --dim and --limit of `ingot compile`
# FUZZ_SECONDS: how long each runs (600). Corpora are kept in build-fuzz/corpus-TARGET.
# Exit code: 0 if nothing was found; otherwise build-fuzz has the input that fails.
set -euo pipefail
cd "$(dirname "$0")/.."
seconds=${FUZZ_SECONDS:-600}
tree=build-fuzz
[[ $# -gt 0 ]] || set -- artifact npy options shape import

# LLVM's libraries are not instrumented. They would not remove the poison that LLVM's headers put on memory here.
# Stacks of allocations cost much time. A finding can be run again with them.
export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1:allow_user_poisoning=0:malloc_context_size=1 UBSAN_OPTIONS=print_stacktrace=1
found=0
for target; do
  case $target in
    import | shape) built=$tree preset=asan ;;
    artifact | npy | options) built=build-fuzz-runtime preset=asan-runtime ;;
    *) echo "fuzz.sh: no target '$target': see the head of the script" >&2; exit 2 ;;
  esac
  [[ -f $built/build.ninja ]] || cmake --preset $preset -B "$built" -DINGOT_BUILD_FUZZERS=ON >/dev/null
  ninja -C "$built" "$target-fuzzer" $([[ $target != artifact ]] || echo runtime-test-artifacts)

  corpus=$tree/corpus-$target seeds=$tree/seeds-$target
  mkdir -p "$corpus" "$seeds"
  libraries=()
  if [[ $target == artifact ]]; then
    mapfile -t libraries < <(find "$built/test/unit" -name '*.so')
  elif [[ $target == import ]]; then
    python3 test/models/families.py "$seeds"
  fi
  python3 test/fuzz/make_corpus.py "$seeds" "$target" "${libraries[@]}"
  # Large seeds only slow the fuzzer down, since structure matters, not size.
  find "$seeds" -type f -size +64k -delete

  options=(-max_total_time="$seconds" -rss_limit_mb=4096 -timeout=30 -print_final_stats=1 -artifact_prefix="$tree/$target-")
  [[ ! -f test/fuzz/$target.dict ]] || options+=(-dict="test/fuzz/$target.dict")
  # Drop the output of the commands themselves.
  [[ $target != options ]] || options+=(-close_fd_mask=3)
  echo "fuzz.sh: $target for $seconds s"
  "$built/bin/$target-fuzzer" "${options[@]}" "$corpus" "$seeds" || found=1
done
exit $found
