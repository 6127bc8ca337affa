//===- InsertQuantize.cpp - nn-insert-quantize ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/CalibrationFile.h"
#include "passes/quantize/Passes.h"
#include "passes/support/Rules.h"
#include "passes/quantize/Sites.h"
#include "passes/quantize/Weights.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

namespace ingot {
#define GEN_PASS_DEF_INSERTQUANTIZE
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using quantize::TensorCalibration;

namespace {

struct InsertQuantizePass
    : ingot::impl::InsertQuantizeBase<InsertQuantizePass> {
  using InsertQuantizeBase::InsertQuantizeBase;

  void runOnOperation() override;

private:
  LogicalResult readFile();
  LogicalResult quantize(func::FuncOp function,
                         const KeepRules &keep);
  LogicalResult checkNames(const llvm::StringMap<Value> &known);
  LogicalResult checkRoundings(ArrayRef<Operation *> products);
  Value getPair(Value value, const TensorCalibration &range);

  llvm::StringMap<TensorCalibration> ranges;
  /// The products that the file has a rounding of, in its order.
  std::vector<std::string> rounded;
  /// What values become, by their range.
  llvm::DenseMap<std::pair<Value, const TensorCalibration *>, Value> pairs;
  std::optional<quantize::WeightQuantizer> weights;
};

} // namespace

LogicalResult InsertQuantizePass::readFile() {
  llvm::Expected<quantize::Calibration> read =
      quantize::readCalibration(calibration);
  if (!read)
    return emitError(UnknownLoc::get(&getContext()))
           << llvm::toString(read.takeError());
  ranges.clear();
  for (const TensorCalibration &tensor : read->tensors)
    ranges[tensor.name] = tensor;
  rounded.clear();
  for (const quantize::WeightRounding &rounding : read->rounding)
    rounded.push_back(rounding.name);
  weights.emplace(weightBits, quantize::namedRoundings(std::move(*read)));
  return success();
}

/// A range of no tensor is of another model, or a name that was mistyped.
LogicalResult
InsertQuantizePass::checkNames(const llvm::StringMap<Value> &known) {
  SmallVector<StringRef> unknown;
  for (const auto &entry : ranges)
    if (!known.contains(entry.getKey()))
      unknown.push_back(entry.getKey());
  if (unknown.empty())
    return success();
  llvm::sort(unknown);
  SmallVector<StringRef> names;
  for (const auto &entry : known)
    names.push_back(entry.getKey());
  return emitError(UnknownLoc::get(&getContext()))
         << "'" << printable(calibration) << "' has a range of tensor '"
         << printable(unknown.front())
         << "', but no tensor that could be quantized has this name"
         << nearNames(unknown.front(), names);
}

/// Nor is there a rounding of what is no product.
LogicalResult
InsertQuantizePass::checkRoundings(ArrayRef<Operation *> products) {
  llvm::StringSet<> names;
  for (Operation *product : products)
    names.insert(nodeNameOf(product->getLoc()));
  for (StringRef name : rounded)
    if (!names.contains(name))
      return emitError(UnknownLoc::get(&getContext()))
             << "'" << printable(calibration) << "' has the rounding of '"
             << printable(name)
             << "', but no product that could be quantized has this name"
             << nearNames(name, llvm::to_vector(names.keys()));
  return success();
}

/// `value` in bytes and back.
Value InsertQuantizePass::getPair(Value value, const TensorCalibration &range) {
  Value &pair = pairs[{value, &range}];
  if (pair)
    return pair;
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Type byte = builder.getIntegerType(8, /*isSigned=*/false);
  Value scale =
      nn::makeScalar(builder, loc, type.getElementType(), range.scale);
  Value zeroPoint = nn::makeScalar(builder, loc, byte, range.zeroPoint);
  auto axis = builder.getI64IntegerAttr(0);
  Value bytes = nn::QuantizeOp::create(builder, loc, type.clone(byte), value,
                                       scale, zeroPoint, axis);
  pair = nn::DequantizeOp::create(builder, loc, type, bytes, scale, zeroPoint,
                                  axis);
  ++quantized;
  return pair;
}

LogicalResult InsertQuantizePass::quantize(func::FuncOp function,
                                           const KeepRules &keep) {
  // Names are those of all tensors that could be, as in calibration.
  SmallVector<Operation *> all =
      quantize::findProducts(function, [](Operation *) { return true; });
  auto names = quantize::nameTensors(quantize::findSites(all));
  llvm::StringMap<Value> known;
  for (auto &[value, name] : names)
    known[name] = value;
  if (failed(checkNames(known)) || failed(checkRoundings(all)))
    return failure();
  auto rangeOf = [&](Value value) -> const TensorCalibration * {
    auto name = names.find(value);
    if (name == names.end())
      return nullptr;
    auto range = ranges.find(name->second);
    return range == ranges.end() ? nullptr : &range->second;
  };
  SmallVector<Operation *> products =
      quantize::findProducts(function, [&](Operation *op) {
        const TensorCalibration *range = rangeOf(op->getOperand(0));
        return !keep.keeps(op) && range &&
               quantize::takesZeroPoint(op, range->zeroPoint) &&
               quantize::areFinite(
                   op->getOperand(quantize::weightsOperand(op)));
      });
  for (const quantize::Site &site : quantize::findSites(products)) {
    const TensorCalibration *range = rangeOf(site.range);
    if (!range || keep.keeps(site.use->getOwner()))
      continue;
    site.use->set(getPair(site.use->get(), *range));
  }
  for (Operation *product : products)
    if (failed(weights->quantize(product)))
      return failure();
  return success();
}

void InsertQuantizePass::runOnOperation() {
  pairs.clear();
  if (failed(readFile()))
    return signalPassFailure();
  FailureOr<KeepRules> rules =
      KeepRules::parse(getOperation(), keep);
  if (failed(rules))
    return signalPassFailure();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(quantize(function, *rules)))
      return signalPassFailure();
}
