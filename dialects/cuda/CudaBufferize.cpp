//===- CudaBufferize.cpp - bufferization of cuda ops ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/kernel/Bufferize.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ingot;
using namespace ingot::cuda;

namespace {

template <typename OpTy>
struct Model : kernel::BufferizedKernel<Model<OpTy>, OpTy> {
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
};

/// A kernel without an epilogue, which has a result for each destination. With
/// `readsInits` it changes what its destinations hold.
template <typename OpTy, bool readsInits = false>
struct PlainModel
    : kernel::BufferizedKernel<PlainModel<OpTy, readsInits>, OpTy> {
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return readsInits ||
           !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand);
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
    RecurrentOp::attachInterface<PlainModel<RecurrentOp, true>>(*context);
    ReduceOp::attachInterface<Model<ReduceOp>>(*context);
    ResampleOp::attachInterface<Model<ResampleOp>>(*context);
    RowNormOp::attachInterface<Model<RowNormOp>>(*context);
    ScanOp::attachInterface<PlainModel<ScanOp>>(*context);
    ScatterOp::attachInterface<PlainModel<ScatterOp, true>>(*context);
    SoftmaxOp::attachInterface<Model<SoftmaxOp>>(*context);
    SortOp::attachInterface<PlainModel<SortOp, true>>(*context);
    SumPartsOp::attachInterface<Model<SumPartsOp>>(*context);
    TopKOp::attachInterface<PlainModel<TopKOp>>(*context);
  });
}
