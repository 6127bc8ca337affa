//===- StockRules.cpp - size rules of upstream ops ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Defines size rules of the tensor and linalg ops that legalization creates.
// Their sizes, offsets and indices are index values, which may be any value at
// run time. The rules guarantee that these ops never access memory outside of a
// tensor.
//
//===----------------------------------------------------------------------===//
#include "passes/shape/RunRules.h"

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::shape;
using nn::SizeRelation;

Size SizeAnalysis::sizeOf(OpFoldResult size) {
  if (auto value = dyn_cast<Value>(size))
    return sizeOfIndex(value);
  return constant(*getConstantIntValue(size));
}

Sizes SizeAnalysis::sizesOfAll(ArrayRef<OpFoldResult> mixed) {
  Sizes sizes;
  for (OpFoldResult size : mixed)
    sizes.push_back(sizeOf(size));
  return sizes;
}

/// Requires that sizes are not negative.
static LogicalResult requireSizes(RunRules &rules, ArrayRef<Size> sizes) {
  for (auto [i, size] : llvm::enumerate(sizes))
    if (failed(rules.require(SizeRelation::atLeast, size, rules.constant(0),
                             "dimension " + Twine(i) +
                                 " of the result would have {0} elements")))
      return failure();
  return success();
}

/// Returns the upper bound of a loop's induction variable; null for other
/// values.
static Value endOfLoop(Value index) {
  auto argument = dyn_cast<BlockArgument>(index);
  if (!argument)
    return {};
  auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
  return loop && loop.getInductionVar() == index ? loop.getUpperBound()
                                                 : Value();
}

/// Requires that a slice is within a tensor of sizes `whole`.
static LogicalResult requireWindow(RunRules &rules, ArrayRef<Size> whole,
                                   ArrayRef<Size> offsets, ArrayRef<Size> sizes,
                                   ArrayRef<Size> strides) {
  if (failed(requireSizes(rules, sizes)))
    return failure();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string dim = "dimension " + std::to_string(i);
    Size end = rules.add(
        rules.add(offsets[i],
                  rules.multiply(rules.add(sizes[i], -1), strides[i])),
        1);
    if (failed(rules.require(SizeRelation::atLeast, offsets[i],
                             rules.constant(0),
                             dim + " is taken from position {0} on")) ||
        failed(rules.require(SizeRelation::atLeast, whole[i], end,
                             dim + " is taken up to position {1}, but has {0} "
                                   "elements")))
      return failure();
  }
  return success();
}

/// Requires that each group of expanded dimensions has the size of its
/// collapsed dimension.
static LogicalResult
requireGroups(RunRules &rules, ArrayRef<Size> expanded,
              ArrayRef<Size> collapsed,
              ArrayRef<ReassociationIndices> groups) {
  for (auto [i, group] : llvm::enumerate(groups)) {
    Size product = rules.constant(1);
    for (int64_t dim : group)
      product = rules.multiply(product, expanded[dim]);
    if (failed(rules.require(SizeRelation::equal, collapsed[i], product,
                             "dimension " + Twine(i) +
                                 " has {0} elements, but its parts have {1}")))
      return failure();
  }
  return success();
}

/// Requires that operands indexed by the same loop have the same size there.
static LogicalResult requireLoops(RunRules &rules, linalg::LinalgOp op) {
  SmallVector<Size> loops(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [i, size] : llvm::enumerate(rules.sizesOf(operand.get()))) {
      auto loop = dyn_cast<AffineDimExpr>(map.getResult(i));
      if (!loop)
        continue;
      FailureOr<Size> both =
          rules.unify(loops[loop.getPosition()], size,
                      "dimension " + Twine(i) + " is {1}, but {0} is needed");
      if (failed(both))
        return failure();
      loops[loop.getPosition()] = *both;
    }
  }
  return success();
}

LogicalResult
SizeAnalysis::sizesOfStock(Operation *op, RunRules &rules,
                           SmallVectorImpl<nn::SizedType> &sized) {
  auto setFirst = [&](ArrayRef<Size> sizes) {
    sized.front().sizes.assign(sizes.begin(), sizes.end());
  };
  if (auto destination = dyn_cast<DestinationStyleOpInterface>(op))
    for (OpResult result : op->getResults()) {
      Value init = destination.getTiedOpOperand(result)->get();
      sized[result.getResultNumber()].sizes = llvm::to_vector(sizesOf(init));
    }
  if (auto alloc = dyn_cast<bufferization::AllocTensorOp>(op)) {
    if (alloc.getCopy())
      setFirst(sizesOf(alloc.getCopy()));
    return success();
  }
  if (auto empty = dyn_cast<tensor::EmptyOp>(op)) {
    setFirst(sizesOfAll(empty.getMixedSizes()));
    return requireSizes(rules, sized.front().sizes);
  }
  if (auto generate = dyn_cast<tensor::GenerateOp>(op)) {
    unsigned next = 0;
    for (int64_t size : generate.getType().getShape())
      sized.front().sizes.push_back(
          ShapedType::isDynamic(size)
              ? sizeOfIndex(generate.getDynamicExtents()[next++])
              : constant(size));
    return requireSizes(rules, sized.front().sizes);
  }
  if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    Sizes all = sizesOfAll(slice.getMixedSizes()), kept;
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [i, size] : llvm::enumerate(all))
      if (!dropped.test(i))
        kept.push_back(size);
    setFirst(kept);
    return requireWindow(rules, rules.sizesOf(slice.getSource()),
                         sizesOfAll(slice.getMixedOffsets()), all,
                         sizesOfAll(slice.getMixedStrides()));
  }
  if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    Sizes all = sizesOfAll(slice.getMixedSizes());
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    SmallVector<Size> source = rules.sizesOf(slice.getSource());
    size_t next = 0;
    for (auto [i, size] : llvm::enumerate(all))
      if (!dropped.test(i) &&
          failed(rules.require(SizeRelation::equal, source[next++], size,
                               "dimension " + Twine(i) +
                                   " is {0}, but its place has {1} elements")))
        return failure();
    return requireWindow(rules, rules.sizesOf(slice.getDest()),
                         sizesOfAll(slice.getMixedOffsets()), all,
                         sizesOfAll(slice.getMixedStrides()));
  }
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    SmallVector<Size> sizes = rules.sizesOf(pad.getSource());
    for (auto [size, low, high] : llvm::zip_equal(
             sizes, pad.getMixedLowPad(), pad.getMixedHighPad()))
      size = rules.add(size, rules.add(sizeOf(low), sizeOf(high)));
    setFirst(sizes);
    return requireSizes(rules, sizes);
  }
  if (auto cast = dyn_cast<tensor::CastOp>(op)) {
    if (isa<RankedTensorType>(cast.getSource().getType()))
      setFirst(sizesOf(cast.getSource()));
    return success();
  }
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    setFirst(sizesOfAll(expand.getMixedOutputShape()));
    return requireGroups(rules, sized.front().sizes,
                         rules.sizesOf(expand.getSrc()),
                         expand.getReassociationIndices());
  }
  if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    SmallVector<Size> sizes = rules.sizesOf(collapse.getSrc());
    for (const ReassociationIndices &group :
         collapse.getReassociationIndices()) {
      Size product = constant(1);
      for (int64_t dim : group)
        product = product * sizes[dim];
      sized.front().sizes.push_back(product);
    }
    return success();
  }
  if (auto reshape = dyn_cast<tensor::ReshapeOp>(op)) {
    auto shape = reshape.getShape().getDefiningOp<tensor::FromElementsOp>();
    if (!shape || !shape.getType().getElementType().isIndex())
      return success();
    for (Value element : shape.getElements())
      sized.front().sizes.push_back(sizeOfIndex(element));
    if (failed(requireSizes(rules, sized.front().sizes)))
      return failure();
    return rules.require(SizeRelation::equal,
                         rules.product(rules.sizesOf(reshape.getSource())),
                         rules.product(sized.front().sizes),
                         "the data has {0} elements, but the shape has {1}");
  }
  if (auto extract = dyn_cast<tensor::ExtractOp>(op)) {
    SmallVector<Size> sizes = rules.sizesOf(extract.getTensor());
    for (auto [i, index] : llvm::enumerate(extract.getIndices())) {
      // For an induction variable, checking the loop's upper bound is enough.
      Value end = endOfLoop(index);
      if (end && nn::decide(SizeRelation::atLeast, sizes[i],
                            sizeOfIndex(end)) == true)
        continue;
      if (failed(rules.require(SizeRelation::atLeast, sizes[i],
                               rules.add(sizeOfIndex(index), 1),
                               "dimension " + Twine(i) +
                                   " has {0} elements, but {1} are needed")))
        return failure();
    }
    return success();
  }
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return requireLoops(rules, structured);
  return success();
}
