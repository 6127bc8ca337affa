//===- Register.cpp - dialects and passes that the compiler uses ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/pipeline/Register.h"

#include "compiler/pipeline/Backends.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NNDialect.h"
#include "dialects/onnx/OnnxDialect.h"
#include "passes/backend/Passes.h"
#include "passes/graph/Passes.h"
#include "passes/kernel/Passes.h"
#include "passes/layout/Passes.h"
#include "passes/legalize/Passes.h"
#include "passes/llvm/Passes.h"
#include "passes/math/Passes.h"
#include "passes/memory/Passes.h"
#include "passes/precision/Passes.h"
#include "passes/quantize/Passes.h"
#include "passes/quantize/form/Passes.h"
#include "passes/shape/Passes.h"
#include "passes/support/Passes.h"

#include "mlir/Conversion/Passes.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/FuncBufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Func/Extensions/InlinerExtension.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Passes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/IR/TensorInferTypeOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/TensorTilingInterfaceImpl.h"
#include "mlir/Dialect/Tensor/IR/ValueBoundsOpInterfaceImpl.h"
#include "mlir/Dialect/Tensor/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Dialect/Vector/Transforms/BufferizableOpInterfaceImpl.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;

void ingot::registerDialects(DialectRegistry &registry) {
  registry.insert<IngotDialect, onnx::OnnxDialect, nn::NNDialect,
                  affine::AffineDialect, arith::ArithDialect,
                  bufferization::BufferizationDialect, func::FuncDialect,
                  LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, scf::SCFDialect,
                  tensor::TensorDialect, vector::VectorDialect>();
  for (const Backend *backend : getBackends())
    backend->registerDialects(registry);
  // Passes find the list of backends in the dialect.
  registry.addExtension(+[](MLIRContext *, IngotDialect *dialect) {
    dialect->addInterface<BackendList>(getBackends());
  });
  // Load the dialect, because any pass may record a decision as an attribute of
  // the dialect.
  registry.addExtension(+[](MLIRContext *context, BuiltinDialect *) {
    context->loadDialect<IngotDialect>();
  });
  arith::registerBufferizableOpInterfaceExternalModels(registry);
  bufferization::func_ext::registerBufferizableOpInterfaceExternalModels(
      registry);
  func::registerInlinerExtension(registry);
  scf::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerBufferizableOpInterfaceExternalModels(registry);
  tensor::registerInferTypeOpInterfaceExternalModels(registry);
  tensor::registerTilingInterfaceExternalModels(registry);
  tensor::registerValueBoundsOpInterfaceExternalModels(registry);
  vector::registerBufferizableOpInterfaceExternalModels(registry);
}

void ingot::registerPasses() {
  registerIngotBackendPasses();
  registerIngotLLVMPasses();
  registerIngotGraphPasses();
  registerIngotLayoutPasses();
  registerIngotLegalizePasses();
  registerIngotKernelPasses();
  registerIngotMathPasses();
  registerIngotMemoryPasses();
  registerIngotPrecisionPasses();
  registerIngotQuantizePasses();
  registerIngotQuantizeFormPasses();
  registerIngotShapePasses();
  registerIngotSupportPasses();
  for (const Backend *backend : getBackends())
    backend->registerPasses();
  registerTransformsPasses();
  // Register the upstream passes of the phases, so that text pipelines can name
  // them.
  registerConvertLinalgToLoopsPass();
  registerLowerAffinePass();
  registerSCFToControlFlowPass();
  memref::registerExpandStridedMetadataPass();
  memref::registerResolveRankedShapeTypeResultDimsPass();
  registerPipelines();
}
