//===- Record.h - record of an operation ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Connects generated code with oneDNN. Every model that uses oneDNN is linked
// with this code. So it is C++ without exceptions, RTTI and libstdc++.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_DNNL_RECORD_H
#define INGOT_RUNTIME_DNNL_RECORD_H

#include "ingot/abi/dnnl.h"

namespace ingot::dnnl {

/// A tensor of a record, with pointers into the table.
struct Tensor {
  int64_t role;
  int64_t dtype;
  int64_t offset;
  int64_t rank;
  const int64_t *dims;
  const int64_t *strides;

  bool isConstant() const { return offset != INGOT_DNNL_ARGUMENT; }
};

struct PostOp {
  int64_t kind;
  int64_t algorithm;
  float alpha;
  float beta;
  int64_t tensor;
};

/// A record of the table, read and checked.
struct Record {
  int64_t kind;
  const char *name;
  int64_t numParams;
  const int64_t *params;
  int64_t numTensors;
  Tensor tensors[INGOT_DNNL_MAX_TENSORS];
  int64_t numPostOps;
  PostOp postOps[INGOT_DNNL_MAX_POST_OPS];
  /// Number of dims and strides that each call passes.
  int64_t numDynamic;

  const Tensor *find(int64_t role) const;
};

/// Reads the record at `words`, which has at most `limit` int64 values. Returns
/// the number of values in the record, or 0 if it is invalid.
int64_t readRecord(const int64_t *words, int64_t limit, const char *names,
                   Record &record);

} // namespace ingot::dnnl

#endif // INGOT_RUNTIME_DNNL_RECORD_H
