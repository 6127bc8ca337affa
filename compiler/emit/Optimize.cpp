//===- Optimize.cpp - The pipeline that LLVM IR goes through --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ChainRows.h"
#include "compiler/emit/Emit.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"

using namespace llvm;
using namespace ingot;

/// LLVM's O2 is made for what people write, and looks for most things three to
/// eight times. What comes here are loops over vectors, without calls, already
/// simplified: a round or two of each pass find nearly all of it, in less than
/// half of the time (docs/compile-time.md).
static constexpr StringLiteral kPipeline =
    // A kernel and its task become one function, which knows its arguments.
    "function(sroa,early-cse<memssa>,simplifycfg),"
    "ipsccp,cgscc(inline),deadargelim,globaldce,"
    "function("
    "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "reassociate,"
    "loop-mssa(loop-rotate,licm),"
    "loop(loop-idiom,indvars,loop-unroll-full),"
    // What is constant once loops are unrolled.
    "sccp,early-cse<memssa>,loop-mssa(licm),simplifycfg,"
    "instcombine<no-verify-fixpoint>,"
    "loop-vectorize,loop-unroll,"
    "instcombine<no-verify-fixpoint>,"
    // Short loops over scalars that are unrolled by now.
    "vectorize-scalars,"
    "early-cse<memssa>,loop-mssa(licm),dse,simplifycfg,adce),"
    "globaldce";

/// A loop that copies must not become a call in such a function: calls clobber
/// the tiles, so that LLVM would save and load them around it.
static bool usesTiles(const Function &function) {
  return llvm::any_of(instructions(function), [](const Instruction &i) {
    return i.getType()->isX86_AMXTy();
  });
}

/// A long function without loops only starts kernels: nothing in it is worth
/// vector code, for which LLVM would compare each store with each.
static bool onlyStartsKernels(const Function &function) {
  constexpr size_t kLong = 1000;
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> loops;
  if (function.getInstructionCount() < kLong)
    return false;
  FindFunctionBackedges(function, loops);
  return loops.empty() && none_of(instructions(function),
                                  [](const Instruction &i) {
                                    return i.getType()->isVectorTy();
                                  });
}

/// Whether `value` is computed from `from` in one round of `loop`, and, if
/// `isLoaded`, from what is loaded from an address that is.
static bool comesFrom(const Value *value, const PHINode *from, const Loop &loop,
                      bool isLoaded) {
  SmallPtrSet<const Value *, 16> seen;
  SmallVector<const Value *> open{value};
  while (!open.empty()) {
    const Value *next = open.pop_back_val();
    if (next == from && !isLoaded)
      return true;
    auto *i = dyn_cast<Instruction>(next);
    if (!i || !loop.contains(i) || !seen.insert(i).second ||
        (isa<PHINode>(i) && i->getParent() == loop.getHeader()))
      continue;
    if (auto *load = dyn_cast<LoadInst>(i)) {
      if (comesFrom(load->getPointerOperand(), from, loop, false))
        return true;
      continue;
    }
    append_range(open, i->operand_values());
  }
  return false;
}

/// Walks of several trees or lists side by side, where each step has to wait
/// for what the step before has loaded. LLVM would gather for all of them at
/// once, which takes some four times as long as a load, and everything waits.
static bool followsLinks(Function &function) {
  constexpr int64_t kSeveral = 4;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  return any_of(loops.getLoopsInPreorder(), [](const Loop *loop) {
    const BasicBlock *latch = loop->getLoopLatch();
    return latch && loop->isInnermost() &&
           count_if(loop->getHeader()->phis(), [&](const PHINode &phi) {
             return phi.getType()->isIntegerTy() &&
                    comesFrom(phi.getIncomingValueForBlock(latch), &phi, *loop,
                              true);
           }) >= kSeveral;
  });
}

/// Whether scalars are computed or stored side by side, of which vectors may be
/// made. In kernels that are vectors already there are sums of indices alone,
/// of the words that a task finds where its argument points.
static bool hasScalars(const Function &function) {
  int64_t numStores = 0;
  return any_of(instructions(function), [&](const Instruction &i) {
    if (auto *store = dyn_cast<StoreInst>(&i))
      return !store->getValueOperand()->getType()->isVectorTy() &&
             ++numStores > 1;
    if (auto *load = dyn_cast<LoadInst>(&i))
      return load->getType()->isIntegerTy() &&
             !isa<Argument>(load->getPointerOperand()
                                ->stripInBoundsConstantOffsets());
    return i.getType()->isFloatingPointTy();
  });
}

namespace {
/// `slp-vectorizer` where there may be something for it.
struct VectorizeScalarsPass : PassInfoMixin<VectorizeScalarsPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    if (!hasScalars(function))
      return PreservedAnalyses::all();
    return SLPVectorizerPass().run(function, analyses);
  }
};
} // namespace

/// How often a loop runs, if it says so itself.
static std::optional<uint64_t> roundsOf(const Loop &loop) {
  auto *branch = dyn_cast<BranchInst>(loop.getHeader()->getTerminator());
  auto *compare = branch && branch->isConditional()
                      ? dyn_cast<ICmpInst>(branch->getCondition())
                      : nullptr;
  auto *end = compare ? dyn_cast<ConstantInt>(compare->getOperand(1)) : nullptr;
  auto *number = end ? dyn_cast<PHINode>(compare->getOperand(0)) : nullptr;
  if (!number || number->getParent() != loop.getHeader() ||
      none_of(number->incoming_values(), IsaPred<ConstantInt>))
    return std::nullopt;
  return end->getZExtValue();
}

/// LLVM unrolls loops so that few of their instructions count and branch. Where
/// hardly any do, as in the loops of large micro-kernels, that makes more code
/// and nothing faster. Nor does it around loops that run as often as a run
/// says: there are as many copies of those then, and none knows more.
static void leaveLongLoops(Function &function) {
  // Instructions that make vectors.
  constexpr int64_t kLong = 40, kLongAroundOpen = 12;
  // Rounds of which both are worth their code.
  constexpr uint64_t kFew = 2;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    int64_t length = 0;
    for (const BasicBlock *block : loop->blocks())
      length += count_if(*block, [](const Instruction &i) {
        return i.getType()->isVectorTy();
      });
    bool isAroundOpen =
        roundsOf(*loop).value_or(kFew + 1) > kFew &&
        any_of(loop->getSubLoops(),
               [](const Loop *inner) { return !roundsOf(*inner); });
    if (length >= (isAroundOpen ? kLongAroundOpen : kLong))
      loop->setLoopAlreadyUnrolled();
  }
}

/// Loop strength reduction writes the addresses in a loop anew from what they
/// are made of, and computes again in each round what it knows the meaning of
/// but may not move: quotients, and the lesser of two numbers. It does not look
/// behind a freeze, which costs nothing.
static void keepOutsideLoops(Function &function) {
  for (Instruction &i : make_early_inc_range(instructions(function))) {
    if (!i.getType()->isIntegerTy(64) ||
        (!i.isIntDivRem() && !isa<MinMaxIntrinsic>(i)))
      continue;
    auto *frozen = new FreezeInst(&i, "", std::next(i.getIterator()));
    i.replaceUsesWithIf(
        frozen, [&](const Use &use) { return use.getUser() != frozen; });
  }
}

/// Of what loops around others count, loop strength reduction makes a pointer
/// for each address in the loops inside.
static void countInnermostAlone(Function &function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    BasicBlock *latch = loop->getLoopLatch();
    if (loop->isInnermost() || !latch)
      continue;
    for (PHINode &phi : make_early_inc_range(loop->getHeader()->phis())) {
      Value *step = phi.getIncomingValueForBlock(latch);
      auto *next = dyn_cast<BinaryOperator>(step);
      if (!phi.getType()->isIntegerTy(64) || !next)
        continue;
      auto *frozen =
          new FreezeInst(&phi, "", loop->getHeader()->getFirstNonPHIIt());
      phi.replaceUsesWithIf(frozen, [&](const Use &use) {
        return use.getUser() != frozen && use.getUser() != next;
      });
    }
  }
}

void ingot::setMachine(Module &module, TargetMachine &machine) {
  module.setTargetTriple(machine.getTargetTriple());
  module.setDataLayout(machine.createDataLayout());
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    // LLVM holds back from 512 bits for old parts' clock speed; long loops over
    // tensors gain on all that have them.
    function.addFnAttr("prefer-vector-width", "512");
  }
}

void ingot::optimize(Module &module, TargetMachine &machine, bool forSize) {
  setMachine(module, machine);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    if (usesTiles(function))
      function.addFnAttr("no-builtins");
    if (onlyStartsKernels(function) || followsLinks(function))
      function.addFnAttr(Attribute::NoImplicitFloat);
    leaveLongLoops(function);
    if (forSize)
      function.addFnAttr(Attribute::OptimizeForSize);
  }
  PassBuilder builder(&machine);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graph;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.registerPipelineParsingCallback(
      [](StringRef name, FunctionPassManager &passes, auto) {
        bool isOurs = name == "vectorize-scalars";
        if (isOurs)
          passes.addPass(VectorizeScalarsPass());
        return isOurs;
      });
  ModulePassManager passes;
  cantFail(builder.parsePassPipeline(passes, kPipeline));
  passes.run(module, modules);
  for (Function &function : module) {
    if (function.isDeclaration())
      continue;
    // LLVM has to keep tiles in their registers, of which it has none to spare.
    const bool hasTiles = usesTiles(function);
    if (!hasTiles)
      chainRows(function);
    keepOutsideLoops(function);
    if (!hasTiles)
      countInnermostAlone(function);
  }
}
