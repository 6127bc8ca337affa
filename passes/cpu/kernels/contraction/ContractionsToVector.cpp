//===- ContractionsToVector.cpp - cpu-contractions-to-vector --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products of which cpu.matmul computes none: any of their sizes may be open.
// And convolutions, where the rows of the left factor are windows.
//
// for batch, tap, four panels of columns
//   for block of k
//     the panels' part of the right factor, packed: rows of whole vectors
//     for panel, batch that the right factor does not know, row tile
//       for k of the block: accumulators += a[row, k] * panel[k, column]
//       add them to the result
//
// A packed panel lies in the first-level cache and serves all rows; it is where
// a right factor is turned whose columns are rows, and what is behind its last
// column becomes zeros. Four are packed together, since lines that are read one
// by one from as many rows cost more than the products of 64 rows. Fewer than
// four rows, which a run may bring, read the right factor as it is. Of fewer
// than four columns each is packed alone, and rows are summed up along k.
// Words are multiplied in pairs of k (`vpmaddwd`), and packed as such.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/Passes.h"
#include "passes/cpu/kernels/contraction/ContractionPanels.h"
#include "passes/cpu/kernels/contraction/ContractionsOfFew.h"
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
  ContractionsOfFew few;
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
  // What only a run knows is asked there.
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
        if (all.isTurned())
          return emitTiles();
        ifFew(
            all.row, [&] { few.emitRows(); }, emitTiles);
      });
}

//===----------------------------------------------------------------------===//
// For what
//===----------------------------------------------------------------------===//

/// A vector times a matrix reads it once: packing it would be another time.
static bool isFor(linalg::GenericOp op) {
  return support::isTiledProduct(op) &&
         op.getStaticLoopRanges()[op.getNumLoops() - 3] != 1;
}

void ContractionsToVectorPass::runOnOperation() {
  numWritten +=
      emitInPlace<linalg::GenericOp, ContractionEmitter>(getOperation(), isFor);
}
