//===- MergeKernels.cpp - merge-kernels -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/KernelOutline.h"
#include "passes/llvm/NumberTable.h"
#include "passes/llvm/Passes.h"
#include "passes/support/Thresholds.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/Hashing.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"

namespace ingot {
#define GEN_PASS_DEF_MERGEKERNELS
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using codegen::Column;
using codegen::CommonArgument;
using codegen::NumberTable;
using codegen::Outline;

namespace {

using Group = std::vector<Outline>;

struct MergeKernelsPass : ingot::impl::MergeKernelsBase<MergeKernelsPass> {
  using MergeKernelsBase::MergeKernelsBase;

  void runOnOperation() override;
  void merge(Group &group, const NumberTable &table);
};

} // namespace

//===----------------------------------------------------------------------===//
// Differences between members
//===----------------------------------------------------------------------===//

static SmallVector<Column> columnsOf(const Group &group) {
  SmallVector<Column> columns(group.front().numbers.size());
  for (const Outline &member : group)
    for (auto [column, constant] : llvm::zip_equal(columns, member.numbers))
      column.push_back(
          cast<IntegerAttr>(arith::ConstantOp(constant).getValue()).getInt());
  return columns;
}

/// Returns the numbers that the kernels of `model`'s group only add to others.
static std::set<Column> addendsOf(const Outline &model,
                                  ArrayRef<Column> columns) {
  std::set<Column> addends, others;
  for (auto [number, column] : llvm::zip_equal(model.numbers, columns)) {
    const bool isAdded =
        llvm::all_of(arith::ConstantOp(number)->getUsers(),
                     [](Operation *user) { return isa<arith::AddIOp>(user); });
    (isAdded ? addends : others).insert(column);
  }
  for (const Column &column : others)
    addends.erase(column);
  return addends;
}

/// The values of one scalar, one for each member of a group.
using ScalarColumn = SmallVector<TypedAttr>;

/// Returns the values of all scalars of a group.
static SmallVector<ScalarColumn> scalarsOf(const Group &group) {
  SmallVector<ScalarColumn> columns(group.front().scalars.size());
  for (const Outline &member : group)
    for (auto [column, constant] : llvm::zip_equal(columns, member.scalars))
      column.push_back(codegen::scalarOf(constant));
  return columns;
}

/// Returns the distinct scalars in which members differ. They become arguments
/// of the common function.
static SmallVector<ScalarColumn>
differingScalars(ArrayRef<ScalarColumn> columns) {
  SmallVector<ScalarColumn> differing;
  for (const ScalarColumn &column : columns)
    if (!llvm::all_equal(column) && !llvm::is_contained(differing, column))
      differing.push_back(column);
  return differing;
}

/// Returns the loops that contain no other loop.
static llvm::SmallDenseSet<Operation *> innermostLoops(func::FuncOp function) {
  llvm::SmallDenseSet<Operation *> loops;
  function->walk([&](scf::ForOp loop) {
    // The walk visits inner loops first.
    bool isInnermost = llvm::none_of(
        loops, [&](Operation *inner) { return loop->isProperAncestor(inner); });
    if (isInnermost)
      loops.insert(loop);
  });
  return loops;
}

/// Returns true if an address is used only for scalars that are multiplied by
/// vectors.
static bool isOfScalar(Value place) {
  constexpr int64_t kWidestBits = 64;
  return llvm::all_of(place.getUsers(), [](Operation *user) {
    if (isa<memref::LoadOp>(user))
      return true;
    auto load = dyn_cast<vector::LoadOp>(user);
    return load && load.getVectorType().getNumElements() *
                           load.getVectorType().getElementTypeBitWidth() <=
                       kWidestBits;
  });
}

/// Returns the number of values that an innermost loop needs: values of `table`
/// and their multiples. The result is the maximum over all innermost loops. Row
/// distances that are multiples of one number count once, because such
/// addresses are chained (chainRows).
static size_t countInRound(const Outline &outline, ArrayRef<Column> columns,
                           const NumberTable &table) {
  llvm::SmallDenseSet<Operation *> innermost = innermostLoops(outline.function);
  using Multiple = std::pair<size_t, int64_t>;
  DenseMap<Operation *, llvm::SmallDenseSet<Multiple>> places;
  size_t most = 0;
  for (auto [number, column] : llvm::zip_equal(outline.numbers, columns)) {
    auto source = table.sources.find(column);
    if (source == table.sources.end())
      continue;
    for (Operation *user : arith::ConstantOp(number)->getUsers()) {
      auto loop = user->getParentOfType<scf::ForOp>();
      if (!loop || !innermost.contains(loop))
        continue;
      llvm::SmallDenseSet<Multiple> &taken = places[loop];
      const bool isRow =
          isa<arith::AddIOp>(user) && isOfScalar(user->getResult(0));
      taken.insert({source->second.place, isRow ? 0 : source->second.factor});
      most = std::max<size_t>(most, taken.size());
    }
  }
  return most;
}

static bool hasWideVectors(func::FuncOp function) {
  return function
      ->walk([](Operation *op) {
        bool isWide = llvm::any_of(op->getResultTypes(), [](Type type) {
          auto vector = dyn_cast<VectorType>(type);
          return vector && vector.getElementType().isIntOrFloat() &&
                 vector.getNumElements() * vector.getElementTypeBitWidth() ==
                     512;
        });
        return isWide ? WalkResult::interrupt() : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Returns the arguments with which one function can replace a group, if that
/// pays.
static std::optional<NumberTable> tableOf(const Group &group) {
  const Outline &model = group.front();
  if (differingScalars(scalarsOf(group)).size() >
      size_t(threshold::mergedScalars))
    return std::nullopt;
  SmallVector<Column> columns = columnsOf(group);
  return codegen::chooseTable(
      columns, addendsOf(model, columns),
      [&] { return hasWideVectors(model.function); },
      [&](const NumberTable &table) {
        return countInRound(model, columns, table);
      });
}

/// Splits a group into parts that can be merged. Each function joins the first
/// suitable part.
static std::vector<Group> split(Group group) {
  std::vector<Group> parts;
  for (Outline &member : group) {
    auto part = llvm::find_if(parts, [&](Group &part) {
      part.push_back(std::move(member));
      if (tableOf(part))
        return true;
      member = std::move(part.back());
      part.pop_back();
      return false;
    });
    if (part == parts.end())
      parts.emplace_back().push_back(std::move(member));
  }
  return parts;
}

//===----------------------------------------------------------------------===//
// The common function
//===----------------------------------------------------------------------===//

/// Replaces the code of a function by a call of the common one, with its
/// arguments. Returns the old code.
static std::unique_ptr<Region>
leaveCall(const Outline &member, StringRef common, ArrayRef<int64_t> numbers,
          ArrayRef<TypedAttr> scalars) {
  func::FuncOp function = member.function;
  Location loc = function.getLoc();
  auto code = std::make_unique<Region>();
  code->takeBody(function.getBody());
  auto builder = OpBuilder::atBlockBegin(function.addEntryBlock());
  IRMapping mapping;
  mapping.map(code->getArguments(), function.getArguments());
  SmallVector<Value> operands;
  for (const CommonArgument &given : member.given) {
    Value value = given.values.front();
    if (!mapping.contains(value)) {
      Operation *op = value.getDefiningOp();
      for (Value operand : op->getOperands())
        if (!mapping.contains(operand))
          builder.clone(*operand.getDefiningOp(), mapping);
      builder.clone(*op, mapping);
    }
    value = mapping.lookup(value);
    if (value.getType() != given.type)
      value = memref::CastOp::create(builder, loc, given.type, value);
    operands.push_back(value);
  }
  for (int64_t number : numbers)
    operands.push_back(arith::ConstantIndexOp::create(builder, loc, number));
  for (TypedAttr scalar : scalars)
    operands.push_back(arith::ConstantOp::create(builder, loc, scalar));
  func::CallOp::create(builder, loc, common, TypeRange(), operands);
  func::ReturnOp::create(builder, loc);
  return code;
}

/// Computes the values of `table` at the start of the function from its
/// arguments `told`.
static std::map<Column, Value> computeNumbers(const NumberTable &table,
                                              ValueRange told,
                                              OpBuilder &builder,
                                              Location loc) {
  auto flags = arith::IntegerOverflowFlags::nsw;
  std::map<Column, Value> values;
  for (const auto &[column, source] : table.sources) {
    Value value = told[source.place];
    auto constant = [&](int64_t number) -> Value {
      return arith::ConstantIndexOp::create(builder, loc, number);
    };
    if (source.factor != 1)
      value = arith::MulIOp::create(builder, loc, value,
                                    constant(source.factor), flags);
    if (source.excess != 0)
      value = arith::AddIOp::create(builder, loc, value,
                                    constant(source.excess), flags);
    values[column] = value;
  }
  return values;
}

/// Replaces the maximum or minimum of `bound` and another value by a comparison
/// and a select. Precondition: `bound` is neither zero nor NaN. LLVM makes one
/// instruction of the comparison and the select, even if it knows nothing about
/// `bound`.
static void compareWith(Value bound) {
  llvm::SmallSetVector<Operation *, 4> users(bound.user_begin(),
                                             bound.user_end());
  for (Operation *user : users) {
    const bool isLargest = isa<arith::MaximumFOp>(user);
    if (!isLargest && !isa<arith::MinimumFOp>(user))
      continue;
    OpBuilder builder(user);
    Location loc = user->getLoc();
    Value other = user->getOperand(user->getOperand(0) == bound ? 1 : 0);
    Value takesBound = arith::CmpFOp::create(
        builder, loc,
        isLargest ? arith::CmpFPredicate::OGT : arith::CmpFPredicate::OLT,
        bound, other);
    Value result =
        arith::SelectOp::create(builder, loc, takesBound, bound, other);
    user->getResult(0).replaceAllUsesWith(result);
    user->erase();
  }
}

/// Adds an argument to `function` for each scalar that differs. The function's
/// code is that of `model`. `columns` holds the values of all scalars.
static void takeScalars(func::FuncOp function, const Outline &model,
                        ArrayRef<ScalarColumn> columns,
                        ArrayRef<ScalarColumn> differing) {
  Block &block = function.getBody().front();
  Location loc = function.getLoc();
  for (const ScalarColumn &column : differing) {
    Value argument = block.addArgument(column.front().getType(), loc);
    for (auto [scalar, its] : llvm::zip_equal(model.scalars, columns)) {
      if (its != column)
        continue;
      arith::ConstantOp constant = scalar;
      Value value = argument;
      // The first op may have been a constant that was erased.
      auto builder = OpBuilder::atBlockBegin(&block);
      if (auto type = dyn_cast<VectorType>(constant.getType()))
        value = vector::BroadcastOp::create(builder, loc, type, argument);
      constant.replaceAllUsesWith(value);
      constant->erase();
      compareWith(value);
    }
  }
}

/// Adds arguments to `function`: one for each of `given`, and one for each
/// argument of `table`. The function's code is that of `model`. `columns` holds
/// the values of the model's constants.
static void takeArguments(func::FuncOp function, const Outline &model,
                          ArrayRef<Column> columns, const NumberTable &table,
                          ArrayRef<ScalarColumn> scalars,
                          ArrayRef<ScalarColumn> differing) {
  Block &block = function.getBody().front();
  Location loc = function.getLoc();
  size_t numOld = block.getNumArguments();
  llvm::SetVector<Operation *> elsewhere;
  for (const CommonArgument &given : model.given) {
    Value argument = block.addArgument(given.type, loc);
    for (Value value : given.values) {
      value.replaceAllUsesWith(argument);
      if (Operation *op = value.getDefiningOp())
        elsewhere.insert(op);
    }
  }
  for (Operation *op : elsewhere)
    op->erase();
  SmallVector<Value> told;
  for (size_t i = 0; i < table.columns.size(); ++i)
    told.push_back(
        block.addArgument(IndexType::get(function.getContext()), loc));
  auto builder = OpBuilder::atBlockBegin(&block);
  std::map<Column, Value> values = computeNumbers(table, told, builder, loc);
  for (auto [number, column] : llvm::zip_equal(model.numbers, columns)) {
    auto at = values.find(column);
    if (at == values.end())
      continue;
    arith::ConstantOp constant = number;
    constant.replaceAllUsesWith(at->second);
    constant->erase();
  }
  takeScalars(function, model, scalars, differing);
  block.eraseArguments(0, numOld);
  function.setType(
      FunctionType::get(function.getContext(), block.getArgumentTypes(), {}));
}

void MergeKernelsPass::merge(Group &group, const NumberTable &table) {
  const Outline &model = group.front();
  func::FuncOp first = model.function;
  OpBuilder builder(first);
  auto common = func::FuncOp::create(builder, first.getLoc(),
                                     (first.getName() + ".common").str(),
                                     first.getFunctionType());
  common.setPrivate();
  common->setDiscardableAttrs(first->getDiscardableAttrDictionary());
  SmallVector<Column> columns = columnsOf(group);
  SmallVector<ScalarColumn> scalars = scalarsOf(group);
  SmallVector<ScalarColumn> differing = differingScalars(scalars);
  for (auto [i, member] : llvm::enumerate(group)) {
    SmallVector<int64_t> numbers;
    for (const Column &column : table.columns)
      numbers.push_back(column[i]);
    SmallVector<TypedAttr> told;
    for (const ScalarColumn &column : differing)
      told.push_back(column[i]);
    std::unique_ptr<Region> code =
        leaveCall(member, common.getName(), numbers, told);
    if (i == 0)
      common.getBody().takeBody(*code);
    ++merged;
  }
  takeArguments(common, model, columns, table, scalars, differing);
}

/// Returns true if views of one argument may overlap although the function
/// promises that its memory arguments do not.
static bool wouldAlias(const Outline &outline) {
  auto flags = outline.function->getAttrOfType<ArrayAttr>("passthrough");
  if (!flags || !llvm::is_contained(flags.getAsValueRange<StringAttr>(),
                                    "ingot-distinct-buffers"))
    return false;
  llvm::SmallDenseSet<Value> memory;
  return llvm::any_of(outline.given, [&](const CommonArgument &given) {
    if (!isa<MemRefType>(given.type))
      return false;
    Operation *view = given.values.front().getDefiningOp();
    return view && view->getNumOperands() != 0 &&
           !memory.insert(view->getOperand(0)).second;
  });
}

void MergeKernelsPass::runOnOperation() {
  std::vector<Group> groups;
  DenseMap<llvm::hash_code, SmallVector<size_t>> byHash;
  for (auto function : getOperation().getOps<func::FuncOp>()) {
    if (function.isExternal() || !function.isPrivate() ||
        function.getNumResults() != 0 || !function.getBody().hasOneBlock())
      continue;
    Outline outline(function);
    if (outline.numOps < fewestOps || wouldAlias(outline))
      continue;
    SmallVector<size_t> &candidates =
        byHash[llvm::hash_combine_range(outline.words)];
    auto *at = llvm::find_if(candidates, [&](size_t i) {
      return groups[i].front().words == outline.words;
    });
    if (at == candidates.end()) {
      candidates.push_back(groups.size());
      groups.emplace_back().push_back(std::move(outline));
    } else {
      groups[*at].push_back(std::move(outline));
    }
  }
  for (Group &group : groups)
    for (Group &part : split(std::move(group)))
      if (part.size() > 1)
        merge(part, *tableOf(part));
}
