//===- Costs.cpp - estimated time of products -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Costs.h"

#include "passes/cpu/policy/Levels.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using support::productOf;
using support::shapeOf;

StringRef cpu::nameOf(Form form) {
  switch (form) {
  case Form::f32:
    return "float32";
  case Form::int8:
  case Form::dynamicInt8:
    return "int8";
  case Form::bf16:
    return "bfloat16";
  case Form::f16:
    return "float16";
  case Form::f16Weights:
    return "float16 weights";
  }
  llvm_unreachable("unknown form");
}

/// Returns how often each weight is multiplied.
static int64_t timesOf(Operation *op) {
  return TypeSwitch<Operation *, int64_t>(op)
      .Case([](nn::ConvOp conv) {
        ArrayRef<int64_t> y = shapeOf(conv.getResult());
        const size_t channels = conv.getChannelsLast() ? y.size() - 1 : 1;
        return productOf({productOf(y.take_front(channels)),
                          productOf(y.drop_front(channels + 1))});
      })
      .Case([](nn::ConvTransposeOp conv) {
        ArrayRef<int64_t> x = shapeOf(conv.getX());
        const size_t channels = conv.getChannelsLast() ? x.size() - 1 : 1;
        return productOf({productOf(x.take_front(channels)),
                          productOf(x.drop_front(channels + 1))});
      })
      .Case([](nn::MatMulOp matmul) {
        // Counts only the rows of one matrix of a batch, because each matrix is
        // multiplied by its own rows.
        ArrayRef<int64_t> b = shapeOf(matmul.getB());
        ArrayRef<int64_t> y = shapeOf(matmul.getResult());
        return b.size() > 2 ? y[y.size() - 2] : productOf(y.drop_back());
      })
      .Case([](nn::PackedMatMulOp matmul) {
        return productOf(shapeOf(matmul.getResult()).drop_back());
      })
      .Default([](Operation *) { return ShapedType::kDynamic; });
}

std::optional<ProductSize> ProductSize::of(Operation *op) {
  int64_t times = timesOf(op);
  if (ShapedType::isDynamic(times))
    return std::nullopt;
  ProductSize size;
  size.weights = productOf(shapeOf(op->getOperand(1)));
  if (auto packed = dyn_cast<nn::PackedMatMulOp>(op)) {
    size.packedBits = int64_t(packed.getBits());
    size.weights = productOf(
        {shapeOf(packed.getResult()).back(), int64_t(packed.getDepth())});
  }
  size.data = productOf(shapeOf(op->getOperand(0)));
  size.results = productOf(shapeOf(op->getResult(0)));
  if (ShapedType::isDynamic(size.weights) || ShapedType::isDynamic(size.data) ||
      ShapedType::isDynamic(size.results))
    return std::nullopt;
  size.products = times * size.weights;
  return size;
}

/// Returns the core's speed relative to f32; 0 if it has no instructions.
static double speedOf(Form form, const TargetInfo &target) {
  switch (form) {
  case Form::f32:
  case Form::f16Weights:
    return 1;
  case Form::int8:
  case Form::dynamicInt8:
    return target.hasInt8Tiles
               ? double(target.amx_speed) * threshold::speedOfByteDots
           : target.hasByteDots() ? threshold::speedOfByteDots
                                  : threshold::speedOfBytePairs;
  case Form::bf16:
    return target.hasBF16Tiles
               ? double(target.amx_speed) * threshold::speedOfBF16Dots
           : target.hasFastBF16 ? threshold::speedOfBF16Dots
           : target.hasBF16     ? threshold::speedOfSlowBF16Dots
                                : 0;
  case Form::f16:
    return target.hasFP16 ? threshold::speedOfF16 : 0;
  }
  llvm_unreachable("unknown form");
}

int64_t cpu::estimateCycles(const ProductSize &size, Form form,
                            const TargetInfo &target) {
  const double speed = speedOf(form, target);
  if (speed == 0)
    return -1;
  constexpr double kFloat = 4, kHalf = 2, kByte = 1;
  const bool isBytes = form == Form::int8 || form == Form::dynamicInt8;
  const double ofNumber = form == Form::f32 ? kFloat : isBytes ? kByte : kHalf;
  const double ofData = form == Form::f16Weights ? kFloat : ofNumber;
  const double ofWeight =
      size.packedBits != 0 ? double(size.packedBits) / 8 : ofNumber;
  const double perCycle = double(target.lanes * target.fma_ports) * speed *
                          (target.hasFMA ? 1 : 0.5);
  const double bytes = double(size.weights) * ofWeight +
                       double(size.data) * ofData +
                       double(size.results) * kFloat;
  const double fromMemory = std::max(bytes - double(target.l2), 0.0);
  const double perNumber = form == Form::dynamicInt8 ? threshold::cyclesOfRange
                           : ofData == kFloat        ? 0
                                              : threshold::cyclesOfRounding;
  return std::llround(
      std::max(double(size.products) / perCycle,
               fromMemory / double(threshold::memoryBytesPerCycle)) +
      perNumber * double(size.data));
}

SmallVector<Alternative, 3> cpu::weigh(Operation *op, ArrayRef<Form> forms) {
  const TargetInfo target = lowestLevel(op);
  std::optional<ProductSize> size = ProductSize::of(op);
  SmallVector<Alternative, 3> all;
  for (Form form : forms)
    all.push_back(
        {nameOf(form).str(), size ? estimateCycles(*size, form, target) : -1});
  return all;
}
