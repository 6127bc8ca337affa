//===- Einsum.cpp - Einsum ------------------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/legalize/core/Helpers.h"
#include "passes/support/Thresholds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::legalize;

namespace {

/// A parsed equation. A label is a letter, or (char)(1…n) for a dimension of an
/// ellipsis.
struct Equation {
  SmallVector<SmallVector<char>> inputs;
  SmallVector<char> output;
};

} // namespace

/// Returns labels for an ellipsis. They count from the right, because numpy
/// aligns dimensions at the right.
static SmallVector<char> ellipsisLabels(int64_t count) {
  SmallVector<char> labels;
  for (int64_t i = count; i > 0; --i)
    labels.push_back(char(i));
  return labels;
}

static FailureOr<SmallVector<char>> parseTerm(Node &node, StringRef term,
                                              int64_t ellipsis) {
  SmallVector<char> labels;
  bool sawEllipsis = false;
  while (!term.empty()) {
    if (!sawEllipsis && term.consume_front("...")) {
      llvm::append_range(labels, ellipsisLabels(ellipsis));
      sawEllipsis = true;
      continue;
    }
    if (!llvm::isAlpha(term.front()))
      return node.invalid("the equation has a term with '" +
                          Twine(term.front()) + "'");
    labels.push_back(term.front());
    term = term.drop_front();
  }
  return labels;
}

static FailureOr<Equation> parseEquation(Node &node) {
  std::string text;
  for (char c : node.getString("equation", ""))
    if (c != ' ')
      text.push_back(c);
  size_t arrow = text.find("->");
  StringRef left = StringRef(text).take_front(arrow);
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != node.numInputs())
    return node.invalid("the equation has " + Twine(terms.size()) +
                        " terms for " + Twine(node.numInputs()) + " inputs");
  Equation equation;
  int64_t widest = 0;
  for (auto [i, term] : llvm::enumerate(terms)) {
    bool hasEllipsis = term.contains("...");
    int64_t letters = term.size() - (hasEllipsis ? 3 : 0);
    int64_t ellipsis = node.rank(i) - letters;
    if (ellipsis < 0 || (!hasEllipsis && ellipsis != 0) || ellipsis > 30)
      return node.invalid("term '" + term + "' does not fit input " + Twine(i) +
                          " of rank " + Twine(node.rank(i)));
    widest = std::max(widest, hasEllipsis ? ellipsis : 0);
    auto labels = parseTerm(node, term, ellipsis);
    if (failed(labels))
      return failure();
    equation.inputs.push_back(*labels);
  }
  if (arrow != std::string::npos) {
    auto labels =
        parseTerm(node, StringRef(text).drop_front(arrow + 2), widest);
    if (failed(labels))
      return failure();
    equation.output = *labels;
    return equation;
  }
  // Without an output term, uses the ellipsis, followed by the labels that
  // occur once, sorted.
  equation.output = ellipsisLabels(widest);
  std::string letters;
  for (ArrayRef<char> labels : equation.inputs)
    letters.append(labels.begin(), labels.end());
  llvm::sort(letters);
  for (char label : letters)
    if (llvm::isAlpha(label) && llvm::count(letters, label) == 1)
      equation.output.push_back(label);
  return equation;
}

static bool hasDuplicates(ArrayRef<char> labels) {
  for (size_t i = 0; i < labels.size(); ++i)
    if (llvm::is_contained(labels.drop_front(i + 1), labels[i]))
      return true;
  return false;
}

/// Returns all labels, output labels first.
static SmallVector<char> labelsOf(const Equation &equation) {
  SmallVector<char> labels(equation.output);
  for (ArrayRef<char> term : equation.inputs)
    for (char label : term)
      if (!llvm::is_contained(labels, label))
        labels.push_back(label);
  return labels;
}

/// Writes the contraction of two operands as a matrix product between
/// transposes. A label must be in both operands (batched or contracted), or in
/// one operand and the result. Returns null if another label exists.
static Value asMatMul(Node &node, const Equation &equation, Value a, Value b,
                      llvm::function_ref<OpFoldResult(char)> sizeOfLabel) {
  ArrayRef<char> la = equation.inputs[0], lb = equation.inputs[1];
  if (hasDuplicates(la) || hasDuplicates(lb))
    return {};
  SmallVector<char> batch, rows, inner, columns;
  auto isOut = [&](char label) {
    return llvm::is_contained(equation.output, label);
  };
  auto full = [&](char label, Value value, ArrayRef<char> labels) {
    int64_t dim = typeOf(value).getDimSize(llvm::find(labels, label) -
                                           labels.begin());
    auto size = getConstantIntValue(sizeOfLabel(label));
    return size ? dim == *size : ShapedType::isDynamic(dim);
  };
  for (char label : la) {
    if (!full(label, a, la))
      return {};
    if (llvm::is_contained(lb, label))
      (isOut(label) ? batch : inner).push_back(label);
    else if (isOut(label))
      rows.push_back(label);
    else
      return {};
  }
  for (char label : lb) {
    if (!full(label, b, lb))
      return {};
    if (llvm::is_contained(la, label))
      continue;
    if (!isOut(label))
      return {};
    columns.push_back(label);
  }
  if (inner.empty())
    return {};
  auto product = [&](ArrayRef<char> labels) {
    OpFoldResult size = sizeAttr(node, 1);
    for (char label : labels)
      size = mulSizes(node, size, sizeOfLabel(label));
    return size;
  };
  auto matrix = [&](Value value, ArrayRef<char> labels, ArrayRef<char> first,
                    ArrayRef<char> second) {
    SmallVector<int64_t> perm;
    Sizes sizes;
    for (ArrayRef<char> group : {ArrayRef<char>(batch), first, second})
      for (char label : group)
        perm.push_back(llvm::find(labels, label) - labels.begin());
    for (char label : batch)
      sizes.push_back(sizeOfLabel(label));
    sizes.append({product(first), product(second)});
    return reshape(node, transpose(node, value, perm), sizes);
  };
  auto y = node.infer<nn::MatMulOp>(matrix(a, la, rows, inner),
                                    matrix(b, lb, inner, columns),
                                    /*bias=*/Value(), false, false);
  if (failed(y))
    return {};
  SmallVector<char> order(batch);
  order.append(rows);
  order.append(columns);
  Sizes sizes;
  for (char label : order)
    sizes.push_back(sizeOfLabel(label));
  SmallVector<int64_t> perm;
  for (char label : equation.output)
    perm.push_back(llvm::find(order, label) - order.begin());
  return transpose(node, reshape(node, *y, sizes), perm);
}

/// Writes any contraction as one loop nest over all labels.
static Value asGeneric(Node &node, const Equation &equation,
                       ArrayRef<Value> operands,
                       llvm::function_ref<OpFoldResult(char)> sizeOfLabel) {
  SmallVector<char> labels = labelsOf(equation);
  OpBuilder &builder = node.builder;
  Type type = typeOf(operands[0]).getElementType();
  auto dimOf = [&](char label) {
    return builder.getAffineDimExpr(llvm::find(labels, label) - labels.begin());
  };
  SmallVector<AffineMap> maps;
  for (auto [operand, term] : llvm::zip_equal(operands, equation.inputs)) {
    SmallVector<AffineExpr> exprs;
    for (auto [i, label] : llvm::enumerate(term)) {
      auto size = getConstantIntValue(sizeOfLabel(label));
      bool repeats = typeOf(operand).getDimSize(i) == 1 && size != 1;
      exprs.push_back(repeats ? builder.getAffineConstantExpr(0)
                              : dimOf(label));
    }
    maps.push_back(
        AffineMap::get(labels.size(), 0, exprs, builder.getContext()));
  }
  SmallVector<AffineExpr> exprs;
  Sizes sizes;
  for (char label : equation.output) {
    exprs.push_back(dimOf(label));
    sizes.push_back(sizeOfLabel(label));
  }
  maps.push_back(AffineMap::get(labels.size(), 0, exprs, builder.getContext()));
  SmallVector<utils::IteratorType> iterators;
  for (char label : labels)
    iterators.push_back(llvm::is_contained(equation.output, label)
                            ? utils::IteratorType::parallel
                            : utils::IteratorType::reduction);
  // Initialize the result only if there is a sum. A loop nest that initializes
  // and reads its output must not run twice, but fusion into a broadcast would
  // run it twice.
  bool sums = llvm::is_contained(iterators, utils::IteratorType::reduction);
  Value init = tensor::EmptyOp::create(builder, node.loc(), sizes, type);
  if (sums) {
    Value zero = arith::ConstantOp::create(builder, node.loc(),
                                           builder.getZeroAttr(type));
    init = linalg::FillOp::create(builder, node.loc(), zero, init).getResult(0);
  }
  bool isFloat = isa<FloatType>(type);
  auto generic = linalg::GenericOp::create(
      builder, node.loc(), TypeRange(init.getType()), operands,
      ValueRange(init), maps, iterators,
      [&](OpBuilder &b, Location loc, ValueRange args) {
        Value result = args[0];
        for (Value arg : args.drop_front().drop_back())
          result = isFloat
                       ? arith::MulFOp::create(b, loc, result, arg).getResult()
                       : arith::MulIOp::create(b, loc, result, arg).getResult();
        if (sums)
          result = isFloat ? arith::AddFOp::create(b, loc, args.back(), result)
                                 .getResult()
                           : arith::AddIOp::create(b, loc, args.back(), result)
                                 .getResult();
        linalg::YieldOp::create(b, loc, result);
      });
  return generic.getResult(0);
}

/// Returns the equation that contracts operands i and j. It sums over labels
/// that no other operand and no output has.
static Equation pairOf(const Equation &equation, size_t i, size_t j) {
  Equation pair{{equation.inputs[i], equation.inputs[j]}, {}};
  for (char label : labelsOf(pair)) {
    bool isNeeded = llvm::is_contained(equation.output, label);
    for (auto [k, term] : llvm::enumerate(equation.inputs))
      isNeeded |= k != i && k != j && llvm::is_contained(term, label);
    if (isNeeded)
      pair.output.push_back(label);
  }
  return pair;
}

/// Contracts two operands at a time, starting with the pair that has the least
/// work. One loop nest over all operands would be slower, because it would
/// iterate over every label.
static Value contract(Node &node, Equation equation,
                      SmallVector<Value> operands,
                      llvm::function_ref<OpFoldResult(char)> sizeOfLabel) {
  auto workOf = [&](const Equation &pair) {
    double work = 1;
    for (char label : labelsOf(pair)) {
      auto size = getConstantIntValue(sizeOfLabel(label));
      work *= double(size.value_or(threshold::openSize));
    }
    return work;
  };
  bool isFloat = isa<FloatType>(typeOf(operands[0]).getElementType());
  auto compute = [&](const Equation &equation, ArrayRef<Value> operands) {
    // Uses no matrix product for integers of more than two operands, because
    // its element type may differ.
    if (operands.size() == 2 && (isFloat || node.numInputs() == 2))
      if (Value y = asMatMul(node, equation, operands[0], operands[1],
                             sizeOfLabel))
        return y;
    return asGeneric(node, equation, operands, sizeOfLabel);
  };
  while (operands.size() > 2) {
    size_t first = 0, second = 1;
    Equation best = pairOf(equation, first, second);
    for (size_t i = 0; i < operands.size(); ++i)
      for (size_t j = i + 1; j < operands.size(); ++j) {
        Equation pair = pairOf(equation, i, j);
        if (workOf(pair) < workOf(best))
          std::tie(first, second, best) = std::tuple(i, j, pair);
      }
    operands[first] = compute(best, {operands[first], operands[second]});
    operands.erase(operands.begin() + second);
    equation.inputs[first] = best.output;
    equation.inputs.erase(equation.inputs.begin() + second);
  }
  return compute(equation, operands);
}

static LogicalResult legalizeEinsum(Node &node) {
  SmallVector<Value> operands;
  for (size_t i = 0; i < node.numInputs(); ++i) {
    if (!node.has(i))
      return node.invalid("input " + Twine(i) + " is left out");
    operands.push_back(node.input(i));
  }
  auto equation = parseEquation(node);
  if (failed(equation))
    return failure();
  if (hasDuplicates(equation->output))
    return node.invalid("a label occurs twice in the output term");

  // Sizes of the labels. A size of 1 is replaced by another size.
  llvm::DenseMap<char, OpFoldResult> sizes;
  for (auto [operand, term] : llvm::zip_equal(operands, equation->inputs)) {
    for (auto [i, label] : llvm::enumerate(term)) {
      int64_t size = typeOf(operand).getDimSize(i);
      auto [it, isNew] = sizes.try_emplace(label);
      auto known = isNew ? std::optional<int64_t>(1)
                         : getConstantIntValue(it->second);
      if (isNew || known == 1 ||
          (!known && size != 1 && !ShapedType::isDynamic(size)))
        it->second = sizeOf(node, operand, i);
      else if (known && size != 1 && !ShapedType::isDynamic(size) &&
               size != *known)
        return node.invalid("a label stands for " + Twine(*known) + " and " +
                            Twine(size) + " elements");
    }
  }
  for (char label : equation->output)
    if (!sizes.count(label))
      return node.invalid("the output term has a label that no input has");
  auto sizeOfLabel = [&](char label) { return sizes[label]; };
  // Broadcast only sizes that are known to be 1. A dynamic size cannot
  // broadcast, because this would need other loops.
  for (auto [operand, term] : llvm::zip_equal(operands, equation->inputs))
    for (auto [i, label] : llvm::enumerate(term))
      if (typeOf(operand).getDimSize(i) != 1 &&
          failed(requireFit(node, nn::SizeRelation::equal,
                            sizeOf(node, operand, i), sizeOfLabel(label),
                            Twine("label '") + Twine(label) +
                                "' stands for {0} and {1} elements")))
        return failure();

  Type type = node.elementType(0);
  // Converts to signless integers, which arith ops need.
  auto intType = dyn_cast<IntegerType>(type);
  if (intType && intType.isUnsigned())
    for (Value &operand : operands)
      operand = castTo(node, operand,
                       node.builder.getIntegerType(intType.getWidth()));
  Value y = contract(node, *equation, operands, sizeOfLabel);
  return node.replace(castTo(node, y, type));
}

void legalize::populateEinsum(Legalizers &legalizers) {
  legalizers.add("Einsum", legalizeEinsum);
}
