//===- Ptx.cpp - translation of kernels to PTX ----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/emit/Ptx.h"

#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace ingot;

/// Returns a machine of compute capability `level`, or null.
static std::unique_ptr<llvm::TargetMachine> createMachine(unsigned level) {
  LLVMInitializeNVPTXTargetInfo();
  LLVMInitializeNVPTXTarget();
  LLVMInitializeNVPTXTargetMC();
  LLVMInitializeNVPTXAsmPrinter();
  llvm::Triple triple("nvptx64-nvidia-cuda");
  std::string error;
  const llvm::Target *target =
      llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return nullptr;
  llvm::TargetOptions options;
  // Fuses only products that kernels mark as unrounded, as CPU code does.
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, "sm_" + std::to_string(level), "+ptx80", options,
      /*RM=*/std::nullopt, /*CM=*/std::nullopt,
      llvm::CodeGenOptLevel::Default));
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine) {
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O2)
      .run(module, modules);
}

/// Returns the name of a function that the kernels call and no GPU has, or "".
/// LLVM would end the process for it.
static StringRef findMissing(llvm::Module &module) {
  for (llvm::Function &function : module) {
    if (!function.isDeclaration())
      continue;
    switch (function.getIntrinsicID()) {
    case llvm::Intrinsic::not_intrinsic:
    case llvm::Intrinsic::pow:
    case llvm::Intrinsic::powi:
    case llvm::Intrinsic::exp:
    case llvm::Intrinsic::exp2:
    case llvm::Intrinsic::exp10:
    case llvm::Intrinsic::log:
    case llvm::Intrinsic::log2:
    case llvm::Intrinsic::log10:
    case llvm::Intrinsic::sin:
    case llvm::Intrinsic::cos:
    case llvm::Intrinsic::tan:
    case llvm::Intrinsic::asin:
    case llvm::Intrinsic::acos:
    case llvm::Intrinsic::atan:
    case llvm::Intrinsic::atan2:
    case llvm::Intrinsic::sinh:
    case llvm::Intrinsic::cosh:
    case llvm::Intrinsic::tanh:
      return function.getName();
    default:
      break;
    }
  }
  return "";
}

FailureOr<std::string> cuda::translateToPtx(ModuleOp kernels, unsigned level) {
  std::unique_ptr<llvm::TargetMachine> machine = createMachine(level);
  if (!machine)
    return kernels.emitError("LLVM was built without its NVPTX target");
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module =
      translateModuleToLLVMIR(kernels, context, "ingot");
  if (!module)
    return kernels.emitError("kernels cannot be translated to LLVM IR");
  module->setTargetTriple(machine->getTargetTriple());
  module->setDataLayout(machine->createDataLayout());
  optimize(*module, *machine);
  if (StringRef missing = findMissing(*module); !missing.empty())
    return kernels.emitError("kernels call ")
           << missing << ", which no GPU has";
  llvm::SmallString<0> text;
  llvm::raw_svector_ostream out(text);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, out, nullptr,
                                   llvm::CodeGenFileType::AssemblyFile))
    return kernels.emitError("LLVM cannot emit PTX");
  passes.run(*module);
  return std::string(text);
}
