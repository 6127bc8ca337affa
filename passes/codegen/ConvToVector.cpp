//===- ConvToVector.cpp - cpu-conv-to-vector ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// for block of rows, column tile: what it reads stays in the second-level cache
//   for output row (n, e1, …, e(n-1))
//     for pixel tile within the row (its pixels stay in the first-level cache)
//       for taps of the outer kernel dimensions that lie within src
//         for k over the taps of the row and their channels, contiguous in src:
//           accumulators += src[pixel, k] * weights[k, column]
//       epilogue, store
//
// Where rows are so short that a tile has few pixels, weights are needed faster
// than the second-level cache brings them. Then sums wait on the stack:
//
// for block of rows, column tile
//   for tap, block of its channels: these weights stay in the first-level cache
//     for output row, pixel tile
//       for k in the block: sums += src[pixel, k] * weights[k, column]
//   epilogue, store
//
// Taps in the padding are not computed: in the outer dimensions the bounds of the
// loops leave them out; within a row it is known which pixels of which tile have
// them, and such a tile has code of its own, tap by tap. With AMX such a tile is
// copied, zeros around it, and computed as a whole.
//
//===----------------------------------------------------------------------===//
#include "passes/Passes.h"
#include "passes/codegen/AmxTiles.h"
#include "passes/codegen/Kernels.h"
#include "passes/codegen/RowTiles.h"
#include "passes/lower/Shapes.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"

namespace ingot {
#define GEN_PASS_DEF_CONVTOVECTOR
#include "passes/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

namespace {

struct Emitter {
  Emitter(OpBuilder &builder, cpu::ConvOp op)
      : b{builder, op.getLoc()}, op(op), plan(op), src(b, op.getSrc()),
        weights(b, op.getWeights()), output(b, op),
        outer(src.shape.size() - 3),
        window(op.getStrides(), op.getPads(), op.getDilations(),
               plan.weights.outer.drop_front(), src.shape, output.dst.shape) {}

  void emit(Value task);
  void emitRow(const Tile &tile, Index group, Index columnTile, Index row,
               Index rowInTask);
  bool isBlocked(const Tile &tile) const;
  void emitBlocks(const Tile &tile, Index group, Index columnTile,
                  const TaskRange &range);
  void emitTile(const Tile &tile, const RowTile &pixels, Index firstPixel,
                Index group, Index columnTile, ArrayRef<Index> row, Index pass,
                int64_t passes);
  void store(const Tile &tile, const Accumulators &sums, Index group,
             Index columnTile, ArrayRef<Index> row, Index firstPixel);
  SmallVector<Index> weightsOf(Index group, Index columnTile);
  Accumulators sumRow(const Tile &tile, const RowTile &pixels,
                      ArrayRef<Index> srcAt, ArrayRef<Index> weightsAt,
                      const Accumulators &start, const Ahead &ahead);
  Accumulators sumWidened(const Tile &tile, const RowTile &pixels, Index from,
                          Index panelAt, const Accumulators &start);
  Accumulators sumAmx(const Tile &tile, const RowTile &pixels, Index from,
                      Index panelAt, const Accumulators &start);
  void copyPadded(const RowTile &pixels, Index from, int64_t pitch);
  Rows rowsOfTap(const Tile &tile, const RowTile &pixels, int64_t tap,
                 Value data, Index first, Index stride);
  bool isContiguous() const;
  Value roomFor(int64_t elements, Type type);

  IndexBuilder b;
  cpu::ConvOp op;
  ConvPlan plan;
  Flat src, weights;
  Output output;
  /// Spatial dimensions but the last.
  int64_t outer;
  Window window;
  /// Pixels, as they are multiplied, and how many elements there is room for.
  Value copied;
  int64_t room = 0;
  /// Sums between two blocks of weights.
  Value waiting;
};

struct ConvToVectorPass : ingot::impl::ConvToVectorBase<ConvToVectorPass> {
  void getDependentDialects(DialectRegistry &registry) const override {
    ConvToVectorBase::getDependentDialects(registry);
    registry.insert<amx::AMXDialect, LLVM::LLVMDialect,
                    x86vector::X86VectorDialect>();
  }

  void runOnOperation() override {
    if (failed(emitKernels<cpu::ConvOp, Emitter>(getOperation())))
      signalPassFailure();
  }
};

} // namespace

void Emitter::emit(Value task) {
  Index rows = countOf(b, op.getDst(), 0, outer + 1);
  TaskRange range = rangeOf(b, task, plan.grid, rows, plan.columnTiles());
  int64_t columns = output.dst.shape.back() / plan.groups;
  auto emitTiles = [&](Index begin, Index end, Index group) {
    forEachColumnTile(
        b, begin, end, plan.tilesPerGroup, fullTile(plan.unit, plan.tile),
        lastTile(plan.unit, plan.tile, columns),
        [&](Value columnTile, const Tile &tile) {
          if (isBlocked(tile))
            return emitBlocks(tile, group, Index(columnTile), range);
          forEach(b, range.firstRow, range.endRow, 1, [&](Value row) {
            emitRow(tile, group, Index(columnTile), Index(row),
                    b.add(Index(row), b.mul(range.firstRow, -1)));
          });
        });
  };
  if (plan.groups == 1)
    return emitTiles(range.firstTile, range.endTile, 0);
  // One column tile a task.
  Index group = b.div(range.firstTile, plan.tilesPerGroup);
  Index tile = b.rem(range.firstTile, plan.tilesPerGroup);
  emitTiles(tile, b.add(tile, 1), group);
}

void Emitter::emitRow(const Tile &tile, Index group, Index columnTile,
                      Index row, Index rowInTask) {
  SmallVector<Index> at = coordinatesOf(b, op.getDst(), outer + 1, row);
  SmallVector<RowTile> tiles = window.splitRow(tile.rows);
  int64_t tilesPerRow = 0;
  for (const RowTile &pixels : tiles)
    tilesPerRow += pixels.count;
  int64_t passes = plan.grid.rowsPerTask * tilesPerRow;
  Index pass = b.add(b.mul(b.rem(columnTile, plan.tilesPerPanel), passes),
                     b.mul(rowInTask, tilesPerRow));
  for (const RowTile &pixels : tiles) {
    forEach(b, 0, pixels.count, 1, [&](Value i) {
      Index first = b.add(b.mul(Index(i), pixels.size), pixels.first);
      emitTile(tile.withRows(pixels.size), pixels, first, group, columnTile,
               at, b.add(pass, Index(i)), passes * plan.tilesPerPanel);
    });
    pass = b.add(pass, pixels.count);
  }
}

void Emitter::emitTile(const Tile &tile, const RowTile &pixels,
                       Index firstPixel, Index group, Index columnTile,
                       ArrayRef<Index> row, Index pass, int64_t passes) {
  int64_t channels = src.shape.back() / plan.groups;
  SmallVector<Index> srcAt = window.originOf(b, row, firstPixel);
  srcAt.push_back(b.mul(group, channels));
  SmallVector<Index> weightsAt = weightsOf(group, columnTile);
  SmallVector<Index> nextAt = {b.add(weightsAt[0], 1)};
  nextAt.resize(weights.shape.size(), Index(0));
  int64_t panelElements =
      lower::productOf(plan.weights.outer.drop_front()) * plan.weights.depth *
      plan.panel;
  Ahead ahead = askAhead(b, weights.data, weights.at(b, nextAt),
                          panelElements, pass, plan.grid.asksAhead ? passes : 0);
  Accumulators sums = window.sumOuter(
      b, srcAt, zeroAccumulators(b, tile),
      [&](ArrayRef<Index> srcAt, ArrayRef<Index> taps,
          const Accumulators &sums) {
        llvm::copy(taps, weightsAt.begin() + 1);
        Index tapAt = 0;
        for (auto [tap, stride] :
             llvm::zip(taps, ArrayRef(weights.strides).drop_front()))
          tapAt = b.add(tapAt, b.mul(tap, stride));
        return sumRow(tile, pixels, srcAt, weightsAt, sums,
                      ahead.from(b, tapAt));
      });
  store(tile, sums, group, columnTile, row, firstPixel);
}

void Emitter::store(const Tile &tile, const Accumulators &sums, Index group,
                    Index columnTile, ArrayRef<Index> row, Index firstPixel) {
  Index column =
      b.add(b.mul(group, output.dst.shape.back() / plan.groups),
            b.mul(columnTile, plan.tile.vectors * plan.unit.lanes));
  storeTile(b, tile, output, sums,
            [&](IndexBuilder &b, Index inTile) {
              SmallVector<Index> coordinates(row);
              coordinates.append({b.add(firstPixel, inTile), column});
              return coordinates;
            });
}

/// Where the weights of a column tile start.
SmallVector<Index> Emitter::weightsOf(Index group, Index columnTile) {
  int64_t panels = weights.shape[0] / plan.groups;
  SmallVector<Index> at = {b.add(b.mul(group, panels),
                                 b.div(columnTile, plan.tilesPerPanel))};
  at.append(outer + 2, Index(0));
  at.push_back(b.mul(b.rem(columnTile, plan.tilesPerPanel),
                     plan.tile.vectors * plan.unit.lanes));
  // The first element of a group.
  at.resize(weights.shape.size(), Index(0));
  return at;
}

//===----------------------------------------------------------------------===//
// Blocks of weights
//===----------------------------------------------------------------------===//

/// Groups of channels whose weights are multiplied with all rows of a task, one
/// after the other: 16 KiB of a panel.
static constexpr int64_t kBlockGroups = 128;
/// More sums would not stay in the first-level cache beside them.
static constexpr int64_t kMostBlockedPixels = 98;

bool Emitter::isBlocked(const Tile &tile) const {
  int64_t pixels = output.dst.shape[outer + 1];
  int64_t tilesPerRow = llvm::divideCeil(pixels, tile.rows);
  int64_t rows = plan.grid.rowsPerTask;
  return tile.product != Product::bf16Wide && !usesTiles(tile.product) &&
         // A vector of weights serves fewer than 3/4 of the tile's rows.
         int64_t(4 * llvm::divideCeil(pixels, tilesPerRow)) <= 3 * tile.rows &&
         rows * tilesPerRow >= 3 && rows * pixels <= kMostBlockedPixels &&
         src.shape.back() / plan.groups >=
             kBlockGroups * groupOf(tile.product);
}

void Emitter::emitBlocks(const Tile &tile, Index group, Index columnTile,
                         const TaskRange &range) {
  int64_t inner = window.inner(), channels = src.shape.back() / plan.groups;
  int64_t stride = window.strides[inner], dilation = window.dilations[inner];
  int64_t pixelSize = tile.vectors * tile.lanes;
  int64_t rowSize = output.dst.shape[outer + 1] * pixelSize;
  int64_t block = kBlockGroups * groupOf(tile.product);
  Index pixelStride = src.strides[src.strides.size() - 2];
  SmallVector<RowTile> tiles = window.splitRow(tile.rows);
  if (!waiting)
    waiting = createScratch(
        b, op,
        plan.grid.rowsPerTask * output.dst.shape[outer + 1] *
            plan.tile.vectors * tile.lanes,
        sumType(b, tile));

  // What is done with each tile of each row.
  using Body = function_ref<void(const Tile &, const RowTile &, Index firstPixel,
                                 Index sumsAt)>;
  auto forEachTile = [&](Index rowInTask, Body body) {
    for (const RowTile &pixels : tiles)
      forEach(b, 0, pixels.count, 1, [&](Value i) {
        Index first = b.add(b.mul(Index(i), pixels.size), pixels.first);
        body(tile.withRows(pixels.size), pixels, first,
             b.add(b.mul(rowInTask, rowSize), b.mul(first, pixelSize)));
      });
  };
  Index numRows = b.add(range.endRow, b.mul(range.firstRow, -1));
  forEach(b, 0, numRows, 1, [&](Value row) {
    forEachTile(Index(row), [&](const Tile &part, const RowTile &, Index,
                                Index sumsAt) {
      spill(b, part, zeroAccumulators(b, part), waiting, sumsAt);
    });
  });

  SmallVector<Index> weightsAt = weightsOf(group, columnTile);
  // The products of `size` channels from `channel` on at one tap.
  auto addBlock = [&](ArrayRef<Index> taps, int64_t tap, Index channel,
                      int64_t size) {
    llvm::copy(taps, weightsAt.begin() + 1);
    weightsAt[1 + outer] = tap;
    Index from = b.add(weights.at(b, weightsAt), b.mul(channel, plan.panel));
    forEach(b, 0, numRows, 1, [&](Value rowInTask) {
      SmallVector<Index> row =
          coordinatesOf(b, op.getDst(), outer + 1,
                        b.add(range.firstRow, Index(rowInTask)));
      window.ifWithin(b, row, taps, [&](ArrayRef<Index> srcRow) {
        forEachTile(
            Index(rowInTask),
            [&](const Tile &part, const RowTile &pixels, Index firstPixel,
                Index sumsAt) {
              SmallVector<Index> at(srcRow);
              at.push_back(b.add(b.mul(firstPixel, stride),
                                 tap * dilation - window.pads[inner]));
              at.push_back(b.add(b.mul(group, channels), channel));
              Rows rows = rowsOfTap(part, pixels, tap, src.data,
                                    src.at(b, at), b.mul(pixelStride, stride));
              Ahead ahead = askAhead(b, weights.data,
                                     b.add(from, size * plan.panel),
                                     size * plan.panel, Index(rowInTask),
                                     plan.grid.rowsPerTask);
              Accumulators sums = multiplyAdd(
                  b, part, rows, weights.data, from, plan.panel, size,
                  reload(b, part, waiting, sumsAt), ahead);
              spill(b, part, sums, waiting, sumsAt);
            });
      });
    });
  };
  window.forEachOuterTap(b, [&](ArrayRef<Index> taps) {
    for (int64_t tap = 0; tap < window.kernel[inner]; ++tap) {
      forEach(b, 0, channels / block, 1, [&](Value i) {
        addBlock(taps, tap, b.mul(Index(i), block), block);
      });
      if (channels % block != 0)
        addBlock(taps, tap, channels / block * block, channels % block);
    }
  });

  forEach(b, 0, numRows, 1, [&](Value rowInTask) {
    SmallVector<Index> row =
        coordinatesOf(b, op.getDst(), outer + 1,
                      b.add(range.firstRow, Index(rowInTask)));
    forEachTile(Index(rowInTask),
                [&](const Tile &part, const RowTile &, Index firstPixel,
                    Index sumsAt) {
                  store(part, reload(b, part, waiting, sumsAt), group,
                        columnTile, row, firstPixel);
                });
  });
}

//===----------------------------------------------------------------------===//
// Sums of a row
//===----------------------------------------------------------------------===//

/// The taps along the row.
Accumulators Emitter::sumRow(const Tile &tile, const RowTile &pixels,
                             ArrayRef<Index> srcAt, ArrayRef<Index> weightsAt,
                             const Accumulators &start, const Ahead &ahead) {
  int64_t inner = window.inner();
  Index from = src.at(b, srcAt), panelAt = weights.at(b, weightsAt);
  if (tile.product == Product::bf16Wide)
    return sumWidened(tile, pixels, from, panelAt, start);
  if (usesTiles(tile.product))
    return sumAmx(tile, pixels, from, panelAt, start);
  int64_t channels = src.shape.back() / plan.groups;
  int64_t taps = window.kernel[inner], stride = window.strides[inner];
  Index pixelStride = src.strides[src.strides.size() - 2];
  auto rowsOf = [&](int64_t tap) {
    Index first = b.add(from, b.mul(pixelStride, tap * window.dilations[inner]));
    return rowsOfTap(tile, pixels, tap, src.data, first,
                     b.mul(pixelStride, stride));
  };
  if (pixels.isWhole() && taps == 1)
    return multiplyAddWhole(b, tile, rowsOf(0), weights.data, panelAt,
                            plan.panel, channels, start, op, ahead);
  if (pixels.isWhole() && isContiguous())
    return multiplyAdd(b, tile, rowsOf(0), weights.data, panelAt, plan.panel,
                       taps * channels, start, ahead);
  Accumulators sums = start;
  for (int64_t tap = 0; tap < taps; ++tap) {
    int64_t tapAt = tap * plan.weights.depth * plan.panel;
    sums = multiplyAdd(b, tile, rowsOf(tap), weights.data,
                       b.add(panelAt, tapAt), plan.panel, channels, sums,
                       ahead.from(b, tapAt));
  }
  return sums;
}

/// Whether the taps of a row and their channels lie one behind the other, in src
/// as in the weights.
bool Emitter::isContiguous() const {
  Index pixelStride = src.strides[src.strides.size() - 2];
  return plan.groups == 1 && window.dilations[window.inner()] == 1 &&
         !pixelStride.value &&
         pixelStride.constant == src.shape.back() &&
         plan.weights.depth == src.shape.back();
}

/// The pixels that have the tap.
Rows Emitter::rowsOfTap(const Tile &tile, const RowTile &pixels, int64_t tap,
                        Value data, Index first, Index stride) {
  Rows rows(b, data, first, stride, tile.rows);
  for (int64_t r = 0; r < tile.rows; ++r)
    if (!pixels.hasTap(r, tap))
      rows.at[r] = std::nullopt;
  return rows;
}

/// Room for a copy, which all tiles share that fit in.
Value Emitter::roomFor(int64_t elements, Type type) {
  if (elements > room) {
    room = elements;
    copied = createScratch(b, op, elements, type);
  }
  return copied;
}

/// Elements of src that are copied at a time: with the weights that go with them
/// they stay in the first-level cache.
static constexpr int64_t kCopied = 4096;

/// The taps along the row, over a copy of the pixels in f32.
Accumulators Emitter::sumWidened(const Tile &tile, const RowTile &pixels,
                                 Index from, Index panelAt,
                                 const Accumulators &start) {
  int64_t inner = window.inner(), taps = window.kernel[inner];
  int64_t stride = window.strides[inner], dilation = window.dilations[inner];
  std::pair<int64_t, int64_t> read = pixels.pixelsRead(stride, dilation);
  int64_t low = read.first, span = read.second - low;
  int64_t channels = src.shape.back() / plan.groups;
  if (span <= 0)
    return start;
  int64_t group = plan.weights.group;
  int64_t most = llvm::alignTo(std::max<int64_t>(kCopied / span, 32), 32);
  int64_t size = copiedAtOnce(channels, most, group);
  Index pixelStride = src.strides[src.strides.size() - 2];
  bool isRun = isContiguous() && size == channels;
  int64_t pitch = isRun ? channels : llvm::alignTo(size, tile.lanes);
  Value scratch = roomFor(span * pitch + tile.lanes, b.b.getF32Type());
  auto addBlock = [&](Index channel, int64_t size, const Accumulators &start) {
    Index first = b.add(b.add(from, b.mul(pixelStride, low)), channel);
    if (isRun)
      copyRuns(b, tile.lanes, src.data, first, scratch, Index(0),
               span * channels);
    else
      forEach(b, 0, span, 1, [&](Value pixel) {
        copyRuns(b, tile.lanes, src.data,
                 b.add(first, b.mul(Index(pixel), pixelStride)), scratch,
                 b.mul(Index(pixel), pitch), size);
      });
    auto rowsOf = [&](int64_t tap) {
      return rowsOfTap(tile, pixels, tap, scratch,
                       (tap * dilation - low) * pitch, stride * pitch);
    };
    Index block = b.add(panelAt, b.mul(channel, plan.panel));
    if (pixels.isWhole() && isRun)
      return multiplyAdd(b, tile, rowsOf(0), weights.data, block, plan.panel,
                         taps * channels, start);
    Accumulators sums = start;
    for (int64_t tap = 0; tap < taps; ++tap)
      sums = multiplyAdd(b, tile, rowsOf(tap), weights.data,
                         b.add(block, tap * plan.weights.depth * plan.panel),
                         plan.panel, size, sums);
    return sums;
  };
  Accumulators sums = start;
  if (channels >= size)
    sums = forEach(b, 0, channels / size, sums,
                   [&](Value i, const Accumulators &sums) {
                     return addBlock(b.mul(Index(i), size), size, sums);
                   });
  if (channels % size != 0)
    sums = addBlock(channels / size * size, channels % size, sums);
  return sums;
}

/// The taps along the row by AMX tiles, over the pixels as they are or over a copy
/// with zeros in the padding.
Accumulators Emitter::sumAmx(const Tile &tile, const RowTile &pixels,
                             Index from, Index panelAt,
                             const Accumulators &start) {
  int64_t inner = window.inner(), taps = window.kernel[inner];
  int64_t channels = src.shape.back() / plan.groups;
  // The same for all tiles of a kernel: AMX tiles are of one shape.
  bool isRun = isContiguous();
  Value data = src.data;
  Index pixelStride = src.strides[src.strides.size() - 2];
  if (!pixels.isWhole()) {
    int64_t whole = amxRowElements(plan.weights.element);
    int64_t pitch =
        isRun ? channels : int64_t(llvm::alignTo(channels, whole));
    copyPadded(pixels, from, pitch);
    data = copied;
    from = 0;
    pixelStride = pitch;
  }
  Index stride = b.mul(pixelStride, window.strides[inner]);
  Accumulators sums = start;
  for (int64_t tap = 0; tap < (isRun ? 1 : taps); ++tap) {
    Index first = b.add(from, b.mul(pixelStride, tap * window.dilations[inner]));
    sums = multiplyAddAmx(b, tile, Rows(b, data, first, stride, 1), weights.data,
                          b.add(panelAt, tap * plan.weights.depth * plan.panel),
                          plan.panel, isRun ? taps * channels : channels, sums,
                          op);
  }
  return sums;
}

/// Copies the pixels of a tile, `pitch` elements apart, from tap 0 of the first on.
void Emitter::copyPadded(const RowTile &pixels, Index from, int64_t pitch) {
  int64_t inner = window.inner(), channels = src.shape.back() / plan.groups;
  int64_t stride = window.strides[inner], dilation = window.dilations[inner];
  auto spanOf = [&](int64_t pixels) {
    return (pixels - 1) * stride + (window.kernel[inner] - 1) * dilation + 1;
  };
  Type element = plan.weights.element;
  int64_t room = spanOf(plan.tile.rows) * pitch + amxRowElements(element);
  Value scratch = roomFor(room, element);
  auto [low, high] = pixels.pixelsRead(stride, dilation);
  // From the first to the last: each writes a little too far.
  copyRun(b, {}, 0, scratch, 0, low * pitch);
  Index pixelStride = src.strides[src.strides.size() - 2];
  if (isContiguous())
    copyRun(b, src.data, b.add(from, b.mul(pixelStride, low)), scratch,
            low * pitch, (high - low) * pitch);
  else
    forEach(b, low, high, 1, [&](Value pixel) {
      copyRun(b, src.data, b.add(from, b.mul(Index(pixel), pixelStride)),
              scratch, b.mul(Index(pixel), pitch), channels);
    });
  copyRun(b, {}, 0, scratch, high * pitch,
          (spanOf(pixels.size) - high) * pitch);
}
