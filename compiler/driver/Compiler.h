//===- Compiler.h - compiles a model ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_COMPILER_H
#define INGOT_COMPILER_DRIVER_COMPILER_H

#include "compiler/driver/ShapeProfiles.h"
#include "compiler/driver/SizeReport.h"
#include "compiler/emit/Emit.h"
#include "compiler/import/Import.h"
#include "compiler/pipeline/Pipeline.h"

#include "mlir/Support/Timing.h"

namespace ingot {

class DecisionTrace;
class ObjectCache;

/// What compileModel writes.
enum class EmitKind { sharedLibrary, mlir, llvmIR, assembly, object };

struct CompileOptions {
  std::string input;
  /// Where to write; "-" is standard output (not for a shared library).
  std::string output;
  EmitKind emit = EmitKind::sharedLibrary;
  /// For EmitKind::mlir: the last phase to run; empty stops after import.
  std::string lastPhase;
  /// Pass arguments after which the IR goes to standard error; "all" for all.
  std::vector<std::string> dumpAfter;
  /// The verifier runs after each pass, not only after each phase.
  bool verifyEach = false;
  /// CPU levels, as parseTargets reads them.
  std::string target = "native";
  /// Weights go into `<output>.<hash>.weights` instead of into the library.
  bool weightsInFile = false;
  /// Write `<output without .so>.h` too.
  bool writeHeader = true;
  /// A file that gets its name together with the library, and what it holds:
  /// how the options came about. Empty: none.
  std::string recordFile, record;
  /// Takes the decisions of passes; may be null. Cleared before it takes those
  /// of a compilation.
  DecisionTrace *decisions = nullptr;
  /// A file for `decisions`, in any folder. Empty: none.
  std::string decisionsFile;
  /// The command line's options, as the artifact's metadata has them.
  std::string given;
  /// Files that were read for these options, and must not be written.
  std::vector<std::string> otherInputs;
  /// Prefix of the typed entry points; empty: from the output's name.
  std::string symbol;
  PipelineOptions pipeline;
  ImportOptions import;
  /// Sizes that a run may have. None: all.
  std::vector<ShapeProfile> profiles;
  /// Of sizes outside of the profiles, too.
  bool takesGeneral = false;
  /// Told what is being done, for progress on a terminal; may be null.
  std::function<void(llvm::StringRef step)> progress;
  /// Told when what was asked for has its names: what fails from then on does
  /// not fail the compilation. May be null.
  std::function<void()> published;
  /// Code of the process's other compilations; may be null.
  ObjectCache *objects = nullptr;
  /// Takes the time of each step and pass; may be null.
  mlir::TimingScope *timing = nullptr;
};

/// The passes that `options` stand for, as `ingot-opt --pass-pipeline` reads
/// them: a line for each CPU level. Nothing is read or written.
mlir::FailureOr<std::string> describePipeline(const CompileOptions &options,
                                              mlir::MLIRContext &context);

/// Whether each file that `options` asks for can get its name. Errors go to the
/// context's diagnostic handler. compileModel looks at the same first.
mlir::LogicalResult checkOutputs(const CompileOptions &options,
                                 mlir::MLIRContext &context);

struct CompileResult {
  /// Set when a shared library was written.
  std::optional<Manifest> manifest;
  /// Sizes of the shared library and of what it was made from.
  SizeReport sizes;
  /// SHA-256 of the model and its external data, in hexadecimal digits, if it
  /// is observed or quantized.
  std::string modelSha256;
};

/// The libraries of backends that the code of an artifact calls.
std::vector<const Library *> usedLibraries(const Manifest &manifest);

/// A context with every dialect of the compiler.
std::unique_ptr<mlir::MLIRContext> createContext();

/// Compiles a model. Errors go to the context's diagnostic handler; nothing is
/// left half-written: files appear under their names once they are complete.
mlir::FailureOr<CompileResult> compileModel(const CompileOptions &options,
                                            mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_COMPILER_H
