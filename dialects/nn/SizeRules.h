//===- SizeRules.h - what ops say about sizes -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// An nn op states once how large its results are and how the sizes of its
// operands have to fit each other: SizesOpInterface::inferSizes. Two readers
// evaluate it. Type inference knows the static sizes only, and reports what is
// wrong among them. The size analysis (passes/shape) has an expression for
// every dynamic size, too, and turns each rule that it cannot prove into a
// check of the run. Reification makes the values that a run finds the sizes
// with.
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

/// A size: a constant, an expression over symbols, or null if nothing is known
/// about it.
using Size = mlir::AffineExpr;

/// A result: its sizes and its element type.
struct SizedType {
  llvm::SmallVector<Size> sizes;
  mlir::Type elementType;
};

/// How two sizes have to be related.
enum class SizeRelation {
  equal,       ///< a = b
  atLeast,     ///< a >= b
  multipleOf,  ///< a is a multiple of b, which is not 0
  broadcastTo, ///< a = 1 or a = b
};

/// Evaluates the rules of one op. This class is type inference.
class SizeRules {
public:
  SizeRules(mlir::MLIRContext *context, std::optional<mlir::Location> loc)
      : context(context), loc(loc) {}
  virtual ~SizeRules() = default;

  /// The sizes of a ranked tensor.
  virtual llvm::SmallVector<Size> sizesOf(mlir::Value tensor);
  /// The size that a value of type index is.
  virtual Size sizeOfIndex(mlir::Value index);

  Size constant(int64_t value) const;
  /// Arithmetic; unknown if an operand is.
  Size add(Size a, Size b) const { return a && b ? a + b : Size(); }
  Size add(Size a, int64_t b) const { return a ? a + b : Size(); }
  Size multiply(Size a, Size b) const { return a && b ? a * b : Size(); }
  Size multiply(Size a, int64_t b) const { return a ? a * b : Size(); }
  Size floorDiv(Size a, int64_t b) const { return a ? a.floorDiv(b) : Size(); }
  Size product(llvm::ArrayRef<Size> sizes) const;
  /// floor(size scale), as f32 computes it.
  Size scale(Size size, float scale) {
    return size ? scaleAtRun(size, scale) : Size();
  }

  /// States a rule. Fails with `message` if it surely does not hold; {0} and
  /// {1} in the message stand for the two sizes.
  llvm::LogicalResult require(SizeRelation relation, Size a, Size b,
                              const llvm::Twine &message);
  /// Two sizes of one number: what is known of either is known of both.
  llvm::FailureOr<Size> unify(Size a, Size b, const llvm::Twine &message);
  /// One dimension of a numpy-style broadcast.
  llvm::FailureOr<Size> broadcast(Size a, Size b, const llvm::Twine &message);
  /// All dimensions of one, aligned at the last.
  llvm::FailureOr<llvm::SmallVector<Size>>
  broadcast(llvm::ArrayRef<Size> a, llvm::ArrayRef<Size> b,
            const llvm::Twine &what);

  std::optional<mlir::Location> getLoc() const { return loc; }

protected:
  /// A rule that the sizes alone neither prove nor refute. Type inference
  /// cannot do anything about it.
  virtual void postpone(SizeRelation relation, Size a, Size b,
                        const llvm::Twine &message) {}
  /// A rule that the sizes alone prove.
  virtual void countProved() {}
  /// The one of two sizes that already is a broadcast of the other; null if
  /// neither is known to be.
  virtual Size absorbing(Size a, Size b) { return Size(); }
  /// The size of a dimension that a run decides: b where a is 1, else a. One
  /// of both, if that is the larger one in all runs.
  virtual Size broadcastAtRun(Size a, Size b) { return Size(); }
  /// What no sum of products is, and only a run knows.
  virtual Size scaleAtRun(Size size, float scale) { return Size(); }

private:
  mlir::MLIRContext *context;
  std::optional<mlir::Location> loc;
};

/// The number that a size is, if it is one.
std::optional<int64_t> knownSize(Size size);

/// Whether the relation holds for these sizes whatever symbols stand for, or
/// surely does not; nullopt if a run has to tell.
std::optional<bool> decide(SizeRelation relation, Size a, Size b);

/// `message` with the values of {0} and {1} filled in.
std::string formatSizes(llvm::StringRef message, int64_t a, int64_t b);

} // namespace ingot::nn

#endif // INGOT_DIALECTS_NN_SIZERULES_H
