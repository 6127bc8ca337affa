//===- WinogradCost.cpp - costs of Winograd's algorithm -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/policy/WinogradCost.h"

#include "passes/cpu/policy/Levels.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Convolutions.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;

/// The taps of a 3x3 window.
static constexpr int64_t kTaps = Winograd::kTaps * Winograd::kTaps;

static constexpr int64_t kTileSizes[] = {2, 4};

static std::string nameOf(int64_t outputs) {
  std::string side = std::to_string(outputs);
  return "winograd " + side + "x" + side;
}

//===----------------------------------------------------------------------===//
// Sizes
//===----------------------------------------------------------------------===//

WinogradSizes WinogradSizes::of(nn::ConvOp op) {
  auto known = [](int64_t size, int64_t usual) {
    return ShapedType::isDynamic(size) ? usual : size;
  };
  ArrayRef<int64_t> y = shapeOf(op.getResult()), w = shapeOf(op.getW());
  ArrayRef<int64_t> sides = y.drop_front(op.getChannelsLast() ? 1 : 2);
  return {known(y[0], 1), known(sides[0], threshold::usualSide),
          known(sides[1], threshold::usualSide), w[1], w[0]};
}

WinogradSizes WinogradSizes::ofResult(ArrayRef<int64_t> dst, int64_t channels) {
  if (ShapedType::isDynamicShape(dst.drop_back()))
    return {1, threshold::usualSide, threshold::usualSide, channels,
            dst.back()};
  return {dst[0], dst[1], dst[2], channels, dst.back()};
}

int64_t WinogradSizes::tiles(int64_t outputs) const {
  return std::max<int64_t>(images * int64_t(llvm::divideCeil(height, outputs)) *
                               int64_t(llvm::divideCeil(width, outputs)),
                           1);
}

//===----------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------===//

namespace {

/// The costs of a convolution of floats, in f32 operations of one core.
class FloatCost {
public:
  FloatCost(const WinogradSizes &sizes, const FloatForm &form,
            const TargetInfo &target)
      : sizes(sizes), form(form), target(target) {}

  double direct() const {
    double flops = 2 * double(sizes.pixels()) /
                   (form.multipliesF16 ? threshold::halfSpeed : 1);
    return double(kTaps) * products() * (flops + ofWeight());
  }

  double inTiles(const Winograd &transform) const {
    auto tiles = double(sizes.tiles(transform.outputs()));
    return double(transform.positions()) * products() *
               (2 * tiles + ofWeight()) +
           transforms(transform);
  }

  /// Returns the operations of the transforms of data and results.
  double transforms(const Winograd &transform) const {
    return double(sizes.tiles(transform.outputs())) *
           double(sizes.channels + sizes.columns) *
           (transform.outputs() == 2 ? threshold::transformOfTwo
                                     : threshold::transformOfFour);
  }

  double addedBytes(const Winograd &transform) const {
    return double(transform.positions() - kTaps) * products() *
           double(form.weightBytes);
  }

  /// Says why the algorithm does not use these tiles. A block of tiles must fit
  /// on the stack. Tiles of 2x2 do not pay if f16 is multiplied by f16. The
  /// weights of tiles of 4x4 must fit in a cache.
  Reason whyNot(const Winograd &transform) const {
    if (threshold::leastWinogradRows *
            transform.bytes(sizes.channels, threshold::winogradPanel) >
        kMaxWinogradBytes)
      return "has more channels than a task's stack has room for";
    if (transform.outputs() == 2)
      return form.multipliesF16 ? Reason("multiplies f16 by f16")
                                : std::nullopt;
    if (!fitsCache(transform))
      return "has more transformed weights than a cache holds";
    return std::nullopt;
  }

  /// Returns true if a cache holds the weights that are transformed to f32.
  bool fitsCache(const Winograd &transform) const {
    return transform.positions() * sizes.channels * sizes.columns * 4 <=
           threshold::mostBytesOfFour(target);
  }

private:
  double products() const { return double(sizes.channels * sizes.columns); }
  /// Returns the number of operations that take as long as reading a weight.
  double ofWeight() const {
    return double(form.weightBytes) * threshold::flopsPerByte;
  }

  WinogradSizes sizes;
  FloatForm form;
  TargetInfo target;
};

} // namespace

static int64_t cyclesOf(double flops, const TargetInfo &target) {
  return int64_t(flops / double(2 * target.lanes * target.fma_ports));
}

Answer<std::optional<Winograd>>
cpu::chooseFloatTiles(const WinogradSizes &sizes, const FloatForm &form,
                      OptimizeFor goal, const TargetInfo &target) {
  FloatCost cost(sizes, form, target);
  const double direct = cost.direct();
  double least = direct;
  Answer<std::optional<Winograd>> answer{
      std::nullopt,
      "takes as long with fewer products, or needs too many bytes"};
  answer.alternatives.push_back({"direct", cyclesOf(direct, target)});
  for (int64_t outputs : kTileSizes) {
    Winograd transform(outputs);
    if (Reason reason = cost.whyNot(transform)) {
      answer.alternatives.push_back({nameOf(outputs)});
      continue;
    }
    double time = cost.inTiles(transform);
    answer.alternatives.push_back({nameOf(outputs), cyclesOf(time, target)});
    double withBytes = time + requiredGain(goal, cost.addedBytes(transform));
    if (time >= threshold::winogradWorth * direct || withBytes >= least)
      continue;
    least = withBytes;
    answer.choice = transform;
    answer.reason = "saves enough time for the weights that it adds";
  }
  return answer;
}

//===----------------------------------------------------------------------===//
// Bytes
//===----------------------------------------------------------------------===//

namespace {

/// The number of vector instructions that are not products. `pixels` counts
/// them for the pixels of a tile and two vectors of channels. `sums` counts
/// them for the sums of a tile and a vector of columns. `weights` counts them
/// for a vector of groups of four weights.
struct Overhead {
  double pixels, sums, weights;
};

} // namespace

static Overhead overheadOf(int64_t outputs) {
  if (outputs == 2)
    return {threshold::bytePixelsOfTwo, threshold::byteSumsOfTwo,
            threshold::byteWeightsOfTwo};
  return {threshold::bytePixelsOfFour, threshold::byteSumsOfFour,
          threshold::byteWeightsOfFour};
}

Answer<std::optional<Winograd>> cpu::chooseByteTiles(const WinogradSizes &sizes,
                                                     const ByteForm &form,
                                                     const TargetInfo &target) {
  const double groups = double(sizes.channels) / 4;
  const auto vectors = double(llvm::divideCeil(sizes.columns, target.lanes));
  const double direct =
      double(sizes.pixels() * kTaps) * groups * vectors * form.direct;
  double least = threshold::byteWinogradWorth * direct;
  auto cycles = [&](double instructions) {
    return int64_t(instructions / double(target.fma_ports));
  };
  Answer<std::optional<Winograd>> answer{std::nullopt,
                                         "takes as long with fewer products"};
  answer.alternatives.push_back({"direct", cycles(direct)});
  for (int64_t outputs : kTileSizes) {
    Winograd transform = Winograd::ofBytes(outputs);
    const int64_t mostRows =
        kMaxWinogradBytes / transform.bytes(sizes.channels, form.tileColumns);
    if (outputs > form.proved || mostRows == 0) {
      answer.alternatives.push_back({nameOf(outputs)});
      continue;
    }
    const Overhead more = overheadOf(outputs);
    const int64_t tiles = sizes.tiles(outputs);
    const auto blocks = double(llvm::divideCeil(tiles, mostRows));
    const double products = double(tiles * transform.positions()) * 4;
    const double cost =
        (products + blocks * more.weights) * groups * vectors +
        double(tiles) * (2 * groups / double(target.lanes) * more.pixels +
                         vectors * more.sums);
    answer.alternatives.push_back({nameOf(outputs), cycles(cost)});
    if (cost >= least)
      continue;
    least = cost;
    answer.choice = transform;
    answer.reason = "saves more products than its transforms take";
  }
  return answer;
}

void cpu::recordTiles(Operation *op,
                      const Answer<std::optional<Winograd>> &answer) {
  record(op, Question::winograd,
         answer.choice ? nameOf(answer.choice->outputs()) : "direct",
         answer.reason, answer.alternatives);
}

//===----------------------------------------------------------------------===//
// Int16
//===----------------------------------------------------------------------===//

static Answer<bool> answerForInt16(nn::ConvOp op, OptimizeFor goal) {
  ArrayRef<int64_t> w = shapeOf(op.getW());
  if (w[0] / int64_t(op.getGroups()) < threshold::int16LeastOutputs ||
      w[1] < threshold::int16LeastInputs)
    return {false, "has few channels of a group"};
  const char *yes = "multiplies int16 faster than floats";
  if (whyNotThreeByThree(op))
    return {true, yes};
  // Compares only the products and transforms of one image, because both ways
  // read their weights once for all images.
  WinogradSizes sizes = WinogradSizes::of(op);
  sizes.images = 1;
  const TargetInfo target = lowestLevel(op);
  const FloatCost cost(sizes, {/*weightBytes=*/0}, target);
  const Winograd transform(4);
  if (!cost.fitsCache(transform))
    return {true, yes};
  constexpr int64_t kFloatBytes = 4, kWordBytes = 2;
  const auto addedBytes =
      double((transform.positions() * kFloatBytes - kTaps * kWordBytes) *
             sizes.channels * sizes.columns);
  const double inTiles = cost.inTiles(transform),
               words = threshold::int16PerFloat * cost.direct();
  Answer<bool> answer{true, yes};
  if (isRecorded(op))
    answer.alternatives = {{"int16", cyclesOf(words, target)},
                           {"float32 winograd 4x4", cyclesOf(inTiles, target)}};
  if (inTiles + requiredGain(goal, addedBytes) < words) {
    answer.choice = false;
    answer.reason = "takes fewer products of floats";
  }
  return answer;
}

static Answer<bool> answerForInt16(nn::MatMulOp op) {
  RankedTensorType type = op.getType();
  if (type.hasStaticShape() &&
      productOf(type.getShape().drop_back()) <= threshold::fewRows)
    return {false, "has few rows"};
  return {true, "multiplies int16 faster than floats"};
}

Answer<bool> cpu::isForInt16(Operation *product, OptimizeFor goal) {
  if (auto conv = dyn_cast<nn::ConvOp>(product))
    return answerForInt16(conv, goal);
  return answerForInt16(cast<nn::MatMulOp>(product));
}
