//===- OutlineGrids.cpp - cuda-outline-grids ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "ingot/abi/cuda.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/host/HostMemory.h"
#include "passes/cuda/kernels/KernelModule.h"
#include "passes/cuda/schedule/Grids.h"
#include "passes/loops/Captures.h"
#include "passes/loops/KernelTable.h"
#include "passes/support/Contains.h"
#include "passes/support/Reason.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

namespace ingot {
#define GEN_PASS_DEF_OUTLINEGRIDS
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

namespace {

using Values = SmallVector<Value>;

/// Writes the code of a thread that computes one element of a linalg op's
/// result, or a few neighboring ones.
class ElementEmitter {
public:
  ElementEmitter(OpBuilder &b, linalg::LinalgOp op, const IRMapping &outside)
      : b(b), op(op), loc(op.getLoc()), values(outside),
        indices(op.getNumLoops()), parallel(parallelLoops(op)) {}

  /// Emits the code for the elements of thread `number`: `count` of them along
  /// the last parallel loop.
  void emit(Value number, int64_t count);
  /// Returns the parallel loops, in the order of the result's dimensions.
  static SmallVector<unsigned> parallelLoops(linalg::LinalgOp op);

private:
  void delinearize(Value number, ArrayRef<unsigned> loops, int64_t count);
  Value address(OpOperand &operand, SmallVectorImpl<Value> &at);
  Value load(OpOperand &operand);
  void store(OpOperand &operand, Value value);
  void moveTo(Value place);
  Values loadInits();
  Values compute(ArrayRef<Value> sums);
  SmallVector<Values> reduce(ArrayRef<unsigned> loops, ArrayRef<Value> places,
                             ArrayRef<Values> sums);

  OpBuilder &b;
  linalg::LinalgOp op;
  Location loc;
  IRMapping values;
  SmallVector<Value> indices;
  SmallVector<unsigned> parallel;
};

struct OutlineGridsPass : ingot::impl::OutlineGridsBase<OutlineGridsPass> {
  void runOnOperation() override;
  void outline(linalg::LinalgOp op, loops::KernelTable &table);
};

} // namespace

SmallVector<unsigned> ElementEmitter::parallelLoops(linalg::LinalgOp op) {
  llvm::SetVector<unsigned> loops;
  AffineMap map = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  for (AffineExpr result : map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(result))
      loops.insert(dim.getPosition());
  for (auto [i, iterator] : llvm::enumerate(op.getIteratorTypesArray()))
    if (iterator == utils::IteratorType::parallel)
      loops.insert(unsigned(i));
  return llvm::to_vector(loops);
}

/// Computes the indices of `operand` and returns its memref.
Value ElementEmitter::address(OpOperand &operand, SmallVectorImpl<Value> &at) {
  AffineMap map = op.getMatchingIndexingMap(&operand);
  for (unsigned i = 0; i < map.getNumResults(); ++i)
    at.push_back(affine::makeComposedAffineApply(
                     b, loc, map.getSubMap({i}),
                     llvm::map_to_vector(
                         indices, [](Value v) { return OpFoldResult(v); }))
                     ->getResult(0));
  return values.lookup(operand.get());
}

Value ElementEmitter::load(OpOperand &operand) {
  if (!isa<MemRefType>(operand.get().getType()))
    return values.lookupOrDefault(operand.get());
  SmallVector<Value> at;
  Value memref = address(operand, at);
  return memref::LoadOp::create(b, loc, memref, at);
}

void ElementEmitter::store(OpOperand &operand, Value value) {
  SmallVector<Value> at;
  Value memref = address(operand, at);
  memref::StoreOp::create(b, loc, value, memref, at);
}

/// Clones the op's body at the present indices. `sums` are the values of the
/// results so far. Returns the values that the body yields.
Values ElementEmitter::compute(ArrayRef<Value> sums) {
  Block &body = *op.getBlock();
  IRMapping inner(values);
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty())
      continue;
    inner.map(
        argument,
        op.isDpsInit(&operand)
            ? sums[operand.getOperandNumber() - unsigned(op.getNumDpsInputs())]
            : load(operand));
  }
  for (Operation &inside : body.without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inside))
      inner.map(index.getResult(), indices[index.getDim()]);
    else
      b.clone(inside, inner);
  }
  return llvm::map_to_vector(
      body.getTerminator()->getOperands(),
      [&](Value value) { return inner.lookupOrDefault(value); });
}

/// Emits loops around the body for the elements at `places`. `sums` are the
/// values of their results before the loops.
SmallVector<Values> ElementEmitter::reduce(ArrayRef<unsigned> loops,
                                           ArrayRef<Value> places,
                                           ArrayRef<Values> sums) {
  if (loops.empty()) {
    SmallVector<Values> results;
    for (auto [place, own] : llvm::zip_equal(places, sums)) {
      moveTo(place);
      results.push_back(compute(own));
    }
    return results;
  }
  Value zero = arith::ConstantIndexOp::create(b, loc, 0);
  Value one = arith::ConstantIndexOp::create(b, loc, 1);
  Value end = arith::ConstantIndexOp::create(
      b, loc, op.getStaticLoopRanges()[loops.front()]);
  Values carried;
  for (const Values &own : sums)
    llvm::append_range(carried, own);
  const size_t numResults = sums.front().size();
  auto split = [&](ValueRange values) {
    SmallVector<Values> parts;
    for (size_t i = 0; i < values.size(); i += numResults)
      parts.emplace_back(values.slice(i, numResults));
    return parts;
  };
  auto loop = scf::ForOp::create(b, loc, zero, end, one, carried);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  indices[loops.front()] = loop.getInductionVar();
  Values next;
  for (const Values &own :
       reduce(loops.drop_front(), places, split(loop.getRegionIterArgs())))
    llvm::append_range(next, own);
  scf::YieldOp::create(b, loc, next);
  return split(loop.getResults());
}

/// Computes the indices of `loops` from the number of a thread, each of which
/// takes `count` steps of the last loop. The last loop changes fastest.
void ElementEmitter::delinearize(Value number, ArrayRef<unsigned> loops,
                                 int64_t count) {
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  if (!loops.empty())
    ranges[loops.back()] /= count;
  // Divisions of 32 bits take a third of the instructions of 64 bits.
  int64_t elements = 1;
  for (unsigned loop : loops)
    elements *= ranges[loop];
  Type type = b.getIndexType();
  if (elements <= std::numeric_limits<int32_t>::max()) {
    type = b.getI32Type();
    number = arith::IndexCastUIOp::create(b, loc, type, number);
  }
  for (unsigned loop : llvm::reverse(loops)) {
    Value index = number;
    if (loop != loops.front()) {
      Value range = arith::ConstantOp::create(
          b, loc, b.getIntegerAttr(type, ranges[loop]));
      index = arith::RemUIOp::create(b, loc, number, range);
      number = arith::DivUIOp::create(b, loc, number, range);
    }
    if (!index.getType().isIndex())
      index = arith::IndexCastUIOp::create(b, loc, b.getIndexType(), index);
    indices[loop] = index;
  }
}

/// Loads the results before the op, at the present indices.
Values ElementEmitter::loadInits() {
  Values inits;
  for (OpOperand &init : op.getDpsInitsMutable()) {
    // Without a reduction, an unused value need not be read.
    bool isUsed =
        op.getNumReductionLoops() != 0 || op.payloadUsesValueFromOperand(&init);
    inits.push_back(isUsed ? load(init) : Value());
  }
  return inits;
}

/// Sets the index of the last parallel loop.
void ElementEmitter::moveTo(Value place) {
  if (!parallel.empty())
    indices[parallel.back()] = place;
}

void ElementEmitter::emit(Value number, int64_t count) {
  delinearize(number, parallel, count);
  SmallVector<unsigned> others;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!llvm::is_contained(parallel, loop))
      others.push_back(loop);
  Values places{parallel.empty() ? Value() : indices[parallel.back()]};
  if (count > 1) {
    Value first = arith::MulIOp::create(
        b, loc, places.front(), arith::ConstantIndexOp::create(b, loc, count));
    places.front() = first;
    for (int64_t i = 1; i < count; ++i)
      places.push_back(arith::AddIOp::create(
          b, loc, first, arith::ConstantIndexOp::create(b, loc, i)));
  }
  // All elements are computed before the first is stored, so that LLVM can join
  // their loads.
  SmallVector<Values> sums;
  for (Value place : places) {
    moveTo(place);
    sums.push_back(loadInits());
  }
  for (auto [place, results] :
       llvm::zip_equal(places, reduce(others, places, sums))) {
    moveTo(place);
    for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), results))
      store(init, value);
  }
}

/// Returns true if there is code for GPUs for a function of the math dialect:
/// instructions, or polynomials of approximate-math.
static bool hasCode(Operation *op) {
  Type element = getElementTypeOrSelf(op->getResult(0).getType());
  if (isa<math::AbsFOp, math::AbsIOp, math::CeilOp, math::CopySignOp,
          math::CtPopOp, math::CountLeadingZerosOp, math::CountTrailingZerosOp,
          math::FloorOp, math::FmaOp, math::IsFiniteOp, math::IsInfOp,
          math::IsNaNOp, math::IsNormalOp, math::RoundEvenOp, math::RoundOp,
          math::RsqrtOp, math::SqrtOp, math::TruncOp>(op))
    return true;
  if (isa<math::TanhOp>(op))
    return element.isF32() || element.isF64();
  return element.isF32() &&
         isa<math::AcosOp, math::AsinOp, math::AtanOp, math::CosOp, math::ErfOp,
             math::ExpOp, math::Log1pOp, math::LogOp, math::SinOp>(op);
}

/// Returns why a kernel cannot compute `op`, or nullopt.
static Reason whyNoGrid(linalg::LinalgOp op, const loops::Captures &captures) {
  if (llvm::any_of(captures.memrefs, isOfHost))
    return "uses a buffer of the host, because its size is open";
  if (!captures.areComplete)
    return "uses a value that only the host knows";
  if (llvm::any_of(captures.memrefs, [](Value memref) {
        auto type = cast<MemRefType>(memref.getType());
        int64_t offset;
        SmallVector<int64_t> strides;
        return !type.hasStaticShape() ||
               failed(type.getStridesAndOffset(strides, offset)) ||
               llvm::is_contained(strides, ShapedType::kDynamic);
      }))
    return "has sizes that only a run knows";
  if (support::contains(op, [](Operation *inside) {
        return isa_and_present<math::MathDialect>(inside->getDialect()) &&
               !hasCode(inside);
      }))
    return "computes a function that GPUs lack";
  if (captures.memrefs.size() > INGOT_CUDA_MAX_PARAMETERS)
    return "reads more buffers than a kernel takes";
  SmallVector<unsigned> parallel = ElementEmitter::parallelLoops(op);
  for (OpOperand &init : op.getDpsInitsMutable())
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (!llvm::is_contained(parallel, loop) &&
          op.getMatchingIndexingMap(&init).isFunctionOfDim(loop))
        return "writes its result in the steps of a reduction";
  if (support::contains(op, loops::needsRun))
    return "ends the run if its data are wrong";
  return std::nullopt;
}

/// States the alignment of parameters if threads compute `count` elements, so
/// that LLVM joins their accesses. With a larger alignment it would also read
/// elements behind them, which may lie outside of a buffer.
static void markAligned(func::FuncOp kernel, ArrayRef<Value> memrefs,
                        int64_t count) {
  if (count == 1)
    return;
  Builder b(kernel.getContext());
  for (auto [i, memref] : llvm::enumerate(memrefs)) {
    auto type = cast<MemRefType>(memref.getType());
    int64_t offset;
    SmallVector<int64_t> strides;
    if (!type.getElementType().isIntOrFloat() ||
        failed(type.getStridesAndOffset(strides, offset)) ||
        ShapedType::isDynamic(offset) || offset % count != 0)
      continue;
    const int64_t bytes = int64_t(
        llvm::divideCeil(type.getElementType().getIntOrFloatBitWidth(), 8));
    kernel.setArgAttr(unsigned(i), LLVM::LLVMDialect::getAlignAttrName(),
                      b.getI64IntegerAttr(count * bytes));
  }
}

void OutlineGridsPass::outline(linalg::LinalgOp op, loops::KernelTable &table) {
  loops::Captures captures(op);
  if (Reason reason = whyNoGrid(op, captures)) {
    CudaDialect::ReasonAttrHelper(&getContext())
        .setAttr(op, StringAttr::get(&getContext(), *reason));
    return;
  }
  int64_t elements = 1;
  SmallVector<unsigned> parallel = ElementEmitter::parallelLoops(op);
  for (unsigned loop : parallel)
    elements *= op.getStaticLoopRanges()[loop];
  if (elements == 0)
    return op->erase();
  const int64_t count =
      parallel.empty() ? 1 : chooseThreadElements(op, parallel.back());
  const int64_t numThreads = elements / count;
  ArrayRef<Value> memrefs = captures.memrefs.getArrayRef();
  OpBuilder b(&getContext());
  Location loc = op.getLoc();
  func::FuncOp kernel = loops::KernelTable::create(b, loc, memrefs, {});
  setBlock(kernel, kGridThreads, /*sharedBytes=*/0);
  markAligned(kernel, memrefs, count);
  IRMapping outside;
  outside.map(memrefs, kernel.getArguments());
  for (Operation *repeated : captures.repeated)
    b.clone(*repeated, outside);
  Value block = gpu::BlockIdOp::create(b, loc, gpu::Dimension::x);
  Value thread = gpu::ThreadIdOp::create(b, loc, gpu::Dimension::x);
  Value threads = arith::ConstantIndexOp::create(b, loc, kGridThreads);
  Value number = arith::AddIOp::create(
      b, loc, arith::MulIOp::create(b, loc, block, threads), thread);
  Value isInside =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult, number,
                            arith::ConstantIndexOp::create(b, loc, numThreads));
  auto branch = scf::IfOp::create(b, loc, isInside, /*withElseRegion=*/false);
  b.setInsertionPoint(branch.thenYield());
  ElementEmitter(b, op, outside).emit(number, count);
  kernel = table.insert(kernel, "grid_");
  b.setInsertionPoint(op);
  Value blocks = arith::ConstantIndexOp::create(
      b, loc, llvm::divideCeil(numThreads, kGridThreads));
  launch(b, loc, kernel, memrefs, blocks, int64_t(memrefs.size()));
  op->erase();
  ++launched;
}

static bool isDense(MemRefType type) {
  int64_t offset;
  SmallVector<int64_t> strides;
  return type.hasStaticShape() &&
         succeeded(type.getStridesAndOffset(strides, offset)) &&
         strides == mlir::computeStrides(type.getShape());
}

/// Turns copies of memrefs with gaps into linalg ops.
static void expandCopies(func::FuncOp function) {
  function.walk([](memref::CopyOp copy) {
    auto from = cast<MemRefType>(copy.getSource().getType());
    auto to = cast<MemRefType>(copy.getTarget().getType());
    if (isDense(from) && isDense(to))
      return;
    OpBuilder b(copy);
    linalg::makeMemRefCopyOp(b, copy.getLoc(), copy.getSource(),
                             copy.getTarget());
    copy.erase();
  });
}

void OutlineGridsPass::runOnOperation() {
  ModuleOp module = getOperation();
  loops::KernelTable table(kernelsOf(module));
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!findRunOperand(function, RunOperand::call))
      continue;
    expandCopies(function);
    SmallVector<linalg::LinalgOp> ops;
    function.walk([&](linalg::LinalgOp op) {
      if (op.hasPureBufferSemantics())
        ops.push_back(op);
    });
    for (linalg::LinalgOp op : ops)
      outline(op, table);
  }
  shared += table.numShared;
}
