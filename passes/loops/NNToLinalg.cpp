//===- NNToLinalg.cpp - nn-to-linalg --------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/loops/Passes.h"
#include "passes/loops/Patterns.h"
#include "passes/shape/SameSizes.h"
#include "passes/support/Lowering.h"
#include "passes/support/Rewrite.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Func/Transforms/FuncConversions.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"

namespace ingot {
#define GEN_PASS_DEF_NNTOLINALG
#include "passes/loops/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

loops::SignlessTypeConverter::SignlessTypeConverter() {
  addConversion([](Type type) { return signless(type); });
  addConversion([](RankedTensorType type) -> Type {
    return type.clone(signless(type.getElementType()));
  });
  auto cast = [](OpBuilder &builder, Type type, ValueRange inputs,
                 Location loc) -> Value {
    // A lowering may know more, or fewer, static sizes than the op's type.
    if (inputs.size() == 1 &&
        tensor::CastOp::areCastCompatible(inputs.getTypes(), type))
      return tensor::CastOp::create(builder, loc, type, inputs.front());
    return UnrealizedConversionCastOp::create(builder, loc, type, inputs)
        .getResult(0);
  };
  addSourceMaterialization(cast);
  addTargetMaterialization(cast);
}

static constexpr StringLiteral kNoType("has a type without a converted one");

namespace {

/// Converts an op of another dialect on unsigned tensors to the same op on
/// signless tensors, or on the bytes that hold codes. Only ops that move data
/// may have unsigned tensors, since arithmetic is signless.
struct ConvertAnyOp : ConversionPattern {
  ConvertAnyOp(const TypeConverter &converter, MLIRContext *context)
      : ConversionPattern(converter, MatchAnyOpTypeTag(), 0, context) {}

  LogicalResult
  matchAndRewrite(Operation *op, ArrayRef<Value> operands,
                  ConversionPatternRewriter &rewriter) const override {
    if (isa<nn::NNDialect>(op->getDialect()))
      return rewriter.notifyMatchFailure(op, "has a lowering of its own");
    SmallVector<Type> types;
    if (failed(getTypeConverter()->convertTypes(op->getResultTypes(), types)))
      return rewriter.notifyMatchFailure(op, kNoType);
    OperationState state(op->getLoc(), op->getName(), operands, types,
                         op->getAttrs(), op->getSuccessors());
    for (Region &region : op->getRegions()) {
      Region *converted = state.addRegion();
      rewriter.inlineRegionBefore(region, *converted, converted->begin());
      if (failed(rewriter.convertRegionTypes(converted, *getTypeConverter())))
        return rewriter.notifyMatchFailure(op, kNoType);
    }
    rewriter.replaceOp(op, rewriter.create(state));
    return success();
  }
};

/// Returns a scalar constant in the form in which elements of its type are
/// stored.
static TypedAttr storedScalar(TypedAttr value, Type type) {
  APInt bits(8, 0);
  if (auto number = dyn_cast<FloatAttr>(value))
    bits = number.getValue().bitcastToAPInt().zext(8);
  else if (auto number = dyn_cast<IntegerAttr>(value))
    bits = value.getType().isUnsignedInteger() ? number.getValue().zext(8)
                                               : number.getValue().sext(8);
  else
    return {};
  return IntegerAttr::get(type, bits);
}

/// Converts the type inside the attribute of a constant, too.
struct ConvertConstant : OpConversionPattern<arith::ConstantOp> {
  using OpConversionPattern::OpConversionPattern;

  LogicalResult
  matchAndRewrite(arith::ConstantOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &rewriter) const override {
    Type converted = getTypeConverter()->convertType(op.getType());
    if (converted == op.getType())
      return rewriter.notifyMatchFailure(op, "has no sign to lose");
    TypedAttr value;
    auto type = dyn_cast_or_null<RankedTensorType>(converted);
    if (!type)
      value = nn::isCoded(op.getType())
                  ? storedScalar(op.getValue(), converted)
                  : TypedAttr();
    else if (auto dense = dyn_cast<DenseElementsAttr>(op.getValue()))
      value = DenseElementsAttr::getFromRawBuffer(type, dense.getRawData());
    else if (auto resource = dyn_cast<DenseResourceElementsAttr>(op.getValue()))
      value = DenseResourceElementsAttr::get(type, resource.getRawHandle());
    if (!value)
      return rewriter.notifyMatchFailure(op, "has elements of an unknown form");
    rewriter.replaceOpWithNewOp<arith::ConstantOp>(op, converted, value);
    return success();
  }
};

struct NNToLinalgPass : ingot::impl::NNToLinalgBase<NNToLinalgPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    NNToLinalgBase::getDependentDialects(registry);
    registry.insert<IngotDialect>(); // what a run must find true
  }

  void runOnOperation() override {
    loops::SignlessTypeConverter converter;
    for (func::FuncOp function : getOperation().getOps<func::FuncOp>())
      recordSignature(function);
    dropEmpty();
    decompose();
    if (failed(lowerOps(converter)) || failed(dropSigns(converter)))
      signalPassFailure();
  }

  /// Records the types of the model's inputs and outputs, which describe the
  /// artifact.
  static void recordSignature(func::FuncOp function) {
    // Set all attributes at once, since the context keeps every attribute list.
    SmallVector<DictionaryAttr> attrs;
    auto record = [&](TypeRange types) {
      attrs.resize(types.size());
      for (auto [attr, type] : llvm::zip_equal(attrs, types)) {
        NamedAttrList list(attr);
        list.set(IngotDialect::TypeAttrHelper::getNameStr(),
                 TypeAttr::get(type));
        attr = list.getDictionary(function.getContext());
      }
    };
    function.getAllArgAttrs(attrs);
    record(function.getArgumentTypes());
    function.setAllArgAttrs(attrs);
    attrs.clear();
    function.getAllResultAttrs(attrs);
    record(function.getResultTypes());
    function.setAllResultAttrs(attrs);
  }

  /// Replaces values that are known to be empty by constants. Slices and
  /// windows reject any offset into an empty dimension.
  void dropEmpty() {
    auto isEmpty = [](Type type) {
      auto tensor = dyn_cast<RankedTensorType>(type);
      return tensor && tensor.hasStaticShape() && tensor.getNumElements() == 0;
    };
    getOperation().walk([&](Operation *op) {
      if (!isa_and_nonnull<nn::NNDialect>(op->getDialect()) ||
          op->getNumResults() == 0 || !isMemoryEffectFree(op) ||
          !llvm::all_of(op->getResultTypes(), isEmpty))
        return;
      OpBuilder builder(op);
      for (OpResult result : op->getResults())
        result.replaceAllUsesWith(arith::ConstantOp::create(
            builder, op->getLoc(),
            cast<TypedAttr>(builder.getZeroAttr(result.getType()))));
      op->erase();
    });
  }

  /// Writes the remaining large ops as smaller ones.
  void decompose() {
    // An attention becomes ops that are decomposed, too.
    RewritePatternSet attentions(&getContext());
    loops::populateByteAttentionDecomposition(attentions);
    rewriteInOneWalk(getOperation(), std::move(attentions));
    RewritePatternSet patterns(&getContext());
    loops::populateDecompositions(patterns);
    rewriteInOneWalk(getOperation(), std::move(patterns));
  }

  /// Lowers nn ops. The sources of dynamic sizes are found before the function
  /// changes.
  LogicalResult lowerOps(loops::SignlessTypeConverter &converter) {
    shape::SameSizes sizes(getOperation());
    RewritePatternSet patterns(&getContext());
    loops::populateConvToLinalg(patterns, converter);
    loops::populateElementwiseToLinalg(patterns, converter, sizes);
    loops::populateIndexingToLinalg(patterns, converter);
    loops::populateMatMulToLinalg(patterns, converter);
    loops::populateMovementToLinalg(patterns, converter, sizes);
    loops::populatePoolToLinalg(patterns, converter);
    loops::populateResizeToLinalg(patterns, converter);
    loops::populateArgReduceToLinalg(patterns, converter);
    loops::populateReduceToLinalg(patterns, converter);
    loops::populateScanToLinalg(patterns, converter);
    loops::populateTablesToLinalg(patterns, converter);
    loops::populateTopKToLinalg(patterns, converter);
    ConversionTarget target(getContext());
    // Leave ops without a lowering, and report them below, once.
    target.markUnknownOpDynamicallyLegal(
        [](Operation *op) -> std::optional<bool> {
          if (isa_and_nonnull<nn::NNDialect>(op->getDialect()))
            return std::nullopt;
          return true;
        });
    if (failed(applyPartialConversion(getOperation(), target,
                                      std::move(patterns))))
      return failure();
    bool isWhole = true;
    getOperation().walk([&](Operation *op) {
      if (!isa_and_nonnull<nn::NNDialect>(op->getDialect()))
        return;
      op->emitError("has no lowering for operands of type ")
          << op->getOperandTypes();
      isWhole = false;
    });
    return success(isWhole);
  }

  LogicalResult dropSigns(loops::SignlessTypeConverter &converter) {
    RewritePatternSet patterns(&getContext());
    patterns.add<ConvertAnyOp, ConvertConstant>(converter, &getContext());
    populateFunctionOpInterfaceTypeConversionPattern<func::FuncOp>(patterns,
                                                                   converter);
    ConversionTarget target(getContext());
    target.markUnknownOpDynamicallyLegal([&](Operation *op) {
      if (auto function = dyn_cast<func::FuncOp>(op))
        return converter.isSignatureLegal(function.getFunctionType()) &&
               converter.isLegal(&function.getBody());
      return converter.isLegal(op) &&
             llvm::all_of(op->getRegions(), [&](Region &region) {
               return converter.isLegal(&region);
             });
    });
    return applyFullConversion(getOperation(), target, std::move(patterns));
  }
};

} // namespace
