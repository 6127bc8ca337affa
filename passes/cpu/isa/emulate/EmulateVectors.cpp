//===- EmulateVectors.cpp - vector instructions in plain vectors ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/isa/emulate/EmulateVectors.h"
#include "passes/cpu/products/MicroKernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static constexpr StringLiteral kTable = "llvm.x86.avx512.pternlog.d.512",
                               kPackWords = "llvm.x86.avx512.packssdw.512",
                               kPackBytes = "llvm.x86.avx512.packsswb.512",
                               kPackUnsigned = "llvm.x86.avx512.packuswb.512",
                               kRound = "llvm.x86.avx512.mask.cvtps2dq.512",
                               kTruncate =
                                   "llvm.x86.avx512.mask.cvttps2dq.512";

static bool isPack(StringRef intrinsic) {
  return intrinsic == kPackWords || intrinsic == kPackBytes ||
         intrinsic == kPackUnsigned;
}

static bool isConversion(StringRef intrinsic) {
  return intrinsic == kRound || intrinsic == kTruncate;
}

static bool isHalfVector(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getElementType().isF16();
}

namespace {

/// Computes a function of three bits, given as a table, by adding one of its
/// eight cases after the other.
struct EmulateTable : OpConversionPattern<LLVM::CallIntrinsicOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LLVM::CallIntrinsicOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    APInt table;
    if (op.getIntrin() != kTable ||
        !matchPattern(op.getArgs()[3], m_ConstantInt(&table)))
      return rewriter.notifyMatchFailure(op, "is not a table of three bits");
    IndexBuilder b{rewriter, op.getLoc()};
    auto type = cast<VectorType>(op.getResult(0).getType());
    ValueRange args = adaptor.getArgs();
    Value sum = splatInt(b, type, 0);
    for (unsigned i = 0; i < 8; ++i) {
      if (!table[i])
        continue;
      Value one = splatInt(b, type, -1);
      for (unsigned bit = 0; bit < 3; ++bit) {
        Value arg = args[2 - bit];
        if (!(i >> bit & 1))
          arg = arith::XOrIOp::create(rewriter, op.getLoc(), arg,
                                      splatInt(b, type, -1));
        one = arith::AndIOp::create(rewriter, op.getLoc(), one, arg);
      }
      sum = arith::OrIOp::create(rewriter, op.getLoc(), sum, one);
    }
    rewriter.replaceOp(op, sum);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

/// Packs two vectors to elements of half the bits, with saturation. Each lane
/// of 128 bits holds the elements of x, then those of y.
struct EmulatePack : OpConversionPattern<LLVM::CallIntrinsicOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LLVM::CallIntrinsicOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isPack(op.getIntrin()))
      return rewriter.notifyMatchFailure(op, "packs nothing");
    IndexBuilder b{rewriter, op.getLoc()};
    auto from = cast<VectorType>(adaptor.getArgs()[0].getType());
    auto to = cast<VectorType>(op.getResult(0).getType());
    int64_t bits = to.getElementTypeBitWidth(), size = from.getDimSize(0);
    bool isSigned = op.getIntrin() != kPackUnsigned;
    int64_t high = (int64_t(1) << (isSigned ? bits - 1 : bits)) - 1;
    int64_t low = isSigned ? -high - 1 : 0;
    SmallVector<Value> halves;
    for (Value x : adaptor.getArgs()) {
      x = arith::MaxSIOp::create(rewriter, b.loc, x, splatInt(b, from, low));
      x = arith::MinSIOp::create(rewriter, b.loc, x, splatInt(b, from, high));
      halves.push_back(arith::TruncIOp::create(
          rewriter, b.loc, from.clone(to.getElementType()), x));
    }
    int64_t perLane = 128 / from.getElementTypeBitWidth();
    SmallVector<int64_t> order;
    for (int64_t lane = 0; lane < size; lane += perLane)
      for (int64_t half : {int64_t(0), size})
        for (int64_t i = 0; i < perLane; ++i)
          order.push_back(half + lane + i);
    rewriter.replaceOpWithNewOp<vector::ShuffleOp>(op, halves[0], halves[1],
                                                   order);
    return success();
  }
};

/// Converts all lanes to i32. Floats beyond the range of i32 become its
/// minimum.
struct EmulateConversion : OpConversionPattern<LLVM::CallIntrinsicOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LLVM::CallIntrinsicOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isConversion(op.getIntrin()))
      return rewriter.notifyMatchFailure(op, "converts nothing");
    Location loc = op.getLoc();
    IndexBuilder b{rewriter, loc};
    Value x = adaptor.getArgs()[0];
    auto reals = cast<VectorType>(x.getType());
    auto words = cast<VectorType>(op.getResult(0).getType());
    auto real = [&](float value) -> Value {
      return arith::ConstantOp::create(
          rewriter, loc,
          DenseElementsAttr::get(reals, rewriter.getF32FloatAttr(value)));
    };
    Value above = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::OGE, x, real(-0x1p31f));
    Value below = arith::CmpFOp::create(
        rewriter, loc, arith::CmpFPredicate::OLT, x, real(0x1p31f));
    Value within = arith::AndIOp::create(rewriter, loc, above, below);
    x = arith::SelectOp::create(rewriter, loc, within, x, real(0));
    if (op.getIntrin() == kRound)
      x = math::RoundEvenOp::create(rewriter, loc, x);
    Value whole = arith::FPToSIOp::create(rewriter, loc, words, x);
    rewriter.replaceOpWithNewOp<arith::SelectOp>(
        op, within, whole,
        splatInt(b, words, std::numeric_limits<int32_t>::min()));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Arithmetic on f16
//===----------------------------------------------------------------------===//

/// Computes sums and products of f16 as f32, and rounds the results.
template <typename Op> struct EmulateHalf : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  LogicalResult
  matchAndRewrite(Op op, typename Op::Adaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type type = op.getType();
    if (!isHalfVector(type))
      return rewriter.notifyMatchFailure(op, "is not of f16");
    IndexBuilder b{rewriter, op.getLoc()};
    SmallVector<Value> wide;
    for (Value operand : adaptor.getOperands())
      wide.push_back(widenFloats(b, operand));
    Value sum;
    if constexpr (std::is_same_v<Op, vector::FMAOp>)
      sum = math::FmaOp::create(rewriter, op.getLoc(), wide[0], wide[1],
                                wide[2]);
    else
      sum = arith::AddFOp::create(rewriter, op.getLoc(), wide[0], wide[1]);
    rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, type, sum);
    return success();
  }
};

} // namespace

bool cpu::isVectorIntrinsic(StringRef intrinsic) {
  return intrinsic == kTable || isPack(intrinsic) || isConversion(intrinsic);
}

void cpu::populateEmulateVectors(const TypeConverter &converter,
                                 RewritePatternSet &patterns,
                                 ConversionTarget &target) {
  patterns.add<EmulateTable, EmulatePack, EmulateConversion,
               EmulateHalf<vector::FMAOp>, EmulateHalf<arith::AddFOp>>(
      converter, patterns.getContext());
  target.addDynamicallyLegalOp<vector::FMAOp, arith::AddFOp>(
      [](Operation *op) { return !isHalfVector(op->getResultTypes()[0]); });
}
