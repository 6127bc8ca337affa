//===- LookUpScales.cpp - lookups in tables of bytes ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/insert/LookUpScales.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"

using namespace mlir;
using namespace ingot;
using support::typeOf;

namespace {

/// Looks up bytes, and the scale and the zero point of each, if a table has
/// scales for the rows that a gather picks. The table stays in bytes.
struct LookUpScales : OpRewritePattern<nn::GatherOp> {
  LookUpScales(MLIRContext *context, Pass::Statistic &count)
      : OpRewritePattern(context), count(count) {}

  LogicalResult matchAndRewrite(nn::GatherOp op,
                                PatternRewriter &rewriter) const override {
    Operation *table = op.getX().getDefiningOp();
    auto dequantize = dyn_cast_or_null<nn::DequantizeOp>(table);
    auto blocks = dyn_cast_or_null<nn::DequantizeBlocksOp>(table);
    if ((!dequantize && !blocks) || !nn::getConstant(table->getOperand(0)))
      return rewriter.notifyMatchFailure(op, "is not of a constant table");
    if (op.getAxis() != 0 ||
        (dequantize && (dequantize.getAxis() != 0 ||
                        typeOf(dequantize.getScale()).getRank() != 1)) ||
        (blocks && blocks.getAxis() == 0))
      return rewriter.notifyMatchFailure(op, "has no scale for each row");
    const RankedTensorType type = op.getY().getType();
    auto lookUp = [&](Value rows) {
      SmallVector<int64_t> shape(type.getShape());
      llvm::copy(typeOf(rows).getShape().drop_front(),
                 shape.end() - (typeOf(rows).getRank() - 1));
      return nn::GatherOp::create(
          rewriter, op.getLoc(),
          RankedTensorType::get(shape, typeOf(rows).getElementType()), rows,
          op.getIndices(), op.getAxis());
    };
    // Splits the dimension of whole blocks, so that parameters broadcast.
    const bool splits = blocks && hasWholeBlocks(op, blocks);
    auto split = [&](Value rows, int64_t size) -> Value {
      return nn::ReshapeOp::create(rewriter, op.getLoc(),
                                   splitType(typeOf(rows), op, blocks, size),
                                   rows);
    };
    auto lookUpParameter = [&](Value each) -> Value {
      if (splits)
        return split(lookUp(each), 1);
      if (blocks)
        return spread(rewriter, lookUp(each), op, blocks);
      SmallVector<int64_t> perRow(typeOf(op.getX()).getRank(), 1);
      perRow.front() = typeOf(each).getDimSize(0);
      return lookUp(nn::ReshapeOp::create(rewriter, op.getLoc(),
                                          typeOf(each).clone(perRow), each));
    };
    auto toFloats = [&](Value bytes) -> Value {
      if (typeOf(bytes).getElementType() == type.getElementType())
        return bytes;
      return nn::CastOp::create(rewriter, op.getLoc(),
                                typeOf(bytes).clone(type.getElementType()),
                                bytes);
    };
    Value numbers = lookUp(table->getOperand(0));
    if (splits)
      numbers = split(numbers, blocks.getBlockSize());
    numbers = toFloats(numbers);
    if (Value zeros =
            blocks ? blocks.getZeroPoint() : dequantize.getZeroPoint())
      numbers = nn::SubOp::create(rewriter, op.getLoc(), numbers.getType(),
                                  numbers, toFloats(lookUpParameter(zeros)));
    Value y =
        nn::MulOp::create(rewriter, op.getLoc(), numbers.getType(), numbers,
                          toFloats(lookUpParameter(table->getOperand(1))));
    if (splits)
      y = nn::ReshapeOp::create(rewriter, op.getLoc(), type, y);
    rewriter.replaceOp(op, y);
    ++count;
    return success();
  }

  /// Returns the dimension of the result that has the blocks.
  static int64_t axisOf(nn::GatherOp op, nn::DequantizeBlocksOp blocks) {
    return int64_t(blocks.getAxis()) + op.getY().getType().getRank() -
           typeOf(op.getX()).getRank();
  }

  /// Returns true if the dimension of the blocks is a number of whole blocks. A
  /// reshape that splits it supports one dynamic dimension.
  static bool hasWholeBlocks(nn::GatherOp op, nn::DequantizeBlocksOp blocks) {
    RankedTensorType type = op.getY().getType();
    return type.getDimSize(axisOf(op, blocks)) %
                   int64_t(blocks.getBlockSize()) ==
               0 &&
           type.getNumDynamicDims() <= 1;
  }

  /// Splits the dimension of the blocks into parts of `size` elements.
  static RankedTensorType splitType(RankedTensorType type, nn::GatherOp op,
                                    nn::DequantizeBlocksOp blocks,
                                    int64_t size) {
    const int64_t axis = axisOf(op, blocks);
    SmallVector<int64_t> shape(type.getShape());
    shape[axis] /= size;
    shape.insert(shape.begin() + axis + 1, size);
    return type.clone(shape);
  }

  /// Repeats each element of `found` along the dimension of the blocks, as
  /// often as its block has elements.
  static Value spread(PatternRewriter &rewriter, Value found, nn::GatherOp op,
                      nn::DequantizeBlocksOp blocks) {
    const int64_t axis = axisOf(op, blocks);
    std::vector<double> blockOf(op.getY().getType().getDimSize(axis));
    for (auto [i, block] : llvm::enumerate(blockOf))
      block = double(i / blocks.getBlockSize());
    SmallVector<int64_t> shape(typeOf(found).getShape());
    shape[axis] = int64_t(blockOf.size());
    Value indices = nn::makeConstant(
        rewriter, op.getLoc(),
        RankedTensorType::get({shape[axis]}, rewriter.getI64Type()), blockOf);
    return nn::GatherOp::create(
        rewriter, op.getLoc(),
        RankedTensorType::get(shape, typeOf(found).getElementType()), found,
        indices, axis);
  }

  Pass::Statistic &count;
};

} // namespace

void quantize::populateLookUpScales(RewritePatternSet &patterns,
                                    Pass::Statistic &count) {
  patterns.add<LookUpScales>(patterns.getContext(), count);
}
