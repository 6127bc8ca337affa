//===- SizeRules.h - what ops say about sizes -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates the size rules of nn ops. Each op defines the sizes of its results
// and the rules for its operands once, in SizesOpInterface::inferSizes. There
// are three evaluations. Type inference evaluates only static sizes, and
// reports errors in them. The size analysis (passes/shape) has an expression
// for each dynamic size, and makes a run-time check for each rule that it
// cannot prove. Reification makes the values that compute the sizes at run
// time.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_SIZERULES_H
#define INGOT_DIALECTS_NN_SIZERULES_H

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Location.h"
#include "mlir/IR/Value.h"
#include "llvm/Support/LogicalResult.h"

namespace ingot::nn {

/// A size: a constant, an expression over symbols, or null if unknown.
using Size = mlir::AffineExpr;

/// The sizes and the element type of a result.
struct SizedType {
  llvm::SmallVector<Size> sizes;
  mlir::Type elementType;
};

/// A relation of two sizes.
enum class SizeRelation {
  equal,       ///< a = b
  atLeast,     ///< a >= b
  multipleOf,  ///< a is a multiple of b, which is not 0
  broadcastTo, ///< a = 1 or a = b
};

/// Evaluates the rules of one op. The base class implements type inference.
class SizeRules {
public:
  SizeRules(mlir::MLIRContext *context, std::optional<mlir::Location> loc)
      : context(context), loc(loc) {}
  virtual ~SizeRules() = default;

  /// Returns the sizes of a ranked tensor.
  virtual llvm::SmallVector<Size> sizesOf(mlir::Value tensor);
  /// Returns the size that is in a value of type index.
  virtual Size sizeOfIndex(mlir::Value index);

  Size constant(int64_t value) const;
  /// Arithmetic on sizes. The result is unknown if an operand is unknown.
  Size add(Size a, Size b) const { return a && b ? a + b : Size(); }
  Size add(Size a, int64_t b) const { return a ? a + b : Size(); }
  Size multiply(Size a, Size b) const { return a && b ? a * b : Size(); }
  Size multiply(Size a, int64_t b) const { return a ? a * b : Size(); }
  Size floorDiv(Size a, int64_t b) const { return a ? a.floorDiv(b) : Size(); }
  Size product(llvm::ArrayRef<Size> sizes) const;
  /// Returns floor(size scale), computed in f32.
  Size scale(Size size, float scale) {
    return size ? scaleAtRun(size, scale) : Size();
  }

  /// States a rule. If it cannot hold, fails with `message`. The sizes replace
  /// {0} and {1} in the message.
  llvm::LogicalResult require(SizeRelation relation, Size a, Size b,
                              const llvm::Twine &message);
  /// Requires that two sizes are equal. Returns a size with all that is known
  /// of both.
  llvm::FailureOr<Size> unify(Size a, Size b, const llvm::Twine &message);
  /// Returns the size of one dimension of a numpy-style broadcast.
  llvm::FailureOr<Size> broadcast(Size a, Size b, const llvm::Twine &message);
  /// Returns the sizes of a broadcast. Shapes are aligned at the last
  /// dimension.
  llvm::FailureOr<llvm::SmallVector<Size>>
  broadcast(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b,
            const llvm::Twine &what);

  std::optional<mlir::Location> getLoc() const { return loc; }

protected:
  /// Called for a rule that the sizes neither prove nor refute. Type inference
  /// ignores it.
  virtual void postpone(SizeRelation relation, Size a, Size b,
                        const llvm::Twine &message) {}
  /// Called for a rule that the sizes prove.
  virtual void countProved() {}
  /// Returns the size that is known to be the broadcast of both sizes; null if
  /// neither is.
  virtual Size absorbing(Size a, Size b) { return Size(); }
  /// Returns the broadcast size of a dimension that only a run can decide: b
  /// where a is 1, else a. Returns a or b if it is known to be the result in
  /// all runs.
  virtual Size broadcastAtRun(Size a, Size b) { return Size(); }
  /// Returns a scaled size that is known only at run time.
  virtual Size scaleAtRun(Size size, float scale) { return Size(); }

private:
  mlir::MLIRContext *context;
  std::optional<mlir::Location> loc;
};

/// Returns the value of a constant size.
std::optional<int64_t> knownSize(Size size);

/// Returns true if the relation holds for all values of the symbols, and false
/// if it fails for all. Returns nullopt if only a run can decide.
std::optional<bool> decide(SizeRelation relation, Size a, Size b);

/// Returns `message` with the sizes in place of {0} and {1}.
std::string formatSizes(llvm::StringRef message, int64_t a, int64_t b);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_SIZERULES_H
