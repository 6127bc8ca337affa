//===- Smoothable.cpp - tensors whose channels may be scaled --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/repair/Smoothable.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/StringSet.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;
using support::typeOf;

namespace {

/// Finds the users of a tensor, and the dimension of the tensor that counts
/// channels.
class ReaderFinder {
public:
  explicit ReaderFinder(const llvm::DenseSet<Operation *> &products)
      : products(products) {}

  std::optional<SmoothableTensor> run(Value value);

private:
  bool add(OpOperand &use, int64_t *axis, bool isPooled);
  bool addProduct(Operation *op, int64_t *axis, bool isPooled);
  bool addPool(Operation *op, int64_t *axis);

  const llvm::DenseSet<Operation *> &products;
  SmoothableTensor found;
};

} // namespace

bool quantize::scalesChannels(Operation *op) {
  auto mul = dyn_cast_or_null<nn::MulOp>(op);
  if (!mul || !nn::getConstant(mul.getB()) || nn::getConstant(mul.getA()))
    return false;
  // Skip larger constants. They are as large as data, and checking them takes
  // too long.
  constexpr int64_t kMaxChannels = 1 << 16;
  const int64_t count = typeOf(mul.getB()).getNumElements();
  return count > 1 && count <= kMaxChannels &&
         llvm::all_of(*nn::getConstantDoubles(mul.getB()), [](double factor) {
           int exponent = 0;
           return std::frexp(factor, &exponent) == 0.5;
         });
}

bool ReaderFinder::addProduct(Operation *op, int64_t *axis, bool isPooled) {
  int64_t channels = 1, weightsAxis = 1;
  bool isCoarse = !isPooled;
  if (auto conv = dyn_cast<nn::ConvOp>(op)) {
    if (conv.getGroups() > 1) {
      // In a depthwise convolution, the input channels are also the output
      // channels, so dimension 0 counts both.
      if (typeOf(conv.getW()).getDimSize(1) != 1 ||
          typeOf(conv.getW()).getDimSize(0) != int64_t(conv.getGroups()))
        return false;
      weightsAxis = 0;
      isCoarse = false;
    }
  } else if (isa<nn::ConvTransposeOp>(op)) {
    // The first dimension of the weights counts the input channels of all
    // groups.
    weightsAxis = 0;
  } else {
    channels = typeOf(op->getOperand(0)).getRank() - 1;
    auto matmul = cast<nn::MatMulOp>(op);
    weightsAxis = termsAxis(matmul);
    if (matmul.getTransposeA())
      return false;
  }
  if (*axis >= 0 && *axis != channels)
    return false;
  *axis = channels;
  found.readers.push_back({op, weightsAxis, isCoarse});
  return true;
}

/// Adds a mean over dimensions other than channels. Only products may read the
/// mean.
bool ReaderFinder::addPool(Operation *op, int64_t *axis) {
  auto reduce = dyn_cast<nn::ReduceOp>(op);
  if (reduce && (reduce.getKind() != nn::ReduceKind::mean ||
                 !reduce.getKeepDims() ||
                 llvm::is_contained(reduce.getAxes(), int64_t(1))))
    return false;
  found.pools.push_back(op);
  return !op->use_empty() &&
         llvm::all_of(op->getUses(), [&](OpOperand &use) {
           return isa<nn::ConvOp>(use.getOwner()) &&
                  add(use, axis, /*isPooled=*/true);
         });
}

bool ReaderFinder::add(OpOperand &use, int64_t *axis, bool isPooled) {
  Operation *op = use.getOwner();
  if (use.getOperandNumber() == 0 && products.contains(op))
    return addProduct(op, axis, isPooled);
  if (isPooled)
    return false;
  if (isa<nn::ReduceOp, nn::AvgPoolOp>(op))
    return addPool(op, axis);
  if (!isa<nn::AddOp, nn::MulOp>(op) ||
      op->getResult(0).getType() != use.get().getType())
    return false;
  found.others.push_back(&use);
  return true;
}

std::optional<SmoothableTensor> ReaderFinder::run(Value value) {
  int64_t axis = -1;
  for (OpOperand &use : value.getUses())
    if (!add(use, &axis, /*isPooled=*/false))
      return std::nullopt;
  if (found.readers.empty() || axis >= typeOf(value).getRank() ||
      typeOf(value).isDynamicDim(unsigned(axis)))
    return std::nullopt;
  found.value = value;
  found.axis = axis;
  found.channels = typeOf(value).getDimSize(axis);
  for (const SmoothableTensor::Reader &reader : found.readers)
    if (typeOf(reader.product->getOperand(weightsOperand(reader.product)))
            .getDimSize(reader.weightsAxis) != found.channels)
      return std::nullopt;
  return std::move(found);
}

SmallVector<SmoothableTensor>
quantize::findSmoothableTensors(func::FuncOp function) {
  llvm::DenseSet<Operation *> products;
  for (Operation *op : findProducts(function, [](Operation *op) {
         return areFinite(op->getOperand(weightsOperand(op)));
       }))
    products.insert(op);
  SmallVector<SmoothableTensor> found;
  llvm::StringSet<> taken;
  llvm::DenseSet<Operation *> pools;
  for (Operation &op : function.getBody().front()) {
    // Skip ops that only move values, because their results share the
    // quantization of the operand. Skip pools, because a pool takes over the
    // factors of its operand.
    if (op.getNumResults() != 1 || movesValues(&op) || pools.contains(&op) ||
        !isa<RankedTensorType>(op.getResult(0).getType()) ||
        !typeOf(op.getResult(0)).getElementType().isF32() ||
        nn::getConstant(op.getResult(0)))
      continue;
    std::optional<SmoothableTensor> tensor =
        ReaderFinder(products).run(op.getResult(0));
    if (!tensor)
      continue;
    pools.insert_range(tensor->pools);
    std::string base = nodeNameOf(op.getLoc());
    if (base.empty())
      base = "tensor";
    tensor->name = base;
    for (unsigned count = 2; !taken.insert(tensor->name).second; ++count)
      tensor->name = base + "#" + std::to_string(count);
    found.push_back(std::move(*tensor));
  }
  return found;
}
