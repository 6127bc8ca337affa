//===- SizeAnalysis.h - sizes in terms of the model's inputs ----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gives each dimension of each tensor as an expression over symbols. A symbol
// is the dimension of a function's argument, a size that only data decide, or a
// broadcast that a run decides. Arguments' dimensions of one name are one
// symbol.
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

/// Whether an op's regions hold ops on tensors of the program: scf's branches
/// and loops. Those of others hold scalars.
bool hasTensorBody(mlir::Operation *op);

/// Whether such an op is an If, a Loop or a Scan of the model. The loops that
/// legalizers write for other nodes take a step in any run that gets there.
bool isOfModel(mlir::Operation *op);

/// Visit a function's ops in program order, each with `addResults`.
class SizeAnalysis {
public:
  /// Something that a run has to find true.
  struct Rule {
    nn::SizeRelation relation;
    Size a, b;
    std::string message;
  };

  explicit SizeAnalysis(mlir::func::FuncOp function);

  /// The sizes of a ranked tensor.
  mlir::ArrayRef<Size> sizesOf(mlir::Value tensor);
  /// The size that a value of type index is.
  Size sizeOfIndex(mlir::Value index) { return sizeOfIndex(index, 0); }

  /// Finds the sizes of an op's results. What has to hold and is not known to
  /// goes to `open`; what does hold is counted. Fails, after a message, if
  /// something surely does not hold.
  llvm::LogicalResult addResults(mlir::Operation *op,
                                 llvm::SmallVectorImpl<Rule> &open);
  /// Dimensions of arguments that are one by name, one rule each.
  mlir::ArrayRef<Rule> rulesOfArguments() const { return argumentRules; }

  /// From here on, what was required to be equal is: one symbol stands for
  /// both. So it does for a size and what broadcasts to it, which is that size
  /// held below a number.
  void assume(const Rule &rule);
  /// The same of what a legalizer has every run require.
  void assume(RequireOp op);

  /// The size as an index value, at the builder's place, which all its symbols
  /// dominate and which is not before the places of earlier calls.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                          Size size);
  /// The last op of `block` that the symbols of `size` come from, itself or
  /// what is in it; null if the function's arguments are enough.
  mlir::Operation *lastSourceOf(Size size, mlir::Block &block);
  /// The same at a place that later calls may not be dominated by.
  mlir::Value materializeInside(mlir::OpBuilder &builder, mlir::Location loc,
                                Size size);
  /// A loop's state stays as large as it starts where each step leaves it so:
  /// then its sizes are those of what the loop is given. Nothing for others.
  void addLoopState(mlir::Operation *op);

  /// How many rules sizes alone have proved.
  int64_t getNumProved() const { return numProved; }

private:
  friend class RunRules;

  /// What a symbol stands for.
  struct Symbol {
    mlir::Value value;           ///< a tensor, or an index
    int64_t dim = -1;            ///< the tensor's dimension
    Size broadcast[2];           ///< or [1] where [0] is 1, else [0]
    llvm::SmallVector<Size, 2> parts; ///< all sizes of the broadcast
    mlir::Value made;            ///< its value, once there is one
  };

  Size newSymbol(Symbol symbol);
  Symbol &lookup(mlir::AffineSymbolExpr symbol);
  const Symbol &lookup(mlir::AffineSymbolExpr symbol) const {
    return const_cast<SizeAnalysis *>(this)->lookup(symbol);
  }
  Size symbolOf(mlir::Value value, int64_t dim);
  /// Returns whether a number that a run computes is never negative.
  bool isCount(mlir::Value index);
  Size broadcastOf(Size a, Size b);
  /// Whether `cut` is `whole` held below a number of two or more.
  bool isCutOf(Size cut, Size whole);
  /// All sizes of a broadcast; of another size itself.
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
  /// Returns the size of an index. `depth` operations were followed from the
  /// index that was asked for.
  Size sizeOfIndex(mlir::Value index, unsigned depth);
  Size expressionOf(mlir::Value index, unsigned depth);

  mlir::MLIRContext *context;
  /// Dimensions and broadcasts of them; numbers that a run computes.
  llvm::SmallVector<Symbol> symbols, computed;
  llvm::DenseMap<std::pair<mlir::Value, int64_t>, Size> symbolOfDim;
  llvm::DenseMap<std::pair<Size, Size>, Size> symbolOfBroadcast;
  llvm::DenseMap<mlir::Value, Sizes> known;
  llvm::DenseMap<mlir::Value, Size> knownIndices;
  /// What symbols were found to be equal to.
  llvm::DenseMap<Size, Size> equals;
  llvm::SmallVector<Rule> argumentRules;
  int64_t numProved = 0;
};

} // namespace ingot::shape

#endif // INGOT_PASSES_SHAPE_SIZEANALYSIS_H
