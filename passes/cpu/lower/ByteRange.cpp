//===- ByteRange.cpp - upper bounds of bytes ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuDialect.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/cpu/lower/ByteRange.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace ingot;

static constexpr int64_t kLargest = 255;

/// The maximum number of ops to look through between a product and the op that
/// bounds its bytes.
static constexpr int kMaxDepth = 16;

static int64_t largestOf(Value tensor, int depth);

/// Returns an upper bound of the unsigned byte `value` that an epilogue yields.
static int64_t largestScalarOf(Value value, cpu::PoolOp pool, int depth) {
  if (depth > kMaxDepth)
    return kLargest;
  // A block argument may be the maximum of a window. The maximum is one of the
  // bytes of src, or 0, so the bound of src holds.
  if (auto argument = dyn_cast<BlockArgument>(value))
    return pool && pool.getKind() == cpu::PoolKind::max &&
                   argument.getArgNumber() == 0
               ? largestOf(pool.getSrc(), depth + 1)
               : kLargest;
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return std::min<int64_t>(number.getZExtValue(), kLargest);
  Operation *op = value.getDefiningOp();
  auto of = [&](unsigned operand) {
    return largestScalarOf(op->getOperand(operand), pool, depth + 1);
  };
  if (isa<arith::MinUIOp>(op))
    return std::min(of(0), of(1));
  if (isa<arith::MaxUIOp>(op))
    return std::max(of(0), of(1));
  return kLargest;
}

static int64_t largestOf(Value tensor, int depth) {
  Operation *op = tensor.getDefiningOp();
  if (!op || depth > kMaxDepth)
    return kLargest;
  if (auto clamp = dyn_cast<nn::ClampOp>(op)) {
    double max = std::max(clamp.getMax().convertToDouble(), 0.0);
    int64_t before = largestOf(clamp.getX(), depth + 1);
    return max < double(before) ? int64_t(max) : before;
  }
  if (auto pad = dyn_cast<nn::PadOp>(op)) {
    int64_t inside = largestOf(pad.getX(), depth + 1);
    if (pad.getMode() != nn::PadMode::constant)
      return inside;
    std::optional<double> value = nn::getSplat(pad.getValue());
    return value ? std::max(int64_t(*value), inside) : kLargest;
  }
  if (isa<nn::ConcatOp>(op)) {
    int64_t largest = 0;
    for (Value part : op->getOperands())
      largest = std::max(largest, largestOf(part, depth + 1));
    return largest;
  }
  if (isa<nn::TransposeOp, nn::ReshapeOp, nn::SliceOp, tensor::CastOp,
          tensor::CollapseShapeOp, tensor::ExpandShapeOp,
          tensor::ExtractSliceOp>(op))
    return largestOf(op->getOperand(0), depth + 1);
  if (auto kernel = dyn_cast<kernel::EpilogueOpInterface>(op);
      kernel && !kernel.getEpilogue().empty())
    return largestScalarOf(
        kernel.getEpilogue().front().getTerminator()->getOperand(0),
        dyn_cast<cpu::PoolOp>(op), depth + 1);
  return kLargest;
}

int64_t ingot::cpu::largestByteOf(Value tensor) {
  return largestOf(tensor, /*depth=*/0);
}
