//===- LLVMPipeline.cpp - the tail of all CPU code ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/llvm/LLVMPipeline.h"

#include "passes/cpu/Passes.h"
#include "passes/llvm/Passes.h"
#include "passes/math/Passes.h"
#include "passes/support/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void ingot::buildLLVMPipeline(OpPassManager &passes) {
  passes.addNestedPass<func::FuncOp>(createLinalgToLoops());
  passes.addPass(createSaturateIntegers());
  // Kernels that divide by different constants differ only in factors then.
  passes.addPass(createDivideByConstants());
  passes.addPass(createFuseMultiplyAdds());
  passes.addPass(createMergeKernels());
  // Expand instructions and functions that the CPU lacks.
  passes.addPass(createApproximateMath());
  passes.addPass(createExpandBF16());
  passes.addPass(createExpandFMA());
  passes.addPass(createRoundToInteger());
  passes.addPass(createOutlineLoops());
  passes.addPass(createLoadArguments());
  passes.addPass(createCutFunctions());
  passes.addPass(createLowerOpenExpansions());
  passes.addPass(createExpandViews());
  passes.addPass(createLowerAffinePass());
  passes.addPass(createGuardDivision());
  passes.addPass(createCanonicalize());
  passes.addPass(createCSEPass());
  passes.addPass(createLowerControlFlow());
  passes.addPass(createConvertToLLVM());
  // LLVM simplifies the branches.
  passes.addPass(createCanonicalize({/*simplifyRegions=*/false}));
  passes.addPass(createCSEPass());
}
