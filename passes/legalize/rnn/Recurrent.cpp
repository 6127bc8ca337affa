//===- Recurrent.cpp - RNN, GRU, LSTM -------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/rnn/Recurrent.h"

#include "dialects/onnx/Domains.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

//===----------------------------------------------------------------------===//
// The loop over time
//===----------------------------------------------------------------------===//

Value legalize::takeDirection(Node &node, Value x, int64_t d) {
  if (!x)
    return {};
  Sizes sizes = sizesOf(node, x);
  sizes.erase(sizes.begin());
  return reshape(node, sliceAxis(node, x, 0, d, 1), sizes);
}

/// Returns `count` rows of a weight or bias.
static Value takeRows(Node &node, Value x, int64_t start, int64_t count) {
  return sliceAxis(node, x, 0, start, count);
}

static Value matmul(Node &node, Value a, Value b, Value bias = {}) {
  auto y = node.infer<nn::MatMulOp>(a, b, bias, /*transpose_a=*/false,
                                    /*transpose_b=*/true);
  return failed(y) ? Value() : *y;
}

/// Multiplies x by weights of a recurrence.
static Value project(Node &node, const Recurrence &net, Value x, Value weights,
                     Value bias = {}) {
  return net.quantizes ? multiplyByBytes(node, x, weights, bias)
                       : matmul(node, x, weights, bias);
}

/// Computes the input's part of all gates for all steps, [T, B, gates H], in
/// one product.
static Value projectInput(Node &node, const Recurrence &net, Value w,
                          Value bias) {
  Sizes sizes = sizesOf(node, net.x);
  OpFoldResult rows = mulSizes(node, sizes[0], sizes[1]);
  Value flat = reshape(node, net.x, {rows, sizes[2]});
  Value y = project(node, net, flat, w, bias);
  if (!y)
    return {};
  return reshape(node, y,
                 {sizes[0], sizes[1], sizeAttr(node, net.gates * net.hidden)});
}

/// Returns a mask [B, 1]: true if step t is within the sequence.
static Value stepMask(Node &node, const Recurrence &net, Value step) {
  if (!net.lengths)
    return {};
  Type i64 = node.builder.getI64Type();
  Value number = node.create<arith::IndexCastOp>(i64, step);
  Value current = tensor::FromElementsOp::create(
      node.builder, node.loc(), RankedTensorType::get({1, 1}, i64), number);
  return binary<nn::LessOp>(node, current, net.lengths);
}

static Value castTensor(Node &node, Value x, Type type) {
  return x.getType() == type ? x : node.create<tensor::CastOp>(type, x);
}

namespace {
/// Results of one direction: the outputs of all steps, if used, and the final
/// states.
struct Run {
  Value all;
  SmallVector<Value> states;
};
} // namespace

static FailureOr<Run> runDirection(Node &node, const Recurrence &net,
                                   const Direction &direction, bool reverse) {
  OpBuilder &builder = node.builder;
  Location loc = node.loc();
  Value projected = projectInput(node, net, direction.w, direction.inputBias);
  if (!projected)
    return failure();
  Sizes sizes = sizesOf(node, projected);
  OpFoldResult steps = sizes[0], batch = sizes[1];
  OpFoldResult width = sizeAttr(node, net.hidden);
  Type element = typeOf(net.x).getElementType();
  // Slices must not have an offset into an empty static dimension.
  if (getConstantIntValue(batch) == 0)
    return Run{tensor::EmptyOp::create(builder, loc,
                                       Sizes{steps, batch, width}, element),
               direction.initial};

  // Copies the initial state to a buffer that only the loop uses, because each
  // step overwrites the previous state.
  SmallVector<Value> carried;
  for (Value state : direction.initial)
    carried.push_back(bufferization::AllocTensorOp::create(
        builder, loc, typeOf(state), ValueRange(), /*copy=*/state));
  if (net.needsAll)
    carried.push_back(tensor::EmptyOp::create(
        builder, loc, Sizes{steps, batch, width}, element));
  Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
  Value one = arith::ConstantIndexOp::create(builder, loc, 1);
  Value count = indexValue(node, steps);
  Value last = indexValue(node, subSizes(node, steps, sizeAttr(node, 1)));
  bool ok = true;
  auto body = [&](OpBuilder &, Location, Value iteration, ValueRange args) {
    Value step = reverse ? node.create<arith::SubIOp>(last, iteration)
                         : iteration;
    Sizes offsets = {step, sizeAttr(node, 0), sizeAttr(node, 0)};
    Sizes ones(3, sizeAttr(node, 1));
    Sizes inputSizes = {sizeAttr(node, 1), batch,
                        sizeAttr(node, net.gates * net.hidden)};
    auto inputType = RankedTensorType::get(
        staticShape(ArrayRef(inputSizes).drop_front()), element);
    Value input = tensor::ExtractSliceOp::create(
        builder, loc, inputType, projected, offsets, inputSizes, ones);
    SmallVector<Value> states(args.take_front(direction.initial.size()));
    SmallVector<Value> next = direction.cell(node, input, states);
    if (next.size() != states.size() || llvm::is_contained(next, Value())) {
      ok = false;
      scf::YieldOp::create(builder, loc, args);
      return;
    }
    Value shown = next[0];
    if (Value mask = stepMask(node, net, step)) {
      for (auto [value, before] : llvm::zip_equal(next, states))
        value = select(node, mask, value, before);
      shown = select(node, mask, shown, scalar(node, element, 0));
    }
    Value all;
    if (net.needsAll) {
      Sizes outputSizes = {sizeAttr(node, 1), batch, width};
      all = tensor::InsertSliceOp::create(
          builder, loc, castTensor(node, shown, states[0].getType()),
          args.back(), offsets, outputSizes, ones);
    }
    // Write the new state into the buffer of the previous state, because a loop
    // cannot carry a buffer that a step allocates.
    for (auto [value, before] : llvm::zip_equal(next, states))
      value = bufferization::MaterializeInDestinationOp::create(
                  builder, loc, before.getType(),
                  castTensor(node, value, before.getType()), before)
                  .getResult();
    if (all)
      next.push_back(all);
    scf::YieldOp::create(builder, loc, next);
  };
  auto loop = scf::ForOp::create(builder, loc, zero, count, one, carried, body);
  if (!ok)
    return failure();
  Run run;
  run.states.assign(loop.getResults().begin(),
                    loop.getResults().begin() + direction.initial.size());
  if (net.needsAll)
    run.all = loop.getResults().back();
  return run;
}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

/// Returns the initial state of direction d, or zeros if it is left out.
static Value initialState(Node &node, const Recurrence &net, size_t input,
                          int64_t d) {
  Sizes sizes = {sizeOf(node, net.x, 1), sizeAttr(node, net.hidden)};
  Type element = typeOf(net.x).getElementType();
  Value state;
  if (!node.has(input)) {
    state = filled(node, element, 0, sizes);
  } else {
    Value all = node.input(input);
    if (net.batchFirst)
      all = transpose(node, all, {1, 0, 2});
    state = takeDirection(node, all, d);
  }
  return castTensor(node, state,
                    RankedTensorType::get(staticShape(sizes), element));
}

/// Requires an operand to have the sizes `wanted`. Dynamic sizes are checked at
/// run time.
static LogicalResult checkOperand(Node &node, size_t input, StringRef name,
                                  ArrayRef<OpFoldResult> wanted) {
  if (!node.has(input))
    return success();
  if (node.rank(input) != int64_t(wanted.size()) ||
      failed(verifyCompatibleShape(staticShape(wanted), node.shape(input))))
    return node.invalid(name + " does not have the shape that hidden_size and "
                               "direction ask for");
  for (auto [d, size] : llvm::enumerate(wanted)) {
    OpFoldResult own = sizeOf(node, node.input(input), d);
    if ((getConstantIntValue(own) && getConstantIntValue(size)) ||
        isSameDim(own, size))
      continue;
    Indices i{node.builder, node.loc()};
    Value has = indexValue(node, own), needs = indexValue(node, size);
    require(node.builder, node.loc(), i.equal(has, needs),
            "dimension " + Twine(d) + " of " + name + " is {0}, not {1}",
            {has, needs});
  }
  return success();
}

static LogicalResult readRecurrence(Node &node, int64_t gates, size_t states,
                                    Recurrence &net) {
  if (node.numInputs() < 3 || !node.has(0) || !node.has(1) || !node.has(2))
    return node.invalid("X, W and R are needed");
  for (size_t i = 0; i < 3; ++i)
    if (node.rank(i) != 3)
      return node.invalid("X, W and R need rank 3");
  StringRef direction = node.getString("direction", "forward");
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    return node.invalid("direction is " + direction);
  net.gates = gates;
  net.directions = direction == "bidirectional" ? 2 : 1;
  net.reverseFirst = direction == "reverse";
  net.hidden = node.getInt("hidden_size", node.shape(2)[net.quantizes ? 1 : 2]);
  if (net.hidden < 1 || net.hidden >= int64_t(1) << 24)
    return node.invalid("hidden_size is " + Twine(net.hidden));
  net.batchFirst = node.getInt("layout", 0) != 0;
  net.x = node.input(0);
  if (net.batchFirst)
    net.x = transpose(node, net.x, {1, 0, 2});
  auto n = [&](int64_t size) { return sizeAttr(node, size); };
  int64_t rows = gates * net.hidden;
  OpFoldResult batch = sizeOf(node, net.x, 1), width = sizeOf(node, net.x, 2);
  OpFoldResult directions = n(net.directions), hidden = n(net.hidden);
  Sizes w = {directions, n(rows), width}, r = {directions, n(rows), hidden};
  if (net.quantizes) {
    std::swap(w[1], w[2]);
    std::swap(r[1], r[2]);
  }
  if (failed(checkOperand(node, 1, "W", w)) ||
      failed(checkOperand(node, 2, "R", r)) ||
      failed(checkOperand(node, 3, "B", {directions, n(2 * rows)})) ||
      failed(checkOperand(node, 4, "sequence_lens", {batch})))
    return failure();
  if (failed(requireElements(node, 4, "sequence_lens",
                             {sizeOf(node, net.x, 0), /*includesCount=*/true,
                              "steps"})))
    return failure();
  for (size_t i = 0; i < states; ++i) {
    Sizes shape = {directions, batch, hidden};
    if (net.batchFirst)
      std::swap(shape[0], shape[1]);
    if (failed(checkOperand(node, 5 + i, i ? "initial_c" : "initial_h", shape)))
      return failure();
  }
  if (node.has(4)) {
    net.lengths = reshape(node, castTo(node, node.input(4),
                                       node.builder.getI64Type()),
                          {sizeOf(node, node.input(4), 0), sizeAttr(node, 1)});
  }
  // Make the input's width static. This is valid because a check compares the
  // width with the weights at run time.
  int64_t rowsDim = net.quantizes ? 1 : 2;
  if (int64_t known = node.shape(1)[rowsDim]; !ShapedType::isDynamic(known)) {
    SmallVector<int64_t> shape(typeOf(net.x).getShape());
    shape.back() = known;
    net.x = castTensor(node, net.x, typeOf(net.x).clone(shape));
  }
  net.needsAll = node.isUsed(0);
  return success();
}

LogicalResult legalize::legalizeRecurrence(Node &node, int64_t gates,
                                           size_t states,
                                           MakeDirection makeDirection,
                                           bool quantized) {
  Recurrence net;
  net.quantizes = quantized;
  if (failed(readRecurrence(node, gates, states, net)))
    return failure();
  SmallVector<Value> all;
  SmallVector<SmallVector<Value>> finals(states);
  for (int64_t d = 0; d < net.directions; ++d) {
    Direction direction;
    if (quantized) {
      auto w = dequantizeDirection(node, 1, 8, d),
           r = dequantizeDirection(node, 2, 10, d);
      if (failed(w) || failed(r))
        return failure();
      direction.w = *w;
      direction.r = *r;
    } else {
      direction.w = takeDirection(node, node.input(1), d);
      direction.r = takeDirection(node, node.input(2), d);
    }
    if (Value b = takeDirection(node, node.input(3), d)) {
      int64_t rows = gates * net.hidden;
      direction.inputBias = takeRows(node, b, 0, rows);
      direction.stateBias = takeRows(node, b, rows, rows);
    }
    for (size_t i = 0; i < states; ++i)
      direction.initial.push_back(initialState(node, net, 5 + i, d));
    if (failed(makeDirection(node, net, d, direction)))
      return failure();
    auto run =
        runDirection(node, net, direction, net.reverseFirst || d == 1);
    if (failed(run))
      return failure();
    if (net.needsAll)
      all.push_back(unsqueeze(node, run->all, {1}));
    for (size_t i = 0; i < states; ++i)
      finals[i].push_back(unsqueeze(node, run->states[i], {0}));
  }
  SmallVector<Value> results(1);
  if (net.needsAll) {
    results[0] = concat(node, all, 1);
    if (net.batchFirst)
      results[0] = transpose(node, results[0], {2, 0, 1, 3});
  }
  for (size_t i = 0; i < states; ++i) {
    Value final = concat(node, finals[i], 0);
    results.push_back(net.batchFirst ? transpose(node, final, {1, 0, 2})
                                     : final);
  }
  return node.replace(results);
}

//===----------------------------------------------------------------------===//
// Cells
//===----------------------------------------------------------------------===//

static Value gate(Node &node, Value gates, int64_t i, int64_t hidden) {
  return sliceAxis(node, gates, 1, i * hidden, hidden);
}

static Value add(Node &node, Value a, Value b) {
  return binary<nn::AddOp>(node, a, b);
}
static Value mul(Node &node, Value a, Value b) {
  return binary<nn::MulOp>(node, a, b);
}

static LogicalResult makeRNN(Node &node, const Recurrence &net, int64_t d,
                             Direction &direction) {
  auto f = readActivations(node, d, {"Tanh"}, net.directions);
  if (failed(f))
    return failure();
  if (direction.stateBias)
    direction.inputBias = add(node, direction.inputBias, direction.stateBias);
  Activation activate = (*f)[0];
  Value r = direction.r;
  direction.cell = [=](Node &node, Value input, ArrayRef<Value> states) {
    Value sum = add(node, input, matmul(node, states[0], r));
    return SmallVector<Value>{activate(node, sum)};
  };
  return success();
}

static LogicalResult makeGRU(Node &node, const Recurrence &net, int64_t d,
                             Direction &direction) {
  auto f = readActivations(node, d, {"Sigmoid", "Tanh"}, net.directions);
  if (failed(f))
    return failure();
  bool resetAfter = node.getInt("linear_before_reset", 0) != 0;
  int64_t hidden = net.hidden;
  // Adds up the biases of z and r in advance. If the reset comes after the
  // product, it also applies to the bias of h.
  Value candidateBias;
  if (direction.stateBias) {
    Value gatesBias = takeRows(node, direction.stateBias, 0, 2 * hidden);
    candidateBias = takeRows(node, direction.stateBias, 2 * hidden, hidden);
    Value shift = resetAfter ? filled(node, typeOf(net.x).getElementType(), 0,
                                      {sizeAttr(node, hidden)})
                             : candidateBias;
    direction.inputBias = add(node, direction.inputBias,
                              concat(node, {gatesBias, shift}, 0));
    if (!resetAfter)
      candidateBias = Value();
  }
  Value gatesR = takeRows(node, direction.r, 0, 2 * hidden);
  Value candidateR = takeRows(node, direction.r, 2 * hidden, hidden);
  Activation activate = (*f)[0], squash = (*f)[1];
  Type element = typeOf(net.x).getElementType();
  direction.cell = [=](Node &node, Value input, ArrayRef<Value> states) {
    Value h = states[0];
    Value both =
        activate(node, add(node, sliceAxis(node, input, 1, 0, 2 * hidden),
                           matmul(node, h, gatesR)));
    Value z = gate(node, both, 0, hidden), r = gate(node, both, 1, hidden);
    Value fromState =
        resetAfter ? mul(node, r, matmul(node, h, candidateR, candidateBias))
                   : matmul(node, mul(node, r, h), candidateR);
    Value candidate =
        squash(node, add(node, gate(node, input, 2, hidden), fromState));
    Value rest = binary<nn::SubOp>(node, scalar(node, element, 1), z);
    return SmallVector<Value>{
        add(node, mul(node, rest, candidate), mul(node, z, h))};
  };
  return success();
}

static LogicalResult makeLSTM(Node &node, const Recurrence &net, int64_t d,
                              Direction &direction) {
  auto f =
      readActivations(node, d, {"Sigmoid", "Tanh", "Tanh"}, net.directions);
  if (failed(f))
    return failure();
  if (direction.stateBias)
    direction.inputBias = add(node, direction.inputBias, direction.stateBias);
  int64_t hidden = net.hidden;
  if (failed(checkOperand(node, 7, "P",
                          {sizeAttr(node, net.directions),
                           sizeAttr(node, 3 * hidden)})))
    return failure();
  Value peepholes = takeDirection(node, node.input(7), d);
  bool couples = node.getInt("input_forget", 0) != 0;
  Activation activate = (*f)[0], squash = (*f)[1], show = (*f)[2];
  Type element = typeOf(net.x).getElementType();
  Value r = direction.r;
  direction.cell = [=](Node &node, Value input, ArrayRef<Value> states) {
    Value c = states[1];
    Value sums = add(node, input, project(node, net, states[0], r));
    auto peep = [&](Value sum, int64_t i, Value state) {
      if (!peepholes)
        return sum;
      return add(
          node, sum,
          mul(node, takeRows(node, peepholes, i * hidden, hidden), state));
    };
    Value i = activate(node, peep(gate(node, sums, 0, hidden), 0, c));
    Value forget =
        couples ? binary<nn::SubOp>(node, scalar(node, element, 1), i)
                : activate(node, peep(gate(node, sums, 2, hidden), 2, c));
    Value candidate = squash(node, gate(node, sums, 3, hidden));
    Value next = add(node, mul(node, forget, c), mul(node, i, candidate));
    Value o = activate(node, peep(gate(node, sums, 1, hidden), 1, next));
    return SmallVector<Value>{mul(node, o, show(node, next)), next};
  };
  return success();
}

static LogicalResult legalizeRNN(Node &node) {
  return legalizeRecurrence(node, /*gates=*/1, /*states=*/1, makeRNN);
}
static LogicalResult legalizeGRU(Node &node) {
  return legalizeRecurrence(node, /*gates=*/3, /*states=*/1, makeGRU);
}
static LogicalResult legalizeLSTM(Node &node) {
  return legalizeRecurrence(node, /*gates=*/4, /*states=*/2, makeLSTM);
}

static LogicalResult legalizeDynamicQuantizeLSTM(Node &node) {
  if (failed(checkWeightBytes(node)))
    return failure();
  return legalizeRecurrence(node, /*gates=*/4, /*states=*/2, makeLSTM,
                            /*quantized=*/true);
}

void legalize::populateRecurrent(Legalizers &legalizers) {
  legalizers.add("DynamicQuantizeLSTM", legalizeDynamicQuantizeLSTM,
                 kMicrosoftDomain);
  legalizers.add("GRU", legalizeGRU);
  legalizers.add("LSTM", legalizeLSTM);
  legalizers.add("RNN", legalizeRNN);
}
