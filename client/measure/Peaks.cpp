//===- Peaks.cpp - the roofline of this machine -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/measure/Peaks.h"

#include "client/measure/System.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <stdlib.h>
#include <string.h>
#include <thread>
#include <unistd.h>

using namespace ingot::tools;

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

#if defined(__x86_64__)
#define TARGET(FEATURES) __attribute__((target(FEATURES)))
#else
#define TARGET(FEATURES)
#endif

// Several independent sums hide the latency of a multiply-add. Two units with a
// latency of four cycles need eight sums. More sums would be spilled to the
// stack.
#define FMA_KERNEL(NAME, FEATURES, BYTES, SUMS)                                \
  TARGET(FEATURES) static float NAME(int64_t rounds) {                         \
    typedef float Vector __attribute__((vector_size(BYTES)));                  \
    Vector sums[SUMS] = {};                                                    \
    Vector factor = Vector{} + 0.999f, step = Vector{} + 0.001f;               \
    for (int64_t i = 0; i < rounds; ++i) {                                     \
      _Pragma("GCC unroll 12") for (int k = 0; k < SUMS; ++k) sums[k] =        \
          sums[k] * factor + step;                                             \
    }                                                                          \
    float total = 0;                                                           \
    for (int k = 0; k < SUMS; ++k)                                             \
      total += sums[k][0];                                                     \
    return total;                                                              \
  }

// The arrays do not overlap. Their lengths are multiples of the vector length.
#define TRIAD_KERNEL(NAME, FEATURES, BYTES)                                    \
  TARGET(FEATURES)                                                             \
  static void NAME(float *a, const float *b, const float *c, int64_t count) {  \
    typedef float Vector __attribute__((vector_size(BYTES)));                  \
    auto *out = reinterpret_cast<Vector *>(a);                                 \
    auto *x = reinterpret_cast<const Vector *>(b);                             \
    auto *y = reinterpret_cast<const Vector *>(c);                             \
    for (int64_t i = 0; i < count / int64_t(BYTES / 4); ++i)                   \
      out[i] = x[i] + 3.0f * y[i];                                             \
  }

FMA_KERNEL(fma512, "avx512f", 64, 12)
FMA_KERNEL(fma256, "avx2,fma", 32, 12)
FMA_KERNEL(fma128, "sse4.2", 16, 12)
TRIAD_KERNEL(triad512, "avx512f", 64)
TRIAD_KERNEL(triad256, "avx2", 32)
TRIAD_KERNEL(triad128, "sse4.2", 16)

namespace {
struct Kernels {
  unsigned bits;
  int sums;
  float (*fma)(int64_t);
  void (*triad)(float *, const float *, const float *, int64_t);
};
} // namespace

static Kernels chooseKernels(uint64_t features) {
  if ((features & levelFeatures("x86-64-v4")) == levelFeatures("x86-64-v4"))
    return {512, 12, fma512, triad512};
  if ((features & levelFeatures("x86-64-v3")) == levelFeatures("x86-64-v3"))
    return {256, 12, fma256, triad256};
  return {128, 12, fma128, triad128};
}

//===----------------------------------------------------------------------===//
// Measuring
//===----------------------------------------------------------------------===//

/// Returns the seconds from the first start to the last end of `threads`
/// threads that start together. Returns the least of `tries`.
static double timeThreads(unsigned threads, int tries,
                          const std::function<void(unsigned)> &work) {
  double best = 1e30;
  for (int t = 0; t < tries; ++t) {
    std::atomic<unsigned> ready{0};
    std::vector<uint64_t> starts(threads), ends(threads);
    auto run = [&](unsigned i) {
      ++ready;
      while (ready < threads)
        std::this_thread::yield();
      starts[i] = nowNs();
      work(i);
      ends[i] = nowNs();
    };
    std::vector<std::thread> others;
    for (unsigned i = 1; i < threads; ++i)
      others.emplace_back(run, i);
    run(0);
    for (std::thread &other : others)
      other.join();
    uint64_t start = *std::min_element(starts.begin(), starts.end());
    uint64_t end = *std::max_element(ends.begin(), ends.end());
    best = std::min(best, double(end - start) / 1e9);
  }
  return best;
}

static double measureFlops(unsigned threads, const Kernels &kernels) {
  constexpr int64_t rounds = 500000;
  std::atomic<uint32_t> sink{0};
  double seconds = timeThreads(threads, 5, [&](unsigned) {
    float value = kernels.fma(rounds);
    sink += value > 0;
  });
  return 2.0 * double(rounds) * kernels.sums * (kernels.bits / 32) * threads /
         seconds;
}

/// Measures the memory bandwidth with a triad. Returns 0 if there is not enough
/// memory.
static double measureBandwidth(unsigned threads, const Kernels &kernels,
                               uint64_t bytes) {
  int64_t count = int64_t(bytes / threads / 12) / 1024 * 1024;
  size_t room = size_t(count) * 12 * threads;
  auto *memory = static_cast<float *>(aligned_alloc(4096, room));
  if (!memory || !count) {
    free(memory);
    return 0;
  }
  memset(memory, 0, room);
  // Each try moves at least 64 MiB, so that it takes long enough to measure.
  int64_t repeats = std::max<int64_t>(1, (64 << 20) / int64_t(room));
  double seconds = timeThreads(threads, 4, [&](unsigned i) {
    float *mine = memory + size_t(count) * 3 * i;
    for (int64_t r = 0; r < repeats; ++r)
      kernels.triad(mine, mine + count, mine + 2 * count, count);
  });
  free(memory);
  return double(room) * double(repeats) / seconds;
}

static uint64_t cacheBytes(int name, uint64_t otherwise) {
  long bytes = sysconf(name);
  return bytes > 0 ? uint64_t(bytes) : otherwise;
}

Peaks ingot::tools::measurePeaks(unsigned threads, uint64_t features) {
  Kernels kernels = chooseKernels(features);
  Peaks peaks;
  peaks.vectorBits = kernels.bits;
  peaks.flopsPerSecond = measureFlops(threads, kernels);
  // Measure in half of the near caches, because other data needs some space
  // there. Also measure in arrays that are much larger than the last-level
  // cache.
  uint64_t near = cacheBytes(_SC_LEVEL2_CACHE_SIZE, 1 << 20) / 2 * threads;
  uint64_t last = cacheBytes(_SC_LEVEL3_CACHE_SIZE, 16 << 20);
  uint64_t far =
      std::min<uint64_t>(std::max<uint64_t>(4 * last, 64 << 20), 256 << 20);
  for (uint64_t bytes : {near, std::max(last / 2, near), far}) {
    if (!peaks.memory.empty() && bytes <= peaks.memory.back().bytes)
      continue;
    double rate = measureBandwidth(threads, kernels, bytes);
    if (rate > 0)
      peaks.memory.push_back({bytes, rate});
  }
  return peaks;
}

double Peaks::bandwidthFor(uint64_t bytes) const {
  for (const Bandwidth &level : memory)
    if (bytes <= level.bytes)
      return level.bytesPerSecond;
  return memory.empty() ? 0 : memory.back().bytesPerSecond;
}

double Peaks::bestTime(uint64_t flops, uint64_t bytes) const {
  double compute = flopsPerSecond > 0 ? double(flops) / flopsPerSecond : 0;
  double rate = bandwidthFor(bytes);
  double move = rate > 0 ? double(bytes) / rate : 0;
  return std::max(compute, move);
}
