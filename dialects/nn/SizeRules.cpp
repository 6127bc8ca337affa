//===- SizeRules.cpp - what ops say about sizes ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/SizeRules.h"
#include "dialects/nn/SizeSymbols.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

std::optional<int64_t> nn::knownSize(Size size) {
  if (auto constant = dyn_cast_or_null<AffineConstantExpr>(size))
    return constant.getValue();
  return std::nullopt;
}

/// Returns true if an expression is `value` for all values of its symbols.
static bool isAlways(Size size, int64_t value) {
  return knownSize(size) == value;
}

/// Returns a lower bound of `size`. Dimensions are not negative.
static std::optional<int64_t> lowerBound(Size size) {
  switch (size.getKind()) {
  case AffineExprKind::Constant:
    return cast<AffineConstantExpr>(size).getValue();
  case AffineExprKind::SymbolId:
    if (cast<AffineSymbolExpr>(size).getPosition() >= kFirstComputed)
      return std::nullopt;
    return 0;
  default:
    break;
  }
  auto binary = cast<AffineBinaryOpExpr>(size);
  std::optional<int64_t> a = lowerBound(binary.getLHS());
  std::optional<int64_t> b = knownSize(binary.getRHS());
  int64_t result;
  switch (size.getKind()) {
  case AffineExprKind::Add: {
    std::optional<int64_t> other = lowerBound(binary.getRHS());
    if (!a || !other || llvm::AddOverflow(*a, *other, result))
      return std::nullopt;
    return result;
  }
  case AffineExprKind::Mul: {
    std::optional<int64_t> other = lowerBound(binary.getRHS());
    if (!a || !other || *a < 0 || *other < 0 ||
        llvm::MulOverflow(*a, *other, result))
      return std::nullopt;
    return result;
  }
  case AffineExprKind::Mod:
    return 0;
  case AffineExprKind::FloorDiv:
    if (!a || *a < 0 || !b || *b <= 0)
      return std::nullopt;
    return *a / *b;
  default:
    return std::nullopt;
  }
}

std::optional<bool> nn::decide(SizeRelation relation, Size a, Size b) {
  std::optional<int64_t> x = knownSize(a), y = knownSize(b);
  switch (relation) {
  case SizeRelation::equal:
    if (a == b || isAlways(a - b, 0))
      return true;
    if (x && y)
      return false;
    return std::nullopt;
  case SizeRelation::broadcastTo:
    if (a == b || x == 1 || isAlways(a - b, 0))
      return true;
    if (x && y)
      return false;
    return std::nullopt;
  case SizeRelation::atLeast: {
    if (x && y)
      return *x >= *y;
    std::optional<int64_t> left = lowerBound(a - b);
    if (left && *left >= 0)
      return true;
    return std::nullopt;
  }
  case SizeRelation::multipleOf:
    if (y && *y != 0 && a.isMultipleOf(*y))
      return true;
    if (x && y)
      return *y != 0 && *x % *y == 0;
    return std::nullopt;
  }
  llvm_unreachable("unknown relation");
}

std::string nn::formatSizes(StringRef message, int64_t a, int64_t b) {
  std::string text = message.str();
  for (auto [mark, value] : {std::pair("{0}", a), std::pair("{1}", b)})
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos;)
      text.replace(at, strlen(mark), std::to_string(value));
  return text;
}

SmallVector<Size> SizeRules::sizesOf(Value tensor) {
  SmallVector<Size> sizes;
  for (int64_t size : cast<RankedTensorType>(tensor.getType()).getShape())
    sizes.push_back(ShapedType::isDynamic(size) ? Size() : constant(size));
  return sizes;
}

Size SizeRules::sizeOfIndex(Value) { return Size(); }

Size SizeRules::constant(int64_t value) const {
  return getAffineConstantExpr(value, context);
}

Size SizeRules::product(ArrayRef<Size> sizes) const {
  Size result = constant(1);
  for (Size size : sizes)
    result = multiply(result, size);
  return result;
}

LogicalResult SizeRules::require(SizeRelation relation, Size a, Size b,
                                 const Twine &message) {
  if (!a || !b)
    return success();
  std::optional<bool> holds = decide(relation, a, b);
  if (!holds) {
    postpone(relation, a, b, message);
    return success();
  }
  if (*holds) {
    countProved();
    return success();
  }
  return emitOptionalError(loc, formatSizes(message.str(),
                                            knownSize(a).value_or(-1),
                                            knownSize(b).value_or(-1)));
}

FailureOr<Size> SizeRules::unify(Size a, Size b, const Twine &message) {
  if (failed(require(SizeRelation::equal, a, b, message)))
    return failure();
  return !a || (b && knownSize(b)) ? b : a;
}

FailureOr<Size> SizeRules::broadcast(Size a, Size b, const Twine &message) {
  std::optional<int64_t> x = knownSize(a), y = knownSize(b);
  if (x == 1)
    return b;
  if (y == 1)
    return a;
  // In a broadcast with a constant other than 1, a size must be equal to the
  // constant or be 1.
  if (y) {
    if (failed(require(SizeRelation::broadcastTo, a, b, message)))
      return failure();
    return b;
  }
  if (x) {
    if (failed(require(SizeRelation::broadcastTo, b, a, message)))
      return failure();
    return a;
  }
  if (!a || !b)
    return Size();
  if (decide(SizeRelation::equal, a, b) == true) {
    countProved();
    return a;
  }
  if (Size both = absorbing(a, b)) {
    countProved();
    return both;
  }
  // A run takes b as the result if a is 1, else a. The remaining check is that
  // b broadcasts to the result. If b is the result in all runs, the check is
  // that a broadcasts to it.
  Size result = broadcastAtRun(a, b);
  if (failed(require(SizeRelation::broadcastTo, result == b ? a : b, result,
                     message)))
    return failure();
  return result;
}

FailureOr<SmallVector<Size>> SizeRules::broadcast(ArrayRef<Size> a,
                                                  ArrayRef<Size> b,
                                                  const Twine &what) {
  if (a.size() < b.size())
    std::swap(a, b);
  SmallVector<Size> result(a.begin(), a.end());
  size_t offset = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    FailureOr<Size> size =
        broadcast(a[offset + i], b[i],
                  what + ": dimension " + Twine(offset + i) +
                      " is {0} in one and {1} in the other");
    if (failed(size))
      return failure();
    result[offset + i] = *size;
  }
  return result;
}
