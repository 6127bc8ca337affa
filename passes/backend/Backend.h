//===- Backend.h - who computes an op, and how ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The interface of a backend, by which alone the compiler knows it. Up to the
// layout phase a module is the same for all backends; nn-assign-backends then
// gives each op to one, and from there on each has passes of its own in every
// phase. compiler/pipeline/Backends.inc lists them.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_BACKEND_BACKEND_H
#define INGOT_PASSES_BACKEND_BACKEND_H

#include "passes/backend/Policy.h"
#include "passes/support/OptimizeFor.h"
#include "passes/support/Reason.h"

#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectInterface.h"
#include "mlir/Pass/PassManager.h"

namespace ingot {

/// What is quantized without a calibration: nothing; data by the range that it
/// has in a run, and weights; or weights of matrix products, to 8 or 4 bits.
enum class Quantization { none, int8Dynamic, w8, w4 };

/// What the user chose that backends' passes depend on.
struct BackendOptions {
  /// What heavy ops multiply.
  Precision precision = Precision::fp32;
  /// How much else is half: 1, 2 or 3.
  int precisionLevel = 1;
  /// The file of ingot calibrate that says what is quantized, or, with fp16,
  /// what f16 does not hold; empty: nothing.
  std::string calibration;
  Quantization quantization = Quantization::none;
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
  /// Largest constant that is computed from others, in bytes.
  int64_t maxFoldedBytes = int64_t(16) << 20;
  /// For tests: schedules of native kernels are drawn with it, if it is not 0.
  uint64_t scheduleSeed = 0;

  /// Returns true if data are int8, and what is not quantized is fp32.
  bool isInt8BesideFP32() const {
    return precision == Precision::fp32 &&
           (!calibration.empty() || quantization == Quantization::int8Dynamic);
  }
};

/// A kind of machine that code is for. Backends of another kind bring their
/// own.
struct Device {
  /// A word.
  llvm::StringLiteral name;

  bool operator==(const Device &other) const { return name == other.name; }
};

inline constexpr Device kCpu{"cpu"};

/// A library that the code of a backend calls.
struct Library {
  /// The name in `ingot.libraries` and in the artifact's table of what it uses.
  llvm::StringRef name;
  /// The name in messages.
  llvm::StringRef title;
  /// A static library beside the compiler that artifacts are linked with.
  llvm::StringRef glue;
  /// Path of the shared library; empty if the compiler was built without it.
  llvm::StringRef path;
};

class Backend {
public:
  virtual ~Backend();

  /// A word: the backend's name in options, attributes and artifacts.
  virtual llvm::StringRef name() const = 0;
  /// The name of its kernels in messages.
  virtual llvm::StringRef title() const { return name(); }
  virtual const Device &device() const { return kCpu; }

  /// Registers its dialects, and the interfaces of their ops.
  virtual void registerDialects(mlir::DialectRegistry &registry) const {}
  /// Registers its passes, so that pipelines in text may name them.
  virtual void registerPasses() const {}

  /// Returns whether it has kernels for ops of this kind, and is to be asked.
  virtual bool isFor(mlir::Operation *op) const { return false; }
  /// Returns why it does not compute `op`, which is of a kind that it is for.
  virtual Reason whyNot(mlir::Operation *op) const { return std::nullopt; }
  /// Returns whether it computes all ops that other backends of its device
  /// decline.
  virtual bool takesRest() const { return false; }
  /// Returns whether it has kernels for quantized values.
  virtual bool takesQuantized() const { return false; }

  /// What its device likes, or null: one backend of a device answers for it.
  virtual const Policy *policy() const { return nullptr; }

  /// The library that its code calls, or null. The passes that write such calls
  /// add the library to `ingot.libraries`.
  virtual const Library *library() const { return nullptr; }

  /// Adds passes that turn nn ops into ops of its dialect, with what follows
  /// them in their epilogues; on tensors.
  virtual void buildLower(mlir::OpPassManager &passes,
                          const BackendOptions &options) const {}
  /// Adds passes on tensors that need the ops of all backends lowered.
  virtual void buildLowered(mlir::OpPassManager &passes,
                            const BackendOptions &options) const {}
  /// Adds passes behind the memory plan whose result serves every CPU level.
  virtual void buildMemory(mlir::OpPassManager &passes) const {}
  /// Adds passes that turn its ops on memrefs into launches of kernels.
  virtual void buildKernels(mlir::OpPassManager &passes,
                            const BackendOptions &options) const {}
  /// Adds passes that write the code of its kernels.
  virtual void buildCodegen(mlir::OpPassManager &passes,
                            const BackendOptions &options) const {}
};

/// All backends of a compiler, in the order in which their passes run. Passes
/// find the list in the context: the `ingot` dialect holds it.
class BackendList : public mlir::DialectInterface::Base<BackendList> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(BackendList)

  BackendList(mlir::Dialect *dialect, llvm::ArrayRef<const Backend *> all)
      : Base(dialect), all(all) {}

  /// Returns the backends of a context; none if it has no list.
  static llvm::ArrayRef<const Backend *> of(mlir::MLIRContext *context);

private:
  llvm::ArrayRef<const Backend *> all;
};

} // namespace ingot

#endif // INGOT_PASSES_BACKEND_BACKEND_H
