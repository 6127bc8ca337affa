//===- OutlineTransposes.cpp - cuda-outline-transposes --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/Code.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/kernels/LoopKernels.h"
#include "passes/cuda/schedule/ChooseTile.h"
#include "passes/cuda/schedule/Grids.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINETRANSPOSES
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Returns the steps of a loop that a block takes.
static int64_t sideOf(const Transpose &transpose, const Tile &tile,
                      unsigned loop) {
  if (loop == transpose.src)
    return tile.src;
  return loop == transpose.dst ? tile.dst : 1;
}

/// Returns the number of tiles along a loop. `values` maps the memrefs of the
/// op to those whose sizes are read.
static Value countTiles(OpBuilder &b, const Transpose &transpose,
                        const Tile &tile, unsigned loop,
                        const IRMapping &values) {
  linalg::LinalgOp op = transpose.op;
  Value steps = stepsOf(b, op, loop, values);
  return countBlocks(b, op.getLoc(), getAsOpFoldResult(steps),
                     sideOf(transpose, tile, loop));
}

namespace {

/// Writes a kernel in which a block transposes a tile in shared memory.
class TransposeEmitter {
public:
  TransposeEmitter(LoopKernel &kernel, const Transpose &transpose,
                   const Tile &tile)
      : b(kernel.b), loc(kernel.op.getLoc()), code(b, loc),
        transpose(transpose), tile(tile), kernel(kernel),
        element(b, transpose.op, kernel.outside), bases(transpose.steps.size()),
        loops(ElementEmitter::parallelLoops(transpose.op)) {}

  void emit(ModuleOp kernels);

private:
  Value number(int64_t value) {
    return arith::ConstantIndexOp::create(b, loc, value);
  }
  Value add(Value x, Value y) {
    return b.createOrFold<arith::AddIOp>(loc, x, y);
  }
  Value stepsOf(unsigned loop) {
    return cuda::stepsOf(b, transpose.op, loop, kernel.outside);
  }
  /// Returns the step of a loop that lies `distance` behind the tile's first.
  Value stepAt(unsigned loop, Value distance) {
    return add(bases[loop], b.createOrFold<arith::IndexCastUIOp>(
                                loc, b.getIndexType(), distance));
  }
  /// Returns true if no tile has steps behind the last one of the loop.
  bool isWhole(unsigned loop) const {
    return !transpose.isOpen(loop) &&
           transpose.steps[loop] % sideOf(transpose, tile, loop) == 0;
  }
  /// Returns the address of an element of an operand's tile.
  Value slot(size_t operand, Value src, Value dst);

  void placeTile();
  Value clamp(unsigned loop, Value step, int64_t count);
  Values loadVectors(size_t operand);
  void keepVectors(size_t operand, ArrayRef<Value> loaded);
  void storeVectors();
  void storeVector(Value src, Value dst);

  OpBuilder &b;
  Location loc;
  Code code;
  const Transpose &transpose;
  const Tile &tile;
  LoopKernel &kernel;
  ElementEmitter element;
  /// The first step of the tile in each loop.
  Values bases;
  SmallVector<unsigned> loops;
  Value shared, thread;
};

struct OutlineTransposesPass
    : ingot::impl::OutlineTransposesBase<OutlineTransposesPass> {
  using OutlineTransposesBase::OutlineTransposesBase;
  void runOnOperation() override;
  void outline(const Transpose &transpose, loops::KernelTable &table);

  /// Ops for which a tile was drawn.
  uint64_t numDrawn = 0;
};

} // namespace

/// Finds the tile of the block. The loops of the result follow each other in
/// its order.
void TransposeEmitter::placeTile() {
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  // Divisions of 32 bits take a third of the instructions of 64 bits.
  const bool isKnown = llvm::none_of(
      loops, [&](unsigned loop) { return transpose.isOpen(loop); });
  Type type = b.getIndexType();
  if (isKnown &&
      transpose.numElements() <= std::numeric_limits<int32_t>::max()) {
    type = b.getI32Type();
    block = arith::IndexCastUIOp::create(b, loc, type, block);
  }
  auto cast = [&](Value value, Type to) {
    return value.getType() == to
               ? value
               : b.createOrFold<arith::IndexCastUIOp>(loc, to, value);
  };
  for (unsigned loop : llvm::reverse(loops)) {
    Value index = block;
    if (loop != loops.front()) {
      Value count =
          cast(countTiles(b, transpose, tile, loop, kernel.outside), type);
      index = arith::RemUIOp::create(b, loc, block, count);
      block = arith::DivUIOp::create(b, loc, block, count);
    }
    index = cast(index, b.getIndexType());
    if (int64_t side = sideOf(transpose, tile, loop); side != 1)
      index = arith::MulIOp::create(b, loc, index, number(side));
    bases[loop] = index;
    element.setIndex(loop, index);
  }
}

/// Moves the first of `count` steps back, so that all exist. A thread outside
/// of the tensor loads elements that nothing uses.
Value TransposeEmitter::clamp(unsigned loop, Value step, int64_t count) {
  if (isWhole(loop))
    return step;
  Value last = b.createOrFold<arith::SubIOp>(loc, stepsOf(loop), number(count));
  return arith::MinUIOp::create(b, loc, step, last);
}

Value TransposeEmitter::slot(size_t operand, Value src, Value dst) {
  Type type = getElementTypeOrSelf(
      transpose.operands[operand].operand->get().getType());
  const int64_t bytes = transpose.operands[operand].bytes,
                first = tile.offsetOf(transpose, operand) / bytes;
  Value at = code.add(code.multiply(dst, tile.pitches[operand]), src);
  return code.shift(shared, type, code.add(at, first));
}

/// Loads the thread's elements of an operand, in its order.
Values TransposeEmitter::loadVectors(size_t operand) {
  const int64_t count = tile.loaded[operand], lanes = tile.src / count;
  Values loaded;
  for (int64_t pass = 0; pass < lanes * tile.dst; pass += kGridThreads) {
    Value vector = code.add(thread, pass);
    Value dst = stepAt(transpose.dst, code.divide(vector, lanes));
    element.setIndex(transpose.dst, clamp(transpose.dst, dst, /*count=*/1));
    Value src = stepAt(transpose.src,
                       code.multiply(code.remainder(vector, lanes), count));
    src = clamp(transpose.src, src, count);
    for (int64_t i = 0; i < count; ++i) {
      element.setIndex(transpose.src, i == 0 ? src : add(src, number(i)));
      loaded.push_back(element.load(*transpose.operands[operand].operand));
    }
  }
  return loaded;
}

/// Stores these elements in shared memory.
void TransposeEmitter::keepVectors(size_t operand, ArrayRef<Value> loaded) {
  const int64_t count = tile.loaded[operand], lanes = tile.src / count;
  for (auto [i, value] : llvm::enumerate(loaded)) {
    Value vector = code.add(thread, int64_t(i) / count * kGridThreads);
    Value src = code.add(code.multiply(code.remainder(vector, lanes), count),
                         int64_t(i) % count);
    code.store(value, slot(operand, src, code.divide(vector, lanes)),
               transpose.operands[operand].bytes);
  }
}

/// Computes neighboring elements of the result and stores them.
void TransposeEmitter::storeVector(Value src, Value dst) {
  element.setIndex(transpose.src, stepAt(transpose.src, src));
  Values steps;
  for (int64_t i = 0; i < tile.stored; ++i)
    steps.push_back(i == 0 ? stepAt(transpose.dst, dst)
                           : add(steps.front(), number(i)));
  // All elements are computed before the first is stored, so that LLVM can join
  // their accesses.
  SmallVector<Values> results;
  for (auto [i, step] : llvm::enumerate(steps)) {
    element.setIndex(transpose.dst, step);
    for (auto [k, operand] : llvm::enumerate(transpose.operands)) {
      Type type = getElementTypeOrSelf(operand.operand->get().getType());
      Value from = slot(k, src, code.add(dst, int64_t(i)));
      element.setElement(*operand.operand,
                         code.load(from, type, operand.bytes));
    }
    results.push_back(element.compute(element.loadInits()));
  }
  for (auto [step, own] : llvm::zip_equal(steps, results)) {
    element.setIndex(transpose.dst, step);
    element.store(own);
  }
}

void TransposeEmitter::storeVectors() {
  const int64_t lanes = tile.dst / tile.stored;
  for (int64_t pass = 0; pass < lanes * tile.src; pass += kGridThreads) {
    Value vector = code.add(thread, pass);
    Value src = code.divide(vector, lanes);
    Value dst = code.multiply(code.remainder(vector, lanes), tile.stored);
    Value isInside;
    for (auto [loop, step] :
         {std::pair{transpose.src, src}, std::pair{transpose.dst, dst}})
      if (!isWhole(loop))
        isInside = code.both(
            isInside, arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                            stepAt(loop, step), stepsOf(loop)));
    if (!isInside)
      storeVector(src, dst);
    else
      code.when(isInside, [&] { storeVector(src, dst); });
  }
}

void TransposeEmitter::emit(ModuleOp kernels) {
  shared = code.sharedMemory(kernels);
  thread = code.thread();
  placeTile();
  // All loads come first, so that they do not wait for each other.
  SmallVector<Values> loaded;
  for (size_t i = 0; i < transpose.operands.size(); ++i)
    loaded.push_back(loadVectors(i));
  for (auto [i, own] : llvm::enumerate(loaded))
    keepVectors(i, own);
  NVVM::BarrierOp::create(b, loc);
  storeVectors();
}

/// States the alignment of all memrefs whose neighbors threads access together.
static void markAligned(LoopKernel &kernel, const Transpose &transpose,
                        const Tile &tile) {
  llvm::SmallDenseMap<Value, int64_t> counts;
  auto state = [&](Value memref, int64_t count) {
    int64_t &most = counts[memref];
    most = std::max(most, count);
  };
  linalg::LinalgOp op = transpose.op;
  for (auto [operand, count] : llvm::zip_equal(transpose.operands, tile.loaded))
    state(operand.operand->get(), count);
  for (Value init : op.getDpsInits())
    state(init, tile.stored);
  for (auto [i, memref] : llvm::enumerate(kernel.memrefs))
    if (int64_t count = counts.lookup(memref))
      cuda::markAligned(kernel.kernel, unsigned(i),
                        cast<MemRefType>(memref.getType()), count);
}

void OutlineTransposesPass::outline(const Transpose &transpose,
                                    loops::KernelTable &table) {
  linalg::LinalgOp op = transpose.op;
  loops::Captures captures(op);
  if (whyNoKernel(op, captures))
    return;
  Tile tile;
  SmallVector<Alternative> alternatives;
  Reason reason = seed == 0 ? chooseTile(transpose, tile, alternatives)
                            : drawTile(transpose, tile, seed + ++numDrawn);
  record(op, Question::schedule, reason ? "grid" : tile.text(),
         reason ? *reason : "transposes neighboring elements", alternatives);
  if (reason)
    return;
  OpBuilder b(&getContext());
  const int64_t bytes = tile.offsetOf(transpose, transpose.operands.size());
  LoopKernel kernel(b, op, captures, kGridThreads, bytes, /*count=*/1);
  markAligned(kernel, transpose, tile);
  setCycles(kernel.kernel, estimateCycles(transpose, tile));
  TransposeEmitter(kernel, transpose, tile).emit(kernelsOf(getOperation()));
  b.setInsertionPoint(op);
  Value blocks;
  for (unsigned loop : ElementEmitter::parallelLoops(op)) {
    Value count = countTiles(b, transpose, tile, loop, IRMapping());
    blocks = blocks ? b.createOrFold<arith::MulIOp>(op.getLoc(), blocks, count)
                    : count;
  }
  kernel.launch(table, "transpose_", blocks);
  ++launched;
}

void OutlineTransposesPass::runOnOperation() {
  SmallVector<Transpose> transposes;
  for (auto function : getOperation().getOps<func::FuncOp>())
    if (findRunOperand(function, RunOperand::call))
      function.walk([&](linalg::LinalgOp op) {
        if (std::optional<Transpose> transpose = Transpose::of(op))
          transposes.push_back(std::move(*transpose));
      });
  if (transposes.empty())
    return;
  loops::KernelTable table(kernelsOf(getOperation()));
  for (const Transpose &transpose : transposes)
    outline(transpose, table);
  shared += table.numShared;
}
