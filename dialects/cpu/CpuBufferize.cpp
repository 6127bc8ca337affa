//===- CpuBufferize.cpp - bufferization of cpu ops ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/kernel/Bufferize.h"

#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ingot;
using namespace ingot::cpu;

/// Returns true if the last dimension is contiguous, as kernels require.
/// Kernels that fold rows have another requirement: the elements of a row must
/// be contiguous.
static bool isLastDimDense(Value buffer, bool foldsRows) {
  auto type = cast<MemRefType>(buffer.getType());
  int64_t offset;
  SmallVector<int64_t> strides;
  ArrayRef<int64_t> shape = type.getShape();
  size_t rank = shape.size();
  if (foldsRows && rank > 1 && shape.back() == 1)
    --rank;
  if (rank == 0 || shape[rank - 1] == 1)
    return true;
  return succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides[rank - 1] == 1;
}

/// Allocates a contiguous buffer with the sizes of another one.
static FailureOr<Value> allocateLike(OpBuilder &builder, Location loc,
                                     Value buffer,
                                     const BufferizationOptions &options) {
  auto type = cast<MemRefType>(buffer.getType());
  SmallVector<Value> sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    if (type.isDynamicDim(i))
      sizes.push_back(memref::DimOp::create(builder, loc, buffer, i));
  return options.createAlloc(
      builder, loc, MemRefType::get(type.getShape(), type.getElementType()),
      sizes);
}

namespace {

template <typename OpTy>
struct Model : kernel::BufferizedKernel<Model<OpTy>, OpTy> {
  /// Returns true if an operand may share its buffer with dst. An epilogue
  /// reads each element of an operand just before it writes the element of dst
  /// at the same position. Src may also share its buffer with dst if a kernel
  /// reads all elements of a row before it writes the row.
  bool bufferizesToElementwiseAccess(Operation *op, const AnalysisState &,
                                     ArrayRef<OpOperand *> operands) const {
    auto kernel = cast<OpTy>(op);
    Type type = kernel.getDst().getType();
    OperandRange epilogue = kernel.getEpilogueOperands();
    unsigned first = epilogue.getBeginOperandIndex();
    return llvm::all_of(operands, [&](OpOperand *operand) {
      unsigned i = operand->getOperandNumber();
      bool isEpilogue = i >= first && i < first + epilogue.size();
      constexpr bool isSoftmax = std::is_same_v<OpTy, SoftmaxOp>;
      constexpr bool isRowwise = isSoftmax ||
                                 std::is_same_v<OpTy, RowNormOp> ||
                                 std::is_same_v<OpTy, GroupNormOp>;
      // Softmax keeps its exponentials in dst, which would overwrite the
      // elements of an epilogue operand.
      if (isSoftmax && isEpilogue)
        return false;
      bool isSource = isRowwise && i == 0;
      return operand->get().getType() == type &&
             (isEpilogue || isSource || kernel.isDpsInit(operand));
    });
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
    unsigned dst = cast<OpTy>(op).getDstMutable().getOperandNumber();
    Value destination = (*buffers)[dst];
    // If the slice is strided, copies it.
    for (auto [i, buffer] : llvm::enumerate(*buffers)) {
      bool foldsRows = std::is_same_v<OpTy, ReduceOp> && i == 0;
      if (isLastDimDense(buffer, foldsRows))
        continue;
      Value strided = buffer;
      FailureOr<Value> dense =
          allocateLike(rewriter, op->getLoc(), strided, options);
      if (failed(dense) ||
          (i != dst && failed(options.createMemCpy(rewriter, op->getLoc(),
                                                   strided, *dense))))
        return failure();
      buffer = *dense;
    }
    Operation *buffered = kernel::createOnBuffers(rewriter, op, *buffers);
    Value written = cast<OpTy>(buffered).getDst();
    if (written != destination &&
        failed(options.createMemCpy(rewriter, op->getLoc(), written,
                                    destination)))
      return failure();
    replaceOpWithBufferizedValues(rewriter, op, destination);
    return success();
  }
};

/// A recurrence reads its destination, which holds the states before a step.
struct RecurrentModel
    : DstBufferizableOpInterfaceExternalModel<RecurrentModel, RecurrentOp> {
  bool bufferizesToMemoryRead(Operation *, OpOperand &,
                              const AnalysisState &) const {
    return true;
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
    auto dst = cast<DestinationStyleOpInterface>(op);
    size_t first = op->getNumOperands() - dst.getNumDpsInits();
    SmallVector<Value> outs(ArrayRef(*buffers).drop_front(first));
    // If the slice is strided, copies it.
    SmallVector<std::pair<Value, Value>> copied;
    for (auto [i, buffer] : llvm::enumerate(*buffers)) {
      if (isLastDimDense(buffer, /*foldsRows=*/false))
        continue;
      FailureOr<Value> dense =
          allocateLike(rewriter, op->getLoc(), buffer, options);
      if (failed(dense) ||
          failed(options.createMemCpy(rewriter, op->getLoc(), buffer, *dense)))
        return failure();
      if (i >= first)
        copied.push_back({*dense, buffer});
      buffer = *dense;
    }
    kernel::createOnBuffers(rewriter, op, *buffers);
    for (auto [dense, buffer] : copied)
      if (failed(options.createMemCpy(rewriter, op->getLoc(), dense, buffer)))
        return failure();
    replaceOpWithBufferizedValues(rewriter, op, outs);
    return success();
  }
};

} // namespace

void ingot::cpu::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, CpuDialect *) {
    AttentionOp::attachInterface<Model<AttentionOp>>(*context);
    ConvOp::attachInterface<Model<ConvOp>>(*context);
    DepthwiseConvOp::attachInterface<Model<DepthwiseConvOp>>(*context);
    GroupNormOp::attachInterface<Model<GroupNormOp>>(*context);
    MatMulOp::attachInterface<Model<MatMulOp>>(*context);
    PackedMatMulOp::attachInterface<Model<PackedMatMulOp>>(*context);
    PackSignsOp::attachInterface<Model<PackSignsOp>>(*context);
    PoolOp::attachInterface<Model<PoolOp>>(*context);
    RecurrentOp::attachInterface<RecurrentModel>(*context);
    BandMatMulOp::attachInterface<Model<BandMatMulOp>>(*context);
    ReduceOp::attachInterface<Model<ReduceOp>>(*context);
    ResampleOp::attachInterface<Model<ResampleOp>>(*context);
    RoundBlocksOp::attachInterface<Model<RoundBlocksOp>>(*context);
    RowNormOp::attachInterface<Model<RowNormOp>>(*context);
    SoftmaxOp::attachInterface<Model<SoftmaxOp>>(*context);
    WinogradConvOp::attachInterface<Model<WinogradConvOp>>(*context);
  });
}
