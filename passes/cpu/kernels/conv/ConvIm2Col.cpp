//===- ConvIm2Col.cpp - convolutions over copies of their taps ------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Tiles across rows (ConvAcrossRows.cpp) that copy their taps. They serve
// convolutions with few channels, and instructions that require a fixed stride
// or other elements:
//
//     for tile of pixels
//       copy the taps of each pixel side by side: all, those of a row, or one
//       for column tile: for k over the copy
//         accumulators += copy[pixel][k] * weights[k, column]
//
// If whole windows are copied, the copy serves all columns of a task.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvIm2Col.h"
#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/kernels/rows/RowEmitter.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

Im2ColLayout ConvIm2Col::copiedTaps(const Tile &tile) {
  int64_t taps = window.kernel[window.inner()];
  int64_t line = amxRowElements(conv.srcElement());
  // Lets the copies take half of the first-level cache.
  int64_t most =
      TargetInfo::of(op).l1 / 8 * plan.weights.group / plan.tile.rows;
  Im2ColLayout copied{taps, channels, channels, 0};
  // Splits channels for AMX only evenly, because AMX tiles must have one shape
  // in a kernel.
  bool canSplit = !usesTiles(tile.product) || channels % line == 0;
  const bool isByLists = infoOf(tile.product).rows == RowForm::byLists;
  if (isByLists) {
    // Gives the copy the stride of src, because the lists of groups contain
    // offsets with this stride.
    copied.tapPitch = pixelStride.constant * window.dilations[window.inner()];
  } else if (plan.weights.depth != channels ||
             (usesTiles(tile.product) && !conv.isContiguous()) ||
             (canSplit && taps * channels > most)) {
    copied.taps = 1;
    if (canSplit)
      copied.channels = copiedAtOnce(
          channels, std::max<int64_t>(llvm::alignDown(most, line), line),
          usesTiles(tile.product) ? line : plan.weights.group);
  }
  // Copies all rows of a window at once if the weights have the same contiguous
  // order as the copy. The copy then serves all columns.
  int64_t rows = support::productOf(window.kernel.drop_back());
  bool isRun = plan.weights.depth == channels || rows * taps == 1;
  if (isRun && copied.taps == taps && copied.channels == channels &&
      copied.tapPitch == channels && !usesTiles(tile.product) && !isByLists &&
      rows * taps * channels <= most)
    copied.rows = rows;
  // Avoids a power of two, and leaves room for writes beyond the last tap.
  int64_t atOnce = std::max<int64_t>(copied.rows, 1) * copied.taps;
  copied.pixelPitch =
      llvm::alignTo((atOnce - 1) * copied.tapPitch + copied.channels, line) +
      line;
  return copied;
}

void ConvIm2Col::prepareCopies(const Im2ColLayout &copied) {
  if (!copiesOf)
    copiesOf =
        createScratch(b, plan.tile.rows * copied.pixelPitch, conv.srcElement());
}

/// Returns masks of elements [low, high) for `vectors` vectors.
SmallVector<Value> ConvIm2Col::masksWithin(Index low, Index high,
                                           int64_t vectors) {
  int64_t lanes = plan.target.lanes;
  SmallVector<Value> masks;
  for (int64_t v = 0; v < vectors; ++v) {
    int64_t at = v * lanes;
    Value before = maskOfFirst(b, lanes, b.add(low, -at));
    Value mask = maskOfFirst(b, lanes, b.add(high, -at));
    masks.push_back(arith::AndIOp::create(
        b.b, b.loc, mask, arith::XOrIOp::create(b.b, b.loc, mask, before)));
  }
  return masks;
}

/// Copies the elements that `masks` select if `isThere`; stores zeros for all
/// others.
void ConvIm2Col::copyWithin(Index from, Index to, Value isThere,
                            ArrayRef<Value> masks) {
  int64_t lanes = plan.target.lanes;
  auto type = VectorType::get({lanes}, conv.srcElement());
  auto maskType = VectorType::get({lanes}, b.b.getI1Type());
  Value zeros = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(type));
  Value none = arith::ConstantOp::create(b.b, b.loc, b.b.getZeroAttr(maskType));
  for (auto [v, within] : llvm::enumerate(masks)) {
    int64_t at = int64_t(v) * lanes;
    Value mask =
        isThere ? arith::SelectOp::create(b.b, b.loc, isThere, within, none)
                      .getResult()
                : within;
    Value loaded = vector::MaskedLoadOp::create(
        b.b, b.loc, type, src.data, b.get(b.add(from, at)), mask, zeros);
    vector::StoreOp::create(b.b, b.loc, loaded, copiesOf, b.get(b.add(to, at)));
  }
}

void ConvIm2Col::copyTaps(const Im2ColLayout &copied,
                          const Im2ColPixels &pixels, const TapChannels &from) {
  int64_t size = from.size;
  Index firstTap = from.firstTap, count = pixels.count;
  int64_t inner = window.inner();
  Index tapStride = b.mul(pixelStride, window.dilations[inner]);
  int64_t lanes = amxRowElements(conv.srcElement());
  bool isRun = copied.taps > 1 && !tapStride.value &&
               tapStride.constant == copied.tapPitch && copied.tapPitch == size;
  int64_t vectors = llvm::divideCeil(copied.taps * size, plan.target.lanes);
  bool isMasked = isRun && conv.srcElement().isF32() && plan.target.hasFMA &&
                  vectors <= cpu::threshold::maskedTapVectors;
  // The masks of a pixel's taps, which all its rows of taps share.
  SmallVector<Value> masks;
  auto copyRow = [&](Index number, ArrayRef<Index> at,
                     ArrayRef<Index> outerTaps, Index to) {
    // Uses masked loads, because src may end behind the last pixel.
    Value isThere;
    if (!isMasked)
      isThere = b.compare(arith::CmpIPredicate::slt, number, count);
    SmallVector<Index> srcAt = window.originOf(b, at.drop_back(), at.back());
    for (auto [d, tap] : llvm::enumerate(outerTaps)) {
      Index &coordinate = srcAt[1 + d];
      coordinate = b.add(coordinate, b.mul(tap, window.dilations[d]));
      if (window.crossesLow(d) || window.crossesHigh(d))
        isThere = b.both(isThere, window.hasPixel(b, d, coordinate));
    }
    Index &origin = srcAt[1 + inner];
    origin = b.add(origin, b.mul(firstTap, window.dilations[inner]));
    Index begin = origin;
    srcAt.push_back(from.channel);
    Index first = src.at(b, srcAt);
    if (isMasked)
      return copyWithin(first, to, isThere, masks);
    auto copyTap = [&](Index tap, int64_t elements) {
      copyRuns(b, lanes, {src.data, b.add(first, b.mul(tap, tapStride))},
               {copiesOf, b.add(to, b.mul(tap, copied.tapPitch))}, elements);
    };
    auto copyIfInside = [&](Index tap) {
      Index coordinate = b.add(begin, b.mul(tap, window.dilations[inner]));
      Value isInside = isThere;
      if (window.crossesLow(inner) || window.crossesHigh(inner))
        isInside = b.both(isThere, window.hasPixel(b, inner, coordinate));
      b.branch(
          isInside, [&] { copyTap(tap, size); },
          [&] {
            fillRun(b, copiesOf, b.add(to, b.mul(tap, copied.tapPitch)), size,
                    op.getSrcZeroPoint());
          });
    };
    if (copied.taps == 1)
      return copyIfInside(0);
    Value isWhole = b.both(isThere, window.isWithin(b, begin, 1));
    b.branch(
        isWhole,
        [&] {
          if (isRun)
            return copyTap(0, copied.taps * size);
          forEach(b, 0, copied.taps, 1,
                  [&](Value tap) { copyTap(Index(tap), size); });
        },
        [&] {
          b.branch(
              isThere,
              [&] {
                forEach(b, 0, copied.taps, 1,
                        [&](Value tap) { copyIfInside(Index(tap)); });
              },
              [&] {
                fillRun(b, copiesOf, to,
                        (copied.taps - 1) * copied.tapPitch + size,
                        op.getSrcZeroPoint());
              });
        });
  };
  conv.forEachPixel(
      pixels.first, pixels.rows, [&](Index number, ArrayRef<Index> at) {
        Index to = b.mul(number, copied.pixelPitch);
        if (isMasked) {
          Index begin =
              window.originOf(b, at.drop_back(), at.back())[1 + inner];
          begin = b.add(begin, b.mul(firstTap, window.dilations[inner]));
          Index low = b.mul(b.max(b.mul(begin, -1), 0), size);
          Index high = b.mul(
              b.min(b.sub(window.srcSizes[inner], begin), copied.taps), size);
          Value isThere = b.compare(arith::CmpIPredicate::slt, number, count);
          masks = masksWithin(low, b.select(isThere, high, 0), vectors);
        }
        if (copied.rows == 0)
          return copyRow(number, at, from.outerTaps, to);
        int64_t rowPitch = copied.taps * copied.tapPitch;
        window.forEachOuterTap(b, [&](ArrayRef<Index> taps) {
          copyRow(number, at, taps,
                  b.add(to, b.mul(conv.numberOf(taps), rowPitch)));
        });
      });
}

/// Adds the products of the copied taps, `depth` elements of each pixel.
Accumulators ConvIm2Col::sumCopied(const Tile &tile, const Im2ColLayout &copied,
                                   ArrayRef<Index> outerTaps, Index panelAt,
                                   int64_t depth, const Accumulators &start) {
  SrcRows rows(b, copiesOf, 0, copied.pixelPitch, tile.rows);
  TileWeights used{tile, weights.data, panelAt, plan.panel};
  if (columns.pairs) {
    used.lists = &*columns.pairs;
    used.run = conv.numberOf(outerTaps);
  }
  return multiplyAddWhole(b, used, rows, depth, start);
}

Accumulators ConvIm2Col::sumCopies(const Tile &tile, ArrayRef<Index> first,
                                   Index count, const ColumnAt &columnAt) {
  Im2ColLayout copied = copiedTaps(tile);
  prepareCopies(copied);
  SmallVector<Index> weightsAt = conv.weightsOf(columnAt);
  Index tapElements = plan.weights.depth * plan.panel;
  int64_t steps = window.kernel[window.inner()] / copied.taps;
  auto sumBlock = [&](ArrayRef<Index> outerTaps, Index firstTap, Index channel,
                      int64_t size, const Accumulators &sums) {
    copyTaps(copied, {first, count, tile.rows},
             {outerTaps, firstTap,
              b.add(b.mul(columnAt.group, channels), channel), size});
    llvm::copy(outerTaps, weightsAt.begin() + 1);
    Index panelAt =
        b.add(weights.at(b, weightsAt), b.mul(firstTap, tapElements));
    return sumCopied(tile, copied, outerTaps,
                     b.add(panelAt, b.mul(channel, plan.panel)),
                     copied.taps * size, sums);
  };
  return window.sumOuterTaps(
      b, zeroAccumulators(b, tile),
      [&](ArrayRef<Index> taps, const Accumulators &sums) {
        return forEach(
            b, 0, steps, sums, [&](Value tap, const Accumulators &sums) {
              return forEachBlock(
                  b, channels, copied.channels, sums,
                  [&](Index channel, int64_t size, const Accumulators &sums) {
                    return sumBlock(taps, Index(tap), channel, size, sums);
                  });
            });
      });
}
