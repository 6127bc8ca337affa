//===- SameDim.cpp - where a dynamic dimension comes from -----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/support/Lowering.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace ingot;
using lower::typeOf;

namespace {
using Dim = std::pair<Value, int64_t>;

/// Follows dimensions towards the model's inputs. Residual connections make the
/// paths up as many as 2^n, so what was found is kept.
class Origins {
public:
  /// As far up as the dimension's size surely is the same; where the search
  /// ends early, that is a dimension further down.
  Dim of(Dim at);

private:
  std::optional<Dim> step(Dim at);
  std::optional<Dim> stepElementwise(Operation *op, int64_t dim);

  llvm::DenseMap<Dim, Dim> known;
  int steps = 0, depth = 0;
};

/// Bounds of the search: in time, and of the stack.
constexpr int kMaxSteps = 4096, kMaxDepth = 256;

} // namespace

/// Where the dimensions of an elementwise op's operands that decide result
/// dimension `dim` come from, if that is one place.
std::optional<Dim> Origins::stepElementwise(Operation *op, int64_t dim) {
  int64_t rank = typeOf(op->getResult(0)).getRank();
  std::optional<Dim> found;
  for (Value operand : op->getOperands()) {
    RankedTensorType type = typeOf(operand);
    int64_t at = dim - (rank - type.getRank());
    if (at < 0 || type.getDimSize(at) == 1)
      continue;
    Dim origin = of({operand, at});
    if (found && *found != origin)
      return std::nullopt;
    found = origin;
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

std::optional<Dim> Origins::step(Dim at) {
  auto [value, dim] = at;
  Operation *op = value.getDefiningOp();
  if (!op || ++steps > kMaxSteps)
    return std::nullopt;
  if (isa<nn::ElementwiseOpInterface>(op))
    return stepElementwise(op, dim);
  if (auto reshape = dyn_cast<nn::ReshapeOp>(op))
    return stepReshape(reshape);
  if (auto transpose = dyn_cast<nn::TransposeOp>(op))
    return Dim{transpose.getX(), transpose.getPerm()[dim]};
  if (isa<nn::SoftmaxOp, nn::LayerNormOp, nn::RMSNormOp, nn::BatchNormOp,
          nn::GroupNormOp, nn::LRNOp, nn::CumSumOp, tensor::CastOp>(op))
    return Dim{op->getOperand(0), dim};
  bool batch = dim == 0;
  if (batch && isa<nn::ConvOp, nn::ConvTransposeOp, nn::MaxPoolOp,
                   nn::AvgPoolOp>(op))
    return Dim{op->getOperand(0), 0};
  if (auto matmul = dyn_cast<nn::MatMulOp>(op)) {
    int64_t rank = typeOf(matmul.getY()).getRank();
    RankedTensorType a = typeOf(matmul.getA());
    if (dim == rank - 1)
      return Dim{matmul.getB(), typeOf(matmul.getB()).getRank() -
                                    (matmul.getTransposeB() ? 2 : 1)};
    if (dim == rank - 2)
      return Dim{matmul.getA(), a.getRank() - (matmul.getTransposeA() ? 1 : 2)};
    int64_t inA = dim - (rank - a.getRank());
    if (inA >= 0 && a.getDimSize(inA) != 1)
      return Dim{matmul.getA(), inA};
    return std::nullopt;
  }
  if (auto concat = dyn_cast<nn::ConcatOp>(op))
    if (int64_t(concat.getAxis()) != dim)
      return Dim{concat.getInputs().front(), dim};
  if (auto slice = dyn_cast<nn::SliceOp>(op))
    if (slice.getSizes()[dim] == -1)
      return Dim{slice.getX(), dim};
  if (auto reduce = dyn_cast<nn::ReduceOp>(op)) {
    int64_t source = dim;
    for (int64_t axis : reduce.getAxes())
      if (!reduce.getKeepDims() && axis <= source)
        ++source;
    if (!llvm::is_contained(reduce.getAxes(), source))
      return Dim{reduce.getX(), source};
  }
  return std::nullopt;
}

Dim Origins::of(Dim at) {
  if (depth == kMaxDepth)
    return at;
  ++depth;
  SmallVector<Dim> path;
  while (true) {
    if (auto found = known.find(at); found != known.end()) {
      at = found->second;
      break;
    }
    path.push_back(at);
    std::optional<Dim> next = step(at);
    if (!next)
      break;
    at = *next;
  }
  for (Dim passed : path)
    known[passed] = at;
  --depth;
  return at;
}

/// The name of a function argument's dimension, or "".
static StringRef nameOf(Dim at) {
  auto [value, dim] = at;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return "";
  auto function =
      dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  if (!function)
    return "";
  auto names = function.getArgAttrOfType<ArrayAttr>(
      argument.getArgNumber(), IngotDialect::DimNamesAttrHelper::getNameStr());
  if (!names || dim >= int64_t(names.size()))
    return "";
  return cast<StringAttr>(names[dim]).getValue();
}

bool lower::isSameDim(Value a, int64_t dimA, Value b, int64_t dimB) {
  Origins origins;
  Dim originA = origins.of({a, dimA}), originB = origins.of({b, dimB});
  if (originA == originB)
    return true;
  StringRef nameA = nameOf(originA);
  return !nameA.empty() && nameA == nameOf(originB);
}
