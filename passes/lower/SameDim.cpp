//===- SameDim.cpp - where a dynamic dimension comes from -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/lower/Lowering.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace ingot;

namespace {
struct Dim {
  Value value;
  int64_t dim;
  bool operator==(const Dim &other) const {
    return value == other.value && dim == other.dim;
  }
};
} // namespace

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static Dim originOf(Dim start, int depth);

/// The dimension of an elementwise op's operand that decides result dimension
/// `dim`, if all that can decide it agree.
static std::optional<Dim> stepElementwise(Operation *op, int64_t dim,
                                          int depth) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  std::optional<Dim> found, foundOrigin;
  for (Value operand : op->getOperands()) {
    RankedTensorType type = typeOf(operand);
    int64_t at = dim - (rank - type.getRank());
    if (at < 0 || type.getDimSize(at) == 1)
      continue;
    Dim origin = originOf({operand, at}, depth + 1);
    if (foundOrigin && !(*foundOrigin == origin))
      return std::nullopt;
    found = Dim{operand, at};
    foundOrigin = origin;
  }
  return found;
}

/// A reshape keeps its one dynamic dimension if the static rest is as large.
static std::optional<Dim> stepReshape(nn::ReshapeOp op) {
  RankedTensorType x = typeOf(op.getX()), y = typeOf(op.getY());
  if (x.getNumDynamicDims() != 1 || y.getNumDynamicDims() != 1)
    return std::nullopt;
  auto rest = [](RankedTensorType type) {
    int64_t product = 1;
    for (int64_t size : type.getShape())
      product *= ShapedType::isDynamic(size) ? 1 : size;
    return product;
  };
  if (rest(x) != rest(y))
    return std::nullopt;
  for (int64_t i = 0; i < x.getRank(); ++i)
    if (x.isDynamicDim(i))
      return Dim{op.getX(), i};
  return std::nullopt;
}

static std::optional<Dim> step(Dim at, int depth) {
  Operation *op = at.value.getDefiningOp();
  if (!op || depth > 64)
    return std::nullopt;
  if (op->hasTrait<nn::Elementwise>())
    return stepElementwise(op, at.dim, depth);
  if (auto reshape = dyn_cast<nn::ReshapeOp>(op))
    return stepReshape(reshape);
  if (auto transpose = dyn_cast<nn::TransposeOp>(op))
    return Dim{transpose.getX(), transpose.getPerm()[at.dim]};
  if (isa<nn::SoftmaxOp, nn::LayerNormOp, nn::RMSNormOp, nn::BatchNormOp,
          nn::GroupNormOp, nn::LRNOp, nn::CumSumOp, tensor::CastOp>(op))
    return Dim{op->getOperand(0), at.dim};
  bool batch = at.dim == 0;
  if (batch && isa<nn::ConvOp, nn::ConvTransposeOp, nn::MaxPoolOp,
                   nn::AvgPoolOp>(op))
    return Dim{op->getOperand(0), 0};
  if (auto matmul = dyn_cast<nn::MatMulOp>(op)) {
    int64_t rank = typeOf(matmul.getY()).getRank();
    RankedTensorType a = typeOf(matmul.getA());
    if (at.dim == rank - 1)
      return Dim{matmul.getB(), typeOf(matmul.getB()).getRank() -
                                    (matmul.getTransposeB() ? 2 : 1)};
    if (at.dim == rank - 2)
      return Dim{matmul.getA(), a.getRank() - (matmul.getTransposeA() ? 1 : 2)};
    int64_t inA = at.dim - (rank - a.getRank());
    if (inA >= 0 && a.getDimSize(inA) != 1)
      return Dim{matmul.getA(), inA};
    return std::nullopt;
  }
  if (auto concat = dyn_cast<nn::ConcatOp>(op))
    if (int64_t(concat.getAxis()) != at.dim)
      return Dim{concat.getInputs().front(), at.dim};
  if (auto slice = dyn_cast<nn::SliceOp>(op))
    if (slice.getSizes()[at.dim] == -1)
      return Dim{slice.getX(), at.dim};
  if (auto reduce = dyn_cast<nn::ReduceOp>(op)) {
    int64_t source = at.dim;
    for (int64_t axis : reduce.getAxes())
      if (!reduce.getKeepDims() && axis <= source)
        ++source;
    if (!llvm::is_contained(reduce.getAxes(), source))
      return Dim{reduce.getX(), source};
  }
  return std::nullopt;
}

static Dim originOf(Dim at, int depth) {
  while (std::optional<Dim> next = step(at, depth++))
    at = *next;
  return at;
}

/// The name of a function argument's dimension, or "".
static StringRef nameOf(Dim at) {
  auto argument = dyn_cast<BlockArgument>(at.value);
  if (!argument)
    return "";
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return "";
  auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(),
                                                    "ingot.dim_names");
  if (!names || at.dim >= int64_t(names.size()))
    return "";
  return cast<StringAttr>(names[at.dim]).getValue();
}

bool lower::isSameDim(Value a, int64_t dimA, Value b, int64_t dimB) {
  Dim originA = originOf({a, dimA}, 0), originB = originOf({b, dimB}, 0);
  if (originA == originB)
    return true;
  StringRef nameA = nameOf(originA);
  return !nameA.empty() && nameA == nameOf(originB);
}
