//===- LayerCost.h - work and traffic of an op ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_MEMORY_LAYERCOST_H
#define INGOT_PASSES_MEMORY_LAYERCOST_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {

/// Returns the kind of an op, a word for profiles: "convolution",
/// "elementwise", …
llvm::StringRef layerKind(mlir::Operation *op);

/// Returns the rank of an op within its layer. The op with the highest rank
/// names the layer.
int layerWeight(mlir::Operation *op);

/// Sums up the work of a layer's ops. Known sizes stay constants. The builder
/// creates ops that read the other sizes. It must be behind the layer's ops.
class LayerCost {
public:
  LayerCost(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Adds an op on memrefs. If the number of operations does not follow from
  /// the op's kind, the attribute `ingot.flops` gives it.
  void add(mlir::Operation *op);

  /// Returns the sizes that are only known at run time, each once.
  llvm::ArrayRef<mlir::Value> openSizes() const { return open.getArrayRef(); }

  /// Returns the number of arithmetic operations, or 0 if it is unknown. A
  /// multiply-add counts as two. If sizes are open, creates arithmetic with
  /// `builder`. This arithmetic uses the values to which `sizes` maps the open
  /// sizes.
  mlir::OpFoldResult flops(mlir::OpBuilder &builder,
                           const mlir::IRMapping &sizes) const {
    return total(flopTerms, builder, sizes);
  }
  /// Returns the number of arithmetic operations, with `openSize`
  /// (Thresholds.inc) for each size that is only known at run time.
  double estimateFlops() const;
  /// Returns the bytes of all operands and results.
  mlir::OpFoldResult bytes(mlir::OpBuilder &builder,
                           const mlir::IRMapping &sizes) const {
    return total(byteTerms, builder, sizes);
  }

private:
  using Factors = llvm::SmallVector<mlir::OpFoldResult, 8>;

  mlir::OpFoldResult dim(mlir::Value memref, int64_t i);
  void addDims(mlir::Value memref, Factors &factors, int64_t drop = 0);
  void addFlops(mlir::Operation *op);
  void addBytes(mlir::Operation *op);
  void addNested(mlir::Operation *op, int64_t times);
  mlir::OpFoldResult product(llvm::ArrayRef<mlir::OpFoldResult> factors,
                             mlir::OpBuilder &builder,
                             const mlir::IRMapping &sizes) const;
  mlir::OpFoldResult total(llvm::ArrayRef<Factors> terms,
                           mlir::OpBuilder &builder,
                           const mlir::IRMapping &sizes) const;
  mlir::OpFoldResult constant(int64_t value) const {
    return builder.getIndexAttr(value);
  }

  mlir::OpBuilder &builder;
  mlir::Location loc;
  llvm::SmallVector<Factors> flopTerms, byteTerms;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, mlir::Value> dims;
  llvm::SetVector<mlir::Value> open;
};

} // namespace ingot

#endif // INGOT_PASSES_MEMORY_LAYERCOST_H
