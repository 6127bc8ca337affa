//===- EmulateInstructions.cpp - emulate-instructions ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/TargetInfo.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/isa/emulate/EmulateVectors.h"
#include "passes/cpu/products/MicroKernel.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/Patterns.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Transforms/DialectConversion.h"

namespace ingot {
#define GEN_PASS_DEF_EMULATEINSTRUCTIONS
#include "passes/cpu/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static bool isVnni(StringRef intrinsic) {
  return llvm::is_contained(kFourTermDots, intrinsic);
}

//===----------------------------------------------------------------------===//
// Lanes of four bytes
//===----------------------------------------------------------------------===//

namespace {

/// Arithmetic on the groups of a vector, which are pairs of bf16 or groups of
/// four bytes.
struct Groups {
  IndexBuilder b;

  VectorType words(int64_t lanes) {
    return VectorType::get({lanes}, b.b.getI32Type());
  }
  Value asInt16(Value vector) {
    auto type = cast<VectorType>(vector.getType());
    int64_t bits = type.getNumElements() * type.getElementTypeBitWidth();
    auto as = words(bits / 32);
    return type == as ? vector
                      : vector::BitCastOp::create(b.b, b.loc, as, vector);
  }
  /// Returns byte `i` of each group of four as i32.
  Value byte(Value fours, int64_t i, bool isSigned) {
    auto type = cast<VectorType>(fours.getType());
    Value top = arith::ShLIOp::create(b.b, b.loc, fours,
                                      splatInt(b, type, 24 - 8 * i));
    Value low = splatInt(b, type, 24);
    return isSigned ? arith::ShRSIOp::create(b.b, b.loc, top, low).getResult()
                    : arith::ShRUIOp::create(b.b, b.loc, top, low);
  }
  /// Adds the product of element i of the pairs to sums[i].
  Accumulators addPairs(Value x, Value y, ValueRange sums) {
    Accumulators next;
    for (auto [i, sum] : llvm::enumerate(sums))
      next.push_back(math::FmaOp::create(b.b, b.loc, widenHalfOfVector(b, x, i),
                                         widenHalfOfVector(b, y, i), sum));
    return next;
  }
  Value addGroupsOfFour(Value x, Value y, Value sum, bool isSignedX,
                        bool isSignedY) {
    for (int64_t i = 0; i < 4; ++i) {
      Value product = arith::MulIOp::create(b.b, b.loc, byte(x, i, isSignedX),
                                            byte(y, i, isSignedY));
      sum = arith::AddIOp::create(b.b, b.loc, sum, product);
    }
    return sum;
  }
};

//===----------------------------------------------------------------------===//
// Dot products
//===----------------------------------------------------------------------===//

struct EmulateDot : OpConversionPattern<x86vector::DotBF16Op> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(x86vector::DotBF16Op op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder b{rewriter, op.getLoc()};
    Groups groups{b};
    Value x = groups.asInt16(adaptor.getA()),
          y = groups.asInt16(adaptor.getB());
    Value sum = adaptor.getSrc();
    for (int64_t i : {1, 0})
      sum =
          math::FmaOp::create(rewriter, op.getLoc(), widenHalfOfVector(b, x, i),
                              widenHalfOfVector(b, y, i), sum);
    rewriter.replaceOp(op, sum);
    return success();
  }
};

struct EmulateVnni : OpConversionPattern<LLVM::CallIntrinsicOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(LLVM::CallIntrinsicOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    if (!isVnni(op.getIntrin()))
      return rewriter.notifyMatchFailure(op, "is not a VNNI instruction");
    Groups groups{{rewriter, op.getLoc()}};
    ValueRange args = adaptor.getArgs();
    rewriter.replaceOp(op,
                       groups.addGroupsOfFour(groups.asInt16(args[1]),
                                              groups.asInt16(args[2]), args[0],
                                              /*isSignedX=*/false,
                                              /*isSignedY=*/true));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// AMX
//===----------------------------------------------------------------------===//

VectorType rowType(MemRefType tile) {
  return VectorType::get({tile.getDimSize(1)}, tile.getElementType());
}

/// Loads a row of a tile.
Value loadRow(IndexBuilder &b, Value tile, Value row) {
  return vector::LoadOp::create(b.b, b.loc,
                                rowType(cast<MemRefType>(tile.getType())), tile,
                                ValueRange{row, b.get(0)});
}
void storeRow(IndexBuilder &b, Value value, Value tile, Value row) {
  vector::StoreOp::create(b.b, b.loc, value, tile, ValueRange{row, b.get(0)});
}

void forEachRow(IndexBuilder &b, MemRefType tile,
                function_ref<void(Value row)> body) {
  forEach(b, 0, tile.getDimSize(0), 1, body);
}

/// Allocates memory for a tile, and fills it with the rows `rowOf(row)`.
Value fillTile(IndexBuilder &b, MemRefType type,
               function_ref<Value(Value row)> rowOf) {
  Value tile = createScratch(b, type);
  forEachRow(b, type,
             [&](Value row) { storeRow(b, rowOf(row), tile, row); });
  return tile;
}

/// Returns the offset of a tile's row in memory of one dimension.
Value rowAt(IndexBuilder &b, Value at, Value stride, Value row) {
  return b.get(b.add(Index(at), b.mul(Index(row), Index(stride))));
}

template <typename Op> struct TilePattern : OpConversionPattern<Op> {
  using OpConversionPattern<Op>::OpConversionPattern;

  MemRefType memoryOf(Type tile) const {
    return cast<MemRefType>(this->getTypeConverter()->convertType(tile));
  }
};

struct EmulateZero : TilePattern<amx::TileZeroOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(amx::TileZeroOp op, OpAdaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder b{rewriter, op.getLoc()};
    MemRefType type = memoryOf(op.getType());
    Value zero = arith::ConstantOp::create(b.b, b.loc,
                                           b.b.getZeroAttr(rowType(type)));
    rewriter.replaceOp(op, fillTile(b, type, [&](Value) { return zero; }));
    return success();
  }
};

struct EmulateLoad : TilePattern<amx::TileLoadOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(amx::TileLoadOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder b{rewriter, op.getLoc()};
    MemRefType type = memoryOf(op.getType());
    rewriter.replaceOp(op, fillTile(b, type, [&](Value row) -> Value {
                         Value at = rowAt(b, adaptor.getIndices()[0],
                                          adaptor.getStride(), row);
                         return vector::LoadOp::create(
                             b.b, b.loc, rowType(type), adaptor.getBase(), at);
                       }));
    return success();
  }
};

struct EmulateStore : TilePattern<amx::TileStoreOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(amx::TileStoreOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    IndexBuilder b{rewriter, op.getLoc()};
    forEachRow(b, memoryOf(op.getVal().getType()), [&](Value row) {
      Value at = rowAt(b, adaptor.getIndices()[0], adaptor.getStride(), row);
      vector::StoreOp::create(b.b, b.loc, loadRow(b, adaptor.getVal(), row),
                              adaptor.getBase(), at);
    });
    rewriter.eraseOp(op);
    return success();
  }
};

/// Emulates a product row by row. All lanes of x hold one group of the left
/// tile, and y holds the groups of a row of the right tile. `addGroup(x, y,
/// sums)` adds their products. `numSums` partial sums start at zero, and are
/// added to the accumulator at the end.
template <typename Op, typename Adaptor>
void emulateProduct(
    OpBuilder &builder, Op op, Adaptor adaptor, int64_t numSums,
    function_ref<Accumulators(Groups &, Value x, Value y, ValueRange sums)>
        addGroup) {
  IndexBuilder b{builder, op.getLoc()};
  Groups groups{b};
  Value lhs = adaptor.getLhs(), rhs = adaptor.getRhs(), acc = adaptor.getAcc();
  auto left = cast<MemRefType>(lhs.getType());
  auto right = cast<MemRefType>(rhs.getType());
  auto sums = cast<MemRefType>(acc.getType());
  int64_t depth = right.getDimSize(0), size = left.getDimSize(1) / depth;
  forEachRow(b, sums, [&](Value row) {
    Value zero = arith::ConstantOp::create(b.b, b.loc,
                                           b.b.getZeroAttr(rowType(sums)));
    auto addRow = [&](Value k, const Accumulators &partial) {
      Value group = groups.asInt16(vector::LoadOp::create(
          b.b, b.loc, VectorType::get({size}, left.getElementType()), lhs,
          ValueRange{row, b.get(b.mul(Index(k), size))}));
      Value x = vector::BroadcastOp::create(
          b.b, b.loc, groups.words(sums.getDimSize(1)),
          vector::ExtractOp::create(b.b, b.loc, group, 0));
      return addGroup(groups, x, groups.asInt16(loadRow(b, rhs, k)), partial);
    };
    Accumulators partial =
        forEach(b, 0, depth, Accumulators(numSums, zero), addRow);
    bool isInteger = sums.getElementType().isInteger();
    auto add = [&](Value x, Value y) -> Value {
      return isInteger ? arith::AddIOp::create(b.b, b.loc, x, y).getResult()
                       : arith::AddFOp::create(b.b, b.loc, x, y);
    };
    Value sum = partial[0];
    for (Value other : ArrayRef(partial).drop_front())
      sum = add(sum, other);
    storeRow(b, add(loadRow(b, acc, row), sum), acc, row);
  });
}

struct EmulateMulF : TilePattern<amx::TileMulFOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(amx::TileMulFOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override {
    emulateProduct(b, op, adaptor, /*numSums=*/2,
                   [](Groups &groups, Value x, Value y, ValueRange sums) {
                     return groups.addPairs(x, y, sums);
                   });
    b.replaceOp(op, adaptor.getAcc());
    return success();
  }
};

struct EmulateMulI : TilePattern<amx::TileMulIOp> {
  using TilePattern::TilePattern;

  LogicalResult
  matchAndRewrite(amx::TileMulIOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override {
    bool isSignedX = !op.getIsZextLhs(), isSignedY = !op.getIsZextRhs();
    emulateProduct(
        b, op, adaptor, /*numSums=*/1,
        [&](Groups &groups, Value x, Value y, ValueRange sums) -> Accumulators {
          return {groups.addGroupsOfFour(x, y, sums[0], isSignedX, isSignedY)};
        });
    b.replaceOp(op, adaptor.getAcc());
    return success();
  }
};

//===----------------------------------------------------------------------===//
// The pass
//===----------------------------------------------------------------------===//

bool isOneDimension(MemRefType base, Value stride) {
  return base.getRank() == 1 && stride;
}

/// Checks two properties of the generated kernels, which allow one fixed buffer
/// for each tile. The old value of an accumulator is not needed after a
/// product. No other tile outlives the iteration that loads it.
LogicalResult check(Operation *op) {
  Value acc;
  if (auto product = dyn_cast<amx::TileMulFOp>(op)) {
    if (!product.getLhsTileType().getElementType().isBF16())
      return op->emitOpError("cannot be emulated for this type");
    acc = product.getAcc();
  } else if (auto product = dyn_cast<amx::TileMulIOp>(op)) {
    acc = product.getAcc();
  } else if (auto load = dyn_cast<amx::TileLoadOp>(op)) {
    if (!isOneDimension(load.getMemRefType(), load.getStride()))
      return op->emitOpError("cannot be emulated without a stride");
    if (llvm::any_of(load->getUsers(), [](Operation *user) {
          return isa<scf::YieldOp>(user);
        }))
      return op->emitOpError("cannot be emulated if a loop carries its result");
  } else if (auto store = dyn_cast<amx::TileStoreOp>(op)) {
    if (!isOneDimension(store.getMemRefType(), store.getStride()))
      return op->emitOpError("cannot be emulated without a stride");
  }
  if (acc && !acc.hasOneUse())
    return op->emitOpError("cannot be emulated: its accumulator is used again");
  return success();
}

struct EmulateInstructionsPass
    : ingot::impl::EmulateInstructionsBase<EmulateInstructionsPass> {
  using EmulateInstructionsBase::EmulateInstructionsBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    MLIRContext *context = &getContext();
    if (!findLevel(on)) {
      module.emitError() << "unknown CPU level '" << on << "': use one of "
                         << levelNames();
      return signalPassFailure();
    }
    WalkResult checked = module.walk([](Operation *op) {
      return failed(check(op)) ? WalkResult::interrupt()
                               : WalkResult::advance();
    });
    if (checked.wasInterrupted())
      return signalPassFailure();
    TypeConverter converter;
    converter.addConversion([](Type type) { return type; });
    converter.addConversion([](amx::TileType type) {
      return MemRefType::get(type.getShape(), type.getElementType());
    });
    RewritePatternSet patterns(context);
    patterns.add<EmulateDot, EmulateVnni, EmulateZero, EmulateLoad,
                 EmulateStore, EmulateMulF, EmulateMulI>(converter, context);
    ConversionTarget target(*context);
    target.addIllegalDialect<amx::AMXDialect, x86vector::X86VectorDialect>();
    target.addDynamicallyLegalOp<LLVM::CallIntrinsicOp>(
        [](LLVM::CallIntrinsicOp op) {
          return !isVnni(op.getIntrin()) && !isVectorIntrinsic(op.getIntrin());
        });
    populateEmulateVectors(converter, patterns, target);
    scf::populateSCFStructuralTypeConversionsAndLegality(converter, patterns,
                                                         target);
    target.markUnknownOpDynamicallyLegal([](Operation *) { return true; });
    if (failed(applyPartialConversion(module, target, std::move(patterns))))
      return signalPassFailure();
    TargetAttr machine = TargetAttr::of(module);
    IngotDialect::TargetAttrHelper(context).setAttr(
        module,
        TargetAttr::get(context, on, machine.getNumbers()));
  }
};

} // namespace
