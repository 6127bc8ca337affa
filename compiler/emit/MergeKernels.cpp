//===- MergeKernels.cpp - One function for similar kernels ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/MergeKernels.h"

#include "compiler/emit/ChainRows.h"
#include "passes/llvm/NumberTable.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/MDBuilder.h"
#include "llvm/IR/Module.h"

#include <map>
#include <vector>

using namespace llvm;
using namespace ingot;
using codegen::Column;
using codegen::NumberTable;

/// Smaller functions are not worth a call.
static constexpr size_t kFewestInstructions = 100;

namespace {

/// What a function does, written down so that equal words are equal code. The
/// numbers that it may be told instead are left out.
struct Outline {
  explicit Outline(Function &function);

  bool isLike(const Outline &other) const;
  hash_code hash() const { return hash_combine_range(words); }

  Function *function;
  SmallVector<Instruction *> instructions;
  /// Where the numbers stand that are left out.
  SmallVector<Use *> numbers;

private:
  void noteOperand(Use &use);
  void noteScopes(const MDNode *scopes);

  SmallVector<uint64_t> words;
  /// Arguments, blocks and instructions.
  DenseMap<const Value *, uint64_t> order;
  /// Inlining made scopes for each function.
  DenseMap<const Metadata *, uint64_t> scopeOrder;
};

/// Functions that are one but for their numbers.
using Group = SmallVector<Outline>;

} // namespace

/// Sums, sizes and places. Nothing that code is chosen by, as it is where one
/// divides by a constant, unless that is done once a task.
static bool canBeTold(const Use &use) {
  auto *user = cast<Instruction>(use.getUser());
  auto *number = dyn_cast<ConstantInt>(use.get());
  if (!number ||
      (!number->getType()->isIntegerTy(64) && !isa<GetElementPtrInst>(user)))
    return false;
  if (isa<MinMaxIntrinsic, ICmpInst, PHINode>(user))
    return true;
  switch (user->getOpcode()) {
  case Instruction::Add:
  case Instruction::Sub:
  case Instruction::Mul:
    return true;
  case Instruction::SDiv:
  case Instruction::SRem:
  case Instruction::UDiv:
  case Instruction::URem:
    return user->getParent()->isEntryBlock();
  case Instruction::Select:
    return use.getOperandNo() > 0;
  case Instruction::GetElementPtr: {
    auto index = gep_type_begin(user);
    std::advance(index, use.getOperandNo() - 1);
    return !index.isStruct();
  }
  default:
    return false;
  }
}

Outline::Outline(Function &function) : function(&function) {
  for (const Argument &argument : function.args())
    order.try_emplace(&argument, order.size());
  for (const BasicBlock &block : function) {
    order.try_emplace(&block, order.size());
    for (const Instruction &i : block)
      order.try_emplace(&i, order.size());
  }
  for (BasicBlock &block : function) {
    words.push_back(block.size());
    for (Instruction &i : block) {
      instructions.push_back(&i);
      words.append({i.getOpcode(), i.getNumOperands()});
      // Of what may not overflow, all promise what each does.
      if (!isa<OverflowingBinaryOperator>(i))
        words.push_back(i.getRawSubclassOptionalData());
      noteScopes(i.getMetadata(LLVMContext::MD_alias_scope));
      noteScopes(i.getMetadata(LLVMContext::MD_noalias));
      if (auto *declares = dyn_cast<NoAliasScopeDeclInst>(&i)) {
        noteScopes(declares->getScopeList());
        continue;
      }
      for (Use &use : i.operands())
        noteOperand(use);
      if (auto *phi = dyn_cast<PHINode>(&i))
        for (const BasicBlock *from : phi->blocks())
          words.push_back(order.lookup(from));
    }
  }
}

void Outline::noteOperand(Use &use) {
  enum : uint64_t { own, told, other };
  auto at = order.find(use.get());
  if (at != order.end()) {
    words.append({own, at->second});
  } else if (canBeTold(use)) {
    words.push_back(told);
    numbers.push_back(&use);
  } else {
    words.append({other, uint64_t(uintptr_t(use.get()))});
  }
}

void Outline::noteScopes(const MDNode *scopes) {
  words.push_back(scopes ? scopes->getNumOperands() : 0);
  if (!scopes)
    return;
  for (const MDOperand &scope : scopes->operands())
    words.push_back(
        scopeOrder.try_emplace(scope.get(), scopeOrder.size()).first->second);
}

static bool haveSameMetadata(const Instruction &a, const Instruction &b) {
  SmallVector<std::pair<unsigned, MDNode *>> ofA, ofB;
  a.getAllMetadata(ofA);
  b.getAllMetadata(ofB);
  return ofA.size() == ofB.size() &&
         all_of(zip_equal(ofA, ofB), [](const auto &pair) {
           auto [x, y] = pair;
           if (x == y)
             return true;
           if (x.first != y.first)
             return false;
           // A loop's first operand is the loop itself.
           if (x.first == LLVMContext::MD_loop)
             return equal(drop_begin(x.second->operands()),
                          drop_begin(y.second->operands()));
           // Which are among the words.
           return x.first == LLVMContext::MD_alias_scope ||
                  x.first == LLVMContext::MD_noalias;
         });
}

/// What functions are promised and told to be, now that all are inlined that
/// are to be.
static AttributeList attributesOf(const Function &function) {
  return function.getAttributes().removeFnAttribute(function.getContext(),
                                                    Attribute::NoInline);
}

bool Outline::isLike(const Outline &other) const {
  return function->getFunctionType() == other.function->getFunctionType() &&
         attributesOf(*function) == attributesOf(*other.function) &&
         words == other.words &&
         all_of(zip_equal(instructions, other.instructions),
                [](const auto &pair) {
                  auto [a, b] = pair;
                  return a->isSameOperationAs(b) && haveSameMetadata(*a, *b);
                });
}

static SmallVector<Column> columnsOf(const Group &group) {
  SmallVector<Column> columns(group.front().numbers.size());
  for (const Outline &member : group)
    for (auto [column, use] : zip_equal(columns, member.numbers))
      column.push_back(cast<ConstantInt>(use->get())->getSExtValue());
  return columns;
}

/// Whether what `sum` is added up to is the address of a scalar alone, which is
/// multiplied with a vector.
static bool isOfScalar(const Instruction &sum) {
  if (isa<GetElementPtrInst>(sum))
    return all_of(sum.users(), [](const User *user) {
      auto *load = dyn_cast<LoadInst>(user);
      return load && isOfRow(*load);
    });
  return sum.getOpcode() == Instruction::Add &&
         all_of(sum.users(), [](const User *user) {
           auto *place = dyn_cast<GetElementPtrInst>(user);
           return place && isOfScalar(*place);
         });
}

/// How many of `table`, or multiples of them, the innermost loop that takes
/// most takes. Rows that are multiples of one number apart come to take that
/// alone (chainRows).
static size_t countInRound(const Outline &outline, ArrayRef<Column> columns,
                           const NumberTable &table) {
  DominatorTree dominators(*outline.function);
  LoopInfo loops(dominators);
  using Multiple = std::pair<size_t, int64_t>;
  DenseMap<const Loop *, SmallDenseSet<Multiple>> places;
  size_t most = 0;
  for (auto [use, column] : zip_equal(outline.numbers, columns)) {
    auto source = table.sources.find(column);
    auto *user = cast<Instruction>(use->getUser());
    const Loop *loop = loops.getLoopFor(user->getParent());
    if (source == table.sources.end() || !loop || !loop->isInnermost())
      continue;
    SmallDenseSet<Multiple> &taken = places[loop];
    taken.insert({source->second.place,
                  isOfScalar(*user) ? 0 : source->second.factor});
    most = std::max<size_t>(most, taken.size());
  }
  return most;
}

static bool hasWideVectors(const Group &group) {
  return any_of(group.front().instructions, [](const Instruction *i) {
    return i->getType()->isVectorTy() &&
           i->getType()->getPrimitiveSizeInBits() == 512;
  });
}

/// Reads the numbers of `table` where `function` begins.
static std::map<Column, Value *> readNumbers(Function &function,
                                             const NumberTable &table) {
  BasicBlock &entry = function.getEntryBlock();
  IRBuilder<> builder(&entry, entry.getFirstInsertionPt());
  Argument *numbers = function.getArg(function.arg_size() - 1);
  SmallVector<Value *> places;
  for (auto [i, column] : enumerate(table.columns)) {
    Value *at =
        builder.CreateConstInBoundsGEP1_64(builder.getInt64Ty(), numbers, i);
    LoadInst *load = builder.CreateLoad(builder.getInt64Ty(), at);
    auto [least, most] = std::minmax_element(column.begin(), column.end());
    // Loops that run at least once need not ask.
    load->setMetadata(
        LLVMContext::MD_range,
        MDBuilder(function.getContext())
            .createRange(APInt(64, *least, true), APInt(64, *most, true) + 1));
    places.push_back(load);
  }
  std::map<Column, Value *> values;
  for (const auto &[column, source] : table.sources) {
    Value *value = places[source.place];
    if (source.factor != 1)
      value = builder.CreateNSWMul(value, builder.getInt64(source.factor));
    if (source.excess != 0)
      value = builder.CreateNSWAdd(value, builder.getInt64(source.excess));
    values[column] = value;
  }
  return values;
}

/// The functions' code, which is told its numbers.
static Function *makeCommon(const Group &group, ArrayRef<Column> columns,
                            const NumberTable &table) {
  const Outline &outline = group.front();
  Function *first = outline.function;
  for (const Outline &member : drop_begin(group))
    for (auto [i, other] : zip_equal(outline.instructions, member.instructions))
      i->andIRFlags(other);
  SmallVector<Type *> parameters(first->getFunctionType()->params());
  parameters.push_back(PointerType::getUnqual(first->getContext()));
  auto *common = Function::Create(
      FunctionType::get(first->getReturnType(), parameters, false),
      GlobalValue::InternalLinkage, first->getName() + ".common",
      *first->getParent());
  common->copyAttributesFrom(first);
  common->splice(common->begin(), first);
  for (auto [from, to] : zip(first->args(), common->args()))
    from.replaceAllUsesWith(&to);
  std::map<Column, Value *> values = readNumbers(*common, table);
  for (auto [use, column] : zip_equal(outline.numbers, columns)) {
    auto at = values.find(column);
    if (at != values.end())
      use->set(at->second);
  }
  return common;
}

/// All that is left of a function whose code is elsewhere.
static void callCommon(Function &function, Function &common,
                       ArrayRef<uint64_t> numbers) {
  Module &module = *function.getParent();
  Constant *values = ConstantDataArray::get(module.getContext(), numbers);
  auto *table = new GlobalVariable(
      module, values->getType(), /*isConstant=*/true,
      GlobalValue::PrivateLinkage, values, function.getName() + ".numbers");
  table->setUnnamedAddr(GlobalValue::UnnamedAddr::Global);
  IRBuilder<> builder(BasicBlock::Create(module.getContext(), "", &function));
  SmallVector<Value *> arguments(make_pointer_range(function.args()));
  arguments.push_back(table);
  builder.CreateCall(&common, arguments)->setTailCall();
  builder.CreateRetVoid();
}

static void merge(Group &group, ArrayRef<Column> columns,
                  const NumberTable &table) {
  Function *common = makeCommon(group, columns, table);
  for (auto [i, member] : enumerate(group)) {
    const GlobalValue::LinkageTypes linkage = member.function->getLinkage();
    member.function->deleteBody();
    member.function->setLinkage(linkage);
    SmallVector<uint64_t> numbers;
    for (const Column &column : table.columns)
      numbers.push_back(column[i]);
    callCommon(*member.function, *common, numbers);
  }
}

PreservedAnalyses MergeKernelsPass::run(Module &module,
                                        ModuleAnalysisManager &) {
  std::vector<Group> groups;
  DenseMap<hash_code, SmallVector<size_t>> byHash;
  for (Function &function : module) {
    // Other levels' code knows hidden ones, but not what is in them.
    if (function.isDeclaration() ||
        !(function.hasLocalLinkage() || function.hasHiddenVisibility()) ||
        !function.getReturnType()->isVoidTy() ||
        function.getInstructionCount() < kFewestInstructions)
      continue;
    Outline outline(function);
    SmallVector<size_t> &candidates = byHash[outline.hash()];
    auto *at = find_if(candidates, [&](size_t i) {
      return groups[i].front().isLike(outline);
    });
    if (at == candidates.end()) {
      candidates.push_back(groups.size());
      groups.emplace_back().push_back(std::move(outline));
    } else {
      groups[*at].push_back(std::move(outline));
    }
  }
  bool changed = false;
  for (Group &group : groups) {
    if (group.size() < 2)
      continue;
    SmallVector<Column> columns = columnsOf(group);
    std::optional<NumberTable> table = codegen::chooseTable(
        columns, [&] { return hasWideVectors(group); },
        [&](const NumberTable &table) {
          return countInRound(group.front(), columns, table);
        });
    if (!table)
      continue;
    merge(group, columns, *table);
    changed = true;
  }
  return changed ? PreservedAnalyses::none() : PreservedAnalyses::all();
}
