//===- Harness.h - builds tables and runs them through the glue -*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_DNNL_HARNESS_H
#define INGOT_TEST_UNIT_DNNL_HARNESS_H

#include "ingot/abi/dnnl.h"

#include <atomic>
#include <functional>
#include <string>
#include <vector>

namespace ingot::test {

using Dims = std::vector<int64_t>;

/// A strided view of floats; dims and strides in oneDNN's order.
struct View {
  Dims dims, strides;
  std::vector<float> data;

  float &at(const Dims &index);
  /// Returns an element like `at`, with index 0 along dims of size 1.
  float broadcast(const Dims &index) const;
};

/// Makes a row-major view.
View plain(const Dims &dims);
/// Makes a view with the channels (dim 1) last in memory.
View channelsLast(const Dims &dims);
/// Makes a view that stores the last two dims swapped.
View transposed(const Dims &dims);
/// Fills the view with small pseudo-random values, which depend only on the
/// seed.
View random(View view, unsigned seed);
void forEach(const Dims &dims, const std::function<void(const Dims &)> &body);

struct OperandSpec {
  int64_t role;
  View view;
  bool constant = false;
};

struct PostOpSpec {
  int64_t kind;
  int64_t algorithm = 0;
  float alpha = 0, beta = 0;
  int64_t tensor = 0;
};

/// An operation; the operand of role DST is its result.
struct OperationSpec {
  int64_t kind;
  Dims params;
  std::vector<OperandSpec> operands;
  std::vector<PostOpSpec> postOps = {};
  std::string name = "node";
  /// True if dim 0 of run-time arguments, and strides that depend on it, are
  /// dynamic.
  bool dynamicBatch = false;
};

/// A table of operations with their weights, and a host that counts
/// allocations.
class Model {
public:
  explicit Model(const std::vector<OperationSpec> &operations);
  ~Model();
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;

  int32_t load(uint32_t numThreads = 2);
  /// Runs operation `index` on the operands of `spec` and writes its DST.
  int32_t run(int64_t index, OperationSpec &spec, uint32_t numThreads = 2);

  const std::string &error() const { return message; }
  std::vector<int64_t> table;
  int64_t scratchAllocations = 0;
  std::atomic<int64_t> scratchLive{0};

private:
  ingot_abi_host host(uint32_t numThreads);
  void add(const OperationSpec &operation);

  std::vector<char> weights;
  std::string names;
  void *state = nullptr;
  std::string message;
};

/// Runs one operation and returns its result; fails the test on an error.
View evaluate(OperationSpec operation, uint32_t numThreads = 2);
void expectNear(const View &got, const View &want, double tolerance = 1e-4);

/// Operands of a convolution with its strides, dilations and pads.
struct ConvolutionSpec {
  Dims x, w; ///< N, C, D…; O, C/G, K…
  int64_t groups = 1;
  Dims strides, dilations, padsBegin, padsEnd;
  bool bias = true;
  bool constant = true;

  OperationSpec make() const;
  /// Returns the result, computed naively in double.
  View reference(const OperationSpec &operation) const;
};

} // namespace ingot::test

#endif // INGOT_TEST_UNIT_DNNL_HARNESS_H
