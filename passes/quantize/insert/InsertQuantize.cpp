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
#include "passes/quantize/Sites.h"
#include "passes/quantize/Weights.h"
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
  LogicalResult checkNames(ArrayRef<StringRef> tensors,
                           ArrayRef<Operation *> products);
  Value getPair(Value value, const TensorCalibration &range);

  llvm::StringMap<TensorCalibration> ranges;
  /// The products that the file has a repair of, in its order, and which.
  std::vector<std::pair<std::string, StringRef>> repaired;
  /// What values become, by their range.
  llvm::DenseMap<std::pair<Value, const TensorCalibration *>, Value> pairs;
  std::optional<quantize::WeightQuantizer> weights;
};

} // namespace

LogicalResult InsertQuantizePass::readFile() {
  FailureOr<quantize::Calibration> read =
      quantize::readCalibration(calibration, &getContext());
  if (failed(read))
    return failure();
  ranges.clear();
  for (const TensorCalibration &tensor : read->tensors)
    ranges[tensor.name] = tensor;
  repaired.clear();
  for (const quantize::WeightRounding &rounding : read->rounding)
    repaired.emplace_back(rounding.name, "the rounding of");
  for (const quantize::ChannelValues &bias : read->biases)
    repaired.emplace_back(bias.name, "the bias of");
  weights.emplace(quantize::WeightForm{weightBits, fitPairs},
                  quantize::namedRoundings(std::move(*read)));
  return success();
}

/// Ranges are of tensors that could be quantized, repairs of products.
LogicalResult
InsertQuantizePass::checkNames(ArrayRef<StringRef> tensors,
                               ArrayRef<Operation *> products) {
  llvm::StringSet<> known;
  known.insert_range(tensors);
  SmallVector<StringRef> names = llvm::to_vector(ranges.keys());
  llvm::sort(names);
  for (StringRef name : names)
    if (failed(quantize::checkName(calibration, &getContext(), name,
                                   "a range of tensor", known,
                                   "no tensor that could be quantized")))
      return failure();
  known.clear();
  for (Operation *product : products)
    known.insert(nodeNameOf(product->getLoc()));
  for (const auto &[name, repair] : repaired)
    if (failed(quantize::checkName(calibration, &getContext(), name, repair,
                                   known,
                                   "no product that could be quantized")))
      return failure();
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
  SmallVector<StringRef> tensors;
  for (auto &[value, name] : names)
    tensors.push_back(name);
  if (failed(checkNames(tensors, all)))
    return failure();
  auto rangeOf = [&](Value value) -> const TensorCalibration * {
    auto name = names.find(value);
    if (name == names.end())
      return nullptr;
    auto range = ranges.find(name->second);
    return range == ranges.end() ? nullptr : &range->second;
  };
  quantize::ByteGains gains(keep, asWords);
  SmallVector<Operation *> products =
      quantize::findProducts(function, [&](Operation *op) {
        const TensorCalibration *range = rangeOf(op->getOperand(0));
        return gains.of(op) && range && !keep.keeps(op) &&
               quantize::areFinite(
                   op->getOperand(quantize::weightsOperand(op)));
      });
  SmallVector<quantize::Site> sites = quantize::findSites(products);
  quantize::dropFloatReaders(sites);
  for (const quantize::Site &site : sites) {
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
