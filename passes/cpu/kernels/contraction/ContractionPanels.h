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

/// Products by panels of columns. A panel is packed once for all rows.
struct ContractionPanels : ContractionEmitterBase {
  using ContractionEmitterBase::ContractionEmitterBase;

  /// Emits the products of kPanels panels, from a column on.
  void emit(Index firstColumn);

private:
  /// The panel at `column`, for `depth` values of k from `k` on. `columns` is
  /// the number of columns from `column` to the end; a whole panel has at least
  /// its own width.
  struct PanelSlice {
    Index column, columns, k, depth;
    /// The offset of the packed elements.
    Index at;
  };

  void emitPanel(const PanelSlice &part);
  /// Emits tiles of `most` rows, then tiles of half the height for the
  /// remaining rows, and so on. A tile has one vector for each mask. A null
  /// mask means that all columns exist.
  void emitRows(const PanelSlice &part, int64_t most,
                llvm::ArrayRef<mlir::Value> masks);
  void emitTile(const PanelSlice &part, int64_t rows, Index firstRow,
                llvm::ArrayRef<mlir::Value> masks);
  /// Runs `body` for each of the up to kPanels panels of `part`.
  void forEachPanel(const PanelSlice &part,
                    llvm::function_ref<void(const PanelSlice &panel)> body);
  void pack(const PanelSlice &part, int64_t vectors, bool isWhole);
  void packRow(const PanelSlice &part, Index i, int64_t vectors, bool isWhole,
               int64_t count);
  void packTransposed(const PanelSlice &part);
  void packOneByOne(const PanelSlice &part, Index begin, Index end,
                    Index firstRow);
  /// Loads columns of a panel for `count` values of k, beginning with `k`.
  /// `loadLeft` loads the elements of the left factor that multiply them.
  mlir::Value loadForPanel(Index k, Index column, mlir::Value mask,
                           int64_t count);
  mlir::Value loadLeft(Index row, Index k, int64_t count);
};

} // namespace ingot::cpu

#endif // INGOT_PASSES_CPU_KERNELS_CONTRACTION_CONTRACTIONPANELS_H
