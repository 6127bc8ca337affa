//===- CudaBackend.cpp - the backend of NVIDIA GPUs -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/CudaBackend.h"

#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/Metadata.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/lower/CudaSupport.h"
#include "passes/cuda/lower/Passes.h"
#include "passes/cuda/policy/CudaPolicy.h"
#include "passes/kernel/Passes.h"
#include "passes/loops/LoopsBackend.h"
#include "passes/loops/Passes.h"
#include "passes/math/Passes.h"
#include "passes/precision/Passes.h"
#include "passes/support/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/NVVM/NVVMToLLVMIRTranslation.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace ingot;

static constexpr DeviceLevel kLevels[] = {
#define INGOT_CUDA_LEVEL(NUMBER, USUAL, MEANING) {NUMBER, USUAL},
#include "passes/cuda/CudaLevels.inc"
};

static constexpr Emission kEmission{INGOT_ABI_DEVICE_CUDA,
                                    1u << INGOT_ABI_MEMORY_HOST |
                                        1u << INGOT_ABI_MEMORY_CUDA,
                                    INGOT_ABI_VARIANT_STREAMS,
                                    /*functions=*/"ingot_cuda_device",
                                    /*runner=*/"ingot_cuda_run",
                                    /*stringFunctions=*/"ingot_cuda_",
                                    /*addsLoad=*/true,
                                    metadatakey::gpu};

static constexpr Device kDevice{"cuda", "GPUs",  /*hasOwnMemory=*/true,
                                "sm_",  kLevels, kEmission};

namespace {

/// Computes all ops of a GPU. An op without a kernel of its own becomes a grid
/// of threads.
class CudaBackend : public Backend {
  StringRef name() const override { return cuda::kBackend; }
  const Device &device() const override { return kDevice; }
  bool takesRest() const override { return true; }
  bool multipliesTF32() const override { return true; }

  ArrayRef<StringLiteral> options() const override {
    static constexpr StringLiteral options[] = {"ptxas", "cuda-fallback"};
    return options;
  }

  void registerDialects(DialectRegistry &registry) const override {
    registry.insert<cuda::CudaDialect, gpu::GPUDialect, NVVM::NVVMDialect>();
    cuda::registerBufferizableOpInterfaceExternalModels(registry);
    registerBuiltinDialectTranslation(registry);
    registerLLVMDialectTranslation(registry);
    registerNVVMDialectTranslation(registry);
  }

  void registerPasses() const override {
    registerIngotCudaPasses();
    registerIngotCudaLowerPasses();
  }

  bool isFor(Operation *op) const override { return cuda::isCudaKind(op); }
  Reason whyNot(Operation *op) const override {
    return cuda::whyNotCudaKernel(op);
  }

  const Policy *policy() const override {
    static const cuda::CudaPolicy policy;
    return &policy;
  }

  const Library *library() const override {
    static const Library library{cuda::kLibrary, "CUDA", "libingot_cuda.a", "",
                                 /*isShared=*/false};
    return &library;
  }

  void buildLower(OpPassManager &passes,
                  const BackendOptions &options) const override {
    if (options.precision != Precision::fp32) {
      AssignPrecisionOptions assign;
      assign.half = options.precision;
      assign.keep.assign(options.keep.begin(), options.keep.end());
      passes.addPass(createAssignPrecision(assign));
    }
    CudaFuseAttentionOptions attention;
    attention.half = options.precision;
    attention.keep.assign(options.keep.begin(), options.keep.end());
    passes.addNestedPass<func::FuncOp>(createCudaFuseAttention(attention));
    // Fold the masks that the fusion of attention transposed.
    FoldConstantsOptions fold;
    fold.maxBytes = options.maxFoldedBytes;
    passes.addPass(createFoldConstants(fold));
    passes.addNestedPass<func::FuncOp>(createCudaFuseRecurrent());
    passes.addNestedPass<func::FuncOp>(createNNToCuda());
    passes.addNestedPass<func::FuncOp>(
        createSplitProducts({options.scheduleSeed}));
    passes.addNestedPass<func::FuncOp>(createSinkReshapes());
    passes.addNestedPass<func::FuncOp>(createFuseEpilogues());
    loops::buildLower(passes);
  }

  void buildLowered(OpPassManager &passes,
                    const BackendOptions &options) const override {
    if (options.precision == Precision::bf16 ||
        options.precision == Precision::fp16) {
      NarrowStorageOptions narrow;
      narrow.half = options.precision;
      narrow.level = options.precisionLevel;
      narrow.keep.assign(options.keep.begin(), options.keep.end());
      passes.addNestedPass<func::FuncOp>(createNarrowStorage(narrow));
      passes.addPass(createCanonicalize());
      passes.addPass(createCSEPass());
    }
    // Behind the choice of storage, because moments stay f32.
    passes.addNestedPass<func::FuncOp>(createSplitRows({options.scheduleSeed}));
    passes.addPass(createFillSplats());
  }

  void buildKernels(OpPassManager &passes,
                    const BackendOptions &options) const override {
    passes.addPass(createCollapseLoops());
    passes.addPass(createPlaceLists());
    passes.addPass(createPlaceShapes());
    passes.addPass(createCollapseRows());
    passes.addPass(createScheduleProducts({options.scheduleSeed}));
    passes.addPass(createScheduleAttention({options.scheduleSeed}));
    passes.addPass(createScheduleRecurrent({options.scheduleSeed}));
    passes.addPass(createScheduleRows({options.scheduleSeed}));
    passes.addPass(createOutlineProducts());
    passes.addPass(createOutlineRecurrent());
    passes.addPass(createOutlineScan());
    passes.addPass(createOutlineSort());
    passes.addPass(createOutlineScatter());
    passes.addPass(createOutlineTopK());
    passes.addPass(createOutlineRows());
    passes.addPass(createOutlineTransposes({options.scheduleSeed}));
    passes.addPass(createOutlineGrids());
    passes.addPass(createDeferChecks());
    passes.addPass(createPredictTimes());
    passes.addPass(createRunOnHost({options.refusesHost}));
    passes.addPass(createJoinCopies());
  }

  void buildCodegen(OpPassManager &passes,
                    const BackendOptions &options) const override {
    passes.addPass(createLaunchesToCalls());
    OpPassManager &kernels = passes.nest<ModuleOp>();
    kernels.addPass(createPassSizes());
    kernels.addPass(createAttentionToNVVM());
    kernels.addPass(createProductsToNVVM());
    kernels.addPass(createDepthwiseToNVVM());
    kernels.addPass(createPartsToNVVM());
    kernels.addPass(createResampleToNVVM());
    kernels.addPass(createRowsToNVVM());
    kernels.addPass(createExpandMath());
    kernels.addPass(createApproximateMath());
    kernels.addPass(memref::createExpandStridedMetadataPass());
    kernels.addPass(createLowerAffinePass());
    kernels.addPass(createCanonicalize());
    kernels.addPass(createCSEPass());
    kernels.addPass(createSCFToControlFlowPass());
    kernels.addPass(createKernelsToNVVM());
    EmitProgramOptions emit;
    emit.weightsOffset = options.weightsOffset;
    emit.firstLayer = options.firstLayer;
    emit.cubins.assign(options.deviceLevels.begin(),
                       options.deviceLevels.end());
    emit.ptxas = options.assembler;
    passes.addPass(createEmitProgram(emit));
  }
};

} // namespace

const Backend &ingot::cuda::getBackend() {
  static const CudaBackend backend;
  return backend;
}
