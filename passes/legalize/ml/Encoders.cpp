//===- Encoders.cpp - OneHotEncoder, LabelEncoder, CategoryMapper --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/StringList.h"
#include "passes/legalize/ml/MachineLearning.h"
#include "passes/support/RunChecks.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

SmallVector<int64_t> legalize::placesOf(Node &node, ArrayAttr texts) {
  auto module = node.op->getParentOfType<ModuleOp>();
  StringList strings;
  strings.read(module);
  SmallVector<int64_t> places = strings.placesOf(texts);
  strings.write(module);
  return places;
}

static Value stringConstants(Node &node, ArrayAttr texts) {
  SmallVector<int64_t> places = placesOf(node, texts);
  return intConstant(node, places, {int64_t(places.size())},
                     stringType(node.context()));
}

static Value stringConstant(Node &node, StringRef text) {
  return intConstant(node, placesOf(node, node.builder.getStrArrayAttr(text)),
                     {}, stringType(node.context()));
}

//===----------------------------------------------------------------------===//
// OneHotEncoder
//===----------------------------------------------------------------------===//

/// Requires at run time that each element is in one of the categories.
static void requireCategory(Node &node, Value isHere) {
  int64_t rank = typeOf(isHere).getRank();
  Type i64 = node.builder.getI64Type();
  Value found = node.create<nn::ReduceOp>(
      castTo(node, isHere, i64), nn::ReduceKind::max,
      ArrayRef<int64_t>{rank - 1}, /*keep_dims=*/false);
  if (rank > 1)
    found = node.create<nn::ReduceOp>(
        found, nn::ReduceKind::min,
        llvm::to_vector(llvm::seq<int64_t>(0, rank - 1)), /*keep_dims=*/false);
  // If there are no elements, the minimum is the largest value of the type, so
  // the check passes.
  Value least = tensor::ExtractOp::create(node.builder, node.loc(), found,
                                          ValueRange());
  Value isNone = arith::ConstantIntOp::create(node.builder, node.loc(), 0, 64);
  Value holds = arith::CmpIOp::create(node.builder, node.loc(),
                                      arith::CmpIPredicate::ne, least, isNone);
  require(node.builder, node.loc(), holds,
          "X has an element that is in none of the categories");
}

/// Returns 1 for the last of each group of equal categories, and 0 for the
/// other categories. Only the last category counts, as in ONNX Runtime.
static SmallVector<int64_t> markLast(ArrayRef<int64_t> categories) {
  SmallVector<int64_t> isLast(categories.size());
  DenseSet<int64_t> later;
  for (size_t i = categories.size(); i-- > 0;)
    isLast[i] = later.insert(categories[i]).second;
  return isLast;
}

static LogicalResult legalizeOneHotEncoder(Node &node) {
  auto words = node.op.getNodeAttrs().getAs<ArrayAttr>("cats_strings");
  auto numbers = node.getInts("cats_int64s");
  bool isOfStrings = node.has(0) && isString(node.elementType(0));
  if (words && numbers)
    return node.invalid("there are both cats_strings and cats_int64s");
  if (!node.has(0) || (isOfStrings ? !words || words.empty()
                                   : !numbers || numbers->empty()))
    return node.invalid(isOfStrings ? "cats_strings is missing"
                                    : "X and cats_int64s are needed");
  Value x = node.input(0);
  if (!isOfStrings)
    x = castTo(node, x, node.builder.getI64Type());
  Value categories =
      isOfStrings ? stringConstants(node, words)
                  : intConstant(node, *numbers, {int64_t(numbers->size())});
  Value isHere = binary<nn::EqualOp>(
      node, unsqueeze(node, x, {node.rank(0)}), categories);
  SmallVector<int64_t> all =
      isOfStrings ? placesOf(node, words) : llvm::to_vector(*numbers);
  if (auto isLast = markLast(all); llvm::is_contained(isLast, 0))
    isHere = binary<nn::AndOp>(
        node, isHere,
        castTo(node, intConstant(node, isLast, {int64_t(isLast.size())}),
               node.builder.getI1Type()));
  if (!node.getInt("zeros", 1))
    requireCategory(node, isHere);
  return node.replace(castTo(node, isHere, node.builder.getF32Type()));
}

//===----------------------------------------------------------------------===//
// LabelEncoder
//===----------------------------------------------------------------------===//

/// Returns keys or values of a LabelEncoder as a constant list, or null if
/// absent.
static Value readList(Node &node, StringRef name) {
  if (auto ints = node.getInts((name + "_int64s").str()))
    return intConstant(node, *ints, {int64_t(ints->size())});
  if (auto floats = node.getFloats((name + "_floats").str()))
    return floatConstants(node, *floats, {int64_t(floats->size())});
  DictionaryAttr attrs = node.op.getNodeAttrs();
  for (StringRef kind : {"_strings", "_tensor"})
    if (auto words = attrs.getAs<ArrayAttr>((name + kind).str()))
      return stringConstants(node, words);
  if (ElementsAttr tensor = node.getTensor((name + "_tensor").str())) {
    Value all = arith::ConstantOp::create(node.builder, node.loc(),
                                          cast<TypedAttr>(tensor));
    return reshape(node, all, {tensor.getNumElements()});
  }
  return {};
}

/// Returns the value for unknown keys, a scalar of the values' type.
static FailureOr<Value> readDefault(Node &node, Type type) {
  if (auto words =
          node.op.getNodeAttrs().getAs<ArrayAttr>("default_tensor")) {
    auto texts = words.getAsRange<StringAttr>();
    if (words.size() != 1 || !isString(type))
      return node.invalid("default_tensor needs one element of the values' "
                          "type");
    return stringConstant(node, (*texts.begin()).getValue());
  }
  if (ElementsAttr tensor = node.getTensor("default_tensor")) {
    if (tensor.getNumElements() != 1 || tensor.getElementType() != type)
      return node.invalid("default_tensor needs one element of the values' "
                          "type");
    return reshape(node,
                   arith::ConstantOp::create(node.builder, node.loc(),
                                             cast<TypedAttr>(tensor)),
                   ArrayRef<int64_t>());
  }
  if (isString(type))
    return stringConstant(node, node.getString("default_string", "_Unused"));
  if (isa<FloatType>(type))
    return scalar(node, type, node.getFloat("default_float", -0.0f));
  return intConstant(node, {node.getInt("default_int64", -1)}, {}, type);
}

/// Encodes strings by a table over the ids of the model's strings. All other
/// strings use the default at its end.
static LogicalResult encodeStrings(Node &node, ArrayRef<int64_t> keys,
                                   Value values, Value otherwise) {
  int64_t last = *llvm::max_element(keys) + 1;
  SmallVector<int64_t> table(last + 1, int64_t(keys.size()));
  // Go backwards, so that the first of equal keys overwrites the others.
  for (int64_t i = int64_t(keys.size()); i-- > 0;)
    table[keys[i]] = i;
  Value places = node.cast(node.input(0), node.builder.getI64Type());
  Value inside =
      binary<nn::MinOp>(node, places, intConstant(node, {last}, {}));
  Value found = node.make<nn::GatherOp>(
      intConstant(node, table, {last + 1}), inside, /*axis=*/0);
  Value all = concat(node, {values, unsqueeze(node, otherwise, {0})}, 0);
  return node.replace(node.make<nn::GatherOp>(all, found, /*axis=*/0));
}

static LogicalResult encodeNumbers(Node &node, Value keys, Value values,
                                   Value otherwise) {
  int64_t last = node.rank(0);
  Value x = unsqueeze(node, node.input(0), {last});
  Value isKey = binary<nn::EqualOp>(node, x, keys);
  // Since version 4, treats NaN as equal to a NaN key.
  if (isa<FloatType>(node.elementType(0)) && node.opset >= 4)
    isKey = binary<nn::OrOp>(node, isKey,
                             binary<nn::AndOp>(node,
                                               node.make<nn::IsNaNOp>(x),
                                               node.make<nn::IsNaNOp>(keys)));
  Value mark = castTo(node, isKey, node.builder.getI32Type());
  auto place = node.infer<nn::ArgReduceOp>(mark, nn::ReduceKind::max, last,
                                           /*keep_dims=*/false,
                                           /*select_last_index=*/false);
  if (failed(place))
    return failure();
  Value found = castTo(
      node,
      node.create<nn::ReduceOp>(mark, nn::ReduceKind::max,
                                ArrayRef<int64_t>{last}, /*keep_dims=*/false),
      node.builder.getI1Type());
  Value y = node.make<nn::GatherOp>(values, *place, /*axis=*/0);
  return node.replace(select(node, found, y, otherwise));
}

static LogicalResult encode(Node &node, Value keys, Value values,
                            Value otherwise) {
  if (!isString(typeOf(keys).getElementType()))
    return encodeNumbers(node, keys, values, otherwise);
  auto places = nn::readInts(nn::getConstant(keys));
  return encodeStrings(node, *places, values, otherwise);
}

/// Encodes strings as numbers or back, depending on the type of X. The first of
/// equal keys counts.
static LogicalResult encodeBetween(Node &node, ArrayAttr words,
                                   ArrayRef<int64_t> numbers) {
  Value strings = stringConstants(node, words),
        ints = intConstant(node, numbers, {int64_t(numbers.size())});
  if (isString(node.elementType(0)))
    return encode(node, strings, ints,
                  intConstant(node, {node.getInt("default_int64", -1)}, {}));
  if (!node.elementType(0).isInteger(64))
    return node.invalid("X is neither of strings nor of int64");
  return encode(node, ints, strings,
                stringConstant(node,
                               node.getString("default_string", "_Unused")));
}

static LogicalResult legalizeLabelEncoder(Node &node) {
  // In version 1, the operator has a list of classes. The index of a class is
  // its code.
  auto classes = node.op.getNodeAttrs().getAs<ArrayAttr>("classes_strings");
  if (node.has(0) && node.opset == 1 && classes && !classes.empty())
    return encodeBetween(
        node, classes, llvm::to_vector(llvm::seq<int64_t>(0, classes.size())));
  Value keys = readList(node, "keys"), values = readList(node, "values");
  if (!node.has(0) || !keys || !values ||
      typeOf(keys).getDimSize(0) != typeOf(values).getDimSize(0) ||
      typeOf(keys).getDimSize(0) < 1)
    return node.invalid("as many keys as values are needed, one at least");
  if (typeOf(keys).getElementType() != node.elementType(0))
    return node.invalid("keys are of another type than X");
  auto otherwise = readDefault(node, typeOf(values).getElementType());
  return failed(otherwise) ? failure() : encode(node, keys, values, *otherwise);
}

//===----------------------------------------------------------------------===//
// CategoryMapper
//===----------------------------------------------------------------------===//

static LogicalResult legalizeCategoryMapper(Node &node) {
  auto words = node.op.getNodeAttrs().getAs<ArrayAttr>("cats_strings");
  auto numbers = node.getInts("cats_int64s");
  if (!node.has(0) || !words || !numbers || words.empty() ||
      words.size() != numbers->size())
    return node.invalid("as many cats_strings as cats_int64s are needed, one "
                        "at least");
  // The last of equal categories counts, as in ONNX Runtime.
  return encodeBetween(
      node,
      node.builder.getArrayAttr(llvm::to_vector(llvm::reverse(words))),
      llvm::to_vector(llvm::reverse(*numbers)));
}

void legalize::populateEncoders(Legalizers &legalizers) {
  legalizers.add("CategoryMapper", legalizeCategoryMapper, kMlDomain);
  legalizers.add("LabelEncoder", legalizeLabelEncoder, kMlDomain);
  legalizers.add("OneHotEncoder", legalizeOneHotEncoder, kMlDomain);
}
