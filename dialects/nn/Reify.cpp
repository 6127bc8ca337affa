//===- Reify.cpp - sizes of results as values -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Implements ReifyRankedShapedTypeOpInterface for all nn ops. Evaluates their
// size rules, and makes the values that compute the sizes at run time.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/InferTypes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

namespace {

/// Size rules over symbols. A symbol becomes a value only if a result needs it,
/// so unused sizes make no values.
class ReifyRules : public SizeRules {
public:
  ReifyRules(OpBuilder &builder, Location loc)
      : SizeRules(builder.getContext(), std::nullopt), builder(builder),
        at(loc) {}

  SmallVector<Size> sizesOf(Value tensor) override {
    SmallVector<Size> sizes = SizeRules::sizesOf(tensor);
    for (auto [i, size] : llvm::enumerate(sizes))
      if (!size)
        size = symbolOf([this, tensor, dim = int64_t(i)] {
          return tensor::getMixedSize(builder, at, tensor, dim);
        });
    return sizes;
  }

  Size sizeOfIndex(Value index) override {
    if (std::optional<int64_t> known = getConstantIntValue(index))
      return constant(*known);
    return symbolOf([index] { return OpFoldResult(index); });
  }

  /// Returns the size as an attribute or a value.
  OpFoldResult reify(Size size) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(size))
      return valueOf(symbol.getPosition());
    SmallVector<OpFoldResult> operands(symbols.size(), builder.getIndexAttr(0));
    size.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        operands[symbol.getPosition()] = valueOf(symbol.getPosition());
    });
    auto map = AffineMap::get(0, operands.size(), size);
    return affine::makeComposedFoldedAffineApply(builder, at, map, operands);
  }

protected:
  Size broadcastAtRun(Size a, Size b) override {
    return symbolOf([this, a, b]() -> OpFoldResult {
      auto value = [&](Size size) {
        return getValueOrCreateConstantIndexOp(builder, at, reify(size));
      };
      Value first = value(a), second = value(b);
      Value one = arith::ConstantIndexOp::create(builder, at, 1);
      Value isRepeated = arith::CmpIOp::create(
          builder, at, arith::CmpIPredicate::eq, first, one);
      return arith::SelectOp::create(builder, at, isRepeated, second, first)
          .getResult();
    });
  }

  Size scaleAtRun(Size size, float scale) override {
    return symbolOf([this, size, scale]() -> OpFoldResult {
      Value value = getValueOrCreateConstantIndexOp(builder, at, reify(size));
      Type wide = builder.getI64Type(), index = builder.getIndexType();
      value = arith::IndexCastOp::create(builder, at, wide, value);
      value =
          arith::SIToFPOp::create(builder, at, builder.getF32Type(), value);
      Value factor = arith::ConstantOp::create(builder, at,
                                               builder.getF32FloatAttr(scale));
      value = arith::MulFOp::create(builder, at, value, factor);
      // Rounds down, because both factors are not negative.
      value = arith::FPToSIOp::create(builder, at, wide, value);
      return arith::IndexCastOp::create(builder, at, index, value).getResult();
    });
  }

private:
  using Maker = std::function<OpFoldResult()>;

  Size symbolOf(Maker maker) {
    symbols.push_back({std::move(maker), {}});
    return getAffineSymbolExpr(symbols.size() - 1, builder.getContext());
  }
  OpFoldResult valueOf(unsigned position) {
    if (!symbols[position].second)
      symbols[position].second = symbols[position].first();
    return symbols[position].second;
  }

  OpBuilder &builder;
  Location at;
  SmallVector<std::pair<Maker, OpFoldResult>> symbols;
};

template <typename Op>
struct Reify
    : ReifyRankedShapedTypeOpInterface::ExternalModel<Reify<Op>, Op> {
  LogicalResult reifyResultShapes(Operation *op, OpBuilder &builder,
                                  ReifiedRankedShapedTypeDims &shapes) const {
    ReifyRules rules(builder, op->getLoc());
    SmallVector<SizedType> sized;
    if (failed(cast<Op>(op).inferSizes(rules, sized)))
      return failure();
    for (auto [result, inferred] : llvm::zip_equal(op->getResults(), sized)) {
      RankedTensorType type = typeOf(result);
      SmallVector<OpFoldResult> &shape = shapes.emplace_back();
      for (int64_t i = 0; i < type.getRank(); ++i) {
        if (!type.isDynamicDim(i)) {
          shape.push_back(builder.getIndexAttr(type.getDimSize(i)));
          continue;
        }
        // A size that depends on data is not known before the op has run.
        if (size_t(i) >= inferred.sizes.size() || !inferred.sizes[i])
          return failure();
        shape.push_back(getValueOrCreateConstantIndexOp(
            builder, op->getLoc(), rules.reify(inferred.sizes[i])));
      }
    }
    return success();
  }
};

} // namespace

template <typename... Ops> static void attachTo(MLIRContext *context) {
  (Ops::template attachInterface<Reify<Ops>>(*context), ...);
}

void nn::attachReification(MLIRContext *context) {
  attachTo<
#define GET_OP_LIST
#include "dialects/nn/NNOps.cpp.inc"
      >(context);
}
