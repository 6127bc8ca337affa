//===- ThreadWork.cpp - instructions of a kernel --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/schedule/ThreadWork.h"

#include "passes/cuda/schedule/Machine.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// The most cycles that are counted, so that sums of a few fit into 64 bits.
static constexpr uint64_t kMaxCycles = uint64_t(1) << 48;

/// Cycles of an instruction on floats: fewer threads do it in a cycle than
/// instructions are issued for.
static constexpr uint64_t kFloat = kIssueRate / kFloatRate;

static uint64_t multiply(uint64_t x, uint64_t y) {
  return std::min(llvm::SaturatingMultiply(x, y), kMaxCycles);
}

static void add(ThreadWork &sum, ThreadWork work, uint64_t times = 1) {
  sum.issued = std::min(sum.issued + multiply(work.issued, times), kMaxCycles);
  sum.waited = std::min(sum.waited + multiply(work.waited, times), kMaxCycles);
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

/// Returns the cycles of an access of some bytes to memory.
static uint64_t issueAccess(int64_t bytes) {
  return uint64_t(std::max<int64_t>(bytes, 2)) * kWideAccess * kFloat /
         kAccessBytes;
}

static int64_t bytesOf(Type type) {
  int64_t elements = 1;
  if (auto vector = dyn_cast<VectorType>(type))
    elements = vector.getNumElements();
  Type element = getElementTypeOrSelf(type);
  const int64_t bits =
      element.isIntOrFloat() ? int64_t(element.getIntOrFloatBitWidth()) : 32;
  return elements * int64_t(llvm::divideCeil(uint64_t(bits), 8));
}

static bool isShared(Value address) {
  auto pointer = dyn_cast<LLVM::LLVMPointerType>(address.getType());
  return pointer && pointer.getAddressSpace() == kSharedSpace;
}

/// Returns true if no instruction remains of `op`.
static bool isFree(Operation *op) {
  return op->hasTrait<OpTrait::IsTerminator>() ||
         op->hasTrait<OpTrait::ConstantLike>() ||
         isa<arith::IndexCastOp, arith::IndexCastUIOp, gpu::BlockIdOp,
             gpu::ThreadIdOp, LLVM::AddrSpaceCastOp, LLVM::AddressOfOp,
             LLVM::GEPOp, memref::CastOp, memref::DimOp,
             memref::ExtractAlignedPointerAsIndexOp,
             memref::ExtractStridedMetadataOp, memref::SubViewOp>(op);
}

/// Returns the cycles of an arithmetic instruction on values of 32 bits.
static uint64_t issueArithmetic(Operation *op) {
  if (isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op))
    return matchPattern(op->getOperand(1), m_Constant()) ? kConstantDivision
                                                         : kIntegerDivision;
  if (isa<arith::DivFOp, arith::RemFOp, math::RsqrtOp, math::SqrtOp>(op))
    return kFloat * kFloatDivision;
  const bool isSimple =
      isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
          math::FloorOp, math::FmaOp, math::RoundEvenOp, math::TruncOp>(op);
  if (isa_and_nonnull<math::MathDialect>(op->getDialect()) && !isSimple)
    return kFloat * kFunctionInstructions;
  return isa<FloatType>(getElementTypeOrSelf(op->getResult(0))) ? kFloat : 1;
}

static ThreadWork workOf(Operation *op) {
  if (isFree(op))
    return {};
  if (isa<NVVM::BarrierOp>(op))
    return {1, uint64_t(kExchange)};
  if (isa<NVVM::ShflOp>(op))
    return {uint64_t(kShuffledResult) * kFloat, uint64_t(kShuffle)};
  if (isa<LLVM::LoadOp>(op))
    return {issueAccess(bytesOf(op->getResult(0).getType())), 0};
  if (isa<LLVM::StoreOp>(op))
    return {issueAccess(bytesOf(op->getOperand(0).getType())), 0};
  // The other instructions give the address.
  if (auto load = dyn_cast<memref::LoadOp>(op))
    return {issueAccess(bytesOf(load.getType())) +
                uint64_t(load.getIndices().size()),
            0};
  if (auto store = dyn_cast<memref::StoreOp>(op))
    return {issueAccess(bytesOf(store.getValueToStore().getType())) +
                uint64_t(store.getIndices().size()),
            0};
  if (op->getNumResults() == 0)
    return {1, 0};
  const auto words = uint64_t(
      llvm::divideCeil(uint64_t(bytesOf(op->getResult(0).getType())), 4));
  return {issueArithmetic(op) * words, 0};
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// The most operations behind a typical number, one behind the other. More of
/// them would take long.
static constexpr unsigned kMaxDepth = 12;

static std::optional<int64_t> countSteps(scf::ForOp loop, unsigned depth = 0);

/// Returns a typical number of a thread: the mean of a variable of a loop, and
/// 0 for the number of a thread or block.
static std::optional<int64_t> typicalOf(Value value, unsigned depth) {
  if (depth++ == kMaxDepth)
    return std::nullopt;
  if (std::optional<int64_t> known = getConstantIntValue(value))
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto loop = dyn_cast<scf::ForOp>(argument.getOwner()->getParentOp());
    if (!loop || argument != loop.getInductionVar())
      return std::nullopt;
    std::optional<int64_t> start = typicalOf(loop.getLowerBound(), depth),
                           step = getConstantIntValue(loop.getStep()),
                           steps = countSteps(loop, depth);
    if (!start || !step || !steps || *steps == 0)
      return std::nullopt;
    return *start + *step * (*steps - 1) / 2;
  }
  Operation *op = value.getDefiningOp();
  if (isa<gpu::BlockIdOp, gpu::ThreadIdOp>(op))
    return 0;
  if (isa<arith::IndexCastOp, arith::IndexCastUIOp>(op))
    return typicalOf(op->getOperand(0), depth);
  if (!isa<arith::AddIOp, arith::DivUIOp, arith::MulIOp, arith::RemUIOp,
           arith::SubIOp>(op))
    return std::nullopt;
  std::optional<int64_t> x = typicalOf(op->getOperand(0), depth),
                         y = typicalOf(op->getOperand(1), depth);
  if (!x || !y || std::max(std::abs(*x), std::abs(*y)) > INT32_MAX)
    return std::nullopt;
  if (isa<arith::AddIOp>(op))
    return *x + *y;
  if (isa<arith::SubIOp>(op))
    return *x - *y;
  if (isa<arith::MulIOp>(op))
    return *x * *y;
  if (*y == 0)
    return std::nullopt;
  return isa<arith::DivUIOp>(op) ? *x / *y : *x % *y;
}

/// Returns the steps of a loop, or nullopt if only a run knows them.
static std::optional<int64_t> countSteps(scf::ForOp loop, unsigned depth) {
  std::optional<int64_t> start = typicalOf(loop.getLowerBound(), depth),
                         end = typicalOf(loop.getUpperBound(), depth),
                         step = getConstantIntValue(loop.getStep());
  if (!start || !end || !step || *step < 1)
    return std::nullopt;
  return *end <= *start ? 0
                        : int64_t(llvm::divideCeil(uint64_t(*end - *start),
                                                   uint64_t(*step)));
}

static bool readsMemory(Block &body) {
  return llvm::any_of(body, [](Operation &op) {
    if (auto load = dyn_cast<LLVM::LoadOp>(op))
      return !isShared(load.getAddr());
    return isa<memref::LoadOp>(op);
  });
}

static ThreadWork workOf(Region &region) {
  ThreadWork sum;
  for (Block &block : region)
    for (Operation &op : block) {
      if (auto loop = dyn_cast<scf::ForOp>(op)) {
        ThreadWork step = workOf(loop.getRegion());
        // The variable, its comparison and the jump.
        step.issued += 3;
        if (readsMemory(*loop.getBody()))
          step.waited += kReadStep;
        add(sum, step, uint64_t(countSteps(loop).value_or(kUsual.size)));
        continue;
      }
      for (Region &inside : op.getRegions())
        add(sum, workOf(inside));
      add(sum, workOf(&op));
    }
  return sum;
}

ThreadWork cuda::countWork(func::FuncOp kernel) {
  return workOf(kernel.getBody());
}

ThreadWork cuda::countWork(const Depthwise &facts) {
  const WindowDim &last = facts.windows.back();
  int64_t rows = 1;
  for (const WindowDim &window : ArrayRef(facts.windows).drop_back())
    rows *= window.taps;
  // Windows of neighboring pixels share elements of a row.
  llvm::DenseSet<int64_t> loaded;
  for (int64_t pixel = 0; pixel < facts.pixels; ++pixel)
    for (int64_t tap = 0; tap < last.taps; ++tap)
      loaded.insert(pixel * last.stride + tap * last.dilation);
  ThreadWork row;
  row.issued = uint64_t(last.taps * facts.pixels * facts.vector) * kFloat +
               uint64_t(loaded.size()) *
                   issueAccess(facts.sources() * facts.src.elementBytes()) +
               uint64_t(last.taps) *
                   issueAccess(facts.vector * facts.weights.elementBytes());
  ThreadWork work;
  add(work, row, uint64_t(rows));
  work.issued += uint64_t(facts.pixels) *
                 issueAccess(facts.vector * facts.dst.elementBytes());
  return work;
}

int64_t cuda::estimateCycles(ThreadWork work, int64_t threads, int64_t blocks) {
  const auto threadsOfProcessor =
      multiply(uint64_t(threads),
               llvm::divideCeil(uint64_t(blocks), uint64_t(kProcessors)));
  const uint64_t waves =
      llvm::divideCeil(threadsOfProcessor, uint64_t(kProcessorThreads));
  const uint64_t alone = multiply(work.issued + work.waited, waves);
  // Multiplies behind the division, so that the product fits.
  const uint64_t issue = multiply(
      work.issued, llvm::divideCeil(threadsOfProcessor, uint64_t(kIssueRate)));
  return kLatency + int64_t(std::max(alone, issue));
}
