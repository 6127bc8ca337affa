//===- ContractionsToVector.cpp - cpu-contractions-to-vector --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products that cpu.matmul does not compute, which may have open sizes. This
// includes convolutions; the rows of their left factor are windows.
//
//     for batch, tap, kPanels panels of columns
//       for block of k
//         the panels' part of the right factor, packed: rows of whole vectors
//         for panel, batch that the right factor does not have, row tile
//           for k of the block: accumulators += a[row, k] * panel[k, column]
//           add the accumulators to the result
//
// A packed panel lies in the first-level cache and serves all rows. Packing
// also transposes a right factor whose columns are stored as rows, and fills up
// the last vector with zeros. Several panels are packed together, because
// reading one cache line from each of many rows is expensive. If a product has
// only a few rows, they read the right factor directly. If it has only a few
// columns, each column is packed alone, and rows are summed up along k.
// Elements of int16 are packed and multiplied in pairs of k (`vpmaddwd`).
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/contraction/ContractionPanels.h"
#include "passes/cpu/kernels/contraction/SmallContractions.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Contractions.h"

namespace ingot {
#define GEN_PASS_DEF_CONTRACTIONSTOVECTOR
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

namespace {

struct ContractionsToVectorPass
    : ingot::impl::ContractionsToVectorBase<ContractionsToVectorPass> {
  void runOnOperation() override;
};

} // namespace

namespace {

/// Writes one product.
struct ContractionEmitter {
  ContractionEmitter(OpBuilder &builder, linalg::GenericOp op)
      : all(builder, op), panels(all), few(all) {}

  void emit();

  Contraction all;
  ContractionPanels panels;
  SmallContractions few;
};

} // namespace

void ContractionEmitter::emit() {
  IndexBuilder &b = all.b;
  ArrayRef<Index> sizes = all.sizes;
  auto emitTiles = [&] {
    all.forEachPlace(/*isOuter=*/true, [&] {
      forEach(b, 0, sizes[all.column], Contraction::kPanels * all.width,
              [&](Value first) { panels.emit(Index(first)); });
    });
  };
  // Decides at run time if the size of the loop is open.
  auto ifFew = [&](int64_t loop, llvm::function_ref<void()> few,
                   llvm::function_ref<void()> many) {
    if (!sizes[loop].value)
      return sizes[loop].constant < cpu::threshold::contractionFewestRows
                 ? few()
                 : many();
    b.branch(b.compare(arith::CmpIPredicate::slt, sizes[loop],
                       cpu::threshold::contractionFewestRows),
             few, many);
  };
  ifFew(
      all.column, [&] { few.emitColumns(); },
      [&] {
        if (all.isTransposed())
          return emitTiles();
        ifFew(
            all.row, [&] { few.emitRows(); }, emitTiles);
      });
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

/// Rejects products of a vector and a matrix. Packing the matrix does not pay,
/// because each element is used once.
static bool isFor(linalg::GenericOp op) {
  return support::isTiledProduct(op) &&
         op.getStaticLoopRanges()[op.getNumLoops() - 3] != 1;
}

void ContractionsToVectorPass::runOnOperation() {
  numWritten +=
      emitInPlace<linalg::GenericOp, ContractionEmitter>(getOperation(), isFor);
}
