//===- DnnlBufferize.cpp - bufferization of dnnl ops ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/dnnl/DnnlDialect.h"
#include "dialects/kernel/Bufferize.h"

#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ingot;
using namespace ingot::dnnl;

namespace {

template <typename OpTy>
struct Model
    : DstBufferizableOpInterfaceExternalModel<Model<OpTy>, OpTy> {
  /// Returns true if the op reads the operand. It reads the destination only if
  /// it adds to it.
  bool bufferizesToMemoryRead(Operation *op, OpOperand &operand,
                              const AnalysisState &) const {
    return !cast<DestinationStyleOpInterface>(op).isDpsInit(&operand) ||
           hasSum(op);
  }

  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return kernel::bufferize(op, rewriter, options, state);
  }
};

} // namespace

void ingot::dnnl::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, DnnlDialect *) {
    ConvolutionOp::attachInterface<Model<ConvolutionOp>>(*context);
    DeconvolutionOp::attachInterface<Model<DeconvolutionOp>>(*context);
    MatMulOp::attachInterface<Model<MatMulOp>>(*context);
    PoolingOp::attachInterface<Model<PoolingOp>>(*context);
    SoftmaxOp::attachInterface<Model<SoftmaxOp>>(*context);
    LayerNormOp::attachInterface<Model<LayerNormOp>>(*context);
  });
}
