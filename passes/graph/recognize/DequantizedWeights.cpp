//===- DequantizedWeights.cpp - chains of operations on weights -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/graph/recognize/DequantizedWeights.h"

#include "dialects/nn/Constants.h"
#include "dialects/nn/NNDialect.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace mlir;
using namespace ingot;
using namespace ingot::graph;
using support::productOf;
using support::typeOf;

/// Number of scales for each weight. With more, bytes and their parameters are
/// hardly smaller than floats.
static constexpr double kMaxPerWeight = 0.125;
/// Number of integers of more than 8 bits that are sizes or indices, which
/// exporters compute in floats.
static constexpr int64_t kMaxIndices = 1024;

/// Returns the constant as bytes. Returns null if an element does not fit.
static Value toBytes(Value value) {
  auto element = dyn_cast<IntegerType>(typeOf(value).getElementType());
  // An i1 is a truth value.
  if (!element || element.getWidth() == 1 || !nn::getConstant(value) ||
      typeOf(value).getNumElements() == 0)
    return {};
  if (element.getWidth() <= 8)
    return value;
  if (typeOf(value).getNumElements() <= kMaxIndices)
    return {};
  std::optional<SmallVector<int64_t>> numbers = nn::getConstantInts(value);
  if (!numbers)
    return {};
  auto [least, most] = std::minmax_element(numbers->begin(), numbers->end());
  const bool isUnsigned = *least >= 0;
  if (*least < -128 || *most > (isUnsigned ? 255 : 127))
    return {};
  std::vector<char> bytes(numbers->size());
  llvm::transform(*numbers, bytes.begin(),
                  [](int64_t number) { return char(number); });
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  Type byte = isUnsigned ? builder.getIntegerType(8, /*isSigned=*/false)
                         : builder.getI8Type();
  return arith::ConstantOp::create(
      builder, value.getLoc(),
      nn::makeConstantAttr(typeOf(value).clone(byte), std::move(bytes)));
}

/// Returns true if all values are integers of the type.
static bool areOfType(ArrayRef<double> values, IntegerType type) {
  const double count = std::ldexp(1.0, int(type.getWidth()));
  const double low = type.isUnsigned() ? 0 : -count / 2, high = low + count - 1;
  return llvm::all_of(values, [&](double value) {
    return value == std::floor(value) && value >= low && value <= high;
  });
}

void DequantizedWeights::setShape(ArrayRef<int64_t> shape) {
  dims.clear();
  for (int64_t size : shape) {
    dims.emplace_back();
    if (size != 1)
      dims.back().push_back({size, {0, 0}});
  }
}

int64_t DequantizedWeights::numElements() const {
  return typeOf(integers).getNumElements();
}

bool DequantizedWeights::areIntegers() const {
  return !isQuantized && parameters[scale] == std::vector<double>{1} &&
         parameters[zero] == std::vector<double>{0};
}

std::optional<DequantizedWeights>
DequantizedWeights::startAtDequantize(Operation *op) {
  auto whole = dyn_cast<nn::DequantizeOp>(op);
  auto blocks = dyn_cast<nn::DequantizeBlocksOp>(op);
  if (!whole && !blocks)
    return std::nullopt;
  DequantizedWeights result;
  result.integers = op->getOperand(0);
  result.isQuantized = true;
  auto element =
      dyn_cast<IntegerType>(typeOf(result.integers).getElementType());
  if (!nn::getConstant(result.integers) || !element || element.getWidth() > 8 ||
      result.numElements() == 0 ||
      !typeOf(op->getResult(0)).getElementType().isF32())
    return std::nullopt;
  result.setShape(typeOf(result.integers).getShape());
  const int64_t axis = whole ? whole.getAxis() : blocks.getAxis();
  int64_t block = 1;
  if (blocks) {
    const int64_t size = typeOf(result.integers).getDimSize(axis);
    block = std::min<int64_t>(blocks.getBlockSize(), size);
    if (size % block != 0)
      return std::nullopt;
    result.dims[axis].clear();
    for (int64_t part : {size / block, block})
      if (part != 1)
        result.dims[axis].push_back({part, {0, 0}});
  }
  Value zeroPoint = whole ? whole.getZeroPoint() : blocks.getZeroPoint();
  for (auto [which, value] :
       {std::pair(scale, op->getOperand(1)), std::pair(zero, zeroPoint)}) {
    if (!value)
      continue;
    auto values = nn::getConstantDoubles(value);
    if (!values || values->empty())
      return std::nullopt;
    // A single value is for all elements, whatever its dimensions are.
    int64_t stride = values->size() == 1 ? 0 : 1;
    for (int64_t d = int64_t(result.dims.size()); d-- > 0;) {
      if (whole && d != axis)
        continue;
      MutableArrayRef<Part> parts = result.dims[d];
      if (blocks && d == axis && !parts.empty() && block != 1)
        parts = parts.drop_back();
      for (Part &part : llvm::reverse(parts)) {
        part.strides[which] = stride;
        stride *= part.size;
      }
    }
    result.parameters[which] = std::move(*values);
  }
  return result;
}

std::optional<DequantizedWeights> DequantizedWeights::start(Operation *op) {
  auto cast = dyn_cast<nn::CastOp>(op);
  if (!cast)
    return startAtDequantize(op);
  auto from = dyn_cast<IntegerType>(typeOf(cast.getX()).getElementType());
  Type to = cast.getType().getElementType();
  // Sums of wider integers are those of floats.
  if (!from || !(to.isF32() ||
                 (to.isInteger() && !to.isUnsignedInteger() &&
                  to.getIntOrFloatBitWidth() >= 16 && from.getWidth() <= 8)))
    return std::nullopt;
  DequantizedWeights result;
  result.integers = toBytes(cast.getX());
  if (!result.integers)
    return std::nullopt;
  result.setShape(cast.getType().getShape());
  return result;
}

/// Splits and merges dimensions as a reshape does. Returns false if a part does
/// not split at a whole index.
bool DequantizedWeights::reshape(ArrayRef<int64_t> shape) {
  SmallVector<Part> parts;
  for (ArrayRef<Part> dim : dims)
    llvm::append_range(parts, dim);
  std::reverse(parts.begin(), parts.end());
  dims.clear();
  for (int64_t size : shape) {
    dims.emplace_back();
    while (size != 1) {
      Part part = parts.pop_back_val();
      const int64_t taken = std::gcd(size, part.size);
      if (taken != size && taken != part.size)
        return false;
      const int64_t rest = part.size / taken;
      if (rest != 1)
        parts.push_back({rest, part.strides});
      dims.back().push_back(
          {taken, {part.strides[0] * rest, part.strides[1] * rest}});
      size /= taken;
    }
  }
  return true;
}

/// Reads a constant that is broadcast to the weights. Returns nullopt if it is
/// computed or larger than the weights.
std::optional<DequantizedWeights::Numbers>
DequantizedWeights::readNumbers(Value value) const {
  if (auto broadcast = value.getDefiningOp<nn::BroadcastToOp>())
    value = broadcast.getX();
  ArrayRef<int64_t> shape = typeOf(value).getShape();
  while (shape.size() > dims.size() && shape.front() == 1)
    shape = shape.drop_front();
  if (shape.size() > dims.size() || !typeOf(value).hasStaticShape() ||
      productOf(shape) > numElements())
    return std::nullopt;
  Numbers result;
  int64_t stride = 1;
  for (ArrayRef<Part> dim : llvm::reverse(dims)) {
    int64_t all = 1;
    for (const Part &part : dim)
      all *= part.size;
    const int64_t size = shape.empty() ? 1 : shape.back();
    shape = shape.drop_back(shape.empty() ? 0 : 1);
    if (size != 1 && size != all)
      return std::nullopt;
    for (const Part &part : llvm::reverse(dim)) {
      result.strides.push_back(size == 1 ? 0 : stride);
      stride *= size == 1 ? 1 : part.size;
    }
  }
  std::reverse(result.strides.begin(), result.strides.end());
  auto values = nn::getConstantDoubles(value);
  if (!values || values->empty())
    return std::nullopt;
  result.values = std::move(*values);
  return result;
}

/// Replaces each parameter by a function of it and a number. Returns false if
/// the two vary in different dimensions.
bool DequantizedWeights::combine(Parameter which, const Numbers &numbers,
                                 Combine function) {
  std::vector<double> &values = parameters[which];
  if (numbers.values.size() == 1) {
    for (double &value : values)
      value = function(value, numbers.values.front());
    return true;
  }
  SmallVector<int64_t *> strides;
  for (auto &dim : dims)
    for (Part &part : dim)
      strides.push_back(&part.strides[which]);
  if (values.size() == 1)
    for (auto [stride, given] : llvm::zip_equal(strides, numbers.strides))
      *stride = given;
  else if (values.size() != numbers.values.size() ||
           !llvm::equal(llvm::make_pointee_range(strides), numbers.strides))
    return false;
  values.resize(numbers.values.size(), values.front());
  for (auto [value, number] : llvm::zip_equal(values, numbers.values))
    value = function(value, number);
  return true;
}

/// Subtracts numbers, or adds them if `sign` is negative, by a change of zero
/// points. Returns false if zero points are no integers then.
bool DequantizedWeights::addToZeros(const Numbers &numbers, double sign) {
  // Rounding of a product of an f32 scale and a zero point.
  constexpr double kRounding = 1e-6;
  DequantizedWeights inSteps = *this;
  if (!inSteps.combine(scale, numbers, [&](double step, double number) {
        return sign * number / step;
      }))
    return false;
  Numbers steps{inSteps.parameters[scale], {}};
  for (ArrayRef<Part> dim : inSteps.dims)
    for (const Part &part : dim)
      steps.strides.push_back(part.strides[scale]);
  for (double &step : steps.values) {
    const double whole = std::nearbyint(step);
    if (!(std::abs(step - whole) <= kRounding * std::max(1.0, std::abs(whole))))
      return false;
    step = whole;
  }
  return combine(zero, steps, std::plus<double>());
}

/// Applies an elementwise operation. Returns false if the weights have another
/// form behind it.
bool DequantizedWeights::apply(Operation *op, const Numbers &numbers,
                               unsigned index) {
  if (isa<nn::MulOp>(op))
    return combine(scale, numbers, std::multiplies<double>());
  if (isa<nn::DivOp>(op))
    return index == 0 && combine(scale, numbers, std::divides<double>());
  if (isa<nn::AddOp>(op))
    return addToZeros(numbers, -1);
  if (!isa<nn::SubOp>(op) || !addToZeros(numbers, 1))
    return false;
  // The difference from the constant.
  if (index == 1)
    for (double &value : parameters[scale])
      value = -value;
  return true;
}

std::optional<DequantizedWeights>
DequantizedWeights::behind(Operation *op, unsigned index) const {
  DequantizedWeights result = *this;
  result.isChanged = true;
  const RankedTensorType type = typeOf(op->getResult(0));
  if (auto transpose = dyn_cast<nn::TransposeOp>(op)) {
    result.moves.push_back(op);
    for (auto [to, from] : llvm::enumerate(transpose.getPerm()))
      result.dims[to] = dims[from];
    return result;
  }
  if (isa<nn::ReshapeOp>(op)) {
    result.moves.push_back(op);
    if (type.hasStaticShape() && result.reshape(type.getShape()))
      return result;
    return std::nullopt;
  }
  if (auto cast = dyn_cast<nn::CastOp>(op)) {
    if (typeOf(cast.getX()).getElementType().isInteger() &&
        type.getElementType().isF32())
      return result;
    return std::nullopt;
  }
  if (!isa<nn::AddOp, nn::SubOp, nn::MulOp, nn::DivOp>(op))
    return std::nullopt;
  // Integer products and quotients may be rounded.
  if (!type.getElementType().isF32() && !isa<nn::AddOp, nn::SubOp>(op))
    return std::nullopt;
  std::optional<Numbers> numbers = readNumbers(op->getOperand(1 - index));
  if (!numbers || type.getNumElements() != numElements())
    return std::nullopt;
  if (size_t(type.getRank()) != dims.size() ||
      !result.apply(op, *numbers, index))
    return std::nullopt;
  return result;
}

std::optional<DequantizedWeights::Form> DequantizedWeights::findForm() const {
  SmallVector<int64_t> varying, mixed, blocks;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    int64_t block = 1;
    size_t rest = dim.size();
    for (; rest != 0 && dim[rest - 1].strides[scale] == 0 &&
           dim[rest - 1].strides[zero] == 0;
         --rest)
      block *= dim[rest - 1].size;
    blocks.push_back(block);
    if (rest == 0)
      continue;
    varying.push_back(d);
    if (block != 1)
      mixed.push_back(d);
  }
  if (varying.empty())
    return Form{Form::whole, 0, 1};
  if (varying.size() == 1 && mixed.empty())
    return Form{Form::axis, varying.front(), 1};
  if (mixed.size() > 1)
    return std::nullopt;
  const int64_t dim = mixed.empty() ? llvm::max_element(blocks) - blocks.begin()
                                    : mixed.front();
  if (1 > kMaxPerWeight * double(blocks[dim]))
    return std::nullopt;
  return Form{Form::blocks, dim, blocks[dim]};
}

Value DequantizedWeights::makeParameter(OpBuilder &builder, Location loc,
                                        Parameter which, const Form &form,
                                        Type element) const {
  if (form.kind == Form::whole)
    return nn::makeScalar(builder, loc, element, parameters[which].front());
  SmallVector<Part> parts;
  SmallVector<int64_t> shape;
  for (auto [d, dim] : llvm::enumerate(dims)) {
    if (form.kind == Form::axis && int64_t(d) != form.dim)
      continue;
    int64_t size = 1;
    for (const Part &part : dim)
      size *= part.size;
    shape.push_back(int64_t(d) == form.dim ? size / form.block : size);
    for (int64_t left = shape.back(), i = 0; left != 1; ++i) {
      parts.push_back(dim[i]);
      left /= dim[i].size;
    }
  }
  std::vector<double> values(productOf(shape));
  SmallVector<int64_t> indices(parts.size(), 0);
  int64_t at = 0;
  for (double &value : values) {
    value = parameters[which][at];
    for (size_t p = parts.size(); p-- > 0;) {
      at += parts[p].strides[which];
      if (++indices[p] != parts[p].size)
        break;
      at -= parts[p].strides[which] * parts[p].size;
      indices[p] = 0;
    }
  }
  return nn::makeConstant(builder, loc, RankedTensorType::get(shape, element),
                          values);
}

Value DequantizedWeights::make(OpBuilder &builder, Operation *op) const {
  std::optional<Form> form = findForm();
  if (!form)
    return {};
  auto element = cast<IntegerType>(typeOf(integers).getElementType());
  if (!areOfType(parameters[zero], element))
    return {};
  auto isFinite = [](double value) { return std::isfinite(float(value)); };
  if (!llvm::all_of(parameters[scale], isFinite))
    return {};
  Location loc = op->getLoc();
  Value x = integers;
  for (Operation *move : moves) {
    Operation *moved = builder.clone(*move);
    moved->setOperand(0, x);
    moved->getResult(0).setType(
        typeOf(move->getResult(0)).clone(Type(element)));
    x = moved->getResult(0);
  }
  RankedTensorType type = typeOf(op->getResult(0));
  if (typeOf(x).getShape() != type.getShape())
    x = nn::ReshapeOp::create(builder, loc, type.clone(Type(element)), x);
  Value scales =
      makeParameter(builder, loc, scale, *form, type.getElementType());
  Value zeros;
  if (llvm::any_of(parameters[zero], [](double value) { return value != 0; }))
    zeros = makeParameter(builder, loc, zero, *form, element);
  if (form->kind == Form::blocks)
    return nn::DequantizeBlocksOp::create(builder, loc, type, x, scales, zeros,
                                          form->dim, form->block);
  return nn::DequantizeOp::create(builder, loc, type, x, scales, zeros,
                                  form->dim);
}
