//===- NonMaxSuppression.cpp - NonMaxSuppression -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For each class of each batch the boxes above the threshold are listed. Then,
// again and again, the best of the list is taken, and what overlaps it is
// struck out: a number that is none. So the work is that of the boxes taken
// times the boxes listed, in loops that vectors do.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/Helpers.h"
#include "passes/support/Resampling.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using lower::Scalars;

namespace {

/// Candidates of a class, in lists of as many elements as there are boxes.
enum List { kIndex, kScore, kTop, kLeft, kBottom, kRight, kArea, kLists };

struct Suppression {
  Node &node;
  Value boxes, scores, limit, overlap, threshold;
  bool isCentered;

  Value constant(OpBuilder &b, Location loc, bool value) {
    return arith::ConstantIntOp::create(b, loc, value, 1);
  }
  Value compare(Scalars s, arith::CmpFPredicate predicate, Value x, Value y) {
    return arith::CmpFOp::create(s.b, s.loc, predicate, x, y);
  }
  Value both(Scalars s, Value x, Value y) {
    return arith::AndIOp::create(s.b, s.loc, x, y);
  }
  Value choose(Scalars s, Value condition, Value x, Value y) {
    return arith::SelectOp::create(s.b, s.loc, condition, x, y);
  }
  SmallVector<Value> cornersOf(Scalars s, Value batch, Value i);
  scf::ForOp list(Scalars s, Value batch, Value type, Value count);
  Value overlaps(Scalars s, ValueRange lists, Value taken, Value other);
  scf::ForOp take(Scalars s, Value batch, Value type, ValueRange lists,
                  Value listed, ValueRange results);
  Value run();
};

} // namespace

/// Top, left, bottom and right of a box, whichever corners are given.
SmallVector<Value> Suppression::cornersOf(Scalars s, Value batch, Value i) {
  SmallVector<Value> given;
  for (int64_t k = 0; k < 4; ++k)
    given.push_back(tensor::ExtractOp::create(
        s.b, s.loc, boxes, ValueRange{batch, i, s.n(k)}));
  if (isCentered) { // x, y, width, height
    Value x = s.mul(given[2], s.f(0.5)), y = s.mul(given[3], s.f(0.5));
    given = {s.sub(given[1], y), s.sub(given[0], x), s.add(given[1], y),
             s.add(given[0], x)};
  }
  auto low = [&](Value a, Value b) -> Value {
    return arith::MinimumFOp::create(s.b, s.loc, a, b);
  };
  auto high = [&](Value a, Value b) -> Value {
    return arith::MaximumFOp::create(s.b, s.loc, a, b);
  };
  return {low(given[0], given[2]), low(given[1], given[3]),
          high(given[0], given[2]), high(given[1], given[3])};
}

/// Each box is written behind those listed before it; the next one replaces it
/// if it is not good enough. Results are the lists and their length.
scf::ForOp Suppression::list(Scalars s, Value batch, Value type, Value count) {
  SmallVector<Value> starts;
  auto shape = RankedTensorType::get({ShapedType::kDynamic},
                                     s.b.getF32Type());
  for (int64_t k = 0; k < kLists; ++k)
    starts.push_back(tensor::EmptyOp::create(
        s.b, s.loc,
        k == kIndex ? shape.clone(s.b.getI64Type()) : shape, count));
  starts.push_back(s.n(0));
  return scf::ForOp::create(
      s.b, s.loc, s.n(0), count, s.n(1), starts,
      [&](OpBuilder &b, Location loc, Value i, ValueRange args) {
        Scalars s{b, loc};
        Value score = tensor::ExtractOp::create(b, loc, scores,
                                                ValueRange{batch, type, i});
        Value isGood =
            threshold ? compare(s, arith::CmpFPredicate::OGT, score, threshold)
                      : compare(s, arith::CmpFPredicate::ORD, score, score);
        SmallVector<Value> box = cornersOf(s, batch, i);
        Value area = s.mul(s.sub(box[2], box[0]), s.sub(box[3], box[1]));
        Value index = arith::IndexCastOp::create(b, loc, b.getI64Type(), i);
        Value numbers[] = {index, score, box[0], box[1], box[2], box[3], area};
        SmallVector<Value> next;
        for (int64_t k = 0; k < kLists; ++k)
          next.push_back(tensor::InsertOp::create(b, loc, numbers[k], args[k],
                                                  args[kLists]));
        next.push_back(choose(s, isGood, s.add(args[kLists], s.n(1)),
                              args[kLists]));
        scf::YieldOp::create(b, loc, next);
      });
}

/// Whether two candidates overlap by more than the limit.
Value Suppression::overlaps(Scalars s, ValueRange lists, Value taken,
                            Value other) {
  auto read = [&](List list, Value at) -> Value {
    return tensor::ExtractOp::create(s.b, s.loc, lists[list], at);
  };
  auto extent = [&](List low, List high) -> Value {
    Value from = arith::MaximumFOp::create(s.b, s.loc, read(low, taken),
                                           read(low, other));
    Value to = arith::MinimumFOp::create(s.b, s.loc, read(high, taken),
                                         read(high, other));
    return s.sub(to, from);
  };
  Value height = extent(kTop, kBottom), width = extent(kLeft, kRight);
  Value common = s.mul(height, width);
  Value areas[] = {read(kArea, taken), read(kArea, other)};
  Value all = s.sub(s.add(areas[0], areas[1]), common);
  Value share = s.div(common, all);
  Value isMore = compare(s, arith::CmpFPredicate::OGT, share, overlap);
  for (Value x : {height, width, areas[0], areas[1], all})
    isMore = both(s, isMore,
                  compare(s, arith::CmpFPredicate::OGT, x, s.f(0)));
  return isMore;
}

/// Takes boxes of a class until there are enough or none is left. Results are
/// the rows, how many there are, and what the loop alone needs.
scf::ForOp Suppression::take(Scalars s, Value batch, Value type,
                             ValueRange lists, Value listed,
                             ValueRange results) {
  Value rounds = arith::MinSIOp::create(s.b, s.loc, limit, listed);
  SmallVector<Value> starts(results);
  starts.append({lists[kScore], listed});
  return scf::ForOp::create(
      s.b, s.loc, s.n(0), rounds, s.n(1), starts,
      [&](OpBuilder &b, Location loc, Value, ValueRange args) {
        Scalars s{b, loc};
        Value rows = args[0], count = args[1], left = args[2], end = args[3];
        auto best = scf::ForOp::create(
            b, loc, s.n(0), end, s.n(1), ValueRange{s.f(0), s.n(-1)},
            [&](OpBuilder &b, Location loc, Value i, ValueRange args) {
              Scalars s{b, loc};
              Value score = tensor::ExtractOp::create(b, loc, left, i);
              Value isFirst = s.choose(arith::CmpIPredicate::slt, args[1],
                                       s.n(0), constant(b, loc, true),
                                       constant(b, loc, false));
              Value isBetter = arith::OrIOp::create(
                  b, loc, isFirst,
                  compare(s, arith::CmpFPredicate::OGT, score, args[0]));
              isBetter = both(
                  s, isBetter,
                  compare(s, arith::CmpFPredicate::ORD, score, score));
              scf::YieldOp::create(b, loc,
                                   ValueRange{choose(s, isBetter, score,
                                                     args[0]),
                                              choose(s, isBetter, i, args[1])});
            });
        Value at = best.getResult(1);
        Value taken = arith::MaxSIOp::create(b, loc, at, s.n(0));
        auto ifFound = [&](Value x, Value y) {
          return s.choose(arith::CmpIPredicate::slt, at, s.n(0), y, x);
        };
        Type i64 = b.getI64Type();
        Value row[] = {
            arith::IndexCastOp::create(b, loc, i64, batch),
            arith::IndexCastOp::create(b, loc, i64, type),
            tensor::ExtractOp::create(b, loc, lists[kIndex], taken)};
        for (int64_t k = 0; k < 3; ++k)
          rows = tensor::InsertOp::create(b, loc, row[k], rows,
                                          ValueRange{count, s.n(k)});
        Value rest = ifFound(end, s.n(0));
        auto struck = scf::ForOp::create(
            b, loc, s.n(0), rest, s.n(1), ValueRange{left},
            [&](OpBuilder &b, Location loc, Value i, ValueRange args) {
              Scalars s{b, loc};
              Value isOut = arith::OrIOp::create(
                  b, loc, overlaps(s, lists, taken, i),
                  arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, i,
                                        taken));
              Value score = tensor::ExtractOp::create(b, loc, args[0], i);
              Value next = choose(
                  s, isOut, s.f(std::numeric_limits<double>::quiet_NaN()),
                  score);
              Value list =
                  tensor::InsertOp::create(b, loc, next, args[0], i);
              scf::YieldOp::create(b, loc, list);
            });
        scf::YieldOp::create(b, loc,
                             ValueRange{rows,
                                        s.add(count, ifFound(s.n(1), s.n(0))),
                                        struck.getResult(0), rest});
      });
}

Value Suppression::run() {
  OpBuilder &b = node.builder;
  Scalars s{b, node.loc()};
  Value batches = indexValue(node, sizeOf(node, scores, 0)),
        types = indexValue(node, sizeOf(node, scores, 1)),
        count = indexValue(node, sizeOf(node, boxes, 1));
  // One more than there can be: what is written last may not count.
  Value most = arith::MinSIOp::create(b, s.loc, limit, count);
  Value rows = s.add(s.mul(s.mul(batches, types), most), s.n(1));
  auto type = RankedTensorType::get({ShapedType::kDynamic, 3},
                                    b.getI64Type());
  Value empty = tensor::EmptyOp::create(b, s.loc, type, rows);
  auto all = scf::ForOp::create(
      b, s.loc, s.n(0), batches, s.n(1), ValueRange{empty, s.n(0)},
      [&](OpBuilder &b, Location loc, Value batch, ValueRange args) {
        Scalars s{b, loc};
        auto inner = scf::ForOp::create(
            b, loc, s.n(0), types, s.n(1), args,
            [&](OpBuilder &b, Location loc, Value type, ValueRange args) {
              Scalars s{b, loc};
              auto listed = list(s, batch, type, count);
              ValueRange lists = listed.getResults();
              auto taken = take(s, batch, type, lists.take_front(kLists),
                                lists[kLists], args);
              scf::YieldOp::create(b, loc, taken.getResults().take_front(2));
            });
        scf::YieldOp::create(b, loc, inner.getResults());
      });
  Sizes sizes = {all.getResult(1), node.builder.getIndexAttr(3)};
  return takePart(node, all.getResult(0), Sizes(2, sizeAttr(node, 0)), sizes);
}

/// The one element of input i, or nothing.
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
  if (!*limit) // No box is wanted.
    return node.replace(intConstant(node, {}, {0, 3}));
  Scalars s{node.builder, node.loc()};
  Value most = arith::MaxSIOp::create(
      s.b, s.loc,
      node.create<arith::IndexCastOp>(node.builder.getIndexType(), *limit),
      s.n(0));
  Suppression suppression{node,      boxes, scores,
                          most,      *overlap ? *overlap : s.f(0),
                          *threshold, centered == 1};
  return node.replace(suppression.run());
}

void legalize::populateNonMaxSuppression(Legalizers &legalizers) {
  legalizers.add("NonMaxSuppression", legalizeNonMaxSuppression);
}
