//===- DepthwiseColumns.cpp - depthwise int8 by columns -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Depthwise convolution of int8 for rows of known size:
//
//     for block of channels, output row, part of the row
//       for column of pixels under the part
//         for group of rows: their pixels, unpacked, on the stack
//       for pixels of the part
//         for group of rows, tap along the row
//           sums[pixel] += columns[pixel, tap, group] * weights[tap, group]
//         epilogue, store
//
// Each column is unpacked once for a part. Columns in the padding are filled
// with zero points, so that one loop computes all pixels of a row. The code of
// a kernel is therefore short, and kernels of other sizes share it. A last,
// single row of taps forms groups along the row instead: its column holds the
// pixel and the next ones.
//
// If few weights are needed, they stay in registers, and pixels follow one
// another. Otherwise several pixels share each load of weights, and loops over
// groups and taps replace many steps.
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/kernels/depthwise/DepthwiseColumns.h"
#include "passes/cpu/kernels/depthwise/DepthwiseInt8.h"
#include "passes/cpu/policy/Scratch.h"
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

DepthwiseColumns::DepthwiseColumns(DepthwiseKernel &kernel,
                                   const DepthwiseInt8 &words)
    : DepthwiseEmitterBase(kernel), words(words), stride(window.strides.back()),
      dilation(window.dilations.back()),
      width(window.dstSizes.back().constant) {
  const int64_t registers = plan.target.numRegisters;
  groups = llvm::divideCeil(words.rowsAbove(), words.groupTaps()) +
           (words.groupsAlong() != 0);
  columnWords = groups * kernel.columns();
  int64_t steps = words.groupsAbove() + words.groupsAlong();
  keepsWeights = steps * plan.tile.vectors <= registers / 2;
  atOnce = keepsWeights      ? 1
           : registers == 32 ? cpu::threshold::depthwisePixelsAtOnceOfWide
                             : cpu::threshold::depthwisePixelsAtOnce;
  atOnce = std::min({atOnce, width, plan.tile.rows});
  // Columns stay in registers, too, if windows are small. A pixel whose new
  // columns are not all in src has code of its own.
  int64_t inner = window.inner(), pad = window.pads[inner];
  int64_t taps = window.kernel[inner];
  shared = std::max<int64_t>(taps - stride, 0);
  firstWithin = llvm::divideCeil(std::max<int64_t>(pad - shared, 0), stride);
  endWithin = llvm::divideFloorSigned(
                  window.srcSizes[inner].constant + pad - taps, stride) +
              1;
  firstWithin = std::min(firstWithin, width);
  endWithin = std::clamp(endWithin, firstWithin, width);
  int64_t ofColumn = groups * plan.tile.vectors;
  slides = keepsWeights && words.groupsAlong() == 0 && dilation == 1 &&
           steps * plan.tile.vectors + (taps + 1) * ofColumn <= registers &&
           firstWithin + width - endWithin <= 2;
  // Fits the columns of a part into a share of the first-level cache.
  int64_t bytes = fitStack(cpu::threshold::depthwiseColumnBytes(plan.target));
  int64_t most = bytes / (columnWords * 4) - window.span(1);
  most = std::max(most / stride + 1, atOnce);
  parts = llvm::divideCeil(width, most);
  pixels = std::min<int64_t>(
      width, llvm::alignTo(llvm::divideCeil(width, parts), atOnce));
  parts = llvm::divideCeil(width, pixels);
  span = window.span(pixels);
}

//===----------------------------------------------------------------------===//
// Columns
//===----------------------------------------------------------------------===//

DepthwiseColumns::Columns DepthwiseColumns::columnsOf(Index firstPixel) {
  int64_t inner = window.inner();
  Index origin = b.add(b.mul(firstPixel, stride), -window.pads[inner]);
  Index begin = b.min(b.max(b.mul(origin, -1), 0), span);
  Index end = b.min(b.sub(window.srcSizes[inner], origin), span);
  return {begin, b.max(end, begin)};
}

/// Returns a vector of zero points as they lie in a column.
Value DepthwiseColumns::splatZeroPoint(int64_t lanes) {
  uint32_t all = kernel.isGroupsOfFour() ? 0x01010101u : 0x00010001u;
  return splatInt(b, integersOf(b, lanes),
                  int32_t(uint32_t(op.getSrcZeroPoint()) * all));
}

/// Writes zero points into all columns outside of `within`.
void DepthwiseColumns::fill(const Columns &within) {
  int64_t lanes = plan.target.lanes;
  Value zeroPoints = splatZeroPoint(lanes);
  auto fillFrom = [&](Index begin, Index end) {
    forEach(b, b.mul(begin, columnWords), b.mul(end, columnWords), lanes,
            [&](Value at) {
              vector::StoreOp::create(b.b, b.loc, zeroPoints, columns, at);
            });
  };
  fillFrom(0, within.begin);
  fillFrom(within.end, span);
}

void DepthwiseColumns::prepare() {
  if (slides)
    return;
  if (!columns)
    columns = createScratch(b, span * columnWords, b.b.getI32Type());
  if (parts == 1)
    fill(columnsOf(0));
}

/// Unpacks the bytes of a group of rows to vectors of i32.
SmallVector<Value> DepthwiseColumns::unpackBytes(const BlockOfRow &part,
                                                 ArrayRef<Value> bytes) {
  SmallVector<Value> rows(bytes);
  rows.resize(words.groupTaps());
  SmallVector<Value> unpacked =
      kernel.isGroupsOfFour() ? unpackGroupsOfFour(b, part.block, rows)
                              : unpackPairs(b, part.block, rows[0], rows[1]);
  for (Value &vector : unpacked)
    vector = vector::BitCastOp::create(b.b, b.loc,
                                       integersOf(b, part.block.lanes), vector);
  return unpacked;
}

SmallVector<Value> DepthwiseColumns::unpackColumn(const BlockOfRow &part,
                                                  Index at) {
  int64_t rowsAbove = words.rowsAbove(), taps = words.groupTaps();
  auto type = VectorType::get({part.block.channels()}, b.b.getI8Type());
  SmallVector<Value> column;
  for (int64_t row = 0; row < rowsAbove; row += taps) {
    SmallVector<Value> bytes;
    for (int64_t k = row; k < std::min(row + taps, rowsAbove); ++k)
      bytes.push_back(
          vector::LoadOp::create(b.b, b.loc, type, src.data,
                                 b.get(b.add(kernel.sources.starts[k], at))));
    llvm::append_range(column, unpackBytes(part, bytes));
  }
  return column;
}

/// Stores a column's vectors, from group `group` on.
void DepthwiseColumns::storeColumn(const BlockOfRow &part,
                                   ArrayRef<Value> vectors, Index column,
                                   int64_t group) {
  int64_t ofGroup = part.block.vectors, lanes = part.block.lanes;
  Index at = b.mul(column, columnWords);
  for (auto [i, vector] : llvm::enumerate(vectors))
    vector::StoreOp::create(
        b.b, b.loc, vector, columns,
        b.get(b.add(at, (group + int64_t(i) / ofGroup) * kernel.columns() +
                            int64_t(i) % ofGroup * lanes)));
}

void DepthwiseColumns::unpack(const BlockOfRow &part, Index firstPixel) {
  Columns within = columnsOf(firstPixel);
  if (parts != 1)
    fill(within);
  Index pixelStride = src.strides[src.strides.size() - 2];
  Index origin = b.add(b.mul(firstPixel, stride), -window.pads[window.inner()]);
  Index at = b.add(b.mul(origin, pixelStride), part.channel);
  forEach(b, within.begin, within.end, 1, [&](Value column) {
    storeColumn(
        part, unpackColumn(part, b.add(at, b.mul(Index(column), pixelStride))),
        Index(column), 0);
  });
  if (words.groupsAlong() != 0)
    unpackAlong(part, firstPixel);
}

/// Unpacks the last row of taps. A column has pixels of later columns, too,
/// which src may lack near the ends of the row.
void DepthwiseColumns::unpackAlong(const BlockOfRow &part, Index firstPixel) {
  int64_t inner = window.inner();
  Index pixelStride = src.strides[src.strides.size() - 2];
  Index origin = b.add(b.mul(firstPixel, stride), -window.pads[inner]);
  Index row = b.add(kernel.sources.starts.back(), part.channel);
  auto type = VectorType::get({part.block.channels()}, b.b.getI8Type());
  Value zeroPoints = splatInt(b, type, int8_t(uint8_t(op.getSrcZeroPoint())));
  auto load = [&](Index pixel) -> Value {
    return vector::LoadOp::create(b.b, b.loc, type, src.data,
                                  b.get(b.add(row, b.mul(pixel, pixelStride))));
  };
  auto unpackFrom = [&](Index begin, Index end, bool areWithin) {
    forEach(b, begin, end, 1, [&](Value column) {
      SmallVector<Value> bytes;
      for (int64_t k = 0; k < words.groupTaps(); ++k) {
        Index pixel = b.add(b.add(origin, Index(column)), k * dilation);
        if (areWithin) {
          bytes.push_back(load(pixel));
          continue;
        }
        Index nearest =
            b.max(b.min(pixel, b.add(window.srcSizes[inner], -1)), 0);
        bytes.push_back(arith::SelectOp::create(
            b.b, b.loc, window.hasPixel(b, inner, pixel), load(nearest),
            zeroPoints));
      }
      storeColumn(part, unpackBytes(part, bytes), Index(column), groups - 1);
    });
  };
  Columns within = columnsOf(firstPixel);
  Index end = b.max(b.add(within.end, -(words.groupTaps() - 1) * dilation),
                    within.begin);
  unpackFrom(0, within.begin, /*areWithin=*/false);
  unpackFrom(within.begin, end, /*areWithin=*/true);
  unpackFrom(end, span, /*areWithin=*/false);
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

DepthwiseColumns::Step DepthwiseColumns::stepAbove(Index group, Index tap) {
  return {b.add(b.mul(group, window.kernel.back()), tap),
          b.add(b.mul(tap, dilation * columnWords),
                b.mul(group, kernel.columns()))};
}

DepthwiseColumns::Step DepthwiseColumns::stepAlong(Index group) {
  return {b.add(group, words.groupsAbove()),
          b.add(b.mul(group, words.groupTaps() * dilation * columnWords),
                (groups - 1) * kernel.columns())};
}

/// Loads a prepared vector of the weights for vector `v` of the block.
Value DepthwiseColumns::loadPrepared(const BlockOfRow &part, Index vector,
                                     int64_t v) {
  int64_t lanes = part.block.lanes, prepared = words.preparedVectors();
  Index at = b.add(b.add(b.mul(part.place, prepared), words.weightsOfRow),
                   b.add(b.mul(vector, lanes), v * prepared * lanes));
  return vector::LoadOp::create(b.b, b.loc, integersOf(b, lanes),
                                words.int16Weights, b.get(at));
}

/// Loads the weights of all steps, and what sums start with.
SmallVector<Value> DepthwiseColumns::keepWeights(const BlockOfRow &part) {
  SmallVector<Value> all;
  for (int64_t i = 0; i < words.preparedVectors(); ++i)
    for (int64_t v = 0; v < part.block.vectors; ++v)
      all.push_back(loadPrepared(part, i, v));
  return all;
}

Value DepthwiseColumns::multiplyAdd(Value column, Value factors, Value sum) {
  return kernel.isGroupsOfFour()
             ? multiplyAddGroupsOfFour(b, column, factors, sum)
             : addInt16(b, asInt16(b, column), asInt16(b, factors), sum);
}

/// Returns what the sums of vector `v` start with.
Value DepthwiseColumns::startOf(const BlockOfRow &part, int64_t v) {
  int64_t last = words.preparedVectors() - 1;
  if (op.getSrcZeroPoint() == 0)
    return splatInt(b, integersOf(b, part.block.lanes), 0);
  return kept.empty() ? loadPrepared(part, last, v)
                      : kept[last * part.block.vectors + v];
}

/// Adds the products of a step for all pixels at once. Their first column is at
/// `column`.
Accumulators DepthwiseColumns::add(const BlockOfRow &part, const Step &step,
                                   Index column, const Accumulators &sums) {
  int64_t lanes = part.block.lanes, vectors = part.block.vectors;
  Index at = b.add(column, step.column);
  Accumulators next(sums);
  for (int64_t v = 0; v < vectors; ++v) {
    Value factors = kept.empty() ? loadPrepared(part, step.weights, v)
                                 : kept[step.weights.constant * vectors + v];
    for (int64_t r = 0; r < atOnce; ++r) {
      Value bytes = vector::LoadOp::create(
          b.b, b.loc, integersOf(b, lanes), columns,
          b.get(b.add(at, r * stride * columnWords + v * lanes)));
      Value &sum = next[r * vectors + v];
      sum = multiplyAdd(bytes, factors, sum);
    }
  }
  return next;
}

/// Returns the sums of pixels, as i32.
Accumulators DepthwiseColumns::sum(const BlockOfRow &part, Index column) {
  int64_t vectors = part.block.vectors, taps = window.kernel.back();
  int64_t above = words.groupsAbove(), along = words.groupsAlong();
  Accumulators sums;
  for (int64_t r = 0; r < atOnce; ++r)
    for (int64_t v = 0; v < vectors; ++v)
      sums.push_back(startOf(part, v));
  if (above + along <= cpu::threshold::depthwiseUnrolledSteps) {
    for (int64_t i = 0; i < above; ++i)
      sums = add(part, stepAbove(i / taps, i % taps), column, sums);
    for (int64_t i = 0; i < along; ++i)
      sums = add(part, stepAlong(i), column, sums);
    return sums;
  }
  sums = forEach(
      b, 0, above / taps, sums, [&](Value group, const Accumulators &sums) {
        return forEach(b, 0, taps, sums,
                       [&](Value tap, const Accumulators &sums) {
                         return add(part, stepAbove(Index(group), Index(tap)),
                                    column, sums);
                       });
      });
  if (along == 0)
    return sums;
  return forEach(b, 0, along, sums, [&](Value i, const Accumulators &sums) {
    return add(part, stepAlong(Index(i)), column, sums);
  });
}

/// Stores the sums of pixels from `firstPixel` on, except those of the first
/// `done` pixels.
void DepthwiseColumns::storePixels(const BlockOfRow &part, Index firstPixel,
                                   Index done, const Accumulators &sums) {
  int64_t vectors = part.block.vectors;
  Accumulators floats;
  for (Value sum : sums)
    floats.push_back(arith::SIToFPOp::create(
        b.b, b.loc, VectorType::get({part.block.lanes}, b.b.getF32Type()),
        sum));
  Tile tile{atOnce, vectors, part.block.lanes, part.block.lanes,
            plan.target.hasFMA};
  PixelTile all = window.wholeTile(atOnce);
  TilePosition where{all, firstPixel, part.channel, part.row};
  if (atOnce != 1)
    return kernel.storeWaiting(part.store, tile.withDone(done), floats, where);
  part.store.store(b, floats, where.coordinates(b, 0));
}

/// Computes the pixels of a part from `done` on.
void DepthwiseColumns::emitPixels(const BlockOfRow &part, Index firstPixel,
                                  Index done) {
  const bool isWhole = pixels % atOnce == 0;
  forEach(b, b.div(done, atOnce), llvm::divideCeil(pixels, atOnce), 1,
          [&](Value number) {
            Index wanted = b.mul(Index(number), atOnce), first = wanted;
            if (!isWhole)
              first = b.min(wanted, pixels - atOnce);
            Index before = b.max(b.sub(b.max(done, wanted), first), 0);
            if (isWhole && parts * pixels == width)
              before = 0;
            storePixels(part, b.add(firstPixel, first), before,
                        sum(part, b.mul(first, stride * columnWords)));
          });
}

void DepthwiseColumns::emitRow(const BlockOfRow &part) {
  kept.clear();
  if (keepsWeights)
    kept = keepWeights(part);
  if (slides)
    return emitSliding(part);
  forEach(b, 0, parts, 1, [&](Value number) {
    Index wanted = parts == 1 ? Index(0) : b.mul(Index(number), pixels);
    Index first = wanted;
    if (parts * pixels != width)
      first = b.min(wanted, width - pixels);
    unpack(part, first);
    emitPixels(part, first, b.sub(wanted, first));
  });
}

//===----------------------------------------------------------------------===//
// Columns in registers
//===----------------------------------------------------------------------===//

void DepthwiseColumns::emitPixel(const BlockOfRow &part, Index pixel,
                                 ArrayRef<Value> window) {
  int64_t vectors = part.block.vectors, taps = this->window.kernel.back();
  int64_t ofColumn = groups * vectors;
  Accumulators sums;
  for (int64_t v = 0; v < vectors; ++v)
    sums.push_back(startOf(part, v));
  for (int64_t group = 0; group < groups; ++group)
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t v = 0; v < vectors; ++v)
        sums[v] =
            multiplyAdd(window[tap * ofColumn + group * vectors + v],
                        kept[(group * taps + tap) * vectors + v], sums[v]);
  storePixels(part, pixel, 0, sums);
}

void DepthwiseColumns::emitSliding(const BlockOfRow &part) {
  int64_t inner = window.inner(), taps = window.kernel.back();
  int64_t vectors = part.block.vectors, ofColumn = groups * vectors;
  int64_t pad = window.pads[inner], size = window.srcSizes[inner].constant;
  Index pixelStride = src.strides[src.strides.size() - 2];
  auto columnAt = [&](Index column) {
    Index pixel = b.add(column, -pad);
    if (!pixel.value && (pixel.constant < 0 || pixel.constant >= size))
      return SmallVector<Value>(ofColumn, splatZeroPoint(part.block.lanes));
    return unpackColumn(part, b.add(b.mul(pixel, pixelStride), part.channel));
  };
  // Returns the columns that the next pixel shares.
  auto emit = [&](Index pixel, const Accumulators &before) {
    Accumulators all(before);
    for (int64_t i = shared; i < taps; ++i)
      llvm::append_range(all, columnAt(b.add(b.mul(pixel, stride), i)));
    emitPixel(part, pixel, all);
    return Accumulators(ArrayRef(all).take_back(shared * ofColumn));
  };
  Accumulators columns;
  for (int64_t i = 0; i < shared; ++i)
    llvm::append_range(columns, columnAt(i));
  for (int64_t pixel = 0; pixel < firstWithin; ++pixel)
    columns = emit(pixel, columns);
  columns = forEach(b, firstWithin, endWithin, columns,
                    [&](Value pixel, const Accumulators &columns) {
                      return emit(Index(pixel), columns);
                    });
  for (int64_t pixel = endWithin; pixel < width; ++pixel)
    columns = emit(pixel, columns);
}
