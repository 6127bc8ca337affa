//===- CpuBackend.cpp - the backend of native kernels ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/CpuBackend.h"

#include "dialects/cpu/CpuDialect.h"
#include "passes/cpu/Passes.h"
#include "passes/cpu/lower/CpuSupport.h"
#include "passes/cpu/lower/Passes.h"
#include "passes/cpu/policy/CpuPolicy.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/Passes.h"
#include "passes/loops/Passes.h"
#include "passes/precision/Passes.h"
#include "passes/support/Passes.h"

#include "mlir/Dialect/AMX/AMXDialect.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/X86Vector/X86VectorDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ingot;

namespace {

class CpuBackend : public Backend {
  StringRef name() const override { return cpu::kBackend; }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<cpu::CpuDialect, amx::AMXDialect, vector::VectorDialect,
                    x86vector::X86VectorDialect>();
    cpu::registerBufferizableOpInterfaceExternalModels(registry);
  }

  void registerPasses() const override {
    registerIngotCpuPasses();
    registerIngotCpuLowerPasses();
  }

  bool isFor(Operation *op) const override { return cpu::isCpuKind(op); }
  Reason whyNot(Operation *op) const override {
    return cpu::whyNotCpuKernel(op);
  }

  bool takesQuantized() const override { return true; }

  ArrayRef<StringLiteral> options() const override {
    static constexpr StringLiteral options[] = {"kernels", "winograd"};
    return options;
  }

  const Policy *policy() const override {
    static const cpu::CpuPolicy policy;
    return &policy;
  }

  void buildLower(OpPassManager &passes,
                  const BackendOptions &options) const override {
    if (options.precision != Precision::fp32) {
      AssignPrecisionOptions assign;
      assign.half = options.precision;
      assign.keep.assign(options.keep.begin(), options.keep.end());
      passes.addPass(createAssignPrecision(assign));
    } else if (options.isInt8BesideFP32()) {
      // Assigns bf16 to products that are not int8. This is allowed because
      // bf16 is more precise than int8.
      AssignPrecisionOptions assign;
      assign.computedOnly = true;
      assign.keep.assign(options.keep.begin(), options.keep.end());
      passes.addPass(createAssignPrecision(assign));
    }
    passes.addNestedPass<func::FuncOp>(createTabulateBytes());
    // Bytes that tables read are still there.
    passes.addNestedPass<func::FuncOp>(createSkipStoredBytes());
    passes.addNestedPass<func::FuncOp>(
        createFuseAttention({/*orF32=*/options.isInt8BesideFP32()}));
    // Fold the masks that the fusion of attention transposed.
    FoldConstantsOptions fold;
    fold.maxBytes = options.maxFoldedBytes;
    passes.addPass(createFoldConstants(fold));
    passes.addNestedPass<func::FuncOp>(createFuseRecurrent());
    passes.addNestedPass<func::FuncOp>(createRepeatChannels());
    passes.addNestedPass<func::FuncOp>(createStorePadding());
    if (options.winograd)
      passes.addNestedPass<func::FuncOp>(
          createConvToWinograd({options.precision, options.optimize}));
    passes.addNestedPass<func::FuncOp>(createProductsToSigns());
    passes.addNestedPass<func::FuncOp>(
        createNNToCpu({options.precision, options.maxFoldedBytes}));
    passes.addNestedPass<func::FuncOp>(createFuseEpilogues());
    passes.addNestedPass<func::FuncOp>(createSignsToThresholds());
    passes.addNestedPass<func::FuncOp>(createDecomposeConvTranspose());
    passes.addNestedPass<func::FuncOp>(createFlattenKernels());
    passes.addPass(createDropZeroBlocks());
    passes.addNestedPass<func::FuncOp>(createProvePairs());
    if (options.winograd)
      passes.addNestedPass<func::FuncOp>(createProveWinograd());
  }

  /// Loops between kernels store bf16 or f16, too.
  void buildLowered(OpPassManager &passes,
                    const BackendOptions &options) const override {
    if (options.precision == Precision::fp32)
      return;
    NarrowStorageOptions narrow;
    narrow.half = options.precision;
    narrow.level = options.precisionLevel;
    narrow.keep.assign(options.keep.begin(), options.keep.end());
    passes.addNestedPass<func::FuncOp>(createNarrowStorage(narrow));
    passes.addPass(createCanonicalize());
    passes.addPass(createCSEPass());
  }

  void buildKernels(OpPassManager &passes,
                    const BackendOptions &options) const override {
    passes.addPass(createSchedule({options.scheduleSeed}));
    passes.addPass(createOutlineKernels());
  }

  void buildCodegen(OpPassManager &passes,
                    const BackendOptions &options) const override {
    passes.addPass(createAttentionToVector());
    passes.addPass(createConvToVector());
    passes.addPass(createDepthwiseToVector());
    passes.addPass(createMatMulToVector());
    passes.addPass(createPackedMatMulToVector());
    passes.addPass(createWinogradToVector());
    passes.addPass(createBandMatMulToVector());
    passes.addPass(createGroupNormToVector());
    passes.addPass(createPackSignsToVector());
    passes.addPass(createPoolToVector());
    passes.addPass(createRecurrentToVector());
    passes.addPass(createReduceToVector());
    passes.addPass(createResampleToVector());
    passes.addPass(createRoundBlocksToVector());
    passes.addPass(createRowNormToVector());
    passes.addPass(createSoftmaxToVector());
    if (!options.emulateOn.empty()) {
      EmulateInstructionsOptions emulated;
      emulated.on = options.emulateOn;
      passes.addPass(createEmulateInstructions(emulated));
    }
    // Vectorize the linalg loops that suit vectors.
    passes.addPass(createContractionsToVector());
    passes.addPass(createWidenRows());
    passes.addPass(createLoopsToVector());
    passes.addPass(createTablesToVector());
    passes.addPass(createTransposesToVector());
  }
};

} // namespace

const Backend &ingot::cpu::getBackend() {
  static const CpuBackend backend;
  return backend;
}
