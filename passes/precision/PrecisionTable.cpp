//===- PrecisionTable.cpp - storage of results per level ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/precision/PrecisionTable.h"

#include "dialects/cpu/CpuDialect.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cassert>

using namespace mlir;
using namespace ingot;
using namespace ingot::precision;

namespace {

enum class OpKind { product, norm, softmax, reduction, other };

struct Row {
  OpKind kind;
  /// Storage with float16, and with levels 1, 2 and 3.
  Storage storage[4];
};

} // namespace

/// The table of all choices of mixed precision. In addition, products read
/// 16-bit operands where nn-assign-precision says so.
static constexpr Storage A = Storage::allow, I = Storage::infer,
                         D = Storage::deny;
static constexpr Row kTable[] = {
    //                  fp16 O1 O2 O3
    {OpKind::product, /**/ {A, A, A, A}},
    {OpKind::norm, /*   */ {I, I, D, A}},
    {OpKind::softmax, /**/ {I, I, D, A}},
    // A sum of float16 values may exceed the range of float16.
    {OpKind::reduction, /**/ {D, I, D, A}},
    {OpKind::other, /*  */ {I, I, A, A}},
};

static OpKind kindOf(Operation *op) {
  if (isa<cpu::ConvOp, cpu::DepthwiseConvOp, cpu::MatMulOp>(op))
    return OpKind::product;
  if (isa<cpu::RowNormOp, cpu::GroupNormOp>(op))
    return OpKind::norm;
  if (isa<cpu::SoftmaxOp>(op))
    return OpKind::softmax;
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  if (isa<cpu::ReduceOp>(op) || (loops && loops.getNumReductionLoops() != 0))
    return OpKind::reduction;
  return OpKind::other;
}

Storage precision::storageOf(Operation *op, int level) {
  assert(level >= 0 && level <= 3 && "the command line knows no others");
  OpKind kind = kindOf(op);
  const Row *row =
      llvm::find_if(kTable, [&](const Row &row) { return row.kind == kind; });
  assert(row != std::end(kTable) && "every kind has a row");
  return row->storage[level];
}
