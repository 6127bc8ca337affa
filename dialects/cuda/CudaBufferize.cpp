//===- CudaBufferize.cpp - bufferization of cuda ops ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/kernel/Bufferize.h"

#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ingot;
using namespace ingot::cuda;

namespace {

template <typename OpTy>
struct Model : DstBufferizableOpInterfaceExternalModel<Model<OpTy>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  /// Returns true if an epilogue operand may share its buffer with dst. A
  /// thread reads the operand's elements before it writes those of dst at the
  /// same positions.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto product = cast<OpTy>(op);
    OperandRange epilogue = product.getEpilogueOperands();
    const unsigned first = epilogue.getBeginOperandIndex();
    return llvm::all_of(operands, [&](OpOperand *operand) {
      const unsigned i = operand->getOperandNumber();
      return operand->get().getType() == product.getDst().getType() &&
             ((i >= first && i < first + epilogue.size()) ||
              product.isDpsInit(operand));
    });
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return kernel::bufferize(op, rewriter, options, state);
  }
};

/// Replaces the results of a top k by their buffers.
struct TopKModel : DstBufferizableOpInterfaceExternalModel<TopKModel, TopKOp> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(op);
    FailureOr<SmallVector<Value>> buffers =
        kernel::getBuffers(op, rewriter, options, state);
    if (failed(buffers))
      return failure();
    kernel::createOnBuffers(rewriter, op, *buffers);
    replaceOpWithBufferizedValues(rewriter, op,
                                  ArrayRef(*buffers).drop_front());
    return success();
  }
};

} // namespace

void cuda::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CudaDialect *) {
    AttentionOp::attachInterface<Model<AttentionOp>>(*context);
    ConvOp::attachInterface<Model<ConvOp>>(*context);
    DepthwiseConvOp::attachInterface<Model<DepthwiseConvOp>>(*context);
    GroupNormOp::attachInterface<Model<GroupNormOp>>(*context);
    MatMulOp::attachInterface<Model<MatMulOp>>(*context);
    MomentsOp::attachInterface<Model<MomentsOp>>(*context);
    NormalizeOp::attachInterface<Model<NormalizeOp>>(*context);
    PoolOp::attachInterface<Model<PoolOp>>(*context);
    ReduceOp::attachInterface<Model<ReduceOp>>(*context);
    RowNormOp::attachInterface<Model<RowNormOp>>(*context);
    SoftmaxOp::attachInterface<Model<SoftmaxOp>>(*context);
    SumPartsOp::attachInterface<Model<SumPartsOp>>(*context);
    TopKOp::attachInterface<TopKModel>(*context);
  });
}
