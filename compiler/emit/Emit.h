//===- Emit.h - from the LLVM dialect to a shared library -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_EMIT_H
#define INGOT_COMPILER_EMIT_EMIT_H

#include "compiler/emit/MemoryFile.h"
#include "compiler/target/Target.h"
#include "runtime/include/ingot/abi/artifact.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Module.h"

namespace ingot {

/// One input or output of the model.
struct Tensor {
  std::string name;
  /// INGOT_ABI_* element type.
  uint32_t dtype = 0;
  llvm::SmallVector<int64_t> dims;
  std::vector<std::string> dimNames;
  /// What open dimensions of one size have in common: a name, with a number
  /// where dimensions of one name may differ.
  std::vector<std::string> dimKeys;

  bool isStatic() const;
  bool isOfStrings() const { return dtype == INGOT_ABI_STRING; }
};

/// A row of the table that a profile is about.
struct Layer {
  std::string kind, backend;
  /// Why no better backend computes it; may be empty.
  std::string reason;
  /// What its products multiply if not f32: "bf16".
  std::string precision;
  std::vector<std::string> nodes;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  /// As in ingot_abi_layer.
  uint32_t usualOf = 0;
  /// Bits of INGOT_ABI_LAYER_LOOP.
  uint32_t flags = 0;
};

/// The function that computes the usual sizes of a profile, and what inputs and
/// outputs are there.
struct Body {
  std::string function;
  /// Finds sizes and memory; empty if they are all fixed.
  std::string inference;
  size_t profile = 0;
  std::vector<Tensor> inputs, outputs;
};

/// What the model uses beyond its own code: a row of ingot_abi_use.
struct Usage {
  uint32_t kind = 0;
  uint32_t flags = 0;
  std::string name;
};

/// The code for one CPU level.
struct LevelCode {
  Target target;
  uint64_t bytes = 0;
};

/// Products that a run computes as int8 would, or not.
struct Switch {
  /// The ONNX nodes that they come from, and the number of the tensor that the
  /// first of them reads; none if each run finds the scale of that.
  std::vector<std::string> nodes;
  std::optional<size_t> tensor;
};

/// What the artifact says of itself; read off the module's attributes.
struct Manifest {
  /// Of the ONNX graph.
  std::string modelName;
  /// The prefix of the typed entry points, a C identifier.
  std::string symbol;
  /// File name of the library, by which programs that link it find it.
  std::string libraryName;
  std::vector<Tensor> inputs, outputs;
  /// The function that finds sizes and memory; empty if they are all fixed.
  std::string inference;
  /// Sizes that a run may have, and whether it may have others.
  std::vector<std::vector<ingot_abi_size_range>> shapeProfiles;
  bool takesGeneral = false;
  std::vector<Body> bodies;
  std::vector<Layer> layers;
  std::vector<std::pair<std::string, std::string>> metadata;
  /// What strings are numbered by, the empty one first.
  std::vector<std::string> strings;
  /// Lowest first, at least one.
  std::vector<LevelCode> levels;
  uint64_t weightsBytes = 0;
  bool externalWeights = false;
  std::array<uint8_t, 32> weightsSha256 = {};
  uint64_t arenaBytes = 0;
  uint64_t arenaLowerBound = 0;
  /// Rules about sizes that hold for all of them, and that a run checks.
  uint32_t sizeRulesProved = 0, sizeRulesChecked = 0;
  /// Libraries first.
  std::vector<Usage> uses;
  /// Names of the tensors that a run shows, by number. Not part of the
  /// artifact.
  std::vector<std::string> observed;
  /// What a run can round; its first inputs are the model's. Not part of the
  /// artifact either.
  std::vector<Switch> switches;

  /// True if the code has functions to call when a model is loaded and closed.
  bool hasLoad = false;

  bool usesLibrary(llvm::StringRef name) const;
  bool hasStrings() const;
  /// Whether what a run makes and needs depends on its inputs' sizes, or is
  /// more than the arena.
  bool hasOpenSizes() const;
};

/// The artifact's description, by which its own code finds it.
constexpr llvm::StringLiteral kDescriptionSymbol = "ingot_artifact";
/// Its strings.
constexpr llvm::StringLiteral kDictionarySymbol = "ingot_strings";

/// Reads the manifest of a module on which plan-memory has run.
mlir::FailureOr<Manifest> readManifest(mlir::ModuleOp module,
                                       llvm::ArrayRef<Target> targets,
                                       llvm::StringRef symbol);

/// The names of its levels, e.g. "x86-64-v3, x86-64-v4".
std::string levelNames(const Manifest &manifest);

/// What the artifact's description calls a function of one level's code:
/// `ingot_run`, `ingot_load`, `ingot_unload`.
std::string levelSymbol(llvm::StringRef function, const Target &target);

/// Adds the run function that the artifact's description points to, which calls
/// @forward with what an ingot_abi_call holds, and names what the description
/// refers to for the level.
void addRunFunction(llvm::Module &module, const Manifest &manifest,
                    const Target &target);

/// The artifact's description and typed entry points, as a module of its own.
std::unique_ptr<llvm::Module> buildArtifactModule(llvm::LLVMContext &context,
                                                  const Manifest &manifest);

/// Notes what the code is for, in the module and each of its functions.
void setMachine(llvm::Module &module, llvm::TargetMachine &machine);

/// Optimizes a module in place for speed, or for speed with less code where
/// `forSize`; sets the machine first.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              bool forSize = false);

/// Assembly or object code of `module`.
bool emitCode(llvm::Module &module, llvm::TargetMachine &machine,
              llvm::CodeGenFileType type, llvm::SmallVectorImpl<char> &out);

/// Bytes of executable code in an object file.
uint64_t codeBytesOf(llvm::StringRef object);

/// Writes the weights listed in `ingot.weights` as they lie in memory.
mlir::LogicalResult writeWeights(mlir::ModuleOp module, llvm::raw_ostream &out);
/// Their SHA-256.
std::array<uint8_t, 32> hashWeights(mlir::ModuleOp module);
/// Their XXH64.
uint64_t checksumWeights(mlir::ModuleOp module);
/// An ELF object with the symbol `ingot_weights` at the start of a section of
/// that size which is not in the file: writeLibrary puts the weights there.
std::string makeWeightsObject(uint64_t weightsBytes);
/// Writes what the linker made, sealed. If `hasWeights`, with the weights in
/// their section. The linker
/// never sees them, so that it neither copies them nor lays code around them.
mlir::LogicalResult writeLibrary(llvm::StringRef linked, mlir::ModuleOp module,
                                 bool hasWeights, llvm::raw_ostream &out);

/// A library of others that an artifact is linked with.
struct LinkedLibrary {
  /// A static library beside the compiler, and the path of a shared one.
  llvm::StringRef glue, path;
};

/// Returns whether artifacts can be linked with a library on this machine.
bool isInstalled(const LinkedLibrary &library);

/// Links `objects` and `others` into a shared library that exports the query
/// symbol and the typed entry points; `library` receives its bytes. On failure
/// `error` has the linker's words, in one line.
mlir::LogicalResult linkSharedLibrary(llvm::ArrayRef<MemoryFile> objects,
                                      llvm::ArrayRef<LinkedLibrary> others,
                                      const Manifest &manifest,
                                      std::string &library, std::string &error);

/// The C header of the typed entry points.
void writeHeader(const Manifest &manifest, llvm::raw_ostream &out);

/// Names of the exported functions.
std::vector<std::string> exportedSymbols(const Manifest &manifest);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_EMIT_H
