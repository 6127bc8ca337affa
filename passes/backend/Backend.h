//===- Backend.h - who computes an op, and how ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// All that the rest of the compiler knows of a backend. Up to the layout phase
// a module is the same for all of them; nn-assign-backends then gives each op
// to one, and from there on each has passes of its own in every phase.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_BACKEND_BACKEND_H
#define INGOT_PASSES_BACKEND_BACKEND_H

#include "passes/support/OptimizeFor.h"
#include "passes/support/Reason.h"

#include "mlir/IR/Dialect.h"
#include "mlir/Pass/PassManager.h"

namespace ingot {

/// What the user chose that backends' passes depend on.
struct BackendOptions {
  /// What heavy ops multiply.
  Precision precision = Precision::fp32;
  /// How much else is half: 1, 2 or 3.
  int precisionLevel = 1;
  /// Nodes that are not: `GLOB=fp32`.
  std::vector<std::string> keep;
  /// The CPU level that is to run the code, without the instructions that it
  /// lacks: they are emulated. Empty: the level that the code is for.
  std::string emulateOn;
  /// Whether convolutions may be computed with fewer products, and larger
  /// weights.
  bool winograd = true;
  /// How much speed a byte that is added to the artifact must bring.
  OptimizeFor optimize = OptimizeFor::balanced;
  /// Whether a CPU level has instructions for products of bf16. Else f32 is
  /// multiplied by weights of f16, also where the model stores bf16.
  bool multipliesBF16 = true;
  /// Whether fp16 is multiplied by fp16, and stored between products: all
  /// levels have AVX512-FP16.
  bool halfSums = false;
  /// Whether what is left in fp32 of products whose factors a run computes is
  /// multiplied as bf16: that is faster on all levels.
  bool halfRest = false;
  /// Whether a level multiplies bytes or bf16 in AMX tiles.
  bool amxTiles = false;
  /// Largest constant that is computed from others, in bytes.
  int64_t maxFoldedBytes = int64_t(16) << 20;
  /// For tests: schedules of native kernels are drawn with it, if it is not 0.
  uint64_t scheduleSeed = 0;
};

class Backend {
public:
  virtual ~Backend();

  virtual BackendKind kind() const = 0;
  /// Its dialects, and what their ops implement.
  virtual void registerDialects(mlir::DialectRegistry &registry) const {}

  /// Whether it has kernels for ops of this kind, which is why it is asked.
  virtual bool isFor(mlir::Operation *op) const { return false; }
  /// Why it does not compute `op`, of a kind that it is for.
  virtual Reason whyNot(mlir::Operation *op) const { return std::nullopt; }

  /// Whether `op`, on memrefs, is one of its kernels.
  virtual bool computes(mlir::Operation *op) const = 0;

  /// nn ops that are its own to its dialect, and what follows them into their
  /// epilogues; on tensors.
  virtual void buildLower(mlir::OpPassManager &passes,
                          const BackendOptions &options) const {}
  /// What no CPU level changes, behind the memory plan.
  virtual void buildMemory(mlir::OpPassManager &passes) const {}
  /// Its ops on memrefs to launches of kernels.
  virtual void buildKernels(mlir::OpPassManager &passes,
                            const BackendOptions &options) const {}
  /// Its kernels to code of the target.
  virtual void buildCodegen(mlir::OpPassManager &passes,
                            const BackendOptions &options) const {}
};

/// All backends, in the order in which their passes run. The last is `loops`,
/// which computes whatever is left.
llvm::ArrayRef<const Backend *> getBackends();

const Backend &getBackend(BackendKind kind);

/// Who computes `op`, on memrefs.
BackendKind backendOf(mlir::Operation *op);

// Each has one; getBackends knows them.
const Backend &nativeBackend();
const Backend &oneDnnBackend();
const Backend &loopsBackend();

} // namespace ingot

#endif // INGOT_PASSES_BACKEND_BACKEND_H
