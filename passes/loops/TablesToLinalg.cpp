//===- TablesToLinalg.cpp - bytes looked up in tables ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/NNDialect.h"
#include "passes/loops/Patterns.h"
#include "passes/support/ByteTables.h"
#include "passes/support/Tensors.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

namespace {

/// Lowers a gather of bytes by bytes. No index needs a check, because the table
/// has 256 entries. A negative index counts from the end. The bits of the
/// negative byte, read as an unsigned number, are the index from the front.
struct LowerByteTable : OpConversionPattern<nn::GatherOp> {
  LowerByteTable(const TypeConverter &converter, MLIRContext *context)
      : OpConversionPattern(converter, context, /*benefit=*/2) {}

  LogicalResult
  matchAndRewrite(nn::GatherOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    RankedTensorType table = typeOf(adaptor.getX()),
                     indices = typeOf(adaptor.getIndices());
    if (table.getShape() != ArrayRef(kByteEntries) ||
        !table.getElementType().isInteger(8) ||
        !indices.getElementType().isInteger(8))
      return rewriter.notifyMatchFailure(op, "is of no table of bytes");
    Location loc = op.getLoc();
    int64_t rank = indices.getRank();
    AffineMap map = rewriter.getMultiDimIdentityMap(rank);
    SmallVector<utils::IteratorType> loops(rank, utils::IteratorType::parallel);
    Value dst = emptyLike(rewriter, loc, adaptor.getIndices());
    auto lookup = linalg::GenericOp::create(
        rewriter, loc, dst.getType(), adaptor.getIndices(), dst,
        ArrayRef<AffineMap>{map, map}, loops,
        [&](OpBuilder &b, Location loc, ValueRange args) {
          Value at = arith::IndexCastUIOp::create(b, loc, b.getIndexType(),
                                                  args[0]);
          linalg::YieldOp::create(
              b, loc,
              tensor::ExtractOp::create(b, loc, adaptor.getX(), at)
                  .getResult());
        });
    rewriter.replaceOp(op, castTo(rewriter, loc, lookup.getResult(0),
                                  signless(getTypeConverter(), op)));
    return success();
  }
};

} // namespace

void loops::populateTablesToLinalg(RewritePatternSet &patterns,
                                   const TypeConverter &converter) {
  patterns.add<LowerByteTable>(converter, patterns.getContext());
}
