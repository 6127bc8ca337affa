//===- TileLoader.cpp - copies of factors to shared memory ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/products/TileLoader.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Bytes of the smallest asynchronous copy.
static constexpr int64_t kAsyncCopyBytes = 4;

Value TileLayout::offsetOf(Value row, Value chunk) const {
  // Eight rows with the same chunk are to fill all 32 banks of 4 bytes. Two
  // rows of 64 bytes fill them together.
  const int64_t chunks = depthBytes / kAccessBytes, rowsOfBanks = 8 / chunks;
  Value mask = code.remainder(code.divide(row, rowsOfBanks), chunks);
  return code.add(code.multiply(row, depthBytes),
                  code.multiply(code.exclusiveOr(chunk, mask), kAccessBytes));
}

TileLoader::TileLoader(Code &code, const Tile &tile, Value thread)
    : code(&code), thread(thread), element(tile.element),
      depthBytes(tile.depthBytes), pieceBytes(tile.pieceBytes),
      numRows(tile.numRows), threads(tile.threads),
      stepElements(depthBytes * 8 / element.getIntOrFloatBitWidth()) {}

/// Adds the thread's pieces. Its pieces of all rows begin at the same element.
void TileLoader::addPieces(llvm::function_ref<Piece(Value row)> makePiece) {
  const int64_t piecesOfRow = depthBytes / pieceBytes,
                elements = pieceBytes * stepElements / depthBytes;
  const int64_t total = numRows * piecesOfRow;
  Value piece = code->remainder(thread, piecesOfRow);
  firstElement = code->multiply(piece, elements);
  Value first = code->divide(thread, piecesOfRow);
  TileLayout layout(*code, depthBytes);
  const int64_t perChunk = kAccessBytes / pieceBytes;
  Value chunk = code->divide(piece, perChunk);
  Value inChunk = code->multiply(code->remainder(piece, perChunk), pieceBytes);
  for (int64_t at = 0; at < total; at += threads) {
    Value row = code->add(first, at / piecesOfRow);
    Piece made = makePiece(row);
    made.place = code->add(layout.offsetOf(row, chunk), inChunk);
    // The last threads have no piece if the tile is small.
    if (at + threads > total)
      made.isInTile = code->isWithin(row, numRows);
    pieces.push_back(made);
  }
}

TileLoader TileLoader::ofSrc(Code &code, const Product &product, Value thread,
                             Value firstRow, Value batch) {
  ScheduleAttr schedule = product.schedule();
  const StridedLayout &src = product.src;
  TileLoader loader(code,
                    {src.element, schedule.getDepth(), schedule.getSrcBytes(),
                     schedule.getRows(), schedule.getThreads()},
                    thread);
  loader.address = code.addressOf(product.op->getOperand(0));
  loader.depth = product.depth();
  if (product.taps() > 1)
    loader.channels = product.channels().known();
  loader.channelStride = src.strides.back();
  const unsigned numBatch = product.numBatchDims;
  Value base = code.offsetOf(batch, ArrayRef(src.sizes).take_front(numBatch),
                             ArrayRef(src.strides).take_front(numBatch));
  if (product.groups > 1)
    base = code.multiply(
        batch, code.product({product.channels(), src.strides.back()}));
  ArrayRef<Number> strides =
      ArrayRef(src.strides).drop_front(numBatch).drop_back();
  loader.windows = product.windows;
  loader.windowStrides = llvm::to_vector(strides);
  // A step of a window in the result moves it by `stride` pixels.
  SmallVector<Number> moves;
  for (auto [window, stride] : llvm::zip_equal(product.windows, strides)) {
    moves.push_back(code.product({window.stride, stride}));
    base = code.add(base, code.multiply(code.number(-window.pad), stride));
  }
  const Number rows = code.product(product.rowSizes());
  const bool isAnyPadded = llvm::any_of(
      product.windows, [](const WindowDim &dim) { return dim.isPadded; });
  loader.addPieces([&](Value row) {
    Piece piece;
    Value number = code.add(firstRow, row);
    if (!rows.isMultipleOf(schedule.getRows()))
      piece.isRow = code.isWithin(number, rows);
    piece.base =
        code.add(base, code.offsetOf(number, product.rowSizes(), moves));
    if (!isAnyPadded)
      return piece;
    SmallVector<Value> indices = code.delinearize(number, product.rowSizes());
    for (auto [window, index] : llvm::zip_equal(product.windows, indices))
      piece.pixels.push_back(
          window.isPadded
              ? code.add(code.multiply(index, window.stride), -window.pad)
              : Value());
    return piece;
  });
  return loader;
}

TileLoader TileLoader::ofWeights(Code &code, const Product &product,
                                 Value thread, Value firstRow, Value batch) {
  ScheduleAttr schedule = product.schedule();
  const StridedLayout &weights = product.weights;
  const size_t rank = weights.sizes.size();
  TileLoader loader(code,
                    {weights.element, schedule.getDepth(),
                     schedule.getWeightsBytes(), schedule.getColumns(),
                     schedule.getThreads()},
                    thread);
  loader.address = code.addressOf(product.op->getOperand(1));
  loader.depth = weights.sizes.back();
  loader.channelStride = weights.strides.back();
  Value base = code.offsetOf(batch, ArrayRef(weights.sizes).drop_back(2),
                             ArrayRef(weights.strides).drop_back(2));
  if (product.groups > 1)
    base = code.multiply(batch,
                         code.product({product.columns(), weights.strides[0]}));
  loader.addPieces([&](Value row) {
    Piece piece;
    Value number = code.add(firstRow, row);
    if (!product.columns().isMultipleOf(schedule.getColumns()))
      piece.isRow = code.isWithin(number, product.columns());
    piece.base =
        code.add(base, code.multiply(number, weights.strides[rank - 2]));
    return piece;
  });
  return loader;
}

void cuda::copyToShared(Code &code, const GlobalPlace &source,
                        const SharedPlace &target, Value isInside,
                        int64_t bytes) {
  Value zero = code.number(0), offset = source.offset;
  // A copy from outside reads nothing, but its address must be valid.
  if (isInside)
    offset = code.select(isInside, offset, zero);
  Value from = code.shift(source.address, source.element, offset);
  Value to = code.shift(target.tile, code.b.getI8Type(), target.offset);
  if (bytes < kAsyncCopyBytes) {
    Type bits = code.b.getIntegerType(unsigned(8 * bytes));
    Value value = code.load(from, bits, bytes);
    if (isInside)
      value = code.select(isInside, value,
                          LLVM::ConstantOp::create(code.b, code.loc, bits, 0));
    code.store(value, to, bytes);
    return;
  }
  Value size;
  if (isInside)
    size = code.select(isInside, code.number(bytes), zero);
  // Only copies of 16 bytes can bypass the L1 cache.
  auto cache = bytes == kAccessBytes ? NVVM::LoadCacheModifierKind::CG
                                     : NVVM::LoadCacheModifierKind::CA;
  NVVM::CpAsyncOp::create(code.b, code.loc, to, from, uint32_t(bytes), cache,
                          size);
}

void TileLoader::load(Value step, Value tile) const {
  Value element = code->add(code->multiply(step, stepElements), firstElement);
  Value isInside;
  if (!depth.isMultipleOf(stepElements))
    isInside = code->isWithin(element, depth);
  // Position of the element in the window.
  Value channel = element;
  SmallVector<Value> taps(windows.size());
  if (channels) {
    channel = code->remainder(element, *channels);
    SmallVector<Number> sizes;
    for (const WindowDim &window : windows)
      sizes.push_back(window.taps);
    taps = code->delinearize(code->divide(element, *channels), sizes);
  }
  Value offset = code->multiply(channel, channelStride);
  SmallVector<Value> pixels(windows.size());
  for (auto [i, window] : llvm::enumerate(windows)) {
    if (window.taps == 1)
      continue;
    pixels[i] = code->multiply(taps[i], window.dilation);
    offset = code->add(offset, code->multiply(pixels[i], windowStrides[i]));
  }
  for (const Piece &piece : pieces) {
    Value isCopied = code->both(isInside, piece.isRow);
    for (auto [i, first] : llvm::enumerate(piece.pixels)) {
      if (!first)
        continue;
      Value pixel = pixels[i] ? code->add(first, pixels[i]) : first;
      isCopied = code->both(isCopied, code->isWithin(pixel, windows[i].size));
    }
    OpBuilder::InsertionGuard guard(code->b);
    if (piece.isInTile) {
      auto branch = scf::IfOp::create(code->b, code->loc, piece.isInTile,
                                      /*withElseRegion=*/false);
      code->b.setInsertionPoint(branch.thenYield());
    }
    copyToShared(*code, {address, this->element, code->add(piece.base, offset)},
                 {tile, piece.place}, isCopied, pieceBytes);
  }
}
