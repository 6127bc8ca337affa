//===- Sequences.cpp - sequences and optionals ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Legalizes operators on sequences and optionals. A sequence of known length is
// an onnx.sequence, a list that exists at compile time only. It is erased when
// no node uses it any more. A sequence of unknown length, with elements of one
// shape, is an onnx.rows: the rows of a tensor. An optional is its element, or
// absent.
//
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/control/ControlFlow.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

bool legalize::takesSequences(StringRef opType) {
  static const llvm::StringSet<> operators = {
      "ConcatFromSequence", "Identity",         "Loop",
      "Optional",           "OptionalGetElement", "OptionalHasElement",
      "SequenceAt",         "SequenceErase",    "SequenceInsert",
      "SequenceLength"};
  return operators.contains(opType);
}

void legalize::eraseUnusedPlaceholders(Block &block) {
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isa<onnx::AbsentOp, onnx::SequenceOp, onnx::RowsOp>(op) &&
        op.use_empty())
      op.erase();
}

RankedTensorType legalize::typeOfRows(Value list) {
  if (auto rows = list.getDefiningOp<onnx::RowsOp>())
    return typeOf(rows.getTensor());
  auto sequence = list.getDefiningOp<onnx::SequenceOp>();
  if (!sequence || sequence.getElements().empty() ||
      !llvm::all_equal(sequence.getElements().getTypes()))
    return {};
  RankedTensorType row = typeOf(sequence.getElements().front());
  SmallVector<int64_t> shape(row.getShape());
  shape.insert(shape.begin(), sequence.getElements().size());
  return row.clone(shape);
}

Value legalize::rowsOfList(Node &node, Value list, Operation *place) {
  if (!typeOfRows(list))
    return {};
  if (auto rows = list.getDefiningOp<onnx::RowsOp>())
    return rows.getTensor();
  OpBuilder::InsertionGuard guard(node.builder);
  node.builder.setInsertionPoint(place);
  return joinRows(node, llvm::to_vector(
                            list.getDefiningOp<onnx::SequenceOp>()
                                .getElements()));
}

static constexpr StringLiteral kOnePosition =
    "the position needs one element, of int32 or int64";

/// Limit of the elements of a list, because each becomes ops.
static constexpr int64_t kMaxParts = 10000;

/// Returns the sequence in input i, or reports another input.
static FailureOr<onnx::SequenceOp> sequenceOf(Node &node, size_t i) {
  Value input = node.input(i);
  auto sequence = input ? input.getDefiningOp<onnx::SequenceOp>() : nullptr;
  if (!sequence)
    return node.unsupported("input " + Twine(i) +
                            " is not a sequence whose "
                            "elements are known when compiling");
  return sequence;
}

/// Returns the tensor whose rows are the elements of the sequence in input i,
/// or null.
static Value rowsOf(Node &node, size_t i) {
  Value input = node.input(i);
  auto rows = input ? input.getDefiningOp<onnx::RowsOp>() : nullptr;
  return rows ? rows.getTensor() : Value();
}

/// Returns the tensor whose rows are the elements of input 0. If input `place`
/// is computed, a list of tensors of one type becomes such a tensor.
static Value rowsToFind(Node &node, size_t place) {
  auto list = node.has(0) ? node.input(0).getDefiningOp<onnx::SequenceOp>()
                          : nullptr;
  if (!list)
    return rowsOf(node, 0);
  if (!node.has(place) || node.getConstantInts(place))
    return {};
  return rowsOfList(node, list, node.op);
}

static LogicalResult replaceByRows(Node &node, Value rows) {
  OpBuilder builder(node.op);
  Value sequence = onnx::RowsOp::create(builder, node.loc(), rows);
  return node.replace(sequence);
}

static LogicalResult replaceBySequence(Node &node, ArrayRef<Value> elements) {
  // Use a separate builder, so that the op is not folded. The op is erased
  // after all uses are legalized.
  OpBuilder builder(node.op);
  Value sequence =
      onnx::SequenceOp::create(builder, node.loc(), ValueRange(elements));
  return node.replace(sequence);
}

//===----------------------------------------------------------------------===//
// Rows of a tensor
//===----------------------------------------------------------------------===//

static LogicalResult takeRow(Node &node, Value rows) {
  auto type = node.has(1) ? dyn_cast<RankedTensorType>(node.input(1).getType())
                          : RankedTensorType();
  if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
      !(type.getElementType().isInteger(32) ||
        type.getElementType().isInteger(64)))
    return node.invalid(kOnePosition);
  Value place = reshape(node, node.input(1), ArrayRef<int64_t>());
  auto row = node.infer<nn::GatherOp>(rows, place, /*axis=*/0);
  return failed(row) ? failure() : node.replace(*row);
}

/// Returns the position in input i among `count` elements, counted from the
/// front. It is at most `last`. If the input is left out, it is `last`.
static FailureOr<OpFoldResult> placeOf(Node &node, size_t i, OpFoldResult count,
                                       OpFoldResult last) {
  OpFoldResult zero = sizeAttr(node, 0), at = last;
  if (node.has(i)) {
    auto given = elementsOf(node, node.input(i));
    if (failed(given))
      return failure();
    if (given->size() != 1)
      return node.invalid(kOnePosition);
    at = given->front();
    auto known = getConstantIntValue(at);
    if (!known)
      at = Indices{node.builder, node.loc()}.wrap(indexValue(node, at),
                                                  indexValue(node, count));
    else if (*known < 0)
      at = addSizes(node, count, at);
  }
  if (failed(requireFit(node, nn::SizeRelation::atLeast, at, zero,
                        "the position, {0} once counted from the first "
                        "element on, is in front of the sequence")) ||
      failed(requireFit(node, nn::SizeRelation::atLeast, last, at,
                        "position {1} of the sequence can be at most {0}")))
    return failure();
  return at;
}

/// Takes `count` rows from `from` on.
static Value someRows(Node &node, Value rows, OpFoldResult from,
                      OpFoldResult count) {
  Sizes sizes = sizesOf(node, rows), starts(sizes.size(), sizeAttr(node, 0));
  starts[0] = from;
  sizes[0] = count;
  return takePart(node, rows, starts, sizes);
}

static LogicalResult insertRow(Node &node, Value rows) {
  RankedTensorType type = typeOf(rows), element = typeOf(node.input(1));
  if (type.getRank() != element.getRank() + 1 ||
      type.getElementType() != element.getElementType())
    return node.unsupported("an element of another rank or type than those in "
                            "a sequence of which only the run knows the "
                            "length");
  OpFoldResult count = sizeOf(node, rows, 0);
  SmallVector<Value> parts = {rows, unsqueeze(node, node.input(1), {0})};
  if (node.has(2)) {
    auto at = placeOf(node, 2, count, count);
    if (failed(at))
      return failure();
    parts[0] = someRows(node, rows, sizeAttr(node, 0), *at);
    parts.push_back(someRows(node, rows, *at, subSizes(node, count, *at)));
  }
  Value all = concat(node, parts, 0);
  return all ? replaceByRows(node, all) : failure();
}

static LogicalResult requireElement(Node &node, Value rows) {
  return requireFit(node, nn::SizeRelation::atLeast, sizeOf(node, rows, 0),
                    sizeAttr(node, 1),
                    "the sequence has {0} elements, but needs {1}");
}

static LogicalResult eraseRow(Node &node, Value rows) {
  if (failed(requireElement(node, rows)))
    return failure();
  OpFoldResult count = sizeOf(node, rows, 0), one = sizeAttr(node, 1);
  OpFoldResult last = subSizes(node, count, one);
  auto at = placeOf(node, 1, count, last);
  if (failed(at))
    return failure();
  Value left = someRows(node, rows, sizeAttr(node, 0), *at);
  if (node.has(1)) {
    Value behind = someRows(node, rows, addSizes(node, *at, one),
                            subSizes(node, last, *at));
    left = concat(node, {left, behind}, 0);
  }
  return left ? replaceByRows(node, left) : failure();
}

//===----------------------------------------------------------------------===//
// Sequences
//===----------------------------------------------------------------------===//

/// Returns the position in input i, or `otherwise` if the input is left out.
static FailureOr<int64_t> positionOf(Node &node, size_t i, int64_t count,
                                     int64_t otherwise) {
  int64_t at = otherwise;
  if (node.has(i)) {
    auto known = node.getConstantInts(i);
    if (!known || known->size() != 1)
      return node.unsupported("a computed position in a sequence");
    at = known->front();
  }
  if (at < -count || at >= count)
    return count == 0 ? node.badElement("position", std::nullopt, Twine(at),
                                        "left out: the sequence is empty")
                      : node.badElement("position", std::nullopt, Twine(at),
                                        nn::describeRange(
                                            nn::positionsOf(count)));
  return at < 0 ? at + count : at;
}

static LogicalResult legalizeConstruct(Node &node) {
  SmallVector<Value> elements;
  for (size_t i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.invalid("input " + Twine(i) + " is missing");
    if (node.elementType(i) != node.elementType(0))
      return node.invalid("elements have several types");
    elements.push_back(node.input(i));
  }
  return replaceBySequence(node, elements);
}

static LogicalResult legalizeEmpty(Node &node) {
  return replaceBySequence(node, {});
}

static LogicalResult legalizeAt(Node &node) {
  if (Value rows = rowsToFind(node, 1))
    return takeRow(node, rows);
  auto sequence = sequenceOf(node, 0);
  if (failed(sequence))
    return failure();
  auto elements = sequence->getElements();
  auto at = positionOf(node, 1, elements.size(), 0);
  if (failed(at))
    return failure();
  return node.replace(elements[*at]);
}

static LogicalResult legalizeInsert(Node &node) {
  if (!node.has(1) || !isa<RankedTensorType>(node.input(1).getType()))
    return node.invalid("the element is not a tensor");
  if (Value rows = rowsToFind(node, 2))
    return insertRow(node, rows);
  auto sequence = sequenceOf(node, 0);
  if (failed(sequence))
    return failure();
  SmallVector<Value> elements(sequence->getElements());
  int64_t count = elements.size();
  int64_t place = count;
  if (node.has(2)) {
    auto known = node.getConstantInts(2);
    if (!known || known->size() != 1)
      return node.unsupported("a computed position in a sequence");
    place = known->front();
    // The position may be behind the last element.
    if (place < -count || place > count)
      return node.badElement("position", std::nullopt, Twine(place),
                             nn::describeRange({-count, count}));
    place = place < 0 ? place + count : place;
  }
  elements.insert(elements.begin() + place, node.input(1));
  return replaceBySequence(node, elements);
}

static LogicalResult legalizeErase(Node &node) {
  if (Value rows = rowsToFind(node, 1))
    return eraseRow(node, rows);
  auto sequence = sequenceOf(node, 0);
  if (failed(sequence))
    return failure();
  SmallVector<Value> elements(sequence->getElements());
  auto at = positionOf(node, 1, elements.size(), int64_t(elements.size()) - 1);
  if (failed(at))
    return failure();
  elements.erase(elements.begin() + *at);
  return replaceBySequence(node, elements);
}

static LogicalResult legalizeLength(Node &node) {
  if (Value rows = rowsOf(node, 0))
    return node.replace(reshape(node,
                                fromSizes(node, {sizeOf(node, rows, 0)}),
                                ArrayRef<int64_t>()));
  auto sequence = sequenceOf(node, 0);
  if (failed(sequence))
    return failure();
  return node.replace(
      intConstant(node, int64_t(sequence->getElements().size()), {}));
}

/// Returns the part sizes listed in input 1. The length of the list must be
/// static.
static FailureOr<Sizes> listedParts(Node &node, int64_t axis) {
  FailureOr<Sizes> parts = elementsOf(node, node.input(1));
  if (failed(parts))
    return failure();
  OpFoldResult whole = sizeOf(node, node.input(0), axis);
  std::optional<int64_t> sum = 0, size = getConstantIntValue(whole);
  for (auto [i, part] : llvm::enumerate(*parts)) {
    auto known = getConstantIntValue(part);
    if (known && *known < 0)
      return node.badElement("split", i, Twine(*known), "at least 0");
    if (!known || (sum && llvm::AddOverflow(*sum, *known, *sum)))
      sum = std::nullopt;
  }
  if (sum && size && *sum != *size)
    return node.invalid("'split' adds up to " + Twine(*sum) + " of " +
                        Twine(*size) + " elements");
  if (!sum || !size)
    requireSum(node, *parts, whole);
  return parts;
}

/// Splits the dimension into parts of `part` elements and the rest.
static FailureOr<Sizes> equalParts(Node &node, int64_t axis) {
  int64_t size = node.shape(0)[axis], part = 1;
  if (node.has(1)) {
    auto given = node.getConstantInts(1);
    if (!given)
      return node.unsupported("a computed size of parts, so that only the run "
                              "knows how many there are");
    part = given->front();
  }
  if (part < 1)
    return node.badElement("split", std::nullopt, Twine(part), "at least 1");
  if (ShapedType::isDynamic(size))
    return node.unsupported("a dynamic dimension is split; fix it with "
                            "--shape");
  if (size / part > kMaxParts)
    return node.unsupported("more than " + Twine(kMaxParts) + " parts");
  Sizes parts;
  for (int64_t left = size; left > 0; left -= part)
    parts.push_back(sizeAttr(node, std::min(left, part)));
  return parts;
}

/// Returns true if a dynamic dimension is split into parts of one element.
static bool isSplitIntoRows(Node &node, int64_t axis) {
  if (!ShapedType::isDynamic(node.shape(0)[axis]))
    return false;
  auto parts = node.getConstantInts(1);
  return !node.has(1) ||
         (node.rank(1) == 0 && parts && parts->front() == 1);
}

/// Legalizes SplitToSequence. Without given sizes, each part is one element of
/// the axis, and the axis is removed unless keepdims is set.
static LogicalResult legalizeSplitToSequence(Node &node) {
  auto axis = node.normalizeAxis(node.getInt("axis", 0), node.rank(0));
  if (failed(axis))
    return failure();
  if (isSplitIntoRows(node, *axis)) {
    Value rows = moveAxis(node, node.input(0), *axis, 0);
    if (node.has(1) || node.getInt("keepdims", 1) != 0)
      rows = unsqueeze(node, rows, {*axis + 1});
    return replaceByRows(node, rows);
  }
  bool isList = node.has(1) && node.rank(1) > 0;
  FailureOr<Sizes> parts =
      isList ? listedParts(node, *axis) : equalParts(node, *axis);
  if (failed(parts))
    return failure();
  SmallVector<Value> elements;
  if (auto known = getConstantIntValues(*parts)) {
    int64_t start = 0;
    for (int64_t part : *known) {
      elements.push_back(
          sliceAxis(node, node.input(0), *axis, part ? start : 0, part));
      start += part;
    }
  } else {
    elements = takeParts(node, *axis, *parts);
  }
  if (!node.has(1) && node.getInt("keepdims", 1) == 0)
    for (Value &element : elements) {
      Sizes sizes = sizesOf(node, element);
      sizes.erase(sizes.begin() + *axis);
      element = reshape(node, element, sizes);
    }
  return replaceBySequence(node, elements);
}

/// Concatenates rows along an existing axis or a new axis.
static LogicalResult concatRows(Node &node, Value rows) {
  int64_t rank = typeOf(rows).getRank() - 1;
  bool isNew = node.getInt("new_axis", 0) != 0;
  auto axis = node.normalizeAxis(node.getInt("axis", 0), rank + isNew);
  if (failed(axis) || failed(requireElement(node, rows)))
    return failure();
  Value all = moveAxis(node, rows, 0, *axis);
  if (isNew)
    return node.replace(all);
  Sizes sizes = sizesOf(node, all);
  sizes[*axis] = mulSizes(node, sizes[*axis], sizes[*axis + 1]);
  sizes.erase(sizes.begin() + *axis + 1);
  return node.replace(reshape(node, all, sizes));
}

static LogicalResult legalizeConcatFromSequence(Node &node) {
  if (Value rows = rowsOf(node, 0))
    return concatRows(node, rows);
  auto sequence = sequenceOf(node, 0);
  if (failed(sequence))
    return failure();
  SmallVector<Value> elements(sequence->getElements());
  if (elements.empty())
    return node.invalid("the sequence is empty");
  bool isNew = node.getInt("new_axis", 0) != 0;
  auto axis = node.normalizeAxis(node.getInt("axis", 0),
                                 typeOf(elements[0]).getRank() + isNew);
  if (failed(axis))
    return failure();
  int64_t rank = typeOf(elements[0]).getRank();
  for (Value element : elements)
    if (typeOf(element).getRank() != rank)
      return node.invalid("elements have several ranks");
  Value all = isNew ? joinRows(node, elements, *axis)
                    : concat(node, elements, *axis);
  if (!all)
    return failure();
  return node.replace(all);
}

//===----------------------------------------------------------------------===//
// Optionals
//===----------------------------------------------------------------------===//

static LogicalResult legalizeOptional(Node &node) {
  if (node.has(0))
    return node.replace(node.input(0));
  OpBuilder builder(node.op);
  Value absent =
      onnx::AbsentOp::create(builder, node.loc(), builder.getNoneType());
  return node.replace(absent);
}

/// Returns true if input 0 is an optional whose presence is known at run time
/// only.
static bool isUnknownOptional(Node &node) {
  Value value = node.has(0) ? node.input(0) : Value();
  return value && isa<onnx::OpaqueType>(value.getType()) &&
         !value.getDefiningOp<onnx::SequenceOp>();
}

static LogicalResult legalizeHasElement(Node &node) {
  if (isUnknownOptional(node))
    return node.unsupported("an optional that only the run knows");
  return node.replace(nn::makeConstant(
      node.builder, node.loc(),
      RankedTensorType::get({}, node.builder.getI1Type()),
      {node.has(0) ? 1.0 : 0.0}));
}

static LogicalResult legalizeGetElement(Node &node) {
  if (isUnknownOptional(node))
    return node.unsupported("an optional that only the run knows");
  if (!node.has(0))
    return node.invalid("the optional has no element");
  return node.replace(node.input(0));
}

void legalize::populateSequences(Legalizers &legalizers) {
  legalizers.add("ConcatFromSequence", legalizeConcatFromSequence);
  legalizers.add("Optional", legalizeOptional);
  legalizers.add("OptionalGetElement", legalizeGetElement);
  legalizers.add("OptionalHasElement", legalizeHasElement);
  legalizers.add("SequenceAt", legalizeAt);
  legalizers.add("SequenceConstruct", legalizeConstruct);
  legalizers.add("SequenceEmpty", legalizeEmpty);
  legalizers.add("SequenceErase", legalizeErase);
  legalizers.add("SequenceInsert", legalizeInsert);
  legalizers.add("SequenceLength", legalizeLength);
  legalizers.add("SplitToSequence", legalizeSplitToSequence);
}
