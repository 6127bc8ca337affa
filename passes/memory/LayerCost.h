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

/// What an op is, in a word for a profile: "convolution", "elementwise", …
llvm::StringRef layerKind(mlir::Operation *op);

/// Which op of a layer gives it its name: the larger, the more so.
int layerWeight(mlir::Operation *op);

/// Sums up the work of a layer's ops. Sizes that are known stay constants; what
/// reads the others goes to the builder, which must stand behind the ops.
class LayerCost {
public:
  LayerCost(mlir::OpBuilder &builder, mlir::Location loc)
      : builder(builder), loc(loc) {}

  /// Adds an op on memrefs. An attribute `ingot.flops` on the op says how many
  /// operations it is where its kind does not.
  void add(mlir::Operation *op);

  /// The sizes that only a run knows, each once.
  llvm::ArrayRef<mlir::Value> openSizes() const { return open.getArrayRef(); }

  /// Arithmetic operations, a multiply-add being two; 0 if unknown. What is
  /// computed of open sizes goes to the builder that is given, and of what
  /// `sizes` has in their place.
  mlir::OpFoldResult flops(mlir::OpBuilder &builder,
                           const mlir::IRMapping &sizes) const {
    return total(flopTerms, builder, sizes);
  }
  /// The same with `typicalSize` for each size that only a run knows.
  double estimateFlops() const;
  static constexpr int64_t typicalSize = 64;
  /// Bytes of all operands and results.
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
