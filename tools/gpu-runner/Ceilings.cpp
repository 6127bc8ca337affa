//===- Ceilings.cpp - upper bounds of a GPU's speed -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/gpu-runner/Ceilings.h"

#include "client/measure/System.h"

#include <algorithm>
#include <functional>

using namespace ingot;
using namespace ingot::gpu;

namespace {

/// Memory and a stream for the measurements.
struct Bench {
  Gpu gpu;
  uint64_t bytes = 0;
  cuda::Stream stream = nullptr;
  cuda::DevicePointer from = 0, to = 0;
  void *pinned = nullptr;
  std::string problem;

  Bench();
  Bench(const Bench &) = delete;
  ~Bench();
  /// Notes the first failure.
  void check(cuda::Result result, const char *call) {
    if (problem.empty())
      problem = gpu.check(result, call);
  }
  /// Returns the least time of `repeats` calls of `enqueue`, in nanoseconds,
  /// until all their work is done. Tries three times.
  double time(int repeats, const std::function<cuda::Result()> &enqueue);
};

struct Ceiling {
  const char *name, *unit;
  double (*measure)(Bench &bench);
};

} // namespace

Bench::Bench() {
  problem = gpu.open();
  if (!problem.empty())
    return;
  // Much larger than the caches of a GPU. The emulated GPU has no speed.
  bytes = gpu.isEmulated ? 4096 : 512u << 20;
  check(gpu.driver.cuStreamCreate(&stream, cuda::streamNonBlocking),
        "cuStreamCreate");
  check(gpu.driver.cuMemAlloc_v2(&from, bytes), "cuMemAlloc");
  check(gpu.driver.cuMemAlloc_v2(&to, bytes), "cuMemAlloc");
  check(gpu.driver.cuMemHostAlloc(&pinned, bytes, 0), "cuMemHostAlloc");
  if (problem.empty()) {
    check(gpu.driver.cuMemsetD8Async(from, 1, bytes, stream),
          "cuMemsetD8Async");
    check(gpu.driver.cuMemsetD8Async(to, 1, bytes, stream), "cuMemsetD8Async");
    check(gpu.driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
  }
}

Bench::~Bench() {
  if (pinned)
    gpu.driver.cuMemFreeHost(pinned);
  if (from)
    gpu.driver.cuMemFree_v2(from);
  if (to)
    gpu.driver.cuMemFree_v2(to);
  if (stream)
    gpu.driver.cuStreamDestroy_v2(stream);
}

double Bench::time(int repeats, const std::function<cuda::Result()> &enqueue) {
  double best = 1e300;
  for (int round = 0; round < 3; ++round) {
    const uint64_t start = tools::nowNs();
    for (int i = 0; i < repeats && problem.empty(); ++i)
      check(enqueue(), "the measured call");
    check(gpu.driver.cuStreamSynchronize(stream), "cuStreamSynchronize");
    best = std::min(best, double(tools::nowNs() - start) / repeats);
  }
  return best;
}

/// Bytes that are read and written, in GB/s.
static double copyOnDevice(Bench &bench) {
  return 2 * double(bench.bytes) / bench.time(20, [&] {
    return bench.gpu.driver.cuMemcpyDtoDAsync_v2(bench.to, bench.from,
                                                 bench.bytes, bench.stream);
  });
}

static double copyToDevice(Bench &bench) {
  return double(bench.bytes) / bench.time(2, [&] {
    return bench.gpu.driver.cuMemcpyHtoDAsync_v2(bench.to, bench.pinned,
                                                 bench.bytes, bench.stream);
  });
}

static double copyToHost(Bench &bench) {
  return double(bench.bytes) / bench.time(2, [&] {
    return bench.gpu.driver.cuMemcpyDtoHAsync_v2(bench.pinned, bench.from,
                                                 bench.bytes, bench.stream);
  });
}

static constexpr char emptyKernel[] = ".version 8.0\n.target sm_80\n"
                                      ".address_size 64\n"
                                      ".visible .entry empty()\n{\n\tret;\n}\n";

/// Loads the empty kernel, launches it, and returns microseconds for one.
static double timeLaunches(Bench &bench, int launches) {
  const cuda::Driver &driver = bench.gpu.driver;
  cuda::Module module = nullptr;
  cuda::Function function = nullptr;
  bench.check(driver.cuModuleLoadData(&module, emptyKernel),
              "cuModuleLoadData");
  if (!module)
    return 0;
  bench.check(driver.cuModuleGetFunction(&function, module, "empty"),
              "cuModuleGetFunction");
  const double ns = bench.time(launches, [&] {
    return driver.cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, bench.stream,
                                 nullptr, nullptr);
  });
  driver.cuModuleUnload(module);
  return ns * 1e-3;
}

static double launchGap(Bench &bench) {
  return timeLaunches(bench, bench.gpu.isEmulated ? 10 : 2000);
}

static double launchAndWait(Bench &bench) { return timeLaunches(bench, 1); }

/// All ceilings. A product of matrices gets a row here.
static constexpr Ceiling ceilings[] = {
    {"copy within GPU memory, read and written", "GB/s", copyOnDevice},
    {"copy from pinned host memory to the GPU", "GB/s", copyToDevice},
    {"copy from the GPU to pinned host memory", "GB/s", copyToHost},
    {"launches behind each other, each", "us", launchGap},
    {"launch of an empty kernel, until it is done", "us", launchAndWait},
};

Json gpu::ceilingItems() {
  Json items = Json::array();
  for (const Ceiling &ceiling : ceilings)
    items.push_back({{"name", ceiling.name}});
  return items;
}

Json gpu::measureCeiling(const Json &item) {
  Json row = {{"name", item.at("name")}, {"status", "failed"}};
  Bench bench;
  for (const Ceiling &ceiling : ceilings) {
    if (item.at("name") != ceiling.name || !bench.problem.empty())
      continue;
    row["value"] = ceiling.measure(bench);
    row["unit"] = ceiling.unit;
    row["status"] = "measured";
  }
  if (!bench.problem.empty()) {
    row["status"] = "failed";
    row["message"] = bench.problem;
  }
  return row;
}
