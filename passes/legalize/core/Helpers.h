//===- Helpers.h - helpers of legalizers ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares helpers that create the ops of common tensor and size arithmetic.
// Sizes are OpFoldResults. A known size is an index attribute; a size that
// depends on a dynamic dimension is an index value.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_LEGALIZE_CORE_HELPERS_H
#define INGOT_PASSES_LEGALIZE_CORE_HELPERS_H

#include "dialects/nn/SizeRules.h"
#include "passes/legalize/core/Legalize.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace ingot::legalize {

using mlir::ArrayRef;
using mlir::FailureOr;
using mlir::OpFoldResult;
using mlir::ShapedType;
using mlir::SmallVector;
using mlir::StringRef;
using mlir::Twine;
using support::dynamicSizes;
using support::Sizes;
using support::staticShape;
using support::typeOf;

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

OpFoldResult sizeAttr(Node &node, int64_t size);
/// Returns dimension i of a tensor.
OpFoldResult sizeOf(Node &node, Value tensor, int64_t i);
Sizes sizesOf(Node &node, Value tensor);
/// Returns a size as an index value.
inline Value indexValue(Node &node, OpFoldResult size) {
  return support::indexValue(node.builder, node.loc(), size);
}
inline OpFoldResult addSizes(Node &node, OpFoldResult a, OpFoldResult b) {
  return support::addSizes(node.builder, node.loc(), a, b);
}
OpFoldResult subSizes(Node &node, OpFoldResult a, OpFoldResult b);
inline OpFoldResult mulSizes(Node &node, OpFoldResult a, OpFoldResult b) {
  return support::mulSizes(node.builder, node.loc(), a, b);
}
OpFoldResult divSizes(Node &node, OpFoldResult a, OpFoldResult b);
OpFoldResult minSizes(Node &node, OpFoldResult a, OpFoldResult b);
OpFoldResult maxSizes(Node &node, OpFoldResult a, OpFoldResult b);
/// Returns the size of one broadcast dimension: b where a is 1, else a.
OpFoldResult broadcastSizes(Node &node, OpFoldResult a, OpFoldResult b);
/// Returns true if the sizes are the same tensor dimension, value or constant.
bool isSameSize(OpFoldResult a, OpFoldResult b);
/// Returns true if both sizes are the same dimension of the same tensor.
bool isSameDim(OpFoldResult a, OpFoldResult b);

/// Returns the elements of an integer tensor of rank 0 or 1 and static length.
/// Elements are traced to constants and dynamic dimensions where possible.
/// Reports other tensors, and lists with too many elements.
FailureOr<Sizes> elementsOf(Node &node, Value tensor);

/// Short names for index arithmetic at run time.
struct Indices {
  mlir::OpBuilder &b;
  mlir::Location loc;

  Value n(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  /// Casts an integer to an index.
  Value of(Value number) {
    return mlir::arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
  }
  Value add(Value x, Value y) {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  Value sub(Value x, Value y) {
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  Value mul(Value x, Value y) {
    return mlir::arith::MulIOp::create(b, loc, x, y);
  }
  Value div(Value x, Value y) {
    return mlir::arith::DivSIOp::create(b, loc, x, y);
  }
  Value rem(Value x, Value y) {
    return mlir::arith::RemSIOp::create(b, loc, x, y);
  }
  Value max(Value x, Value y) {
    return mlir::arith::MaxSIOp::create(b, loc, x, y);
  }
  Value min(Value x, Value y) {
    return mlir::arith::MinSIOp::create(b, loc, x, y);
  }
  Value equal(Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::eq,
                                       x, y);
  }
  Value less(Value x, Value y) {
    return mlir::arith::CmpIOp::create(b, loc, mlir::arith::CmpIPredicate::slt,
                                       x, y);
  }
  Value both(Value x, Value y) {
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  Value choose(Value condition, Value x, Value y) {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  /// Returns x if it is not negative, else x + size.
  Value wrap(Value x, Value size) {
    return choose(less(x, n(0)), add(x, size), x);
  }
};

/// Returns true if a size is computed from dimensions alone, so that it is not
/// negative.
bool isFromDims(OpFoldResult size);
/// Returns true if a value is known not to be negative: a dimension, a value
/// computed from dimensions, or a maximum with such a value.
bool isNotNegative(OpFoldResult number);

/// Casts the dynamic dimensions of x to those of `shape`, and checks the sizes
/// at run time. Static dimensions do not change. If the ranks differ, returns
/// x. `what` names x in messages.
Value pinSizes(Node &node, Value x, ArrayRef<int64_t> shape, const Twine &what);
/// Pins the sizes of input i, if it is present.
void pinInput(Node &node, size_t i, ArrayRef<int64_t> shape, const Twine &what);
/// Pins dimension `dim` of x to `size` elements, unless `size` is dynamic.
Value pinDim(Node &node, Value x, int64_t dim, int64_t size, const Twine &what);
/// Requires one element of input i, if it is present.
void pinToOne(Node &node, size_t i, const Twine &what);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// Reshapes x to a shape with as many elements.
Value reshape(Node &node, Value x, ArrayRef<OpFoldResult> sizes);
Value reshape(Node &node, Value x, ArrayRef<int64_t> shape);
Value unsqueeze(Node &node, Value x, ArrayRef<int64_t> axes);
Value transpose(Node &node, Value x, ArrayRef<int64_t> perm);
/// Returns the number of elements of x.
OpFoldResult countElements(Node &node, Value x);
/// Returns attribute `axis`, or flattens x and returns 0 if there is none.
FailureOr<int64_t> axisOrFlat(Node &node, Value &x);
/// Moves dimension `from` of x to dimension `to`.
Value moveAxis(Node &node, Value x, int64_t from, int64_t to);
/// Stacks tensors of one shape along a new dimension `axis`. Reports tensors of
/// different shapes and returns null.
Value joinRows(Node &node, ArrayRef<Value> rows, int64_t axis = 0);
/// Broadcasts x to `sizes`.
Value broadcastTo(Node &node, Value x, ArrayRef<OpFoldResult> sizes);
/// Returns a 1-d tensor of i64 with these sizes: a constant if all are known.
Value fromSizes(Node &node, ArrayRef<OpFoldResult> sizes);
/// Takes `size` elements of an axis from `start` on, `step` apart.
Value sliceAxis(Node &node, Value x, int64_t axis, int64_t start, int64_t size,
                int64_t step = 1);
/// Extracts the slice of x of `sizes` at `starts`. `steps` are 1 if empty.
Value takePart(Node &node, Value x, ArrayRef<OpFoldResult> starts,
               ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> steps = {});
Value setPart(Node &node, Value x, Value part, ArrayRef<OpFoldResult> starts);
/// Splits input 0 along an axis into parts of these sizes.
SmallVector<Value> takeParts(Node &node, int64_t axis,
                             ArrayRef<OpFoldResult> parts);
/// Requires at run time that the parts of a split sum to the whole dimension.
void requireSum(Node &node, ArrayRef<OpFoldResult> parts, OpFoldResult whole);
Value concat(Node &node, ArrayRef<Value> inputs, int64_t axis);
Value castTo(Node &node, Value x, Type elementType);
/// Creates a constant of rank 0.
Value scalar(Node &node, Type elementType, double value);
/// Creates a tensor with the same value everywhere.
Value filled(Node &node, Type elementType, double value,
             ArrayRef<OpFoldResult> sizes);
/// Creates a constant tensor of integers.
Value intConstant(Node &node, ArrayRef<int64_t> values, ArrayRef<int64_t> shape,
                  Type elementType = {});

template <typename Op> Value binary(Node &node, Value a, Value b) {
  auto y = node.infer<Op>(a, b);
  return failed(y) ? Value() : *y;
}
template <typename Op> Value unary(Node &node, Value x) {
  auto y = node.infer<Op>(x);
  return failed(y) ? Value() : *y;
}
Value select(Node &node, Value condition, Value a, Value b);

/// Returns a tensor of i64 that counts 0, 1, … along dimension `along`. A small
/// tensor is a constant. Other tensors are computed at run time, because the
/// model decides the size.
Value countUp(Node &node, ArrayRef<OpFoldResult> shape, size_t along = 0);

/// Creates a tensor whose elements `body` computes from their indices. The op
/// has no operands; `body` extracts the elements that it needs.
Value generate(Node &node, Type elementType, ArrayRef<OpFoldResult> sizes,
               llvm::function_ref<Value(mlir::OpBuilder &, mlir::Location,
                                        mlir::ValueRange indices)>
                   body);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// Returns the integers of input i if it is present, else of the attribute.
/// Returns nullopt if neither is present. Reports a computed input by `name`.
FailureOr<std::optional<SmallVector<int64_t>>>
intsFromInputOrAttr(Node &node, size_t i, StringRef name);

/// Counts axes from the front. Reports duplicates and axes out of range.
FailureOr<SmallVector<int64_t>> normalizeAxes(Node &node,
                                              ArrayRef<int64_t> axes,
                                              int64_t rank,
                                              StringRef name = "axes");

/// Bounds of the elements of an input: [0, count), or [0, count] if
/// `includesCount`. The value `other` is allowed, too.
struct ElementBounds {
  OpFoldResult count;
  bool includesCount = false;
  /// Noun for the things that `count` counts, for messages.
  StringRef counted;
  std::optional<int64_t> other = std::nullopt;
  StringRef otherName = "";
};

/// Reports two known sizes that do not fit. Requires other sizes to fit at run
/// time. {0} and {1} in the message stand for a and b.
LogicalResult requireFit(Node &node, nn::SizeRelation relation, OpFoldResult a,
                         OpFoldResult b, const Twine &message);

/// Requires the elements of a computed tensor of i64 to be in bounds.
void requireEach(Node &node, Value elements, StringRef name,
                 const ElementBounds &bounds);

/// Requires the integers of input i, if present, to be in bounds. Reports a bad
/// constant. For other inputs, the check is at run time.
LogicalResult requireElements(Node &node, size_t i, StringRef name,
                              const ElementBounds &bounds);

/// Applies dropout to x: sets elements to 0 with probability `ratio`, a scalar
/// tensor, and scales the others. `mask` is true for elements that are kept.
FailureOr<Value> dropRandomly(Node &node, Value x, Value ratio, Value &mask);

/// Formats a number with as few digits as possible.
std::string numberText(double value);

/// Reports axes that are known and out of range.
LogicalResult checkKnownAxes(Node &node, ArrayRef<OpFoldResult> axes,
                             int64_t rank, StringRef name = "axes");

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CORE_HELPERS_H
