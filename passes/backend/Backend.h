//===- Backend.h - the interface of a backend -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Declares the interface of a backend. The compiler knows a backend only by
// this interface. Up to the layout phase a module is the same for all backends.
// The pass nn-assign-backends then assigns each op to a backend; in every later
// phase each backend has passes of its own. compiler/pipeline/Backends.inc
// lists the backends.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_BACKEND_BACKEND_H
#define INGOT_PASSES_BACKEND_BACKEND_H

#include "passes/backend/Device.h"
#include "passes/backend/Policy.h"
#include "passes/support/OptimizeFor.h"
#include "passes/support/Reason.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Pass/PassManager.h"

namespace ingot {

/// Kinds of quantization that need no calibration. `none`: nothing is
/// quantized. `int8Dynamic`: weights, and data by the range that they have in a
/// run. `w8`, `w4`: weights of matrix products only, to 8 or 4 bits.
enum class Quantization { none, int8Dynamic, w8, w4 };

/// User options that the passes of backends depend on.
struct BackendOptions {
  /// Element type that heavy ops multiply.
  Precision precision = Precision::fp32;
  /// Level of mixed precision, 1, 2 or 3: how many other ops use 16 bits.
  int precisionLevel = 1;
  /// File written by `ingot calibrate`; empty if there is none. The file says
  /// which tensors are quantized or, with fp16, which tensors exceed the range
  /// of f16.
  std::string calibration;
  Quantization quantization = Quantization::none;
  /// Nodes to keep in fp32 (`GLOB=fp32`).
  std::vector<std::string> keep;
  /// CPU level that the code must run on. The code emulates instructions that
  /// this level lacks. Empty: the level that the code is generated for.
  std::string emulateOn;
  /// True if convolutions may use Winograd algorithms, which need fewer
  /// multiplications but larger weights.
  bool winograd = true;
  /// Goal for choices that trade bytes of the artifact for speed.
  OptimizeFor optimize = OptimizeFor::balanced;
  /// Size limit in bytes of constants that the compiler folds.
  int64_t maxFoldedBytes = int64_t(16) << 20;
  /// Numbers of the device's levels that get machine code.
  std::vector<unsigned> deviceLevels;
  /// Path of the program that makes the device's machine code. Empty is the one
  /// that the build found. With "none", the artifact has no machine code.
  std::string assembler;
  /// True if an op that the device cannot compute is an error. Otherwise the
  /// CPU computes it.
  bool refusesHost = false;
  /// Offset of the module's weights in those of the artifact.
  uint64_t weightsOffset = 0;
  /// Number of the module's first layer in the artifact's table.
  uint64_t firstLayer = 0;
  /// Seed that selects random schedules of native kernels in tests; 0: none.
  uint64_t scheduleSeed = 0;

  /// Returns true if data are int8, and everything that is not quantized is
  /// fp32.
  bool isInt8BesideFP32() const {
    return precision == Precision::fp32 &&
           (!calibration.empty() || quantization == Quantization::int8Dynamic);
  }
};

/// A library that the code of a backend calls.
struct Library {
  /// Name in `ingot.libraries` and in the artifact's table of libraries.
  llvm::StringRef name;
  /// Name in messages.
  llvm::StringRef title;
  /// Static library beside the compiler that artifacts are linked with.
  llvm::StringRef glue;
  /// Path of the shared library; empty if the compiler was built without it.
  llvm::StringRef path;
  /// False if the static library opens the shared one when a model is loaded,
  /// so that artifacts are not linked with it.
  bool isShared = true;
};

class Backend {
public:
  virtual ~Backend();

  /// Returns the backend's name in options, attributes and artifacts: a single
  /// word.
  virtual llvm::StringRef name() const = 0;
  /// Returns the name of the backend's kernels in messages.
  virtual llvm::StringRef title() const { return name(); }
  virtual const Device &device() const { return kCpu; }

  /// Registers the backend's dialects, and the interfaces of their ops.
  virtual void registerDialects(mlir::DialectRegistry &registry) const {}
  /// Registers the backend's passes, so that textual pipelines may name them.
  virtual void registerPasses() const {}

  /// Returns true if the backend has kernels for ops of this kind. Only such a
  /// backend is asked whether it computes an op.
  virtual bool isFor(mlir::Operation *op) const { return false; }
  /// Returns why the backend does not compute `op`, or nullopt if it does.
  /// Precondition: `isFor(op)`.
  virtual Reason whyNot(mlir::Operation *op) const { return std::nullopt; }
  /// Returns true if the backend computes all ops that the other backends of
  /// its device decline.
  virtual bool takesRest() const { return false; }
  /// Returns true if the backend has kernels for quantized values.
  virtual bool takesQuantized() const { return false; }
  /// Returns true if the backend has kernels that multiply tf32.
  virtual bool multipliesTF32() const { return false; }

  /// Returns the names of the options of `ingot compile` that have no effect
  /// without code for the backend's device.
  virtual llvm::ArrayRef<llvm::StringLiteral> options() const { return {}; }

  /// Returns the policy of the backend's device, or null. One backend of each
  /// device returns a policy.
  virtual const Policy *policy() const { return nullptr; }

  /// Returns the library that the backend's code calls, or null. The passes
  /// that create such calls add the library to `ingot.libraries`.
  virtual const Library *library() const { return nullptr; }

  /// Adds passes on tensors that lower nn ops to the backend's dialect, and
  /// fuse the ops that follow as epilogues.
  virtual void buildLower(mlir::OpPassManager &passes,
                          const BackendOptions &options) const {}
  /// Adds passes on tensors that need the ops of all backends lowered.
  virtual void buildLowered(mlir::OpPassManager &passes,
                            const BackendOptions &options) const {}
  /// Adds passes that run after memory planning and whose result serves every
  /// CPU level.
  virtual void buildMemory(mlir::OpPassManager &passes) const {}
  /// Adds passes that turn the backend's ops on memrefs into kernel launches.
  virtual void buildKernels(mlir::OpPassManager &passes,
                            const BackendOptions &options) const {}
  /// Adds passes that generate the code of the backend's kernels.
  virtual void buildCodegen(mlir::OpPassManager &passes,
                            const BackendOptions &options) const {}
};

/// A list of all backends of a compiler, in the order in which their passes
/// run. The `ingot` dialect holds the list, so that passes find it in the
/// context.
class BackendList : public mlir::DialectInterface::Base<BackendList> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BackendList)

  BackendList(mlir::Dialect *dialect, llvm::ArrayRef<const Backend *> all)
      : Base(dialect), all(all) {}

  /// Returns the backends of a context; empty if the context has no list.
  static llvm::ArrayRef<const Backend *> of(mlir::MLIRContext *context);

private:
  llvm::ArrayRef<const Backend *> all;
};

} // namespace ingot

#endif // INGOT_PASSES_BACKEND_BACKEND_H
