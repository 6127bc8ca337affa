//===- SpecializeLoops.cpp - specialize-loops -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What a loop asks for each element, though it is known before the loop, is
// asked once, in front of several loops.
//
// A branch in the body whose condition is known: a loop with what it does where
// that holds, and one with what it does where not, or, of several branches, the
// loop as it was. So what is gathered from a table of open size need not be
// empty.
//
// An element that is read at `select(single, 0, index)`, since only a run knows
// whether a dimension has one element for all:
//
// - a loop for operands without such a dimension, which reads them as they lie,
// - one for those that have no such innermost dimension: a view whose other
//   strides may be 0,
// - one for each operand whose innermost dimension alone is such a one,
// - and the loop as it was.
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

/// How an element is read that may stand for others.
struct Read {
  memref::LoadOp load;
  /// The loop that each dimension is read along; -1 for the first element.
  SmallVector<int64_t> loops;
  /// Whether the dimension has one element for all, or null if it has not.
  SmallVector<Value> singles;

  /// Whether all is read that lies behind the innermost loop.
  Value singleAlong(int64_t loop) const {
    return loops.back() == loop ? singles.back() : Value();
  }
};

class Specializer {
public:
  explicit Specializer(linalg::GenericOp op)
      : op(op), builder(op), loc(op.getLoc()), inner(op.getNumLoops() - 1) {}

  /// Whether the op was replaced; adds loops that may be specialized again.
  bool run(SmallVectorImpl<linalg::GenericOp> &more);

private:
  bool decideBranches(SmallVectorImpl<linalg::GenericOp> &more);
  bool find(memref::LoadOp load, Read &read);
  Value outside(Value value);
  Value isNone(ArrayRef<Value> conditions);
  void branch(Value condition, llvm::function_ref<void()> then);
  Value viewOf(Read &read, Value innerSingle);
  /// The op where none of the dimensions that may are single, or none but those
  /// that `innerSingle`, or no innermost one, says.
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

/// `value` in front of the op, or null if it depends on what the loops do.
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

/// How `load` reads, if it may be an operand.
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
      // In the loops' order, so that the innermost is the last.
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

/// Does `then` where `condition` holds, and goes on where it does not.
void Specializer::branch(Value condition, llvm::function_ref<void()> then) {
  auto choice =
      scf::IfOp::create(builder, loc, condition, /*withElseRegion=*/true);
  builder.setInsertionPointToStart(choice.thenBlock());
  then();
  builder.setInsertionPointToStart(choice.elseBlock());
}

/// What is read, so that the loops go through all of it: along single
/// dimensions in steps of 0. The innermost is left out if `innerSingle` says
/// that it is single, and otherwise not single.
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

/// `op` without branches in its body: what they do where their condition holds,
/// or where it does not, stands there.
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

/// Branches of the body whose conditions are known in front of the loops.
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
  // Of several, not all need to fail.
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
    if (innermost.size() > ingot::threshold::specializedOperands)
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
