//===- InsertPrecisionFlags.cpp - nn-insert-precision-flags
//----------------------===//
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
#include "passes/support/DynamicScale.h"
#include "passes/support/Rules.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SetVector.h"

namespace ingot {
#define GEN_PASS_DEF_INSERTPRECISIONFLAGS
#include "passes/quantize/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

namespace {

/// Products that share a run-time precision flag. Rules name nodes, so all
/// products of one node have the same precision.
struct Unit {
  llvm::SetVector<StringAttr> nodes;
  llvm::DenseMap<StringAttr, unsigned> uses;
  SmallVector<Operation *> products;
  /// Products in loops and branches, e.g. of recurrent state. Each run
  /// determines the scale of their data.
  SmallVector<Operation *> inner;
  Value isOn;
};

/// The quantization of a tensor, as inputs of the model.
struct Encoding {
  Value scale, low, high;
};

class PrecisionFlags {
public:
  PrecisionFlags(func::FuncOp function, const KeepRules &keep,
                 quantize::WeightForm form,
                 const quantize::WeightRoundings &roundings, bool errors)
      : function(function), keep(keep), builder(function.getContext()),
        quantizer(form, roundings), errors(errors) {}

  LogicalResult run();
  SmallVector<Attribute> names, tensors;

private:
  void findUnits();
  void findInner();
  Value addInput(StringRef name, Type element);
  void addInputs();
  Value isOn(const quantize::QuantizationPoint &point);
  Value round(Value value, const Encoding &encoding);
  void rewritePoint(const quantize::QuantizationPoint &point);
  LogicalResult rewriteProduct(Operation *product, Value data,
                               const Unit &unit);
  void showError(Operation *product, Operation *twin, int64_t number);

  template <typename Op, typename... Args>
  Value make(Args &&...args) {
    return Op::create(builder, loc, std::forward<Args>(args)...)->getResult(0);
  }

  func::FuncOp function;
  const KeepRules &keep;
  OpBuilder builder;
  Location loc = function.getLoc();
  SmallVector<Unit> units;
  SmallVector<quantize::QuantizationPoint> points;
  llvm::DenseMap<Operation *, unsigned> unitOf;
  llvm::MapVector<Value, std::string> ranges;
  llvm::DenseMap<Value, Encoding> encodings;
  /// Indices of the quantization points of a tensor, and the conditions of
  /// quantization points. Both maps are filled before uses are replaced.
  llvm::DenseMap<Value, SmallVector<size_t>> pointsOf;
  llvm::DenseMap<OpOperand *, Value> conditions;
  llvm::DenseMap<std::pair<Value, Value>, Value> rounded;
  llvm::DenseMap<Operation *, Value> roundedData;
  quantize::WeightQuantizer quantizer;
  bool errors;
};

struct InsertPrecisionFlagsPass
    : ingot::impl::InsertPrecisionFlagsBase<InsertPrecisionFlagsPass> {
  using InsertPrecisionFlagsBase::InsertPrecisionFlagsBase;

  void runOnOperation() override {
    FailureOr<KeepRules> rules = KeepRules::parse(getOperation(), keep);
    if (failed(rules))
      return signalPassFailure();
    quantize::WeightRoundings roundings;
    if (CalibrationAttr calibration = quantize::findCalibration(getOperation()))
      roundings = quantize::namedRoundings(calibration);
    const quantize::WeightForm form =
        quantize::weightFormFor(getOperation(), int8Weights);
    SmallVector<Attribute> names, tensors;
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      PrecisionFlags flags(function, *rules, form, roundings, errors);
      if (failed(flags.run()))
        return signalPassFailure();
      names.append(flags.names);
      tensors.append(flags.tensors);
    }
    IngotDialect::PrecisionFlagsAttrHelper(&getContext())
        .setAttr(getOperation(), ArrayAttr::get(&getContext(), names));
    IngotDialect::ObservedAttrHelper(&getContext())
        .setAttr(getOperation(), ArrayAttr::get(&getContext(), tensors));
  }
};

} // namespace

void PrecisionFlags::findUnits() {
  // Name all tensors that could be quantized, as calibration does, so that the
  // names are the same.
  SmallVector<Operation *> all =
      quantize::findProducts(function, [](Operation *) { return true; });
  ranges = quantize::nameTensors(quantize::findQuantizationPoints(all));
  SmallVector<Operation *> products;
  quantize::ByteGains gains(keep);
  llvm::copy_if(all, std::back_inserter(products), [&](Operation *op) {
    return gains.of(op) &&
           quantize::fitBytes(op->getOperand(quantize::weightsOperand(op)));
  });
  points = quantize::findQuantizationPoints(products);
  llvm::EquivalenceClasses<unsigned> together;
  llvm::DenseMap<StringAttr, unsigned> firstOf;
  for (unsigned i = 0; i < products.size(); ++i) {
    together.insert(i);
    forEachNode(products[i]->getLoc(), [&](StringAttr node) {
      together.unionSets(firstOf.try_emplace(node, i).first->second, i);
    });
  }
  llvm::DenseMap<unsigned, unsigned> numbers;
  for (unsigned i = 0; i < products.size(); ++i) {
    auto [number, isNew] =
        numbers.try_emplace(together.getLeaderValue(i), units.size());
    if (isNew)
      units.emplace_back();
    Unit &unit = units[number->second];
    unit.products.push_back(products[i]);
    unitOf[products[i]] = number->second;
    forEachNode(products[i]->getLoc(), [&](StringAttr node) {
      unit.nodes.insert(node);
      ++unit.uses[node];
    });
  }
}

void PrecisionFlags::findInner() {
  llvm::DenseMap<StringAttr, unsigned> unitOfNode;
  for (auto [i, unit] : llvm::enumerate(units))
    for (StringAttr node : unit.nodes)
      unitOfNode[node] = i;
  SmallVector<Operation *> all =
      quantize::findInnerProducts(function, [](Operation *) { return true; });
  for (auto &[op, answer] : quantize::answerDynamicBytes(all, keep)) {
    if (!answer.choice)
      continue;
    unsigned number = units.size();
    forEachNode(op->getLoc(), [&](StringAttr node) {
      if (auto unit = unitOfNode.find(node); unit != unitOfNode.end())
        number = unit->second;
    });
    if (number == units.size())
      units.emplace_back();
    Unit &unit = units[number];
    unit.inner.push_back(op);
    forEachNode(op->getLoc(), [&](StringAttr node) {
      unit.nodes.insert(node);
      unitOfNode.try_emplace(node, number);
    });
  }
}

Value PrecisionFlags::addInput(StringRef name, Type element) {
  const unsigned index = function.getNumArguments();
  auto named = builder.getNamedAttr(IngotDialect::NameAttrHelper::getNameStr(),
                                    builder.getStringAttr(name));
  (void)function.insertArgument(index, RankedTensorType::get({}, element),
                                builder.getDictionaryAttr(named), loc);
  return function.getArgument(index);
}

/// Returns the nodes of a unit. The node with the most products comes first,
/// and represents the unit.
static SmallVector<StringAttr> orderedNodes(const Unit &unit) {
  SmallVector<StringAttr> nodes(unit.nodes.begin(), unit.nodes.end());
  if (unit.products.size() > 1)
    llvm::stable_sort(nodes, [&](StringAttr a, StringAttr b) {
      return unit.uses.lookup(a) > unit.uses.lookup(b);
    });
  return nodes;
}

void PrecisionFlags::addInputs() {
  unsigned number = 0;
  for (Unit &unit : units) {
    unit.isOn = addInput(("ingot.switch." + Twine(number++)).str(),
                         builder.getI1Type());
    int64_t tensor = -1;
    if (!unit.products.empty())
      tensor = llvm::find_if(ranges,
                             [&](const auto &range) {
                               return range.first ==
                                      unit.products.front()->getOperand(0);
                             }) -
               ranges.begin();
    names.push_back(PrecisionFlagAttr::get(builder.getContext(), tensor,
                                           orderedNodes(unit)));
  }
  number = 0;
  for (auto &range : ranges) {
    auto input = [&](StringRef what) {
      return addInput((what + Twine(number)).str(), builder.getF32Type());
    };
    Encoding &encoding = encodings[range.first];
    encoding.scale = input("ingot.scale.");
    encoding.low = input("ingot.low.");
    encoding.high = input("ingot.high.");
    tensors.push_back(builder.getStringAttr(range.second));
    ++number;
  }
}

/// Returns the condition under which a quantization point is int8. For a
/// product, the condition is the flag of its unit. For an op that only moves
/// values, all users must read int8. For any other op, one user of its result
/// that reads int8 suffices.
Value PrecisionFlags::isOn(const quantize::QuantizationPoint &point) {
  if (Value known = conditions.lookup(point.use))
    return known;
  Operation *op = point.use->getOwner();
  Value result;
  if (!point.because) {
    result = units[unitOf.lookup(op)].isOn;
  } else {
    for (size_t reader : pointsOf.lookup(point.because)) {
      Value one = isOn(points[reader]);
      if (!result || result == one)
        result = one;
      else if (quantize::movesValues(op))
        result = make<nn::AndOp>(result, one);
      else
        result = make<nn::OrOp>(result, one);
    }
  }
  return conditions[point.use] = result;
}

/// Returns `value` rounded to the quantization grid, as floats.
Value PrecisionFlags::round(Value value, const Encoding &encoding) {
  Value &done = rounded[{value, encoding.scale}];
  if (done)
    return done;
  loc = value.getLoc();
  builder.setInsertionPointAfterValue(value);
  Value steps = make<nn::RoundOp>(make<nn::DivOp>(value, encoding.scale));
  steps = make<nn::MinOp>(make<nn::MaxOp>(steps, encoding.low), encoding.high);
  return done = make<nn::MulOp>(steps, encoding.scale);
}

void PrecisionFlags::rewritePoint(const quantize::QuantizationPoint &point) {
  auto encoding = encodings.find(point.range);
  if (encoding == encodings.end() || keep.keeps(point.use->getOwner()))
    return;
  Value value = point.use->get();
  Value rounding = round(value, encoding->second);
  // A product exists twice: the original reads unrounded data, the copy reads
  // rounded data.
  if (!point.because) {
    roundedData[point.use->getOwner()] = rounding;
    return;
  }
  loc = value.getLoc();
  builder.setInsertionPoint(point.use->getOwner());
  point.use->set(
      make<nn::SelectOp>(conditions.lookup(point.use), rounding, value));
}

/// Computes the product twice: unchanged, and with rounded data and dequantized
/// int8 weights. The flag selects the result.
LogicalResult PrecisionFlags::rewriteProduct(Operation *product, Value data,
                                             const Unit &unit) {
  loc = product->getLoc();
  builder.setInsertionPointAfter(product);
  Operation *twin = builder.clone(*product);
  if (failed(quantizer.quantize(twin)))
    return failure();
  if (data)
    twin->setOperand(0, data);
  builder.setInsertionPointAfter(twin);
  Value result = product->getResult(0);
  Value chosen = make<nn::SelectOp>(unit.isOn, twin->getResult(0), result);
  result.replaceAllUsesExcept(chosen, chosen.getDefiningOp());
  if (errors && unit.products.size() == 1 && product == unit.products.front())
    showError(product, twin, &unit - units.begin());
  return success();
}

/// Observes the mean error of each channel.
void PrecisionFlags::showError(Operation *product, Operation *twin,
                               int64_t number) {
  Value error = make<nn::SubOp>(twin->getResult(0), product->getResult(0));
  const int64_t rank = cast<RankedTensorType>(error.getType()).getRank();
  const int64_t channel = isa<nn::MatMulOp>(product) ? rank - 1 : 1;
  SmallVector<int64_t> axes;
  for (int64_t axis = 0; axis < rank; ++axis)
    if (axis != channel)
      axes.push_back(axis);
  Value mean = make<nn::ReduceOp>(error, nn::ReduceKind::mean, axes,
                                  /*keep_dims=*/false);
  ObserveOp::create(builder, loc, builder.getI64IntegerAttr(number), mean);
}

LogicalResult PrecisionFlags::run() {
  findUnits();
  findInner();
  if (units.empty())
    return success();
  addInputs();
  for (auto [i, point] : llvm::enumerate(points))
    pointsOf[point.use->get()].push_back(i);
  builder.setInsertionPointToStart(&function.getBody().front());
  for (const quantize::QuantizationPoint &point : points)
    isOn(point);
  for (const quantize::QuantizationPoint &point : points)
    rewritePoint(point);
  for (const Unit &unit : units) {
    for (Operation *product : unit.products)
      if (failed(rewriteProduct(product, roundedData.lookup(product), unit)))
        return failure();
    for (Operation *product : unit.inner) {
      builder.setInsertionPoint(product);
      Value data = support::roundDynamically(builder, product->getLoc(),
                                             product->getOperand(0));
      if (failed(rewriteProduct(product, data, unit)))
        return failure();
    }
  }
  return success();
}
