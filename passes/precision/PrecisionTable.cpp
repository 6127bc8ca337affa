//===- PrecisionTable.cpp - storage of results per level ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/precision/PrecisionTable.h"

#include "dialects/kernel/KernelInterfaces.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"

#include <cassert>

using namespace mlir;
using namespace ingot;
using namespace ingot::precision;
using kernel::KernelClass;

namespace {

struct Row {
  KernelClass kind;
  /// Storage with float16, and with levels 1, 2 and 3.
  Storage storage[4];
};

} // namespace

/// The table of all choices of mixed precision. In addition, products read
/// 16-bit operands where nn-assign-precision says so.
static constexpr Storage A = Storage::allow, I = Storage::infer,
                         D = Storage::deny;
static constexpr Row kTable[] = {
    //                         fp16 O1 O2 O3
    {KernelClass::product, /*  */ {A, A, A, A}},
    {KernelClass::norm, /*     */ {I, I, D, A}},
    {KernelClass::softmax, /*  */ {I, I, D, A}},
    // A sum of float16 values may exceed the range of float16.
    {KernelClass::reduction, /**/ {D, I, D, A}},
    {KernelClass::other, /*    */ {I, I, A, A}},
};

static KernelClass kindOf(Operation *op) {
  if (auto kernel = dyn_cast<kernel::KernelOpInterface>(op))
    return kernel.getKernelClass();
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  if (loops && loops.getNumReductionLoops() != 0)
    return KernelClass::reduction;
  return KernelClass::other;
}

Storage precision::storageOf(Operation *op, int level) {
  assert(level >= 0 && level <= 3 && "the command line knows no others");
  KernelClass kind = kindOf(op);
  const Row *row =
      llvm::find_if(kTable, [&](const Row &row) { return row.kind == kind; });
  assert(row != std::end(kTable) && "every kind has a row");
  return row->storage[level];
}
