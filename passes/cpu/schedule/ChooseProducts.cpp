//===- ChooseProducts.cpp - schedules of products -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/PackedWeights.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cpu/policy/PairLimits.h"
#include "passes/cpu/policy/Scratch.h"
#include "passes/cpu/schedule/ChooseSchedule.h"
#include "passes/cpu/schedule/PairCosts.h"
#include "passes/support/Shapes.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;
using namespace ingot::support;
using support::shapeOf;

int64_t cpu::bytesOf(Value value) {
  auto type = cast<ShapedType>(value.getType());
  int64_t elements = support::productOf(type.getShape());
  return ShapedType::isDynamic(elements)
             ? 1 << 20
             : elements * type.getElementTypeBitWidth() / 8;
}

/// Returns the number of bytes of the last dimension: a row of channels or of
/// k.
static int64_t rowBytesOf(Value value) {
  auto type = cast<ShapedType>(value.getType());
  return type.getShape().back() * type.getElementTypeBitWidth() / 8;
}

/// Returns the number of vector operations that take as long as `flops` with
/// this tile. A word of signs is counted as one operation in `flops`, but takes
/// two and a half instructions.
static int64_t costOf(const TargetInfo &target, int64_t flops,
                      const RegisterTile &tile) {
  if (infoOf(tile.product).rows == RowForm::asBits)
    return flops * 5 / 2;
  return usesTiles(tile.product) ? flops / target.amx_speed : flops;
}

/// Returns the minimum number of rows of a task, so that enough rows share the
/// prepared weights of a column tile.
static int64_t rowUnit(const RegisterTile &tile, int64_t pixels) {
  int64_t many = infoOf(tile.product).sharedBy;
  return pixels > 0 ? llvm::divideCeil(many, pixels) : 1;
}

/// Returns true if bytes are multiplied faster in pairs than as int16.
template <typename Op>
static bool prefersPairs(Op op, const RegisterTile &tile, int64_t columns,
                         int64_t rows) {
  DenseI64ArrayAttr counts = op.getFormat().getPairCounts();
  if (tile.product != Product::int8Wide || !counts || !haveRowsForPairs(rows))
    return false;
  return costOfPairs(tile, counts, columns) < costOfInt16(tile, rows);
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

bool cpu::fitsCopy(cpu::ConvOp op, const TargetInfo &target, int64_t rows) {
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> kernel = weights.outer.drop_front();
  ArrayRef<int64_t> pads = op.getPads();
  // Returns true without padding, because the code then makes no copies.
  if (pads[kernel.size() - 1] == 0 && pads.back() == 0)
    return true;
  int64_t channels = shapeOf(op.getSrc()).back() / int64_t(op.getGroups());
  int64_t span = (rows - 1) * op.getStrides().back() +
                 (kernel.back() - 1) * op.getDilations().back() + 1;
  // Lets the copies take 3/2 of the first-level cache. A third of src may come
  // from the second-level cache, because src is read line after line.
  int64_t maxCopiedBytes = target.l1 * 3 / 2;
  return span * channels * weights.element.getIntOrFloatBitWidth() <=
         8 * maxCopiedBytes;
}

/// Returns the number of pixels of a row of dst; may be dynamic.
static int64_t pixelsOf(cpu::ConvOp op) {
  return *std::next(shapeOf(op.getDst()).rbegin());
}

/// Returns true if the copies of a tile's taps fit on the stack. Copies have
/// the strides of src, because the lists of pairs contain offsets in src.
static bool fitsPairs(cpu::ConvOp op, const RegisterTile &tile) {
  auto type = cast<MemRefType>(op.getSrc().getType());
  SmallVector<int64_t> strides;
  int64_t offset;
  (void)type.getStridesAndOffset(strides, offset);
  int64_t stride = strides[strides.size() - 2];
  constexpr int64_t kMaxCopiedBytes = 64 << 10;
  int64_t taps = cpu::PackedWeights(op.getWeights()).outer.back();
  return !ShapedType::isDynamic(stride) &&
         tile.rows * (taps * op.getDilations().back() * stride +
                      type.getShape().back()) <=
             kMaxCopiedBytes;
}

static RegisterTile chooseConvTile(cpu::ConvOp op, const TargetInfo &target) {
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t channels = shapeOf(op.getSrc()).back() / int64_t(op.getGroups());
  RegisterTile tile = chooseTile(
      target, {weights.element, weights.width, dst[dst.size() - 2], channels,
               support::productOf(weights.outer.drop_front()), weights.group});
  bool isOpen = ShapedType::isDynamic(pixelsOf(op));
  if (prefersPairs(op, tile, tile.vectors * target.lanes,
                   support::productOf(dst.drop_back())) &&
      (!isOpen || fitsPairs(op, tile)))
    return chooseTile(target, Product::int8Pairs, weights.width);
  if (!usesTiles(tile.product) || isOpen || fitsCopy(op, target, tile.rows))
    return tile;
  return chooseTile(target, productFor(target, weights.element, weights.group),
                    weights.width);
}

/// The number of bytes of weights or sums in the 32 columns of a panel.
static constexpr int64_t kPanelBytes = 32 * 4;

/// Returns the number of groups of channels in a block of weights. A task
/// multiplies all its rows by a block before it loads the next block. A block
/// takes half of the first-level cache.
static int64_t blockGroups(const TargetInfo &target) {
  return std::max<int64_t>(target.l1 / 2 / kPanelBytes, 1);
}

/// Returns true if rows are so short that a block of weights should serve all
/// rows of a task.
static bool isBlocked(cpu::ConvOp op, const TargetInfo &target,
                      const RegisterTile &tile, int64_t rowsPerTask) {
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t channels = shapeOf(op.getSrc()).back() / int64_t(op.getGroups());
  int64_t pixels = dst[dst.size() - 2];
  int64_t tilesPerRow = llvm::divideCeil(pixels, tile.rows);
  return cpu::canWait(tile.product) && rowsPerTask * tilesPerRow >= 3 &&
         // Requires that a vector of weights serves at most 3/4 of the tile's
         // rows.
         int64_t(4 * llvm::divideCeil(pixels, tilesPerRow)) <= 3 * tile.rows &&
         // Requires that the first-level cache holds the sums beside a block of
         // weights.
         rowsPerTask * pixels <= target.l1 * 2 / 5 / kPanelBytes &&
         channels >= blockGroups(target) * weights.group;
}

/// Chooses a schedule with tiles across rows.
static cpu::ScheduleAttr chooseAcrossRows(cpu::ConvOp op,
                                          const RegisterTile &tile) {
  TargetInfo target = TargetInfo::of(op);
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t groups = op.getGroups();
  int64_t columns = tile.vectors * target.lanes;
  int64_t tiles = groups * llvm::divideCeil(dst.back() / groups, columns);
  int64_t flops = 2 * support::productOf(weights.outer.drop_front()) *
                  weights.depth * dst.back();
  int64_t pixels = support::productOf(dst.drop_back());
  // All tiles of a task belong to one group.
  int64_t srcRowBytes = groups > 1 ? 0 : rowBytesOf(op.getSrc());
  int64_t unit = tile.rows;
  if (infoOf(tile.product).columns == ColumnForm::asFloats)
    unit *= rowUnit(tile, tile.rows);
  Grid grid =
      chooseGrid(target, {pixels, tiles, costOf(target, flops, tile), unit,
                          bytesOf(op.getSrc()), bytesOf(op.getWeights()),
                          usualPixels(), srcRowBytes});
  if (groups > 1)
    grid.columnTilesPerTask = 1;
  return ScheduleBuilder(op).tile(tile).grid(grid).acrossRows(true);
}

/// Returns a Winograd schedule if it takes fewer instructions than `tile`, else
/// null.
static cpu::ScheduleAttr winogradInsteadOf(cpu::ConvOp op,
                                           const RegisterTile &tile) {
  int64_t rows = support::productOf(shapeOf(op.getDst()).drop_back());
  switch (infoOf(tile.product).columns) {
  case ColumnForm::asInt16:
    return chooseWinograd(op, costOfInt16(tile, rows));
  case ColumnForm::byLists:
    return chooseWinograd(op,
                          costOfPairs(tile, op.getFormat().getPairCounts(),
                                      tile.vectors * TargetInfo::of(op).lanes));
  default:
    return {};
  }
}

/// Returns true if many tiles of a row have taps in the padding. Each such tile
/// has its own code for each tap. Code that finds the pixels at run time is
/// smaller and costs no time, e.g. in a vocoder with many dilated taps.
static bool hasManyBorders(cpu::ConvOp op, const RegisterTile &tile) {
  if (op.getFormat().isSigns())
    return false;
  constexpr int64_t kMostTaps = 20;
  int64_t taps = cpu::PackedWeights(op.getWeights()).outer.back();
  int64_t stride = op.getStrides().back();
  ArrayRef<int64_t> pads = op.getPads();
  int64_t tiles = 0;
  for (int64_t pad : {pads[pads.size() / 2 - 1], pads.back()})
    tiles += llvm::divideCeil(std::max<int64_t>(pad, 0), stride * tile.rows);
  return tiles * taps > kMostTaps;
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::ConvOp op) {
  TargetInfo target = TargetInfo::of(op);
  RegisterTile tile = chooseConvTile(op, target);
  if (cpu::ScheduleAttr filtering = winogradInsteadOf(op, tile))
    return filtering;
  if (ShapedType::isDynamic(pixelsOf(op)) || hasManyBorders(op, tile))
    return chooseAcrossRows(op, tile);
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t groups = op.getGroups();
  int64_t columns = tile.vectors * target.lanes;
  int64_t tiles = groups * llvm::divideCeil(op.dstChannels() / groups, columns);
  int64_t rows = support::productOf(dst.drop_back(2));
  int64_t flops = 2 * support::productOf(weights.outer.drop_front()) *
                  weights.depth * op.dstChannels() * dst[dst.size() - 2];
  Grid grid =
      chooseGrid(target, {rows, tiles, costOf(target, flops, tile),
                          rowUnit(tile, dst[dst.size() - 2]),
                          bytesOf(op.getSrc()), bytesOf(op.getWeights())});
  // All tiles of a task belong to one group.
  if (groups > 1)
    grid.columnTilesPerTask = 1;
  grid = withWholeWords(op, columns, grid);
  // Uses blocks only if the number of rows is known, because partial sums need
  // a buffer of known size.
  bool isInBlocks =
      grid.rowBlocks == 0 && isBlocked(op, target, tile, grid.rowsPerTask);
  return ScheduleBuilder(op)
      .tile(tile)
      .grid(grid)
      .depthBlock(isInBlocks ? blockGroups(target) : 0);
}

/// Returns the number of channel tiles in a block. The rows of src of a block
/// stay in the first-level cache from one output row to the next. Returns the
/// number of all tiles if the rows fit without blocks, or if a block would use
/// too little of each pixel.
static int64_t depthwiseBlock(cpu::DepthwiseConvOp op, const TargetInfo &target,
                              int64_t columns, int64_t tiles) {
  auto type = cast<ShapedType>(op.getSrc().getType());
  ArrayRef<int64_t> src = type.getShape();
  int64_t elementBytes = type.getElementTypeBitWidth() / 8;
  int64_t row = src[src.size() - 2];
  if (ShapedType::isDynamic(row))
    row = threshold::usualSide;
  int64_t pixels = std::max<int64_t>(row, 1) *
                   support::productOf(shapeOf(op.getWeights()).drop_back(2));
  // Lets the rows of src that output rows share take the whole cache. A block
  // of channels may take half of it.
  int64_t bytes = std::min(target.l1 / 2 / pixels, 4 * target.line);
  // A block of less than two cache lines of each pixel does not pay.
  if (pixels * src.back() * elementBytes <= target.l1 ||
      bytes < 2 * target.line)
    return tiles;
  return std::min(tiles, bytes / (columns * elementBytes));
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::DepthwiseConvOp op) {
  TargetInfo target = TargetInfo::of(op);
  ArrayRef<int64_t> weights = shapeOf(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  Product product = depthwiseProduct(op, target);
  int64_t columns = depthwiseColumns(op, target, product);
  int64_t tiles = llvm::divideCeil(dst.back(), columns);
  int64_t block = depthwiseBlock(op, target, columns, tiles);
  int64_t rows = support::productOf(dst.drop_back(2));
  int64_t pixels = dst[dst.size() - 2];
  if (ShapedType::isDynamic(pixels))
    pixels = threshold::usualSide;
  int64_t flops = 2 * support::productOf(weights.drop_back()) * op.groupSize() *
                  dst.back() * pixels;
  // Splits tasks by rows, because the channels of a pixel are contiguous.
  Grid grid = chooseGrid(target, {rows, 1, flops, 1, bytesOf(op.getSrc()), 0,
                                  threshold::usualSide});
  grid.columnTilesPerTask = std::max<int64_t>(tiles, 1);
  // Uses tall tiles, because each tap loads a vector of weights once for all
  // pixels of the tile. A long row has code for both ends and for the middle,
  // so taller tiles would triple the code.
  int64_t tileRows = target.numRegisters == 32 ? 8 : 4;
  return ScheduleBuilder(op)
      .tile({tileRows, columns / target.lanes, product})
      .grid(grid)
      .tileBlock(block < tiles ? block : 0);
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// Returns the number of groups of k in a block of weights. A block takes half
/// of the first-level cache, and serves all rows of the task from there.
/// Returns 0 if few rows share the weights, or if a column tile has few
/// weights. With 16 registers, blocks save bandwidth of the second-level cache.
/// Tiles of six rows would use two thirds of it, and a second thread on the
/// core as much. With 32 registers only weights of f16 are blocked, because
/// they need room as f32.
static int64_t depthBlock(cpu::MatMulOp op, const TargetInfo &target,
                          const RegisterTile &tile, const Grid &grid) {
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t rows = dst[dst.size() - 2];
  int64_t columnBytes = tile.vectors * target.lanes * 4;
  constexpr int64_t kLeastTiles = 4, kLongest = 3;
  bool isWidened = infoOf(tile.product).columns == ColumnForm::asFloats;
  bool isSmall = target.numRegisters != 32;
  const int64_t widened = fitStack(threshold::widenedF16Bytes(target));
  int64_t most = isSmall ? kLongest * target.l1 / 2 : widened;
  bool pays = !op.getFormat().isBlocks() && !ShapedType::isDynamic(rows) &&
              (isWidened || (isSmall && tile.product == Product::f32)) &&
              grid.rowBlocks == 0 &&
              std::min(rows, grid.rowsPerTask) >= kLeastTiles * tile.rows &&
              grid.rowsPerTask * columnBytes <= 2 * target.l1 &&
              weights.depth * columnBytes > most;
  if (!pays)
    return 0;
  int64_t size = isSmall ? target.l1 / 2 : widened / 2;
  int64_t blocks = llvm::divideCeil(weights.depth * columnBytes, size);
  return llvm::divideCeil(weights.depth, blocks);
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::MatMulOp op) {
  TargetInfo target = TargetInfo::of(op);
  cpu::PackedWeights weights(op.getWeights());
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t rows = dst[dst.size() - 2];
  bool isOpen = ShapedType::isDynamic(rows);
  RegisterTile tile =
      op.getFormat().isBlocks()
          ? chooseTile(target,
                       productFor(target, weights.element, weights.group),
                       weights.width)
          : chooseTile(target, {weights.element, weights.width, rows,
                                shapeOf(op.getSrc()).back(), 1, weights.group,
                                /*areAllRows=*/true});
  // Doubles the rows of a tile, because blocks are often narrow. More rows then
  // share the step to the next block. This does not pay if a block of rows must
  // be copied.
  auto src = cast<ShapedType>(op.getSrc().getType());
  int64_t rowBytes = src.getShape().back() * src.getElementTypeBitWidth() / 8;
  if (op.getFormat().isBlocks() && tile.vectors == 1 &&
      rowBytes % target.set_stride != 0)
    tile.rows *= 2;
  if (prefersPairs(op, tile, tile.vectors * target.lanes, rows))
    tile = chooseTile(target, Product::int8Pairs, weights.width);
  if (rows == 1 && infoOf(tile.product).isOfSingleFloats())
    tile.vectors = vectorsOfOneRow(target, weights.width);
  int64_t columns = tile.vectors * target.lanes;
  int64_t tiles = llvm::divideCeil(op.dstChannels(), columns);
  if (!isOpen)
    tile.rows = evenTile(rows, tile.rows);
  int64_t batches = support::productOf(dst.drop_back(2));
  // Counts a dynamic batch as one matrix if all matrices share the weights,
  // because the batch may be 1.
  if (ShapedType::isDynamic(batches))
    batches = weights.outer.size() == 1 && !isOpen ? 1 : 8;
  int64_t flops = op.getFormat().isBlocks()
                      ? 2 * support::productOf(shapeOf(op.getWeights()))
                      : 2 * weights.depth * op.dstChannels();
  Work work{rows,
            tiles,
            costOf(target, flops, tile),
            tile.rows * rowUnit(tile, tile.rows),
            bytesOf(op.getSrc()),
            bytesOf(op.getWeights())};
  work.srcRowBytes = rowBytesOf(op.getSrc());
  Grid grid = withWholeWords(op, columns, chooseGrid(target, work));
  if (op.getFormat().isBlocks())
    grid.prefetch = false;
  // Splits only the columns if they give enough tasks. Each task then reads its
  // own part of the weights once.
  int64_t enoughTasks = target.most_tasks / 2;
  int64_t columnBlocks = llvm::divideCeil(tiles, grid.columnTilesPerTask);
  if (!grid.rowsOutside && columnBlocks >= enoughTasks && !isOpen)
    grid.rowsPerTask = llvm::alignTo(rows, tile.rows);
  // Makes each product of many matrices a separate task.
  if (batches >= 8)
    grid = {isOpen ? 16 * tile.rows : int64_t(llvm::alignTo(rows, tile.rows)),
            tiles, true};
  return ScheduleBuilder(op).tile(tile).grid(grid).depthBlock(
      depthBlock(op, target, tile, grid));
}

/// The maximum number of rows of a task. Their partial sums are kept while
/// weights are unpacked.
static constexpr int64_t kMostWaitingRows = 128;

Product cpu::packedProduct(cpu::PackedMatMulOp op, const TargetInfo &target) {
  if (!op.hasRoundedSrc())
    return Product::f32;
  return target.hasVNNI ? Product::int8Dot : Product::int8Pairs;
}

/// Chooses the tile for rows that are rounded to bytes. The sums of a block
/// need separate accumulators, so a tile of one vector leaves more registers
/// for codes. Such a tile reads only half of each line of words, or every other
/// line. This is too slow for a dynamic number of rows, because a single row
/// waits for memory.
static RegisterTile chooseByteTile(cpu::PackedMatMulOp op,
                                   const TargetInfo &target) {
  RegisterTile tile = chooseTile(target, packedProduct(op, target), op.panel());
  const bool isOpen =
      ShapedType::isDynamic(*std::next(shapeOf(op.getDst()).rbegin()));
  const bool isSmall = target.numRegisters != 32;
  // Each digit of an element takes registers as a row does.
  if (cpu::digitsOf(op) > 1) {
    if (isSmall && !isOpen)
      tile.vectors = 1;
    tile.rows = isSmall             ? (tile.vectors == 1 ? 3 : 1)
                : tile.vectors == 1 ? 6
                                    : 3;
    return tile;
  }
  if (!isOpen && (isSmall || !target.hasVNNI))
    tile.vectors = 1;
  if (tile.vectors == 1)
    tile.rows = isSmall ? 4 : 12;
  else
    tile.rows = isSmall ? 2 : target.hasVNNI ? 6 : 4;
  return tile;
}

cpu::ScheduleAttr cpu::chooseSchedule(cpu::PackedMatMulOp op) {
  TargetInfo target = TargetInfo::of(op);
  ArrayRef<int64_t> dst = shapeOf(op.getDst());
  int64_t rows = dst[dst.size() - 2], panel = op.panel();
  bool isOpen = ShapedType::isDynamic(rows);
  RegisterTile tile = op.hasRoundedSrc()
                          ? chooseByteTile(op, target)
                          : chooseTile(target, Product::f32, panel);
  if (rows == 1)
    tile.vectors = vectorsOfOneRow(target, panel);
  else if (!op.hasRoundedSrc() && !isOpen && target.numRegisters == 32 &&
           rows <= threshold::packedDirectRows)
    tile.vectors = 1;
  if (!isOpen)
    tile.rows = evenTile(std::max<int64_t>(rows, 1), tile.rows);
  int64_t tiles =
      llvm::divideCeil(dst.back(), tile.vectors * target.lanes);
  Grid grid = chooseGrid(target, {rows, tiles, 2 * op.depth() * dst.back(),
                                  tile.rows, bytesOf(op.getSrc()),
                                  bytesOf(op.getWeights())});
  // Makes large blocks of rows, because weights are unpacked again for each
  // block.
  int64_t most = std::max(kMostWaitingRows / tile.rows, int64_t(1)) * tile.rows;
  grid.rowsPerTask =
      isOpen ? most : std::min<int64_t>(most, llvm::alignTo(rows, tile.rows));
  grid.rowsPerTask = std::max(grid.rowsPerTask, tile.rows);
  grid.rowBlocks = 0;
  grid.prefetch = false;
  return ScheduleBuilder(op).tile(tile).grid(grid);
}
