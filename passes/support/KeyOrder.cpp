//===- KeyOrder.cpp - radix sort ------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/support/KeyOrder.h"

#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::support;

/// Returns the bits of a key. They are at least 16, because each step sorts by
/// two digits.
int64_t KeyOrder::keyBits() const {
  return std::max<int64_t>(16,
                           computeType(element).getIntOrFloatBitWidth());
}

Value KeyOrder::number(int64_t value) const {
  return arith::ConstantIntOp::create(b, loc, value, 64);
}

Value KeyOrder::keyOf(Value element) const {
  Type compute = computeType(this->element);
  element = convertScalar(b, loc, element, compute, isUnsigned, isUnsigned);
  int64_t bits = keyBits();
  Type type = b.getIntegerType(bits);
  auto constant = [&](int64_t value) -> Value {
    return arith::ConstantIntOp::create(b, loc, type, value);
  };
  Value sign = constant(APInt::getSignMask(bits).getSExtValue());
  Value key;
  if (isa<FloatType>(compute)) {
    // Adding 0 turns -0 into 0.
    element =
        arith::AddFOp::create(b, loc, element, scalar(b, loc, compute, 0));
    Value isNan = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO,
                                        element, element);
    Value nan = scalar(b, loc, compute,
                       std::numeric_limits<double>::quiet_NaN());
    element = arith::SelectOp::create(b, loc, isNan, nan, element);
    key = arith::BitcastOp::create(b, loc, type, element);
    // Flips all bits of negative numbers, because their order is reversed.
    Value signs = arith::ShRSIOp::create(b, loc, key, constant(bits - 1));
    key = arith::XOrIOp::create(b, loc, key,
                                arith::OrIOp::create(b, loc, signs, sign));
  } else {
    key = element;
    if (compute != type)
      key = isUnsigned ? Value(arith::ExtUIOp::create(b, loc, type, key))
                       : Value(arith::ExtSIOp::create(b, loc, type, key));
    if (!isUnsigned)
      key = arith::XOrIOp::create(b, loc, key, sign);
  }
  if (descends)
    key = arith::XOrIOp::create(b, loc, key, constant(-1));
  return bits == 64 ? key
                    : Value(arith::ExtUIOp::create(b, loc, b.getI64Type(),
                                                   key));
}

Value KeyOrder::itemOf(Value element, Value position) const {
  position = arith::IndexCastOp::create(b, loc, b.getI64Type(), position);
  if (!hasKeyInItem())
    return position;
  Value high = arith::ShLIOp::create(b, loc, keyOf(element),
                                     number(64 - keyBits()));
  return arith::OrIOp::create(b, loc, high, position);
}

Value KeyOrder::positionOf(Value item) const {
  if (hasKeyInItem())
    item = arith::AndIOp::create(
        b, loc, item, number((int64_t(1) << (64 - keyBits())) - 1));
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), item);
}

Value KeyOrder::keyOfItem(Value item, ElementAt elementAt) const {
  if (!hasKeyInItem())
    return keyOf(elementAt(positionOf(item)));
  return arith::ShRUIOp::create(b, loc, item, number(64 - keyBits()));
}

/// Sorts the first list by one digit into the second list, and swaps the lists.
/// The sort is stable.
void KeyOrder::sortByDigit(SmallVectorImpl<Value> &lists, Value count,
                           Value shift, ElementAt elementAt) const {
  using Body = llvm::function_ref<SmallVector<Value>(Value i, ValueRange)>;
  Value zero = indexConstant(b, loc, 0), one = indexConstant(b, loc, 1);
  auto loop = [&](Value to, ValueRange state, Body body) {
    return scf::ForOp::create(
               b, loc, zero, to, one, state,
               [&](OpBuilder &, Location, Value i, ValueRange state) {
                 scf::YieldOp::create(b, loc, body(i, state));
               })
        .getResults();
  };
  auto load = [&](Value list, Value at) -> Value {
    return tensor::ExtractOp::create(b, loc, list, at);
  };
  auto store = [&](Value item, Value list, Value at) -> Value {
    return tensor::InsertOp::create(b, loc, item, list, at);
  };
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddIOp::create(b, loc, x, y);
  };
  auto toIndex = [&](Value x) -> Value {
    return arith::IndexCastOp::create(b, loc, b.getIndexType(), x);
  };
  auto digitOf = [&](Value item) {
    Value digit = arith::ShRUIOp::create(
        b, loc, keyOfItem(item, elementAt), shift);
    return toIndex(
        arith::AndIOp::create(b, loc, digit, number(kDigits - 1)));
  };
  Value items = lists[0], digits = indexConstant(b, loc, kDigits);
  Value places = loop(digits, lists[2], [&](Value i, ValueRange state) {
    return SmallVector<Value>{store(number(0), state[0], i)};
  })[0];
  places = loop(count, places, [&](Value i, ValueRange state) {
    Value digit = digitOf(load(items, i));
    Value more = add(load(state[0], digit), number(1));
    return SmallVector<Value>{store(more, state[0], digit)};
  })[0];
  // Start index of the items of each digit.
  places = loop(digits, {places, number(0)},
                [&](Value i, ValueRange state) -> SmallVector<Value> {
                  Value many = load(state[0], i);
                  return {store(state[1], state[0], i), add(state[1], many)};
                })[0];
  auto sorted = loop(
      count, {lists[1], places},
      [&](Value i, ValueRange state) -> SmallVector<Value> {
        Value item = load(items, i), digit = digitOf(item);
        Value place = load(state[1], digit);
        return {store(item, state[0], toIndex(place)),
                store(add(place, number(1)), state[1], digit)};
      });
  lists.assign({sorted[0], items, sorted[1]});
}

Value KeyOrder::sort(ArrayRef<Value> lists, Value count,
                     ElementAt elementAt) const {
  auto loop = scf::ForOp::create(
      b, loc, indexConstant(b, loc, 0), indexConstant(b, loc, keyBits()),
      indexConstant(b, loc, 16), lists,
      [&](OpBuilder &, Location, Value i, ValueRange state) {
        SmallVector<Value> lists(state);
        Value shift =
            arith::IndexCastOp::create(b, loc, b.getI64Type(), i);
        sortByDigit(lists, count, shift, elementAt);
        shift = arith::AddIOp::create(b, loc, shift, number(8));
        sortByDigit(lists, count, shift, elementAt);
        scf::YieldOp::create(b, loc, lists);
      });
  return loop.getResult(0);
}
