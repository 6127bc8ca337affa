//===- Turns.cpp - measuring for every line on standard input -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/measure/Distribution.h"
#include "tools/ingot/bench/Bench.h"

#include <stdio.h>

using namespace ingot::tools;

/// Waits for the end of a line. Returns false at the end of the input.
static bool readLine() {
  int c = getchar();
  while (c != EOF && c != '\n')
    c = getchar();
  return c != EOF;
}

static void printTimes(const BenchResult &result) {
  Distribution times(result.latencies());
  puts(toLine({{"median_ms", times.median()},
               {"min_ms", times.min()},
               {"runs", result.runs.size()}})
           .c_str());
  fflush(stdout);
}

std::string ingot::tools::measureInTurns(const BenchOptions &options) {
  return measureRepeatedly(options.measurement(), readLine, printTimes);
}
