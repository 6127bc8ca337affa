//===- TopKToLinalg.cpp - nn.top_k ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Elements are compared by keys (KeyOrder.h). A row is read once, in blocks. A
// block is skipped, by a vector comparison, if none of its elements is better
// than the worst kept item. Each remaining element becomes an item: its key and
// its position in one integer. Items are kept in one of two ways:
//
// - Up to `kMostInserted` are sorted; each item is inserted at its rank.
// - More are appended to a buffer of twice the room. When the buffer is full,
//   and at the end, it is radix-sorted and the best k stay.
//
// Both ways are stable: equal elements stay in order. Both take few steps for
// each element, for any data.
//
//===----------------------------------------------------------------------===//
#include "passes/loops/Patterns.h"
#include "passes/support/KeyOrder.h"
#include "passes/support/Resampling.h"
#include "passes/support/Shapes.h"
#include "passes/support/Tensors.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// The largest k for which each item is inserted at its rank.
static const int64_t &kMostInserted = threshold::topKInserted;
/// The number of elements that are tested together.
static const int64_t &kBlock = threshold::topKBlock;
/// The room of a buffer beyond twice k. It makes sorting rare.
static const int64_t &kMoreRoom = threshold::topKRoom;

namespace {

using Predicate = arith::CmpIPredicate;

/// The items of a row that are kept so far.
struct Kept {
  Kept(Value items, Value count, Value isOpen, Value limit)
      : items(items), count(count), isOpen(isOpen), limit(limit) {}
  explicit Kept(ValueRange v) : Kept(v[0], v[1], v[2], v[3]) {}
  SmallVector<Value> values() const { return {items, count, isOpen, limit}; }

  /// The items, sorted or in a buffer, and their count.
  Value items, count;
  /// `isOpen` is true while every item is kept. `limit` is the worst of the
  /// best k items, which later items must beat.
  Value isOpen, limit;
};

/// Selects the best k of each row of x.
class Selection : Scalars {
public:
  Selection(OpBuilder &b, Location loc, nn::TopKOp op, Value x, OpFoldResult k);
  SmallVector<Value> run();

private:
  using Branch = llvm::function_ref<SmallVector<Value>(ValueRange)>;

  Value min(Value p, Value q) { return arith::MinSIOp::create(b, loc, p, q); }
  Value toNumber(Value index) {
    return arith::IndexCastOp::create(b, loc, b.getI64Type(), index);
  }
  Value load(Value tensor, ValueRange at) {
    return tensor::ExtractOp::create(b, loc, tensor, at);
  }
  Value store(Value element, Value tensor, ValueRange at) {
    return tensor::InsertOp::create(b, loc, element, tensor, at);
  }
  SmallVector<Value> when(Value condition, ValueRange state, Branch then);

  Value keyOfItem(Value item);
  Value mayBeBetter(Value element, Value than);

  Value insert(Value item, Value items, Value count);
  Kept insertBlock(Value from, Value to, const Kept &kept);
  Kept appendBlock(Value from, Value to, const Kept &kept);
  Kept cut(const Kept &kept);
  Value best(Value items, bool inserts);

  Value x, length, count;
  OpFoldResult room;
  KeyOrder order;
  bool mayInsert, mayAppend;
  /// The row of the current iteration, and the buffers in which its items are
  /// sorted.
  Value row, spare, numbers;
};

struct LowerTopK : OpConversionPattern<nn::TopKOp> {
  using OpConversionPattern::OpConversionPattern;
  LogicalResult
  matchAndRewrite(nn::TopKOp op, OpAdaptor adaptor,
                  ConversionPatternRewriter &b) const override;
};

} // namespace

Selection::Selection(OpBuilder &b, Location loc, nn::TopKOp op, Value x,
                     OpFoldResult k)
    : Scalars{b, loc},
      x(x), order{b, loc, typeOf(x).getElementType(),
                  support::isUnsigned(op.getX().getType()), !op.getSmallest()} {
  OpFoldResult size = sizesOf(b, loc, x)[1];
  length = indexValue(b, loc, size);
  count = indexValue(b, loc, k);
  // Choose the method by the op's k, because a count that is computed at run
  // time is at most k.
  int64_t most = op.getK();
  mayInsert = op.getCount() || most <= kMostInserted;
  mayAppend = most > kMostInserted;
  // Add a slot for the item that drops out at the end.
  room = addSizes(b, loc, k, b.getIndexAttr(1));
  if (mayAppend) {
    OpFoldResult twice = mulSizes(b, loc, k, b.getIndexAttr(2));
    room = addSizes(b, loc, twice, b.getIndexAttr(kMoreRoom));
    room = addSizes(b, loc, minSizes(b, loc, room, size),
                    b.getIndexAttr(kBlock));
  }
}

/// Returns the state after `then` if `condition` holds, else `state`. Builds a
/// loop of one step or none, because a branch would not be bufferized in place.
SmallVector<Value> Selection::when(Value condition, ValueRange state,
                                   Branch then) {
  return loop(n(0), select(condition, n(1), n(0)), 1, state,
              [&](Value, ValueRange state) { return then(state); });
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

Value Selection::keyOfItem(Value item) {
  return order.keyOfItem(
      item, [&](Value position) { return load(x, {row, position}); });
}

/// Returns a condition that is true if the key of `element` may be smaller than
/// that of `than`. The condition is a single comparison, which is true for
/// every NaN.
Value Selection::mayBeBetter(Value element, Value than) {
  Type compute = computeType(order.element);
  if (!isa<FloatType>(compute))
    return isBetter(b, loc, element, than, {order.descends, order.isUnsigned},
                    /*orEqual=*/false);
  return arith::CmpFOp::create(
      b, loc,
      order.descends ? arith::CmpFPredicate::UGT : arith::CmpFPredicate::ULT,
      convertScalar(b, loc, element, compute, false, false),
      convertScalar(b, loc, than, compute, false, false));
}

//===----------------------------------------------------------------------===//
// A few sorted items
//===----------------------------------------------------------------------===//

/// Inserts an item behind all items that are at least as good, and moves the
/// worse items by one.
Value Selection::insert(Value item, Value items, Value count) {
  Value key = keyOfItem(item);
  Value place = loop(n(0), count, 1, n(0), [&](Value i, ValueRange state) {
    Value isBefore =
        compare(Predicate::ule, keyOfItem(load(items, i)), key);
    return SmallVector<Value>{
        add(state[0], select(isBefore, n(1), n(0)))};
  })[0];
  Value moved = loop(place, count, 1, items, [&](Value i, ValueRange state) {
    Value to = sub(add(place, count), i);
    Value item = load(state[0], sub(to, n(1)));
    return SmallVector<Value>{store(item, state[0], to)};
  })[0];
  return store(item, moved, place);
}

Kept Selection::insertBlock(Value from, Value to, const Kept &kept) {
  return Kept(loop(from, to, 1, kept.values(), [&](Value i, ValueRange state) {
    Kept before(state);
    Value element = load(x, {row, i});
    Value isGood = either(before.isOpen, mayBeBetter(element, before.limit));
    return when(isGood, state, [&](ValueRange state) {
      Kept kept(state);
      Value items = insert(order.itemOf(element, i), kept.items, kept.count);
      Value found = min(add(kept.count, n(1)), count);
      // If there are no items yet, read the first slot, which has been written.
      Value last = arith::MaxSIOp::create(b, loc, sub(found, n(1)), n(0));
      Value worst = load(x, {row, order.positionOf(load(items, last))});
      Value isOpen = compare(Predicate::slt, found, count);
      return Kept(items, found, isOpen, worst).values();
    });
  }));
}

//===----------------------------------------------------------------------===//
// Many items in a buffer
//===----------------------------------------------------------------------===//

/// Writes each item behind the earlier ones. If an item is not good enough, the
/// next item overwrites it.
Kept Selection::appendBlock(Value from, Value to, const Kept &kept) {
  SmallVector<Value> found = loop(
      from, to, 1, {kept.items, kept.count},
      [&](Value i, ValueRange state) -> SmallVector<Value> {
        Value element = load(x, {row, i});
        Value items = store(order.itemOf(element, i), state[0], state[1]);
        Value isGood = either(kept.isOpen, mayBeBetter(element, kept.limit));
        return {items, select(isGood, add(state[1], n(1)), state[1])};
      });
  return {found[0], found[1], kept.isOpen, kept.limit};
}

/// Sorts the items and keeps the best.
Kept Selection::cut(const Kept &kept) {
  SmallVector<Value> lists = {kept.items, spare, numbers};
  Value items = order.sort(lists, kept.count, [&](Value position) {
    return load(x, {row, position});
  });
  Value left = min(kept.count, count);
  Value last = arith::MaxSIOp::create(b, loc, sub(left, n(1)), n(0));
  Value worst = load(x, {row, order.positionOf(load(items, last))});
  return {items, left, bit(false), worst};
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// Returns the sorted items of the best of a row.
Value Selection::best(Value items, bool inserts) {
  Value width = min(length, n(kBlock));
  Kept none(items, n(0), bit(true), scalar(b, loc, order.element, 0));
  Kept kept(loop(
      n(0), length, kBlock, none.values(), [&](Value from, ValueRange state) {
        Kept kept(state);
        Value to = min(add(from, n(kBlock)), length);
        // The last block may overlap the block before.
        Value first = sub(to, width);
        Value isBetter =
            loop(n(0), width, 1, kept.isOpen, [&](Value i, ValueRange any) {
              Value element = load(x, {row, add(first, i)});
              return SmallVector<Value>{
                  either(any[0], mayBeBetter(element, kept.limit))};
            })[0];
        kept = Kept(when(isBetter, state, [&](ValueRange state) {
          return (inserts ? insertBlock(from, to, Kept(state))
                          : appendBlock(from, to, Kept(state)))
              .values();
        }));
        if (inserts)
          return kept.values();
        Value isLast = compare(Predicate::eq, to, length);
        Value most = sub(indexValue(b, loc, room), n(kBlock));
        return when(either(isLast, compare(Predicate::sgt, kept.count, most)),
                    kept.values(), [&](ValueRange state) {
                      return cut(Kept(state)).values();
                    });
      }));
  return kept.items;
}

SmallVector<Value> Selection::run() {
  Type i64 = b.getI64Type();
  Value rows = indexValue(b, loc, sizesOf(b, loc, x)[0]);
  Sizes sizes = {sizesOf(b, loc, x)[0], getAsOpFoldResult(count)};
  Value items = empty(b, loc, {room}, i64);
  if (mayAppend) {
    spare = empty(b, loc, {room}, i64);
    OpFoldResult digits = b.getIndexAttr(KeyOrder::kDigits);
    numbers = empty(b, loc, {digits}, i64);
  }
  SmallVector<Value> results = loop(
      n(0), rows, 1,
      {empty(b, loc, sizes, order.element), empty(b, loc, sizes, i64),
       items},
      [&](Value i, ValueRange state) -> SmallVector<Value> {
        row = i;
        Value items = state[2];
        Value few = compare(Predicate::sle, count, n(kMostInserted));
        Value many = compare(Predicate::sgt, count, n(kMostInserted));
        auto selectIf = [&](Value condition, bool inserts) {
          items = when(condition, items, [&](ValueRange state) {
            return SmallVector<Value>{best(state[0], inserts)};
          })[0];
        };
        if (mayInsert)
          selectIf(few, true);
        if (mayAppend)
          selectIf(many, false);
        SmallVector<Value> shown = loop(
            n(0), count, 1, state.take_front(2),
            [&](Value j, ValueRange shown) -> SmallVector<Value> {
              Value at = order.positionOf(load(items, j));
              return {store(load(x, {row, at}), shown[0], {row, j}),
                      store(toNumber(at), shown[1], {row, j})};
            });
        return {shown[0], shown[1], items};
      });
  results.pop_back();
  return results;
}

LogicalResult
LowerTopK::matchAndRewrite(nn::TopKOp op, OpAdaptor adaptor,
                           ConversionPatternRewriter &b) const {
  Location loc = op.getLoc();
  Value x = adaptor.getX();
  int64_t rank = typeOf(x).getRank(), axis = op.getAxis();
  Sizes found = resultSizes(b, op->getResult(0)), sizes = sizesOf(b, loc, x);
  auto replace = [&](ValueRange values) {
    SmallVector<Value> results;
    for (auto [result, value] : llvm::zip_equal(op.getResults(), values))
      results.push_back(castTo(
          b, loc, value, getTypeConverter()->convertType(result.getType())));
    b.replaceOp(op, results);
    return success();
  };
  Type element = typeOf(x).getElementType();
  if (isKnownEmpty(shapeOf(x)) || isKnownEmpty(staticShape(found)))
    return replace({empty(b, loc, found, element),
                    empty(b, loc, found, b.getI64Type())});
  // The rows lie along the axis, so make it the last dimension.
  SmallVector<int64_t> perm = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  bool isLast = support::productOf(shapeOf(x).drop_front(axis + 1)) == 1;
  if (!isLast) {
    perm.erase(perm.begin() + axis);
    perm.push_back(axis);
    x = transpose(b, loc, x, perm);
  }
  OpFoldResult size = sizes[axis], k = found[axis];
  sizes.erase(sizes.begin() + axis);
  x = reshape(b, loc, x, {support::productOf(b, loc, sizes), size});
  SmallVector<Value> results = Selection(b, loc, op, x, k).run();
  for (Value &result : results) {
    result = reshape(b, loc, result, applyPermutation(found, perm));
    if (!isLast)
      result = transpose(b, loc, result, invertPermutationVector(perm));
  }
  return replace(results);
}

void loops::populateTopKToLinalg(RewritePatternSet &patterns,
                                 const TypeConverter &converter) {
  patterns.add<LowerTopK>(converter, patterns.getContext());
}
