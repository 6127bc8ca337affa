//===- SizeAnalysis.cpp - symbolic sizes ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/DimNames.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/SizeSymbols.h"
#include "passes/shape/RunRules.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::shape;
using namespace ingot::support;
using nn::SizeRelation;

//===----------------------------------------------------------------------===//
// Symbols
//===----------------------------------------------------------------------===//

Size SizeAnalysis::newSymbol(Symbol symbol) {
  bool isComputed = symbol.value && symbol.dim < 0 && !isCount(symbol.value);
  auto &table = isComputed ? computed : symbols;
  unsigned position = table.size() + (isComputed ? nn::kFirstComputed : 0);
  table.push_back(std::move(symbol));
  return getAffineSymbolExpr(position, context);
}

SizeAnalysis::Symbol &SizeAnalysis::lookup(AffineSymbolExpr symbol) {
  unsigned position = symbol.getPosition();
  return position < nn::kFirstComputed
             ? symbols[position]
             : computed[position - nn::kFirstComputed];
}

Size SizeAnalysis::symbolOf(Value value, int64_t dim) {
  if (Size known = symbolOfDim.lookup({value, dim}))
    return known;
  // The call also adds symbols of operands, so a reference into the map would
  // be invalid.
  Size size = newSymbol({value, dim, {}, {}, {}});
  symbolOfDim[{value, dim}] = size;
  return size;
}

Size SizeAnalysis::broadcastOf(Size a, Size b) {
  Size &size = symbolOfBroadcast[{a, b}];
  if (!size) {
    SmallVector<Size, 2> parts = partsOf(a);
    for (Size part : partsOf(b))
      if (!llvm::is_contained(parts, part))
        parts.push_back(part);
    size = newSymbol({Value(), -1, {a, b}, std::move(parts), {}});
  }
  return size;
}

bool SizeAnalysis::isCutOf(Size cut, Size whole) {
  auto position = dyn_cast<AffineSymbolExpr>(cut);
  if (!position)
    return false;
  const Symbol &symbol = lookup(position);
  Value before = symbol.value && symbol.dim < 0
                     ? support::sizeBeforeCut(symbol.value)
                     : Value();
  return before && sizeOfIndex(before) == whole;
}

SmallVector<Size, 2> SizeAnalysis::partsOf(Size size) const {
  if (auto position = dyn_cast<AffineSymbolExpr>(size)) {
    const Symbol &symbol = lookup(position);
    if (!symbol.value)
      return symbol.parts;
  }
  return {size};
}

Size SizeAnalysis::simplify(Size size) const {
  if (!size || equals.empty() || isa<AffineConstantExpr>(size))
    return size;
  return size.replace(equals);
}

SizeAnalysis::SizeAnalysis(func::FuncOp function)
    : context(function.getContext()) {
  llvm::StringMap<Size> named;
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      continue;
    auto names = function.getArgAttrOfType<ArrayAttr>(
        argument.getArgNumber(),
        IngotDialect::DimNamesAttrHelper::getNameStr());
    auto name = function.getArgAttrOfType<StringAttr>(
        argument.getArgNumber(), IngotDialect::NameAttrHelper::getNameStr());
    Sizes sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      if (!type.isDynamicDim(i)) {
        sizes.push_back(constant(type.getDimSize(i)));
        continue;
      }
      sizes.push_back(symbolOf(argument, i));
      StringRef dimName;
      if (names && i < int64_t(names.size()))
        dimName = cast<StringAttr>(names[i]).getValue();
      if (dimName.empty())
        continue;
      Size &first = named[dimName];
      if (!first) {
        first = sizes.back();
        continue;
      }
      std::string input = name ? ("input '" + name.getValue() + "'").str()
                               : "an input";
      argumentRules.push_back({SizeRelation::equal, sizes.back(), first,
                               input + ": dimension " + std::to_string(i) +
                                   " ('" + plainDimName(dimName).str() +
                                   "') is {0}, but {1} elsewhere"});
      sizes.back() = first;
    }
    known[argument] = std::move(sizes);
  }
}

//===----------------------------------------------------------------------===//
// Sizes of values
//===----------------------------------------------------------------------===//

ArrayRef<Size> SizeAnalysis::sizesOf(Value tensor) {
  auto found = known.find(tensor);
  if (found != known.end()) {
    for (Size &size : found->second)
      size = simplify(size);
    return found->second;
  }
  auto type = cast<RankedTensorType>(tensor.getType());
  Sizes sizes;
  for (int64_t i = 0; i < type.getRank(); ++i)
    sizes.push_back(type.isDynamicDim(i)
                        ? simplify(symbolOf(tensor, i))
                        : constant(type.getDimSize(i)));
  return known[tensor] = std::move(sizes);
}

Size SizeAnalysis::sizeOfIndex(Value index, unsigned depth) {
  auto found = knownIndices.find(index);
  if (found == knownIndices.end())
    found = knownIndices.try_emplace(index, expressionOf(index, depth)).first;
  return found->second = simplify(found->second);
}

/// Limit of ops to look through. Indices beyond it become symbols.
static constexpr unsigned kMaxDepth = 64;

bool SizeAnalysis::isCount(Value index) {
  Operation *op = index.getDefiningOp();
  auto isNotNegative = [&](unsigned i) {
    return nn::decide(SizeRelation::atLeast, sizeOfIndex(op->getOperand(i)),
                      constant(0)) == true;
  };
  if (isa_and_nonnull<arith::MaxSIOp>(op))
    return isNotNegative(0) || isNotNegative(1);
  if (isa_and_nonnull<arith::MinSIOp>(op))
    return isNotNegative(0) && isNotNegative(1);
  return isa_and_nonnull<arith::SelectOp>(op) && isNotNegative(1) &&
         isNotNegative(2);
}

Size SizeAnalysis::expressionOf(Value index, unsigned depth) {
  if (auto number = getConstantIntValue(index))
    return constant(*number);
  Operation *op = index.getDefiningOp();
  if (auto dim = dyn_cast_or_null<tensor::DimOp>(op))
    if (auto at = dim.getConstantIndex();
        at && *at < cast<RankedTensorType>(dim.getSource().getType()).getRank())
      return sizesOf(dim.getSource())[*at];
  if (auto apply = dyn_cast_or_null<affine::AffineApplyOp>(op)) {
    AffineMap map = apply.getAffineMap();
    // Size rules do not support rounding up.
    bool roundsUp = false;
    map.walkExprs([&](AffineExpr expr) {
      roundsUp |= expr.getKind() == AffineExprKind::CeilDiv;
    });
    if (roundsUp)
      return symbolOf(index, -1);
    SmallVector<AffineExpr> operands;
    for (Value operand : apply.getMapOperands())
      operands.push_back(sizeOfIndex(operand, depth));
    return map.getResult(0).replaceDimsAndSymbols(
        ArrayRef(operands).take_front(map.getNumDims()),
        ArrayRef(operands).drop_front(map.getNumDims()));
  }
  // Simplifies a maximum that keeps a count, e.g. of a range, from being
  // negative.
  if (auto max = dyn_cast_or_null<arith::MaxSIOp>(op)) {
    Size a = sizeOfIndex(max.getLhs(), depth),
         b = sizeOfIndex(max.getRhs(), depth);
    if (nn::decide(SizeRelation::atLeast, a, b) == true)
      return a;
    if (nn::decide(SizeRelation::atLeast, b, a) == true)
      return b;
  }
  // Ops are visited in program order, so operands that are sums and products of
  // sizes are known. Hence the recursion is not deep.
  if (op && depth < kMaxDepth &&
      isa<arith::AddIOp, arith::SubIOp, arith::MulIOp, arith::DivSIOp,
          arith::DivUIOp, arith::FloorDivSIOp>(op)) {
    Size a = sizeOfIndex(op->getOperand(0), depth + 1),
         b = sizeOfIndex(op->getOperand(1), depth + 1);
    auto number = nn::knownSize(b);
    if (isa<arith::AddIOp>(op))
      return a + b;
    if (isa<arith::SubIOp>(op))
      return a - b;
    if (isa<arith::MulIOp>(op))
      return a * b;
    // For a dividend that is not negative, division toward zero is floor
    // division.
    bool isCount = nn::decide(SizeRelation::atLeast, a, constant(0)) == true;
    if (number && *number > 0 && (isCount || isa<arith::FloorDivSIOp>(op)))
      return a.floorDiv(*number);
  }
  return symbolOf(index, -1);
}

/// Returns the message for a result whose size differs from its type.
static std::string statedMessage(int64_t dim) {
  return "dimension " + std::to_string(dim) +
         " of the result is {0}, but {1} was inferred";
}

LogicalResult SizeAnalysis::addResults(Operation *op,
                                       SmallVectorImpl<Rule> &open) {
  SmallVector<nn::SizedType> sized;
  RunRules rules(*this, op->getLoc(), open);
  if (auto named = dyn_cast<nn::SizesOpInterface>(op)) {
    if (failed(named.inferSizes(rules, sized)))
      return failure();
  } else {
    sized.resize(op->getNumResults());
    if (failed(sizesOfStock(op, rules, sized)))
      return failure();
  }
  for (auto [result, inferred] : llvm::zip_equal(op->getResults(), sized)) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type)
      continue;
    bool isKnown = int64_t(inferred.sizes.size()) == type.getRank();
    Sizes sizes;
    for (int64_t i = 0; i < type.getRank(); ++i) {
      Size size = isKnown ? simplify(inferred.sizes[i]) : Size();
      if (!type.isDynamicDim(i)) {
        Size stated = constant(type.getDimSize(i));
        if (size && failed(rules.require(SizeRelation::equal, size, stated,
                                         statedMessage(i))))
          return failure();
        size = stated;
      }
      sizes.push_back(size ? size : symbolOf(result, i));
    }
    known[result] = std::move(sizes);
  }
  return success();
}

void SizeAnalysis::assume(const Rule &rule) {
  Size a = simplify(rule.a), b = simplify(rule.b);
  bool isEqual = rule.relation == SizeRelation::equal ||
                 (rule.relation == SizeRelation::broadcastTo &&
                  (isCutOf(a, b) || isCutOf(b, a)));
  if (!isEqual)
    return;
  if (!isa<AffineSymbolExpr>(a))
    std::swap(a, b);
  // A symbol cannot be replaced by an expression of itself.
  auto symbol = dyn_cast<AffineSymbolExpr>(a);
  if (!symbol || b.isFunctionOfSymbol(symbol.getPosition()))
    return;
  for (auto &[from, to] : equals)
    to = to.replace(a, b);
  equals[a] = b;
}

void SizeAnalysis::assume(RequireOp op) {
  auto compared = op.getHolds().getDefiningOp<arith::CmpIOp>();
  if (compared && compared.getPredicate() == arith::CmpIPredicate::eq &&
      compared.getLhs().getType().isIndex())
    assume({SizeRelation::equal, sizeOfIndex(compared.getLhs()),
            sizeOfIndex(compared.getRhs()), {}});
}

//===----------------------------------------------------------------------===//
// Sizes as values
//===----------------------------------------------------------------------===//

Value SizeAnalysis::materialize(OpBuilder &builder, Location loc, Size size) {
  if (auto constant = nn::knownSize(size))
    return arith::ConstantIndexOp::create(builder, loc, *constant);
  if (auto position = dyn_cast<AffineSymbolExpr>(size)) {
    Symbol symbol = lookup(position);
    if (symbol.made)
      return symbol.made;
    if (!symbol.value) {
      Value a = materialize(builder, loc, symbol.broadcast[0]),
            b = materialize(builder, loc, symbol.broadcast[1]);
      Value one = arith::ConstantIndexOp::create(builder, loc, 1);
      Value single = arith::CmpIOp::create(
          builder, loc, arith::CmpIPredicate::eq, a, one);
      Value made = arith::SelectOp::create(builder, loc, single, b, a);
      return lookup(position).made = made;
    }
    if (symbol.dim < 0)
      return symbol.value;
    return tensor::DimOp::create(builder, loc, symbol.value, symbol.dim);
  }
  auto binary = cast<AffineBinaryOpExpr>(size);
  Value a = materialize(builder, loc, binary.getLHS()),
        b = materialize(builder, loc, binary.getRHS());
  switch (size.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, a, b);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, a, b);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, a, b);
  case AffineExprKind::Mod:
    return arith::RemSIOp::create(builder, loc, a, b);
  default:
    llvm_unreachable("no rule rounds upwards");
  }
}

Operation *SizeAnalysis::lastSourceOf(Size size, Block &block) {
  Operation *last = nullptr;
  auto later = [&](Operation *op) {
    if (op && (!last || last->isBeforeInBlock(op)))
      last = op;
  };
  size.walk([&](AffineExpr part) {
    auto position = dyn_cast<AffineSymbolExpr>(part);
    if (!position)
      return;
    const Symbol &symbol = lookup(position);
    if (symbol.value) {
      Value value = symbol.value;
      Operation *source = value.getDefiningOp();
      if (!source)
        source = value.getParentBlock()->getParentOp();
      return later(block.findAncestorOpInBlock(*source));
    }
    for (Size side : symbol.broadcast)
      later(lastSourceOf(side, block));
  });
  return last;
}

Value SizeAnalysis::materializeInside(OpBuilder &builder, Location loc,
                                      Size size) {
  SmallVector<Value> made;
  for (Symbol &symbol : symbols)
    made.push_back(symbol.made);
  Value value = materialize(builder, loc, size);
  for (auto [symbol, before] : llvm::zip_equal(symbols, made))
    symbol.made = before;
  return value;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

bool shape::hasTensorBody(Operation *op) {
  return isa<scf::ForOp, scf::IfOp, scf::WhileOp>(op);
}

bool shape::isOfModel(Operation *op) {
  if (auto loop = dyn_cast<scf::ForOp>(op))
    return !loop.getBody()->getOps<PollOp>().empty();
  return isa<scf::IfOp, scf::WhileOp>(op);
}

/// Computes the sizes of an op's results, whether its rules hold or not.
void SizeAnalysis::visit(Operation *op) {
  SmallVector<Rule> rules;
  int64_t proved = numProved;
  {
    ScopedDiagnosticHandler silence(context,
                                    [](Diagnostic &) { return success(); });
    (void)addResults(op, rules);
  }
  numProved = proved;
  if (!hasTensorBody(op))
    return;
  addLoopState(op);
  for (Region &region : op->getRegions())
    for (Operation &inner : region.getOps())
      visit(&inner);
}

void SizeAnalysis::addLoopState(Operation *op) {
  auto loop = dyn_cast<scf::ForOp>(op);
  if (!loop)
    return;
  auto hasOpenSizes = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && !type.hasStaticShape();
  };
  if (llvm::none_of(loop.getInits(), hasOpenSizes))
    return;
  // Computes the sizes of a step for a state of arbitrary sizes.
  for (Operation &inner : loop.getBody()->without_terminator())
    visit(&inner);
  ValueRange next = loop.getYieldedValues();
  SmallVector<std::pair<unsigned, Sizes>> stays;
  for (auto [i, init] : llvm::enumerate(loop.getInits())) {
    if (!hasOpenSizes(init))
      continue;
    Value argument = loop.getRegionIterArg(i);
    Sizes before(sizesOf(argument)), after(sizesOf(next[i])),
        sizes(sizesOf(init));
    for (auto [size, from, to] : llvm::zip_equal(sizes, before, after))
      if (from != to)
        size = Size();
    stays.push_back({i, std::move(sizes)});
  }
  // Drops the computed sizes. They are then computed again with the sizes found
  // now.
  loop.getBody()->walk([&](Operation *inner) {
    for (Value result : inner->getResults()) {
      known.erase(result);
      knownIndices.erase(result);
    }
    for (Region &region : inner->getRegions())
      for (Value argument : region.getArguments())
        known.erase(argument);
  });
  for (auto &[i, sizes] : stays) {
    Value argument = loop.getRegionIterArg(i), result = loop.getResult(i);
    for (auto [value, kept] : {std::pair(argument, sizes), {result, sizes}}) {
      for (auto [dim, size] : llvm::enumerate(kept))
        if (!size)
          size = cast<RankedTensorType>(value.getType()).isDynamicDim(dim)
                     ? symbolOf(value, dim)
                     : constant(cast<RankedTensorType>(value.getType())
                                    .getDimSize(dim));
      known[value] = kept;
    }
  }
}
