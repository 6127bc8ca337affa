//===- CpuSchedule.cpp - verifiers of schedules ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cpu/CpuVerify.h"
#include "dialects/cpu/PackedWeights.h"
#include "dialects/cpu/Winograd.h"
#include "dialects/ingot/IngotDialect.h"

#include "llvm/ADT/TypeSwitch.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot::cpu;
using namespace ingot::cpu::checks;

/// Limit on the bytes of partial sums on the stack of a task.
static constexpr int64_t kMaxWaitingBytes = 64 << 10;
/// Limit on the number of queries of a task. For each query, the scores of all
/// keys are on the task's stack.
static constexpr int64_t kMaxQueries = 32;

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

using EmitErrorFn = function_ref<InFlightDiagnostic()>;

static LogicalResult expectPositive(EmitErrorFn emitError, int64_t first,
                                    int64_t second) {
  if (first >= 1 && second >= 1)
    return success();
  return emitError() << "expects sizes of at least 1, but got " << first << "x"
                     << second;
}

LogicalResult TileAttr::verify(EmitErrorFn emitError, int64_t rows,
                               int64_t columns, Product product,
                               int64_t amxRows) {
  if (failed(expectPositive(emitError, rows, columns)))
    return failure();
  if (!usesTiles(product)) {
    if (amxRows == 0)
      return success();
    return emitError() << "expects no amx_rows with product "
                       << stringifyProduct(product) << ", but got " << amxRows;
  }
  if (amxRows < 1 || amxRows > kAmxRows)
    return emitError() << "expects amx_rows of 1 to " << kAmxRows
                       << ", but got " << amxRows;
  if (rows < amxRows || rows > 2 * amxRows)
    return emitError() << "expects " << amxRows << " to " << 2 * amxRows
                       << " rows with amx_rows = " << amxRows << ", but got "
                       << rows;
  return success();
}

LogicalResult GridAttr::verify(EmitErrorFn emitError, int64_t rows,
                               int64_t tiles, bool, int64_t rowBlocks,
                               int64_t wholeFrom) {
  for (auto [name, count] :
       {std::pair("row_blocks", rowBlocks), {"whole_from", wholeFrom}})
    if (count < 0)
      return emitError() << "expects " << name
                         << " that are not negative, but got " << count;
  if (wholeFrom != 0 && rowBlocks == 0)
    return emitError() << "expects row_blocks with whole_from = " << wholeFrom;
  return expectPositive(emitError, rows, tiles);
}

LogicalResult ScheduleAttr::verify(EmitErrorFn emitError, TileAttr, GridAttr,
                                   TileAttr, int64_t depthBlock,
                                   int64_t tileBlock, bool, bool,
                                   int64_t winograd) {
  for (auto [name, block] : {std::pair("depth_block", depthBlock),
                             {"tile_block", tileBlock},
                             {"winograd", winograd}})
    if (block < 0)
      return emitError() << "expects a " << name
                         << " that is not negative, but got " << block;
  return success();
}

//===----------------------------------------------------------------------===//
// Schedules of ops
//===----------------------------------------------------------------------===//

/// Verifies that the schedule has all parts in `needed`, and no others except
/// those in `possible`.
static LogicalResult expectParts(Operation *op, ScheduleAttr schedule,
                                 ArrayRef<StringRef> needed,
                                 ArrayRef<StringRef> possible = {}) {
  std::pair<StringRef, bool> parts[] = {
      {"tile", bool(schedule.getTile())},
      {"grid", bool(schedule.getGrid())},
      {"scores", bool(schedule.getScores())},
      {"depth_block", schedule.getDepthBlock() != 0},
      {"tile_block", schedule.getTileBlock() != 0},
      {"prefetch", schedule.getPrefetch()},
      {"across_rows", schedule.getAcrossRows()},
      {"winograd", schedule.getWinograd() != 0}};
  for (auto [name, isThere] : parts) {
    if (!isThere && llvm::is_contained(needed, name))
      return op->emitOpError("expects a schedule with ") << name;
    if (isThere && !llvm::is_contained(needed, name) &&
        !llvm::is_contained(possible, name))
      return op->emitOpError("expects a schedule without ") << name;
  }
  return success();
}

static LogicalResult expectOneTile(Operation *op, GridAttr grid,
                                   StringRef why) {
  if (grid.getTiles() == 1)
    return success();
  return op->emitOpError("expects tasks of 1 column tile ")
         << why << ", but got " << grid.getTiles();
}

static LogicalResult expectOneRow(Operation *op, TileAttr tile) {
  if (tile.getRows() == 1)
    return success();
  return op->emitOpError("expects a tile of 1 row, but got ")
         << tile.getRows();
}

/// Verifies that the sums of the tile are f32 and in vectors.
static LogicalResult expectPlain(Operation *op, TileAttr tile) {
  if (tile.getProduct() == Product::f32)
    return success();
  return op->emitOpError("expects a tile of product f32, but got ")
         << stringifyProduct(tile.getProduct());
}

/// Verifies that the tile fits the weights: the type of the weights and the
/// width of their panels.
static LogicalResult verifyPanels(Operation *op, const PackedWeights &weights,
                                  TileAttr tile) {
  if (!infoOf(tile.getProduct()).multiplies(weights.element, weights.group))
    return op->emitOpError("expects a tile for weights of ")
           << weights.element << ", but got product "
           << stringifyProduct(tile.getProduct());
  if (weights.width % tile.getColumns() != 0)
    return op->emitOpError("expects a tile whose columns divide panels of ")
           << weights.width << ", but got " << tile.getColumns();
  return success();
}

template <typename Op>
static LogicalResult verifyProduct(Op op, TileAttr tile) {
  if (infoOf(tile.getProduct()).rows == RowForm::byLists &&
      !op.getFormat().getPairs())
    return op->emitOpError("expects pairs for product ")
           << stringifyProduct(tile.getProduct());
  return verifyPanels(op, PackedWeights(op.getWeights()), tile);
}

/// Verifies that even the smallest tile, with `smallest` rows, has the rows of
/// an AMX tile. Messages call the rows `what`.
static LogicalResult expectAmxRows(Operation *op, TileAttr tile,
                                   StringRef what, int64_t smallest) {
  if (ShapedType::isDynamic(smallest) || smallest >= tile.getAmxRows())
    return success();
  return op->emitOpError("expects ")
         << what << " of " << tile.getAmxRows()
         << " rows or more for amx_rows = " << tile.getAmxRows()
         << ", but got " << smallest;
}

/// Verifies that there are no row blocks, because partial sums need a fixed
/// number of rows.
static LogicalResult expectNoRowBlocks(Operation *op, GridAttr grid) {
  if (grid.getRowBlocks() == 0)
    return success();
  return op->emitOpError("expects no row_blocks where sums wait, but got ")
         << grid.getRowBlocks();
}

/// Verifies that a task has a whole number of tiles of rows.
static LogicalResult expectWholeTiles(Operation *op, TileAttr tile,
                                      GridAttr grid) {
  if (grid.getRows() % tile.getRows() == 0)
    return success();
  return op->emitOpError("expects tasks of whole tiles of ")
         << tile.getRows() << " rows, but got " << grid.getRows();
}

/// Verifies that the stack of a task has room for the partial sums of all its
/// rows. They are on the stack between the blocks of a `depth_block`, with
/// `rowBytes` per row.
static LogicalResult verifyWaiting(Operation *op, ScheduleAttr schedule,
                                   bool isOpen, int64_t rowBytes) {
  GridAttr grid = schedule.getGrid();
  if (failed(expectNoRowBlocks(op, grid)))
    return failure();
  Product product = schedule.getTile().getProduct();
  if (isOpen)
    return op->emitOpError("expects no depth_block for rows of open size");
  if (!canWait(product))
    return op->emitOpError("expects no depth_block with product ")
           << stringifyProduct(product);
  if (grid.getRows() > kMaxWaitingBytes / std::max<int64_t>(rowBytes, 1))
    return op->emitOpError("expects sums of at most ")
           << kMaxWaitingBytes << " bytes to wait for a depth_block, but got "
           << grid.getRows() << " rows of " << rowBytes;
  return success();
}

/// Verifies that tasks do not share 32-bit elements of signs, or of joined
/// data. Column tiles of one task may share such elements.
template <typename Op>
static LogicalResult verifyWords(Op op, ScheduleAttr schedule) {
  int64_t columns = schedule.getTile().getColumns();
  int64_t tiles = schedule.getGrid().getTiles();
  int64_t unit = op.tilesOfWords(columns);
  if (tiles % unit == 0 || tiles * columns >= op.dstChannels())
    return success();
  return op.emitOpError("expects tasks of a multiple of ")
         << unit << " column tiles for words of signs, but got " << tiles;
}

/// Verifies that the stack of a task has enough room. It holds the transformed
/// pixels of a block of tiles, and the products of a column tile.
static LogicalResult verifyTileBlock(Operation *op, ScheduleAttr schedule,
                                     const Winograd &transform,
                                     int64_t channels) {
  TileAttr tile = schedule.getTile();
  int64_t perRow = transform.bytes(channels, tile.getColumns());
  int64_t block = schedule.getTileBlock(), rows = tile.getRows();
  if (block <= kMaxWinogradBytes / perRow / rows)
    return success();
  return op->emitOpError("expects blocks of tiles of at most ")
         << kMaxWinogradBytes << " bytes, but got " << block << " times "
         << rows << " of " << perRow;
}

/// Verifies a Winograd convolution of bytes.
static LogicalResult verifyWinograd(ConvOp op, ScheduleAttr schedule) {
  TileAttr tile = schedule.getTile();
  if (failed(expectParts(op, schedule,
                         {"tile", "grid", "tile_block", "depth_block",
                          "winograd"})) ||
      failed(verifyProduct(op, tile)) ||
      failed(expectWholeTiles(op, tile, schedule.getGrid())))
    return failure();
  int64_t outputs = schedule.getWinograd();
  int64_t proved = op.getFormat().getExactTiles();
  if ((outputs != 2 && outputs != 4) || outputs > proved)
    return op.emitOpError("expects winograd of 2 or 4, and of at most ")
           << proved << ", but got " << outputs;
  if (tile.getProduct() != Product::int8Wide)
    return op.emitOpError("expects winograd with product int8_wide, but got ")
           << stringifyProduct(tile.getProduct());
  Winograd transform = Winograd::ofBytes(outputs);
  int64_t perGroup = transform.weightBytes(tile.getColumns());
  if (int64_t(schedule.getDepthBlock()) > kMaxWinogradWeightBytes / perGroup)
    return op.emitOpError("expects transformed weights of at most ")
           << kMaxWinogradWeightBytes << " bytes, but got "
           << schedule.getDepthBlock() << " groups of " << perGroup;
  return verifyTileBlock(op, schedule, transform,
                         typeOf(op.getSrc()).getShape().back());
}

static LogicalResult verifySchedule(ConvOp op, ScheduleAttr schedule) {
  if (schedule.getWinograd() != 0)
    return verifyWinograd(op, schedule);
  TileAttr tile = schedule.getTile();
  GridAttr grid = schedule.getGrid();
  SmallVector<StringRef> possible = {"prefetch"};
  possible.push_back(schedule.getAcrossRows() ? "across_rows"
                                              : "depth_block");
  if (failed(expectParts(op, schedule, {"tile", "grid"}, possible)) ||
      failed(verifyProduct(op, tile)) || failed(verifyWords(op, schedule)))
    return failure();
  if (op.getGroups() != 1 &&
      failed(expectOneTile(op, grid, "where there are groups")))
    return failure();
  ArrayRef<int64_t> dst = typeOf(op.getDst()).getShape();
  int64_t pixels = dst[dst.size() - 2];
  if (schedule.getAcrossRows()) {
    if (infoOf(tile.getProduct()).rows == RowForm::asBits)
      return op.emitOpError("expects a schedule without across_rows for signs");
    return expectWholeTiles(op, tile, grid);
  }
  if (ShapedType::isDynamic(pixels))
    return op.emitOpError("expects a schedule with across_rows for rows of "
                          "open size");
  if (pixels != 0 && usesTiles(tile.getProduct())) {
    int64_t tiles = llvm::divideCeil(pixels, tile.getRows());
    if (failed(expectAmxRows(op, tile, "tiles of a row's pixels",
                             pixels / tiles)))
      return failure();
  }
  return schedule.getDepthBlock() == 0
             ? success()
             : verifyWaiting(op, schedule, /*isOpen=*/false,
                             pixels * tile.getColumns() * 4);
}

static LogicalResult verifySchedule(MatMulOp op, ScheduleAttr schedule) {
  TileAttr tile = schedule.getTile();
  GridAttr grid = schedule.getGrid();
  // Weights in blocks of zeros are neither prefetched nor split along k.
  SmallVector<StringRef> possible;
  if (!op.getFormat().isBlocks())
    possible = {"prefetch", "depth_block"};
  if (failed(expectParts(op, schedule, {"tile", "grid"}, possible)) ||
      failed(verifyProduct(op, tile)) || failed(verifyWords(op, schedule)) ||
      failed(expectWholeTiles(op, tile, grid)))
    return failure();
  if (op.getFormat().isBlocks() && usesTiles(tile.getProduct()))
    return op.emitOpError("expects a product of vectors for blocks, but got ")
           << stringifyProduct(tile.getProduct());
  ArrayRef<int64_t> dst = typeOf(op.getDst()).getShape();
  int64_t rows = dst[dst.size() - 2];
  if (schedule.getDepthBlock() != 0 &&
      failed(verifyWaiting(op, schedule, ShapedType::isDynamic(rows),
                           tile.getColumns() * 4)))
    return failure();
  return rows == 0 ? success() : expectAmxRows(op, tile, "matrices", rows);
}

static LogicalResult verifySchedule(RecurrentOp op, ScheduleAttr schedule) {
  TileAttr tile = schedule.getTile();
  if (failed(expectParts(op, schedule, {"tile", "grid"})) ||
      failed(expectPlain(op, tile)) ||
      failed(expectOneTile(op, schedule.getGrid(), "in a recurrence")))
    return failure();
  for (Value weights : op.getWeights()) {
    int64_t width = PackedWeights(weights).width;
    if (width % tile.getColumns() != 0)
      return op.emitOpError("expects a tile whose columns divide panels of ")
             << width << ", but got " << tile.getColumns();
  }
  return success();
}

static LogicalResult verifySchedule(PackedMatMulOp op, ScheduleAttr schedule) {
  TileAttr tile = schedule.getTile();
  GridAttr grid = schedule.getGrid();
  if (failed(expectParts(op, schedule, {"tile", "grid"}, {"prefetch"})) ||
      (!op.hasRoundedSrc() && failed(expectPlain(op, tile))))
    return failure();
  if (op.hasRoundedSrc() && tile.getProduct() != Product::int8Dot &&
      tile.getProduct() != Product::int8Pairs)
    return op.emitOpError("expects a tile of product int8_dot or int8_pairs "
                          "for rounded src, but got ")
           << stringifyProduct(tile.getProduct());
  // The sum of two products with 8-bit weights does not fit in int16.
  if (op.hasRoundedSrc() && op.getFormat().getBits() == 8 &&
      tile.getProduct() != Product::int8Dot)
    return op.emitOpError("expects a tile of product int8_dot for rounded src "
                          "and weights of 8 bits, but got ")
           << stringifyProduct(tile.getProduct());
  if (op.panel() % tile.getColumns() != 0)
    return op.emitOpError("expects a tile whose columns divide panels of ")
           << op.panel() << ", but got " << tile.getColumns();
  if (failed(expectWholeTiles(op, tile, grid)) ||
      failed(expectNoRowBlocks(op, grid)))
    return failure();
  int64_t rowBytes = tile.getColumns() * 4;
  if (!op.hasRoundedSrc() && grid.getRows() > kMaxWaitingBytes / rowBytes)
    return op.emitOpError("expects sums of at most ")
           << kMaxWaitingBytes
           << " bytes to wait for unpacked weights, but got " << grid.getRows()
           << " rows of " << rowBytes;
  return success();
}

static LogicalResult verifySchedule(DepthwiseConvOp op, ScheduleAttr schedule) {
  if (failed(expectParts(op, schedule, {"tile", "grid"}, {"tile_block"})))
    return failure();
  Product product = schedule.getTile().getProduct();
  const bool isOfBytes =
      op.groupSize() == 1 &&
      getElementTypeOrSelf(op.getSrc().getType()).isInteger(8);
  if (isOfBytes &&
      (product == Product::int8Dot || product == Product::int8Wide))
    return success();
  return expectPlain(op, schedule.getTile());
}

static LogicalResult verifySchedule(AttentionOp op, ScheduleAttr schedule) {
  if (failed(expectParts(op, schedule, {"tile", "scores"})))
    return failure();
  Product product = schedule.getTile().getProduct();
  bool mayBeNarrow = ingot::isBF16(op) && (product == Product::bf16Dot ||
                                           product == Product::bf16Tiles);
  bool isOfBytes = op.getBytes() && (product == Product::int8Dot ||
                                     product == Product::int8Wide);
  if (op.getBytes() && !isOfBytes)
    return op.emitOpError("expects tiles of bytes, but got ")
           << stringifyProduct(product);
  if (!mayBeNarrow && !isOfBytes && failed(expectPlain(op, schedule.getTile())))
    return failure();
  if (schedule.getScores().getProduct() != product)
    return op.emitOpError("expects tiles of one product, but got ")
           << stringifyProduct(product) << " and "
           << stringifyProduct(schedule.getScores().getProduct());
  int64_t queries = schedule.getScores().getColumns();
  if (queries > kMaxQueries)
    return op.emitOpError("expects scores of at most ")
           << kMaxQueries << " queries, but got " << queries;
  return success();
}

static LogicalResult verifyRowSchedule(Operation *op, ScheduleAttr schedule) {
  return failure(
      failed(expectParts(op, schedule, {"grid"})) ||
      failed(expectOneTile(op, schedule.getGrid(), "where there is no tile")));
}

static LogicalResult verifySchedule(ReduceOp op, ScheduleAttr schedule) {
  if (op.reducesRows())
    return verifyRowSchedule(op, schedule);
  return failure(failed(expectParts(op, schedule, {"tile", "grid"})) ||
                 failed(expectPlain(op, schedule.getTile())));
}

static LogicalResult verifySchedule(PoolOp op, ScheduleAttr schedule) {
  return failure(failed(expectParts(op, schedule, {"tile", "grid"})) ||
                 failed(expectPlain(op, schedule.getTile())) ||
                 failed(expectOneRow(op, schedule.getTile())));
}

static LogicalResult verifySchedule(GroupNormOp op, ScheduleAttr schedule) {
  TileAttr tile = schedule.getTile();
  if (failed(expectParts(op, schedule, {"tile", "grid"})) ||
      failed(expectPlain(op, tile)) || failed(expectOneRow(op, tile)))
    return failure();
  int64_t perGroup =
      typeOf(op.getSrc()).getDimSize(2) / int64_t(op.getGroups());
  if (perGroup != 0 && tile.getColumns() % perGroup != 0)
    return op.emitOpError("expects a tile of whole groups of ")
           << perGroup << " channels, but got " << tile.getColumns();
  if (schedule.getGrid().getRows() != 1)
    return op.emitOpError("expects tasks of 1 sample, but got ")
           << schedule.getGrid().getRows();
  return success();
}

static LogicalResult verifySchedule(WinogradConvOp op, ScheduleAttr schedule) {
  TileAttr tile = schedule.getTile();
  if (failed(expectParts(op, schedule, {"tile", "grid", "tile_block"})) ||
      failed(expectWholeTiles(op, tile, schedule.getGrid())))
    return failure();
  PackedWeights weights(op.getWeights());
  if (failed(verifyPanels(op, weights, tile)))
    return failure();
  return verifyTileBlock(op, schedule, Winograd(op.getFormat().getOutputs()),
                         weights.depth);
}

LogicalResult checks::verifySchedule(Operation *op) {
  auto scheduled = cast<ScheduledOpInterface>(op);
  ScheduleAttr schedule = scheduled.getScheduleAttr();
  if (!schedule)
    return success();
  return TypeSwitch<Operation *, LogicalResult>(op)
      .Case<BandMatMulOp, PackSignsOp, ResampleOp, RoundBlocksOp, RowNormOp,
            SoftmaxOp>(
          [&](auto kernel) { return verifyRowSchedule(kernel, schedule); })
      .Case<AttentionOp, ConvOp, DepthwiseConvOp, GroupNormOp, MatMulOp,
            PackedMatMulOp, PoolOp, RecurrentOp, ReduceOp, WinogradConvOp>(
          [&](auto kernel) { return ::verifySchedule(kernel, schedule); });
}
