//===- RootSizes.cpp - origins of dynamic sizes ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/RootSizes.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/SizeRules.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

/// Limit of steps per trace. Few steps are enough, because a node expands to a
/// short chain, and the origins of operands are stored.
static constexpr int kMaxSteps = 64;

namespace ingot::legalize {

/// Size rules of an op, on symbols for the origins of its operands' sizes.
class RootRules : public nn::SizeRules {
public:
  RootRules(MLIRContext *context, RootSizes &sizes, int depth)
      : SizeRules(context, std::nullopt), context(context), sizes(sizes),
        depth(depth) {}

  SmallVector<nn::Size> sizesOf(Value tensor) override {
    SmallVector<nn::Size> known = SizeRules::sizesOf(tensor);
    for (auto [i, size] : llvm::enumerate(known))
      if (!size)
        size = sizeOf(sizes.find(tensor, i, depth));
    return known;
  }
  nn::Size sizeOfIndex(Value index) override {
    if (auto known = getConstantIntValue(index))
      return constant(*known);
    return sizeOf(sizes.ofIndex(index, depth));
  }
  /// Returns the origin that a size stands for, if there is one.
  std::optional<Root> rootOf(nn::Size size) const {
    if (!size)
      return std::nullopt;
    if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
      return roots[symbol.getPosition()];
    auto found = products.find(size);
    return found == products.end() ? std::nullopt
                                   : std::optional<Root>(found->second);
  }

protected:
  /// Broadcasts a size with the minimum of this size and another value. The
  /// result is always the size.
  nn::Size broadcastAtRun(nn::Size a, nn::Size b) override {
    for (auto [cut, whole] : {std::pair(a, b), std::pair(b, a)}) {
      auto root = rootOf(cut);
      Value before =
          root && root->dim < 0 ? support::sizeBeforeCut(root->value) : Value();
      if (before && sizeOfIndex(before) == whole)
        return whole;
    }
    return {};
  }

private:
  /// Expands a product to the product of its factors' sizes, so that factors
  /// cancel.
  nn::Size sizeOf(Root root) {
    auto product = root.dim < 0 ? root.value.getDefiningOp<arith::MulIOp>()
                                : arith::MulIOp();
    if (!product || depth < kMaxSteps / 2)
      return symbolOf(root);
    nn::Size size = multiply(sizeOfIndex(product.getLhs()),
                             sizeOfIndex(product.getRhs()));
    products.try_emplace(size, root);
    return size;
  }
  nn::Size symbolOf(Root root) {
    size_t i = llvm::find(roots, root) - roots.begin();
    if (i == roots.size())
      roots.push_back(root);
    return getAffineSymbolExpr(i, context);
  }

  MLIRContext *context;
  RootSizes &sizes;
  int depth;
  SmallVector<Root> roots;
  llvm::DenseMap<nn::Size, Root> products;
};

} // namespace ingot::legalize

void RootSizes::start(func::FuncOp function) {
  arguments.clear();
  kept.clear();
  llvm::StringMap<Root> named;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    auto names = function.getArgAttrOfType<ArrayAttr>(
        argument.getArgNumber(),
        IngotDialect::DimNamesAttrHelper::getNameStr());
    if (!type || !names)
      continue;
    for (int64_t i = 0; i < type.getRank() && i < int64_t(names.size()); ++i) {
      StringRef name = cast<StringAttr>(names[i]).getValue();
      if (!type.isDynamicDim(i) || name.empty())
        continue;
      auto first = named.try_emplace(name, Root{argument, i}).first;
      arguments[{argument, i}] = first->second;
    }
  }
}

Root RootSizes::of(Value tensor, int64_t dim) {
  seen.clear();
  return find(tensor, dim, kMaxSteps);
}

void RootSizes::keep(Value tensor) {
  auto type = dyn_cast<RankedTensorType>(tensor.getType());
  for (int64_t i = 0; type && i < type.getRank(); ++i)
    if (type.isDynamicDim(i) && !kept.contains({tensor, i})) {
      isKeeping = true;
      Root root = of(tensor, i);
      isKeeping = false;
      kept[{tensor, i}] = root;
    }
}

Root RootSizes::find(Value tensor, int64_t dim, int depth) {
  for (Roots *roots : {&arguments, &kept, &seen})
    if (auto found = roots->find({tensor, dim}); found != roots->end())
      return found->second;
  Root root = depth ? step(tensor, dim, depth - 1) : Root{tensor, dim};
  seen[{tensor, dim}] = root;
  return root;
}

Root RootSizes::step(Value tensor, int64_t dim, int depth) {
  Root itself{tensor, dim};
  Operation *op = tensor.getDefiningOp();
  if (!op)
    return itself;
  auto inner = [&](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    bool isOpen = type && dim < type.getRank() && type.isDynamicDim(dim);
    return isOpen ? find(value, dim, depth) : itself;
  };
  if (auto cast = dyn_cast<tensor::CastOp>(op))
    return inner(cast.getSource());
  if (auto empty = dyn_cast<tensor::EmptyOp>(op))
    return ofIndex(empty.getDynamicSize(dim), depth);
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op))
    return slice.getDroppedDims().any()
               ? itself
               : ofIndex(slice.getDynamicSize(dim), depth);
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op)) {
    auto list = reshape.getShape().getDefiningOp<tensor::FromElementsOp>();
    return list ? ofIndex(list.getElements()[dim], depth) : itself;
  }
  if (auto generic = dyn_cast<linalg::LinalgOp>(op)) {
    auto number = cast<OpResult>(tensor).getResultNumber();
    return inner(generic.getDpsInitOperand(number)->get());
  }
  auto sized = dyn_cast<nn::SizesOpInterface>(op);
  if (!sized)
    return itself;
  RootRules rules(op->getContext(), *this, depth);
  SmallVector<nn::SizedType> results;
  if (failed(sized.inferSizes(rules, results)))
    return itself;
  ArrayRef<nn::Size> sizes =
      results[cast<OpResult>(tensor).getResultNumber()].sizes;
  if (dim >= int64_t(sizes.size()))
    return itself;
  return rules.rootOf(sizes[dim]).value_or(itself);
}

Root RootSizes::ofIndex(Value index, int depth) {
  Root itself{index, -1};
  if (!depth)
    return itself;
  if (auto dim = index.getDefiningOp<tensor::DimOp>()) {
    auto known = dim.getConstantIndex();
    auto type = dyn_cast<RankedTensorType>(dim.getSource().getType());
    return known && type && type.isDynamicDim(*known)
               ? find(dim.getSource(), *known, depth - 1)
               : itself;
  }
  if (auto outer = index.getDefiningOp<arith::IndexCastOp>()) {
    auto inner = outer.getIn().getDefiningOp<arith::IndexCastOp>();
    if (index.getType().isIndex() && inner &&
        inner.getIn().getType().isIndex())
      return ofIndex(inner.getIn(), depth - 1);
  }
  // No dimension is less than 0, so max(dim, 0) is dim.
  if (auto max = index.getDefiningOp<arith::MaxSIOp>())
    if (matchPattern(max.getRhs(), m_Zero())) {
      Root root = ofIndex(max.getLhs(), depth - 1);
      if (root.dim >= 0)
        return root;
    }
  Operation *op = index.getDefiningOp();
  return isa_and_nonnull<arith::AddIOp, arith::SubIOp, arith::MulIOp,
                         arith::DivSIOp, arith::MinSIOp, arith::MaxSIOp>(op)
             ? ofArithmetic(op, depth)
             : itself;
}

Root RootSizes::ofArithmetic(Operation *op, int depth) {
  Root sides[2];
  for (auto [side, operand] : llvm::zip_equal(sides, op->getOperands())) {
    auto number = getConstantIntValue(operand);
    side = number ? Root{Value(), *number} : ofIndex(operand, depth - 1);
  }
  Root itself{op->getResult(0), -1};
  std::tuple key{op->getName().getAsOpaquePointer(),
                 sides[0].value.getAsOpaquePointer(), sides[0].dim,
                 sides[1].value.getAsOpaquePointer(), sides[1].dim};
  if (auto found = computed.find(key); found != computed.end())
    return found->second;
  if (isKeeping)
    computed.emplace(key, itself);
  return itself;
}
