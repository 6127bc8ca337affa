//===- SizeAnalysis.h - symbolic sizes --------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Computes each dimension of each tensor as an expression over symbols. A
// symbol is a dimension of a function argument, a size that depends on data, or
// a broadcast that is decided at run time. Argument dimensions of the same name
// share a symbol.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SHAPE_SIZEANALYSIS_H
#define INGOT_PASSES_SHAPE_SIZEANALYSIS_H

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/SizeRules.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace ingot::shape {

class RunRules;
using nn::Size;
using Sizes = llvm::SmallVector<Size, 4>;

/// Returns true if the regions of an op contain tensor ops of the program, as
/// in branches and loops of scf. Regions of other ops contain scalar ops.
bool hasTensorBody(mlir::Operation *op);

/// Returns true if an scf op is an If, a Loop or a Scan of the model. Loops
/// that legalizers create for other nodes do at least one step in each run that
/// reaches them.
bool isOfModel(mlir::Operation *op);

/// Analysis of the sizes in a function. Call `addResults` for its ops in
/// program order.
class SizeAnalysis {
public:
  /// A relation of sizes that must hold in each run.
  struct Rule {
    nn::SizeRelation relation;
    Size a, b;
    std::string message;
  };

  explicit SizeAnalysis(mlir::func::FuncOp function);

  /// Returns the sizes of a ranked tensor.
  mlir::ArrayRef<Size> sizesOf(mlir::Value tensor);
  /// Returns the size that a value of type index stands for.
  Size sizeOfIndex(mlir::Value index) { return sizeOfIndex(index, 0); }

  /// Computes the sizes of an op's results. Relations that must hold and are
  /// not proved are appended to `open`; proved ones are counted. Reports a
  /// relation that cannot hold, and fails.
  llvm::LogicalResult addResults(mlir::Operation *op,
                                 llvm::SmallVectorImpl<Rule> &open);
  /// Returns the rules for argument dimensions of the same name, one per
  /// dimension.
  mlir::ArrayRef<Rule> rulesOfArguments() const { return argumentRules; }

  /// Assumes a rule from here on. Sizes that must be equal then share one
  /// symbol. A size that broadcasts to the minimum of itself and a constant is
  /// equal to this minimum.
  void assume(const Rule &rule);
  /// Assumes a check that a legalizer added.
  void assume(RequireOp op);

  /// Creates the size as an index value at the builder's insertion point. All
  /// symbols must dominate this point. A later call must not use a point before
  /// this point.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                          Size size);
  /// Returns the last op of `block` that the symbols of `size` come from, or
  /// that contains their source. Returns null if function arguments are the
  /// only sources.
  mlir::Operation *lastSourceOf(Size size, mlir::Block &block);
  /// Creates the size at a point that need not dominate the points of later
  /// calls.
  mlir::Value materializeInside(mlir::OpBuilder &builder, mlir::Location loc,
                                Size size);
  /// Computes the sizes of a loop's state. If each step keeps a size, it is the
  /// size of the initial value. Does nothing for other ops.
  void addLoopState(mlir::Operation *op);

  /// Returns the number of rules that were proved without a check.
  int64_t getNumProved() const { return numProved; }

private:
  friend class RunRules;

  /// Meaning of a symbol.
  struct Symbol {
    /// A tensor or an index, or null for a broadcast.
    mlir::Value value;
    /// Dimension of the tensor, or -1 for an index.
    int64_t dim = -1;
    /// Operands of a broadcast. The size is broadcast[1] if broadcast[0] is
    /// 1, else broadcast[0].
    Size broadcast[2];
    /// All sizes that the broadcast combines.
    llvm::SmallVector<Size, 2> parts;
    /// The created value, or null.
    mlir::Value made;
  };

  Size newSymbol(Symbol symbol);
  Symbol &lookup(mlir::AffineSymbolExpr symbol);
  const Symbol &lookup(mlir::AffineSymbolExpr symbol) const {
    return const_cast<SizeAnalysis *>(this)->lookup(symbol);
  }
  Size symbolOf(mlir::Value value, int64_t dim);
  /// Returns true if an index computed at run time is never negative.
  bool isCount(mlir::Value index);
  Size broadcastOf(Size a, Size b);
  /// Returns true if `cut` is the minimum of `whole` and a constant of at least
  /// 2.
  bool isCutOf(Size cut, Size whole);
  /// Returns all sizes that a broadcast combines. Returns only `size` itself if
  /// it is not a broadcast.
  llvm::SmallVector<Size, 2> partsOf(Size size) const;
  Size simplify(Size size) const;
  Size constant(int64_t value) const {
    return mlir::getAffineConstantExpr(value, context);
  }
  Size sizeOf(mlir::OpFoldResult size);
  Sizes sizesOfAll(mlir::ArrayRef<mlir::OpFoldResult> mixed);
  void visit(mlir::Operation *op);
  llvm::LogicalResult sizesOfStock(mlir::Operation *op, RunRules &rules,
                                   llvm::SmallVectorImpl<nn::SizedType> &sized);
  /// Returns the size of an index. `depth` is the number of ops between the
  /// index of the first call and this index.
  Size sizeOfIndex(mlir::Value index, unsigned depth);
  Size expressionOf(mlir::Value index, unsigned depth);

  mlir::MLIRContext *context;
  /// Symbols for dimensions and broadcasts, and for indices computed at run
  /// time.
  llvm::SmallVector<Symbol> symbols, computed;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, Size> symbolOfDim;
  llvm::DenseMap<std::pair<Size, Size>, Size> symbolOfBroadcast;
  llvm::DenseMap<mlir::Value, Sizes> known;
  llvm::DenseMap<mlir::Value, Size> knownIndices;
  /// Replacements of symbols by sizes that they are equal to.
  llvm::DenseMap<Size, Size> equals;
  llvm::SmallVector<Rule> argumentRules;
  int64_t numProved = 0;
};

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_SIZEANALYSIS_H
