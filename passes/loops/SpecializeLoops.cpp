//===- SpecializeLoops.cpp - specialize-loops -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Moves conditions that a loop would test for each element in front of the
// loop. There are two kinds of conditions:
//
// 1. The condition of a branch in the body, if it is known before the loop. One
//    loop takes the branch, and another loop does not. If there are several
//    branches, the second loop is the original one. An example is the test
//    whether a gathered table of dynamic size is empty.
//
// 2. The condition that a dimension has size 1 and is broadcast, if only a run
//    knows it. Such an element is read at `select(single, 0, index)`. There are
//    up to four kinds of loops:
//
//    - one if no dimension is broadcast, which reads the operands directly,
//    - one if no innermost dimension is broadcast, which reads through a view
//      whose other strides may be 0,
//    - one for each operand, if only its innermost dimension is broadcast,
//    - the original loop for all other cases.
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Passes.h"
#include "passes/support/Shapes.h"
#include "passes/support/Thresholds.h"

#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace ingot {
#define GEN_PASS_DEF_SPECIALIZELOOPS
#include "passes/loops/Passes.h.inc"
} // namespace ingot

using namespace mlir;

namespace {

/// A read of an operand that may be broadcast.
struct Read {
  memref::LoadOp load;
  /// For each dimension, the loop whose index reads it; -1 if it is read at
  /// index 0.
  SmallVector<int64_t> loops;
  /// For each dimension, the condition that it is broadcast, or null if it is
  /// not.
  SmallVector<Value> singles;

  /// Returns the condition under which the last dimension is broadcast along
  /// `loop`, or null.
  Value singleAlong(int64_t loop) const {
    return loops.back() == loop ? singles.back() : Value();
  }
};

class Specializer {
public:
  explicit Specializer(linalg::GenericOp op)
      : op(op), builder(op), loc(op.getLoc()), inner(op.getNumLoops() - 1) {}

  /// Returns true if the op was replaced. Adds loops that may be specialized
  /// again to `more`.
  bool run(SmallVectorImpl<linalg::GenericOp> &more);

private:
  bool decideBranches(SmallVectorImpl<linalg::GenericOp> &more);
  bool find(memref::LoadOp load, Read &read);
  Value outside(Value value);
  Value isNone(ArrayRef<Value> conditions);
  void branch(Value condition, llvm::function_ref<void()> then);
  Value viewOf(Read &read, Value innerSingle);
  /// Clones the op for one case. With `asTheyLie`, no dimension is broadcast.
  /// Otherwise the innermost dimensions with the condition `innerSingle` are
  /// broadcast, and no other innermost dimension is broadcast.
  void clone(bool asTheyLie, Value innerSingle);

  linalg::GenericOp op;
  OpBuilder builder;
  Location loc;
  int64_t inner;
  SmallVector<Read> reads;
};

struct SpecializeLoopsPass
    : ingot::impl::SpecializeLoopsBase<SpecializeLoopsPass> {
  void runOnOperation() override;
};

} // namespace

static void eraseDead(Block &body) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(body)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

/// Returns `value` computed in front of the op, or null if it depends on the
/// loops.
Value Specializer::outside(Value value) {
  if (value.getParentBlock() != op.getBody())
    return value;
  Operation *made = value.getDefiningOp();
  if (!made || isa<linalg::IndexOp>(made) || !isPure(made) ||
      made->getNumRegions() != 0)
    return {};
  IRMapping operands;
  for (Value operand : made->getOperands()) {
    Value moved = outside(operand);
    if (!moved)
      return {};
    operands.map(operand, moved);
  }
  return builder.clone(*made, operands)
      ->getResult(cast<OpResult>(value).getResultNumber());
}

/// Finds how `load` reads. Returns true if it may become an operand.
bool Specializer::find(memref::LoadOp load, Read &read) {
  read.load = load;
  MemRefType type = load.getMemRefType();
  if (!type.getLayout().isIdentity() || type.getRank() == 0 ||
      load.getMemRef().getParentBlock() == op.getBody())
    return false;
  bool maybeSingle = false;
  for (Value index : load.getIndices()) {
    Value single;
    if (auto select = index.getDefiningOp<arith::SelectOp>()) {
      if (!matchPattern(select.getTrueValue(), m_Zero()))
        return false;
      single = outside(select.getCondition());
      index = select.getFalseValue();
      if (!single)
        return false;
      maybeSingle = true;
    }
    if (matchPattern(index, m_Zero())) {
      read.loops.push_back(-1);
    } else if (auto loop = index.getDefiningOp<linalg::IndexOp>()) {
      // The dimensions must be in the loops' order, so that the innermost is
      // the last.
      auto number = int64_t(loop.getDim());
      if (llvm::any_of(read.loops, [&](int64_t l) { return l >= number; }))
        return false;
      read.loops.push_back(number);
    } else {
      return false;
    }
    read.singles.push_back(single);
  }
  return maybeSingle;
}

Value Specializer::isNone(ArrayRef<Value> conditions) {
  Value any;
  for (Value condition : conditions)
    any = any ? arith::OrIOp::create(builder, loc, any, condition).getResult()
              : condition;
  Value yes =
      arith::ConstantOp::create(builder, loc, builder.getBoolAttr(true));
  return any ? arith::XOrIOp::create(builder, loc, any, yes).getResult() : yes;
}

/// Builds a branch with `then` for the case that `condition` holds. Moves the
/// builder into the other case.
void Specializer::branch(Value condition, llvm::function_ref<void()> then) {
  auto choice =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(choice.thenBlock());
  then();
  builder.setInsertionPointToStart(choice.elseBlock());
}

/// Returns a view with a dimension for each loop. Broadcast dimensions have
/// stride 0. Leaves out the innermost dimension if its condition is
/// `innerSingle`.
Value Specializer::viewOf(Read &read, Value innerSingle) {
  Value from = read.load.getMemRef();
  MemRefType type = read.load.getMemRefType();
  bool drops = innerSingle && read.singleAlong(inner) == innerSingle;
  int64_t rank = type.getRank(), kept = rank - (drops ? 1 : 0);
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  OpFoldResult stride = builder.getIndexAttr(1);
  SmallVector<OpFoldResult> sizes(kept), strides(kept);
  SmallVector<int64_t> known(kept, ShapedType::kDynamic),
      shape(kept, ShapedType::kDynamic);
  auto ranges = cast<linalg::LinalgOp>(*op).createLoopRanges(builder, loc);
  for (int64_t i = rank; i-- > 0;) {
    bool isInner = read.loops[i] == inner;
    if (i < kept) {
      strides[i] = stride;
      if (read.singles[i] && !isInner)
        strides[i] = arith::SelectOp::create(
                         builder, loc, read.singles[i], zero,
                         ingot::support::indexValue(builder, loc, stride))
                         .getResult();
      sizes[i] = read.loops[i] < 0 ? OpFoldResult(builder.getIndexAttr(1))
                                   : ranges[read.loops[i]].size;
      known[i] = getConstantIntValue(strides[i]).value_or(ShapedType::kDynamic);
      shape[i] = getConstantIntValue(sizes[i]).value_or(ShapedType::kDynamic);
    }
    stride = ingot::support::mulSizes(
        builder, loc, stride, memref::getMixedSize(builder, loc, from, i));
  }
  auto strided =
      MemRefType::get(shape, type.getElementType(),
                      StridedLayoutAttr::get(builder.getContext(), 0, known),
                      type.getMemorySpace());
  return memref::ReinterpretCastOp::create(
      builder, loc, strided, from, OpFoldResult(builder.getIndexAttr(0)), sizes,
      strides);
}

void Specializer::clone(bool asTheyLie, Value innerSingle) {
  SmallVector<Value> inputs(op.getInputs());
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  SmallVector<AffineMap> outputs(maps.begin() + inputs.size(), maps.end());
  maps.resize(inputs.size());
  for (Read &read : reads) {
    Value operand =
        asTheyLie ? read.load.getMemRef() : viewOf(read, innerSingle);
    inputs.push_back(operand);
    SmallVector<AffineExpr> exprs;
    int64_t rank = cast<MemRefType>(operand.getType()).getRank();
    for (int64_t loop : ArrayRef(read.loops).take_front(rank))
      exprs.push_back(loop < 0 ? builder.getAffineConstantExpr(0)
                               : builder.getAffineDimExpr(loop));
    maps.push_back(
        AffineMap::get(op.getNumLoops(), 0, exprs, builder.getContext()));
  }
  llvm::append_range(maps, outputs);
  auto made = linalg::GenericOp::create(
      builder, loc, inputs, op.getOutputs(), maps, op.getIteratorTypesArray(),
      [&](OpBuilder &b, Location, ValueRange arguments) {
        Block *body = op.getBody();
        size_t before = op.getNumDpsInputs();
        IRMapping values;
        values.map(body->getArguments().take_front(before),
                   arguments.take_front(before));
        values.map(body->getArguments().drop_front(before),
                   arguments.drop_front(before + reads.size()));
        for (Operation &inside : *body) {
          auto read = llvm::find_if(
              reads, [&](const Read &r) { return r.load == &inside; });
          if (read == reads.end())
            b.clone(inside, values);
          else
            values.map(inside.getResult(0),
                       arguments[before + (read - reads.begin())]);
        }
      });
  eraseDead(*made.getBody());
}

/// Replaces branches in the body of `op` by their then-part if `holds`, else by
/// their else-part.
static void takeBranches(linalg::GenericOp op, ArrayRef<size_t> places,
                         bool holds) {
  SmallVector<scf::IfOp> ifs;
  for (auto [i, inside] : llvm::enumerate(*op.getBody()))
    if (llvm::is_contained(places, i))
      ifs.push_back(cast<scf::IfOp>(inside));
  for (scf::IfOp choice : ifs) {
    Block *taken = holds ? choice.thenBlock() : choice.elseBlock();
    Operation *yield = taken->getTerminator();
    choice.replaceAllUsesWith(yield->getOperands());
    yield->erase();
    choice->getBlock()->getOperations().splice(choice->getIterator(),
                                               taken->getOperations());
    choice.erase();
  }
  eraseDead(*op.getBody());
}

/// Specializes branches of the body, if their conditions are known in front of
/// the loops.
bool Specializer::decideBranches(SmallVectorImpl<linalg::GenericOp> &more) {
  SmallVector<size_t> places;
  Value all;
  for (auto [i, inside] : llvm::enumerate(*op.getBody())) {
    auto choice = dyn_cast<scf::IfOp>(inside);
    if (!choice || !choice.elseBlock())
      continue;
    Value condition = outside(choice.getCondition());
    if (!condition)
      continue;
    places.push_back(i);
    all = all ? arith::AndIOp::create(builder, loc, all, condition).getResult()
              : condition;
  }
  if (places.empty())
    return false;
  branch(all, [&] {
    auto made = cast<linalg::GenericOp>(builder.clone(*op));
    takeBranches(made, places, /*holds=*/true);
    more.push_back(made);
  });
  // The other loop runs if not all conditions hold. With several branches,
  // some of their conditions may still hold, so keep these branches.
  if (places.size() == 1)
    takeBranches(op, places, /*holds=*/false);
  op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  return true;
}

bool Specializer::run(SmallVectorImpl<linalg::GenericOp> &more) {
  if (decideBranches(more))
    return true;
  for (auto load : op.getBody()->getOps<memref::LoadOp>()) {
    Read read;
    if (find(load, read))
      reads.push_back(read);
  }
  if (reads.empty())
    return false;
  llvm::SetVector<Value> any, innermost;
  for (const Read &read : reads) {
    for (Value single : read.singles)
      if (single)
        any.insert(single);
    if (Value single = read.singleAlong(inner))
      innermost.insert(single);
  }
  branch(isNone(any.getArrayRef()), [&] { clone(/*asTheyLie=*/true, {}); });
  if (innermost.empty()) {
    clone(/*asTheyLie=*/false, {});
    op.erase();
    return true;
  }
  if (innermost.size() != any.size())
    branch(isNone(innermost.getArrayRef()),
           [&] { clone(/*asTheyLie=*/false, {}); });
  for (Value single : innermost) {
    if (innermost.size() > size_t(ingot::threshold::specializedOperands))
      break;
    SmallVector<Value> others;
    for (Value other : innermost)
      if (other != single)
        others.push_back(other);
    Value alone = arith::AndIOp::create(builder, loc, single, isNone(others));
    branch(alone, [&] { clone(/*asTheyLie=*/false, single); });
  }
  op->moveBefore(builder.getInsertionBlock(), builder.getInsertionPoint());
  return true;
}

void SpecializeLoopsPass::runOnOperation() {
  SmallVector<linalg::GenericOp> ops;
  getOperation()->walk([&](linalg::GenericOp op) {
    if (op.hasPureBufferSemantics() && op.getNumLoops() != 0)
      ops.push_back(op);
  });
  while (!ops.empty())
    if (Specializer(ops.pop_back_val()).run(ops))
      ++numSpecialized;
}
