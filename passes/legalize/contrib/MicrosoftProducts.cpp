//===- MicrosoftProducts.cpp - quantized products of ONNX Runtime ---------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes operators of domain com.microsoft that fuse a quantized product
// with scales and a bias. They become the same ops as ONNX's MatMulInteger, Mul
// and Add. MatMulNBits becomes nn.packed_matmul.
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/Constants.h"
#include "dialects/nn/Scalars.h"
#include "dialects/onnx/Domains.h"
#include "passes/legalize/core/Helpers.h"
#include "passes/legalize/quant/Quantize.h"
#include "passes/support/DynamicScale.h"
#include "passes/support/PackedCodes.h"

#include "llvm/Support/MathExtras.h"

#include <cmath>
#include <limits>

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;
using namespace ingot::support;

static LogicalResult needBytes(Node &node, ArrayRef<size_t> inputs) {
  if (failed(needInputs(node, inputs)))
    return failure();
  for (size_t i : inputs)
    if (!nn::isByte(node.elementType(i)))
      return node.invalid("input " + Twine(i) + " is not of bytes");
  return success();
}

/// Requires input i to be a positive f32 scale: one, or one for each of `count`
/// lines.
static LogicalResult needScale(Node &node, size_t i, int64_t count,
                               StringRef lines) {
  if (failed(needInputs(node, {i})))
    return failure();
  if (!node.elementType(i).isF32())
    return node.invalid("input " + Twine(i) + " is not a scale of floats");
  if (!isSingle(node.input(i)) &&
      (node.rank(i) != 1 || (!ShapedType::isDynamic(count) &&
                             node.shape(i)[0] != count)))
    return node.invalid("input " + Twine(i) + " has no scale for each of " +
                        Twine(count) + " " + lines);
  return checkScale(node, i, "input " + std::to_string(i));
}

/// Checks an optional zero point. It has the type of input `of`, and one
/// element or `count` elements.
static LogicalResult checkZeroPoint(Node &node, size_t i, size_t of,
                                    int64_t count) {
  if (!node.has(i))
    return success();
  if (node.elementType(i) != node.elementType(of))
    return node.invalid("input " + Twine(i) +
                        ", a zero point, is of another type than input " +
                        Twine(of));
  if (!isSingle(node.input(i)) &&
      (node.rank(i) != 1 || node.shape(i)[0] != count))
    return node.invalid("input " + Twine(i) +
                        " has no zero point for each of " + Twine(count) +
                        " rows or columns");
  return success();
}

/// Returns true if both factors are constants whose products are normal numbers
/// of f32.
static bool haveNormalProducts(Value left, Value right) {
  double least = 1, largest = 1;
  for (Value factor : {left, right}) {
    auto values = nn::getConstantDoubles(factor);
    if (!values || values->empty())
      return false;
    for (double &value : *values)
      value = std::abs(value);
    least *= *llvm::min_element(*values);
    largest *= *llvm::max_element(*values);
  }
  return least >= double(std::numeric_limits<float>::min()) &&
         largest <= double(std::numeric_limits<float>::max());
}

/// Multiplies sums of products of bytes by two scales, which broadcast to the
/// sums. No intermediate result leaves the range of f32 unless the product
/// does.
static FailureOr<Value> scaleSums(Node &node, Value sums, Value left,
                                  Value right) {
  Value y = node.cast(sums, node.builder.getF32Type());
  if (haveNormalProducts(left, right)) {
    auto scales = node.infer<nn::MulOp>(left, right);
    if (failed(scales))
      return failure();
    return node.infer<nn::MulOp>(y, *scales);
  }
  // Sums are integers, so that the smaller scale comes first.
  auto less = node.infer<nn::MinOp>(left, right),
       more = node.infer<nn::MaxOp>(left, right);
  if (failed(less) || failed(more))
    return failure();
  auto scaled = node.infer<nn::MulOp>(y, *less);
  if (failed(scaled))
    return failure();
  return node.infer<nn::MulOp>(*scaled, *more);
}

/// Replaces the node by i32 sums times two scales. Adds input `bias`, if
/// present. It has one element per column.
static LogicalResult replaceScaled(Node &node, FailureOr<Value> sums,
                                   Value left, Value right, size_t bias) {
  if (failed(sums))
    return failure();
  auto y = scaleSums(node, *sums, left, right);
  if (failed(y))
    return failure();
  if (node.has(bias)) {
    int64_t columns = typeOf(*y).getShape().back();
    if (!node.elementType(bias).isF32() || node.rank(bias) != 1 ||
        node.shape(bias)[0] != columns)
      return node.invalid("input " + Twine(bias) +
                          " is not a bias of floats for each of " +
                          Twine(columns) + " columns");
    y = node.infer<nn::AddOp>(*y, node.input(bias));
    if (failed(y))
      return failure();
  }
  return node.replace(*y);
}

static LogicalResult needMatrix(Node &node, size_t i) {
  if (node.rank(i) < 2)
    return node.invalid("input " + Twine(i) + " needs rank 2 or more, but has "
                        "rank " + Twine(node.rank(i)));
  return success();
}

/// Legalizes DynamicQuantizeMatMul. Inputs: A of floats; B, its scale and its
/// zero point; bias.
static LogicalResult legalizeDynamicQuantizeMatMul(Node &node) {
  if (failed(needInputs(node, {0})) || failed(needBytes(node, {1})) ||
      failed(needMatrix(node, 0)) || failed(needMatrix(node, 1)))
    return failure();
  if (!node.elementType(0).isF32())
    return node.invalid("input 0 is not of floats");
  int64_t columns = node.shape(1).back();
  if (failed(needScale(node, 2, columns, "columns")) ||
      failed(checkZeroPoint(node, 3, 1, columns)))
    return failure();
  support::DynamicBytes a =
      support::quantizeDynamically(node.builder, node.loc(), node.input(0));
  auto sums = multiplyBytes(node, a.bytes, a.zeroPoint, node.input(1),
                            node.input(3));
  return replaceScaled(node, sums, a.scale,
                       alongLines(node, node.input(2), /*isLeft=*/false), 4);
}

/// Legalizes MatMulIntegerToFloat. Inputs: A, B, their scales, their zero
/// points, bias.
static LogicalResult legalizeMatMulIntegerToFloat(Node &node) {
  if (failed(needBytes(node, {0, 1})) || failed(needMatrix(node, 0)) ||
      failed(needMatrix(node, 1)))
    return failure();
  int64_t rows = node.shape(0)[node.rank(0) - 2],
          columns = node.shape(1).back();
  if (failed(needScale(node, 2, rows, "rows")) ||
      failed(needScale(node, 3, columns, "columns")) ||
      failed(checkZeroPoint(node, 4, 0, rows)) ||
      failed(checkZeroPoint(node, 5, 1, columns)))
    return failure();
  auto sums = multiplyBytes(node, node.input(0), node.input(4), node.input(1),
                            node.input(5));
  return replaceScaled(node, sums,
                       alongLines(node, node.input(2), /*isLeft=*/true),
                       alongLines(node, node.input(3), /*isLeft=*/false), 6);
}

/// Transposes a matrix if the attribute says so. A constant stays a constant.
static Value transposedBy(Node &node, size_t i, StringRef attribute) {
  Value x = node.input(i);
  if (node.getInt(attribute, 0) == 0)
    return x;
  auto numbers = nn::getConstantInts(x);
  if (!numbers)
    return transpose(node, x, {1, 0});
  RankedTensorType type = typeOf(x);
  int64_t rows = type.getDimSize(0), columns = type.getDimSize(1);
  std::vector<double> moved(numbers->size());
  for (int64_t r = 0; r < rows; ++r)
    for (int64_t c = 0; c < columns; ++c)
      moved[c * rows + r] = double((*numbers)[r * columns + c]);
  return nn::makeConstant(node.builder, node.loc(),
                          type.clone({columns, rows}), moved);
}

/// Legalizes QGemm. Inputs: A, its scale and zero point; B, its scale and zero
/// point; C of i32; scale and zero point of Y.
static LogicalResult legalizeQGemm(Node &node) {
  if (failed(needBytes(node, {0, 3})))
    return failure();
  for (size_t i : {0, 3})
    if (node.rank(i) != 2)
      return node.invalid("input " + Twine(i) + " needs rank 2, but has rank " +
                          Twine(node.rank(i)));
  Value a = transposedBy(node, 0, "transA"),
        b = transposedBy(node, 3, "transB");
  int64_t columns = typeOf(b).getDimSize(1);
  if (failed(needScale(node, 1, 1, "tensors")) ||
      failed(needScale(node, 4, columns, "columns")) ||
      failed(checkZeroPoint(node, 2, 0, 1)) ||
      failed(checkZeroPoint(node, 5, 3, columns)))
    return failure();
  auto sums = multiplyBytes(node, a, node.input(2), b, node.input(5));
  if (failed(sums))
    return failure();
  if (node.has(6)) {
    if (!node.elementType(6).isInteger(32) || node.rank(6) > 2)
      return node.invalid("C is not of 32-bit integers and rank 2 or less");
    sums = node.infer<nn::AddOp>(*sums, node.input(6));
    if (failed(sums))
      return failure();
  }
  Type real = node.builder.getF32Type();
  Value left = toScalar(node, node.input(1)),
        right = alongLines(node, node.input(4), /*isLeft=*/false);
  if (float alpha = node.getFloat("alpha", 1); alpha != 1) {
    auto scaled = node.infer<nn::MulOp>(right, node.scalar(real, alpha));
    if (failed(scaled))
      return failure();
    right = *scaled;
  }
  if (!node.has(7))
    return replaceScaled(node, sums, left, right, /*bias=*/node.numInputs());
  if (failed(needScale(node, 7, 1, "tensors")))
    return failure();
  Type to = node.has(8) ? node.elementType(8) : node.elementType(0);
  if (!nn::isByte(to) || (node.has(8) && !isSingle(node.input(8))))
    return node.invalid("input 8 is not a zero point of one byte");
  auto y = scaleSums(node, *sums, left, right);
  if (failed(y))
    return failure();
  return node.replace(node.make<nn::QuantizeOp>(
      typeOf(*y).clone(to), *y, toScalar(node, node.input(7)),
      node.has(8) ? toScalar(node, node.input(8)) : Value(), /*axis=*/0));
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

/// Reshapes input i to (columns, blocks).
static FailureOr<Value> perBlock(Node &node, size_t i, int64_t columns,
                                 int64_t blocks) {
  RankedTensorType type = node.type(i);
  if (!type.hasStaticShape() || type.getNumElements() != columns * blocks)
    return node.invalid("input " + Twine(i) +
                        " does not have a number for each of " + Twine(blocks) +
                        " blocks of " + Twine(columns) + " columns");
  return Value(node.make<nn::ReshapeOp>(
      type.clone(ArrayRef<int64_t>{columns, blocks}), node.input(i)));
}

/// Unpacks zero points of `bits` bits, lowest bits first. Each column begins at
/// a whole byte.
static FailureOr<Value> unpackZeroPoints(Node &node, size_t i, int64_t bits,
                                         int64_t columns, int64_t blocks) {
  auto packed = nn::getConstantInts(node.input(i));
  int64_t bytes = llvm::divideCeil(blocks, 8 / bits);
  if (!packed)
    return node.unsupported("computed zero points of a few bits");
  if (int64_t(packed->size()) != columns * bytes)
    return node.invalid("expects " + Twine(columns * bytes) +
                        " bytes of zero points, but got " +
                        Twine(packed->size()));
  std::vector<double> zeros(columns * blocks);
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t block = 0; block < blocks; ++block)
      zeros[column * blocks + block] =
          support::readCode(&(*packed)[column * bytes], block, bits);
  return nn::makeConstant(node.builder, node.loc(),
                          node.type(i).clone({columns, blocks}), zeros);
}

/// Returns the rows of B sorted by their blocks, as input `i` (g_idx) gives
/// them. Reports blocks that do not have `block` rows each.
static FailureOr<SmallVector<int64_t>> sortRows(Node &node, size_t i,
                                                int64_t depth, int64_t block) {
  auto groups = nn::getConstantInts(node.input(i));
  if (!groups)
    return node.unsupported("a computed g_idx");
  if (int64_t(groups->size()) != depth)
    return node.invalid("expects a g_idx of " + Twine(depth) +
                        " elements, but got " + Twine(groups->size()));
  SmallVector<int64_t> rows(llvm::to_vector(llvm::seq<int64_t>(0, depth)));
  llvm::stable_sort(
      rows, [&](int64_t a, int64_t b) { return (*groups)[a] < (*groups)[b]; });
  for (auto [at, row] : llvm::enumerate(rows))
    if ((*groups)[row] != int64_t(at) / block)
      return node.unsupported("a g_idx that gives block " +
                              Twine(int64_t(at) / block) +
                              " another number of rows than block_size");
  return rows;
}

/// Moves codes of `bits` bits of each column, such that `rows` come in this
/// order.
static Value moveCodes(Node &node, Value codes, ArrayRef<int64_t> bytes,
                       ArrayRef<int64_t> rows, int64_t bits) {
  const int64_t columns = typeOf(codes).getDimSize(0),
                stride = int64_t(bytes.size()) / columns;
  std::vector<char> moved(bytes.size(), 0);
  for (int64_t column = 0; column < columns; ++column)
    for (auto [to, from] : llvm::enumerate(rows))
      support::writeCode(
          &moved[column * stride], int64_t(to), bits,
          support::readCode(&bytes[column * stride], from, bits));
  return mlir::arith::ConstantOp::create(
      node.builder, node.loc(),
      nn::makeConstantAttr(typeOf(codes), std::move(moved)));
}

/// Sorts the rows of B by their blocks, and columns of A in the same way.
static LogicalResult applyGroups(Node &node, Value &a, Value &codes,
                                 int64_t bits, int64_t block) {
  const int64_t depth = typeOf(a).getShape().back();
  auto rows = sortRows(node, 4, depth, block);
  if (failed(rows))
    return failure();
  if (llvm::is_sorted(*rows))
    return success();
  auto bytes = nn::getConstantInts(node.input(1));
  if (!bytes)
    return node.unsupported("g_idx with computed weights");
  codes = moveCodes(node, codes, *bytes, *rows, bits);
  Value order = nn::makeConstant(
      node.builder, node.loc(),
      RankedTensorType::get({depth}, node.builder.getI64Type()),
      std::vector<double>(rows->begin(), rows->end()));
  a = node.make<nn::GatherOp>(typeOf(a), a, order, typeOf(a).getRank() - 1);
  return success();
}

/// Legalizes MatMulNBits. Inputs: A, packed B, scales, zero points, group
/// indices, bias.
static LogicalResult legalizeMatMulNBits(Node &node) {
  if (failed(needInputs(node, {0, 1, 2})))
    return failure();
  int64_t bits = node.getInt("bits", 4), block = node.getInt("block_size", 0),
          depth = node.getInt("K", 0), columns = node.getInt("N", 0);
  if (bits != 2 && bits != 4 && bits != 8)
    return node.unsupported(Twine(bits) + " bits; 2, 4 and 8 are");
  if (depth < 1 || columns < 1)
    return node.invalid("K and N are " + Twine(depth) + " and " +
                        Twine(columns));
  if (block < 16 || !llvm::isPowerOf2_64(block))
    return node.invalid("block_size is " + Twine(block) +
                        ", but must be a power of 2 of at least 16");
  if (node.getInt("weight_prepacked", 0) != 0)
    return node.unsupported("weights that are packed for one machine already");
  Type element = node.elementType(0), real = node.builder.getF32Type();
  if (!isa<FloatType>(element) || element.isF64())
    return node.invalid("input 0 is not of floats of 16 or 32 bits");
  if (node.rank(0) < 1)
    return node.invalid("input 0 has rank 0");
  int64_t blocks = llvm::divideCeil(depth, block), bytes = block * bits / 8;
  RankedTensorType b = node.type(1);
  if (!b.getElementType().isUnsignedInteger(8) || !b.hasStaticShape() ||
      b.getNumElements() != columns * blocks * bytes)
    return node.invalid("input 1 is not of " + Twine(columns) + "x" +
                        Twine(blocks) + "x" + Twine(bytes) + " uint8");
  if (node.elementType(2) != element)
    return node.invalid("input 2, the scales, is of another type than input 0");
  auto scales = perBlock(node, 2, columns, blocks);
  if (failed(scales))
    return failure();
  Value zeros;
  if (node.has(3)) {
    auto given = node.elementType(3).isUnsignedInteger(8)
                     ? unpackZeroPoints(node, 3, bits, columns, blocks)
                     : perBlock(node, 3, columns, blocks);
    if (failed(given))
      return failure();
    zeros = *given;
    if (node.elementType(3) == element)
      zeros = node.cast(zeros, real);
    else if (!node.elementType(3).isUnsignedInteger(8))
      return node.invalid(
          "input 3 is not a zero point of uint8 or of the type of "
          "input 0");
  }
  Value codes = node.make<nn::ReshapeOp>(
      b.clone({columns, blocks, bytes}), node.input(1));
  Value a = pinDim(node, node.input(0), node.rank(0) - 1, depth, "input 0");
  a = node.cast(a, real);
  if (node.has(4) && failed(applyGroups(node, a, codes, bits, block)))
    return failure();
  bool isRow = node.rank(0) == 1;
  if (isRow)
    a = unsqueeze(node, a, {0});
  // Values of accuracy_level: 0 is the runtime's choice, 1 f32, 2 f16, 3 bf16,
  // 4 int8.
  bool mayRound = node.getInt("accuracy_level", 0) == 4;
  auto y = node.infer<nn::PackedMatMulOp>(a, codes, node.cast(*scales, real),
                                          zeros, bits, block, depth, mayRound,
                                          /*rounds_a=*/false);
  if (failed(y))
    return failure();
  if (node.has(5)) {
    if (node.rank(5) != 1 || node.shape(5)[0] != columns ||
        node.elementType(5) != element)
      return node.invalid("input 5 is not a bias of " + Twine(columns) +
                          " columns and of the type of input 0");
    y = node.infer<nn::AddOp>(*y, node.cast(node.input(5), real));
    if (failed(y))
      return failure();
  }
  Value result = node.cast(*y, element);
  return node.replace(isRow ? reshape(node, result, {columns}) : result);
}

void legalize::populateMicrosoftProducts(Legalizers &legalizers) {
  auto add = [&](StringRef name, Legalizer legalizer) {
    legalizers.add(name, legalizer, kMicrosoftDomain);
  };
  add("DynamicQuantizeMatMul", legalizeDynamicQuantizeMatMul);
  add("MatMulIntegerToFloat", legalizeMatMulIntegerToFloat);
  add("MatMulNBits", legalizeMatMulNBits);
  add("QGemm", legalizeQGemm);
}
