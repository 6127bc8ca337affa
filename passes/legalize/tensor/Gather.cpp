//===- Gather.cpp - Gather, Scatter, OneHot and others --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/ComputedShape.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/legalize/tensor/Unique.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

static LogicalResult checkIndices(Node &node, size_t i) {
  if (!node.has(i))
    return node.invalid("input " + Twine(i) + " is needed");
  auto type = dyn_cast<IntegerType>(node.elementType(i));
  if (!type || (type.getWidth() != 32 && type.getWidth() != 64))
    return node.invalid("indices need to be int32 or int64");
  return success();
}

static LogicalResult legalizeGather(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis) || failed(checkIndices(node, 1)))
    return failure();
  auto y = node.infer<nn::GatherOp>(node.input(0), node.input(1), *axis);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeGatherElements(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis) || failed(checkIndices(node, 1)))
    return failure();
  auto y =
      node.infer<nn::GatherElementsOp>(node.input(0), node.input(1), *axis);
  return failed(y) ? failure() : node.replace(*y);
}

/// Checks that the indices, input 1, are tuples of static length.
static LogicalResult checkTuples(Node &node) {
  if (node.rank(1) > 0 && ShapedType::isDynamic(node.shape(1).back()))
    return node.unsupported("an open last dimension of the indices, which "
                            "decides the result's rank; fix it with --shape");
  return success();
}

static LogicalResult legalizeGatherND(Node &node) {
  if (failed(checkTuples(node)))
    return failure();
  if (failed(checkIndices(node, 1)))
    return failure();
  auto y = node.infer<nn::GatherNDOp>(node.input(0), node.input(1),
                                      node.getInt("batch_dims", 0));
  return failed(y) ? failure() : node.replace(*y);
}

//===----------------------------------------------------------------------===//
// Scatter
//===----------------------------------------------------------------------===//

static FailureOr<nn::ScatterReduction> readReduction(Node &node) {
  StringRef name = node.getString("reduction", "none");
  auto reduction = nn::symbolizeScatterReduction(name);
  if (!reduction)
    return node.invalid("reduction is " + name);
  return *reduction;
}

static LogicalResult legalizeScatterElements(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  auto reduction = readReduction(node);
  if (failed(axis) || failed(reduction) || failed(checkIndices(node, 1)))
    return failure();
  // Dynamic sizes are compared at run time.
  if (!node.has(2) ||
      failed(verifyCompatibleShape(node.shape(1), node.shape(2))))
    return node.invalid("indices and updates need one shape");
  auto y = node.infer<nn::ScatterElementsOp>(
      node.input(0), node.input(1), node.input(2), *axis, *reduction);
  return failed(y) ? failure() : node.replace(*y);
}

static LogicalResult legalizeScatterND(Node &node) {
  if (!node.has(2))
    return node.invalid("updates are needed");
  // The updates have the dimensions of the data that the indices do not select.
  int64_t tuples = node.rank(1) - 1,
          length = tuples + node.rank(0) - node.rank(2);
  if (tuples >= 0 && length >= 0 && length <= node.rank(0))
    node.op.getInputsMutable()[1].set(
        pinDim(node, node.input(1), tuples, length, "indices"));
  auto reduction = readReduction(node);
  if (failed(reduction) || failed(checkTuples(node)) ||
      failed(checkIndices(node, 1)))
    return failure();
  auto y = node.infer<nn::ScatterNDOp>(node.input(0), node.input(1),
                                       node.input(2), *reduction);
  if (failed(y))
    return failure();
  SmallVector<int64_t> expected(node.shape(1).drop_back());
  llvm::append_range(expected, node.shape(0).drop_front(node.shape(1).back()));
  if (failed(verifyCompatibleShape(expected, node.shape(2))))
    return node.invalid("updates do not have the shape that data and indices "
                        "ask for");
  return node.replace(*y);
}

//===----------------------------------------------------------------------===//
// Operators built on comparisons and gather
//===----------------------------------------------------------------------===//

/// Returns the positions, as i64, at which a 1-d tensor of i1 is true. Stores
/// every position behind the true positions found so far. If the element at a
/// position is false, the next position overwrites the stored one.
static Value findTrue(Node &node, Value condition) {
  OpBuilder &builder = node.builder;
  Location loc = node.loc();
  Indices i{builder, loc};
  if (typeOf(condition).getDimSize(0) == 0)
    return intConstant(node, {}, {0});
  OpFoldResult size = sizeOf(node, condition, 0);
  Type i64 = builder.getI64Type();
  Value empty = tensor::EmptyOp::create(builder, loc, Sizes{size}, i64);
  auto loop = scf::ForOp::create(
      builder, loc, i.n(0), indexValue(node, size), i.n(1),
      ValueRange{empty, i.n(0)},
      [&](OpBuilder &b, Location loc, Value at, ValueRange args) {
        Indices i{b, loc};
        Value isTrue = tensor::ExtractOp::create(b, loc, condition, at);
        Value position = arith::IndexCastOp::create(b, loc, i64, at);
        Value list =
            tensor::InsertOp::create(b, loc, position, args[0], args[1]);
        Value next = i.choose(isTrue, i.add(args[1], i.n(1)), args[1]);
        scf::YieldOp::create(b, loc, ValueRange{list, next});
      });
  Sizes zero = {sizeAttr(node, 0)}, one = {sizeAttr(node, 1)};
  Sizes found = {loop.getResult(1)};
  return tensor::ExtractSliceOp::create(
      builder, loc, RankedTensorType::get({ShapedType::kDynamic}, i64),
      loop.getResult(0), zero, found, one);
}

static LogicalResult legalizeOneHot(Node &node) {
  if (node.numInputs() < 3 || !node.has(0) || !node.has(1) || !node.has(2))
    return node.invalid("indices, depth and values are needed");
  int64_t rank = node.rank(0);
  auto axis = node.normalizeAxis(node.getInt("axis", -1), rank + 1);
  if (failed(axis))
    return failure();
  Type i64 = node.builder.getI64Type();
  if (!node.type(1).hasStaticShape() || node.type(1).getNumElements() != 1)
    return node.invalid("depth needs one element");
  OpFoldResult depth;
  if (auto constant = nn::getConstantDoubles(node.input(1))) {
    if (!(constant->front() >= 1 && constant->front() < 2147483648.0))
      return node.badElement("depth", std::nullopt,
                             numberText(constant->front()),
                             nn::describeRange({1, nn::kMostElements}));
    depth = sizeAttr(node, int64_t(constant->front()));
  } else {
    Value given = reshape(node, node.input(1), ArrayRef<int64_t>());
    requireNumber(node, given, 1, nn::kMostElements, "depth");
    auto elements = elementsOf(node, castTo(node, given, i64));
    if (failed(elements))
      return failure();
    depth = maxSizes(node, elements->front(), sizeAttr(node, 0));
  }
  pinInput(node, 2, {2}, "values");
  if (node.rank(2) != 1 || node.shape(2)[0] != 2)
    return node.invalid("values needs two elements");
  Value indices = castTo(node, node.input(0), i64);
  // Counts negative indices from the end. Indices out of range select no class.
  Value negative = binary<nn::LessOp>(node, indices, scalar(node, i64, 0));
  Value count = countUp(node, depth);
  Value depthValue =
      node.create<arith::IndexCastOp>(i64, indexValue(node, depth));
  Value depthScalar = tensor::FromElementsOp::create(
      node.builder, node.loc(), RankedTensorType::get({}, i64), depthValue);
  Value wrapped = binary<nn::AddOp>(node, indices, depthScalar);
  Value positions =
      unsqueeze(node, select(node, negative, wrapped, indices), {*axis});
  Sizes sizes(rank + 1, sizeAttr(node, 1));
  sizes[*axis] = depth;
  Value classes = reshape(node, count, sizes);
  Value isOn = binary<nn::EqualOp>(node, positions, classes);
  auto value = [&](int64_t i) {
    return reshape(node, sliceAxis(node, node.input(2), 0, i, 1),
                   ArrayRef<int64_t>());
  };
  return node.replace(select(node, isOn, value(1), value(0)));
}

static LogicalResult legalizeCompress(Node &node) {
  if (!node.has(1) || node.rank(1) != 1 || !node.elementType(1).isInteger(1))
    return node.invalid("a list of booleans is needed");
  auto condition = node.getConstantInts(1);
  Value x = node.input(0);
  FailureOr<int64_t> axis = axisOrFlat(node, x);
  if (failed(axis))
    return failure();
  if (!condition) {
    auto y = node.infer<nn::GatherOp>(x, findTrue(node, node.input(1)), *axis);
    return failed(y) ? failure() : node.replace(*y);
  }
  SmallVector<int64_t> kept;
  for (auto [i, isKept] : llvm::enumerate(*condition))
    if (isKept)
      kept.push_back(i);
  int64_t size = typeOf(x).getDimSize(*axis);
  if (!ShapedType::isDynamic(size) && int64_t(condition->size()) > size)
    return node.badLength("condition", condition->size(),
                          "at most " + Twine(size));
  auto y = node.infer<nn::GatherOp>(
      x, intConstant(node, kept, {int64_t(kept.size())}), *axis);
  return failed(y) ? failure() : node.replace(*y);
}

/// Returns one row per dimension and one column per element that is not 0.
static LogicalResult nonZeroComputed(Node &node) {
  Value x = node.input(0);
  Sizes sizes = sizesOf(node, x);
  OpFoldResult count = countElements(node, x);
  Value isSet =
      castTo(node, reshape(node, x, {count}), node.builder.getI1Type());
  Value found = findTrue(node, isSet);
  SmallVector<Value> rows;
  OpFoldResult weight = count;
  Type i64 = node.builder.getI64Type();
  auto asTensor = [&](OpFoldResult size) -> Value {
    Value value = node.create<arith::IndexCastOp>(i64, indexValue(node, size));
    return tensor::FromElementsOp::create(
        node.builder, node.loc(), RankedTensorType::get({}, i64), value);
  };
  for (OpFoldResult size : sizes) {
    weight = divSizes(node, weight, size);
    Value row = binary<nn::DivOp>(node, found, asTensor(weight));
    auto position = node.infer<nn::ModOp>(row, asTensor(size), /*fmod=*/false);
    if (failed(position))
      return failure();
    rows.push_back(unsqueeze(node, *position, {0}));
  }
  if (rows.empty())
    return node.unsupported("a scalar");
  return node.replace(concat(node, rows, 0));
}

static LogicalResult legalizeNonZero(Node &node) {
  ArrayRef<int64_t> shape = node.shape(0);
  if (support::isKnownEmpty(shape))
    return node.replace(intConstant(node, {}, {int64_t(shape.size()), 0}));
  auto values = nn::getConstantDoubles(node.input(0));
  if (!values)
    return nonZeroComputed(node);
  SmallVector<int64_t> flat;
  for (auto [i, value] : llvm::enumerate(*values))
    if (value != 0)
      flat.push_back(i);
  int64_t rank = shape.size(), count = flat.size();
  SmallVector<int64_t> positions(rank * count);
  for (int64_t j = 0; j < count; ++j) {
    int64_t rest = flat[j];
    for (int64_t i = rank; i-- > 0; rest /= shape[i])
      positions[i * count + j] = rest % shape[i];
  }
  return node.replace(intConstant(node, positions, {rank, count}));
}

/// Legalizes ReverseSequence: element t reads element n - 1 - t if t < n, where
/// n is the length of the sequence.
static LogicalResult legalizeReverseSequence(Node &node) {
  Value x = node.input(0);
  int64_t rank = node.rank(0);
  auto time = node.normalizeAxis(node.getInt("time_axis", 0), rank);
  auto batch = node.normalizeAxis(node.getInt("batch_axis", 1), rank);
  if (failed(time) || failed(batch))
    return failure();
  if (*time == *batch || !node.has(1) || node.rank(1) != 1)
    return node.invalid("two axes and a list of lengths are needed");
  int64_t count = node.shape(1)[0], sequences = node.shape(0)[*batch];
  if (!ShapedType::isDynamic(count) && !ShapedType::isDynamic(sequences) &&
      count != sequences)
    return node.badLength("sequence_lens", count, Twine(sequences));
  OpFoldResult steps = sizeOf(node, x, *time);
  if (failed(requireElements(
          node, 1, "sequence_lens",
          {steps, /*includesCount=*/true, "steps"})))
    return failure();
  if (failed(requireFit(node, nn::SizeRelation::equal,
                        sizeOf(node, node.input(1), 0),
                        sizeOf(node, x, *batch),
                        "sequence_lens has {0} elements, but there are {1} "
                        "sequences")))
    return failure();
  Value lengths = castTo(node, node.input(1), node.builder.getI64Type());
  Value size = indexValue(node, steps);
  return node.replace(generate(
      node, node.elementType(0), sizesOf(node, x),
      [&](OpBuilder &b, Location loc, ValueRange indices) -> Value {
        Indices n{b, loc};
        SmallVector<Value> at(indices);
        Value t = at[*time];
        Value length = n.of(tensor::ExtractOp::create(b, loc, lengths,
                                                      at[*batch]));
        Value mirrored = n.sub(n.sub(length, n.n(1)), t);
        // Clamps the index for lengths that the check refuses.
        mirrored = n.max(n.min(mirrored, n.sub(size, n.n(1))), n.n(0));
        at[*time] = n.choose(n.less(t, length), mirrored, t);
        return tensor::ExtractOp::create(b, loc, x, at);
      }));
}

void legalize::populateGather(Legalizers &legalizers) {
  legalizers.add("Compress", legalizeCompress);
  legalizers.add("Gather", legalizeGather);
  legalizers.add("GatherElements", legalizeGatherElements);
  legalizers.add("GatherND", legalizeGatherND);
  legalizers.add("NonZero", legalizeNonZero);
  legalizers.add("OneHot", legalizeOneHot);
  legalizers.add("ReverseSequence", legalizeReverseSequence);
  legalizers.add("Scatter", legalizeScatterElements);
  legalizers.add("ScatterElements", legalizeScatterElements);
  legalizers.add("ScatterND", legalizeScatterND);
  legalizers.add("Unique", legalizeUnique);
}
