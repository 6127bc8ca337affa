//===- CudaProducts.cpp - products of matrices ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaVerify.h"
#include "dialects/kernel/Verify.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;
using namespace ingot::kernel;

/// The sums of a thread: beyond, they would not fit into registers.
static constexpr int64_t kMaxSums = 128;
static constexpr int64_t kMaxProductThreads = 512;
/// Rows and columns of the smallest product of matrix units, and of two such
/// products beside each other.
static constexpr int64_t kLeastWarpRows = 16, kLeastWarpColumns = 16;

//===----------------------------------------------------------------------===//
// Schedule
//===----------------------------------------------------------------------===//

int64_t ScheduleAttr::getThreads() const {
  return getRows() / getWarpRows() * (getColumns() / getWarpColumns()) * kWarp;
}

/// Elements behind a row of sums in shared memory, so that the rows of a warp
/// start in different banks.
static constexpr int64_t kSumPadding = 8;

int64_t ScheduleAttr::getSumStride() const {
  return getColumns() + kSumPadding;
}

static int64_t sharedBytes(int64_t rows, int64_t columns, int64_t depth,
                           int64_t stages) {
  return std::max(stages * (rows + columns) * depth,
                  rows * (columns + kSumPadding) * int64_t(sizeof(float)));
}

int64_t ScheduleAttr::getSharedBytes() const {
  return sharedBytes(getRows(), getColumns(), getDepth(), getStages());
}

LogicalResult ScheduleAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                   int64_t rows, int64_t columns,
                                   int64_t warpRows, int64_t warpColumns,
                                   int64_t depth, int64_t stages,
                                   int64_t srcBytes, int64_t weightsBytes,
                                   int64_t stored) {
  auto isPower = [](int64_t size) {
    return size > 0 && llvm::isPowerOf2_64(uint64_t(size));
  };
  if (!llvm::all_of(ArrayRef{rows, columns, warpRows, warpColumns, depth,
                             srcBytes, weightsBytes, stored},
                    isPower))
    return emitError() << "expects sizes that are powers of two";
  if (warpRows > rows || warpColumns > columns || warpRows < kLeastWarpRows ||
      warpColumns < kLeastWarpColumns ||
      warpRows * warpColumns > kMaxSums * kWarp)
    return emitError() << "expects warps of " << kLeastWarpRows << "x"
                       << kLeastWarpColumns << " or more within the tile, with "
                       << kMaxSums << " sums a thread or less, but got "
                       << warpRows << "x" << warpColumns << " of " << rows
                       << "x" << columns;
  if (rows / warpRows * (columns / warpColumns) > kMaxProductThreads / kWarp)
    return emitError() << "expects at most " << kMaxProductThreads
                       << " threads";
  if (depth < 64 || depth > 128 || stages < 2 || stages > 8)
    return emitError() << "expects a depth of 64 or 128 bytes and 2 to 8 "
                          "stages, but got "
                       << depth << " and " << stages;
  if (std::min(srcBytes, weightsBytes) < 2 ||
      std::max(srcBytes, weightsBytes) > 16 || stored > 16 || stored > columns)
    return emitError() << "expects copies of 2 to 16 bytes, and at most 16 "
                          "elements stored together";
  const int64_t bytes = sharedBytes(rows, columns, depth, stages);
  if (bytes > kMaxSharedBytes)
    return emitError() << "expects at most " << kMaxSharedBytes
                       << " bytes of shared memory, but needs " << bytes;
  return success();
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<ShapedType>(value.getType()).getShape();
}

LogicalResult cuda::verifyEpilogue(EpilogueOpInterface op, Value dst) {
  Block &body = op.getEpilogue().front();
  if (body.getNumArguments() != 1 + op.getEpilogueOperands().size() ||
      !body.getArgument(0).getType().isF32())
    return op->emitOpError("expects an epilogue with an argument for the sum, "
                           "of f32, and for each of ")
           << op.getEpilogueOperands().size() << " operands";
  Operation *yield = body.getTerminator();
  Type stored = getElementTypeOrSelf(dst);
  auto isOf = [](Type scalar, Type element) {
    auto integer = dyn_cast<IntegerType>(element);
    return scalar == element ||
           (integer && scalar.isSignlessInteger(integer.getWidth()));
  };
  if (yield->getNumOperands() != 1 ||
      !isOf(yield->getOperand(0).getType(), stored))
    return op->emitOpError("expects an epilogue that yields ") << stored;
  for (auto [operand, argument] : llvm::zip_equal(
           op.getEpilogueOperands(), body.getArguments().drop_front()))
    if (!isOf(argument.getType(), getElementTypeOrSelf(operand)))
      return op->emitOpError("expects an argument of the epilogue for ")
             << operand.getType() << ", but got " << argument.getType();
  if (failed(verifyBroadcast(op, "an epilogue operand",
                             op.getEpilogueOperands(), dst)))
    return failure();
  return verifyDst(op, dst);
}

/// The most parts of a product.
static constexpr int64_t kMaxParts = 64;

/// Returns the sizes of the result of a product, without the dimension of
/// parts.
template <typename Op>
static ArrayRef<int64_t> resultShapeOf(Op op) {
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  return op.getParts() > 1 && !dst.empty() ? dst.drop_front() : dst;
}

/// Verifies the dimension of parts.
template <typename Op>
static LogicalResult verifyParts(Op op) {
  const int64_t parts = op.getParts();
  if (parts < 1 || parts > kMaxParts)
    return op.emitOpError("expects 1 to ")
           << kMaxParts << " parts, but got " << parts;
  if (parts == 1)
    return success();
  for (Value value : {op.getSrc(), op.getWeights(), op.getDst()})
    if (failed(expectKnown(op, "the operands of parts", shapeOf(value))))
      return failure();
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  if (dst.empty())
    return op.emitOpError("expects dst with a dimension of parts");
  if (failed(expectSize(op, "parts", parts, dst.front())))
    return failure();
  Block &body = op.getEpilogue().front();
  if (!getElementTypeOrSelf(op.getDst()).isF32() ||
      body.getNumArguments() != 1 ||
      body.getTerminator()->getOperands() !=
          ValueRange(body.getArguments().take_front()))
    return op.emitOpError(
        "expects dst of f32, and an epilogue that yields the sum, for parts");
  return success();
}

/// Verifies the types of src and weights.
template <typename Op>
static LogicalResult verifyFactors(Op op) {
  Type element = getElementTypeOrSelf(op.getSrc());
  if (!element.isF32() && !element.isF16() && !element.isBF16())
    return op.emitOpError("expects factors of f32, f16 or bf16, but got ")
           << element;
  if (getElementTypeOrSelf(op.getWeights()) != element)
    return op.emitOpError("expects weights of ")
           << element << ", but got " << op.getWeights().getType();
  return success();
}

/// Verifies the facts that all products have.
template <typename Op>
static LogicalResult verifyProduct(Op op) {
  if (failed(verifyFactors(op)))
    return failure();
  Type element = getElementTypeOrSelf(op.getSrc());
  if (op.getTf32() && !element.isF32())
    return op.emitOpError("expects factors of f32 for tf32, but got ")
           << element;
  if (failed(verifyEpilogue(op, op.getDst())))
    return failure();
  return verifyParts(op);
}

LogicalResult MatMulOp::verify() {
  ArrayRef<int64_t> src = shapeOf(getSrc()), weights = shapeOf(getWeights()),
                    dst = resultShapeOf(*this);
  if (src.size() < 2 || dst.size() != src.size() ||
      (weights.size() != 2 && weights.size() != src.size()))
    return emitOpError("expects src and dst of one rank of 2 or more, and "
                       "weights of rank 2 or this rank");
  if (failed(verifyProduct(*this)))
    return failure();
  if (src.drop_back() != dst.drop_back())
    return emitOpError("expects the rows of src in dst");
  if (weights.size() > 2 && weights.drop_back(2) != src.drop_back(2))
    return emitOpError("expects the batches of src in weights");
  if (failed(expectSize(*this, "columns", dst.back(),
                        weights[weights.size() - 2])))
    return failure();
  // A run has checked the depths of matrices that the model computes.
  if (!ShapedType::isDynamic(src.back()) &&
      !ShapedType::isDynamic(weights.back()) && weights.back() < src.back())
    return emitOpError("expects weights of depth ")
           << src.back() << " or more, but got " << weights.back();
  return success();
}

LogicalResult ConvOp::verify() {
  ArrayRef<int64_t> src = shapeOf(getSrc()), weights = shapeOf(getWeights()),
                    dst = resultShapeOf(*this);
  if (src.size() < 3 || src.size() > 5 || dst.size() != src.size())
    return emitOpError("expects src and dst of one rank of 3 to 5");
  if (failed(expectRank(*this, "weights", getWeights(), 2)) ||
      failed(expectCount(*this, "taps", getTaps(), int64_t(src.size()) - 2)) ||
      failed(verifyProduct(*this)) || failed(verifyWindows(*this, src, dst)) ||
      failed(expectKnown(*this, "weights", weights.take_back(2))) ||
      failed(expectKnown(*this, "a depth", src.take_back())) ||
      failed(expectKnown(*this, "channels", dst.take_back())) ||
      failed(expectSize(*this, "channels", dst.back(), weights.front())))
    return failure();
  const int64_t groups = getGroups();
  if (groups < 1 || src.back() % groups != 0 || dst.back() % groups != 0)
    return emitOpError("expects groups that divide ")
           << src.back() << " and " << dst.back() << " channels, but got "
           << groups;
  int64_t depth = src.back() / groups;
  for (int64_t taps : getTaps())
    depth *= taps;
  if (weights.back() < depth)
    return emitOpError("expects weights of depth ")
           << depth << " or more, but got " << weights.back();
  return success();
}

LogicalResult DepthwiseConvOp::verify() {
  ArrayRef<int64_t> src = shapeOf(getSrc()), weights = shapeOf(getWeights()),
                    dst = shapeOf(getDst());
  if (src.size() < 3 || src.size() > 5 || dst.size() != src.size())
    return emitOpError("expects src and dst of one rank of 3 to 5");
  if (failed(expectRank(*this, "weights", getWeights(),
                        int64_t(src.size()) - 1)) ||
      failed(verifyFactors(*this)) || failed(verifyEpilogue(*this, getDst())) ||
      failed(expectKnown(*this, "weights", weights)) ||
      failed(expectKnown(*this, "channels", src.take_back())) ||
      failed(expectKnown(*this, "channels", dst.take_back())) ||
      failed(verifyWindows(*this, src, dst)) ||
      failed(expectSize(*this, "channels", dst.back(), weights.back())))
    return failure();
  if (src.back() < 1 || dst.back() % src.back() != 0)
    return emitOpError("expects channels that are a multiple of ")
           << src.back() << ", but got " << dst.back();
  int64_t taps = 1;
  for (int64_t each : getTaps())
    taps *= each;
  if (taps > kMaxTaps)
    return emitOpError("expects at most ")
           << kMaxTaps << " taps, but got " << taps;
  return success();
}

LogicalResult SumPartsOp::verify() {
  ArrayRef<int64_t> src = shapeOf(getSrc());
  if (!getElementTypeOrSelf(getSrc()).isF32())
    return emitOpError("expects src of f32, but got ") << getSrc().getType();
  if (src.empty() || src.drop_front() != shapeOf(getDst()))
    return emitOpError("expects the sizes of dst in src, behind the parts");
  if (failed(expectKnown(*this, "its operands", src)))
    return failure();
  return verifyEpilogue(*this, getDst());
}

//===----------------------------------------------------------------------===//
// Effects and work
//===----------------------------------------------------------------------===//

void MatMulOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void ConvOp::getEffects(Effects &effects) { collectEffects(*this, effects); }
void DepthwiseConvOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}
void SumPartsOp::getEffects(Effects &effects) {
  collectEffects(*this, effects);
}

StringRef MatMulOp::getKernelKind() { return "matmul"; }
StringRef ConvOp::getKernelKind() { return "convolution"; }
StringRef DepthwiseConvOp::getKernelKind() { return "depthwise convolution"; }
StringRef SumPartsOp::getKernelKind() { return "sum of parts"; }

Work MatMulOp::getWork() {
  return workPerElement(getDst(),
                        {2 * shapeOf(getSrc()).back() / int64_t(getParts())});
}

Work DepthwiseConvOp::getWork() {
  int64_t taps = 1;
  for (int64_t each : getTaps())
    taps *= each;
  return workPerElement(getDst(), {2 * taps});
}

Work SumPartsOp::getWork() { return workPerElement(getSrc(), {1}); }

Work ConvOp::getWork() {
  int64_t depth = shapeOf(getSrc()).back() / int64_t(getGroups());
  for (int64_t taps : getTaps())
    depth *= taps;
  return workPerElement(getDst(), {2 * depth / int64_t(getParts())});
}
