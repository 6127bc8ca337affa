//===- IndexLines.cpp - indices that form a range -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/shape/IndexLines.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/Elements.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/TensorTypes.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::shape;
using nn::typeOf;

using MaybeLine = std::optional<IndexLine>;

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

/// Returns true if an integer may be an index, from the front or the end. The
/// product of two such integers does not overflow.
static bool isPosition(int64_t number) {
  return -nn::kMostElements <= number && number <= nn::kMostElements;
}

static MaybeLine makeLine(MLIRContext *context, int64_t start, int64_t step,
                          int64_t dim) {
  if (!isPosition(start) || step < 0 || !isPosition(step))
    return std::nullopt;
  IndexLine line;
  line.start = Builder(context).getIndexAttr(start);
  line.step = step;
  line.dim = dim;
  return line;
}

/// Returns the range formed by each `stride`-th element of `values`, an index
/// tensor of `shape` in row-major order.
static MaybeLine lineOfConstant(MLIRContext *context, ArrayRef<int64_t> values,
                                ArrayRef<int64_t> shape, int64_t stride) {
  int64_t count = ShapedType::getNumElements(shape);
  if (count == 0)
    return std::nullopt;
  int64_t start = values[0], step = 0, dim = IndexLine::kNoDim, rows = 1;
  // Finds the dimension in which the second element differs from the first.
  int64_t inner = count;
  for (auto [d, size] : llvm::enumerate(shape)) {
    inner /= size;
    int64_t second = size > 1 ? values[inner * stride] : start;
    if (!isPosition(start) || !isPosition(second))
      return std::nullopt;
    if (second != start) {
      dim = d;
      step = second - start;
      rows = inner;
    }
  }
  MaybeLine line = makeLine(context, start, step, dim);
  if (!line)
    return std::nullopt;
  for (int64_t i = 0; i < count; ++i) {
    int64_t position = dim == IndexLine::kNoDim ? 0 : i / rows % shape[dim];
    if (values[i * stride] != start + position * step)
      return std::nullopt;
  }
  return line;
}

//===----------------------------------------------------------------------===//
// Ops that move indices
//===----------------------------------------------------------------------===//

/// Returns true if the op computes 0, 1, …, as the legalizer of Range does.
static bool countsPositions(linalg::GenericOp op) {
  if (op.getNumDpsInputs() != 0 || op.getNumResults() != 1 ||
      typeOf(op.getResult(0)).getRank() != 1)
    return false;
  Operation *yield = op.getBody()->getTerminator();
  auto cast = yield->getOperand(0).getDefiningOp<arith::IndexCastOp>();
  return cast && cast.getIn().getDefiningOp<linalg::IndexOp>();
}

/// Returns the dimensions with another size than 1.
static SmallVector<int64_t> wideDims(RankedTensorType type) {
  return llvm::to_vector(
      llvm::make_filter_range(llvm::seq<int64_t>(0, type.getRank()),
                              [&](int64_t d) {
                                return type.getDimSize(d) != 1;
                              }));
}

/// Follows a reshape that only adds or drops dimensions of size 1.
static MaybeLine reshaped(IndexLine line, Value from, Value to,
                          const SameSizes &sizes) {
  if (line.isConstant())
    return line;
  SmallVector<int64_t> before = wideDims(typeOf(from)),
                       after = wideDims(typeOf(to));
  if (before.size() != after.size())
    return std::nullopt;
  for (auto [a, b] : llvm::zip_equal(before, after)) {
    if (!sizes.isSame(from, a, to, b))
      return std::nullopt;
    if (a == line.dim) {
      line.dim = b;
      return line;
    }
  }
  llvm_unreachable("the line's dimension is not of size 1");
}

static MaybeLine expanded(IndexLine line, Value from, Value to,
                          const SameSizes &sizes) {
  if (line.isConstant())
    return line;
  int64_t dim = line.dim + typeOf(to).getRank() - typeOf(from).getRank();
  if (!sizes.isSame(from, line.dim, to, dim))
    return std::nullopt;
  line.dim = dim;
  return line;
}

/// Takes each `step`-th index along the range's dimension, from `offset` on.
static MaybeLine sliced(IndexLine line, OpFoldResult offset, int64_t step) {
  if (line.isConstant())
    return line;
  if (step < 1 || !isPosition(step))
    return std::nullopt;
  std::optional<int64_t> start = getConstantIntValue(line.start),
                         known = getConstantIntValue(offset);
  bool isCounted = start == 0 && line.step == 1;
  if (!isCounted && !(start && known && isPosition(*known)))
    return std::nullopt;
  MaybeLine part =
      makeLine(offset.getContext(), isCounted ? 0 : *start + *known * line.step,
               line.step * step, line.dim);
  if (!part)
    return std::nullopt;
  if (isCounted)
    part->start = offset;
  part->counted = line.counted;
  return part;
}

static MaybeLine sliced(IndexLine line, tensor::ExtractSliceOp op) {
  if (op.getType().getRank() != op.getSourceType().getRank())
    return std::nullopt;
  if (line.isConstant())
    return line;
  std::optional<int64_t> step =
      getConstantIntValue(op.getMixedStrides()[line.dim]);
  return step ? sliced(line, op.getMixedOffsets()[line.dim], *step)
              : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Ops that compute with indices
//===----------------------------------------------------------------------===//

/// Returns the constant scalar operand and the other operand, if the latter has
/// the type of the result.
static std::optional<std::pair<Value, int64_t>> withNumber(Operation *op,
                                                           bool commutes) {
  for (auto [a, b] : {std::pair(0, 1), std::pair(1, 0)}) {
    if (a == 1 && !commutes)
      break;
    Value line = op->getOperand(a);
    std::optional<double> number = nn::getSplat(op->getOperand(b));
    if (number && std::abs(*number) <= nn::kMostElements &&
        line.getType() == op->getResult(0).getType())
      return std::pair(line, int64_t(*number));
  }
  return std::nullopt;
}

/// Returns the range `factor * indices + sum`.
static MaybeLine computed(MaybeLine line, int64_t factor, int64_t sum) {
  if (!line || (factor == 1 && sum == 0))
    return line;
  std::optional<int64_t> start = getConstantIntValue(line->start);
  if (!start || factor < 1)
    return std::nullopt;
  return makeLine(line->start.getContext(), *start * factor + sum,
                  line->step * factor, line->dim);
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

static MaybeLine lineOf(Value indices, const SameSizes &sizes, int depth);

static MaybeLine lineOfOp(Operation *op, const SameSizes &sizes, int depth) {
  Value result = op->getResult(0);
  auto moved = [&](Value from, auto move) -> MaybeLine {
    MaybeLine line = lineOf(from, sizes, depth - 1);
    return line ? move(*line) : std::nullopt;
  };
  auto withOther = [&](bool commutes, auto compute) -> MaybeLine {
    auto operands = withNumber(op, commutes);
    if (!operands)
      return std::nullopt;
    return compute(lineOf(operands->first, sizes, depth - 1),
                   operands->second);
  };
  auto asReshaped = [&](Value from) {
    return moved(from, [&](IndexLine line) {
      return reshaped(line, from, result, sizes);
    });
  };
  return llvm::TypeSwitch<Operation *, MaybeLine>(op)
      .Case([&](linalg::GenericOp op) -> MaybeLine {
        if (!countsPositions(op))
          return std::nullopt;
        IndexLine line = shape::positionsOf(op.getContext(), 0);
        line.counted = result;
        return line;
      })
      .Case([&](nn::CastOp op) -> MaybeLine {
        // A cast to fewer bits may change the value.
        auto isWide = [](Value value) {
          auto type = dyn_cast<IntegerType>(typeOf(value).getElementType());
          return type && type.getWidth() >= 32;
        };
        return isWide(op.getX()) && isWide(result)
                   ? lineOf(op.getX(), sizes, depth - 1)
                   : std::nullopt;
      })
      .Case([&](tensor::CastOp op) {
        return lineOf(op.getSource(), sizes, depth - 1);
      })
      .Case([&](nn::MulOp) {
        return withOther(/*commutes=*/true, [](MaybeLine line, int64_t n) {
          return computed(line, n, 0);
        });
      })
      .Case([&](nn::AddOp) {
        return withOther(/*commutes=*/true, [](MaybeLine line, int64_t n) {
          return computed(line, 1, n);
        });
      })
      .Case([&](nn::SubOp) {
        return withOther(/*commutes=*/false, [](MaybeLine line, int64_t n) {
          return computed(line, 1, -n);
        });
      })
      .Case([&](nn::SliceOp op) {
        return moved(op.getX(), [&](IndexLine line) -> MaybeLine {
          if (line.isConstant())
            return line;
          Builder b(op.getContext());
          return sliced(line, b.getIndexAttr(op.getStarts()[line.dim]),
                        op.getSteps()[line.dim]);
        });
      })
      .Case([&](tensor::ExtractSliceOp op) {
        return moved(op.getSource(),
                     [&](IndexLine line) { return sliced(line, op); });
      })
      .Case([&](nn::ReshapeOp op) { return asReshaped(op.getX()); })
      .Case([&](tensor::ReshapeOp op) { return asReshaped(op.getSource()); })
      .Case([&](nn::BroadcastToOp op) {
        return moved(op.getX(), [&](IndexLine line) {
          return expanded(line, op.getX(), result, sizes);
        });
      })
      .Case([&](nn::TransposeOp op) {
        return moved(op.getX(), [&](IndexLine line) -> MaybeLine {
          if (!line.isConstant())
            line.dim = llvm::find(op.getPerm(), line.dim) -
                       op.getPerm().begin();
          return line;
        });
      })
      .Default([](Operation *) { return std::nullopt; });
}

/// Returns the range that all elements of a tensor form. Follows at most
/// `depth` ops.
static MaybeLine lineOf(Value indices, const SameSizes &sizes, int depth) {
  RankedTensorType type = typeOf(indices);
  MaybeLine line;
  if (std::optional<double> splat = nn::getSplat(indices)) {
    if (std::abs(*splat) <= nn::kMostElements)
      line = makeLine(indices.getContext(), int64_t(*splat), 0,
                      IndexLine::kNoDim);
  } else if (auto values = nn::getConstantInts(indices)) {
    line = lineOfConstant(indices.getContext(), *values, type.getShape(), 1);
  } else if (Operation *op = indices.getDefiningOp(); op && depth > 0) {
    line = lineOfOp(op, sizes, depth);
  }
  // The elements along a dimension of size 1 are constant.
  if (line && !line->isConstant() && type.getDimSize(line->dim) == 1) {
    line->dim = IndexLine::kNoDim;
    line->step = 0;
  }
  return line;
}

IndexLine shape::positionsOf(MLIRContext *context, int64_t dim) {
  return *makeLine(context, 0, 1, dim);
}

std::optional<IndexLine> shape::lineOf(Value indices, const SameSizes &sizes) {
  constexpr int kMaxDepth = 16;
  return ::lineOf(indices, sizes, kMaxDepth);
}

std::optional<SmallVector<IndexLine>> shape::linesOf(Value indices,
                                                     const SameSizes &sizes) {
  ArrayRef<int64_t> shape = typeOf(indices).getShape();
  int64_t count = shape.back();
  SmallVector<IndexLine> lines;
  auto add = [&](MaybeLine line) {
    if (line)
      lines.push_back(*line);
    return line.has_value();
  };
  if (auto values = nn::getConstantInts(indices)) {
    for (int64_t i = 0; i < count; ++i)
      if (!add(lineOfConstant(indices.getContext(),
                              ArrayRef(*values).drop_front(i),
                              shape.drop_back(), count)))
        return std::nullopt;
    return lines;
  }
  SmallVector<Value> parts = {indices};
  if (auto concat = indices.getDefiningOp<nn::ConcatOp>();
      concat && int64_t(concat.getAxis()) == typeOf(indices).getRank() - 1)
    parts.assign(concat.getInputs().begin(), concat.getInputs().end());
  if (int64_t(parts.size()) != count)
    return std::nullopt;
  for (Value part : parts)
    if (typeOf(part).getShape().back() != 1 ||
        !add(shape::lineOf(part, sizes)))
      return std::nullopt;
  return lines;
}
