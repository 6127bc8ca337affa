//===- BatchImages.cpp - buffers that one image of a batch needs ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/BatchImages.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/kernel/KernelInterfaces.h"
#include "dialects/nn/Constants.h"
#include "passes/memory/BufferSizes.h"
#include "passes/support/Views.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Interfaces/ViewLikeInterface.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace ingot;
using kernel::ImageSplit;

static ImageSplit splitOf(Operation *op) {
  auto kernelOp = dyn_cast<kernel::KernelOpInterface>(op);
  return kernelOp ? kernelOp.getImageSplit() : ImageSplit();
}

static MemRefType typeOf(Value memref) {
  return cast<MemRefType>(memref.getType());
}

/// Returns the product of the sizes of `group` without its first dimension.
static int64_t productBehindFirst(ArrayRef<int64_t> group, MemRefType type) {
  int64_t product = 1;
  for (int64_t dim : group.drop_front())
    product *= type.getDimSize(dim);
  return product;
}

//===----------------------------------------------------------------------===//
// Rows of an image
//===----------------------------------------------------------------------===//

OpFoldResult BatchImages::countOf(Operation *op) {
  if (splitOf(op).kind != ImageSplit::windows)
    return {};
  Value dst = cast<DestinationStyleOpInterface>(op).getDpsInits().front();
  MemRefType type = typeOf(dst);
  if (!type.isDynamicDim(0))
    return Builder(op->getContext()).getIndexAttr(type.getDimSize(0));
  Operation *made = dst.getDefiningOp();
  SmallVector<OpFoldResult> sizes =
      made ? sizesOfBuffer(dst) : SmallVector<OpFoldResult>();
  return sizes.empty() ? OpFoldResult() : sizes.front();
}

bool BatchImages::isCount(OpFoldResult size) const {
  return isEqualConstantIntOrValue(size, count);
}

std::optional<int64_t> BatchImages::rowsOfView(Operation *view) const {
  if (auto collapse = dyn_cast<memref::CollapseShapeOp>(view)) {
    std::optional<int64_t> rows = rowsOf(collapse.getSrc());
    if (rows)
      *rows *= productBehindFirst(collapse.getReassociationIndices().front(),
                                  collapse.getSrcType());
    return rows;
  }
  auto expand = cast<memref::ExpandShapeOp>(view);
  std::optional<int64_t> rows = rowsOf(expand.getSrc());
  // A view of one element has no reassociation groups.
  if (!rows)
    return std::nullopt;
  int64_t others = productBehindFirst(expand.getReassociationIndices().front(),
                                      expand.getResultType());
  if (others == 0 || *rows % others != 0)
    return std::nullopt;
  return *rows / others;
}

std::optional<int64_t> BatchImages::rowsOf(Value memref) const {
  auto type = dyn_cast<MemRefType>(memref.getType());
  if (!type || type.getRank() == 0 ||
      ShapedType::isDynamicShape(type.getShape().drop_front()) ||
      llvm::is_contained(type.getShape(), 0))
    return std::nullopt;
  Operation *op = memref.getDefiningOp();
  if (isa_and_present<memref::CollapseShapeOp, memref::ExpandShapeOp>(op))
    return rowsOfView(op);
  if (auto part = dyn_cast_or_null<memref::SubViewOp>(op)) {
    bool isWhole = part.getDroppedDims().none() &&
                   isConstantIntValue(part.getMixedOffsets().front(), 0) &&
                   isConstantIntValue(part.getMixedStrides().front(), 1);
    std::optional<int64_t> rows = rowsOf(part.getSource());
    bool isAll =
        type.getDimSize(0) == part.getSourceType().getDimSize(0) &&
        (!type.isDynamicDim(0) || isCount(part.getMixedSizes().front()));
    return isWhole && isAll ? rows : std::nullopt;
  }
  // Declines other views, which may take elements from anywhere.
  if (isa_and_present<ViewLikeOpInterface>(op))
    return std::nullopt;
  if (std::optional<int64_t> images = getConstantIntValue(count)) {
    if (type.isDynamicDim(0) || type.getDimSize(0) % *images != 0)
      return std::nullopt;
    return type.getDimSize(0) / *images;
  }
  if (!type.isDynamicDim(0))
    return std::nullopt;
  if (!op) {
    auto dim = cast<Value>(count).getDefiningOp<memref::DimOp>();
    return dim && dim.getSource() == memref && dim.getConstantIndex() == 0
               ? std::optional<int64_t>(1)
               : std::nullopt;
  }
  SmallVector<OpFoldResult> sizes = sizesOfBuffer(memref);
  return !sizes.empty() && isCount(sizes.front()) ? std::optional<int64_t>(1)
                                                  : std::nullopt;
}

//===----------------------------------------------------------------------===//
// Uses
//===----------------------------------------------------------------------===//

namespace {
/// The part of an operand that an op needs for one image.
enum class Split { part, whole };
} // namespace

/// Returns the buffer that a memref is or is a view of. Returns null if the
/// buffer is unknown.
static Value rootOf(Value memref) {
  memref = support::baseOf(memref);
  bool isKnown = isa_and_present<memref::AllocOp, memref::GetGlobalOp, RoomOp>(
                     memref.getDefiningOp()) ||
                 (isa<BlockArgument>(memref) &&
                  isa<func::FuncOp>(memref.getParentBlock()->getParentOp()));
  return isKnown ? memref : Value();
}

/// Splits loops along the dimension that is the first of all results.
static std::optional<SmallVector<Split>> splitLoops(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumDpsInits() == 0 ||
      op.hasIndexSemantics())
    return std::nullopt;
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  if (llvm::any_of(captured, [](Value value) {
        return isa<BaseMemRefType>(value.getType());
      }))
    return std::nullopt;
  AffineMap first = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  auto loop = dyn_cast_or_null<AffineDimExpr>(
      first.getNumResults() == 0 ? AffineExpr() : first.getResult(0));
  if (!loop || op.getIteratorTypesArray()[loop.getPosition()] !=
                   utils::IteratorType::parallel)
    return std::nullopt;
  SmallVector<Split> splits;
  for (OpOperand &operand : op->getOpOperands()) {
    AffineMap map = op.getMatchingIndexingMap(&operand);
    bool isPart = map.getNumResults() != 0 && map.getResult(0) == loop;
    ArrayRef<AffineExpr> others = map.getResults().drop_front(isPart ? 1 : 0);
    bool isElsewhere = llvm::any_of(others, [&](AffineExpr expr) {
      return expr.isFunctionOfDim(loop.getPosition());
    });
    if (isElsewhere || (op.isDpsInit(&operand) && !isPart))
      return std::nullopt;
    splits.push_back(isPart ? Split::part : Split::whole);
  }
  return splits;
}

/// Splits a kernel whose source and result are rows of images. Splits an
/// epilogue operand unless all images share it. All other operands are weights
/// or belong to the weights, so they stay whole.
static std::optional<SmallVector<Split>> splitKernel(Operation *op) {
  auto kernel = dyn_cast<kernel::EpilogueOpInterface>(op);
  if (!kernel || op->getNumResults() != 0 ||
      splitOf(op).kind == ImageSplit::none)
    return std::nullopt;
  SmallVector<Split> splits(op->getNumOperands(), Split::whole);
  splits.front() = Split::part;
  for (OpOperand &operand : op->getOpOperands())
    if (cast<DestinationStyleOpInterface>(op).isDpsInit(&operand))
      splits[operand.getOperandNumber()] = Split::part;
  OperandRange operands = kernel.getEpilogueOperands();
  int64_t rank = typeOf(op->getOperands().back()).getRank();
  for (unsigned i = 0; i < operands.size(); ++i) {
    MemRefType type = typeOf(operands[i]);
    if (type.getRank() != rank)
      return std::nullopt;
    if (type.getDimSize(0) != 1)
      splits[operands.getBeginOperandIndex() + i] = Split::part;
  }
  return splits;
}

std::optional<SmallVector<ImageUse>> BatchImages::usesOf(Operation *op) const {
  auto loops = dyn_cast<linalg::LinalgOp>(op);
  std::optional<SmallVector<Split>> splits =
      loops ? splitLoops(loops) : splitKernel(op);
  if (!splits)
    return std::nullopt;
  auto destination = cast<DestinationStyleOpInterface>(op);
  const ImageSplit ofKernel = splitOf(op);
  std::optional<int64_t> rowsOfAll;
  SmallVector<ImageUse> uses;
  for (auto [operand, split] : llvm::zip_equal(op->getOpOperands(), *splits)) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    if (!type.getElementType().isIntOrFloat())
      return std::nullopt;
    ImageUse use;
    use.operand = operand.getOperandNumber();
    use.root = rootOf(operand.get());
    use.isPart = split == Split::part;
    use.isWritten = destination.isDpsInit(&operand);
    ArrayRef<int64_t> sizes = type.getShape();
    int64_t elements = 1;
    if (use.isPart) {
      std::optional<int64_t> rows = rowsOf(operand.get());
      // Decline if the kernel would add in another order when it gets only the
      // rows of one image. Results would then depend on the number of images.
      if (ofKernel.kind == ImageSplit::rows && type.getRank() == 2 &&
          rows < ofKernel.leastRows)
        return std::nullopt;
      // Decline other kinds if an image has several rows, because these kinds
      // need an additional dimension (see ChunkBody).
      if (!rows || (rowsOfAll && rows != rowsOfAll) ||
          (*rows != 1 && ofKernel.kind != ImageSplit::rows))
        return std::nullopt;
      rowsOfAll = elements = *rows;
      sizes = sizes.drop_front();
    }
    if (!use.root || ShapedType::isDynamicShape(sizes))
      return std::nullopt;
    for (int64_t size : sizes)
      elements *= size;
    use.bytes = elements * nn::elementBytes(type.getElementType());
    uses.push_back(use);
  }
  return uses;
}

//===----------------------------------------------------------------------===//
// Loops over images
//===----------------------------------------------------------------------===//

bool ingot::isImageLoop(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  return loop && loop.getStep().getDefiningOp<ChunkOp>();
}

std::optional<int64_t> ingot::knownImagesAt(Operation *op) {
  while (op && !isImageLoop(op))
    op = op->getParentOp();
  if (!op)
    return std::nullopt;
  auto chunk = cast<scf::ForOp>(op).getStep().getDefiningOp<ChunkOp>();
  return getConstantIntValue(chunk.getImages());
}
