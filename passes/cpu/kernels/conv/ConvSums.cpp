//===- ConvSums.cpp - sums of the pixels of a row -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvSums.h"
#include "passes/cpu/isa/amx/AmxTiles.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

/// Returns the most channels of `span` pixels that are copied at a time, if a
/// copy may have `most` elements.
static int64_t mostCopied(int64_t most, int64_t span) {
  const int64_t unit = cpu::threshold::copiedChannels;
  return llvm::alignTo(std::max(most / span, unit), unit);
}

Accumulators ConvSums::sumTile(const Tile &tile, const PixelTile &pixels,
                               const PixelsAt &pixelsAt,
                               const ColumnAt &columnAt,
                               const NextWeights &next) {
  SmallVector<Index> srcAt = window.originOf(b, pixelsAt.row, pixelsAt.first);
  srcAt.push_back(b.mul(columnAt.group, channels));
  SmallVector<Index> weightsAt = conv.weightsOf(columnAt);
  return window.sumOuter(b, srcAt, zeroAccumulators(b, tile),
                         [&](ArrayRef<Index> srcAt, ArrayRef<Index> taps,
                             const Accumulators &sums) {
                           llvm::copy(taps, weightsAt.begin() + 1);
                           return sumRow(tile, pixels, srcAt, weightsAt, sums,
                                         next.from(b, conv.inPanel(taps)));
                         });
}

Accumulators ConvSums::sumRow(const Tile &tile, const PixelTile &pixels,
                              ArrayRef<Index> srcAt, ArrayRef<Index> weightsAt,
                              const Accumulators &start,
                              const NextWeights &next) {
  int64_t inner = window.inner();
  Index from = src.at(b, srcAt), panelAt = weights.at(b, weightsAt);
  ArrayRef<Index> outerTaps = weightsAt.slice(1, outer);
  switch (infoOf(tile.product).rows) {
  case RowForm::asFloats:
    return sumAsFloats(tile, pixels, from, panelAt, start);
  case RowForm::asInt16:
    return sumInt16(tile, pixels, from, panelAt, outerTaps, start);
  case RowForm::byLists:
    return sumPairs(tile, pixels, from, panelAt, outerTaps, start);
  case RowForm::inTiles:
    return sumAmx(tile, pixels, from, panelAt, start);
  case RowForm::inPlace:
    break;
  case RowForm::asBits:
    llvm_unreachable("signs have sums of their own");
  }
  Index apart = b.mul(pixelStride, window.dilations[inner]);
  auto rowsOf = [&](int64_t tap) {
    Index first = b.add(from, b.mul(apart, tap));
    return conv.rowsOfTap(tile, pixels, tap, src.data, first,
                          b.mul(pixelStride, window.strides[inner]));
  };
  const bool isWhole = pixels.isWhole();
  auto multiply = [&](const TileWeights &used) {
    NextWeights later = next.times(b, plan.panel / used.panel);
    if (isWhole && window.kernel[inner] == 1)
      return multiplyAddWhole(b, used, rowsOf(0), channels, start, later);
    return sumTaps(used,
                   {isWhole && conv.isContiguous(),
                    isWhole ? std::optional(apart) : std::nullopt, rowsOf},
                   channels, start, later);
  };
  return columns.sumWidened({tile, weights.data, panelAt, plan.panel},
                            outerTaps, multiply);
}

Accumulators ConvSums::sumTaps(const TileWeights &weights, const TapRows &taps,
                               int64_t depth, const Accumulators &start,
                               const NextWeights &next) {
  int64_t count = window.kernel[window.inner()];
  if (taps.asOne)
    return multiplyAdd(b, weights, taps.rowsOf(0), count * depth, start, next);
  const int64_t tapSize = plan.weights.depth * weights.panel;
  auto addTap = [&](const SrcRows &rows, Index tapAt,
                    const Accumulators &sums) {
    TileWeights ofTap = weights;
    ofTap.at = b.add(weights.at, tapAt);
    return multiplyAdd(b, ofTap, rows, depth, sums, next.from(b, tapAt));
  };
  if (taps.apart && count >= cpu::threshold::loopedTaps)
    return forEach(b, 0, count, start,
                   [&](Value tap, const Accumulators &sums) {
                     SrcRows rows = taps.rowsOf(0);
                     for (std::optional<Index> &at : rows.at)
                       at = b.add(*at, b.mul(*taps.apart, Index(tap)));
                     return addTap(rows, b.mul(Index(tap), tapSize), sums);
                   });
  Accumulators sums = start;
  for (int64_t tap = 0; tap < count; ++tap)
    sums = addTap(taps.rowsOf(tap), tap * tapSize, sums);
  return sums;
}

Value ConvSums::roomFor(int64_t elements, Type type) {
  if (elements > room) {
    room = elements;
    copied = createScratch(b, elements, type);
  }
  return copied;
}

Accumulators ConvSums::sumAsFloats(const Tile &tile, const PixelTile &pixels,
                                   Index from, Index panelAt,
                                   const Accumulators &start) {
  int64_t inner = window.inner();
  int64_t stride = window.strides[inner], dilation = window.dilations[inner];
  std::pair<int64_t, int64_t> read = pixels.pixelsRead(stride, dilation);
  int64_t low = read.first, span = read.second - low;
  if (span <= 0)
    return start;
  int64_t group = plan.weights.group;
  int64_t most =
      mostCopied(cpu::threshold::copiedFloats(TargetInfo::of(op)), span);
  int64_t size = copiedAtOnce(channels, most, group);
  bool isRun = conv.isContiguous() && size == channels;
  int64_t pitch = isRun ? channels : llvm::alignTo(size, tile.lanes);
  Value scratch = roomFor(span * pitch + tile.lanes, b.b.getF32Type());
  auto addBlock = [&](Index channel, int64_t size, const Accumulators &start) {
    Index first = b.add(b.add(from, b.mul(pixelStride, low)), channel);
    if (isRun)
      copyRuns(b, tile.lanes, {src.data, first}, {scratch, Index(0)},
               span * channels);
    else
      forEach(b, 0, span, 1, [&](Value pixel) {
        copyRuns(b, tile.lanes,
                 {src.data, b.add(first, b.mul(Index(pixel), pixelStride))},
                 {scratch, b.mul(Index(pixel), pitch)}, size);
      });
    auto rowsOf = [&](int64_t tap) {
      return conv.rowsOfTap(tile, pixels, tap, scratch,
                            (tap * dilation - low) * pitch, stride * pitch);
    };
    Index block = b.add(panelAt, b.mul(channel, plan.panel));
    std::optional<Index> apart;
    if (pixels.isWhole())
      apart = dilation * pitch;
    return sumTaps({tile, weights.data, block, plan.panel},
                   {apart && isRun, apart, rowsOf}, size, start);
  };
  return forEachBlock(b, channels, size, start, addBlock);
}

Accumulators ConvSums::sumInt16(const Tile &tile, const PixelTile &pixels,
                                Index from, Index panelAt, ArrayRef<Index> taps,
                                const Accumulators &start) {
  int64_t inner = window.inner();
  int64_t stride = window.strides[inner], dilation = window.dilations[inner];
  Value factors = weights.data;
  int64_t panel = plan.panel;
  if (columns.wide) {
    factors = columns.wide->words;
    panel = tile.vectors * tile.lanes / 2;
    panelAt = b.mul(conv.numberOf(taps),
                    window.kernel[inner] * plan.weights.depth * panel);
  }
  int64_t span =
      (pixels.size - 1) * stride + (window.kernel[inner] - 1) * dilation + 1;
  std::pair<int64_t, int64_t> read = pixels.pixelsRead(stride, dilation);
  int64_t low = read.first, high = read.second;
  int64_t group = plan.weights.group, lanes = tile.lanes;
  int64_t most =
      mostCopied(cpu::threshold::copiedWords(TargetInfo::of(op)), span);
  int64_t size = copiedAtOnce(channels, most, group);
  bool isRun = conv.isContiguous() && size == channels;
  int64_t pitch = llvm::divideCeil(size, group);
  int64_t odd = span * pitch + lanes;
  Value scratch = roomFor(2 * odd, b.b.getI32Type());
  auto type = VectorType::get({2 * lanes}, b.b.getI16Type());
  // Reserves one vector more, because copies and fills may write beyond their
  // end.
  auto fill = [&](int64_t from, int64_t to) {
    if (from == to)
      return;
    Value padding = vector::BitCastOp::create(
        b.b, b.loc, VectorType::get({lanes}, b.b.getI32Type()),
        splatInt(b, type, op.getSrcZeroPoint()));
    int64_t vectors = llvm::divideCeil((to - from) * pitch, lanes);
    forEach(b, 0, vectors, 1, [&](Value i) {
      Index at = b.add(b.mul(Index(i), lanes), from * pitch);
      for (Index part : {at, b.add(at, odd)})
        vector::StoreOp::create(b.b, b.loc, padding, scratch, b.get(part));
    });
  };
  auto addBlock = [&](Index channel, int64_t size, const Accumulators &start) {
    Index first = b.add(b.add(from, b.mul(pixelStride, low)), channel);
    // Fills and copies in ascending order, because each step may write a little
    // too far.
    fill(0, low);
    if (isRun)
      copyAsInt16(b, lanes, {src.data, first}, {scratch, Index(low * pitch)},
                  odd, (high - low) * channels);
    else
      forEach(b, 0, high - low, 1, [&](Value pixel) {
        copyAsInt16(b, lanes,
                    {src.data, b.add(first, b.mul(Index(pixel), pixelStride))},
                    {scratch, b.mul(b.add(Index(pixel), low), pitch)}, odd,
                    size);
      });
    fill(high, span);
    auto rowsOf = [&](int64_t tap) {
      SrcRows rows(b, scratch, tap * dilation * pitch, stride * pitch,
                   tile.rows);
      rows.odd = odd;
      return rows;
    };
    Index block = b.add(panelAt, b.mul(channel, panel));
    // True if each copied pixel is contiguous and has the order of the weights.
    // Behind the channels of a pixel, the copy has zeros.
    bool asOne = size == channels && dilation == 1;
    return sumTaps({tile, factors, block, panel},
                   {asOne, Index(dilation * pitch), rowsOf},
                   asOne ? plan.weights.depth : size, start);
  };
  return forEachBlock(b, channels, size, start, addBlock);
}

Accumulators ConvSums::sumPairs(const Tile &tile, const PixelTile &pixels,
                                Index from, Index panelAt, ArrayRef<Index> taps,
                                const Accumulators &start) {
  Value data = src.data;
  if (!pixels.isWhole()) {
    // Gives the copy the stride of src, because the lists of groups contain
    // offsets with this stride.
    copyPadded(pixels, from, pixelStride.constant);
    data = copied;
    from = 0;
  }
  SrcRows rows(b, data, from,
               b.mul(pixelStride, window.strides[window.inner()]), tile.rows);
  return multiplyAddWhole(b,
                          {tile, weights.data, panelAt, plan.panel,
                           &*columns.pairs, conv.numberOf(taps)},
                          rows, channels, start);
}

Accumulators ConvSums::sumAmx(const Tile &tile, const PixelTile &pixels,
                              Index from, Index panelAt,
                              const Accumulators &start) {
  int64_t inner = window.inner(), taps = window.kernel[inner];
  // Decides for all tiles of the kernel, because AMX tiles must have one shape.
  bool isRun = conv.isContiguous();
  Value data = src.data;
  Index distance = pixelStride;
  if (!pixels.isWhole()) {
    int64_t whole = amxRowElements(conv.srcElement());
    int64_t pitch = isRun ? channels : int64_t(llvm::alignTo(channels, whole));
    copyPadded(pixels, from, pitch);
    data = copied;
    from = 0;
    distance = pitch;
  }
  Index stride = b.mul(distance, window.strides[inner]);
  Accumulators sums = start;
  for (int64_t tap = 0; tap < (isRun ? 1 : taps); ++tap) {
    Index first = b.add(from, b.mul(distance, tap * window.dilations[inner]));
    sums = multiplyAddWhole(
        b,
        {tile, weights.data,
         b.add(panelAt, tap * plan.weights.depth * plan.panel), plan.panel},
        SrcRows(b, data, first, stride, 1), isRun ? taps * channels : channels,
        sums);
  }
  return sums;
}

void ConvSums::copyPadded(const PixelTile &pixels, Index from, int64_t pitch) {
  int64_t inner = window.inner();
  int64_t stride = window.strides[inner], dilation = window.dilations[inner];
  auto spanOf = [&](int64_t pixels) {
    return (pixels - 1) * stride + (window.kernel[inner] - 1) * dilation + 1;
  };
  Type element = conv.srcElement();
  int64_t lanes = amxRowElements(element);
  int64_t room = spanOf(plan.tile.rows) * pitch + lanes;
  Value scratch = roomFor(room, element);
  auto [low, high] = pixels.pixelsRead(stride, dilation);
  // Fills and copies in ascending order, because each step may write a little
  // too far.
  fillRun(b, scratch, 0, low * pitch, op.getSrcZeroPoint());
  if (conv.isContiguous())
    copyRuns(b, lanes, {src.data, b.add(from, b.mul(pixelStride, low))},
             {scratch, Index(low * pitch)}, (high - low) * pitch);
  else
    forEach(b, low, high, 1, [&](Value pixel) {
      copyRuns(b, lanes,
               {src.data, b.add(from, b.mul(Index(pixel), pixelStride))},
               {scratch, b.mul(Index(pixel), pitch)}, channels);
    });
  fillRun(b, scratch, high * pitch, (spanOf(pixels.size) - high) * pitch,
          op.getSrcZeroPoint());
}
