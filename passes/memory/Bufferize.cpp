//===- Bufferize.cpp - ingot-bufferize ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

namespace ingot {
#define GEN_PASS_DEF_BUFFERIZE
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;

/// Upstream's expand-strided-metadata knows groups with one dynamic dimension
/// only. A view of contiguous memory is as well described by its sizes.
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
  // The cast says the strides are unknown; the view is contiguous all the same.
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

namespace {
struct BufferizePass : ingot::impl::BufferizeBase<BufferizePass> {
  void runOnOperation() override {
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.setFunctionBoundaryTypeConversion(
        bufferization::LayoutMapOption::IdentityLayoutMap);
    // Loops, not memref.copy: that would call a function of MLIR's runner for
    // strided buffers.
    options.memCpyFn = [](OpBuilder &builder, Location loc, Value from,
                          Value to) {
      linalg::makeMemRefCopyOp(builder, loc, from, to);
      return success();
    };
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options,
                                                        state)))
      return signalPassFailure();
    SmallVector<memref::ExpandShapeOp> expanded;
    getOperation()->walk(
        [&](memref::ExpandShapeOp op) { expanded.push_back(op); });
    llvm::for_each(expanded, castExpandedShape);
  }
};
} // namespace
