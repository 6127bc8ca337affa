//===- Loops.cpp - Loop, Scan ---------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/control/LoopForm.h"

#include "passes/support/RunChecks.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

/// Unrolls or builds the loop.
static FailureOr<SmallVector<Value>> makeLoop(Node &node, LoopForm form) {
  for (auto [i, stacked] : llvm::enumerate(form.stacked))
    stacked.output = form.init.size() + i;
  if (auto values = unroll(node, form))
    return *values;
  SmallVector<GrowingList> lists = stackLists(form);
  carryLists(node, form);
  auto values = buildLoop(node, form);
  if (failed(values))
    return failure();
  return restoreLists(node, form, lists, *values);
}

/// Replaces the node by the results of the loop.
static LogicalResult finish(Node &node, const LoopForm &form) {
  FailureOr<SmallVector<Value>> values = makeLoop(node, form);
  if (failed(values))
    return failure();
  return node.replace(*values);
}

/// Checks that the numbers of the body's arguments and results fit the node.
/// The arguments must have the element types of the node's inputs.
static LogicalResult checkBody(Node &node, const LoopForm &form) {
  size_t own = form.isLoop ? 2 : 0;
  size_t takes = own + form.init.size() + form.scanned.size();
  size_t gives = own / 2 + form.init.size() + form.stacked.size();
  if (form.body->getNumArguments() != takes)
    return node.invalid("the body takes " +
                        Twine(form.body->getNumArguments()) + " values, not " +
                        Twine(takes));
  if (form.body->getTerminator()->getNumOperands() != gives)
    return node.invalid("the body gives " +
                        Twine(form.body->getTerminator()->getNumOperands()) +
                        " values, not " + Twine(gives));
  SmallVector<Value> given(form.init);
  for (const Scanned &scanned : form.scanned)
    given.push_back(scanned.value);
  for (auto [i, value] : llvm::enumerate(given)) {
    Value argument = form.body->getArgument(own + i);
    auto stated = dyn_cast<ShapedType>(argument.getType()),
         actual = dyn_cast<ShapedType>(value.getType());
    if (stated && actual &&
        stated.getElementType() != actual.getElementType())
      return node.invalid(
          "input " + Twine(own + i) + " of the body has elements of type " +
          debugString(stated.getElementType()) + ", but is given " +
          debugString(actual.getElementType()));
  }
  return success();
}

/// Returns the element of input i, which must have one element.
static FailureOr<Value> readOne(Node &node, size_t i, StringRef name,
                                Type type) {
  if (!isa<RankedTensorType>(node.input(i).getType()) ||
      node.elementType(i) != type)
    return node.invalid("the " + name + " has the wrong type");
  if (node.rank(i) > 1 || (node.rank(i) == 1 && node.shape(i)[0] != 1))
    return node.invalid("the " + name + " needs one element");
  return onlyElement(node.builder, node.loc(), node.input(i));
}

//===----------------------------------------------------------------------===//
// Loop
//===----------------------------------------------------------------------===//

static LogicalResult legalizeLoop(Node &node) {
  LoopForm form;
  form.isLoop = true;
  form.body = findBody(node, "body");
  if (!form.body)
    return node.invalid("the body is missing");
  OpBuilder &builder = node.builder;
  Location loc = node.loc();
  if (node.has(0)) {
    auto trip = readOne(node, 0, "trip count", builder.getI64Type());
    if (failed(trip))
      return failure();
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    if (auto known = node.getConstantInts(0))
      form.trip = arith::ConstantIndexOp::create(
          builder, loc, std::max<int64_t>(known->front(), 0));
    else // A negative trip count counts as 0.
      form.trip = arith::MaxSIOp::create(
          builder, loc,
          arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                     *trip),
          zero);
  }
  if (node.has(1)) {
    auto go = readOne(node, 1, "condition", builder.getI1Type());
    if (failed(go))
      return failure();
    auto known = node.getConstantInts(1);
    if (!known)
      form.go = *go;
    else if (!known->front())
      form.trip = arith::ConstantIndexOp::create(builder, loc, 0);
  }
  for (size_t i = 2; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.invalid("state " + Twine(i - 2) + " is missing");
    form.init.push_back(node.input(i));
  }
  if (node.numOutputs() < form.init.size())
    return node.invalid("it has " + Twine(form.init.size()) +
                        " states, but gives " + Twine(node.numOutputs()) +
                        " values");
  form.stacked.resize(node.numOutputs() - form.init.size());
  if (failed(checkBody(node, form)))
    return failure();
  return finish(node, form);
}

//===----------------------------------------------------------------------===//
// Scan
//===----------------------------------------------------------------------===//

/// Reports an optional list unless it has one element for each of `of`.
static LogicalResult checkLength(Node &node, StringRef name, int64_t count,
                                 StringRef of) {
  auto list = node.getInts(name);
  if (!list || list->empty() || int64_t(list->size()) == count)
    return success();
  return node.badLength(name, list->size(),
                        Twine(count) + ", one for each " + of);
}

/// Returns element i of an optional list.
static int64_t elementOr(const std::optional<SmallVector<int64_t>> &list,
                         size_t i, int64_t otherwise) {
  return list && i < list->size() ? (*list)[i] : otherwise;
}

/// Sets the trip count. Requires all scanned inputs to be as long as the first.
static LogicalResult readTrip(Node &node, LoopForm &form) {
  Sizes lengths;
  for (const Scanned &scanned : form.scanned)
    lengths.push_back(sizeOf(node, scanned.value, scanned.axis));
  for (auto [i, length] : llvm::enumerate(lengths)) {
    if (isSameDim(length, lengths[0]))
      continue;
    auto known = getConstantIntValue(length),
         first = getConstantIntValue(lengths[0]);
    if (known && first && *known != *first)
      return node.invalid("scan input " + Twine(i) + " has " + Twine(*known) +
                          " steps, but the first has " + Twine(*first));
    if (known && first)
      continue;
    Indices index{node.builder, node.loc()};
    Value has = indexValue(node, length), needs = indexValue(node, lengths[0]);
    require(node.builder, node.loc(), index.equal(has, needs),
            "scan input " + Twine(i) +
                " has {0} steps, but the first has {1}",
            {has, needs});
  }
  form.trip = indexValue(node, lengths[0]);
  return success();
}

/// Limit of loops that one node may become.
static constexpr int64_t kMaxBatches = 64;

/// Legalizes Scan of opset 8. It takes optional lengths of the batch elements
/// and tensors with a batch dimension. Each batch element gets its own loop.
static LogicalResult legalizeBatchedScan(Node &node) {
  if (node.has(0))
    return node.unsupported("with 'sequence_lens', as before operator set 9");
  LoopForm form;
  form.body = findBody(node, "body");
  if (!form.body)
    return node.invalid("the body is missing");
  int64_t count = node.getInt("num_scan_inputs", 0),
          states = int64_t(node.numInputs()) - 1 - count;
  if (count < 1 || states < 0)
    return node.invalid("num_scan_inputs is " + Twine(count) + ", with " +
                        Twine(node.numInputs()) + " inputs");
  int64_t batches = ShapedType::kDynamic;
  for (size_t i = 1; i < node.numInputs(); ++i) {
    bool isScanned = int64_t(i) > states;
    if (!node.has(i))
      return node.invalid("input " + Twine(i) + " is missing");
    if (node.rank(i) < (isScanned ? 2 : 1))
      return node.invalid("input " + Twine(i) + " has no batch" +
                          (isScanned ? " or no steps" : ""));
    int64_t size = node.shape(i)[0];
    if (ShapedType::isDynamic(size))
      return node.unsupported("with an open number of batches, as before "
                              "operator set 9; fix it with --shape");
    if (i > 1 && size != batches)
      return node.invalid("input " + Twine(i) + " has " + Twine(size) +
                          " batches, but the first has " + Twine(batches));
    batches = size;
  }
  if (batches < 1 || batches > kMaxBatches)
    return node.unsupported("with " + Twine(batches) +
                            " batches, which must be in [1, " +
                            Twine(kMaxBatches) + "]");
  if (int64_t(node.numOutputs()) < states)
    return node.invalid("it has " + Twine(states) + " states, but gives " +
                        Twine(node.numOutputs()) + " values");
  auto directions = node.getInts("directions");
  if (failed(checkLength(node, "directions", count, "input that is scanned")))
    return failure();
  form.stacked.resize(node.numOutputs() - states);
  SmallVector<SmallVector<Value>> results(node.numOutputs());
  for (int64_t batch = 0; batch < batches; ++batch) {
    form.init.clear();
    form.scanned.clear();
    for (size_t i = 1; i < node.numInputs(); ++i) {
      Sizes sizes = sizesOf(node, node.input(i));
      sizes.erase(sizes.begin());
      Value own =
          reshape(node, sliceAxis(node, node.input(i), 0, batch, 1), sizes);
      int64_t scan = int64_t(i) - 1 - states;
      if (scan < 0)
        form.init.push_back(own);
      else
        form.scanned.push_back({own, 0, elementOr(directions, scan, 0) != 0});
    }
    if (failed(checkBody(node, form)) || failed(readTrip(node, form)))
      return failure();
    auto values = makeLoop(node, form);
    if (failed(values))
      return failure();
    for (auto [value, all] : llvm::zip_equal(*values, results))
      all.push_back(value);
  }
  SmallVector<Value> joined(results.size());
  for (auto [value, all] : llvm::zip_equal(joined, results)) {
    // Skips rows without uses, which loops do not compute.
    if (!llvm::is_contained(all, Value()) && !(value = joinRows(node, all)))
      return failure();
  }
  return node.replace(joined);
}

static LogicalResult legalizeScan(Node &node) {
  if (node.statedOpset < 9)
    return legalizeBatchedScan(node);
  LoopForm form;
  form.body = findBody(node, "body");
  if (!form.body)
    return node.invalid("the body is missing");
  int64_t count = node.getInt("num_scan_inputs", 0);
  if (count < 1 || count > int64_t(node.numInputs()))
    return node.invalid("num_scan_inputs is " + Twine(count) + ", with " +
                        Twine(node.numInputs()) + " inputs");
  size_t states = node.numInputs() - count;
  for (size_t i = 0; i < node.numInputs(); ++i)
    if (!node.has(i))
      return node.invalid("input " + Twine(i) + " is missing");
  for (size_t i = 0; i < states; ++i)
    form.init.push_back(node.input(i));
  auto axes = node.getInts("scan_input_axes"),
       directions = node.getInts("scan_input_directions");
  for (StringRef name : {"scan_input_axes", "scan_input_directions"})
    if (failed(checkLength(node, name, count, "input that is scanned")))
      return failure();
  for (int64_t i = 0; i < count; ++i) {
    auto axis = node.normalizeAxis(elementOr(axes, i, 0), node.rank(states + i),
                                   "scan_input_axes", i);
    if (failed(axis))
      return failure();
    form.scanned.push_back(
        {node.input(states + i), *axis, elementOr(directions, i, 0) != 0});
  }
  if (node.numOutputs() < states)
    return node.invalid("it has " + Twine(states) + " states, but gives " +
                        Twine(node.numOutputs()) + " values");
  auto outAxes = node.getInts("scan_output_axes"),
       outDirections = node.getInts("scan_output_directions");
  form.stacked.resize(node.numOutputs() - states);
  for (StringRef name : {"scan_output_axes", "scan_output_directions"})
    if (failed(checkLength(node, name, form.stacked.size(),
                           "output that is stacked")))
      return failure();
  for (auto [i, stacked] : llvm::enumerate(form.stacked)) {
    stacked.axis = elementOr(outAxes, i, 0);
    stacked.isReversed = elementOr(outDirections, i, 0) != 0;
  }
  if (failed(checkBody(node, form)) || failed(readTrip(node, form)))
    return failure();
  return finish(node, form);
}

void legalize::populateLoops(Legalizers &legalizers) {
  legalizers.add("Loop", legalizeLoop);
  legalizers.add("Scan", legalizeScan);
}
