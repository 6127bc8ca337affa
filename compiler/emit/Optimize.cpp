//===- Optimize.cpp - optimization of LLVM IR -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ChainRows.h"
#include "compiler/emit/Emit.h"
#include "passes/support/Thresholds.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Transforms/Vectorize/SLPVectorizer.h"

using namespace llvm;
using namespace ingot;

/// Optimization pipeline. LLVM's O2 is made for source code written by people,
/// and repeats most passes three to eight times. The modules here contain
/// simplified loops over vectors without calls. So one or two rounds of each
/// pass are nearly as good and much faster (docs/design/llvm-pipeline.md).
static constexpr StringLiteral kPipeline =
    // Inlines a kernel into its task, so that the kernel's arguments are known.
    "function(sroa,early-cse<memssa>,simplifycfg),"
    "ipsccp,cgscc(inline),deadargelim,globaldce,"
    "function("
    "sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "reassociate,"
    "loop-mssa(loop-rotate,licm),"
    "loop(loop-idiom,indvars,loop-unroll-full),"
    // Folds constants that appear after loops are unrolled.
    "sccp,early-cse<memssa>,loop-mssa(licm),simplifycfg,"
    "instcombine<no-verify-fixpoint>,"
    "loop-vectorize,loop-unroll,"
    "instcombine<no-verify-fixpoint>,"
    // Vectorizes short scalar loops, which are unrolled at this point.
    "vectorize-scalars,"
    "early-cse<memssa>,loop-mssa(licm),dse,simplifycfg,adce),"
    "globaldce";

/// Returns true if the function uses AMX tiles. In such a function, a copy loop
/// must not become a call. Calls overwrite the tiles, so LLVM would save and
/// restore them around each call.
static bool usesTiles(const Function &function) {
  return llvm::any_of(instructions(function), [](const Instruction &i) {
    return i.getType()->isX86_AMXTy();
  });
}

/// Returns true for a long function without loops, which only starts kernels.
/// Vectorization gains nothing there, but is slow: LLVM would compare each
/// store with every other store.
static bool onlyStartsKernels(const Function &function) {
  constexpr size_t kMaxOptimized = 1000;
  SmallVector<std::pair<const BasicBlock *, const BasicBlock *>> loops;
  if (function.getInstructionCount() < kMaxOptimized)
    return false;
  FindFunctionBackedges(function, loops);
  return loops.empty() && none_of(instructions(function),
                                  [](const Instruction &i) {
                                    return i.getType()->isVectorTy();
                                  });
}

/// Returns true if `value` is computed from `from` in one iteration of `loop`.
/// If `isLoaded`, the value must come from a load whose address is computed
/// from `from`.
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

/// Returns true if a loop walks several trees or lists side by side. Each step
/// of a walk waits for the load of its previous step. LLVM would combine the
/// loads of all walks into gathers. Gathers are slower than loads and make
/// every walk wait for all others.
static bool followsLinks(Function &function) {
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  return any_of(loops.getLoopsInPreorder(), [](const Loop *loop) {
    const BasicBlock *latch = loop->getLoopLatch();
    return latch && loop->isInnermost() &&
           count_if(loop->getHeader()->phis(), [&](const PHINode &phi) {
             return phi.getType()->isIntegerTy() &&
                    comesFrom(phi.getIncomingValueForBlock(latch), &phi, *loop,
                              true);
           }) >= threshold::linkedWalks;
  });
}

/// Returns true if the function computes or stores neighboring scalars, which
/// may become vectors. A kernel that is vectorized already has only integer
/// sums of indices, loaded from its task's argument.
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
/// Runs `slp-vectorizer` on functions that have scalars to vectorize.
struct VectorizeScalarsPass : PassInfoMixin<VectorizeScalarsPass> {
  PreservedAnalyses run(Function &function, FunctionAnalysisManager &analyses) {
    if (!hasScalars(function))
      return PreservedAnalyses::all();
    return SLPVectorizerPass().run(function, analyses);
  }
};
} // namespace

/// Returns the iteration count of a loop if it is a constant.
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

/// Disables unrolling where it gains nothing. Unrolling saves counter updates
/// and branches, but these hardly matter in large micro-kernels. If an inner
/// loop has a run-time iteration count, unrolling the outer loop only copies
/// the inner loop.
static void leaveLongLoops(Function &function) {
  const uint64_t few = threshold::unrolledRounds;
  DominatorTree dominators(function);
  LoopInfo loops(dominators);
  for (Loop *loop : loops.getLoopsInPreorder()) {
    int64_t length = 0;
    for (const BasicBlock *block : loop->blocks())
      length += count_if(*block, [](const Instruction &i) {
        return i.getType()->isVectorTy();
      });
    bool isAroundOpen = roundsOf(*loop).value_or(few + 1) > few &&
                        any_of(loop->getSubLoops(), [](const Loop *inner) {
                          return !roundsOf(*inner);
                        });
    if (length >= (isAroundOpen ? threshold::unrolledVectorsAroundOpen
                                : threshold::unrolledVectors))
      loop->setLoopAlreadyUnrolled();
  }
}

/// Hides divisions and min/max from loop strength reduction behind a freeze,
/// which costs nothing. Loop strength reduction rebuilds addresses in a loop
/// from their parts. It cannot hoist divisions and min/max, so it would compute
/// them in each iteration.
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

/// Hides induction variables of outer loops from loop strength reduction behind
/// a freeze. Otherwise that pass makes a separate pointer for each address in
/// the inner loop.
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

/// Returns the only lane that a masked store writes. Returns nullopt if it
/// writes several or none, or if the mask is not a constant.
static std::optional<unsigned> onlyLane(const IntrinsicInst &store) {
  auto *mask = dyn_cast<Constant>(store.getArgOperand(2));
  auto *type = dyn_cast<FixedVectorType>(store.getArgOperand(0)->getType());
  std::optional<unsigned> only;
  for (unsigned lane = 0; mask && type && lane < type->getNumElements();
       ++lane) {
    Constant *bit = mask->getAggregateElement(lane);
    if (!bit || !isa<ConstantInt>(bit))
      return std::nullopt;
    if (bit->isZeroValue())
      continue;
    if (only)
      return std::nullopt;
    only = lane;
  }
  return only;
}

/// Replaces masked stores of one element by plain stores. For CPUs with
/// AVX-512, LLVM 22 would store the element as it is before a truncation, and
/// so write behind the element.
static void storeSingleElements(Function &function) {
  for (Instruction &i : make_early_inc_range(instructions(function))) {
    auto *store = dyn_cast<IntrinsicInst>(&i);
    if (!store || store->getIntrinsicID() != Intrinsic::masked_store)
      continue;
    std::optional<unsigned> lane = onlyLane(*store);
    if (!lane)
      continue;
    IRBuilder<> builder(store);
    Value *element =
        builder.CreateExtractElement(store->getArgOperand(0), *lane);
    Value *at = builder.CreateConstInBoundsGEP1_64(
        element->getType(), store->getArgOperand(1), *lane);
    const uint64_t offset =
        *lane * function.getDataLayout().getTypeStoreSize(element->getType());
    builder
        .CreateAlignedStore(
            element, at,
            commonAlignment(store->getParamAlign(1).valueOrOne(), offset))
        ->copyMetadata(*store);
    store->eraseFromParent();
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
    // LLVM avoids 512-bit vectors because they lower the clock rate of old
    // CPUs. In long loops over tensors, these vectors are faster on all CPUs
    // that have them.
    function.addFnAttr("prefer-vector-width", "512");
    // Leaves out tables for unwinding. Nothing throws through a model, and a
    // library without an index of these tables is not unwound.
    function.setDoesNotThrow();
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
    // Skip two changes of loops in functions with AMX tiles. Such functions use
    // all tile registers, so LLVM would spill tiles if it reordered their
    // loads.
    const bool hasTiles = usesTiles(function);
    storeSingleElements(function);
    if (!hasTiles)
      chainRows(function);
    keepOutsideLoops(function);
    if (!hasTiles)
      countInnermostAlone(function);
  }
}
