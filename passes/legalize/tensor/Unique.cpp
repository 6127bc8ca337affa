//===- Unique.cpp - Unique ------------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes Unique. The code sorts rows; without an axis, a row has one
// element. Rows of few elements are sorted by radix sort, last element first.
// Longer rows are sorted by merge sort, because its time depends on the first
// difference between rows. The sort is stable, so the first row of a group is
// its first occurrence. A walk over the sorted rows then numbers the groups.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/tensor/Unique.h"

#include "dialects/nn/Scalars.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/support/KeyOrder.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {

struct Groups {
  Node &node;
  /// Rows to compare, in a type that has comparisons.
  Value rows;
  bool isUnsigned;

  Value isBefore(OpBuilder &b, Location loc, Value x, Value y);
  Value less(OpBuilder &b, Location loc, Value i, Value j);
  Value sort(Value count);
  Value sortByDigits(Value count, Value start, Value width);
  Value sortByMerging(Value count, Value start, Value limit);
  Value countBefore(Indices n, Value order, Value row, Value low, Value high,
                    Value alsoEqual);
};

/// Stores an integer in a tensor of i64.
Value insert(OpBuilder &b, Location loc, Value list, Value at, Value number) {
  if (number.getType().isIndex())
    number = arith::IndexCastOp::create(b, loc, b.getI64Type(), number);
  return tensor::InsertOp::create(b, loc, number, list, at);
}

Value extract(OpBuilder &b, Location loc, Value list, Value at) {
  Value number = tensor::ExtractOp::create(b, loc, list, at);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
}

} // namespace

/// Returns true if x < y. NaN is greater than all numbers and equal to NaN.
Value Groups::isBefore(OpBuilder &b, Location loc, Value x, Value y) {
  if (!isa<FloatType>(x.getType()))
    return arith::CmpIOp::create(b, loc,
                                 isUnsigned ? arith::CmpIPredicate::ult
                                            : arith::CmpIPredicate::slt,
                                 x, y);
  auto compare = [&](arith::CmpFPredicate predicate, Value l, Value r) {
    return arith::CmpFOp::create(b, loc, predicate, l, r);
  };
  Value onlyY = arith::AndIOp::create(
      b, loc, compare(arith::CmpFPredicate::ORD, x, x),
      compare(arith::CmpFPredicate::UNO, y, y));
  return arith::OrIOp::create(b, loc,
                              compare(arith::CmpFPredicate::OLT, x, y), onlyY);
}

/// Returns true if row i comes before row j. The first different element
/// decides.
Value Groups::less(OpBuilder &b, Location loc, Value i, Value j) {
  Indices n{b, loc};
  auto at = [&](OpBuilder &b, Location loc, Value row, Value k) -> Value {
    Value element = tensor::ExtractOp::create(b, loc, rows, ValueRange{row, k});
    return nn::convertScalar(b, loc, element,
                             nn::computeType(element.getType()), isUnsigned,
                             isUnsigned);
  };
  if (typeOf(rows).getDimSize(1) == 1)
    return isBefore(b, loc, at(b, loc, i, n.n(0)), at(b, loc, j, n.n(0)));
  Value width = tensor::DimOp::create(b, loc, rows, 1);
  Value no = arith::ConstantIntOp::create(b, loc, 0, 1);
  // State: position, true if i is before j, true if the order is decided.
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{b.getIndexType(), b.getI1Type(), b.getI1Type()},
      ValueRange{n.n(0), no, no},
      [&](OpBuilder &b, Location loc, ValueRange state) {
        Indices n{b, loc};
        Value isOpen = arith::XOrIOp::create(
            b, loc, state[2], arith::ConstantIntOp::create(b, loc, 1, 1));
        scf::ConditionOp::create(
            b, loc, n.both(n.less(state[0], width), isOpen), state);
      },
      [&](OpBuilder &b, Location loc, ValueRange state) {
        Indices n{b, loc};
        Value x = at(b, loc, i, state[0]), y = at(b, loc, j, state[0]);
        Value before = isBefore(b, loc, x, y), behind = isBefore(b, loc, y, x);
        scf::YieldOp::create(
            b, loc,
            ValueRange{n.add(state[0], n.n(1)), before,
                       arith::OrIOp::create(b, loc, before, behind)});
      });
  return loop.getResult(1);
}

/// Counts the sorted rows in `order[low, high)` that come before `row`.
Value Groups::countBefore(Indices n, Value order, Value row, Value low,
                          Value high, Value alsoEqual) {
  Type index = n.b.getIndexType();
  auto loop = scf::WhileOp::create(
      n.b, n.loc, TypeRange{index, index}, ValueRange{low, high},
      [&](OpBuilder &b, Location loc, ValueRange state) {
        scf::ConditionOp::create(b, loc, Indices{b, loc}.less(state[0],
                                                              state[1]),
                                 state);
      },
      [&](OpBuilder &b, Location loc, ValueRange state) {
        Indices n{b, loc};
        Value middle = n.div(n.add(state[0], state[1]), n.n(2));
        Value other = extract(b, loc, order, middle);
        // With `alsoEqual`, counts rows that are not after the row.
        Value rowFirst = less(b, loc, row, other);
        Value notRowFirst = arith::XOrIOp::create(
            b, loc, rowFirst, arith::ConstantIntOp::create(b, loc, 1, 1));
        Value isBefore = n.choose(alsoEqual, notRowFirst,
                                  less(b, loc, other, row));
        scf::YieldOp::create(
            b, loc,
            ValueRange{n.choose(isBefore, n.add(middle, n.n(1)), state[0]),
                       n.choose(isBefore, state[1], middle)});
      });
  return n.sub(loop.getResult(0), low);
}

/// Sorts by the first `width` columns, from the last column to the first.
Value Groups::sortByDigits(Value count, Value start, Value width) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Indices n{b, loc};
  OpFoldResult size = sizeOf(node, rows, 0);
  support::KeyOrder order{b, loc, typeOf(rows).getElementType(), isUnsigned,
                          /*descends=*/false};
  Value spare = tensor::EmptyOp::create(
      b, loc, ArrayRef<OpFoldResult>{size}, b.getI64Type());
  Value numbers = tensor::EmptyOp::create(
      b, loc, ArrayRef<int64_t>{support::KeyOrder::kDigits}, b.getI64Type());
  auto columns = scf::ForOp::create(
      b, loc, n.n(0), width, n.n(1), start,
      [&](OpBuilder &, Location, Value i, ValueRange state) {
        Value column = n.sub(n.sub(width, n.n(1)), i);
        auto elementAt = [&](Value row) -> Value {
          return tensor::ExtractOp::create(b, loc, rows,
                                           ValueRange{row, column});
        };
        auto items = scf::ForOp::create(
            b, loc, n.n(0), count, n.n(1), state,
            [&](OpBuilder &, Location, Value i, ValueRange state) {
              Value row = order.positionOf(
                  tensor::ExtractOp::create(b, loc, state[0], i));
              Value item = order.itemOf(elementAt(row), row);
              scf::YieldOp::create(b, loc, insert(b, loc, state[0], i, item));
            });
        scf::YieldOp::create(
            b, loc,
            order.sort({items.getResult(0), spare, numbers}, count, elementAt));
      });
  // Replaces the items by their positions, in place.
  auto positions = scf::ForOp::create(
      b, loc, n.n(0), count, n.n(1), ValueRange{columns.getResult(0)},
      [&](OpBuilder &, Location, Value i, ValueRange state) {
        Value item = tensor::ExtractOp::create(b, loc, state[0], i);
        scf::YieldOp::create(
            b, loc, insert(b, loc, state[0], i, order.positionOf(item)));
      });
  return positions.getResult(0);
}

/// Returns the indices of the rows in sorted order.
Value Groups::sort(Value count) {
  Type i64 = node.builder.getI64Type();
  Value start = generate(node, i64, {sizeOf(node, rows, 0)},
                         [&](OpBuilder &b, Location loc, ValueRange at) {
                           return Value(arith::IndexCastOp::create(
                               b, loc, i64, at[0]));
                         });
  int64_t width = typeOf(rows).getDimSize(1);
  Indices n{node.builder, node.loc()};
  if (!ShapedType::isDynamic(width))
    return width <= threshold::uniqueColumns
               ? sortByDigits(count, start, n.n(width))
               : sortByMerging(count, start, count);
  // Emit both sorts. At run time, only one of them changes the order. The sort
  // by digits has no effect with 0 columns, and the sort by merging has none
  // with a limit of 0.
  Value columns = indexValue(node, sizeOf(node, rows, 1));
  Value isNarrow = n.less(columns, n.n(threshold::uniqueColumns + 1));
  Value order = sortByDigits(count, start,
                             n.choose(isNarrow, columns, n.n(0)));
  return sortByMerging(count, order, n.choose(isNarrow, n.n(0), count));
}

/// Merges sorted halves of less than `limit` rows, pass by pass. The new index
/// of a row is its rank in its own half plus the number of earlier rows in the
/// other half.
Value Groups::sortByMerging(Value count, Value start, Value limit) {
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Indices n{b, loc};
  Type i64 = b.getI64Type();
  OpFoldResult size = sizeOf(node, rows, 0);
  auto passes = scf::WhileOp::create(
      b, loc, TypeRange{b.getIndexType(), start.getType()},
      ValueRange{n.n(1), start},
      [&](OpBuilder &b, Location loc, ValueRange state) {
        scf::ConditionOp::create(b, loc, Indices{b, loc}.less(state[0], limit),
                                 state);
      },
      [&](OpBuilder &b, Location loc, ValueRange state) {
        Value half = state[0], order = state[1];
        Indices n{b, loc};
        Value next = tensor::EmptyOp::create(
            b, loc, ArrayRef<OpFoldResult>{size}, i64);
        auto walk = scf::ForOp::create(
            b, loc, n.n(0), count, n.n(1), ValueRange{next},
            [&](OpBuilder &b, Location loc, Value i, ValueRange made) {
              Indices n{b, loc};
              Value both = n.mul(half, n.n(2));
              Value from = n.mul(n.div(i, both), both);
              Value middle = n.min(n.add(from, half), count);
              Value end = n.min(n.add(from, both), count);
              Value isFirst = n.less(i, middle);
              Value row = extract(b, loc, order, i);
              Value low = n.choose(isFirst, middle, from);
              Value high = n.choose(isFirst, end, middle);
              Value isSecond = arith::XOrIOp::create(
                  b, loc, isFirst,
                  arith::ConstantIntOp::create(b, loc, 1, 1));
              Value others =
                  countBefore({b, loc}, order, row, low, high, isSecond);
              Value own = n.sub(i, n.choose(isFirst, from, middle));
              Value place = n.add(n.add(from, own), others);
              scf::YieldOp::create(b, loc,
                                   insert(b, loc, made[0], place, row));
            });
        scf::YieldOp::create(
            b, loc, ValueRange{n.mul(half, n.n(2)), walk.getResult(0)});
      });
  return passes.getResult(1);
}

/// Returns the rows in a type of which single elements can be loaded and
/// compared: unsigned integers become signless, and bool becomes i8.
static Value comparable(Node &node, Value rows) {
  auto integer = dyn_cast<IntegerType>(typeOf(rows).getElementType());
  if (!integer || (integer.isSignless() && integer.getWidth() > 1))
    return rows;
  return node.cast(
      rows, node.builder.getIntegerType(std::max(8u, integer.getWidth())));
}

namespace {

/// The number of groups, and lists of i64 with an element for each row. The
/// first elements of `heads` and `sizes` are for the groups: the first row of a
/// group and its number of rows. `inverse` has the group of each row. Lists
/// that no output needs are null.
struct GroupLists {
  Value count, heads, inverse, sizes;
};

} // namespace

/// Numbers the groups in sorted order. The first rows replace the order in
/// `lists.heads`, because a group's number is at most the place of its rows.
static GroupLists numberSorted(Groups groups, Value count, GroupLists lists) {
  OpBuilder &b = groups.node.builder;
  Location loc = groups.node.loc();
  Indices n{b, loc};
  SmallVector<Value> start{n.n(0), n.n(0), lists.heads};
  for (Value list : {lists.inverse, lists.sizes})
    if (list)
      start.push_back(list);
  auto walk = scf::ForOp::create(
      b, loc, n.n(0), count, n.n(1), start,
      [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
        Indices n{b, loc};
        Value found = state[0], last = state[1], heads = state[2];
        Value row = extract(b, loc, heads, i);
        Value isNew = arith::OrIOp::create(b, loc, n.equal(i, n.n(0)),
                                           groups.less(b, loc, last, row));
        Value group = n.choose(isNew, found, n.sub(found, n.n(1)));
        Value head = n.choose(isNew, row, extract(b, loc, heads, group));
        SmallVector<Value> next{n.add(group, n.n(1)), row,
                                insert(b, loc, heads, group, head)};
        if (lists.inverse)
          next.push_back(insert(b, loc, state[3], row, group));
        if (lists.sizes) {
          Value known = extract(b, loc, state.back(), group);
          Value before = n.choose(isNew, n.n(0), known);
          next.push_back(
              insert(b, loc, state.back(), group, n.add(before, n.n(1))));
        }
        scf::YieldOp::create(b, loc, next);
      });
  return {walk.getResult(0), walk.getResult(2),
          lists.inverse ? walk.getResult(3) : Value(),
          lists.sizes ? walk.getResults().back() : Value()};
}

/// Numbers the groups in the order of their first rows. `lists.heads` has the
/// order of the rows. Needs `lists.inverse`.
static GroupLists numberByOccurrence(Groups groups, Value count,
                                     GroupLists lists) {
  OpBuilder &b = groups.node.builder;
  Location loc = groups.node.loc();
  Indices n{b, loc};
  SmallVector<Value> start{n.n(0), lists.inverse};
  if (lists.sizes)
    start.push_back(lists.sizes);
  // Lists the first row of the group of each row, and the number of rows at the
  // first row.
  auto mark = scf::ForOp::create(
      b, loc, n.n(0), count, n.n(1), start,
      [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
        Indices n{b, loc};
        Value row = extract(b, loc, lists.heads, i);
        Value isNew = arith::OrIOp::create(b, loc, n.equal(i, n.n(0)),
                                           groups.less(b, loc, state[0], row));
        Value head = n.choose(isNew, row, state[0]);
        SmallVector<Value> next{head, insert(b, loc, state[1], row, head)};
        if (lists.sizes) {
          Value before =
              n.choose(isNew, n.n(0), extract(b, loc, state[2], head));
          next.push_back(insert(b, loc, state[2], head, n.add(before, n.n(1))));
        }
        scf::YieldOp::create(b, loc, next);
      });
  // Replaces first rows by the groups' numbers. Moves what belongs to a group
  // to its number, which is at most its first row.
  SmallVector<Value> marked{n.n(0), lists.heads};
  llvm::append_range(marked, mark.getResults().drop_front());
  auto walk = scf::ForOp::create(
      b, loc, n.n(0), count, n.n(1), marked,
      [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
        Indices n{b, loc};
        Value first = extract(b, loc, state[2], i), isNew = n.equal(first, i);
        Value group =
            n.choose(isNew, state[0], extract(b, loc, state[2], first));
        Value head = n.choose(isNew, i, extract(b, loc, state[1], group));
        SmallVector<Value> next{
            n.choose(isNew, n.add(state[0], n.n(1)), state[0]),
            insert(b, loc, state[1], group, head),
            insert(b, loc, state[2], i, group)};
        if (lists.sizes) {
          Value from = n.choose(isNew, i, group);
          next.push_back(
              insert(b, loc, state[3], group, extract(b, loc, state[3], from)));
        }
        scf::YieldOp::create(b, loc, next);
      });
  return {walk.getResult(0), walk.getResult(1), walk.getResult(2),
          lists.sizes ? walk.getResult(3) : Value()};
}

LogicalResult legalize::legalizeUnique(Node &node) {
  Type element = node.elementType(0);
  if (!element.isIntOrFloat())
    return node.unsupported("elements that are not numbers");
  OpBuilder &b = node.builder;
  Value x = node.input(0);
  FailureOr<int64_t> chosen = axisOrFlat(node, x);
  if (failed(chosen))
    return failure();
  const int64_t axis = *chosen;
  // Each slice along the axis is a row.
  int64_t rank = typeOf(x).getRank();
  SmallVector<int64_t> perm{axis};
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis)
      perm.push_back(d);
  Value first = rank > 1 ? transpose(node, x, perm) : x;
  OpFoldResult width = sizeAttr(node, 1), size = sizeOf(node, x, axis);
  for (int64_t d = 1; d < rank; ++d)
    width = mulSizes(node, width, sizeOf(node, first, d));
  Value rows = comparable(node, reshape(node, first, {size, width}));
  Groups groups{node, rows,
                element.isUnsignedInteger() || element.isInteger(1)};
  Value count = indexValue(node, size);
  auto list = [&](bool isNeeded) {
    return isNeeded ? node.create<tensor::EmptyOp>(ArrayRef<OpFoldResult>{size},
                                                   b.getI64Type())
                    : Value();
  };
  const bool sorts = node.getInt("sorted", 1) != 0;
  GroupLists lists{/*count=*/{}, groups.sort(count),
                   list(!sorts || node.isUsed(2)), list(node.isUsed(3))};
  lists = sorts ? numberSorted(groups, count, lists)
                : numberByOccurrence(groups, count, lists);
  // Returns the elements of a list that are for groups, or null.
  auto front = [&](Value list) {
    return list ? takePart(node, list, {sizeAttr(node, 0)},
                           {OpFoldResult(lists.count)})
                : Value();
  };
  Value heads = front(lists.heads);
  auto y = node.infer<nn::GatherOp>(x, heads, axis);
  if (failed(y))
    return failure();
  SmallVector<Value> results{*y, heads, lists.inverse, front(lists.sizes)};
  return node.replace(ArrayRef(results).take_front(node.numOutputs()));
}
