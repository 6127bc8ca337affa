//===- ByteFunction.cpp - functions of few integers -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/quantize/form/ByteFunction.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/ScalarProgram.h"
#include "passes/support/Intervals.h"
#include "passes/support/ScaleShift.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::quantize;

/// Limit of ops between a source and the result.
static constexpr int kMaxDepth = 16;

/// Limit of sources. All pairs of two bytes can be tried.
static constexpr size_t kMaxSources = 2;

/// Limit of the inputs of all channels, which bounds the time of compiling.
static constexpr size_t kMaxInputs = size_t(1) << 20;

/// Returns true if all elements of `value` are integers.
static bool areIntegers(Value value) {
  Operation *op = value.getDefiningOp();
  return isa_and_nonnull<nn::RoundOp>(op) ||
         (isa_and_nonnull<nn::CastOp>(op) &&
          typeOf(op->getOperand(0)).getElementType().isInteger());
}

bool ByteFunction::addConstant(Value constant) {
  if (nn::getSplat(constant))
    return true;
  const int64_t rank = type.getRank();
  for (int64_t each : {int64_t(1), rank - 1}) {
    if (each < 0 || each >= rank || dim.value_or(each) != each ||
        !support::getPerChannel(constant, type, each))
      continue;
    dim = each;
    channels = size_t(type.getDimSize(each));
    return true;
  }
  return false;
}

bool ByteFunction::add(Value value, int depth, StringRef &reason) {
  if (nn::getConstant(value)) {
    reason = "depends on constants that differ along several dimensions";
    return addConstant(value);
  }
  if (depth > 0 && areIntegers(value)) {
    if (!sources.insert(value))
      return true;
    auto [least, most] = support::IntervalAnalysis().intervalOf(value);
    reason = "depends on integers of a wide range, or on too many tensors";
    if (!(most - least < double(kMaxInputs)) || sources.size() > kMaxSources)
      return false;
    ranges.push_back({std::llround(least), size_t(most - least) + 1});
    inputs *= ranges.back().count;
    return inputs <= kMaxInputs;
  }
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<nn::AddOp, nn::ClampOp, nn::DivOp, nn::HardSigmoidOp,
                       nn::HardSwishOp, nn::LeakyReluOp, nn::MulOp, nn::ReluOp,
                       nn::SubOp>(op) ||
      depth > kMaxDepth || !typeOf(value).getElementType().isF32()) {
    reason = "depends on numbers that are not integers of a small range";
    return false;
  }
  // Constants may change their shape, so they must not determine the type.
  if (llvm::none_of(op->getOperands(), [&](Value operand) {
        return !nn::getConstant(operand) &&
               operand.getType() == value.getType();
      })) {
    reason = "has a constant that determines the shape";
    return false;
  }
  return !ops.insert(op) || llvm::all_of(op->getOperands(), [&](Value operand) {
    return add(operand, depth + 1, reason);
  });
}

bool ByteFunction::isOnlyReader() const {
  return llvm::all_of(sources, [&](Value source) {
    return llvm::all_of(source.getUsers(), [&](Operation *user) {
      return ops.contains(user) &&
             llvm::all_of(user->getUsers(), [&](auto *op) {
               return user == ops.front() || ops.contains(op);
             });
    });
  });
}

Location ByteFunction::getLoc() const {
  SmallVector<Location> locations;
  for (Operation *op : llvm::reverse(ops))
    locations.push_back(op->getLoc());
  return FusedLoc::get(type.getContext(), locations);
}

/// Returns true if only the function reads its intermediate results. A product
/// of a source and a constant is cheap enough to be computed twice.
bool ByteFunction::hasInnerUsersOnly() const {
  return llvm::all_of(ops.getArrayRef().drop_front(), [&](Operation *op) {
    return (isa<nn::MulOp>(op) &&
            llvm::any_of(op->getOperands(),
                         [&](Value operand) { return isSource(operand); })) ||
           llvm::all_of(op->getUsers(),
                        [&](Operation *user) { return ops.contains(user); });
  });
}

std::optional<ByteFunction> ByteFunction::find(Value result,
                                               StringRef &reason) {
  ByteFunction function;
  function.type = typeOf(result);
  if (!function.add(result, /*depth=*/0, reason))
    return std::nullopt;
  reason = "depends on no integers, or has too many inputs";
  if (function.sources.empty() ||
      function.inputs * function.channels > kMaxInputs)
    return std::nullopt;
  reason = "has an intermediate result with other users";
  if (!function.hasInnerUsersOnly())
    return std::nullopt;
  return function;
}

std::vector<double> ByteFunction::readConstant(Value constant) const {
  if (std::optional<double> number = nn::getSplat(constant))
    return {*number};
  return *support::getPerChannel(constant, type, *dim);
}

Value ByteFunction::makeConstant(OpBuilder &builder, Location loc,
                                 ArrayRef<double> numbers) const {
  Type element = builder.getF32Type();
  if (numbers.size() == 1)
    return nn::makeScalar(builder, loc, element, numbers.front());
  return support::makePerChannel(builder, loc, element, type.getRank(), *dim,
                                 numbers);
}

namespace {

/// Writes elementwise ops as scalar ops of a block.
struct ScalarWriter {
  ScalarWriter(const ByteFunction &function, OpBuilder &builder)
      : function(function), builder(builder) {}

  const ByteFunction &function;
  OpBuilder &builder;
  DenseMap<Value, Value> written;
  /// Constants with an element for each channel, in the order of the block's
  /// last arguments.
  SmallVector<std::vector<double>> constants;

  /// Returns the scalar of `value`, or null if an op has no scalar form.
  Value write(Value value) {
    if (Value scalar = written.lookup(value))
      return scalar;
    Value scalar = create(value);
    written[value] = scalar;
    return scalar;
  }

private:
  Value create(Value value) {
    Location loc = value.getLoc();
    FloatType type = builder.getF32Type();
    if (nn::getConstant(value)) {
      std::vector<double> numbers = function.readConstant(value);
      if (numbers.size() == 1)
        return arith::ConstantOp::create(
            builder, loc, builder.getFloatAttr(type, numbers.front()));
      constants.push_back(std::move(numbers));
      return builder.getInsertionBlock()->addArgument(type, loc);
    }
    auto op = value.getDefiningOp<nn::ElementwiseOpInterface>();
    if (!op)
      return {};
    SmallVector<Value> operands;
    for (Value operand : op->getOperands()) {
      operands.push_back(write(operand));
      if (!operands.back())
        return {};
    }
    return op.buildScalar(builder, operands);
  }
};

} // namespace

std::optional<std::vector<float>> ByteFunction::evaluate(Value value) const {
  Block block;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointToEnd(&block);
  ScalarWriter writer(*this, builder);
  for (Value source : sources)
    writer.written[source] =
        block.addArgument(builder.getF32Type(), source.getLoc());
  Value result = writer.write(value);
  if (!result)
    return std::nullopt;
  const size_t lanes = std::min(inputs, nn::ScalarProgram::kMaxLanes);
  auto program = nn::ScalarProgram::create(block, result, lanes);
  if (!program)
    return std::nullopt;
  std::vector<float> results;
  results.reserve(inputs * channels);
  for (size_t channel = 0; channel < channels; ++channel)
    for (size_t done = 0; done < inputs; done += lanes) {
      const size_t count = std::min(lanes, inputs - done);
      size_t argument = 0, stride = 1;
      for (Range range : ranges) {
        nn::Lane *column = program->argument(argument++);
        for (size_t i = 0; i < count; ++i)
          column[i].f =
              double(range.least + int64_t((done + i) / stride % range.count));
        stride *= range.count;
      }
      for (const std::vector<double> &numbers : writer.constants)
        std::fill_n(program->argument(argument++), count,
                    nn::Lane{.f = numbers[channel]});
      const nn::Lane *computed = program->run(count);
      if (!computed)
        return std::nullopt;
      for (size_t i = 0; i < count; ++i)
        results.push_back(float(computed[i].f));
    }
  return results;
}
