//===- Repeats.cpp - rows of ops that a function has again ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/Repeats.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/kernel/KernelInterfaces.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/MapVector.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/CallInterfaces.h"

#include <map>
#include <unordered_map>

using namespace mlir;
using namespace ingot;
using namespace ingot::codegen;

/// The lengths of the common sequences from which rows grow. Long sequences
/// come first. A short sequence occurs more often, but may be a part of a long
/// one.
static constexpr size_t kSeeds[] = {64, 32, 16, 8};

namespace {

using FingerprintWords = std::vector<uint64_t>;

struct HashFingerprint {
  size_t operator()(const FingerprintWords &words) const {
    return llvm::hash_combine_range(words.begin(), words.end());
  }
};

/// A fingerprint of an op: equal fingerprints mean equal ops.
class Description {
public:
  explicit Description(Operation *op) { add(op); }

  FingerprintWords words;
  /// True if the op can be moved into a separate function.
  bool isMovable = true;

private:
  void add(Operation *op);
  void add(Type type);
  void add(Region &region);

  DenseMap<Value, uint64_t> inside;
};

class Finder {
public:
  explicit Finder(ArrayRef<Operation *> ops);

  std::vector<Repeat> run();

private:
  std::vector<SmallVector<size_t>> seeds(size_t length);
  void findBySeeds(size_t length, std::vector<Repeat> &repeats);
  void grow(Repeat &repeat);
  bool growBy(Repeat &repeat, bool isForward);
  void keepLikeWired(Repeat &repeat);
  FingerprintWords wiringOf(size_t start, size_t length);
  bool isFree(size_t start, size_t length) {
    return start + length <= ops.size() &&
           taken.find_first_in(start, start + length) < 0;
  }

  ArrayRef<Operation *> ops;
  std::vector<uint64_t> kinds;
  /// Ops that cannot move, or that already belong to a row.
  llvm::BitVector taken;
};

} // namespace

//===----------------------------------------------------------------------===//
// Fingerprints of ops
//===----------------------------------------------------------------------===//

/// Returns true if a value of this type can be an argument or a result of a
/// function.
static bool canCross(Type type) {
  return isa<IndexType, IntegerType, FloatType, MemRefType,
             LLVM::LLVMPointerType>(type);
}

void Description::add(Type type) {
  words.push_back(uint64_t(uintptr_t(type.getAsOpaquePointer())));
}

void Description::add(Region &region) {
  words.push_back(region.getBlocks().size());
  for (Block &block : region) {
    words.push_back(block.getNumArguments());
    for (BlockArgument argument : block.getArguments()) {
      inside.try_emplace(argument, inside.size() + 1);
      add(argument.getType());
    }
    words.push_back(block.getOperations().size());
    for (Operation &op : block)
      add(&op);
  }
}

void Description::add(Operation *op) {
  // Excludes stack memory, which is gone when a function returns.
  isMovable &= !isa<memref::AllocaOp, LLVM::AllocaOp>(op) &&
               op->getNumSuccessors() == 0;
  words.push_back(
      uint64_t(uintptr_t(op->getName().getAsOpaquePointer())));
  // Ignore the values of constants and the texts of checks, because they may
  // differ between rows.
  if (!op->hasTrait<OpTrait::ConstantLike>() && !isa<RequireOp>(op))
    words.push_back(uint64_t(
        uintptr_t(op->getAttrDictionary().getAsOpaquePointer())));
  words.push_back(op->getNumOperands());
  words.push_back(op->getNumResults());
  words.push_back(op->getNumRegions());
  for (Value operand : op->getOperands()) {
    words.push_back(inside.lookup(operand));
    add(operand.getType());
    isMovable &= inside.contains(operand) || canCross(operand.getType());
  }
  for (Value result : op->getResults()) {
    inside.try_emplace(result, inside.size() + 1);
    add(result.getType());
    isMovable &= canCross(result.getType());
  }
  for (Region &region : op->getRegions())
    add(region);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

Finder::Finder(ArrayRef<Operation *> ops) : ops(ops), taken(ops.size()) {
  std::unordered_map<FingerprintWords, uint64_t, HashFingerprint> numbers;
  for (auto [i, op] : llvm::enumerate(ops)) {
    Description description(op);
    if (!description.isMovable)
      taken.set(i);
    kinds.push_back(
        numbers.try_emplace(std::move(description.words), numbers.size())
            .first->second);
  }
}

/// Returns the starts of each sequence of `length` ops that occurs at least
/// twice. The most frequent sequence comes first.
std::vector<SmallVector<size_t>> Finder::seeds(size_t length) {
  auto seedAt = [&](size_t i) { return ArrayRef(kinds).slice(i, length); };
  llvm::MapVector<size_t, SmallVector<size_t>> found;
  for (size_t i = 0; i + length <= ops.size(); ++i) {
    if (!isFree(i, length))
      continue;
    SmallVector<size_t> &starts =
        found[llvm::hash_combine_range(seedAt(i)) >> 2];
    if (starts.empty() || (starts.back() + length <= i &&
                           seedAt(starts.front()) == seedAt(i)))
      starts.push_back(i);
  }
  std::vector<SmallVector<size_t>> seeds;
  for (auto &[hash, starts] : found)
    if (starts.size() > 1)
      seeds.push_back(std::move(starts));
  llvm::stable_sort(seeds, [](const auto &a, const auto &b) {
    return a.size() > b.size();
  });
  return seeds;
}

/// Extends each row by one op if nearly all rows continue with equal ops. The
/// remaining rows leave the repeat.
bool Finder::growBy(Repeat &repeat, bool isForward) {
  std::map<uint64_t, SmallVector<size_t>> byKind;
  for (auto [i, start] : llvm::enumerate(repeat.starts)) {
    if (!isForward && start == 0)
      continue;
    size_t next = isForward ? start + repeat.length : start - 1;
    // An op that two neighbouring rows could take belongs to the later row.
    bool isOthers =
        isForward ? i + 1 < repeat.starts.size() &&
                        next >= repeat.starts[i + 1]
                  : i > 0 && next < repeat.starts[i - 1] + repeat.length;
    if (!isOthers && isFree(next, 1))
      byKind[kinds[next]].push_back(start);
  }
  size_t most = repeat.starts.size();
  for (auto &[kind, starts] : byKind) {
    if (starts.size() < 2 || starts.size() * 8 < most * 7)
      continue;
    repeat.starts = starts;
    if (!isForward)
      for (size_t &start : repeat.starts)
        --start;
    ++repeat.length;
    return true;
  }
  return false;
}

void Finder::grow(Repeat &repeat) {
  while (growBy(repeat, /*isForward=*/true))
    ;
  while (growBy(repeat, /*isForward=*/false))
    ;
}

/// Returns which operands of a row are results of the same row.
FingerprintWords Finder::wiringOf(size_t start, size_t length) {
  DenseMap<Value, uint64_t> results;
  FingerprintWords wiring;
  for (Operation *op : ops.slice(start, length)) {
    op->walk<WalkOrder::PreOrder>([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        wiring.push_back(results.lookup(operand));
    });
    for (Value result : op->getResults())
      results.try_emplace(result, results.size() + 1);
  }
  return wiring;
}

void Finder::keepLikeWired(Repeat &repeat) {
  std::map<FingerprintWords, SmallVector<size_t>> byWiring;
  for (size_t start : repeat.starts)
    byWiring[wiringOf(start, repeat.length)].push_back(start);
  repeat.starts.clear();
  for (auto &[wiring, starts] : byWiring)
    if (starts.size() > repeat.starts.size() ||
        (starts.size() == repeat.starts.size() && starts < repeat.starts))
      repeat.starts = starts;
}

void Finder::findBySeeds(size_t length, std::vector<Repeat> &repeats) {
  for (const SmallVector<size_t> &starts : seeds(length)) {
    Repeat repeat{length, {}};
    for (size_t start : starts)
      if (isFree(start, length))
        repeat.starts.push_back(start);
    if (repeat.starts.size() < 2)
      continue;
    grow(repeat);
    keepLikeWired(repeat);
    if (repeat.starts.size() < 2)
      continue;
    for (size_t start : repeat.starts)
      taken.set(start, start + repeat.length);
    repeats.push_back(std::move(repeat));
  }
}

std::vector<Repeat> Finder::run() {
  std::vector<Repeat> repeats;
  for (size_t length : kSeeds)
    findBySeeds(length, repeats);
  return repeats;
}

std::vector<Repeat> codegen::findRepeats(ArrayRef<Operation *> ops) {
  return Finder(ops).run();
}

//===----------------------------------------------------------------------===//
// Costs of ops
//===----------------------------------------------------------------------===//

int64_t codegen::costOf(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  return memref ? 2 * memref.getRank() + 3 : 1;
}

int64_t codegen::costOf(Operation *op) {
  int64_t cost = 1;
  if (isa<kernel::LaunchOpInterface, CallOpInterface, memref::AllocOp,
          memref::DeallocOp>(op))
    for (Type type :
         llvm::concat<const Type>(op->getOperandTypes(), op->getResultTypes()))
      cost += costOf(type);
  return cost;
}
