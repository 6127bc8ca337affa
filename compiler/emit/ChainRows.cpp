//===- ChainRows.cpp - chained addresses of rows --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ChainRows.h"

#include "passes/support/Thresholds.h"

#include "llvm/Analysis/AssumptionCache.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/Analysis/ScalarEvolution.h"
#include "llvm/Analysis/TargetLibraryInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/Transforms/Utils/Local.h"
#include "llvm/Transforms/Utils/ScalarEvolutionExpander.h"

using namespace llvm;
using namespace ingot;

namespace {

/// Loads at equal distances from each other.
struct Chain {
  SmallVector<LoadInst *> loads;
  const SCEV *distance = nullptr;
};

} // namespace

/// Returns true if a load reads factors of one row in a matrix product: a
/// scalar, or a few narrow elements.
static bool isOfRow(const LoadInst &load) {
  constexpr uint64_t kWidest = 8;
  return load.isSimple() &&
         load.getDataLayout().getTypeStoreSize(load.getType()) <= kWidest;
}

static std::vector<Chain> chainsOf(const Loop &loop, ScalarEvolution &scev) {
  std::vector<Chain> chains;
  for (Instruction &i : *loop.getHeader()) {
    auto *load = dyn_cast<LoadInst>(&i);
    if (!load || !isOfRow(*load))
      continue;
    if (!chains.empty()) {
      Chain &last = chains.back();
      const SCEV *distance = scev.getMinusSCEV(
          scev.getSCEV(load->getPointerOperand()),
          scev.getSCEV(last.loads.back()->getPointerOperand()));
      bool isNext = !isa<SCEVCouldNotCompute>(distance) &&
                    !isa<SCEVConstant>(distance) &&
                    scev.isLoopInvariant(distance, &loop) &&
                    (!last.distance || last.distance == distance);
      if (isNext) {
        last.loads.push_back(load);
        last.distance = distance;
        continue;
      }
    }
    chains.push_back({{load}});
  }
  erase_if(chains, [](const Chain &chain) {
    return chain.loads.size() < size_t(threshold::chainedRows);
  });
  return chains;
}

/// Replaces the addresses of the chain by sums of a few bases and multiples of
/// `distance`. Inserts code before `end`.
static void rewrite(const Chain &chain, Value *distance, Instruction *end) {
  // An x86 address can add 1, 2 or 4 times the distance to a base. A second
  // register holds 3 times the distance. So five rows share a base.
  constexpr size_t kRowsOfBase = 5;
  IRBuilder<> before(end);
  Value *threefold = before.CreateMul(distance, before.getInt64(3));
  Value *ofBase = before.CreateMul(distance, before.getInt64(kRowsOfBase));
  Value *base = nullptr;
  for (auto [i, load] : enumerate(chain.loads)) {
    IRBuilder<> builder(load);
    auto plus = [&](Value *offset, unsigned factor = 1) {
      return builder.CreateGEP(builder.getIntNTy(8 * factor), base, offset);
    };
    Value *old = load->getPointerOperand(), *at = nullptr;
    size_t row = i % kRowsOfBase;
    if (i == 0)
      base = builder.CreateFreeze(old);
    else if (row == 0)
      base = plus(ofBase);
    if (row == 0)
      at = base;
    else
      at = row == 3 ? plus(threefold) : plus(distance, row);
    load->setOperand(0, at);
    if (i != 0)
      RecursivelyDeleteTriviallyDeadInstructions(old);
  }
}

void ingot::chainRows(Function &function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  AssumptionCache assumptions(function);
  TargetLibraryInfoImpl libraries(function.getParent()->getTargetTriple());
  TargetLibraryInfo library(libraries);
  ScalarEvolution scev(function, library, assumptions, dominators, loops);
  SCEVExpander expander(scev, "distance");
  for (Loop *loop : loops.getLoopsInPreorder()) {
    BasicBlock *before = loop->getLoopPreheader();
    if (!before || loop->getNumBlocks() != 1)
      continue;
    for (const Chain &chain : chainsOf(*loop, scev)) {
      Instruction *end = before->getTerminator();
      if (!expander.isSafeToExpandAt(chain.distance, end))
        continue;
      Value *distance = expander.expandCodeFor(chain.distance,
                                               chain.distance->getType(), end);
      rewrite(chain, distance, end);
    }
  }
}
