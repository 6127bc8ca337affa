//===- PlaceChunks.cpp - place-chunks -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Constants.h"
#include "passes/memory/ArenaPlan.h"
#include "passes/memory/BatchImages.h"
#include "passes/memory/Passes.h"
#include "passes/memory/ReleaseBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/Transforms/BufferViewFlowAnalysis.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_PLACECHUNKS
#include "passes/memory/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// Returns the bytes of an image.
static int64_t bytesOfImage(memref::AllocOp alloc) {
  MemRefType type = alloc.getType();
  int64_t bytes = nn::elementBytes(type.getElementType());
  for (int64_t size : type.getShape().drop_front())
    bytes *= size;
  return bytes;
}

/// Assigns offsets to the buffers of one image. Returns the bytes of all
/// buffers.
static int64_t placeBuffers(ArrayRef<memref::AllocOp> allocs,
                            BufferViewFlowAnalysis &aliases,
                            SmallVectorImpl<ArenaBuffer> &buffers) {
  DenseMap<Operation *, int64_t> places;
  Block *body = allocs.front()->getBlock();
  for (Operation &op : *body)
    places[&op] = places.size();
  for (memref::AllocOp alloc : allocs) {
    ArenaBuffer buffer;
    buffer.bytes = bytesOfImage(alloc);
    buffer.first = std::numeric_limits<int64_t>::max();
    for (Operation *user : usersOf(alloc, aliases)) {
      if (isMemoryEffectFree(user))
        continue;
      int64_t place = places.lookup(body->findAncestorOpInBlock(*user));
      buffer.first = std::min(buffer.first, place);
      buffer.last = std::max(buffer.last, place);
    }
    buffers.push_back(buffer);
  }
  return llvm::alignTo(assignOffsets(buffers), kAlignment);
}

static LogicalResult placeChunks(scf::ForOp loop,
                                 BufferViewFlowAnalysis &aliases) {
  auto allocs = llvm::to_vector(loop.getBody()->getOps<memref::AllocOp>());
  if (allocs.empty())
    return success();
  SmallVector<ArenaBuffer> buffers;
  int64_t bytes = placeBuffers(allocs, aliases, buffers);
  if (failed(verifyOffsets(buffers)))
    return loop.emitError("plan of a chunk overlaps live buffers");

  OpBuilder builder(loop);
  Location loc = loop.getLoc();
  auto chunk = loop.getStep().getDefiningOp<ChunkOp>();
  // If the number of images is known, the arena has room for a chunk of all
  // images.
  std::optional<int64_t> count = getConstantIntValue(chunk.getImages());
  MemRefType type = MemRefType::get(
      {count.value_or(ShapedType::kDynamic), bytes}, builder.getI8Type());
  SmallVector<Value> open;
  if (!count)
    open.push_back(chunk);
  Value all = memref::AllocOp::create(builder, loc, type, open,
                                      builder.getI64IntegerAttr(kAlignment));
  Value memory = memref::CollapseShapeOp::create(
      builder, loc, all, SmallVector<ReassociationIndices>{{0, 1}});
  auto dynamic = MemRefType::get({ShapedType::kDynamic}, builder.getI8Type());
  if (memory.getType() != dynamic)
    memory = memref::CastOp::create(builder, loc, dynamic, memory);
  for (auto [alloc, buffer] : llvm::zip_equal(allocs, buffers)) {
    builder.setInsertionPoint(loop);
    Value offset = arith::MulIOp::create(
        builder, loc, chunk,
        arith::ConstantIndexOp::create(builder, loc, buffer.offset));
    builder.setInsertionPoint(alloc);
    Value view =
        memref::ViewOp::create(builder, alloc.getLoc(), alloc.getType(), memory,
                               offset, alloc.getDynamicSizes());
    alloc.replaceAllUsesWith(view);
    alloc.erase();
  }
  return success();
}

namespace {
struct PlaceChunksPass : ingot::impl::PlaceChunksBase<PlaceChunksPass> {
  void runOnOperation() override {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isImageLoop(loop))
        loops.push_back(loop);
    });
    if (loops.empty())
      return markAllAnalysesPreserved();
    BufferViewFlowAnalysis aliases(getOperation());
    for (scf::ForOp loop : loops)
      if (failed(placeChunks(loop, aliases)))
        return signalPassFailure();
  }
};
} // namespace
