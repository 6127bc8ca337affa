//===- ConvSigns.cpp - convolutions of signs ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Sums of products of signs. A sign is a bit in each of two planes, u and v,
// which differ only for zeros.
//
//     for pixel tile within the row
//       for taps that lie within src: are there zeros? how many taps are there?
//       accumulators = channels * taps
//       for taps that lie within src, for word of their channels:
//         accumulators -= 2 * bits that differ in u
//       if there are zeros: the same in v, and the mean of both
//       epilogue, store
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/conv/ConvEmitter.h"
#include "passes/cpu/products/SignProducts.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

Accumulators ConvEmitter::sumSigns(const Tile &tile, const PixelTile &pixels,
                                   const PixelsAt &pixelsAt,
                                   const ColumnAt &columnAt) {
  int64_t inner = window.inner(), signs = op.getFormat().getSignChannels();
  int64_t words = cpu::signWords(signs);
  bool mayBeZero = cpu::planesOf(signs, src.shape.back()) == 2;
  SmallVector<Index> srcAt = window.originOf(b, pixelsAt.row, pixelsAt.first);
  srcAt.push_back(0);
  SmallVector<Index> weightsAt = conv.weightsOf(columnAt);
  auto read = pixels.pixelsRead(window.strides[inner], window.dilations[inner]);

  Accumulators seen = window.sumOuter(
      b, srcAt, {noZeros(b), b.get(0)},
      [&](ArrayRef<Index> srcAt, ArrayRef<Index>, const Accumulators &before) {
        Index from = src.at(b, srcAt);
        Value zeros = before[0];
        if (mayBeZero)
          for (int64_t i = read.first; i < read.second; ++i)
            zeros = joinZeros(
                b, zeros, src.data,
                b.add(b.add(from, b.mul(pixelStride, i)), 2 * words));
        return Accumulators{zeros, b.get(b.add(Index(before[1]), 1))};
      });
  SmallVector<Index> all;
  for (const auto &taps : pixels.taps)
    all.push_back(
        b.mul(Index(seen[1]),
              signs * std::max<int64_t>(taps.second - taps.first, 0)));

  // True if all taps along the row form one contiguous run of pairs of words.
  bool isOneRun = pixels.isWhole() && window.dilations[inner] == 1 &&
                  words % 2 == 0 && !pixelStride.value &&
                  pixelStride.constant == words;
  int64_t run = isOneRun ? words * window.kernel[inner] : words;
  auto count = [&](int64_t plane, const Accumulators &start) {
    return window.sumOuter(
        b, srcAt, start,
        [&](ArrayRef<Index> srcAt, ArrayRef<Index> outerTaps,
            const Accumulators &before) {
          llvm::copy(outerTaps, weightsAt.begin() + 1);
          Index from = b.add(src.at(b, srcAt), plane * words);
          Index panelAt = weights.at(b, weightsAt);
          Accumulators counts = before;
          int64_t taps = isOneRun ? 1 : window.kernel[inner];
          for (int64_t tap = 0; tap < taps; ++tap) {
            Index first = b.add(
                from, b.mul(pixelStride, tap * window.dilations[inner]));
            SrcRows rows =
                conv.rowsOfTap(tile, pixels, tap, src.data, first,
                               b.mul(pixelStride, window.strides[inner]));
            counts = countSigns(b,
                                {tile, weights.data,
                                 b.add(panelAt, tap * words * plan.panel),
                                 plan.panel},
                                rows, run, counts);
          }
          return counts;
        });
  };
  return cpu::sumSigns(b, tile, mayBeZero ? seen[0] : Value(), all, count);
}
