//===- EvaluateReduction.cpp - reductions of constants --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/EvaluateImpl.h"
#include "dialects/nn/NNDialect.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

/// Returns acc (op) x. Integers are computed as unsigned, so that they wrap
/// without undefined behaviour.
template <typename T>
static T combine(ReduceKind kind, T acc, T x, bool isUnsigned) {
  using Wide = std::conditional_t<std::is_same_v<T, double>, double, uint64_t>;
  auto less = [&](T a, T b) {
    if constexpr (!std::is_same_v<T, double>)
      if (isUnsigned)
        return uint64_t(a) < uint64_t(b);
    return a < b;
  };
  switch (kind) {
  case ReduceKind::sum:
  case ReduceKind::mean:
    return T(Wide(acc) + Wide(x));
  case ReduceKind::sum_square:
    return T(Wide(acc) + Wide(x) * Wide(x));
  case ReduceKind::prod:
    return T(Wide(acc) * Wide(x));
  case ReduceKind::max:
    if constexpr (std::is_same_v<T, double>)
      if (std::isnan(x))
        return x;
    return less(acc, x) ? x : acc;
  case ReduceKind::min:
    if constexpr (std::is_same_v<T, double>)
      if (std::isnan(x))
        return x;
    return less(x, acc) ? x : acc;
  }
  return acc;
}

/// Reduces the elements of `x` over the op's axes.
template <typename T, typename Values>
static std::optional<std::vector<T>> reduce(ReduceOp op, const Values &x,
                                            int64_t results, bool isUnsigned) {
  auto type = cast<RankedTensorType>(op.getX().getType());
  ReduceKind kind = op.getKind();
  SmallVector<int64_t> kept(type.getShape());
  int64_t reduced = 1;
  for (int64_t axis : op.getAxes()) {
    reduced *= kept[axis];
    kept[axis] = 1;
  }
  bool needsOne = kind == ReduceKind::max || kind == ReduceKind::min ||
                  kind == ReduceKind::mean;
  if (reduced == 0 && needsOne)
    return std::nullopt;
  std::vector<T> out;
  out.assign(results, kind == ReduceKind::prod ? T(1) : T(0));
  std::vector<char> seen;
  seen.assign(results, 0);
  StridedOffset offset(type.getShape(),
                       broadcastStrides(kept, type.getShape()));
  for (T value : x) {
    bool first = (kind == ReduceKind::max || kind == ReduceKind::min) &&
                 !seen[*offset];
    seen[*offset] = 1;
    out[*offset] =
        first ? value : combine<T>(kind, out[*offset], value, isUnsigned);
    ++offset;
  }
  if (kind == ReduceKind::mean)
    for (T &value : out)
      value = isUnsigned ? T(uint64_t(value) / uint64_t(reduced))
                         : T(value / T(reduced));
  return out;
}

ElementsAttr nn::evaluateReduction(Operation *op,
                                   ArrayRef<ElementsAttr> operands,
                                   RankedTensorType type) {
  auto reduceOp = dyn_cast<ReduceOp>(op);
  if (!reduceOp)
    return {};
  if (isa<FloatType>(type.getElementType())) {
    auto x = readDoubles(operands[0]);
    if (!x)
      return {};
    auto result = reduce<double>(reduceOp, *x, type.getNumElements(), false);
    return result ? makeConstantAttr(type, *result) : ElementsAttr();
  }
  auto x = readInts(operands[0]);
  if (!x)
    return {};
  auto result = reduce<int64_t>(reduceOp, *x, type.getNumElements(),
                                type.getElementType().isUnsignedInteger());
  return result ? makeIntsAttr(type, *result) : ElementsAttr();
}
