//===- CutFunctions.cpp - cut-functions -----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/IngotDialect.h"
#include "passes/llvm/Passes.h"
#include "passes/support/Thresholds.h"

#include "llvm/ADT/SetVector.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include <limits>
#include <map>

namespace ingot {
#define GEN_PASS_DEF_CUTFUNCTIONS
#include "passes/llvm/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;

/// The maximum number of values that the function keeps on the stack. If there
/// are more, all values are kept in memory that the run allocates.
static constexpr int64_t kMaxOnStack = 512;

namespace {

/// A value that is defined in one piece and used in later ones.
struct Kept {
  Value value;
  /// The numbers of the op that defines the value and of the last op that uses
  /// it.
  int64_t first = 0, last = 0;
  /// The index of the value in the memory for its type.
  int64_t slot = 0;
};

class Cutter {
public:
  Cutter(func::FuncOp function, int64_t mostOps)
      : function(function), body(function.getBody().front()),
        mostOps(mostOps) {}

  /// Returns the number of pieces that were made.
  int64_t run();

private:
  void number();
  bool isRepeated(Operation *op);
  void findCrossing();
  bool findCuts();
  void placeKept();
  bool canAllocate();
  void makeMemories();
  void outline(int64_t piece, int64_t begin, int64_t end);
  void addArguments(SetVector<Value> &arguments, Value value);
  void repeat(Value value, OpBuilder &builder, IRMapping &mapping);

  /// Returns the memory for values of a type, in the function or in a piece.
  Value memoryFor(Type type) { return memories.lookup(type); }

  func::FuncOp function;
  Block &body;
  int64_t mostOps;
  SmallVector<Operation *> ops;
  DenseMap<Operation *, int64_t> numbers;
  /// The number of ops that compute a repeated value.
  DenseMap<Operation *, int64_t> repeated;
  /// The values that would cross some cut.
  std::vector<Kept> crossing;
  /// For each op, the numbers of values that cross a cut in front of the op.
  /// `blocking` counts values that cannot be kept, `keeping` those that can.
  std::vector<int64_t> blocking, keeping;
  SmallVector<int64_t> cuts;
  DenseMap<Value, Kept *> kept;
  llvm::MapVector<Type, int64_t> slots;
  DenseMap<Type, Value> memories;
};

} // namespace

//===----------------------------------------------------------------------===//
// Where to cut
//===----------------------------------------------------------------------===//

void Cutter::number() {
  for (Operation &op : body.without_terminator()) {
    numbers[&op] = ops.size();
    ops.push_back(&op);
  }
  numbers[body.getTerminator()] = ops.size();
}

/// Returns true if each piece that needs the result repeats the op. Only an op
/// that costs nothing is repeated. LLVM then sees how the result is computed.
bool Cutter::isRepeated(Operation *op) {
  bool isCheap = op->hasTrait<OpTrait::ConstantLike>() ||
                 isa<memref::GetGlobalOp, memref::ViewOp, memref::SubViewOp,
                     memref::CastOp, memref::CollapseShapeOp, memref::DimOp,
                     memref::ExpandShapeOp, memref::ReinterpretCastOp,
                     ingot::BufferOp, LLVM::GEPOp, LLVM::ZeroOp>(op);
  if (!isCheap)
    return false;
  int64_t count = 1;
  for (Value operand : op->getOperands()) {
    if (isa<BlockArgument>(operand))
      continue;
    auto made = repeated.find(operand.getDefiningOp());
    if (made == repeated.end())
      return false;
    count += made->second;
  }
  if (count > threshold::cutRepeatedOps)
    return false;
  repeated[op] = count;
  return true;
}

/// Returns true if a piece can store the value in memory of the function, for a
/// later piece to load. The address of a piece's own stack is useless after the
/// piece has returned.
static bool canKeep(Value value) {
  return isa<IndexType, IntegerType, FloatType, MemRefType>(value.getType()) &&
         !value.getDefiningOp<memref::AllocaOp>();
}

/// Returns true if a result is a view of, or the address of, an operand in
/// `pinned`.
static bool tellsPlace(Operation *op, Value result,
                       const llvm::DenseSet<Value> &pinned) {
  return llvm::any_of(op->getOperands(), [&](Value of) {
    return pinned.contains(of) &&
           (isa<MemRefType>(result.getType()) ||
            !isa<MemRefType>(of.getType()) ||
            isa<memref::ExtractAlignedPointerAsIndexOp>(op));
  });
}

void Cutter::findCrossing() {
  blocking.assign(ops.size() + 2, 0);
  keeping.assign(ops.size() + 2, 0);
  // Values that must not cross a cut. Views and addresses of such values are
  // also in the set.
  llvm::DenseSet<Value> pinned;
  for (Operation *op : ops) {
    if (isRepeated(op))
      continue;
    int64_t at = numbers[op];
    for (Value result : op->getResults()) {
      int64_t last = at;
      for (Operation *user : result.getUsers())
        last = std::max(last, numbers[body.findAncestorOpInBlock(*user)]);
      bool isPinned = !canKeep(result) || tellsPlace(op, result, pinned);
      if (isPinned)
        pinned.insert(result);
      if (last == at)
        continue;
      std::vector<int64_t> &counts = isPinned ? blocking : keeping;
      ++counts[at + 1];
      --counts[last + 1];
      if (!isPinned)
        crossing.push_back({result, at, last});
    }
  }
  for (size_t i = 1; i < blocking.size(); ++i) {
    blocking[i] += blocking[i - 1];
    keeping[i] += keeping[i - 1];
  }
}

/// Returns true if the function is code of a run, whose call can allocate
/// memory. A function that infers sizes cannot allocate memory.
bool Cutter::canAllocate() {
  return body.getNumArguments() != 0 &&
         isa<LLVM::LLVMPointerType>(body.getArguments().back().getType()) &&
         !IngotDialect::InfersAttrHelper(function.getContext())
              .isAttrPresent(function);
}

/// Returns the cost of an op for LLVM. A call passes each memref as several
/// values: its pointers, offset, sizes and strides.
static int64_t sizeOf(Operation *op) {
  int64_t size = 0;
  op->walk([&](Operation *inner) {
    ++size;
    if (!isa<func::CallOp>(inner))
      return;
    for (Type type : llvm::concat<const Type>(inner->getOperandTypes(),
                                              inner->getResultTypes()))
      if (auto memref = dyn_cast<MemRefType>(type))
        size += 2 * memref.getRank() + 2;
  });
  return size;
}

/// Finds the ops in front of which the function is to be cut.
bool Cutter::findCuts() {
  std::vector<int64_t> sizes;
  int64_t total = 0;
  for (Operation *op : ops) {
    sizes.push_back(sizeOf(op));
    total += sizes.back();
  }
  if (total <= 2 * mostOps)
    return false;
  findCrossing();
  int64_t mostKept =
      canAllocate() ? std::numeric_limits<int64_t>::max() : kMaxOnStack;
  cuts.push_back(0);
  int64_t size = 0;
  for (size_t i = 0; i < ops.size(); ++i) {
    if (size >= mostOps && blocking[i] == 0 && keeping[i] <= mostKept) {
      cuts.push_back(i);
      size = 0;
    }
    // Does not count repeated ops, which belong to no piece.
    size += repeated.count(ops[i]) ? 0 : sizes[i];
  }
  cuts.push_back(ops.size());
  // Requires more than one piece.
  return cuts.size() > 2 && blocking[ops.size()] == 0;
}

/// Gives each value that crosses a cut a slot. Values share a slot if they are
/// not needed at the same time.
void Cutter::placeKept() {
  auto pieceOf = [&](int64_t op) {
    return llvm::upper_bound(cuts, op) - cuts.begin();
  };
  DenseMap<Type, std::vector<int64_t>> freeSlots;
  // The values that have a slot, by the last piece that needs the value.
  std::multimap<int64_t, Kept *> ends;
  for (Kept &candidate : crossing) {
    int64_t from = pieceOf(candidate.first), to = pieceOf(candidate.last);
    if (from == to)
      continue;
    // Free the slots of values that only earlier pieces need.
    while (!ends.empty() && ends.begin()->first < from) {
      Kept *done = ends.begin()->second;
      freeSlots[done->value.getType()].push_back(done->slot);
      ends.erase(ends.begin());
    }
    Type type = candidate.value.getType();
    std::vector<int64_t> &unused = freeSlots[type];
    if (unused.empty()) {
      candidate.slot = slots[type]++;
    } else {
      candidate.slot = unused.back();
      unused.pop_back();
    }
    ends.insert({to, &candidate});
    kept[candidate.value] = &candidate;
  }
}

//===----------------------------------------------------------------------===//
// Cutting
//===----------------------------------------------------------------------===//

/// Adds the outside values that a piece needs to compute `value` to
/// `arguments`.
void Cutter::addArguments(SetVector<Value> &arguments, Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    arguments.insert(argument);
    return;
  }
  Operation *op = value.getDefiningOp();
  if (!repeated.count(op)) {
    arguments.insert(memoryFor(value.getType()));
    return;
  }
  for (Value operand : op->getOperands())
    addArguments(arguments, operand);
}

/// Computes `value` in a piece from the piece's arguments.
void Cutter::repeat(Value value, OpBuilder &builder, IRMapping &mapping) {
  if (mapping.contains(value))
    return;
  Operation *op = value.getDefiningOp();
  if (repeated.count(op)) {
    for (Value operand : op->getOperands())
      repeat(operand, builder, mapping);
    builder.clone(*op, mapping);
    return;
  }
  Value slot = arith::ConstantIndexOp::create(builder, value.getLoc(),
                                              kept.lookup(value)->slot);
  mapping.map(value, memref::LoadOp::create(
                         builder, value.getLoc(),
                         mapping.lookup(memoryFor(value.getType())), slot));
}

void Cutter::outline(int64_t piece, int64_t begin, int64_t end) {
  // Leaves repeated ops in the function, because all pieces copy them from
  // there.
  SmallVector<Operation *> range;
  for (Operation *op : ArrayRef(ops).slice(begin, end - begin))
    if (!repeated.count(op))
      range.push_back(op);
  // Values from outside of the piece.
  SetVector<Value> captured, arguments;
  for (Operation *op : range)
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *owner = operand.getDefiningOp();
        auto number = numbers.find(owner);
        bool isOutside =
            owner ? number != numbers.end() &&
                        (number->second < begin || repeated.count(owner))
                  : cast<BlockArgument>(operand).getOwner() == &body;
        if (isOutside)
          captured.insert(operand);
      }
    });
  SmallVector<Kept *> stored;
  for (Operation *op : range)
    for (Value result : op->getResults())
      if (Kept *value = kept.lookup(result))
        stored.push_back(value);
  for (Value value : captured)
    addArguments(arguments, value);
  for (Kept *value : stored)
    arguments.insert(memoryFor(value->value.getType()));
  // Makes the call of the run the last argument of a piece, too.
  BlockArgument last =
      body.getNumArguments() ? body.getArguments().back() : BlockArgument();
  if (last && isa<LLVM::LLVMPointerType>(last.getType())) {
    arguments.remove(last);
    arguments.insert(last);
  }

  Location loc = function.getLoc();
  OpBuilder builder(function);
  SmallVector<Value> given = arguments.takeVector();
  auto outlined = func::FuncOp::create(
      builder, loc,
      (function.getName() + "_piece_" + Twine(piece)).str(),
      builder.getFunctionType(ValueRange(given).getTypes(), {}));
  outlined.setPrivate();
  outlined->setAttr("llvm.linkage",
                    LLVM::LinkageAttr::get(builder.getContext(),
                                           LLVM::Linkage::Internal));
  // Host buffers, the arena, and memory of the function do not overlap.
  outlined->setAttr("passthrough",
                    builder.getStrArrayAttr(
                        {"noinline", "ingot-distinct-buffers"}));
  Block *block = outlined.addEntryBlock();
  IRMapping mapping;
  mapping.map(given, block->getArguments());
  builder.setInsertionPointToStart(block);
  for (Value value : captured)
    repeat(value, builder, mapping);
  builder.setInsertionPoint(body.getTerminator());
  func::CallOp::create(builder, loc, outlined, given);
  for (Operation *op : range) {
    op->moveBefore(block, block->end());
    op->walk([&](Operation *inner) {
      for (OpOperand &operand : inner->getOpOperands())
        if (Value inside = mapping.lookupOrNull(operand.get()))
          operand.set(inside);
    });
  }
  builder.setInsertionPointToEnd(block);
  for (Kept *value : stored) {
    Value slot = arith::ConstantIndexOp::create(builder, loc, value->slot);
    memref::StoreOp::create(builder, loc, value->value,
                            mapping.lookup(memoryFor(value->value.getType())),
                            slot);
  }
  func::ReturnOp::create(builder, loc);
}

/// Creates the memory for all kept values, by type. A function that infers
/// sizes has only the stack, since its host provides no memory.
void Cutter::makeMemories() {
  IngotDialect::InfersAttrHelper infers(function.getContext());
  bool findsSizes = infers.isAttrPresent(function);
  int64_t all = 0;
  for (auto [type, count] : slots)
    all += count;
  Location loc = function.getLoc();
  OpBuilder builder(function.getContext());
  builder.setInsertionPointToStart(&body);
  for (auto [type, count] : slots) {
    auto memory = MemRefType::get({count}, type);
    if (findsSizes || all <= kMaxOnStack)
      memories[type] = memref::AllocaOp::create(builder, loc, memory);
    else
      memories[type] = memref::AllocOp::create(builder, loc, memory);
  }
}

int64_t Cutter::run() {
  number();
  if (!findCuts())
    return 0;
  placeKept();
  makeMemories();
  OpBuilder builder(function.getContext());
  int64_t pieces = cuts.size() - 1;
  for (int64_t i = 0; i < pieces; ++i)
    outline(i, cuts[i], cuts[i + 1]);
  // Compute the values that the function returns.
  Operation *terminator = body.getTerminator();
  builder.setInsertionPoint(terminator);
  IRMapping mapping;
  mapping.map(body.getArguments(), body.getArguments());
  for (auto [type, memory] : memories)
    mapping.map(memory, memory);
  for (OpOperand &operand : terminator->getOpOperands()) {
    repeat(operand.get(), builder, mapping);
    operand.set(mapping.lookup(operand.get()));
  }
  for (auto [type, count] : slots)
    if (Value memory = memoryFor(type); memory.getDefiningOp<memref::AllocOp>())
      memref::DeallocOp::create(builder, function.getLoc(), memory);
  for (Operation *op : llvm::reverse(ops))
    if (repeated.count(op) && op->use_empty())
      op->erase();
  return pieces;
}

namespace {
struct CutFunctionsPass : ingot::impl::CutFunctionsBase<CutFunctionsPass> {
  using CutFunctionsBase::CutFunctionsBase;

  void runOnOperation() override {
    IngotDialect::KernelAttrHelper isKernel(&getContext());
    SmallVector<func::FuncOp> functions;
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal() && function.getBody().hasOneBlock() &&
          !isKernel.isAttrPresent(function))
        functions.push_back(function);
    for (func::FuncOp function : functions)
      pieces += Cutter(function, mostOps).run();
  }
};
} // namespace
