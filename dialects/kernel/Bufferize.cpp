//===- Bufferize.cpp - bufferization of kernel ops ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/kernel/Bufferize.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ingot;

FailureOr<SmallVector<Value>>
kernel::getBuffers(Operation *op, RewriterBase &rewriter,
                   const BufferizationOptions &options,
                   BufferizationState &state) {
  SmallVector<Value> buffers(op->getOperands());
  for (Value &operand : buffers) {
    if (!isa<RankedTensorType>(operand.getType()))
      continue;
    FailureOr<Value> buffer = getBuffer(rewriter, operand, options, state);
    if (failed(buffer))
      return failure();
    operand = *buffer;
  }
  return buffers;
}

Operation *kernel::createOnBuffers(RewriterBase &rewriter, Operation *op,
                                   ValueRange buffers) {
  OperationState state(op->getLoc(), op->getName(), buffers,
                       /*types=*/TypeRange(), op->getAttrs());
  state.propertiesAttr = op->getPropertiesAsAttribute();
  for (Region &region : op->getRegions()) {
    Region *moved = state.addRegion();
    rewriter.inlineRegionBefore(region, *moved, moved->begin());
  }
  return rewriter.create(state);
}

LogicalResult kernel::bufferize(Operation *op, RewriterBase &rewriter,
                                const BufferizationOptions &options,
                                BufferizationState &state) {
  OpBuilder::InsertionGuard guard(rewriter);
  rewriter.setInsertionPoint(op);
  FailureOr<SmallVector<Value>> buffers =
      getBuffers(op, rewriter, options, state);
  if (failed(buffers))
    return failure();
  createOnBuffers(rewriter, op, *buffers);
  SmallVector<Value> destinations;
  for (OpOperand &dst :
       cast<DestinationStyleOpInterface>(op).getDpsInitsMutable())
    destinations.push_back((*buffers)[dst.getOperandNumber()]);
  replaceOpWithBufferizedValues(rewriter, op, destinations);
  return success();
}
