//===- OutlineRepeats.cpp - outline-repeats -------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/llvm/LaunchToLLVM.h"
#include "passes/llvm/Passes.h"
#include "passes/llvm/Repeats.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/FunctionCallUtils.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

#include <map>

namespace ingot {
#define GEN_PASS_DEF_OUTLINEREPEATS
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using codegen::costOf;
using codegen::kRequire;
using codegen::Repeat;

namespace {

/// A row of a repeat: its top-level ops, and all ops including nested ones.
struct RepeatRow {
  SmallVector<Operation *> ops, all;
};

/// A difference between rows: an operand, a constant, or the text of a check.
struct RowDifference {
  static constexpr size_t kItself = size_t(-1);

  /// The op of each row.
  SmallVector<Operation *> ops;
  size_t operand = kItself;

  Value valueIn(size_t row) const { return ops[row]->getOperand(operand); }
  Type type() const;
};

/// The source of a value that the outlined function uses but does not compute.
struct Source {
  enum Kind { constant, parameter, view } kind = constant;
  size_t number = 0;
};

/// A view of the run function's arguments, which the new function repeats.
struct View {
  Operation *op;
  SmallVector<Source> operands;
};

/// Moves the rows of a repeat into a function and replaces them by calls.
class Outliner {
public:
  Outliner(func::FuncOp function, Value call, ArrayRef<Operation *> ops,
           const Repeat &repeat);

  /// Returns the reduction of code size.
  int64_t saved() const;
  void run(const Twine &name, int64_t &messages);

private:
  void findParameters();
  Source sourceOf(const RowDifference &place);
  bool areViews(const RowDifference &place) const;
  void findResults();
  bool canStay(Operation *op);
  bool isUsedElsewhere(size_t op, size_t result) const;
  func::FuncOp makeFunction(const Twine &name);
  void makeBody(func::FuncOp outlined);
  Value argumentOf(size_t row, const RowDifference &place, OpBuilder &builder,
                   int64_t &messages) const;
  void replace(size_t row, func::FuncOp outlined, int64_t &messages);

  func::FuncOp function;
  Value call;
  SmallVector<RepeatRow> rows;
  /// Maps a value that an op of the first row defines to the index of this op.
  DenseMap<Value, size_t> inside;
  /// An operand of an op of the first row that the function replaces.
  struct Use {
    size_t op, operand;
    Source source;
  };
  SmallVector<Use> uses;
  /// The first place of each parameter. The parameter of the call is the last
  /// one.
  SmallVector<RowDifference> parameters;
  SmallVector<View> views;
  std::map<std::vector<const void *>, Source> sources;
  /// Views that ops behind a row use. These views stay where they are.
  llvm::DenseSet<size_t> staying;
  /// The results of the first row that are used outside, as (op, result).
  SmallVector<std::pair<size_t, size_t>> results;
};

} // namespace

//===----------------------------------------------------------------------===//
// Parameters and results of the function
//===----------------------------------------------------------------------===//

Outliner::Outliner(func::FuncOp function, Value call,
                   ArrayRef<Operation *> ops, const Repeat &repeat)
    : function(function), call(call) {
  for (size_t start : repeat.starts) {
    RepeatRow &row = rows.emplace_back();
    llvm::append_range(row.ops, ops.slice(start, repeat.length));
    for (Operation *op : row.ops)
      op->walk<WalkOrder::PreOrder>(
          [&](Operation *inner) { row.all.push_back(inner); });
  }
  for (auto [i, op] : llvm::enumerate(rows.front().all)) {
    for (Value result : op->getResults())
      inside[result] = i;
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Value argument : block.getArguments())
          inside[argument] = i;
  }
  findParameters();
  findResults();
}

/// Returns the value of a constant, or else the value itself, as an identity.
static const void *identityOf(Value value) {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return constant.getAsOpaquePointer();
  return value.getAsOpaquePointer();
}

static const void *identityOf(Operation *op) {
  if (auto check = dyn_cast<RequireOp>(op))
    return check.getMessageAttr().getAsOpaquePointer();
  return identityOf(op->getResult(0));
}

Type RowDifference::type() const {
  if (operand != kItself)
    return valueIn(0).getType();
  if (isa<RequireOp>(ops.front()))
    return LLVM::LLVMPointerType::get(ops.front()->getContext());
  return ops.front()->getResult(0).getType();
}

/// Returns true if an op only computes an address or a size of memory.
static bool isView(Operation *op) {
  return isa_and_nonnull<memref::CastOp, memref::CollapseShapeOp,
                         memref::DimOp, memref::ExpandShapeOp,
                         memref::GetGlobalOp, memref::ReinterpretCastOp,
                         memref::SubViewOp, memref::ViewOp>(op);
}

/// Returns true if a value can be computed from the arguments of the run's
/// function.
static bool isRooted(Value value) {
  if (isa<BlockArgument>(value) || matchPattern(value, m_Constant()))
    return true;
  Operation *op = value.getDefiningOp();
  return isView(op) && llvm::all_of(op->getOperands(), isRooted);
}

/// Returns true if all rows have equal views of the run function's arguments at
/// this place.
bool Outliner::areViews(const RowDifference &place) const {
  if (place.operand == RowDifference::kItself)
    return false;
  Operation *first = place.valueIn(0).getDefiningOp();
  for (size_t row = 0; row < rows.size(); ++row) {
    Value value = place.valueIn(row);
    Operation *op = value.getDefiningOp();
    if (!isView(op) || !isRooted(value) || op->getName() != first->getName() ||
        op->getResultTypes() != first->getResultTypes() ||
        op->getOperandTypes() != first->getOperandTypes() ||
        op->getAttrDictionary() != first->getAttrDictionary())
      return false;
  }
  return true;
}

Source Outliner::sourceOf(const RowDifference &place) {
  bool isItself = place.operand == RowDifference::kItself;
  std::vector<const void *> column;
  for (size_t row = 0; row < rows.size(); ++row)
    column.push_back(isItself ? identityOf(place.ops[row])
                              : identityOf(place.valueIn(row)));
  // Keeps a constant that is equal in all rows as a constant in the function.
  if (llvm::all_equal(column) &&
      (isItself || matchPattern(place.valueIn(0), m_Constant())))
    return {};
  // Use different keys for the text of a check and for a constant, because both
  // may have one identity.
  bool isText = isItself && isa<RequireOp>(place.ops.front());
  column.push_back(isText ? this : nullptr);
  auto known = sources.find(column);
  if (known != sources.end())
    return known->second;
  Source source{Source::parameter, parameters.size()};
  if (areViews(place)) {
    View made{place.valueIn(0).getDefiningOp(), {}};
    RowDifference operand;
    for (size_t row = 0; row < rows.size(); ++row)
      operand.ops.push_back(place.valueIn(row).getDefiningOp());
    for (operand.operand = 0; operand.operand < made.op->getNumOperands();
         ++operand.operand)
      made.operands.push_back(sourceOf(operand));
    source = {Source::view, views.size()};
    views.push_back(std::move(made));
  } else {
    parameters.push_back(place);
  }
  sources[column] = source;
  return source;
}

void Outliner::findParameters() {
  for (auto [i, op] : llvm::enumerate(rows.front().all)) {
    RowDifference place;
    for (const RepeatRow &row : rows)
      place.ops.push_back(row.all[i]);
    auto add = [&, i = i](size_t operand) {
      place.operand = operand;
      Source source = sourceOf(place);
      if (source.kind != Source::constant)
        uses.push_back({i, operand, source});
    };
    if (op->hasTrait<OpTrait::ConstantLike>() || isa<RequireOp>(op))
      add(RowDifference::kItself);
    for (auto [k, operand] : llvm::enumerate(op->getOperands()))
      if (!inside.contains(operand) && operand != call)
        add(k);
  }
}

/// Returns true if a view depends on nothing in the row except on views that
/// can stay, too.
bool Outliner::canStay(Operation *op) {
  return isView(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           auto at = inside.find(operand);
           return at == inside.end() ||
                  canStay(rows.front().all[at->second]);
         });
}

bool Outliner::isUsedElsewhere(size_t op, size_t result) const {
  return llvm::any_of(rows, [&](const RepeatRow &row) {
    Block *block = row.ops.front()->getBlock();
    return llvm::any_of(
        row.all[op]->getResult(result).getUsers(), [&](Operation *user) {
          Operation *ancestor = block->findAncestorOpInBlock(*user);
          return ancestor->isBeforeInBlock(row.ops.front()) ||
                 row.ops.back()->isBeforeInBlock(ancestor);
        });
  });
}

void Outliner::findResults() {
  const RepeatRow &first = rows.front();
  for (auto [i, op] : llvm::enumerate(first.all)) {
    if (op->getBlock() != first.ops.front()->getBlock())
      continue;
    for (size_t k = 0; k < op->getNumResults(); ++k) {
      if (!isUsedElsewhere(i, k))
        continue;
      if (!canStay(op)) {
        results.push_back({i, k});
        continue;
      }
      SmallVector<size_t> needed = {i};
      while (!needed.empty()) {
        size_t next = needed.pop_back_val();
        staying.insert(next);
        for (Value operand : first.all[next]->getOperands())
          if (auto at = inside.find(operand); at != inside.end())
            needed.push_back(at->second);
      }
    }
  }
}

int64_t Outliner::saved() const {
  const RepeatRow &first = rows.front();
  int64_t left = 1 + staying.size();
  for (const RowDifference &place : parameters)
    left += costOf(place.type());
  for (auto [op, result] : results)
    left += costOf(first.all[op]->getResult(result).getType());
  int64_t size = 0, count = rows.size();
  for (Operation *op : first.all)
    size += costOf(op);
  // Reject the repeat if most of the work would be passing arguments.
  return 3 * left > 2 * size ? -size : (count - 1) * size - count * left;
}

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

func::FuncOp Outliner::makeFunction(const Twine &name) {
  const RepeatRow &first = rows.front();
  OpBuilder builder(function);
  SmallVector<Type> given, returned;
  for (const RowDifference &place : parameters)
    given.push_back(place.type());
  given.push_back(call.getType());
  for (auto [op, result] : results)
    returned.push_back(first.all[op]->getResult(result).getType());
  auto outlined =
      func::FuncOp::create(builder, first.ops.front()->getLoc(), name.str(),
                           builder.getFunctionType(given, returned));
  outlined.setPrivate();
  outlined->setAttr("llvm.linkage",
                    LLVM::LinkageAttr::get(builder.getContext(),
                                           LLVM::Linkage::Internal));
  outlined->setAttr("passthrough", builder.getStrArrayAttr({"noinline"}));
  makeBody(outlined);
  return outlined;
}

/// Lowers a check to a call whose message is an argument.
static void lowerCheck(RequireOp check, Value call, Value message) {
  OpBuilder builder(check);
  Location loc = check.getLoc();
  Type i32 = builder.getI32Type(), i64 = builder.getI64Type();
  Type none = LLVM::LLVMVoidType::get(builder.getContext());
  auto support = LLVM::lookupOrCreateFn(
      builder, check->getParentOfType<ModuleOp>(), kRequire,
      {call.getType(), i32, call.getType(), i64, i64}, none);
  SmallVector<Value> arguments = {
      call, arith::ExtUIOp::create(builder, loc, i32, check.getHolds()),
      message};
  for (Value value : check.getValues())
    arguments.push_back(arith::IndexCastOp::create(builder, loc, i64, value));
  while (arguments.size() < 5)
    arguments.push_back(arith::ConstantIntOp::create(builder, loc, 0, 64));
  LLVM::CallOp::create(builder, loc, *support, arguments);
  check->erase();
}

void Outliner::makeBody(func::FuncOp outlined) {
  const RepeatRow &first = rows.front();
  Block *body = outlined.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  Value innerCall = body->getArguments().back();
  IRMapping mapping;
  mapping.map(call, innerCall);
  // Clones the constants of a row. Differing constants are replaced below.
  auto cloneConstants = [&](Operation *op) {
    for (Value operand : op->getOperands())
      if (!inside.contains(operand) && !mapping.contains(operand) &&
          matchPattern(operand, m_Constant()))
        builder.clone(*operand.getDefiningOp(), mapping);
  };
  SmallVector<Value> made;
  auto valueOf = [&](Source source) {
    return source.kind == Source::view ? made[source.number]
                                       : body->getArgument(source.number);
  };
  for (const View &view : views) {
    cloneConstants(view.op);
    // Clone the op, because another view may use the same op.
    Operation *copy = builder.clone(*view.op, mapping);
    mapping.erase(view.op->getResult(0));
    for (auto [operand, source] :
         llvm::zip_equal(copy->getOpOperands(), view.operands))
      if (source.kind != Source::constant)
        operand.set(valueOf(source));
    made.push_back(copy->getResult(0));
  }
  llvm::for_each(first.all, cloneConstants);
  SmallVector<Operation *> copies;
  for (Operation *op : first.ops)
    builder.clone(*op, mapping)
        ->walk<WalkOrder::PreOrder>(
            [&](Operation *inner) { copies.push_back(inner); });
  SmallVector<Value> returned;
  for (auto [op, result] : results)
    returned.push_back(copies[op]->getResult(result));
  func::ReturnOp::create(builder, outlined.getLoc(), returned);
  for (const Use &use : uses)
    if (use.operand != RowDifference::kItself)
      copies[use.op]->setOperand(use.operand, valueOf(use.source));
  for (const Use &use : uses) {
    if (use.operand != RowDifference::kItself)
      continue;
    Operation *op = copies[use.op];
    if (auto check = dyn_cast<RequireOp>(op)) {
      lowerCheck(check, innerCall, valueOf(use.source));
      continue;
    }
    op->getResult(0).replaceAllUsesWith(valueOf(use.source));
    op->erase();
  }
}

//===----------------------------------------------------------------------===//
// The calls
//===----------------------------------------------------------------------===//

Value Outliner::argumentOf(size_t row, const RowDifference &place,
                           OpBuilder &builder, int64_t &messages) const {
  Operation *op = place.ops[row];
  if (place.operand != RowDifference::kItself) {
    if (!matchPattern(place.valueIn(row), m_Constant()))
      return place.valueIn(row);
    op = place.valueIn(row).getDefiningOp();
  }
  if (auto check = dyn_cast<RequireOp>(op)) {
    std::string text = check.getMessage().str();
    text.push_back('\0');
    return LLVM::createGlobalString(
        op->getLoc(), builder,
        "ingot_repeated_check_" + std::to_string(messages++), text,
        LLVM::Linkage::Internal);
  }
  // Clones the op, because the original may be behind the call.
  return builder.clone(*op)->getResult(0);
}

void Outliner::replace(size_t number, func::FuncOp outlined,
                       int64_t &messages) {
  const RepeatRow &row = rows[number];
  OpBuilder builder(row.ops.front());
  SmallVector<Value> arguments;
  for (const RowDifference &place : parameters)
    arguments.push_back(argumentOf(number, place, builder, messages));
  arguments.push_back(call);
  auto called = func::CallOp::create(builder, row.ops.front()->getLoc(),
                                     outlined, arguments);
  for (auto [result, value] : llvm::zip_equal(results, called.getResults()))
    row.all[result.first]->getResult(result.second).replaceAllUsesWith(value);
  Block *block = called->getBlock();
  for (size_t i = row.all.size(); i-- > 0;)
    if (row.all[i]->getBlock() == block && !staying.contains(i))
      row.all[i]->erase();
}

void Outliner::run(const Twine &name, int64_t &messages) {
  func::FuncOp outlined = makeFunction(name);
  for (size_t row = 0; row < rows.size(); ++row)
    replace(row, outlined, messages);
}

namespace {
struct OutlineRepeatsPass
    : ingot::impl::OutlineRepeatsBase<OutlineRepeatsPass> {
  using OutlineRepeatsBase::OutlineRepeatsBase;

  void runOnOperation() override {
    messages = 0;
    IngotDialect::InfersAttrHelper infers(&getContext());
    for (auto function : llvm::make_early_inc_range(
             getOperation().getOps<func::FuncOp>()))
      if (findRunOperand(function, RunOperand::call) &&
          function.getBody().hasOneBlock() &&
          !infers.isAttrPresent(function))
        outline(function);
  }

  void outline(func::FuncOp function) {
    SmallVector<Operation *> ops;
    int64_t count = 0;
    for (Operation &op : function.getBody().front().without_terminator()) {
      if (op.hasTrait<OpTrait::ConstantLike>())
        continue;
      ops.push_back(&op);
      op.walk([&](Operation *) { ++count; });
    }
    if (count < leastSaved)
      return;
    Value call = findRunOperand(function, RunOperand::call);
    int64_t number = 0;
    for (const Repeat &repeat : codegen::findRepeats(ops)) {
      Outliner outliner(function, call, ops, repeat);
      int64_t fewer = outliner.saved();
      if (fewer < leastSaved)
        continue;
      outliner.run(function.getName() + "_repeat_" + Twine(number++),
                   messages);
      ++outlined;
      saved += fewer;
    }
  }

  int64_t messages = 0;
};
} // namespace
