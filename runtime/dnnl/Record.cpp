//===- Record.cpp - reading the table of operations -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/dnnl/Record.h"

#include <string.h>

using namespace ingot::dnnl;

namespace {

/// Reads int64 values in order. After the last value, `ok` becomes false.
struct Reader {
  const int64_t *words;
  int64_t left;
  bool ok = true;

  const int64_t *take(int64_t count) {
    if (count < 0 || count > left) {
      ok = false;
      return nullptr;
    }
    const int64_t *start = words;
    words += count;
    left -= count;
    return start;
  }
  int64_t next() {
    const int64_t *word = take(1);
    return word ? *word : 0;
  }
  /// Reads a count and checks that it is at most `limit`.
  int64_t count(int64_t limit) {
    int64_t value = next();
    if (value < 0 || value > limit)
      ok = false;
    return ok ? value : 0;
  }
  float real() {
    uint32_t bits = uint32_t(next());
    float value;
    memcpy(&value, &bits, sizeof(value));
    return value;
  }
};

} // namespace

static int64_t countDynamic(const int64_t *values, int64_t count) {
  int64_t dynamic = 0;
  for (int64_t i = 0; i < count; ++i)
    dynamic += values[i] == INGOT_DNNL_DYNAMIC;
  return dynamic;
}

const Tensor *Record::find(int64_t role) const {
  for (int64_t i = 0; i < numTensors; ++i)
    if (tensors[i].role == role)
      return &tensors[i];
  return nullptr;
}

int64_t ingot::dnnl::readRecord(const int64_t *words, int64_t limit,
                                const char *names, Record &record) {
  Reader reader{words, limit};
  int64_t size = reader.next();
  if (size < 1 || size > limit)
    return 0;
  reader.left = size - 1;
  record.kind = reader.next();
  record.name = names + reader.next();
  record.numParams = reader.count(5 * INGOT_DNNL_MAX_RANK);
  record.params = reader.take(record.numParams);
  record.numTensors = reader.count(INGOT_DNNL_MAX_TENSORS);
  record.numDynamic = 0;
  for (int64_t i = 0; i < record.numTensors && reader.ok; ++i) {
    Tensor &tensor = record.tensors[i];
    tensor.role = reader.next();
    tensor.dtype = reader.next();
    tensor.offset = reader.next();
    tensor.rank = reader.count(INGOT_DNNL_MAX_RANK);
    tensor.dims = reader.take(tensor.rank);
    tensor.strides = reader.take(tensor.rank);
    if (reader.ok)
      record.numDynamic += countDynamic(tensor.dims, tensor.rank) +
                           countDynamic(tensor.strides, tensor.rank);
  }
  record.numPostOps = reader.count(INGOT_DNNL_MAX_POST_OPS);
  for (int64_t i = 0; i < record.numPostOps && reader.ok; ++i) {
    PostOp &postOp = record.postOps[i];
    postOp.kind = reader.next();
    postOp.algorithm = reader.next();
    postOp.alpha = reader.real();
    postOp.beta = reader.real();
    postOp.tensor = reader.next();
    if (postOp.kind == INGOT_DNNL_BINARY &&
        (postOp.tensor < 0 || postOp.tensor >= record.numTensors))
      return 0;
  }
  return reader.ok ? size : 0;
}
