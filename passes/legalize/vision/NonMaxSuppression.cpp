//===- NonMaxSuppression.cpp - NonMaxSuppression -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes NonMaxSuppression. For each class of each batch, boxes above the
// threshold are listed and sorted by score. Then each box, best first, is kept
// unless it overlaps a box that was kept before. Two measures avoid comparing
// all pairs:
//
// - Overlapping boxes are near each other. Kept boxes are stored in strips by
//   the position of their left side. A strip is at least as wide as the widest
//   box, so a box is compared only with its strip and the neighbouring strips.
//   Exporters shift the boxes of each class to a separate region to treat all
//   classes at once.
// - Strips are compared in blocks by vector code, until the first overlap.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"
#include "passes/support/Resampling.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using support::Scalars;

/// `kBlock` is the number of boxes that are compared at a time. The number of
/// strips is the number of boxes divided by `kBlock`, but at most
/// `kMostStrips`.
static const int64_t &kBlock = threshold::comparedBoxes,
                     &kMostStrips = threshold::boxStrips;

namespace {

/// Fields of a box that is compared.
enum Number { kTop, kLeft, kBottom, kRight, kArea, kNumbers };
using Box = SmallVector<Value, kNumbers>;

/// Layout of the strips: left side x is in strip (x - low) / width.
struct Strips {
  Value low, width, count;
};

/// Limits of the boxes that are kept: their number, their overlap, and the
/// least score; null if any score will do.
struct Limits {
  Value count, overlap, score;
};

class Suppression : Scalars {
public:
  Suppression(Node &node, Value boxes, Value scores, const Limits &limits,
              bool isCentered)
      : Scalars{node.builder, node.loc()}, node(node), boxes(boxes),
        scores(scores), limit(limits.count), overlap(limits.overlap),
        threshold(limits.score), isCentered(isCentered) {}
  Value run();

private:
  using Scalars::compare;
  Value compare(arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(b, loc, predicate, x, y);
  }
  Value both(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  /// Returns the minimum, or the number if the other operand is NaN.
  Value least(Value x, Value y) {
    return arith::MinNumFOp::create(b, loc, x, y);
  }
  Value most(Value x, Value y) {
    return arith::MaxNumFOp::create(b, loc, x, y);
  }
  /// Loads an element. Tensors of indices hold i64.
  Value load(Value tensor, ValueRange at) {
    Value x = tensor::ExtractOp::create(b, loc, tensor, at);
    return x.getType().isInteger(64)
               ? Value(arith::IndexCastOp::create(b, loc, b.getIndexType(), x))
               : x;
  }
  Value store(Value x, Value tensor, ValueRange at) {
    if (x.getType().isIndex())
      x = arith::IndexCastOp::create(b, loc, b.getI64Type(), x);
    return tensor::InsertOp::create(b, loc, x, tensor, at);
  }
  Value empty(Type element, OpFoldResult size) {
    return tensor::EmptyOp::create(b, loc, ArrayRef<OpFoldResult>(size),
                                   element);
  }

  SmallVector<Value> list(Value batch, Value type);
  Value sort(Value listedScores, Value listed);
  Box boxOf(Value batch, Value i);
  Strips findStrips(Value batch, Value indices, Value listed);
  Value stripOf(const Strips &strips, const Box &box);
  SmallVector<Value> makeRoom(Value batch, Value indices, Value listed,
                              const Strips &strips);
  Value overlaps(const Box &box, Value block, Value i);
  Value overlapsAny(const Box &box, Value kept, Value from, Value to,
                    Value found);
  SmallVector<Value> take(Value batch, Value type, ValueRange results);

  Node &node;
  Value boxes, scores, limit, overlap, threshold;
  bool isCentered;
  /// Number of boxes.
  Value count;
};

} // namespace

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// Lists boxes above the threshold. Stores each box behind the listed boxes. If
/// the box is below the threshold, the next box overwrites it. Returns indices,
/// scores and the number of boxes.
SmallVector<Value> Suppression::list(Value batch, Value type) {
  Value starts[] = {empty(b.getI64Type(), count),
                    empty(b.getF32Type(), count), n(0)};
  return loop(n(0), count, starts, [&](Value i, ValueRange state) {
    Value score = load(scores, {batch, type, i});
    Value isGood = threshold
                       ? compare(arith::CmpFPredicate::OGT, score, threshold)
                       : compare(arith::CmpFPredicate::ORD, score, score);
    return SmallVector<Value>{
        store(i, state[0], state[2]), store(score, state[1], state[2]),
        select(isGood, add(state[2], n(1)), state[2])};
  });
}

/// Sorts the list by descending score. Equal scores keep their order.
Value Suppression::sort(Value listedScores, Value listed) {
  OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
  Value part = tensor::ExtractSliceOp::create(
      b, loc, listedScores, ArrayRef(zero), ArrayRef<OpFoldResult>(listed),
      ArrayRef(one));
  return nn::TopKOp::create(b, loc, part, listed,
                            std::numeric_limits<int64_t>::max(), /*axis=*/0,
                            /*smallest=*/false)
      .getIndices();
}

/// Returns box `i`. Corners may come in any order. A box given by its center is
/// not normalized: with a negative width or height it overlaps nothing.
Box Suppression::boxOf(Value batch, Value i) {
  SmallVector<Value> given;
  for (int64_t k = 0; k < 4; ++k)
    given.push_back(load(boxes, {batch, i, n(k)}));
  if (isCentered) { // x, y, width, height
    Value x = mul(given[2], f(0.5)), y = mul(given[3], f(0.5));
    given = {sub(given[1], y), sub(given[0], x), add(given[1], y),
             add(given[0], x)};
  }
  Box box(kNumbers);
  for (auto [low, high] :
       {std::pair(kTop, kBottom), std::pair(kLeft, kRight)}) {
    Value first = given[low], last = given[high];
    box[low] =
        isCentered ? first : arith::MinimumFOp::create(b, loc, first, last);
    box[high] =
        isCentered ? last : arith::MaximumFOp::create(b, loc, first, last);
  }
  box[kArea] =
      mul(sub(box[kBottom], box[kTop]), sub(box[kRight], box[kLeft]));
  return box;
}

//===----------------------------------------------------------------------===//
// Strips
//===----------------------------------------------------------------------===//

Strips Suppression::findStrips(Value batch, Value indices, Value listed) {
  double infinity = std::numeric_limits<double>::infinity();
  Value starts[] = {f(infinity), f(-infinity), f(0)};
  SmallVector<Value> found =
      loop(n(0), listed, starts, [&](Value i, ValueRange state) {
        Box box = boxOf(batch, load(indices, i));
        Value width = sub(box[kRight], box[kLeft]);
        return SmallVector<Value>{least(state[0], box[kLeft]),
                                  most(state[1], box[kLeft]),
                                  most(state[2], width)};
      });
  Value count = clamp(
      arith::DivUIOp::create(b, loc, listed, n(kBlock)), n(1), n(kMostStrips));
  // Make a strip 0.1 % wider than the widest box. Then overlapping boxes are in
  // the same strip or in neighbouring strips, even with rounding errors.
  Value width = most(mul(found[2], f(1.001)),
                     div(sub(found[1], found[0]), toFloat(count)));
  return {found[0], width, count};
}

/// Returns the strip of a box. A box with NaN coordinates overlaps nothing and
/// goes to the first strip.
Value Suppression::stripOf(const Strips &strips, const Box &box) {
  Value number = div(sub(box[kLeft], strips.low), strips.width);
  return toIndex(least(most(number, f(0)),
                       toFloat(sub(strips.count, n(1)))));
}

/// Returns the start of each strip, aligned to whole blocks, and its current
/// end. Also returns storage for kept boxes. Its unused entries have area 0.
SmallVector<Value> Suppression::makeRoom(Value batch, Value indices,
                                         Value listed, const Strips &strips) {
  auto list = [&] {
    return empty(b.getI64Type(), b.getIndexAttr(kMostStrips));
  };
  Value counts = loop(n(0), strips.count, list(),
                      [&](Value i, ValueRange state) {
                        return SmallVector<Value>{store(n(0), state[0], i)};
                      })[0];
  counts = loop(n(0), listed, counts, [&](Value i, ValueRange state) {
    Value strip = stripOf(strips, boxOf(batch, load(indices, i)));
    Value more = add(load(state[0], strip), n(1));
    return SmallVector<Value>{store(more, state[0], strip)};
  })[0];
  SmallVector<Value> room = loop(
      n(0), strips.count, {list(), list(), n(0)},
      [&](Value i, ValueRange state) {
        Value blocks = arith::CeilDivUIOp::create(b, loc, load(counts, i),
                                                  n(kBlock));
        return SmallVector<Value>{store(state[2], state[0], i),
                                  store(state[2], state[1], i),
                                  add(state[2], mul(blocks, n(kBlock)))};
      });
  OpFoldResult most = add(count, n(kMostStrips * kBlock));
  Value kept = tensor::EmptyOp::create(
      b, loc, ArrayRef<OpFoldResult>{b.getIndexAttr(kNumbers), most},
      b.getF32Type());
  room[2] = loop(n(0), room[2], kept, [&](Value i, ValueRange state) {
    return SmallVector<Value>{store(f(0), state[0], {n(kArea), i})};
  })[0];
  return room;
}

//===----------------------------------------------------------------------===//
// Overlaps
//===----------------------------------------------------------------------===//

/// Returns true if a box and box `i` of a block overlap by more than the limit.
Value Suppression::overlaps(const Box &box, Value block, Value i) {
  auto other = [&](Number k) { return load(block, {n(k), i}); };
  auto extent = [&](Number low, Number high) {
    Value from = other(low), to = other(high);
    from = select(compare(arith::CmpFPredicate::OGT, from, box[low]), from,
                  box[low]);
    to = select(compare(arith::CmpFPredicate::OLT, to, box[high]), to,
                box[high]);
    return sub(to, from);
  };
  Value height = extent(kTop, kBottom), width = extent(kLeft, kRight);
  Value common = mul(height, width), area = other(kArea);
  Value all = sub(add(box[kArea], area), common);
  Value isMore =
      compare(arith::CmpFPredicate::OGT, div(common, all), overlap);
  for (Value x : {height, width, box[kArea], area, all})
    isMore = both(isMore, compare(arith::CmpFPredicate::OGT, x, f(0)));
  return isMore;
}

/// Returns true if the box overlaps a kept box in [from, to), or if `found` is
/// true. Compares no more boxes after an overlap. Uses loops of one step or
/// none for this, because a branch or a conditional loop would not be
/// bufferized in place.
Value Suppression::overlapsAny(const Box &box, Value kept, Value from,
                               Value to, Value found) {
  auto compareBlock = [&](Value first) {
    auto type = RankedTensorType::get({kNumbers, kBlock}, b.getF32Type());
    OpFoldResult zero = b.getIndexAttr(0), one = b.getIndexAttr(1);
    Value block = tensor::ExtractSliceOp::create(
        b, loc, type, kept, ArrayRef<OpFoldResult>{zero, first},
        ArrayRef<OpFoldResult>{b.getIndexAttr(kNumbers),
                               b.getIndexAttr(kBlock)},
        ArrayRef<OpFoldResult>{one, one});
    return loop(n(0), n(kBlock), bit(false), [&](Value i, ValueRange found) {
      return SmallVector<Value>{either(found[0], overlaps(box, block, i))};
    });
  };
  Value blocks = arith::CeilDivUIOp::create(b, loc, sub(to, from), n(kBlock));
  return loop(n(0), blocks, found, [&](Value number, ValueRange found) {
    Value first = add(from, mul(number, n(kBlock)));
    return loop(n(0), select(found[0], n(0), n(1)), found,
                [&](Value, ValueRange) { return compareBlock(first); });
  })[0];
}

/// Keeps boxes of a class until the limit is reached or no box is left. Returns
/// the result rows and their number. A box that is not kept is also written
/// behind the last row, with area 0. The next box overwrites it.
SmallVector<Value> Suppression::take(Value batch, Value type,
                                     ValueRange results) {
  SmallVector<Value> candidates = list(batch, type);
  Value indices = candidates[0], listed = candidates[2];
  Value order = sort(candidates[1], listed);
  Strips strips = findStrips(batch, indices, listed);
  SmallVector<Value> room = makeRoom(batch, indices, listed, strips);
  SmallVector<Value> state{n(0), n(0), results[0], results[1], room[1],
                           room[2]};
  auto sweep = scf::WhileOp::create(
      b, loc, ValueRange(state).getTypes(), state,
      [&](OpBuilder &, Location, ValueRange state) {
        Value isMore = compare(arith::CmpIPredicate::slt, state[0], listed);
        Value mayTake = compare(arith::CmpIPredicate::slt, state[1], limit);
        scf::ConditionOp::create(b, loc, both(isMore, mayTake), state);
      },
      [&](OpBuilder &, Location, ValueRange state) {
        Value rows = state[2], ends = state[4], kept = state[5];
        Value i = load(indices, load(order, state[0]));
        Box box = boxOf(batch, i);
        Value strip = stripOf(strips, box);
        Value first = clamp(sub(strip, n(1)), n(0), strip);
        Value last = arith::MinSIOp::create(b, loc, add(strip, n(2)),
                                            strips.count);
        Value isOut =
            loop(first, last, bit(false), [&](Value other, ValueRange found) {
              return SmallVector<Value>{
                  overlapsAny(box, kept, load(room[0], other),
                              load(ends, other), found[0])};
            })[0];
        Value row[] = {batch, type, i};
        for (auto [k, number] : llvm::enumerate(row))
          rows = store(number, rows, {state[3], n(k)});
        Value end = load(ends, strip);
        box[kArea] = select(isOut, f(0), box[kArea]);
        for (auto [k, number] : llvm::enumerate(box))
          kept = store(number, kept, {n(k), end});
        Value one = select(isOut, n(0), n(1));
        ends = store(add(end, one), ends, strip);
        scf::YieldOp::create(b, loc,
                             ValueRange{add(state[0], n(1)),
                                        add(state[1], one), rows,
                                        add(state[3], one), ends, kept});
      });
  return {sweep.getResult(2), sweep.getResult(3)};
}

Value Suppression::run() {
  Value batches = indexValue(node, sizeOf(node, scores, 0)),
        types = indexValue(node, sizeOf(node, scores, 1));
  count = indexValue(node, sizeOf(node, boxes, 1));
  // Allocates one row more than the maximum, because the last written row may
  // not count.
  Value most = arith::MinSIOp::create(b, loc, limit, count);
  Value rows = add(mul(mul(batches, types), most), n(1));
  auto type = RankedTensorType::get({ShapedType::kDynamic, 3},
                                    b.getI64Type());
  Value empty = tensor::EmptyOp::create(b, loc, type, rows);
  // Skips all batches if no box can be kept.
  Value takesAny =
      both(compare(arith::CmpIPredicate::slt, n(0), most),
           compare(arith::CmpIPredicate::slt, n(0), types));
  batches = select(takesAny, batches, n(0));
  SmallVector<Value> all = loop(
      n(0), batches, {empty, n(0)}, [&](Value batch, ValueRange state) {
        return loop(n(0), types, state, [&](Value type, ValueRange state) {
          return take(batch, type, state);
        });
      });
  Sizes sizes = {all[1], node.builder.getIndexAttr(3)};
  return takePart(node, all[0], Sizes(2, sizeAttr(node, 0)), sizes);
}

/// Returns the only element of input i, or null if the input is left out.
static FailureOr<Value> readOne(Node &node, size_t i, StringRef name,
                                Type type) {
  if (!node.has(i))
    return Value();
  pinToOne(node, i, name);
  if (!node.type(i).hasStaticShape() || node.type(i).getNumElements() != 1)
    return node.invalid(name + " needs one element");
  Value one = castTo(
      node, reshape(node, node.input(i), ArrayRef<int64_t>()), type);
  return node.create<tensor::ExtractOp>(one, ValueRange());
}

static LogicalResult legalizeNonMaxSuppression(Node &node) {
  if (node.has(0))
    pinInput(node, 0, {ShapedType::kDynamic, ShapedType::kDynamic, 4}, "boxes");
  if (!node.has(0) || !node.has(1) || node.rank(0) != 3 || node.rank(1) != 3 ||
      node.shape(0)[2] != 4)
    return node.invalid("boxes (batches, boxes, 4) and scores (batches, "
                        "classes, boxes) are needed");
  int64_t centered = node.getInt("center_point_box", 0);
  if (centered != 0 && centered != 1)
    return node.badElement("center_point_box", std::nullopt, Twine(centered),
                           "0 or 1");
  Type f32 = node.builder.getF32Type(), i64 = node.builder.getI64Type();
  Value boxes = castTo(node, node.input(0), f32),
        scores = castTo(node, node.input(1), f32);
  for (auto [mine, other, name] :
       {std::tuple<int64_t, int64_t, StringRef>(0, 0, "batches"),
        {2, 1, "boxes"}})
    if (failed(requireFit(node, nn::SizeRelation::equal,
                          sizeOf(node, scores, mine),
                          sizeOf(node, boxes, other),
                          "there are scores of {0} " + name +
                              ", but boxes of {1}")))
      return failure();
  auto limit = readOne(node, 2, "max_output_boxes_per_class", i64);
  auto overlap = readOne(node, 3, "iou_threshold", f32);
  auto threshold = readOne(node, 4, "score_threshold", f32);
  if (failed(limit) || failed(overlap) || failed(threshold))
    return failure();
  if (!*limit) // Without a limit, the operator selects no box.
    return node.replace(intConstant(node, {}, {0, 3}));
  Scalars s{node.builder, node.loc()};
  Value most = arith::MaxSIOp::create(
      s.b, s.loc,
      node.create<arith::IndexCastOp>(node.builder.getIndexType(), *limit),
      s.n(0));
  const Limits limits{most, *overlap ? *overlap : s.f(0), *threshold};
  Suppression suppression(node, boxes, scores, limits, centered == 1);
  return node.replace(suppression.run());
}

void legalize::populateNonMaxSuppression(Legalizers &legalizers) {
  legalizers.add("NonMaxSuppression", legalizeNonMaxSuppression);
}
