//===- DepthwiseInt8.cpp - depthwise int8 in groups of taps ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depthwise convolution of int8 in pairs of int16, or in groups of four int8:
//
//     for block of channels
//       weights of groups of taps, on the stack
//       for output row, channels in up to four vectors
//         sums of pixels, epilogue, store
//
// DepthwiseColumns.cpp computes rows of known size, except rows whose pixels
// take few products, on CPUs with 16 registers. Here a column of pixels is
// multiplied by the weights of all taps along the row as soon as it is
// unpacked.
//
// An instruction multiplies two int16 and adds both products as i32, so nothing
// saturates. With VNNI it multiplies four int8 and adds the products to a sum.
// A group therefore has two taps or four. The taps of a group lie above each
// other, because such a group serves all taps along the row. A single last row
// forms groups along the row instead. For example, 9 taps are 5 pairs, or 3
// groups of four.
//
// If src has no row under a tap, the nearest row is read, and the weights of
// the row are zeros. Rows of dst with such taps use a second copy of the
// weights. If a row has no pixel under a tap, a zero point is multiplied
// instead. The zero point thus always adds itself times the sum of all used
// weights. The sums start with the negative of this value.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/depthwise/DepthwiseInt8.h"
#include "passes/cpu/policy/Thresholds.h"
#include "passes/cpu/products/PairProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static VectorType integersOf(IndexBuilder &b, int64_t size) {
  return VectorType::get({size}, b.b.getI32Type());
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

namespace {

/// The sums of a tile's pixels, for a block of channels.
class Int8Sums {
public:
  Int8Sums(DepthwiseInt8 &words, const ByteBlock &block,
           const TilePosition &where, Index place);

  /// Multiplies the columns up to the last one of pixel `end` - 1. Calls `take`
  /// for each pixel from `first` on, with its sums as f32, which represents
  /// them exactly. `carried` are the partial sums of the pixels from `first` on
  /// that earlier columns contribute to. Returns the partial sums of the pixels
  /// from `end` on.
  Accumulators run(int64_t first, int64_t end, const Accumulators &carried,
                   function_ref<void(int64_t, const Accumulators &)> take);

private:
  /// Returns the bytes of row `row` of src at pixel `i`, counted from tap 0 of
  /// the first pixel. Null means zeros.
  Value loadBytes(int64_t row, int64_t i);
  /// Multiplies a group of pixels, each given by its row and its index, with
  /// groups of weights. Adds the products to each pixel for which `groupOf`
  /// returns a group of weights.
  void addGroup(ArrayRef<std::pair<int64_t, int64_t>> group,
                function_ref<std::optional<int64_t>(int64_t)> groupOf);
  Value weightOf(int64_t group, int64_t v);
  Accumulators &sumsOf(int64_t r);
  bool isThere(int64_t i) const;

  DepthwiseInt8 &words;
  DepthwiseKernel &kernel;
  IndexBuilder &b;
  const WindowTiling &window;
  ByteBlock block;
  const PixelTile &pixels;
  const BorderTile *border;
  int64_t stride, dilation, numTaps, reach, zeroPoint;
  SmallVector<Index> rows;
  Index weightsAt;
  SmallVector<Accumulators> sums;
};

} // namespace

Int8Sums::Int8Sums(DepthwiseInt8 &words, const ByteBlock &block,
                   const TilePosition &where, Index place)
    : words(words), kernel(words.kernel), b(kernel.b), window(kernel.window),
      block(block), pixels(where.pixels), border(where.border),
      stride(window.strides.back()), dilation(window.dilations.back()),
      numTaps(window.kernel.back()), reach((numTaps - 1) * dilation),
      zeroPoint(kernel.op.getSrcZeroPoint()), sums(pixels.size) {
  Index pixel =
      b.add(b.mul(where.firstPixel, stride), -window.pads[window.inner()]);
  Index pixelStride = kernel.src.strides[kernel.src.strides.size() - 2];
  Index at = b.add(b.mul(pixel, pixelStride), where.channel);
  for (Index row : kernel.sources.starts)
    rows.push_back(b.add(row, at));
  weightsAt = b.add(b.mul(place, words.preparedVectors()), words.weightsOfRow);
}

Value Int8Sums::weightOf(int64_t group, int64_t v) {
  Index at =
      b.add(weightsAt, (v * words.preparedVectors() + group) * block.lanes);
  return vector::LoadOp::create(b.b, b.loc, integersOf(b, block.lanes),
                                words.int16Weights, b.get(at));
}

Accumulators &Int8Sums::sumsOf(int64_t r) {
  if (sums[r].empty())
    for (int64_t v = 0; v < block.vectors; ++v)
      sums[r].push_back(zeroPoint != 0
                            ? weightOf(words.preparedVectors() - 1, v)
                            : splatInt(b, integersOf(b, block.lanes), 0));
  return sums[r];
}

/// Returns true if src has pixel `i`, i.e. if pixel `i` is under any tap within
/// src.
bool Int8Sums::isThere(int64_t i) const {
  for (int64_t r = 0; r < pixels.size; ++r)
    for (int64_t tap = 0; tap < numTaps; ++tap)
      if (r * stride + tap * dilation == i && pixels.hasTap(r, tap))
        return true;
  return false;
}

Value Int8Sums::loadBytes(int64_t row, int64_t i) {
  auto type = VectorType::get({block.channels()}, b.b.getI8Type());
  Value zeroPoints = splatInt(b, type, int8_t(uint8_t(zeroPoint)));
  if (!isThere(i))
    return zeroPoint != 0 ? zeroPoints : Value();
  Index pixelStride = kernel.src.strides[kernel.src.strides.size() - 2];
  Index pixel = border ? border->nearest[i] : Index(i);
  Value bytes = vector::LoadOp::create(
      b.b, b.loc, type, kernel.src.data,
      b.get(b.add(rows[row], b.mul(pixelStride, pixel))));
  if (!border)
    return bytes;
  Value within = vector::ExtractOp::create(b.b, b.loc, border->within[i],
                                           ArrayRef<int64_t>{0});
  return arith::SelectOp::create(b.b, b.loc, within, bytes, zeroPoints);
}

void Int8Sums::addGroup(ArrayRef<std::pair<int64_t, int64_t>> group,
                        function_ref<std::optional<int64_t>(int64_t)> groupOf) {
  SmallVector<std::pair<int64_t, int64_t>> met;
  for (int64_t r = 0; r < pixels.size; ++r)
    if (std::optional<int64_t> number = groupOf(r))
      met.push_back({r, *number});
  if (met.empty())
    return;
  SmallVector<Value> bytes;
  for (auto [row, i] : group)
    bytes.push_back(loadBytes(row, i));
  if (llvm::none_of(bytes, [](Value row) { return row; }))
    return;
  bytes.resize(words.groupTaps());
  bool isGroupsOfFour = kernel.isGroupsOfFour();
  SmallVector<Value> unpacked = isGroupsOfFour
                                    ? unpackGroupsOfFour(b, block, bytes)
                                    : unpackPairs(b, block, bytes[0], bytes[1]);
  for (int64_t v = 0; v < block.vectors; ++v)
    for (auto [r, number] : met) {
      Value weights = weightOf(number, v);
      if (!isGroupsOfFour)
        weights = asInt16(b, weights);
      Value &sum = sumsOf(r)[v];
      sum = isGroupsOfFour
                ? multiplyAddGroupsOfFour(b, unpacked[v], weights, sum)
                : addInt16(b, unpacked[v], weights, sum);
    }
}

Accumulators
Int8Sums::run(int64_t first, int64_t end, const Accumulators &carried,
              function_ref<void(int64_t, const Accumulators &)> take) {
  int64_t above = words.groupsAbove(), along = words.groupsAlong();
  int64_t taps = words.groupTaps(), rowsAbove = words.rowsAbove();
  for (size_t i = 0; i < carried.size(); i += block.vectors)
    sums[first + int64_t(i) / block.vectors] =
        Accumulators(ArrayRef(carried).slice(i, block.vectors));
  int64_t begin =
      first == 0 && carried.empty() ? 0 : (first - 1) * stride + reach + 1;
  for (int64_t i = begin; i <= (end - 1) * stride + reach; ++i) {
    // Returns the tap of pixel r that meets this column.
    auto tapOf = [&](int64_t r) -> std::optional<int64_t> {
      int64_t distance = i - r * stride;
      if (distance < 0 || distance > reach || distance % dilation != 0)
        return std::nullopt;
      return distance / dilation;
    };
    SmallVector<std::pair<int64_t, int64_t>> group;
    for (int64_t row = 0; row < rowsAbove; row += taps) {
      group.clear();
      for (int64_t k = row; k < std::min(row + taps, rowsAbove); ++k)
        group.push_back({k, i});
      addGroup(group, [&](int64_t r) -> std::optional<int64_t> {
        std::optional<int64_t> tap = tapOf(r);
        if (!tap)
          return std::nullopt;
        return row / taps * numTaps + *tap;
      });
    }
    if (along != 0) {
      group.clear();
      for (int64_t k = 0; k < taps; ++k)
        group.push_back({rowsAbove, i + k * dilation});
      addGroup(group, [&](int64_t r) -> std::optional<int64_t> {
        std::optional<int64_t> tap = tapOf(r);
        if (!tap || *tap % taps != 0)
          return std::nullopt;
        return above + *tap / taps;
      });
    }
    if (i < reach || (i - reach) % stride != 0)
      continue;
    int64_t r = (i - reach) / stride;
    Accumulators floats;
    for (Value sum : sumsOf(r))
      floats.push_back(arith::SIToFPOp::create(
          b.b, b.loc, VectorType::get({block.lanes}, b.b.getF32Type()), sum));
    take(r, floats);
  }
  Accumulators rest;
  for (int64_t r = end; r < std::min(end + words.carriedPixels(), pixels.size);
       ++r)
    llvm::append_range(rest, sumsOf(r));
  return rest;
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

void DepthwiseInt8::forEachBlock(
    const Tile &tile, Index channel,
    function_ref<void(const ByteBlock &, Index, Index, const BlockStore &)>
        emit) {
  int64_t lanes = tile.lanes;
  if (tile.columns() == kernel.columns()) {
    // Emits no whole tile if there are fewer channels than a tile has.
    if (kernel.blocks)
      emit({lanes, tile.vectors}, channel, b.sub(channel, firstWords),
           *kernel.blocks);
    return;
  }
  for (const LastBlock &last : lastBlocks)
    emit({lanes, last.vectors}, last.channel, last.place, last.store);
}

/// Returns a tile of f32 for the channels behind all blocks.
static Tile floatTile(const Tile &tile, int64_t channels) {
  Tile part = tile;
  part.product = Product::f32;
  part.vectors = 1;
  part.lastLanes = channels;
  return part;
}

/// Computes a row whose pixels take few products. A loop over pixels carries
/// the sums of incomplete ones, so that each column is unpacked only once. Only
/// the ends of a row, where some columns are missing, are unrolled.
void DepthwiseInt8::emitCarrying(const BlockOfRow &part) {
  int64_t inner = window.inner();
  int64_t stride = window.strides[inner], pad = window.pads[inner];
  int64_t dilation = window.dilations[inner];
  int64_t reach = (window.kernel[inner] - 1) * dilation;
  int64_t width = window.dstSizes[inner].constant;
  int64_t carried = carriedPixels();
  // The distance from the first tap along the row of a group to the last pixel
  // that the group may read.
  int64_t behind = dilation * (groupsAlong() != 0 ? groupTaps() - 1 : 1);
  // The first pixel of the loop. From this pixel on, every column that the
  // previous pixel has not used exists.
  int64_t first = std::max<int64_t>(
      1, 1 + llvm::divideCeil(std::max<int64_t>(pad - reach - 1, 0), stride));
  int64_t end = std::min(
      width - carried,
      llvm::divideFloorSigned(
          window.srcSizes[inner].constant - 1 - reach - behind + pad, stride) +
          1);
  // Handles several pixels in a step of the loop, so that fewer sums move
  // between registers.
  const int64_t &kAtOnce = cpu::threshold::depthwiseInt16Steps;
  int64_t steps = std::max<int64_t>(end - first, 0) / kAtOnce;
  if (steps < 2)
    steps = 0, first = 0;
  int64_t endLoop = first + steps * kAtOnce;
  PixelTile pixels = window.splitRow(width)[0];
  PixelTile whole = window.wholeTile(kAtOnce + carried);
  auto storeFrom = [&](Index firstPixel) {
    return [&, firstPixel](int64_t r, const Accumulators &sums) {
      SmallVector<Index> coordinates(part.row);
      coordinates.append({b.add(firstPixel, r), part.channel});
      part.store.store(b, sums, coordinates);
    };
  };
  Int8Sums ends(*this, part.block, {pixels, 0, part.channel, part.row},
                part.place);
  Accumulators sums;
  if (steps != 0) {
    sums = ends.run(0, first, {}, storeFrom(0));
    sums =
        forEach(b, 0, steps, sums, [&](Value step, const Accumulators &sums) {
          Index pixel = b.add(b.mul(Index(step), kAtOnce), first);
          Int8Sums words(*this, part.block,
                         {whole, pixel, part.channel, part.row}, part.place);
          return words.run(0, kAtOnce, sums, storeFrom(pixel));
        });
  }
  (void)ends.run(endLoop, width, sums, storeFrom(0));
}

void DepthwiseInt8::emitRow(ArrayRef<Index> row, Index firstTile,
                            Index endTile) {
  int64_t channels = output.dst.shape.back();
  Tile full = fullTile(plan.target, plan.tile);
  Tile last = lastTile(plan.target, plan.tile, channels);
  forEachColumnTile(
      b, {firstTile, endTile, plan.tiles}, full, last,
      [&](Value channelTile, const Tile &tile) {
        forEachBlock(tile, b.mul(Index(channelTile), kernel.columns()),
                     [&](const ByteBlock &block, Index channel, Index place,
                         const BlockStore &store) {
                       BlockOfRow part{block, row, channel, place, store};
                       columns ? columns->emitRow(part) : emitCarrying(part);
                     });
        if (tile.columns() == kernel.columns() || endBlocks == channels)
          return;
        window.forEachTile(
            b, plan.tile.rows,
            [&](const PixelTile &pixels, Index firstPixel, Index) {
              floats.emitTile(
                  floatTile(tile, channels - endBlocks).withRows(pixels.size),
                  {pixels, firstPixel, endBlocks, row});
            });
      });
}

void DepthwiseInt8::emitTile(const Tile &tile, const TilePosition &where) {
  Tile part = tile;
  // Stores sums as f32.
  part.product = Product::f32;
  part.lastLanes = tile.lanes;
  forEachBlock(
      tile, where.channel,
      [&](const ByteBlock &block, Index channel, Index place,
          const BlockStore &store) {
        Int8Sums words(*this, block, where.withChannel(channel), place);
        part.vectors = block.vectors;
        Accumulators all;
        (void)words.run(0, where.pixels.size, {},
                        [&](int64_t, const Accumulators &sums) {
                          llvm::append_range(all, sums);
                        });
        kernel.storeWaiting(store, part, all, where.withChannel(channel));
      });
  int64_t channels = output.dst.shape.back();
  if (tile.columns() != kernel.columns() && endBlocks != channels)
    floats.emitTile(floatTile(tile, channels - endBlocks),
                    where.withChannel(endBlocks));
}
