//===- KernelCount.cpp - instructions of kernels --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs each compiled model of a list once, so that Valgrind's callgrind counts
// the instructions. Each model has a dump under its name.
//
//===----------------------------------------------------------------------===//
#include "test/bench/Cases.h"

#include <stdio.h>
#include <string.h>
#include <valgrind/callgrind.h>

using namespace ingot::bench;

static int fail(const std::string &name, const std::string &problem) {
  fprintf(stderr, "ingot-kernel-count: error: %s%s\n", name.c_str(),
          problem.c_str());
  return 1;
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "--version")) {
    printf("LLVM %s\n", INGOT_LLVM_VERSION);
    return 0;
  }
  if (argc != 2 || !strcmp(argv[1], "--help")) {
    printf("Runs compiled models for callgrind to count their instructions.\n"
           "\nusage: ingot-kernel-count LIST | --version\n\n"
           "example:\n  valgrind --tool=callgrind --instr-atstart=no "
           "ingot-kernel-count cases.tsv\n");
    return argc == 2 ? 0 : 2;
  }
  std::vector<Case> cases;
  std::string problem = readCases(argv[1], cases);
  if (!problem.empty())
    return fail("", problem);
  for (const Case &one : cases) {
    Kernel kernel;
    problem = kernel.load(one);
    if (problem.empty()) {
      CALLGRIND_START_INSTRUMENTATION;
      CALLGRIND_ZERO_STATS;
      problem = kernel.run();
      CALLGRIND_DUMP_STATS_AT(one.name.c_str());
      CALLGRIND_STOP_INSTRUMENTATION;
    }
    if (!problem.empty())
      return fail(one.name + ": ", problem);
  }
  return 0;
}
