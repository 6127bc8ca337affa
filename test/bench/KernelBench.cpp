//===- KernelBench.cpp - kernels against the roofline ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A Google Benchmark program with one benchmark for each compiled model of a
// list, which kernels.py writes. The program measures the roofline before and
// after the benchmarks, as `ingot bench` does.
//
//===----------------------------------------------------------------------===//
#include "client/measure/Peaks.h"
#include "client/measure/System.h"
#include "test/bench/Cases.h"

#include <benchmark/benchmark.h>

#include <memory>
#include <stdio.h>
#include <string.h>

using namespace ingot;
using namespace ingot::bench;

/// Returns the features that artifacts for this machine may use.
static uint64_t machineFeatures() {
  return tools::levelFeatures(ingot_cpu_level());
}

/// Keeps the better of two measurements, because other load or thermal limits
/// may have slowed the first.
static void takeBetter(tools::Peaks &peaks, const tools::Peaks &other) {
  peaks.flopsPerSecond = std::max(peaks.flopsPerSecond, other.flopsPerSecond);
  for (size_t i = 0; i < peaks.memory.size() && i < other.memory.size(); ++i)
    peaks.memory[i].bytesPerSecond = std::max(peaks.memory[i].bytesPerSecond,
                                              other.memory[i].bytesPerSecond);
}

static void describe(const tools::Peaks &peaks) {
  printf("roofline\t%u\t%.6g", peaks.vectorBits, peaks.flopsPerSecond);
  for (const auto &level : peaks.memory)
    printf("\t%llu\t%.6g", (unsigned long long)level.bytes,
           level.bytesPerSecond);
  printf("\ncpu\t%s\n", tools::cpuName().c_str());
}

static void measure(benchmark::State &state, const Case &what,
                    const tools::Peaks &peaks) {
  Kernel kernel;
  std::string problem = kernel.load(what);
  if (!problem.empty()) {
    state.SkipWithError(problem.c_str());
    return;
  }
  for (auto unused : state) {
    (void)unused;
    problem = kernel.run();
  }
  if (!problem.empty())
    state.SkipWithError(problem.c_str());
  auto rate = [&](double amount) {
    return benchmark::Counter(amount,
                              benchmark::Counter::kIsIterationInvariantRate);
  };
  if (what.flops > 0)
    state.counters["GFLOP/s"] = rate(what.flops / 1e9);
  state.counters["GB/s"] = rate(what.bytes / 1e9);
  // Time that the roofline allows, in percent of the measured time.
  state.counters["roofline"] =
      rate(100 * peaks.bestTime(uint64_t(what.flops), uint64_t(what.bytes)));
}

static void usage() {
  printf("Measures compiled models of one kernel each against this machine's "
         "roofline.\n\nusage: ingot-kernel-bench LIST [--benchmark_…]\n\n"
         "LIST is what test/bench/run.py writes; the options are those of "
         "Google Benchmark.\n\nexample:\n  ingot-kernel-bench "
         "build/roofline/cases.tsv --benchmark_filter=conv\n");
}

int main(int argc, char **argv) {
  if (argc < 2 || !strcmp(argv[1], "--help")) {
    usage();
    return argc < 2 ? 2 : 0;
  }
  std::vector<Case> cases;
  std::string problem = readCases(argv[1], cases);
  if (!problem.empty()) {
    fprintf(stderr, "ingot-kernel-bench: error: %s\n", problem.c_str());
    return 1;
  }
  argv[1] = argv[0];
  int count = argc - 1;
  benchmark::Initialize(&count, argv + 1);
  if (benchmark::ReportUnrecognizedArguments(count, argv + 1))
    return 2;
  tools::Peaks peaks = tools::measurePeaks(1, machineFeatures());
  for (const Case &one : cases)
    benchmark::RegisterBenchmark(
        one.name.c_str(),
        [&](benchmark::State &state) { measure(state, one, peaks); })
        ->UseRealTime();
  benchmark::RunSpecifiedBenchmarks();
  takeBetter(peaks, tools::measurePeaks(1, machineFeatures()));
  describe(peaks);
  return 0;
}
