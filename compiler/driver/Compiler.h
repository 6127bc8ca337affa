//===- Compiler.h - compiles a model ----------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_DRIVER_COMPILER_H
#define INGOT_COMPILER_DRIVER_COMPILER_H

#include "base/Progress.h"
#include "compiler/driver/ShapeProfiles.h"
#include "compiler/driver/SizeReport.h"
#include "compiler/emit/Emit.h"
#include "compiler/import/Import.h"
#include "compiler/pipeline/Pipeline.h"

#include "mlir/Support/Timing.h"

namespace ingot {

class DecisionTrace;
class ObjectCache;

/// The error of a compilation that its caller cancelled.
constexpr llvm::StringLiteral kCancelled = "the compilation was cancelled";

/// The kind of output that compileModel writes.
enum class EmitKind { sharedLibrary, mlir, llvmIR, assembly, object };

struct CompileOptions {
  std::string input;
  /// The output file; "-" is standard output (not for a shared library).
  std::string output;
  EmitKind emit = EmitKind::sharedLibrary;
  /// For EmitKind::mlir: the last phase to run; empty stops after import.
  std::string lastPhase;
  /// Pass arguments after which the IR goes to standard error; "all" for all.
  std::vector<std::string> dumpAfter;
  /// True if the verifier runs after each pass, not only after each phase.
  bool verifyEach = false;
  /// CPU levels, as parseTargets reads them.
  std::string target = "native";
  /// True if weights go into `<output>.<hash>.weights`, not into the library.
  bool weightsInFile = false;
  /// True if `<output without .so>.h` is written, too.
  bool writeHeader = true;
  /// A file that is published together with the library, and its contents. The
  /// file records how the options were chosen. Empty if there is no such file.
  std::string recordFile, record;
  /// Receives the decisions of passes; may be null. Cleared at the start of a
  /// compilation.
  DecisionTrace *decisions = nullptr;
  /// The path of the file for `decisions`. It may be in another folder than
  /// `output`. Empty if there is no such file.
  std::string decisionsFile;
  /// The options of the command line, as stored in the artifact's metadata.
  std::string given;
  /// Files from which these options were read. They must not be overwritten.
  std::vector<std::string> otherInputs;
  /// Prefix of the typed entry points. If empty, it is made from the output's
  /// name.
  std::string symbol;
  PipelineOptions pipeline;
  ImportOptions import;
  /// The sizes that a run may have. If empty, a run may have all sizes.
  std::vector<ShapeProfile> profiles;
  /// True if a run may have sizes outside of the profiles, too.
  bool takesGeneral = false;
  /// Receives each step, and the share of the work that is done. If the caller
  /// cancels, the compilation fails with the error `kCancelled` and writes no
  /// file. The compilation checks for this between passes and between the code
  /// of CPU levels. Messages go to the context's diagnostic handler.
  Progress progress;
  /// Receives the operator of each ONNX node, by the node's name, for messages.
  /// May be null.
  llvm::StringMap<std::string> *operators = nullptr;
  /// Called when all output files have their final names. The compilation
  /// succeeds even if an error follows. May be null.
  std::function<void()> published;
  /// A cache of code shared by the compilations of a process; may be null.
  ObjectCache *objects = nullptr;
  /// Measures the time of each step and pass; may be null.
  mlir::TimingScope *timing = nullptr;
};

/// Returns the passes of `options` in the syntax of `ingot-opt
/// --pass-pipeline`, with one line per CPU level. Reads and writes no file.
mlir::FailureOr<std::string> describePipeline(const CompileOptions &options,
                                              mlir::MLIRContext &context);

/// Checks that each output file of `options` can be created. Errors go to the
/// context's diagnostic handler. compileModel makes this check first.
mlir::LogicalResult checkOutputs(const CompileOptions &options,
                                 mlir::MLIRContext &context);

struct CompileResult {
  /// The manifest, if a shared library was written.
  std::optional<Manifest> manifest;
  /// The sizes of the shared library and of its parts.
  SizeReport sizes;
  /// The SHA-256 of the model and its external data, in hexadecimal digits. Set
  /// only if the model is observed or quantized.
  std::string modelSha256;
};

/// Returns the libraries of backends that the code of an artifact calls.
std::vector<const Library *> usedLibraries(const Manifest &manifest);

/// Returns a context with every dialect of the compiler.
std::unique_ptr<mlir::MLIRContext> createContext();

/// Compiles a model. Errors go to the context's diagnostic handler. Leaves no
/// incomplete file, since files get their names when they are complete.
mlir::FailureOr<CompileResult> compileModel(const CompileOptions &options,
                                            mlir::MLIRContext &context);

} // namespace ingot

#endif // INGOT_COMPILER_DRIVER_COMPILER_H
