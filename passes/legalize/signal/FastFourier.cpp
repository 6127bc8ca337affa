//===- FastFourier.cpp - Fourier transforms of dynamic length -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/signal/FastFourier.h"

#include "passes/legalize/signal/ComplexNumbers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// The number of points in a vector, and the radix of the first step.
static constexpr int64_t kLanes = 4, kFirst = 8;

namespace {

/// Complex points in two tensors of rank 1.
using Points = ComplexValue;

/// Builder of the loops of a transform. The loops carry the tensors that they
/// write.
class Transformer : ComplexNumbers {
public:
  Transformer(Node &node, Value x, const LineTransforms &lines)
      : ComplexNumbers{node.builder, node.loc()}, lines(lines), x(x),
        element(node.builder.getF64Type()),
        lanes(VectorType::get({kLanes}, element)) {}
  Value run(Value results);

private:
  using State = SmallVector<Value>;
  using Body = llvm::function_ref<State(Value i, ValueRange state)>;

  State loop(Value from, Value to, Value step, ValueRange state, Body body);
  State count(Value to, ValueRange state, Body body) {
    return loop(n(0), to, n(1), state, body);
  }
  /// Builds a loop of one step or none, because a branch would not be
  /// bufferized in place.
  State when(Value condition, ValueRange state,
             llvm::function_ref<State(ValueRange)> body) {
    return count(choose(condition, n(1), n(0)), state,
                 [&](Value, ValueRange state) { return body(state); });
  }
  static Points at(ValueRange state, size_t i) {
    return {state[i], state[i + 1]};
  }
  static State join(Points a, Points b) { return {a.re, a.im, b.re, b.im}; }

  ComplexValue load(Points from, Value at);
  ComplexValue loadVector(Points from, Value at);
  Points store(ComplexValue x, Points to, Value at);
  Points storeVector(ComplexValue x, Points to, Value at);
  Points emptyPoints(Value size);
  /// Converts between the element type of x and f64.
  Value widen(Value number);
  Value narrow(Value number);

  void chooseSize();
  Points fill(Points to, Value from, Value end,
              llvm::function_ref<ComplexValue(Value i)> body);
  Points tabulateTurns(Value points, Value count,
                       llvm::function_ref<Value(Value i)> turnOf);

  Points takeLine(Value line, Points to);
  Points takeFilter(Points to);
  Value putLine(Value line, Points from, Value results);
  Points eachVector(Points to, llvm::function_ref<ComplexValue(Value at)> body);
  Points firstPass(Points from, Points to);
  Points pass(int64_t radix, Points from, Points to, Value apart);
  State bothWays(int64_t radix, ValueRange state, Value apart);
  State transformBuffer(ValueRange state);
  State transformLine(Value line, ValueRange state);

  const LineTransforms &lines;
  Value x;
  Type element;
  VectorType lanes;
  /// `isDirect` is true if the length is a power of two that is transformed
  /// directly. `size` is the power of two that is transformed, `bits` its
  /// logarithm.
  Value isDirect, size, bits;
  /// e^(-2πi k / size), c[n], and the spectrum of conj(c), which line -1
  /// computes.
  Points turns, chirp, filter;
};

} // namespace

//===----------------------------------------------------------------------===//
// Loops and buffers
//===----------------------------------------------------------------------===//

Transformer::State Transformer::loop(Value from, Value to, Value step,
                                     ValueRange state, Body body) {
  auto loop = scf::ForOp::create(
      b, loc, from, to, step, state,
      [&](OpBuilder &, Location, Value i, ValueRange state) {
        scf::YieldOp::create(b, loc, body(i, state));
      });
  return State(loop.getResults());
}

ComplexValue Transformer::load(Points from, Value at) {
  auto part = [&](Value tensor) -> Value {
    return tensor::ExtractOp::create(b, loc, tensor, at);
  };
  return {part(from.re), part(from.im)};
}

Points Transformer::store(ComplexValue x, Points to, Value at) {
  auto part = [&](Value x, Value tensor) -> Value {
    return tensor::InsertOp::create(b, loc, x, tensor, at);
  };
  return {part(x.re, to.re), part(x.im, to.im)};
}

ComplexValue Transformer::loadVector(Points from, Value at) {
  auto part = [&](Value tensor) -> Value {
    return vector::TransferReadOp::create(b, loc, lanes, tensor, at,
                                          constant(element, 0),
                                          ArrayRef<bool>{true});
  };
  return {part(from.re), part(from.im)};
}

Points Transformer::storeVector(ComplexValue x, Points to, Value at) {
  auto part = [&](Value x, Value tensor) -> Value {
    return vector::TransferWriteOp::create(b, loc, x, tensor, at,
                                           ArrayRef<bool>{true})
        .getResult();
  };
  return {part(x.re, to.re), part(x.im, to.im)};
}

Value Transformer::widen(Value number) {
  if (number.getType() == element)
    return number;
  return arith::ExtFOp::create(b, loc, element, number);
}

Value Transformer::narrow(Value number) {
  Type stored = typeOf(x).getElementType();
  if (stored == element)
    return number;
  return arith::TruncFOp::create(b, loc, stored, number);
}

Points Transformer::emptyPoints(Value size) {
  auto part = [&]() -> Value {
    return tensor::EmptyOp::create(
        b, loc, ArrayRef<OpFoldResult>{OpFoldResult(size)}, element);
  };
  Value re = part();
  return {re, part()};
}

//===----------------------------------------------------------------------===//
// Tables
//===----------------------------------------------------------------------===//

void Transformer::chooseSize() {
  Type i64 = b.getI64Type();
  auto toIndex = [&](Value v) { return of(v); };
  auto logarithm = [&](Value v) {
    v = arith::IndexCastOp::create(b, loc, i64, v);
    Value zeros = math::CountLeadingZerosOp::create(b, loc, v);
    return sub(n(64), toIndex(zeros));
  };
  Value length = lines.length, before = sub(length, n(1));
  Value common = arith::AndIOp::create(b, loc, length, before);
  isDirect = both(equal(common, n(0)), less(n(kFirst - 1), length));
  // Bits of 2N - 2, so that the size is greater than 2N - 2.
  Value enough = max(logarithm(mul(before, n(2))), n(3));
  bits = choose(isDirect, logarithm(before), enough);
  size = arith::ShLIOp::create(b, loc, n(1), bits);
}

Points Transformer::fill(Points to, Value from, Value end,
                         llvm::function_ref<ComplexValue(Value i)> body) {
  return at(loop(from, end, n(1), {to.re, to.im},
                 [&](Value i, ValueRange state) -> State {
                   Points to = store(body(i), at(state, 0), i);
                   return {to.re, to.im};
                 }),
            0);
}

/// Computes e^(-2πi t / points) for t = turnOf(i) in [0, points) and i < count.
/// Each result is a product of two exact values. The two values come from two
/// tables of about sqrt(points) values.
Points Transformer::tabulateTurns(Value points, Value count,
                                  llvm::function_ref<Value(Value i)> turnOf) {
  Value shift = div(add(bits, n(1)), n(2));
  Value fineCount = arith::ShLIOp::create(b, loc, n(1), shift);
  Value coarseCount =
      add(arith::ShRUIOp::create(b, loc, points, shift), n(1));
  Value turn = arith::DivFOp::create(b, loc, constant(element, -2 * M_PI),
                                     toFloat(points, element));
  auto exact = [&](Value size, Value step) {
    return fill(emptyPoints(size), n(0), size, [&](Value i) -> ComplexValue {
      Value angle = arith::MulFOp::create(b, loc, turn,
                                          toFloat(mul(i, step), element));
      return {math::CosOp::create(b, loc, angle),
              math::SinOp::create(b, loc, angle)};
    });
  };
  Points fine = exact(fineCount, n(1)), coarse = exact(coarseCount, fineCount);
  return fill(emptyPoints(count), n(0), count, [&](Value i) {
    Value t = turnOf(i);
    Value high = arith::ShRUIOp::create(b, loc, t, shift);
    Value low = arith::AndIOp::create(b, loc, t, sub(fineCount, n(1)));
    return times(load(coarse, high), load(fine, low));
  });
}

//===----------------------------------------------------------------------===//
// Lines
//===----------------------------------------------------------------------===//

/// Returns the index of the first element of a line.
static Value startOf(Indices i, Value line, const Lines &lines, Value inner) {
  return i.add(i.mul(i.div(line, inner), lines.perOuter),
               i.mul(i.rem(line, inner), lines.perInner));
}

/// Loads x[n] c[n] and pads with zeros.
Points Transformer::takeLine(Value line, Points to) {
  Value start = startOf(*this, line, lines.from, lines.inner);
  to = fill(to, n(0), lines.inputs, [&](Value i) {
    Value place = add(start, mul(i, lines.from.perPoint));
    auto part = [&](Value at) {
      return widen(tensor::ExtractOp::create(b, loc, x, at));
    };
    ComplexValue point{part(place), Value()};
    if (lines.readsComplex)
      point.im = part(add(place, n(1)));
    if (lines.weight)
      point = scaled(point, widen(lines.weight(b, loc, i)));
    // Swaps real and imaginary parts for the inverse transform.
    if (lines.inverse)
      point = {point.im ? point.im : constant(element, 0), point.re};
    return times(point, load(chirp, i));
  });
  return fill(to, lines.inputs, size, [&](Value) {
    return ComplexValue{constant(element, 0), constant(element, 0)};
  });
}

/// Stores conj(c[n]) at n and -n, modulo the size.
Points Transformer::takeFilter(Points to) {
  to = fill(to, n(0), size, [&](Value) {
    return ComplexValue{constant(element, 0), constant(element, 0)};
  });
  Value share = arith::DivFOp::create(b, loc, constant(element, 1),
                                      toFloat(size, element));
  State state = count(
      lines.length, {to.re, to.im}, [&](Value i, ValueRange state) -> State {
        ComplexValue value = scaled(load(chirp, i), share);
        value.im = arith::NegFOp::create(b, loc, value.im);
        Points to = store(value, at(state, 0), i);
        Value mirror = arith::AndIOp::create(b, loc, sub(size, i),
                                             sub(size, n(1)));
        to = store(value, to, mirror);
        return {to.re, to.im};
      });
  return at(state, 0);
}

/// Stores the points of a line. After the second transform of Bluestein's
/// algorithm the points are in reverse order.
Value Transformer::putLine(Value line, Points from, Value results) {
  Value start = startOf(*this, line, lines.to, lines.inner);
  Value share = arith::DivFOp::create(b, loc, constant(element, 1),
                                      toFloat(lines.length, element));
  return count(lines.outputs, results, [&](Value k, ValueRange state) -> State {
    Value mirror = arith::AndIOp::create(b, loc, sub(size, k),
                                         sub(size, n(1)));
    ComplexValue point =
        times(load(from, choose(isDirect, k, mirror)), load(chirp, k));
    if (lines.inverse)
      point = scaled({point.im, point.re}, share);
    Value place = add(start, mul(k, lines.to.perPoint));
    auto put = [&](Value part, Value results, Value at) -> Value {
      return tensor::InsertOp::create(b, loc, narrow(part), results, at);
    };
    Value results = put(point.re, state[0], place);
    if (lines.writesComplex)
      results = put(point.im, results, add(place, n(1)));
    return {results};
  })[0];
}

//===----------------------------------------------------------------------===//
// Steps of a transform
//===----------------------------------------------------------------------===//

Points
Transformer::eachVector(Points to,
                        llvm::function_ref<ComplexValue(Value at)> body) {
  State state = loop(n(0), size, n(kLanes), {to.re, to.im},
                     [&](Value i, ValueRange state) -> State {
                       Points to = storeVector(body(i), at(state, 0), i);
                       return {to.re, to.im};
                     });
  return at(state, 0);
}

Points Transformer::firstPass(Points from, Points to) {
  Value share = div(size, n(kFirst));
  State state =
      count(share, {to.re, to.im}, [&](Value p, ValueRange state) -> State {
        SmallVector<ComplexValue> points;
        for (int64_t j = 0; j < kFirst; ++j)
          points.push_back(load(from, add(p, mul(share, n(j)))));
        points = transform(points);
        SmallVector<Value> re, im;
        for (auto [u, point] : llvm::enumerate(points)) {
          ComplexValue y =
              u == 0 ? point : times(point, load(turns, mul(p, n(u))));
          re.push_back(y.re);
          im.push_back(y.im);
        }
        Points to = at(state, 0);
        for (int64_t i = 0; i < kFirst; i += kLanes) {
          auto some = [&](ArrayRef<Value> all) -> Value {
            return vector::FromElementsOp::create(b, loc, lanes,
                                                  all.slice(i, kLanes));
          };
          to = storeVector({some(re), some(im)}, to,
                           add(mul(p, n(kFirst)), n(i)));
        }
        return {to.re, to.im};
      });
  return at(state, 0);
}

/// Does one step. `apart` neighbouring points belong to different transforms
/// and have the same factors.
Points Transformer::pass(int64_t radix, Points from, Points to, Value apart) {
  Value share = div(size, n(radix));
  State state = loop(
      n(0), share, apart, {to.re, to.im},
      [&](Value p, ValueRange state) -> State {
        SmallVector<ComplexValue> factors(1);
        for (int64_t u = 1; u < radix; ++u) {
          ComplexValue turn = load(turns, mul(p, n(u)));
          factors.push_back(
              {vector::BroadcastOp::create(b, loc, lanes, turn.re),
               vector::BroadcastOp::create(b, loc, lanes, turn.im)});
        }
        return loop(
            n(0), apart, n(kLanes), state,
            [&](Value q, ValueRange state) -> State {
              Value first = add(p, q), start = add(mul(p, n(radix)), q);
              SmallVector<ComplexValue> points;
              for (int64_t j = 0; j < radix; ++j)
                points.push_back(
                    loadVector(from, add(first, mul(share, n(j)))));
              Points to = at(state, 0);
              for (auto [u, y] : llvm::enumerate(transform(points)))
                to = storeVector(u == 0 ? y : times(y, factors[u]), to,
                                 add(start, mul(apart, n(u))));
              return {to.re, to.im};
            });
      });
  return at(state, 0);
}

/// Does two steps: from the second buffer to the first one, and back.
Transformer::State Transformer::bothWays(int64_t radix, ValueRange state,
                                         Value apart) {
  Points first = pass(radix, at(state, 2), at(state, 0), apart);
  return join(first, pass(radix, first, at(state, 2), mul(apart, n(radix))));
}

/// Transforms the first of two buffers into the second.
Transformer::State Transformer::transformBuffer(ValueRange state) {
  State both = join(at(state, 0), firstPass(at(state, 0), at(state, 2)));
  Value left = sub(bits, n(3));
  both.push_back(n(kFirst));
  both = count(div(left, n(4)), both, [&](Value, ValueRange state) {
    Value apart = state.back();
    State next = bothWays(4, state, apart);
    next.push_back(mul(apart, n(16)));
    return next;
  });
  Value apart = both.pop_back_val(), rest = rem(left, n(4));
  both = when(less(n(1), rest), both, [&](ValueRange state) {
    return bothWays(2, state, apart);
  });
  return when(equal(rem(rest, n(2)), n(1)), both, [&](ValueRange state) {
    Points first =
        pass(2, at(state, 2), at(state, 0), div(size, n(2)));
    return join(first, eachVector(at(state, 2), [&](Value i) {
                  return loadVector(first, i);
                }));
  });
}

/// Transforms a line. State: results, two buffers, the filter.
Transformer::State Transformer::transformLine(Value line, ValueRange state) {
  Value isFilter = less(line, n(0)), isLine = less(n(-1), line);
  auto take = [&](Value condition, Points to,
                  llvm::function_ref<Points(Points)> body) {
    return at(when(condition, {to.re, to.im},
                   [&](ValueRange state) -> State {
                     Points to = body(at(state, 0));
                     return {to.re, to.im};
                   }),
              0);
  };
  Points from = take(isFilter, at(state, 1),
                     [&](Points to) { return takeFilter(to); });
  from = take(isLine, from, [&](Points to) { return takeLine(line, to); });
  Points filter = at(state, 5);
  Value isOnce = arith::OrIOp::create(b, loc, isFilter, isDirect);
  State both = count(
      choose(isOnce, n(1), n(2)), join(from, at(state, 3)),
      [&](Value i, ValueRange state) {
        Points to = at(state, 2);
        Points from = take(equal(i, n(1)), at(state, 0), [&](Points from) {
          return eachVector(from, [&](Value i) {
            return times(loadVector(to, i), loadVector(filter, i));
          });
        });
        return transformBuffer(join(from, to));
      });
  Points done = at(both, 2);
  filter = take(isFilter, filter, [&](Points to) {
    return eachVector(to, [&](Value i) { return loadVector(done, i); });
  });
  Value results = when(isLine, state[0], [&](ValueRange state) -> State {
    return {putLine(line, done, state[0])};
  })[0];
  return {results,   both[0],   both[1],  both[2],
          both[3], filter.re, filter.im};
}

Value Transformer::run(Value results) {
  chooseSize();
  turns = tabulateTurns(size, size, [](Value i) { return i; });
  Value twice = mul(lines.length, n(2));
  chirp = tabulateTurns(twice, lines.length, [&](Value i) {
    return choose(isDirect, n(0), rem(mul(i, i), twice));
  });
  Points from = emptyPoints(size), to = emptyPoints(size);
  Points filter = emptyPoints(choose(isDirect, n(kFirst), size));
  // Line -1 computes the filter.
  return loop(choose(isDirect, n(0), n(-1)), mul(lines.outer, lines.inner),
              n(1),
              {results, from.re, from.im, to.re, to.im, filter.re, filter.im},
              [&](Value line, ValueRange state) {
                return transformLine(line, state);
              })[0];
}

Value legalize::transformLines(Node &node, Value x, Value results,
                               const LineTransforms &transforms) {
  return Transformer(node, x, transforms).run(results);
}
