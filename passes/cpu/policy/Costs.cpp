//===- Costs.cpp - estimated time of products -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/Costs.h"

#include "dialects/kernel/KernelInterfaces.h"
#include "dialects/nn/Constants.h"
#include "passes/cpu/policy/Levels.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

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

//===----------------------------------------------------------------------===//
// Forms of weights and data
//===----------------------------------------------------------------------===//

/// Returns the cycles to move `elements` to other places.
static int64_t cyclesOfMoves(double elements) {
  return std::llround(threshold::cyclesOfMove * elements);
}

SmallVector<Alternative, 3> cpu::weighPackedWeights(nn::MatMulOp product,
                                                    int64_t bits) {
  SmallVector<Alternative, 3> all = weigh(product, {Form::f32});
  all.push_back({"int" + std::to_string(bits)});
  std::optional<ProductSize> size = ProductSize::of(product);
  if (!size)
    return all;
  size->packedBits = bits;
  all.back().cycles = estimateCycles(*size, Form::f32, lowestLevel(product));
  return all;
}

SmallVector<Alternative, 3> cpu::weighTables(nn::GatherOp op) {
  SmallVector<Alternative, 3> all = {{nameOf(Form::f32).str()},
                                     {nameOf(Form::int8).str()}};
  const int64_t elements = productOf(shapeOf(op.getY()));
  if (ShapedType::isDynamic(elements))
    return all;
  // Rows are read from memory. Bytes are also converted and multiplied.
  const auto perCycle = double(threshold::memoryBytesPerCycle);
  all[0].cycles = std::llround(4 * double(elements) / perCycle);
  all[1].cycles = std::llround(double(elements) *
                               (1 / perCycle + threshold::cyclesOfRounding));
  return all;
}

SmallVector<Alternative, 3> cpu::weighLayouts(Operation *op) {
  if (!isa<nn::ConvOp, nn::ConvTransposeOp>(op))
    return {};
  std::optional<ProductSize> size = ProductSize::of(op);
  const int64_t last =
      size ? estimateCycles(*size, Form::f32, lowestLevel(op)) : -1;
  // Loops compute a convolution with the channels first.
  return {{"channels last", last},
          {"channels first",
           size ? std::llround(double(last) / threshold::speedOfLoops) : -1}};
}

SmallVector<Alternative, 3> cpu::weighPatches(nn::ConvOp product) {
  SmallVector<Alternative, 3> all = {{"channels last"}, {"rows of patches"}};
  std::optional<ProductSize> size = ProductSize::of(product);
  if (!size)
    return all;
  const bool isBytes = product.getX().getDefiningOp<nn::DequantizeOp>();
  const TargetInfo target = lowestLevel(product);
  const Form form = isBytes ? Form::int8 : Form::f32;
  const int64_t rows = estimateCycles(*size, form, target);
  all[1].cycles = rows + cyclesOfMoves(double(size->data));
  // The convolution multiplies groups of channels in each tap.
  const int64_t group = isBytes ? threshold::byteChannelsAtOnce : 1,
                channels = shapeOf(product.getW())[1];
  ProductSize padded = *size;
  padded.products = size->products / std::max<int64_t>(channels, 1) *
                    int64_t(llvm::alignTo(channels, group));
  all[0].cycles = estimateCycles(padded, form, target);
  return all;
}

SmallVector<Alternative, 3> cpu::weighPadding(nn::ConvOp product) {
  SmallVector<Alternative, 3> all = {{"channels as they are"},
                                     {"groups of four channels"}};
  std::optional<ProductSize> size = ProductSize::of(product);
  if (!size || size->results == 0)
    return all;
  const TargetInfo target = lowestLevel(product);
  const int64_t channels = shapeOf(product.getW())[1],
                outputs = shapeOf(product.getW())[0];
  const auto whole =
      double(llvm::alignTo(channels, threshold::byteChannelsAtOnce)) /
      double(channels);
  // The kernel copies the window of each pixel to whole groups.
  const double windows = double(size->products) / double(outputs);
  size->products = std::llround(double(size->products) * whole);
  const int64_t cycles = estimateCycles(*size, Form::int8, target);
  all[0].cycles = cycles + cyclesOfMoves(windows);
  all[1].cycles = cycles + cyclesOfMoves(double(size->data) * whole);
  return all;
}

/// Returns the number of multiplications of a kernel, or nullopt if sizes are
/// open.
static std::optional<int64_t> countProducts(kernel::KernelOpInterface kernel) {
  int64_t flops = 1;
  for (const kernel::Factor &factor : kernel.getWork())
    flops = productOf({flops, factor.value
                                  ? shapeOf(factor.value)[size_t(factor.dim)]
                                  : factor.number});
  if (ShapedType::isDynamic(flops))
    return std::nullopt;
  return flops / 2;
}

/// Returns the form in which a kernel multiplies elements of `type`.
static Form formOf(Type type) {
  return type.isInteger(8) ? Form::int8
         : type.isBF16()   ? Form::bf16
         : type.isF16()    ? Form::f16
                           : Form::f32;
}

/// Returns the number of weights in the constant operands of `op`, or 0 if a
/// run computes its weights. A weight has `bits` bits if `bits` is not 0.
static int64_t countConstants(Operation *op, int64_t bits) {
  int64_t count = 0;
  for (Value operand : op->getOperands())
    if (ElementsAttr constant = nn::getConstant(operand))
      count +=
          constant.getNumElements() *
          (bits == 0 ? 1 : constant.getElementType().getIntOrFloatBitWidth()) /
          (bits == 0 ? 1 : bits);
  return count;
}

SmallVector<Alternative, 3> cpu::weighPacking(Operation *op, StringRef form) {
  auto kernel = cast<kernel::KernelOpInterface>(op);
  ProductSize size{0, 0, productOf(shapeOf(op->getOperand(0))),
                   productOf(shapeOf(op->getResult(0)))};
  size.packedBits = kernel.getWeightBits();
  size.weights = countConstants(op, size.packedBits);
  if (size.weights == 0)
    return {};
  SmallVector<Alternative, 3> all = {{form.str()}, {"packed in each run"}};
  std::optional<int64_t> products = countProducts(kernel);
  if (!products || ShapedType::isDynamic(size.data) ||
      ShapedType::isDynamic(size.results))
    return all;
  size.products = *products;
  const int64_t cycles = estimateCycles(
      size, formOf(getElementTypeOrSelf(op->getOperand(0))), lowestLevel(op));
  if (cycles < 0)
    return all;
  all[0].cycles = cycles;
  all[1].cycles = cycles + cyclesOfMoves(double(size.weights));
  return all;
}
