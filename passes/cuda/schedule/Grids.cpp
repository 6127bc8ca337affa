//===- Grids.cpp - schedules of grids -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/schedule/Grids.h"

#include "dialects/cuda/CudaDialect.h"
#include "passes/cuda/schedule/Machine.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;

/// Threads that fill the multiprocessors of a GPU: 1,024 each. A grid
/// with fewer threads gives a thread fewer elements.
static constexpr int64_t kFullThreads = cuda::kProcessors * 1024;

bool cuda::isContiguousAlong(MemRefType type, AffineMap map, unsigned loop) {
  if (!map.isFunctionOfDim(loop))
    return true;
  for (unsigned i = 0; i + 1 < map.getNumResults(); ++i)
    if (map.getResult(i).isFunctionOfDim(loop))
      return false;
  int64_t offset;
  SmallVector<int64_t> strides;
  return isa<AffineDimExpr>(map.getResults().back()) &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides.back() == 1;
}

int64_t cuda::chooseThreadElements(linalg::LinalgOp op, unsigned last) {
  int64_t widest = 1;
  for (OpOperand &operand : op->getOpOperands()) {
    auto type = dyn_cast<MemRefType>(operand.get().getType());
    if (!type)
      continue;
    AffineMap map = op.getMatchingIndexingMap(&operand);
    if (!isContiguousAlong(type, map, last))
      return 1;
    Type element = type.getElementType();
    if (map.isFunctionOfDim(last) && element.isIntOrFloat())
      widest = std::max<int64_t>(
          widest, llvm::divideCeil(element.getIntOrFloatBitWidth(), 8));
  }
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (ShapedType::isDynamic(ranges[last]))
    return 1;
  // A grid of open size is taken for a large one.
  int64_t elements = 1;
  bool isOpen = false;
  for (auto [range, iterator] :
       llvm::zip_equal(ranges, op.getIteratorTypesArray())) {
    if (iterator != utils::IteratorType::parallel)
      continue;
    isOpen |= ShapedType::isDynamic(range);
    elements *= range;
  }
  int64_t count = cuda::kAccessBytes / std::min(widest, cuda::kAccessBytes);
  while (count > 1 && (ranges[last] % count != 0 ||
                       (!isOpen && elements / count < kFullThreads)))
    count /= 2;
  return count;
}

/// The fewest elements that a warp reduces, and a block.
static constexpr int64_t kWarpElements = 32, kBlockElements = 1024;

/// Results from which on warps fill the multiprocessors.
static constexpr int64_t kFullRows = kFullThreads / 32;

cuda::RowTeam cuda::chooseRowTeam(linalg::LinalgOp op,
                                  ArrayRef<unsigned> parallel) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t rows = 1, depth = 1;
  std::optional<unsigned> last;
  bool hasOpenRows = false, hasOpenDepth = false;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
    const bool isRow = llvm::is_contained(parallel, loop);
    if (!isRow)
      last = loop;
    if (ShapedType::isDynamic(ranges[loop]))
      (isRow ? hasOpenRows : hasOpenDepth) = true;
    else
      (isRow ? rows : depth) *= ranges[loop];
  }
  // Rows of open size are taken for long ones.
  if (!last || rows == 0 || (!hasOpenDepth && depth < kWarpElements))
    return RowTeam::thread;
  // Lanes read neighboring elements of each factor that changes along a row.
  for (OpOperand *input : op.getDpsInputOperands()) {
    auto type = dyn_cast<MemRefType>(input->get().getType());
    if (type &&
        !isContiguousAlong(type, op.getMatchingIndexingMap(input), *last))
      return RowTeam::thread;
  }
  // Open sizes are taken for many rows.
  return !hasOpenRows && !hasOpenDepth && depth >= kBlockElements &&
                 rows < kFullRows
             ? RowTeam::block
             : RowTeam::warp;
}
