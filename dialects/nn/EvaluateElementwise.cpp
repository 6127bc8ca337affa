//===- EvaluateElementwise.cpp - elementwise ops on constants -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Evaluates elementwise ops by running their scalar bodies on constants. Floats
// are computed in double and rounded once. Integers are exact and wrap to their
// width. Denormal operands count as zero, as in a run.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/EvaluateImpl.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/nn/ScalarProgram.h"
#include "dialects/nn/Scalars.h"
#include "dialects/nn/TinyFloats.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::nn;

namespace {

/// Elements of an operand, in the order in which a result of shape `shape` uses
/// them.
class Elements {
public:
  Elements(ElementsAttr attr, ArrayRef<int64_t> shape)
      : offset(shape, broadcastStrides(shapeOf(attr), shape)),
        isWhole(shapeOf(attr) == shape) {
    Type type = attr.getElementType();
    isFloat = isa<FloatType>(type);
    // A run reads f16 as f32. All values of f16 are normal in f32.
    if (type.isF32() || type.isBF16())
      leastNormal = std::numeric_limits<float>::min();
    else if (type.isF64())
      leastNormal = std::numeric_limits<double>::min();
    width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
    if (isFloat)
      floats = readDoubles(attr);
    else
      ints = readInts(attr);
  }

  bool isRead() const { return floats || ints; }

  /// Copies the next `count` elements into `lanes`.
  void take(Lane *lanes, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      int64_t at = isWhole ? next++ : *offset;
      if (!isWhole)
        ++offset;
      if (isFloat)
        lanes[i].f = flushed((*floats)[at]);
      else
        lanes[i].i = signExtend((*ints)[at], width);
    }
  }

private:
  double flushed(double x) const {
    return std::abs(x) < leastNormal ? std::copysign(0.0, x) : x;
  }
  static ArrayRef<int64_t> shapeOf(ElementsAttr attr) {
    return cast<RankedTensorType>(attr.getType()).getShape();
  }

  std::optional<std::vector<double>> floats;
  std::optional<SmallVector<int64_t>> ints;
  bool isFloat;
  /// Smallest normal value of the type; 0 if denormal values are not flushed.
  double leastNormal = 0;
  unsigned width;
  StridedOffset offset;
  /// True if elements are read in memory order.
  bool isWhole;
  int64_t next = 0;
};

} // namespace

/// Runs the body of `op` on all elements. Returns null if there is no body for
/// their types, or if a result is undefined.
static ElementsAttr run(ElementwiseOpInterface op,
                        ArrayRef<ElementsAttr> operands,
                        RankedTensorType type) {
  Block block;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToEnd(&block);
  for (ElementsAttr operand : operands) {
    Type element = operand.getElementType();
    if (!element.isIntOrIndexOrFloat())
      return {};
    block.addArgument(isa<FloatType>(element) ? Type(builder.getF64Type())
                                              : signless(element),
                      op.getLoc());
  }
  Value body = op.buildScalar(builder, block.getArguments());
  // The body yields small floats as their codes.
  bool isCode = tinyFloatOf(type.getElementType()).has_value();
  bool toFloat = isa<FloatType>(type.getElementType()) && !isCode;
  if (!body || isa<FloatType>(body.getType()) != toFloat)
    return {};
  size_t count = type.getNumElements();
  size_t lanes = std::min<size_t>(count, ScalarProgram::kMaxLanes);
  auto program = ScalarProgram::create(block, body, lanes);
  if (!program)
    return {};

  std::vector<Elements> elements;
  for (ElementsAttr operand : operands) {
    elements.emplace_back(operand, type.getShape());
    if (!elements.back().isRead())
      return {};
  }
  std::vector<double> floats;
  std::vector<int64_t> ints;
  toFloat ? floats.reserve(count) : ints.reserve(count);
  for (size_t done = 0; done < count; done += lanes) {
    lanes = std::min(lanes, count - done);
    for (auto [i, operand] : llvm::enumerate(elements))
      operand.take(program->argument(i), lanes);
    const Lane *results = program->run(lanes);
    if (!results)
      return {};
    for (const Lane &lane : ArrayRef(results, lanes))
      toFloat ? floats.push_back(lane.f) : ints.push_back(lane.i);
  }
  return toFloat ? makeConstantAttr(type, floats) : makeIntsAttr(type, ints);
}

ElementsAttr nn::evaluateElementwise(Operation *op,
                                     ArrayRef<ElementsAttr> operands,
                                     RankedTensorType type) {
  auto elementwise = dyn_cast<ElementwiseOpInterface>(op);
  // A selection moves elements of any type.
  if (!elementwise || isa<SelectOp>(op))
    return {};
  // Computes a splat once, so that it takes no memory.
  if (type.getNumElements() > 1 && llvm::all_of(operands, isSplat)) {
    SmallVector<ElementsAttr> scalars;
    for (ElementsAttr operand : operands)
      scalars.push_back(cast<DenseElementsAttr>(operand).resizeSplat(
          RankedTensorType::get({}, operand.getElementType())));
    auto scalar = dyn_cast_or_null<DenseElementsAttr>(
        run(elementwise, scalars,
            RankedTensorType::get({}, type.getElementType())));
    return scalar ? ElementsAttr(scalar.resizeSplat(type)) : ElementsAttr();
  }
  return run(elementwise, operands, type);
}
