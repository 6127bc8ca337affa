//===- Matrices.cpp - kernels that are products of matrices ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/kernel/Matrices.h"

#include "passes/support/Shapes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace ingot;
using support::typeOf;

bool kernel::allOnes(ArrayRef<int64_t> sizes) {
  return llvm::all_of(sizes, [](int64_t size) { return size == 1; });
}

Value kernel::dstOf(EpilogueOpInterface op) {
  return cast<DestinationStyleOpInterface>(*op).getDpsInitOperand(0)->get();
}

//===----------------------------------------------------------------------===//
// Recognition
//===----------------------------------------------------------------------===//

Reason kernel::whyNotPixelRows(const ConvGeometry &windows) {
  if (windows.groups != 1)
    return "has groups of channels";
  if (!allOnes(windows.sizes) || !allOnes(windows.strides))
    return "has windows of several pixels, or skips pixels";
  if (llvm::any_of(windows.pads, [](int64_t pad) { return pad != 0; }))
    return "has pads";
  return std::nullopt;
}

Reason kernel::whyNotMatrices(EpilogueOpInterface op) {
  auto dst = dyn_cast<RankedTensorType>(dstOf(op).getType());
  if (!dst)
    return "is on memrefs";
  for (Value operand : op.getEpilogueOperands()) {
    ArrayRef<int64_t> rows = typeOf(operand).getShape().drop_back();
    if (!allOnes(rows) && rows != dst.getShape().drop_back())
      return "has an operand " + describe(operand.getType()) +
             " that broadcasts along some rows";
  }
  return std::nullopt;
}

Reason kernel::whyNotReshaped(Value dst) {
  auto slice = dst.getDefiningOp<tensor::ExtractSliceOp>();
  if (slice && !slice.hasUnitStride())
    return "has a destination with gaps";
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Rewriting
//===----------------------------------------------------------------------===//

/// Returns true if the result, or a reshape of it, is only returned. Other
/// users may overwrite a tensor of the result's shape.
static bool endsInReturn(Operation *op) {
  return llvm::all_of(op->getUsers(), [](Operation *user) {
    return isa<func::ReturnOp>(user) ||
           (isa<tensor::ExpandShapeOp, tensor::CollapseShapeOp>(user) &&
            endsInReturn(user));
  });
}

/// Replaces `op`. With `inPlace`, a kernel that computes a result of the model
/// writes directly into it: its destination is a new matrix, not a reshaped
/// tensor.
static void replace(PatternRewriter &rewriter, kernel::EpilogueOpInterface op,
                    Value src, ArrayRef<ReassociationIndices> groups,
                    kernel::BuildKernel build, bool inPlace) {
  Location loc = op->getLoc();
  Value dst = dstOf(op);
  RankedTensorType type = typeOf(dst);
  auto flatten = [&](Value value) -> Value {
    return tensor::CollapseShapeOp::create(rewriter, loc, value, groups);
  };
  SmallVector<Value> operands;
  for (Value operand : op.getEpilogueOperands())
    operands.push_back(flatten(operand));
  Value flatDst = flatten(dst);
  if (inPlace && dst.getDefiningOp<tensor::EmptyOp>() &&
      type.hasStaticShape() && endsInReturn(op))
    flatDst = tensor::EmptyOp::create(rewriter, loc, typeOf(flatDst).getShape(),
                                      type.getElementType());
  kernel::EpilogueOpInterface flat = build(flatten(src), operands, flatDst);
  rewriter.inlineRegionBefore(op.getEpilogue(), flat.getEpilogue(),
                              flat.getEpilogue().begin());
  rewriter.replaceOpWithNewOp<tensor::ExpandShapeOp>(
      op, type, flat->getResult(0), groups,
      tensor::getMixedSizes(rewriter, loc, dst));
}

void kernel::replaceReshaped(PatternRewriter &rewriter, EpilogueOpInterface op,
                             Value src, ArrayRef<ReassociationIndices> groups,
                             BuildKernel build) {
  replace(rewriter, op, src, groups, build, /*inPlace=*/false);
}

void kernel::replaceByMatrices(PatternRewriter &rewriter,
                               EpilogueOpInterface op, Value src,
                               ArrayRef<ReassociationIndices> groups,
                               BuildKernel build) {
  replace(rewriter, op, src, groups, build, /*inPlace=*/true);
}
