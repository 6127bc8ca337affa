//===- Norms.cpp - normalizations before products -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/Norms.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/Sites.h"
#include "passes/quantize/Weights.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// Whether a factor can go into the norm's own constants: those of channels.
static bool takesFactors(Operation *op, int64_t channels) {
  auto isOfChannels = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getRank() == 1 && type.getDimSize(0) == channels &&
           nn::getConstant(value);
  };
  const auto last = uint64_t(
      cast<RankedTensorType>(op->getResult(0).getType()).getRank() - 1);
  if (auto norm = dyn_cast<nn::LayerNormOp>(op))
    return norm.getAxis() == last && norm.getScale() &&
           isOfChannels(norm.getScale()) &&
           (!norm.getBias() || isOfChannels(norm.getBias()));
  auto norm = cast<nn::RMSNormOp>(op);
  return norm.getAxis() == last && isOfChannels(norm.getScale());
}

SmallVector<NormBeforeProducts>
quantize::findNormsBeforeProducts(func::FuncOp function) {
  llvm::DenseSet<Operation *> products;
  for (Operation *op : findProducts(function, [](Operation *op) {
         return areFinite(op->getOperand(weightsOperand(op)));
       }))
    if (isa<nn::MatMulOp>(op))
      products.insert(op);
  SmallVector<NormBeforeProducts> found;
  llvm::StringSet<> taken;
  for (Operation &op : function.getBody().front()) {
    if (!isa<nn::LayerNormOp, nn::RMSNormOp>(op))
      continue;
    auto type = cast<RankedTensorType>(op.getResult(0).getType());
    const int64_t channels =
        type.getRank() ? type.getShape().back() : ShapedType::kDynamic;
    if (ShapedType::isDynamic(channels) || !takesFactors(&op, channels) ||
        op.use_empty() || !llvm::all_of(op.getUses(), [&](OpOperand &use) {
          return use.getOperandNumber() == 0 &&
                 products.contains(use.getOwner());
        }))
      continue;
    NormBeforeProducts norm = {&op, nodeNameOf(op.getLoc()), {}, channels};
    const std::string base = norm.name;
    for (unsigned count = 2; !taken.insert(norm.name).second; ++count)
      norm.name = base + "#" + std::to_string(count);
    for (Operation *user : op.getUsers())
      norm.products.push_back(user);
    found.push_back(std::move(norm));
  }
  return found;
}
