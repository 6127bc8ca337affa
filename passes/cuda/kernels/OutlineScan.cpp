//===- OutlineScan.cpp - cuda-outline-scan --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/Scalars.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/kernels/Code.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/schedule/Machine.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/Support/MathExtras.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINESCAN
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

/// Writes the kernel of a `cuda.scan`. A thread takes a line of the second
/// dimension, or a block takes a long one.
class ScanEmitter {
public:
  ScanEmitter(OpBuilder &b, ScanOp op);

  int64_t numThreads() const { return threads; }
  int64_t sharedBytes() const { return isByBlock ? 2 * threads * bytes : 0; }
  int64_t linesOfBlock() const { return isByBlock ? 1 : threads; }
  void emit(ModuleOp kernels, ValueRange memrefs);

private:
  Value combine(Value x, Value y);
  Value identity() {
    return nn::scalar(b, loc, accumulator, op.getProduct() ? 1 : 0);
  }
  Value load(Value step);
  void store(Value sum, Value step);
  SmallVector<Value> placeOf(Value step);
  Value slot(Value number) { return code.shift(shared, accumulator, number); }
  void emitThread();
  void emitBlock(ModuleOp kernels);
  Value scanThreads(Value sum);

  Code code;
  OpBuilder &b;
  Location loc;
  ScanOp op;
  Type element, accumulator;
  /// Bytes of an accumulator.
  int64_t bytes;
  bool isByBlock;
  int64_t threads = kGridThreads;
  Value src, dst, shared, thread, row, column;
};

struct OutlineScanPass : ingot::impl::OutlineScanBase<OutlineScanPass> {
  void runOnOperation() override;
};

} // namespace

/// Returns true if a block takes a line. Few columns leave multiprocessors
/// without work if each is the work of one thread.
static bool takesBlocks(MemRefType type) {
  const int64_t rows = type.getDimSize(0), length = type.getDimSize(1),
                columns = type.getDimSize(2);
  if (columns == 1)
    return ShapedType::isDynamic(length) || length >= kScanRow;
  return !ShapedType::isDynamic(rows) && !ShapedType::isDynamic(columns) &&
         !ShapedType::isDynamic(length) && length >= kScanColumn &&
         rows * columns < kWantedThreads / kWarp;
}

ScanEmitter::ScanEmitter(OpBuilder &b, ScanOp op)
    : code(b, op.getLoc()), b(b), loc(op.getLoc()), op(op) {
  auto type = cast<MemRefType>(op.getSrc().getType());
  element = type.getElementType();
  accumulator = nn::computeType(element);
  bytes = int64_t(
      llvm::divideCeil(accumulator.getIntOrFloatBitWidth(), unsigned(8)));
  isByBlock = takesBlocks(type);
  if (!isByBlock)
    return;
  const int64_t length = type.getDimSize(1);
  threads = kScanThreads;
  if (!ShapedType::isDynamic(length))
    threads = std::clamp(int64_t(llvm::PowerOf2Ceil(llvm::divideCeil(
                             uint64_t(length), uint64_t(kScanElements)))),
                         kWarp, kScanThreads);
}

Value ScanEmitter::combine(Value x, Value y) {
  if (isa<FloatType>(accumulator))
    return op.getProduct() ? Value(arith::MulFOp::create(b, loc, x, y))
                           : Value(arith::AddFOp::create(b, loc, x, y));
  return op.getProduct() ? Value(arith::MulIOp::create(b, loc, x, y))
                         : Value(arith::AddIOp::create(b, loc, x, y));
}

/// Returns the indices of a step of the thread's line.
SmallVector<Value> ScanEmitter::placeOf(Value step) {
  if (op.getReverse())
    step = code.subtract(code.add(code.valueOf(code.sizeOf(src, 1)), -1), step);
  return {row, step, column};
}

Value ScanEmitter::load(Value step) {
  return nn::convertScalar(b, loc, code.loadAt(src, placeOf(step)), accumulator,
                           false, false);
}

void ScanEmitter::store(Value sum, Value step) {
  code.storeAt(nn::convertScalar(b, loc, sum, element, false, false), dst,
               placeOf(step));
}

void ScanEmitter::emitThread() {
  Number columns = code.sizeOf(src, 2),
         lines = code.product({code.sizeOf(src, 0), columns});
  Value line = code.add(code.multiply(code.block(), threads), thread);
  code.when(code.isWithin(line, lines), [&] {
    row = code.divide(line, columns);
    column = code.remainder(line, columns);
    auto loop = scf::ForOp::create(b, loc, code.number(0),
                                   code.valueOf(code.sizeOf(src, 1)),
                                   code.number(1), identity());
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value step = loop.getInductionVar(), old = loop.getRegionIterArg(0);
    Value sum = combine(old, load(step));
    store(op.getExclusive() ? old : sum, step);
    scf::YieldOp::create(b, loc, sum);
  });
}

/// Adds up the sums of the threads up to each one (Hillis and Steele, Data
/// parallel algorithms, 1986). They lie in one half of the shared memory and
/// change to the other one in each step. Returns the number of the last half's
/// first slot.
Value ScanEmitter::scanThreads(Value sum) {
  int64_t half = 0;
  code.store(sum, slot(thread), bytes);
  for (int64_t distance = 1; distance < threads; distance *= 2) {
    NVVM::BarrierOp::create(b, loc);
    Value has = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::uge, thread,
                                      code.number(distance));
    Value from = code.select(has, code.add(thread, -distance), thread);
    Value other =
        code.load(slot(code.add(from, half * threads)), accumulator, bytes);
    sum = code.select(has, combine(other, sum), sum);
    half = 1 - half;
    code.store(sum, slot(code.add(thread, half * threads)), bytes);
  }
  NVVM::BarrierOp::create(b, loc);
  return code.number(half * threads);
}

void ScanEmitter::emitBlock(ModuleOp kernels) {
  shared = code.sharedMemory(kernels);
  Number columns = code.sizeOf(src, 2), length = code.sizeOf(src, 1);
  row = code.divide(code.block(), columns);
  column = code.remainder(code.block(), columns);
  auto loop =
      scf::ForOp::create(b, loc, code.number(0), code.valueOf(length),
                         code.number(threads * kScanElements), identity());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  Value first =
      code.add(loop.getInductionVar(), code.multiply(thread, kScanElements));
  Value carried = loop.getRegionIterArg(0);
  SmallVector<Value> sums;
  for (int64_t i = 0; i < kScanElements; ++i) {
    Value step = code.add(first, i);
    auto branch =
        scf::IfOp::create(b, loc, accumulator, code.isWithin(step, length),
                          /*withElseRegion=*/true);
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(branch.thenBlock());
      scf::YieldOp::create(b, loc, load(step));
      b.setInsertionPointToStart(branch.elseBlock());
      scf::YieldOp::create(b, loc, identity());
    }
    Value own = branch.getResult(0);
    sums.push_back(i == 0 ? own : combine(sums.back(), own));
  }
  Value sumsOfThreads = scanThreads(sums.back());
  // The sum of what lies before the thread's elements.
  Value before =
      code.select(code.equals(thread, 0), thread, code.add(thread, -1));
  before = code.load(slot(code.add(sumsOfThreads, before)), accumulator, bytes);
  before =
      code.select(code.equals(thread, 0), carried, combine(carried, before));
  Value all =
      code.load(slot(code.add(sumsOfThreads, threads - 1)), accumulator, bytes);
  for (int64_t i = 0; i < kScanElements; ++i) {
    Value step = code.add(first, i);
    Value sum = combine(before, sums[size_t(i)]);
    if (op.getExclusive())
      sum = i == 0 ? before : combine(before, sums[size_t(i) - 1]);
    code.when(code.isWithin(step, length), [&] { store(sum, step); });
  }
  // The next step writes the memory that this one has read.
  NVVM::BarrierOp::create(b, loc);
  scf::YieldOp::create(b, loc, combine(carried, all));
}

void ScanEmitter::emit(ModuleOp kernels, ValueRange memrefs) {
  src = memrefs[0];
  dst = memrefs[1];
  thread = code.thread();
  isByBlock ? emitBlock(kernels) : emitThread();
}

static void outline(ScanOp op, ModuleOp kernels, loops::KernelTable &table) {
  Location loc = op.getLoc();
  OpBuilder b(op->getContext());
  func::FuncOp kernel =
      loops::KernelTable::create(b, loc, op->getOperands(), {});
  ScanEmitter emitter(b, op);
  setBlock(kernel, emitter.numThreads(), emitter.sharedBytes());
  emitter.emit(kernels, kernel.getArguments());
  kernel = table.insert(kernel, "scan_");
  b.setInsertionPoint(op);
  requireCounted(b, loc, op.getSrc());
  SmallVector<OpFoldResult> sizes = memref::getMixedSizes(b, loc, op.getSrc());
  OpFoldResult lines = support::productOf(b, loc, {sizes[0], sizes[2]});
  launch(b, loc, kernel, op->getOperands(),
         countBlocks(b, loc, lines, emitter.linesOfBlock()), /*writes=*/1);
  op->erase();
}

void OutlineScanPass::runOnOperation() {
  shared +=
      outlineOps(getOperation(), llvm::IsaPred<ScanOp>,
                 [&](Operation *op, loops::KernelTable &table) {
                   outline(cast<ScanOp>(op), kernelsOf(getOperation()), table);
                   ++launched;
                 });
}
