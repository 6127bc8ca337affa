//===- ContractionPanels.h - products by packed panels ----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTIONPANELS_H
#define INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTIONPANELS_H

#include "passes/cpu/kernels/contraction/Contraction.h"

namespace ingot::cpu {

/// Products of panels of columns, which are packed for all rows.
struct ContractionPanels : ContractionPart {
  using ContractionPart::ContractionPart;

  /// Emits the products of four panels, from a column on.
  void emit(Index firstColumn);

private:
  /// Columns of a panel from `column` on, of which so many are there (as many
  /// as it has, or more, if it is whole), and `depth` k from `k` on.
  struct Part {
    Index column, columns, k, depth;
    /// The place of the packed elements.
    Index at;
  };

  void emitPanel(const Part &part);
  /// Tiles of `most` rows, and what they leave by the half, of a vector for
  /// each mask, which are null where all columns are there.
  void emitRows(const Part &part, int64_t most,
                llvm::ArrayRef<mlir::Value> masks);
  void emitTile(const Part &part, int64_t rows, Index firstRow,
                llvm::ArrayRef<mlir::Value> masks);
  /// Runs `body` for the panels of `part`, of four.
  void forEachPanel(const Part &part,
                    llvm::function_ref<void(const Part &panel)> body);
  void pack(const Part &part, int64_t vectors, bool isWhole);
  void packRow(const Part &part, Index i, int64_t vectors, bool isWhole,
               int64_t count);
  void packTurned(const Part &part);
  void packOneByOne(const Part &part, Index begin, Index end, Index firstRow);
  /// Loads columns of a panel at `count` k from one on; loadLeft loads the
  /// elements that they are multiplied by.
  mlir::Value loadForPanel(Index k, Index column, mlir::Value mask,
                           int64_t count);
  mlir::Value loadLeft(Index row, Index k, int64_t count);
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTIONPANELS_H
