//===- Random.cpp - random values -----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes operators that draw random values. A value depends only on the
// seed, the node and the element's index, so it does not depend on the number
// of threads. The generator is Philox 4x32 with 10 rounds, with the index as
// its counter and the seed as its key. Without attribute `seed`, a hash of the
// node's name is the key, so that nodes differ. Source: Salmon et al., Parallel
// Random Numbers: As Easy as 1, 2, 3, 2011.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"
#include "passes/support/Resampling.h"

#include "llvm/Support/xxhash.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <cmath>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

using support::Scalars;

namespace {

/// Two random 32-bit integers for an index, as i64.
struct RandomWords {
  Value first, second;
};

struct Philox {
  OpBuilder &b;
  Location loc;

  Value word(uint64_t value) {
    return arith::ConstantIntOp::create(b, loc, int64_t(value), 64);
  }
  Value low(Value x) {
    return arith::AndIOp::create(b, loc, x, word(0xffffffff));
  }
  Value high(Value x) {
    return arith::ShRUIOp::create(b, loc, x, word(32));
  }
  Value mix(Value x, Value y, Value key) {
    return arith::XOrIOp::create(
        b, loc, arith::XOrIOp::create(b, loc, x, y), key);
  }
  RandomWords at(Value place, uint64_t seed);
};

} // namespace

RandomWords Philox::at(Value place, uint64_t seed) {
  Value c[4] = {low(place), high(place), word(0), word(0)};
  uint32_t keys[2] = {uint32_t(seed), uint32_t(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    Value p = arith::MulIOp::create(b, loc, c[0], word(0xD2511F53)),
          q = arith::MulIOp::create(b, loc, c[2], word(0xCD9E8D57));
    Value next[4] = {mix(high(q), c[1], word(keys[0])), low(q),
                     mix(high(p), c[3], word(keys[1])), low(p)};
    std::copy(next, next + 4, c);
    keys[0] += 0x9E3779B9;
    keys[1] += 0xBB67AE85;
  }
  return {c[0], c[1]};
}

static uint64_t seedOf(Node &node) {
  if (node.hasAttr("seed")) {
    float seed = node.getFloat("seed", 0);
    uint32_t bits;
    std::memcpy(&bits, &seed, sizeof(bits));
    return bits;
  }
  std::string name;
  llvm::raw_string_ostream(name) << node.loc();
  return llvm::xxh3_64bits(name);
}

/// Draws an f32 for each element. `body` computes it from two uniform values in
/// (0, 1].
static Value draw(Node &node, ArrayRef<OpFoldResult> sizes,
                  function_ref<Value(Scalars, Value, Value)> body) {
  uint64_t seed = seedOf(node);
  SmallVector<Value> lengths;
  for (OpFoldResult size : sizes)
    lengths.push_back(indexValue(node, size));
  return generate(
      node, node.builder.getF32Type(), sizes,
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Scalars s{b, loc};
        Value place = s.n(0);
        for (auto [index, length] : llvm::zip_equal(at, lengths))
          place = s.add(s.mul(place, length), index);
        RandomWords words = Philox{b, loc}.at(
            arith::IndexCastOp::create(b, loc, b.getI64Type(), place), seed);
        auto share = [&](Value word) -> Value {
          Value bits = arith::ShRUIOp::create(
              b, loc, word, arith::ConstantIntOp::create(b, loc, 8, 64));
          Value number = arith::SIToFPOp::create(b, loc, b.getF32Type(), bits);
          return s.mul(s.add(number, s.f(1)), s.f(0x1p-24));
        };
        return body(s, share(words.first), share(words.second));
      });
}

/// Draws values in [0, 1).
static Value drawUniform(Node &node, ArrayRef<OpFoldResult> sizes) {
  return draw(node, sizes, [](Scalars s, Value x, Value) {
    return s.sub(s.f(1), x);
  });
}

/// Draws normal values by the method of Box and Muller.
static Value drawNormal(Node &node, ArrayRef<OpFoldResult> sizes) {
  return draw(node, sizes, [](Scalars s, Value x, Value y) {
    Value radius = math::SqrtOp::create(
        s.b, s.loc, s.mul(s.f(-2), math::LogOp::create(s.b, s.loc, x)));
    return s.mul(radius, math::CosOp::create(s.b, s.loc,
                                             s.mul(s.f(2 * M_PI), y)));
  });
}

static FailureOr<Type> resultType(Node &node, Type otherwise) {
  if (!node.hasAttr("dtype"))
    return otherwise;
  Type type = elementTypeOf(node.context(), node.getInt("dtype", 1));
  if (!type)
    return node.invalid("dtype is " + Twine(node.getInt("dtype", 1)));
  return type;
}

template <bool isNormal, bool isLike>
static LogicalResult legalizeRandom(Node &node) {
  Type f32 = node.builder.getF32Type();
  if (isLike && !node.has(0))
    return node.invalid("an input is needed");
  auto type = resultType(node, isLike ? node.elementType(0) : f32);
  if (failed(type))
    return failure();
  if (!isa<FloatType>(*type))
    return node.invalid("dtype is not a float type");
  Sizes sizes;
  if (isLike) {
    sizes = sizesOf(node, node.input(0));
  } else {
    auto shape = node.getInts("shape");
    if (!shape)
      return node.invalid("shape is missing");
    for (auto [i, size] : llvm::enumerate(*shape)) {
      if (size < 0 || size > nn::kMostElements)
        return node.badElement("shape", i, Twine(size),
                               nn::describeRange({0, nn::kMostElements}));
      sizes.push_back(sizeAttr(node, size));
    }
  }
  float low = isNormal ? node.getFloat("mean", 0) : node.getFloat("low", 0);
  float width = isNormal ? node.getFloat("scale", 1)
                         : node.getFloat("high", 1) - low;
  Value drawn = isNormal ? drawNormal(node, sizes) : drawUniform(node, sizes);
  Value scaled = binary<nn::MulOp>(node, drawn, scalar(node, f32, width));
  return node.replace(castTo(
      node, binary<nn::AddOp>(node, scaled, scalar(node, f32, low)), *type));
}

static LogicalResult legalizeBernoulli(Node &node) {
  if (!node.has(0))
    return node.invalid("an input is needed");
  auto type = resultType(node, node.elementType(0));
  if (failed(type))
    return failure();
  Value chance = castTo(node, node.input(0), node.builder.getF32Type());
  Value isOne = binary<nn::LessOp>(
      node, drawUniform(node, sizesOf(node, node.input(0))), chance);
  return node.replace(castTo(node, isOne, *type));
}

/// Returns the first index at which the sum in a row is at least `bound`, by
/// binary search. Returns the last index if all sums are less.
static Value firstNotBelow(OpBuilder &b, Location loc, Value sums, Value row,
                           Value count, Value bound) {
  Indices n{b, loc};
  auto loop = scf::WhileOp::create(
      b, loc, TypeRange{b.getIndexType(), b.getIndexType()},
      ValueRange{n.n(0), n.sub(count, n.n(1))},
      [&](OpBuilder &b, Location loc, ValueRange state) {
        scf::ConditionOp::create(
            b, loc, Indices{b, loc}.less(state[0], state[1]), state);
      },
      [&](OpBuilder &b, Location loc, ValueRange state) {
        Indices n{b, loc};
        Value middle = n.div(n.add(state[0], state[1]), n.n(2));
        Value sum = tensor::ExtractOp::create(b, loc, sums,
                                              ValueRange{row, middle});
        Value isBelow = arith::CmpFOp::create(
            b, loc, arith::CmpFPredicate::OLT, sum, bound);
        scf::YieldOp::create(
            b, loc,
            ValueRange{n.choose(isBelow, n.add(middle, n.n(1)), state[0]),
                       n.choose(isBelow, state[1], middle)});
      });
  return loop.getResult(0);
}

/// Draws a class for each sample. Draws a value between 0 and the sum of all
/// probabilities, and takes the class whose interval of the prefix sums
/// contains the value.
static LogicalResult legalizeMultinomial(Node &node) {
  if (!node.has(0) || node.rank(0) != 2)
    return node.invalid("input of rank 2 is needed");
  int64_t samples = node.getInt("sample_size", 1);
  if (samples < 1 || samples > nn::kMostElements)
    return node.badElement("sample_size", std::nullopt, Twine(samples),
                           nn::describeRange({1, nn::kMostElements}));
  auto type = resultType(node, node.builder.getI32Type());
  if (failed(type))
    return failure();
  if (!isa<IntegerType>(*type))
    return node.invalid("dtype is not an integer type");
  Value x = castTo(node, node.input(0), node.builder.getF32Type());
  if (failed(requireFit(node, nn::SizeRelation::atLeast, sizeOf(node, x, 1),
                        sizeAttr(node, 1), "there are {0} classes")))
    return failure();
  auto most = node.infer<nn::ReduceOp>(x, nn::ReduceKind::max,
                                       ArrayRef<int64_t>{1},
                                       /*keep_dims=*/true);
  if (failed(most))
    return failure();
  // Sums in f64, because there may be many small probabilities.
  Value chances = node.cast(
      node.make<nn::ExpOp>(binary<nn::SubOp>(node, x, *most)),
      node.builder.getF64Type());
  auto sums = node.infer<nn::CumSumOp>(chances, 1, /*exclusive=*/false,
                                       /*reverse=*/false, /*product=*/false);
  if (failed(sums))
    return failure();
  Sizes sizes = {sizeOf(node, x, 0), sizeAttr(node, samples)};
  Value shares = draw(node, sizes, [](Scalars, Value x, Value) { return x; });
  OpBuilder &b = node.builder;
  Location loc = node.loc();
  Indices n{b, loc};
  Value classes = indexValue(node, sizeOf(node, x, 1));
  Value start = tensor::EmptyOp::create(b, loc, sizes, b.getI64Type());
  auto rows = scf::ForOp::create(
      b, loc, n.n(0), indexValue(node, sizes[0]), n.n(1), start,
      [&](OpBuilder &b, Location loc, Value row, ValueRange state) {
        Indices n{b, loc};
        Value all = tensor::ExtractOp::create(
            b, loc, *sums, ValueRange{row, n.sub(classes, n.n(1))});
        auto drawn = scf::ForOp::create(
            b, loc, n.n(0), n.n(samples), n.n(1), state,
            [&](OpBuilder &b, Location loc, Value i, ValueRange state) {
              Value share = tensor::ExtractOp::create(b, loc, shares,
                                                      ValueRange{row, i});
              share = arith::ExtFOp::create(b, loc, b.getF64Type(), share);
              Value bound = arith::MulFOp::create(b, loc, share, all);
              Value found =
                  firstNotBelow(b, loc, *sums, row, classes, bound);
              Value number = arith::IndexCastOp::create(
                  b, loc, b.getI64Type(), found);
              Value list = tensor::InsertOp::create(b, loc, number, state[0],
                                                    ValueRange{row, i});
              scf::YieldOp::create(b, loc, list);
            });
        scf::YieldOp::create(b, loc, drawn.getResults());
      });
  return node.replace(castTo(node, rows.getResult(0), *type));
}

FailureOr<Value> legalize::dropRandomly(Node &node, Value x, Value ratio,
                                        Value &mask) {
  Type f32 = node.builder.getF32Type();
  Value drawn = drawUniform(node, sizesOf(node, x));
  Value share = castTo(node, ratio, f32);
  mask = binary<nn::GreaterOrEqualOp>(node, drawn, share);
  Value kept = binary<nn::SubOp>(node, scalar(node, f32, 1), share);
  Value scaled = binary<nn::DivOp>(node, castTo(node, x, f32), kept);
  return castTo(node, select(node, mask, scaled, scalar(node, f32, 0)),
                typeOf(x).getElementType());
}

void legalize::populateRandom(Legalizers &legalizers) {
  legalizers.add("Bernoulli", legalizeBernoulli);
  legalizers.add("Multinomial", legalizeMultinomial);
  legalizers.add("RandomNormal", legalizeRandom<true, false>);
  legalizers.add("RandomNormalLike", legalizeRandom<true, true>);
  legalizers.add("RandomUniform", legalizeRandom<false, false>);
  legalizers.add("RandomUniformLike", legalizeRandom<false, true>);
}
