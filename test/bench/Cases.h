//===- Cases.h - models of one kernel, ready to run -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_BENCH_CASES_H
#define INGOT_TEST_BENCH_CASES_H

#include "tools/ingot/Handles.h"
#include "tools/ingot/Npy.h"

#include <string>
#include <vector>

namespace ingot::bench {

/// A row of the list that kernels.py writes.
struct Case {
  std::string name, artifact;
  double flops = 0, bytes = 0;
  std::vector<std::string> inputs; ///< NAME=FILE.npy; all others are random
};

/// Reads a list: a line a case, its fields between tabs. Empty string, or what
/// is wrong.
std::string readCases(const std::string &path, std::vector<Case> &cases);

/// A loaded model with the buffers of its runs, on one thread.
class Kernel {
public:
  /// Loads the case's artifact and runs it once. Empty string, or what is
  /// wrong.
  std::string load(const Case &from);
  /// Empty string, or what is wrong.
  std::string run();

private:
  tools::PoolHandle pool;
  tools::ModelHandle model;
  tools::ContextHandle context;
  std::vector<tools::Array> inputs, outputs;
  std::vector<ingot_input> in;
  std::vector<ingot_output> out;
};

} // namespace ingot::bench

#endif // INGOT_TEST_BENCH_CASES_H
