//===- ObjectFile.cpp - LLVM IR to object code ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "llvm/Analysis/CFG.h"
#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ingot;

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

void ingot::optimize(Module &module, TargetMachine &machine) {
  setMachine(module, machine);
  for (Function &function : module) {
    if (usesTiles(function))
      function.addFnAttr("no-builtins");
    if (onlyStartsKernels(function))
      function.addFnAttr(Attribute::NoImplicitFloat);
  }
  PipelineTuningOptions tuning;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  PassBuilder builder(&machine, tuning);
  LoopAnalysisManager loops;
  FunctionAnalysisManager functions;
  CGSCCAnalysisManager graph;
  ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(graph);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, graph, modules);
  builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2)
      .run(module, modules);
}

bool ingot::emitCode(Module &module, TargetMachine &machine,
                     CodeGenFileType type, SmallVectorImpl<char> &out) {
  raw_svector_ostream stream(out);
  legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
    return false;
  passes.run(module);
  return true;
}

uint64_t ingot::codeBytesOf(StringRef object) {
  auto file =
      object::ObjectFile::createObjectFile(MemoryBufferRef(object, "object"));
  if (!file) {
    consumeError(file.takeError());
    return 0;
  }
  uint64_t bytes = 0;
  for (const object::SectionRef &section : (*file)->sections())
    if (section.isText())
      bytes += section.getSize();
  return bytes;
}
