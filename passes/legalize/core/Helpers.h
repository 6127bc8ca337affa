//===- Helpers.h - what many legalizers build -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sizes are OpFoldResults: an i64 attribute where they are known, an index
// value where they follow from a dynamic dimension at run time.
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
/// Dimension i of a tensor.
OpFoldResult sizeOf(Node &node, Value tensor, int64_t i);
Sizes sizesOf(Node &node, Value tensor);
/// The index value of a size.
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
/// One dimension of a broadcast: b where a is 1, else a.
OpFoldResult broadcastSizes(Node &node, OpFoldResult a, OpFoldResult b);
/// Whether two sizes are one dimension of one tensor, or one value or number.
bool isSameSize(OpFoldResult a, OpFoldResult b);
/// Whether two sizes are one dimension of one tensor.
bool isSameDim(OpFoldResult a, OpFoldResult b);

/// The elements of a tensor of integers of rank 0 or 1 and known length, as far
/// as they can be known: constants, and what dynamic dimensions they are.
/// Reports a tensor of another kind, and a list too long to be taken apart.
FailureOr<Sizes> elementsOf(Node &node, Value tensor);

/// Index arithmetic at run time, written short.
struct Indices {
  mlir::OpBuilder &b;
  mlir::Location loc;

  Value n(int64_t value) {
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  /// A number as an index.
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
  /// x where it is not negative, else x + size.
  Value wrap(Value x, Value size) {
    return choose(less(x, n(0)), add(x, size), x);
  }
};

/// Whether a size follows from dimensions alone, so that it is not negative.
bool isFromDims(OpFoldResult size);
/// Whether a number cannot be negative: dimensions, what follows from them, and
/// what is held above 0.
bool isNotNegative(OpFoldResult number);

/// x, called `what`, with those of its open sizes that `shape` knows, which the
/// run checks. Sizes that are known stay, and so does x if the ranks differ.
Value pinSizes(Node &node, Value x, ArrayRef<int64_t> shape, const Twine &what);
/// The same of input i, if it is there.
void pinInput(Node &node, size_t i, ArrayRef<int64_t> shape, const Twine &what);
/// x with dimension `dim` of `size` elements, if one of them is known.
Value pinDim(Node &node, Value x, int64_t dim, int64_t size, const Twine &what);
/// Input i has one element, if it is there.
void pinToOne(Node &node, size_t i, const Twine &what);

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

/// x in a shape with as many elements.
Value reshape(Node &node, Value x, ArrayRef<OpFoldResult> sizes);
Value reshape(Node &node, Value x, ArrayRef<int64_t> shape);
Value unsqueeze(Node &node, Value x, ArrayRef<int64_t> axes);
Value transpose(Node &node, Value x, ArrayRef<int64_t> perm);
/// x with dimension `from` at place `to`.
Value moveAxis(Node &node, Value x, int64_t from, int64_t to);
/// Tensors of one shape along a new dimension `axis`. Null, and says why, if
/// they are not.
Value joinRows(Node &node, ArrayRef<Value> rows, int64_t axis = 0);
/// x, whose shape broadcasts to sizes, repeated to them.
Value broadcastTo(Node &node, Value x, ArrayRef<OpFoldResult> sizes);
/// A 1-d tensor of i64 from sizes: constant if all are known.
Value fromSizes(Node &node, ArrayRef<OpFoldResult> sizes);
/// `size` elements of an axis from `start` on, with a step; all known.
Value sliceAxis(Node &node, Value x, int64_t axis, int64_t start, int64_t size,
                int64_t step = 1);
/// The part of x of `sizes` at `starts`, each element or those that `steps`
/// say, and x with `part` there.
Value takePart(Node &node, Value x, ArrayRef<OpFoldResult> starts,
               ArrayRef<OpFoldResult> sizes, ArrayRef<OpFoldResult> steps = {});
Value setPart(Node &node, Value x, Value part, ArrayRef<OpFoldResult> starts);
/// Input 0 in parts of these sizes along an axis.
SmallVector<Value> takeParts(Node &node, int64_t axis,
                             ArrayRef<OpFoldResult> parts);
/// Requires of the run that the parts of a split are the whole dimension.
void requireSum(Node &node, ArrayRef<OpFoldResult> parts, OpFoldResult whole);
Value concat(Node &node, ArrayRef<Value> inputs, int64_t axis);
Value castTo(Node &node, Value x, Type elementType);
/// A rank-0 constant.
Value scalar(Node &node, Type elementType, double value);
/// A tensor of one value everywhere.
Value filled(Node &node, Type elementType, double value,
             ArrayRef<OpFoldResult> sizes);
/// A constant tensor of integers.
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

/// 0, 1, … as i64 along one dimension of `shape`, the same along the others. A
/// constant if it is small, else computed: the model says how long it is.
Value countUp(Node &node, ArrayRef<OpFoldResult> shape, size_t along = 0);

/// A tensor whose element at indices is what `body` gives for them, without
/// operands (the body extracts what it needs).
Value generate(Node &node, Type elementType, ArrayRef<OpFoldResult> sizes,
               llvm::function_ref<Value(mlir::OpBuilder &, mlir::Location,
                                        mlir::ValueRange indices)>
                   body);

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

/// The integers of input i if it is there, else of the attribute; nullopt if
/// neither is. Reports a computed input: `what` names it.
FailureOr<std::optional<SmallVector<int64_t>>>
intsFromInputOrAttr(Node &node, size_t i, StringRef name);

/// Axes counted from the front; reports duplicates and what is out of range.
FailureOr<SmallVector<int64_t>> normalizeAxes(Node &node,
                                              ArrayRef<int64_t> axes,
                                              int64_t rank,
                                              StringRef name = "axes");

/// What each element of an input may be: from 0 up to `count` or below it, or
/// `other`.
struct ElementBounds {
  OpFoldResult count;
  bool includesCount = false;
  /// What there are `count` of.
  StringRef counted;
  std::optional<int64_t> other = std::nullopt;
  StringRef otherName = "";
};

/// Reports two sizes that are known and do not fit, else requires of the run
/// that they do. {0} and {1} in the message stand for a and b.
LogicalResult requireFit(Node &node, nn::SizeRelation relation, OpFoldResult a,
                         OpFoldResult b, const Twine &message);

/// The same of what a run computes, a tensor of i64.
void requireEach(Node &node, Value elements, StringRef name,
                 const ElementBounds &bounds);

/// Requires it of the integers of input i, if it is there: reports a constant
/// that is none, else the run looks at all of them.
LogicalResult requireElements(Node &node, size_t i, StringRef name,
                              const ElementBounds &bounds);

/// x with elements set to 0 by chance `ratio`, a scalar tensor, and the others
/// grown by as much; `mask` says which are left.
FailureOr<Value> dropRandomly(Node &node, Value x, Value ratio, Value &mask);

/// A number as short as it can be told.
std::string numberText(double value);

/// Reports those among axes that are known and out of range.
LogicalResult checkKnownAxes(Node &node, ArrayRef<OpFoldResult> axes,
                             int64_t rank, StringRef name = "axes");

} // namespace ingot::legalize

#endif // INGOT_PASSES_LEGALIZE_CORE_HELPERS_H
