//===- DepthwiseOpenRows.cpp - depthwise rows of open size ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depthwise convolution with rows of open size. A row is cut into tiles of two
// sizes, so that six or seven tiles of code handle rows of any size:
//
//     begin | full | full | … | part | part | end
//
// The first and the last pixels form parts (begin, end). The compiler knows
// which of their taps are in the padding. The end has a variant for each pixel
// between two windows. The pixels in the middle have all their taps within src:
// full tiles come first, then parts. The last part computes some pixels again.
// If a row is too short for this, or ends in another way, parts check each
// pixel at run time.
//
// `RowTiling` does not cut these rows. Its tiles differ in height only, so that
// one body serves all tiles of a height. Here begin and end also have their own
// code for the padding. The choice of the end depends on a number that only a
// run knows. A part in the middle may also compute more pixels than needed, up
// to the last pixel whose taps are all within src.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/depthwise/DepthwiseEmitter.h"
#include "passes/cpu/policy/Thresholds.h"

#include "llvm/Support/MathExtras.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

#include <functional>

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

namespace {

class OpenRow {
public:
  /// Takes two functions that build code. `emit` builds a tile with known taps;
  /// the results of its first `done` pixels exist already. `emitUnknown` builds
  /// `count` pixels of a part with unknown taps.
  OpenRow(
      DepthwiseKernel &kernel,
      function_ref<void(const PixelTile &tile, Index first, Index done)> emit,
      function_ref<void(const PixelTile &tile, Index first, Index count)>
          emitUnknown);

  void emitTiles();

private:
  void emitBegin();
  void findEnd();
  void emitBetween();
  void emitEnd();
  void emitOthers();

  Value isAtLeast(Index x, Index y) {
    return b.compare(arith::CmpIPredicate::sge, x, y);
  }

  IndexBuilder &b;
  const WindowTiling &window;
  function_ref<void(const PixelTile &, Index, Index)> emit, emitUnknown;
  int64_t full, part, stride, pad;
  Index width, srcWidth;
  /// The pixels [firstWhole, endWhole), which have all taps within src.
  int64_t firstWhole;
  Index endWhole;
  /// The first pixel that no tile covers yet. Pixels before `unknownBefore` and
  /// from `unknownFrom` on are left to parts that check each pixel.
  Index unknownBefore, unknownFrom, seen;
  /// The first pixel of the part at the end, and the number of padding pixels
  /// under the row's last window. `isKnown` is true at run time if there is
  /// code for this end. There is code if `beyond` is between `leastBeyond` and
  /// `mostBeyond`, and two conditions hold. The part starts behind the padding
  /// before src, and no earlier pixel reaches the padding behind src. `isKnown`
  /// is null if no row can have such code.
  Index endAt, beyond;
  int64_t leastBeyond, mostBeyond;
  Value isKnown;
};

} // namespace

OpenRow::OpenRow(
    DepthwiseKernel &kernel,
    function_ref<void(const PixelTile &, Index, Index)> emit,
    function_ref<void(const PixelTile &, Index, Index)> emitUnknown)
    : b(kernel.b), window(kernel.window), emit(emit), emitUnknown(emitUnknown) {
  int64_t inner = window.inner();
  full = kernel.plan.tile.rows;
  part = std::min(cpu::threshold::depthwisePartPixels, (full + 1) / 2);
  stride = window.strides[inner], pad = window.pads[inner];
  width = window.dstSizes[inner], srcWidth = window.srcSizes[inner];
  firstWhole = llvm::divideCeil(std::max<int64_t>(pad, 0), stride);
  Index room = b.add(srcWidth, pad - window.span(1) + stride);
  endWhole = b.min(b.div(b.max(room, 0), stride), width);
}

void OpenRow::emitTiles() {
  emitBegin();
  findEnd();
  emitBetween();
  emitEnd();
  emitOthers();
}

void OpenRow::emitBegin() {
  unknownBefore = seen = b.min(llvm::alignTo(firstWhole, part), width);
  if (firstWhole == 0 || firstWhole > part)
    return;
  Value isWide = isAtLeast(endWhole, part);
  b.branch(isWide, [&] { emit(window.firstTile(part), 0, 0); });
  seen = b.select(isWide, part, seen);
  unknownBefore = b.select(isWide, 0, unknownBefore);
}

void OpenRow::findEnd() {
  int64_t inner = window.inner();
  mostBeyond = window.crossesHigh(inner)
                   ? window.pads[window.kernel.size() + inner]
                   : 0;
  leastBeyond =
      std::max<int64_t>(
          mostBeyond - std::min(stride, cpu::threshold::depthwiseEnds), 0) +
      1;
  if (mostBeyond == 0)
    return;
  endAt = b.add(width, -part);
  beyond = b.sub(b.add(b.mul(width, stride), window.span(1) - stride - pad),
                 srcWidth);
  isKnown = b.both(b.both(isAtLeast(beyond, leastBeyond),
                          isAtLeast(mostBeyond, beyond)),
                   b.both(isAtLeast(endAt, firstWhole),
                          isAtLeast(endWhole, endAt)));
}

void OpenRow::emitBetween() {
  Index end = isKnown ? b.select(isKnown, endAt, endWhole) : endWhole;
  Index left = b.max(b.sub(end, seen), 0), begin = seen;
  Index tiles = b.div(left, full);
  forEach(b, 0, tiles, 1, [&](Value number) {
    emit(window.wholeTile(full), b.add(b.mul(Index(number), full), begin), 0);
  });
  seen = b.add(b.mul(tiles, full), begin);
  Index lastPart = b.add(endWhole, -part), partsFrom = seen;
  Index parts = b.select(isAtLeast(lastPart, firstWhole),
                         b.divideCeil(b.max(b.sub(end, seen), 0), part), 0);
  forEach(b, 0, parts, 1, [&](Value number) {
    Index wanted = b.add(partsFrom, b.mul(Index(number), part));
    Index first = b.min(wanted, lastPart);
    emit(window.wholeTile(part), first, b.sub(wanted, first));
  });
  seen = b.min(b.add(seen, b.mul(parts, part)), b.max(endWhole, seen));
}

void OpenRow::emitEnd() {
  unknownFrom = seen;
  if (!isKnown)
    return;
  Value isNext = b.both(isKnown, isAtLeast(seen, endAt));
  unknownFrom = b.select(isNext, width, seen);
  std::function<void(int64_t)> emitThis = [&](int64_t pads) {
    auto emitPads = [&] {
      emit(window.lastTile(part, pads), endAt, b.sub(seen, endAt));
    };
    if (pads == leastBeyond)
      return emitPads();
    b.branch(b.compare(arith::CmpIPredicate::eq, beyond, pads), emitPads,
             [&] { emitThis(pads - 1); });
  };
  b.branch(isNext, [&] { emitThis(mostBeyond); });
}

/// Covers both ends in one loop, so that the code exists only once.
void OpenRow::emitOthers() {
  Index before = b.divideCeil(unknownBefore, part);
  Index behind = b.divideCeil(b.sub(width, unknownFrom), part);
  forEach(b, 0, b.add(before, behind), 1, [&](Value number) {
    Value isBefore =
        b.compare(arith::CmpIPredicate::slt, Index(number), before);
    Index end = b.select(isBefore, unknownBefore, width);
    Index from = b.select(isBefore, 0, b.sub(unknownFrom, b.mul(before, part)));
    Index first = b.add(from, b.mul(Index(number), part));
    emitUnknown(window.wholeTile(part), first, b.min(b.sub(end, first), part));
  });
}

void DepthwiseEmitter::emitOpenRow(ArrayRef<Index> row, Index firstTile,
                                   Index endTile) {
  bool mayStoreAgain = kernel.output.mayStoreAgain();
  auto emit = [&](const PixelTile &pixels, Index first, Index done) {
    emitColumns({pixels, first, 0, row}, mayStoreAgain ? Index(0) : done,
                firstTile, endTile);
  };
  auto emitUnknown = [&](const PixelTile &pixels, Index first, Index count) {
    BorderTile border = kernel.borderAt(pixels.size, first, count);
    emitColumns({pixels, first, 0, row, &border}, 0, firstTile, endTile);
  };
  OpenRow(kernel, emit, emitUnknown).emitTiles();
}
