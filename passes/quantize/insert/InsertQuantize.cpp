//===- InsertQuantize.cpp - nn-insert-quantize ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/AttachedCalibration.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/QuantizationPoints.h"
#include "passes/quantize/WeightQuantizer.h"
#include "passes/support/Rules.h"

#include "llvm/ADT/StringMap.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot {
#define GEN_PASS_DEF_INSERTQUANTIZE
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

struct InsertQuantizePass
    : ingot::impl::InsertQuantizeBase<InsertQuantizePass> {
  using InsertQuantizeBase::InsertQuantizeBase;

  void runOnOperation() override;

private:
  void readCalibration();
  LogicalResult quantize(func::FuncOp function,
                         const KeepRules &keep);
  LogicalResult checkNames(ArrayRef<StringRef> tensors,
                           ArrayRef<Operation *> products);
  Value getPair(Value value, TensorRangeAttr range);

  CalibrationAttr calibration;
  llvm::StringMap<TensorRangeAttr> ranges;
  /// Names of the products that the calibration repairs, in the file's order,
  /// each with the kind of repair.
  std::vector<std::pair<StringRef, StringRef>> repaired;
  /// Quantize/dequantize pairs, by the value and its range.
  llvm::DenseMap<std::pair<Value, TensorRangeAttr>, Value> pairs;
  std::optional<quantize::WeightQuantizer> weights;
};

} // namespace

void InsertQuantizePass::readCalibration() {
  ranges.clear();
  for (TensorRangeAttr range : calibration.getTensors())
    ranges[range.getName()] = range;
  repaired.clear();
  for (WeightRoundingAttr rounding : calibration.getRounding())
    repaired.emplace_back(rounding.getName(), "the rounding of");
  for (ChannelValuesAttr bias : calibration.getBiases())
    repaired.emplace_back(bias.getName(), "the bias of");
  weights.emplace(quantize::weightFormFor(getOperation(), int8Weights),
                  quantize::namedRoundings(calibration));
}

/// Checks that the calibration's ranges name tensors that can be quantized, and
/// that its repairs name products.
LogicalResult
InsertQuantizePass::checkNames(ArrayRef<StringRef> tensors,
                               ArrayRef<Operation *> products) {
  llvm::StringSet<> known;
  known.insert_range(tensors);
  SmallVector<StringRef> names = llvm::to_vector(ranges.keys());
  llvm::sort(names);
  for (StringRef name : names)
    if (failed(quantize::checkName(calibration, name, "a range of tensor",
                                   known, "no tensor that could be quantized")))
      return failure();
  known.clear();
  for (Operation *product : products)
    known.insert(nodeNameOf(product->getLoc()));
  for (auto [name, repair] : repaired)
    if (failed(quantize::checkName(calibration, name, repair, known,
                                   "no product that could be quantized")))
      return failure();
  return success();
}

/// Returns the quantize/dequantize pair of `value`.
Value InsertQuantizePass::getPair(Value value, TensorRangeAttr range) {
  Value &pair = pairs[{value, range}];
  if (pair)
    return pair;
  OpBuilder builder(&getContext());
  builder.setInsertionPointAfterValue(value);
  Location loc = value.getLoc();
  auto type = cast<RankedTensorType>(value.getType());
  Type byte = builder.getIntegerType(8, /*isSigned=*/false);
  Value scale = nn::makeScalar(builder, loc, type.getElementType(),
                               range.getScale().convertToFloat());
  Value zeroPoint =
      nn::makeScalar(builder, loc, byte, double(range.getZeroPoint()));
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
  // Name all tensors that could be quantized, as calibration does, so that the
  // names are the same.
  SmallVector<Operation *> all =
      quantize::findProducts(function, [](Operation *) { return true; });
  auto names = quantize::nameTensors(quantize::findQuantizationPoints(all));
  SmallVector<StringRef> tensors;
  for (auto &[value, name] : names)
    tensors.push_back(name);
  if (failed(checkNames(tensors, all)))
    return failure();
  auto rangeOf = [&](Value value) -> TensorRangeAttr {
    auto name = names.find(value);
    return name == names.end() ? TensorRangeAttr()
                               : ranges.lookup(name->second);
  };
  quantize::recordBroadcastBatches(function);
  quantize::ByteGains gains(keep);
  SmallVector<Operation *> products =
      quantize::findProducts(function, [&](Operation *op) {
        Answer<bool> answer = gains.answerTo(op);
        if (answer.choice && !rangeOf(op->getOperand(0)))
          answer = {false,
                    "reads a tensor that the calibration has no range of",
                    answer.alternatives};
        return record(op, Question::precision,
                      quantize::requireFitting(std::move(answer), op), "int8",
                      "float32");
      });
  SmallVector<quantize::QuantizationPoint> points =
      quantize::findQuantizationPoints(products);
  quantize::dropFloatReaders(points);
  for (const quantize::QuantizationPoint &point : points) {
    TensorRangeAttr range = rangeOf(point.range);
    if (!range || keep.keeps(point.use->getOwner()))
      continue;
    point.use->set(getPair(point.use->get(), range));
  }
  for (Operation *product : products)
    if (failed(weights->quantize(product)))
      return failure();
  return success();
}

void InsertQuantizePass::runOnOperation() {
  pairs.clear();
  FailureOr<CalibrationAttr> attached =
      quantize::getCalibration(getOperation());
  if (failed(attached))
    return signalPassFailure();
  calibration = *attached;
  readCalibration();
  FailureOr<KeepRules> rules =
      KeepRules::parse(getOperation(), keep);
  if (failed(rules))
    return signalPassFailure();
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (!function.isExternal() && failed(quantize(function, *rules)))
      return signalPassFailure();
}
