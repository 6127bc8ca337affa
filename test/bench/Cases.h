//===- Cases.h - models of one kernel, ready to run -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_BENCH_CASES_H
#define INGOT_TEST_BENCH_CASES_H

#include "client/Handles.h"
#include "client/Npy.h"

#include <string>
#include <vector>

namespace ingot::bench {

/// A row of the list that kernels.py writes.
struct Case {
  std::string name, artifact;
  double flops = 0, bytes = 0;
  std::vector<std::string> inputs; ///< NAME=FILE.npy; other inputs are random
};

/// Reads a list: one case per line, with tabs between fields. Returns an error,
/// or "".
std::string readCases(const std::string &path, std::vector<Case> &cases);

/// A loaded model with the buffers of its runs, on one thread.
class Kernel {
public:
  /// Loads the case's artifact and runs it once. Returns an error, or "".
  std::string load(const Case &from);
  /// Runs the model. Returns an error, or "".
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
