//===- Bufferize.cpp - ingot-bufferize ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/ArenaPlan.h"
#include "passes/memory/Destinations.h"
#include "passes/memory/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Bufferization/Transforms/Transforms.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace ingot {
#define GEN_PASS_DEF_BUFFERIZE
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;

/// Calls `rewrite` on every op of a kind. `rewrite` may erase the op.
template <typename Op>
static void forEach(Operation *root, void (*rewrite)(Op)) {
  SmallVector<Op> ops;
  root->walk([&](Op op) { ops.push_back(op); });
  llvm::for_each(ops, rewrite);
}

/// Drops the operands for sizes that the type already has, because
/// memref.expand_shape does not allow them. tensor.expand_shape does allow
/// them.
static void dropKnownSizes(tensor::ExpandShapeOp op) {
  ArrayRef<int64_t> shape = op.getResultType().getShape();
  if (shape == op.getStaticOutputShape())
    return;
  OpBuilder builder(op);
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  for (auto [size, known] : llvm::zip_equal(sizes, shape))
    if (!ShapedType::isDynamic(known))
      size = builder.getIndexAttr(known);
  op.replaceAllUsesWith(
      tensor::ExpandShapeOp::create(builder, op.getLoc(), op.getResultType(),
                                    op.getSrc(), op.getReassociationIndices(),
                                    sizes)
          .getResult());
  op.erase();
}

/// Replaces an expand_shape with several dynamic dimensions in a group by a
/// reinterpret_cast. Upstream's expand-strided-metadata does not support such
/// an expand_shape. A reinterpret_cast describes the same view, because the
/// memory is contiguous.
static void castExpandedShape(memref::ExpandShapeOp op) {
  MemRefType type = op.getResultType();
  bool isHandled = llvm::all_of(
      op.getReassociationIndices(), [&](const ReassociationIndices &group) {
        return llvm::count_if(group, [&](int64_t dim) {
                 return type.isDynamicDim(dim);
               }) <= 1;
      });
  if (isHandled || !type.getLayout().isIdentity())
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<OpFoldResult> sizes = op.getMixedOutputShape();
  SmallVector<OpFoldResult> strides(sizes.size());
  OpFoldResult stride = builder.getIndexAttr(1);
  for (size_t i = sizes.size(); i-- > 0;) {
    strides[i] = stride;
    AffineExpr product = builder.getAffineSymbolExpr(0) *
                         builder.getAffineSymbolExpr(1);
    stride = affine::makeComposedFoldedAffineApply(builder, loc, product,
                                                   {stride, sizes[i]});
  }
  // The strides of the cast are unknown, although the view is contiguous.
  SmallVector<int64_t> known;
  for (OpFoldResult value : strides)
    known.push_back(
        getConstantIntValue(value).value_or(ShapedType::kDynamic));
  auto strided = MemRefType::get(
      type.getShape(), type.getElementType(),
      StridedLayoutAttr::get(type.getContext(), 0, known));
  Value view = memref::ReinterpretCastOp::create(
      builder, loc, strided, op.getSrc(),
      OpFoldResult(builder.getIndexAttr(0)), sizes, strides);
  op.replaceAllUsesWith(
      memref::CastOp::create(builder, loc, type, view).getResult());
  op.erase();
}

/// Returns true if the elements of the view are contiguous in memory. Leading
/// dimensions must have size 1, the next dimension may be cut, and all other
/// dimensions must be whole.
static bool isContiguous(memref::SubViewOp view) {
  auto source = cast<MemRefType>(view.getSource().getType());
  if (!source.getLayout().isIdentity() ||
      source.getRank() != view.getType().getRank())
    return false;
  SmallVector<OpFoldResult> sizes = view.getMixedSizes();
  auto isWhole = [&](int64_t dim) {
    if (auto size = getConstantIntValue(sizes[dim]))
      return *size == source.getDimSize(dim);
    auto dimOp = cast<Value>(sizes[dim]).getDefiningOp<memref::DimOp>();
    return dimOp && dimOp.getSource() == view.getSource() &&
           dimOp.getConstantIndex() == dim;
  };
  int64_t cut = source.getRank();
  while (cut > 0 && isWhole(cut - 1) && view.getStaticStride(cut - 1) == 1)
    --cut;
  if (cut == 0)
    return true;
  for (int64_t dim = 0; dim < cut - 1; ++dim)
    if (getConstantIntValue(sizes[dim]) != 1)
      return false;
  return view.getStaticStride(cut - 1) == 1 ||
         getConstantIntValue(sizes[cut - 1]) == 1;
}

/// Copies a view with gaps before it is cast to a contiguous type. The copy is
/// necessary because upstream may wrongly assume a contiguous view. It does so
/// if sizes of the view are unknown and the innermost stride is 1, without
/// checking the other strides.
static void copyViewWithGaps(memref::CastOp op) {
  auto from = dyn_cast<MemRefType>(op.getSource().getType());
  auto to = dyn_cast<MemRefType>(op.getType());
  if (!from || !to || from.getLayout().isIdentity() ||
      !to.getLayout().isIdentity() || to.hasStaticShape())
    return;
  auto view = op.getSource().getDefiningOp<memref::SubViewOp>();
  if (view && isContiguous(view))
    return;
  OpBuilder builder(op);
  Location loc = op.getLoc();
  SmallVector<Value> sizes;
  for (int64_t dim = 0; dim < to.getRank(); ++dim)
    if (to.isDynamicDim(dim))
      sizes.push_back(
          memref::DimOp::create(builder, loc, op.getSource(), dim));
  Value copy = memref::AllocOp::create(builder, loc, to, sizes);
  linalg::makeMemRefCopyOp(builder, loc, op.getSource(), copy);
  op.replaceAllUsesWith(copy);
  op.erase();
}

/// Replaces a read or write of a whole vector by a load or store. A vector has
/// the same layout in a buffer as in a tensor.
static void loadVector(vector::TransferReadOp op) {
  OpBuilder builder(op);
  op.replaceAllUsesWith(vector::LoadOp::create(builder, op.getLoc(),
                                               op.getVectorType(),
                                               op.getBase(), op.getIndices())
                            .getResult());
  op.erase();
}

static void storeVector(vector::TransferWriteOp op) {
  OpBuilder builder(op);
  vector::StoreOp::create(builder, op.getLoc(), op.getVector(), op.getBase(),
                          op.getIndices());
  op.erase();
}

/// Moves each constant into a global. Upstream's pass is not used, because it
/// searches all globals for an equal one for each constant.
static void placeConstants(ModuleOp module) {
  SymbolTable symbols(module);
  OpBuilder builder(module.getContext());
  DenseMap<Attribute, memref::GlobalOp> globals;
  SmallVector<arith::ConstantOp> constants;
  module.walk([&](arith::ConstantOp op) {
    if (isa<RankedTensorType>(op.getType()))
      constants.push_back(op);
  });
  for (arith::ConstantOp op : constants) {
    auto tensor = cast<RankedTensorType>(op.getType());
    auto type = MemRefType::get(tensor.getShape(), tensor.getElementType());
    memref::GlobalOp &global = globals[op.getValue()];
    if (!global) {
      builder.clearInsertionPoint();
      global = memref::GlobalOp::create(
          builder, op.getLoc(),
          ("__constant_" + Twine(globals.size())).str(),
          builder.getStringAttr("private"), type,
          cast<ElementsAttr>(op.getValue()), /*constant=*/true,
          builder.getI64IntegerAttr(ingot::kAlignment));
      symbols.insert(global, module.getBody()->begin());
    }
    builder.setInsertionPoint(op);
    Value memory = memref::GetGlobalOp::create(builder, op.getLoc(), type,
                                               global.getSymName());
    op.replaceAllUsesWith(bufferization::ToTensorOp::create(
                              builder, op.getLoc(), tensor, memory,
                              /*restrict=*/true, /*writable=*/false)
                              .getResult());
    op.erase();
  }
}

namespace {
struct BufferizePass : ingot::impl::BufferizeBase<BufferizePass> {
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    // Loop state of open size needs this option, see ingot-place-state.
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::IdentityLayoutMap);
    // Copy with loops, because a memref.copy of strided buffers would call a
    // function of MLIR's runner library.
    options.memCpyFn = [](OpBuilder &builder, Location loc, Value from,
                          Value to) {
      linalg::makeMemRefCopyOp(builder, loc, from, to);
      return success();
    };
    bufferization::BufferizationState state;
    placeConstants(getOperation());
    forEach<tensor::ExpandShapeOp>(getOperation(), dropKnownSizes);
    bufferization::OneShotAnalysisState analysis(getOperation(), options);
    if (failed(ingot::analyzeDestinations(getOperation(), analysis)) ||
        failed(bufferization::insertTensorCopies(getOperation(), analysis,
                                                 state)) ||
        failed(bufferization::bufferizeModuleOp(getOperation(), options,
                                                state)))
      return signalPassFailure();
    forEach<vector::TransferReadOp>(getOperation(), loadVector);
    forEach<vector::TransferWriteOp>(getOperation(), storeVector);
    forEach<memref::CastOp>(getOperation(), copyViewWithGaps);
    forEach<memref::ExpandShapeOp>(getOperation(), castExpandedShape);
  }
};
} // namespace
