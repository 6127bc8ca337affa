//===- ChooseTile.cpp - tiles of transposes -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/schedule/ChooseTile.h"

#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/products/Product.h"
#include "passes/cuda/schedule/Grids.h"
#include "passes/cuda/schedule/Machine.h"

#include "mlir/Dialect/LLVMIR/LLVMTypes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>
#include <random>

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

//===----------------------------------------------------------------------===//
// Facts
//===----------------------------------------------------------------------===//

static int64_t bytesOf(Type element) {
  return int64_t(llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
}

/// Returns the loop along which an operand is contiguous. Dimensions of size 1
/// do not count. Returns nullopt if there is none.
static std::optional<unsigned> contiguousLoop(MemRefType type, AffineMap map) {
  int64_t offset;
  SmallVector<int64_t> strides;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  for (unsigned i = map.getNumResults(); i-- > 0;) {
    if (type.getDimSize(i) == 1)
      continue;
    auto dim = dyn_cast<AffineDimExpr>(map.getResult(i));
    if (!dim || strides[i] != 1)
      return std::nullopt;
    return dim.getPosition();
  }
  return std::nullopt;
}

/// Returns the distance of neighbors along `loop`, in elements. An unknown one
/// is a large number.
static int64_t strideOf(MemRefType type, AffineMap map, unsigned loop) {
  int64_t offset, stride = kOpenSteps;
  SmallVector<int64_t> strides;
  std::optional<unsigned> position =
      map.getResultPosition(getAffineDimExpr(loop, map.getContext()));
  if (position && succeeded(type.getStridesAndOffset(strides, offset)) &&
      !ShapedType::isDynamic(strides[*position]))
    stride = strides[*position];
  return stride;
}

/// Returns the neighboring elements along `loop` of the widest access.
static int64_t widestAccess(linalg::LinalgOp op, Value memref, unsigned loop) {
  auto type = cast<MemRefType>(memref.getType());
  const int64_t steps = op.getStaticLoopRanges()[loop];
  if (ShapedType::isDynamic(steps) || !type.getElementType().isIntOrFloat())
    return 1;
  return StridedLayout::of(memref).alignedElements(
      kAccessBytes / bytesOf(type.getElementType()), steps);
}

/// Returns the loop along which an operand is contiguous. Returns nullopt if it
/// is `dst`, or if shared memory cannot hold a tile of both loops.
static std::optional<unsigned>
transposedLoop(linalg::LinalgOp op, OpOperand *operand, unsigned dst) {
  auto type = dyn_cast<MemRefType>(operand->get().getType());
  if (!type || !LLVM::isCompatibleType(type.getElementType()) ||
      !type.getElementType().isIntOrFloat())
    return std::nullopt;
  AffineMap map = op.getMatchingIndexingMap(operand);
  std::optional<unsigned> src = contiguousLoop(type, map);
  if (!src || *src == dst || !map.isFunctionOfDim(dst) ||
      op.getStaticLoopRanges()[*src] == 1)
    return std::nullopt;
  // The rows of a tile are contiguous.
  const AffineExpr along = getAffineDimExpr(*src, op.getContext());
  const int64_t uses = llvm::count_if(map.getResults(), [&](AffineExpr result) {
    return result.isFunctionOfDim(*src);
  });
  if (uses != 1 || !map.getResultPosition(along))
    return std::nullopt;
  return src;
}

/// Returns the steps of each loop. An open tensor is taken for a large one.
static SmallVector<int64_t> usualSteps(linalg::LinalgOp op) {
  SmallVector<int64_t> steps = op.getStaticLoopRanges();
  for (auto [loop, count] : llvm::enumerate(steps))
    if (ShapedType::isDynamic(count))
      count = loop == 0 ? kUsual.batch : kOpenSteps;
  return steps;
}

std::optional<Transpose> Transpose::of(linalg::LinalgOp op) {
  if (!op.hasPureBufferSemantics() || op.getNumReductionLoops() != 0 ||
      op.getNumLoops() < 2 || op.getNumDpsInits() == 0)
    return std::nullopt;
  AffineMap order = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!order.isPermutation() || llvm::is_contained(ranges, 0))
    return std::nullopt;
  Transpose found{op, 0, 0, {}, 0, usualSteps(op)};
  for (AffineExpr result : order.getResults())
    if (unsigned loop = cast<AffineDimExpr>(result).getPosition();
        ranges[loop] != 1)
      found.dst = loop;
  // Operands that are contiguous along different loops: the first one decides.
  std::optional<unsigned> src;
  for (OpOperand *operand : op.getDpsInputOperands()) {
    std::optional<unsigned> own = transposedLoop(op, operand, found.dst);
    if (!own || (src && *own != *src))
      continue;
    src = own;
    auto type = cast<MemRefType>(operand->get().getType());
    found.operands.push_back(
        {operand, bytesOf(type.getElementType()),
         widestAccess(op, operand->get(), *own),
         strideOf(type, op.getMatchingIndexingMap(operand), found.dst)});
  }
  if (!src)
    return std::nullopt;
  found.src = *src;
  found.widestStore = kAccessBytes;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    auto type = cast<MemRefType>(init.get().getType());
    found.widestStore = isContiguousAlong(type, map, found.dst)
                            ? std::min(found.widestStore,
                                       widestAccess(op, init.get(), found.dst))
                            : 1;
  }
  return found;
}

bool Transpose::isOpen(unsigned loop) const {
  return ShapedType::isDynamic(
      linalg::LinalgOp(op).getStaticLoopRanges()[loop]);
}

int64_t Transpose::numElements() const {
  int64_t count = 1;
  for (int64_t number : steps)
    count *= number;
  return count;
}

int64_t Tile::offsetOf(const Transpose &transpose, size_t operand) const {
  int64_t bytes = 0;
  for (size_t i = 0; i < operand; ++i)
    bytes += int64_t(
        llvm::alignTo(uint64_t(pitches[i] * dst * transpose.operands[i].bytes),
                      uint64_t(kAccessBytes)));
  return bytes;
}

std::string Tile::text() const {
  return std::to_string(src) + "x" + std::to_string(dst);
}

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

/// Returns the cycles in which the banks of shared memory serve `count`
/// accesses of each lane of a warp. `addressOf` gives the byte that a lane
/// accesses.
static int64_t
countCycles(int64_t count,
            function_ref<int64_t(int64_t lane, int64_t i)> addressOf) {
  int64_t cycles = 0;
  for (int64_t i = 0; i < count; ++i) {
    llvm::SmallDenseSet<int64_t, 32> words;
    SmallVector<int64_t, kBanks> perBank(kBanks);
    int64_t most = 0;
    for (int64_t lane = 0; lane < kWarp; ++lane)
      if (int64_t word = addressOf(lane, i) / kBankBytes;
          words.insert(word).second)
        most = std::max(most, ++perBank[word % kBanks]);
    cycles += most;
  }
  return cycles;
}

/// Returns the cycles of shared memory for a tile of `operand` with this pitch.
static int64_t sharedCycles(const Tile &tile, int64_t bytes, int64_t loaded,
                            int64_t pitch) {
  const int64_t loadLanes = tile.src / loaded,
                storeLanes = tile.dst / tile.stored,
                elements = tile.src * tile.dst;
  const int64_t writes = countCycles(loaded, [&](int64_t lane, int64_t i) {
    return (lane / loadLanes * pitch + lane % loadLanes * loaded + i) * bytes;
  });
  const int64_t reads = countCycles(tile.stored, [&](int64_t lane, int64_t i) {
    return ((lane % storeLanes * tile.stored + i) * pitch + lane / storeLanes) *
           bytes;
  });
  return writes * (elements / (kWarp * loaded)) +
         reads * (elements / (kWarp * tile.stored));
}

/// The most elements behind a row of a tile that shift the next row to other
/// banks.
static constexpr int64_t kMaxPadding = 8;

/// Gives each operand the pitch with the fewest conflicts of banks.
static void choosePitches(const Transpose &transpose, Tile &tile) {
  for (auto [operand, loaded] :
       llvm::zip_equal(transpose.operands, tile.loaded)) {
    int64_t best = 0, least = 0;
    for (int64_t padding = 0; padding <= kMaxPadding; ++padding) {
      const int64_t pitch = tile.src + padding,
                    cycles = sharedCycles(tile, operand.bytes, loaded, pitch);
      if (best == 0 || cycles < least) {
        best = pitch;
        least = cycles;
      }
    }
    tile.pitches.push_back(best);
  }
}

//===----------------------------------------------------------------------===//
// Estimates
//===----------------------------------------------------------------------===//

namespace {

/// Rows of neighboring elements that threads access together.
struct Access {
  int64_t rows, run;
  /// Distance of two rows, in elements.
  int64_t stride;
  int64_t bytes;

  /// Returns the bytes of the pieces of `unit` bytes in which the elements lie.
  int64_t touched(int64_t unit) const {
    const int64_t length = run * bytes,
                  row = length % unit == 0 ? length : unit + length - bytes;
    // Rows that lie close to each other share pieces.
    return std::min(rows * row, unit + ((rows - 1) * stride + run) * bytes);
  }
};

/// Requests of a kernel to the memory: bytes of operands, bytes of sectors that
/// the L2 cache delivers, and lines that warps touch.
struct Traffic {
  int64_t unique = 0, delivered = 0, lines = 0;

  /// Adds an access that happens `count` times.
  void add(const Access &access, int64_t count) {
    delivered += count * access.touched(kSectorBytes);
    lines += count * access.touched(kLineBytes) / kLineBytes;
  }
  /// Returns the cycles of a kernel with `blocks`, which is busy in shared
  /// memory for `shared` cycles. Most of the time, units work together.
  int64_t cycles(int64_t blocks, int64_t shared) const {
    const int64_t processors = std::min(kProcessors, blocks);
    const int64_t units[] = {unique / kMemoryBytes,
                             delivered / (kCacheBytes * processors),
                             lines / processors, shared / processors};
    const int64_t longest = *llvm::max_element(units),
                  all = std::accumulate(std::begin(units), std::end(units),
                                        int64_t(0));
    return longest + (all - longest) / kOverlap;
  }
};

} // namespace

/// Returns the memrefs that a thread reads or writes in the order of the
/// result.
static SmallVector<OpOperand *> orderedOperands(const Transpose &transpose) {
  SmallVector<OpOperand *> found;
  linalg::LinalgOp op = transpose.op;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (type && type.getElementType().isIntOrFloat() &&
        op.getMatchingIndexingMap(&operand).isFunctionOfDim(transpose.dst) &&
        llvm::none_of(transpose.operands, [&](const TransposedOperand &other) {
          return other.operand == &operand;
        }))
      found.push_back(&operand);
  }
  return found;
}

static int64_t bytesPerElement(const Transpose &transpose) {
  int64_t bytes = 0;
  for (const TransposedOperand &operand : transpose.operands)
    bytes += operand.bytes;
  for (OpOperand *operand : orderedOperands(transpose))
    bytes += bytesOf(getElementTypeOrSelf(operand->get().getType()));
  return bytes;
}

/// Returns the accesses of a transposed operand by `threads` of a grid.
static Access gridAccess(const Transpose &transpose,
                         const TransposedOperand &operand, int64_t threads) {
  linalg::LinalgOp op = transpose.op;
  const int64_t dst = std::min(threads, transpose.steps[transpose.dst]),
                others = threads / dst;
  // Threads behind a row of the result take the next step of the loop before.
  AffineMap order = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  std::optional<unsigned> before;
  for (AffineExpr result : order.getResults()) {
    const unsigned loop = cast<AffineDimExpr>(result).getPosition();
    if (loop == transpose.dst)
      break;
    if (transpose.steps[loop] != 1)
      before = loop;
  }
  if (before && *before == transpose.src)
    return {dst, std::min(others, transpose.steps[transpose.src]),
            operand.stride, operand.bytes};
  return {dst * others, 1, operand.stride, operand.bytes};
}

int64_t cuda::estimateGrid(const Transpose &transpose) {
  const int64_t elements = transpose.numElements(),
                warps = int64_t(llvm::divideCeil(elements, kWarp)),
                blocks = int64_t(llvm::divideCeil(elements, kGridThreads));
  Traffic traffic{elements * bytesPerElement(transpose)};
  for (const TransposedOperand &operand : transpose.operands) {
    // Warps of a block share sectors.
    traffic.delivered +=
        blocks *
        gridAccess(transpose, operand, kGridThreads).touched(kSectorBytes);
    traffic.lines += warps *
                     gridAccess(transpose, operand, kWarp).touched(kLineBytes) /
                     kLineBytes;
  }
  for (OpOperand *operand : orderedOperands(transpose))
    traffic.add({1, kWarp, kWarp,
                 bytesOf(getElementTypeOrSelf(operand->get().getType()))},
                warps);
  return kLatency + traffic.cycles(blocks, /*shared=*/0);
}

/// Returns the cycles of the op with a tile, and those in which units are busy.
static std::pair<int64_t, int64_t> estimate(const Transpose &transpose,
                                            const Tile &tile) {
  linalg::LinalgOp op = transpose.op;
  const int64_t src = transpose.steps[transpose.src],
                dst = transpose.steps[transpose.dst],
                elements = transpose.numElements();
  const int64_t srcTiles = int64_t(llvm::divideCeil(src, tile.src)),
                dstTiles = int64_t(llvm::divideCeil(dst, tile.dst)),
                blocks = elements / (src * dst) * srcTiles * dstTiles;
  // Steps of a tile, the last of which may have fewer.
  const int64_t rows = int64_t(llvm::divideCeil(src, srcTiles)),
                columns = int64_t(llvm::divideCeil(dst, dstTiles));
  Traffic traffic{elements * bytesPerElement(transpose)};
  int64_t shared = 0;
  for (auto [operand, loaded, pitch] :
       llvm::zip_equal(transpose.operands, tile.loaded, tile.pitches)) {
    traffic.add({columns, rows, operand.stride, operand.bytes}, blocks);
    shared += blocks * sharedCycles(tile, operand.bytes, loaded, pitch);
  }
  for (OpOperand *operand : orderedOperands(transpose)) {
    auto type = cast<MemRefType>(operand->get().getType());
    traffic.add(
        {rows, columns,
         strideOf(type, op.getMatchingIndexingMap(operand), transpose.src),
         bytesOf(type.getElementType())},
        blocks);
  }
  return {kLatency + kTileWait + traffic.cycles(blocks, shared),
          traffic.delivered / kCacheBytes + traffic.lines + shared +
              blocks * kStep};
}

int64_t cuda::estimateCycles(const Transpose &transpose, const Tile &tile) {
  return estimate(transpose, tile).first;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// The fewest and the most elements of a tile, and the longest side.
static constexpr int64_t kMinElements = kGridThreads, kMaxElements = 4096,
                         kMaxSide = 1024;

/// Makes a tile. Accesses are as wide as possible, but each thread has one.
/// They have `narrower` of the elements of the widest ones.
static Tile makeTile(const Transpose &transpose, int64_t src, int64_t dst,
                     int64_t narrower) {
  Tile tile{src, dst, {}, 1, {}};
  const int64_t most = src * dst / kGridThreads;
  auto width = [&](int64_t widest, int64_t side) {
    return std::max<int64_t>(std::min({widest, most, side}) / narrower, 1);
  };
  for (const TransposedOperand &operand : transpose.operands)
    tile.loaded.push_back(width(operand.widest, src));
  tile.stored = width(transpose.widestStore, dst);
  choosePitches(transpose, tile);
  return tile;
}

/// Returns the sides of all tiles that serve.
static SmallVector<std::pair<int64_t, int64_t>>
listTiles(const Transpose &transpose) {
  int64_t bytes = 0;
  for (const TransposedOperand &operand : transpose.operands)
    bytes += operand.bytes;
  auto longest = [&](unsigned loop) {
    return std::min(
        kMaxSide, int64_t(llvm::PowerOf2Ceil(uint64_t(transpose.steps[loop]))));
  };
  SmallVector<std::pair<int64_t, int64_t>> found;
  for (int64_t src = 2; src <= longest(transpose.src); src *= 2)
    for (int64_t dst = 2; dst <= longest(transpose.dst); dst *= 2)
      if (src * dst >= kMinElements && src * dst <= kMaxElements &&
          (src + kMaxPadding) * dst * bytes <= kTransposeBytes)
        found.push_back({src, dst});
  return found;
}

static std::string sizesText(const Transpose &transpose) {
  auto text = [&](unsigned loop) {
    return transpose.isOpen(loop) ? std::string("?")
                                  : std::to_string(transpose.steps[loop]);
  };
  return text(transpose.src) + "x" + text(transpose.dst);
}

static std::string whyNoTile(const Transpose &transpose) {
  return "transposes " + sizesText(transpose) + " elements, which no tile fits";
}

Reason cuda::chooseTile(const Transpose &transpose, Tile &tile,
                        SmallVectorImpl<Alternative> &others) {
  const int64_t grid = estimateGrid(transpose);
  others.push_back({"grid", grid});
  // Memory takes the same time with many tiles. The one that keeps the fewest
  // units busy is taken.
  std::optional<std::pair<int64_t, int64_t>> least;
  const auto sides = listTiles(transpose);
  for (auto [src, dst] : sides) {
    Tile other = makeTile(transpose, src, dst, /*narrower=*/1);
    const auto cost = estimate(transpose, other);
    others.push_back({other.text(), cost.first});
    if (least && cost >= *least)
      continue;
    least = cost;
    tile = other;
  }
  if (sides.empty())
    return whyNoTile(transpose);
  if (least->first >= grid)
    return "transposes " + sizesText(transpose) +
           " elements, for which a tile takes longer";
  return std::nullopt;
}

Reason cuda::drawTile(const Transpose &transpose, Tile &tile, uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto sides = listTiles(transpose);
  if (sides.empty())
    return whyNoTile(transpose);
  auto [src, dst] = sides[random() % sides.size()];
  tile = makeTile(transpose, src, dst, int64_t(1) << random() % 3);
  return std::nullopt;
}
