//===- NGrams.cpp - TfIdfVectorizer ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes TfIdfVectorizer. The n-grams of the model become a table of tokens.
// Each result element counts the occurrences of one n-gram in a row, over all
// allowed distances between its tokens.
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/text/NGrams.h"

#include "dialects/ingot/ElementTypes.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/Elements.h"
#include "passes/legalize/ml/MachineLearning.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {

/// The n-grams to count, one per column of the result.
struct NGramPool {
  Node &node;
  int64_t shortest = 0, longest = 0, skips = 0;
  SmallVector<int64_t> tokens;
  /// Start and length of each column's n-gram in `tokens`. Columns without an
  /// n-gram have length 0.
  std::vector<int64_t> starts, lengths;

  explicit NGramPool(Node &node) : node(node) {}
  int64_t columns() const { return int64_t(starts.size()); }
  LogicalResult read();
  LogicalResult place(ArrayRef<int64_t> indexes, size_t number, int64_t start,
                      int64_t length);
  Value count(Value x);
};

} // namespace

/// Assigns n-gram `number` of the pool to column indexes[number].
LogicalResult NGramPool::place(ArrayRef<int64_t> indexes, size_t number,
                               int64_t start, int64_t length) {
  if (number >= indexes.size())
    return node.badLength("ngram_indexes", indexes.size(),
                          "one an n-gram of the pool");
  int64_t column = indexes[number];
  if (length < shortest || length > longest)
    return success();
  if (lengths[column] != 0)
    return node.unsupported("two n-grams that are counted together");
  starts[column] = start;
  lengths[column] = length;
  return success();
}

LogicalResult NGramPool::read() {
  shortest = node.getInt("min_gram_length", 0);
  longest = node.getInt("max_gram_length", 0);
  skips = node.getInt("max_skip_count", 0);
  if (shortest < 1 || longest < shortest)
    return node.invalid("n-grams of " + Twine(shortest) + " to " +
                        Twine(longest) + " tokens");
  if (skips < 0)
    return node.badElement("max_skip_count", std::nullopt, Twine(skips),
                           "at least 0");
  // Tokens that are strings are represented by integers, too.
  bool isOfStrings = isString(node.elementType(0));
  if (auto words = node.op.getNodeAttrs().getAs<ArrayAttr>("pool_strings");
      words && isOfStrings)
    tokens = placesOf(node, words);
  else if (auto pool = node.getInts("pool_int64s"); pool && !isOfStrings)
    tokens = *pool;
  if (tokens.empty())
    return node.invalid(isOfStrings ? "pool_strings is missing"
                                    : "pool_int64s is missing");
  auto indexes =
      node.getInts("ngram_indexes").value_or(SmallVector<int64_t>());
  auto counts = node.getInts("ngram_counts").value_or(SmallVector<int64_t>());
  if (indexes.empty() || counts.empty())
    return node.invalid("ngram_counts or ngram_indexes is missing");
  constexpr int64_t kMaxColumns = int64_t(1) << 24;
  for (auto [i, index] : llvm::enumerate(indexes))
    if (index < 0 || index >= kMaxColumns)
      return node.badElement("ngram_indexes", i, Twine(index),
                             nn::describeRange({0, kMaxColumns - 1}));
  int64_t columns = *llvm::max_element(indexes) + 1;
  starts.assign(columns, 0);
  lengths.assign(columns, 0);
  size_t number = 0;
  for (auto [i, start] : llvm::enumerate(counts)) {
    int64_t end = i + 1 < counts.size() ? counts[i + 1] : tokens.size();
    int64_t length = int64_t(i) + 1;
    if (start < 0 || end < start || end > int64_t(tokens.size()) ||
        (end - start) % length != 0)
      return node.badElement(
          "ngram_counts", i, Twine(start),
          "where the n-grams of " + Twine(length) + " tokens start");
    for (int64_t at = start; at < end; at += length)
      if (failed(place(indexes, number++, at, length)))
        return failure();
  }
  return success();
}

/// Counts the occurrences of each n-gram in each row of x.
Value NGramPool::count(Value x) {
  OpBuilder &builder = node.builder;
  Type i64 = builder.getI64Type();
  Value pool = intConstant(node, tokens, {int64_t(tokens.size())}),
        from = intConstant(node, starts, {columns()}),
        sizes = intConstant(node, lengths, {columns()});
  OpFoldResult width = sizeOf(node, x, 1);
  Value end = indexValue(node, width);
  auto index = [](OpBuilder &b, Location loc, Value list, Value at) -> Value {
    Value number = tensor::ExtractOp::create(b, loc, list, at);
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), number);
  };
  return generate(
      node, i64, {sizeOf(node, x, 0), sizeAttr(node, columns())},
      [&](OpBuilder &b, Location loc, ValueRange at) -> Value {
        Indices n{b, loc};
        Value row = at[0], first = index(b, loc, from, at[1]),
              length = index(b, loc, sizes, at[1]);
        // A single token has no distances, so count it once. An unused column
        // has no tokens, so do not count it. Limit the distance of two tokens
        // to less than the row's length.
        Value most = n.add(n.min(n.n(skips), end), n.n(1));
        Value distances =
            n.choose(n.less(n.n(1), length), most, n.min(length, n.n(1)));
        Value none = arith::ConstantIntOp::create(b, loc, 0, 64);
        auto byDistance = scf::ForOp::create(
            b, loc, n.n(0), distances, n.n(1), ValueRange{none},
            [&](OpBuilder &b, Location loc, Value skip, ValueRange sum) {
              Indices n{b, loc};
              Value step = n.add(skip, n.n(1));
              Value reach = n.mul(n.sub(length, n.n(1)), step);
              Value places = n.max(n.sub(end, reach), n.n(0));
              auto byPlace = scf::ForOp::create(
                  b, loc, n.n(0), places, n.n(1), sum,
                  [&](OpBuilder &b, Location loc, Value t, ValueRange sum) {
                    Indices n{b, loc};
                    Value yes = arith::ConstantIntOp::create(b, loc, 1, 1);
                    auto same = scf::ForOp::create(
                        b, loc, n.n(0), length, n.n(1), ValueRange{yes},
                        [&](OpBuilder &b, Location loc, Value k,
                            ValueRange all) {
                          Indices n{b, loc};
                          Value token = tensor::ExtractOp::create(
                              b, loc, x,
                              ValueRange{row, n.add(t, n.mul(k, step))});
                          Value wanted = tensor::ExtractOp::create(
                              b, loc, pool, ValueRange{n.add(first, k)});
                          scf::YieldOp::create(
                              b, loc,
                              n.both(all[0], n.equal(token, wanted)));
                        });
                    Value one = arith::ExtUIOp::create(b, loc, b.getI64Type(),
                                                       same.getResult(0));
                    scf::YieldOp::create(b, loc, n.add(sum[0], one));
                  });
              scf::YieldOp::create(b, loc, byPlace.getResults());
            });
        return byDistance.getResult(0);
      });
}

LogicalResult legalize::legalizeTfIdfVectorizer(Node &node) {
  NGramPool pool(node);
  if (failed(pool.read()))
    return failure();
  if (!node.elementType(0).isInteger())
    return node.unsupported("tokens that are not integers");
  int64_t rank = node.rank(0);
  if (rank > 2)
    return node.invalid("expects tokens of rank 1 or 2, but got " +
                        Twine(rank));
  StringRef mode = node.getString("mode", "");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF")
    return node.invalid("mode is '" + mode +
                        "', but must be TF, IDF or TFIDF");
  auto weights = node.getFloats("weights").value_or(SmallVector<float>());
  if (!weights.empty() && int64_t(weights.size()) < pool.columns())
    return node.badLength("weights", weights.size(), Twine(pool.columns()));
  Value x = node.cast(node.input(0), node.builder.getI64Type());
  if (rank < 2)
    x = reshape(node, x,
                {sizeAttr(node, 1),
                 rank == 0 ? sizeAttr(node, 1) : sizeOf(node, x, 0)});
  Type f32 = node.builder.getF32Type();
  Value counts = pool.count(x);
  if (mode == "IDF") // IDF: 1 if the n-gram occurs.
    counts = node.cast(counts, node.builder.getI1Type());
  Value y = node.cast(counts, f32);
  if (mode != "TF" && !weights.empty()) {
    SmallVector<double> factors(weights.begin(),
                                weights.begin() + pool.columns());
    y = binary<nn::MulOp>(
        node, y,
        nn::makeConstant(node.builder, node.loc(),
                         RankedTensorType::get({pool.columns()}, f32),
                         factors));
  }
  return node.replace(
      rank < 2 ? reshape(node, y, ArrayRef<int64_t>{pool.columns()}) : y);
}
