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
#include "dialects/ingot/IngotDialect.h"
#include "runtime/include/ingot/abi/artifact.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/IR/Module.h"

namespace ingot {

/// An input or output of the model.
struct Tensor {
  std::string name;
  /// Element type, an INGOT_ABI_* value.
  uint32_t dtype = 0;
  llvm::SmallVector<int64_t> dims;
  std::vector<std::string> dimNames;
  /// Keys of dimensions. Open dimensions with one key have the same size. The
  /// key is the dimension's name. A number is appended if dimensions of that
  /// name may differ.
  std::vector<std::string> dimKeys;

  bool isStatic() const;
  bool isOfStrings() const { return dtype == INGOT_ABI_STRING; }
};

/// A layer: a row in the table of a profile.
struct Layer {
  std::string kind, backend;
  /// Reason why no faster backend computes the layer; may be empty.
  std::string reason;
  /// Element type of the factors in products. Empty if it is f32.
  std::optional<Precision> precision;
  std::vector<std::string> nodes;
  uint64_t flops = 0;
  uint64_t bytes = 0;
  /// Number of the shape profile if the layer is for its usual sizes, as in
  /// ingot_abi_layer.
  uint32_t usualOf = 0;
  /// Bits of INGOT_ABI_LAYER_LOOP.
  uint32_t flags = 0;
};

/// A function for the usual sizes of a profile. Its inputs and outputs have
/// these sizes.
struct Body {
  std::string function;
  /// Name of the function that computes the sizes and the required memory;
  /// empty if all sizes are fixed.
  std::string inference;
  size_t profile = 0;
  std::vector<Tensor> inputs, outputs;
};

/// An external dependency of the model: a row of ingot_abi_use.
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

/// A run-time precision flag. It selects if a run rounds the operands of
/// products as int8 does.
struct PrecisionFlag {
  /// ONNX nodes of the products.
  std::vector<std::string> nodes;
  /// Index of the tensor that the first node reads. Empty if each run computes
  /// the scale of that tensor itself.
  std::optional<size_t> tensor;
};

/// The artifact's description of itself, read from the module's attributes.
struct Manifest {
  /// Name of the ONNX graph.
  std::string modelName;
  /// Prefix of the typed entry points, a C identifier.
  std::string symbol;
  /// File name of the library. Programs that link the library find it by this
  /// name.
  std::string libraryName;
  std::vector<Tensor> inputs, outputs;
  /// Name of the function that computes the sizes and the required memory;
  /// empty if all sizes are fixed.
  std::string inference;
  /// Sizes that each shape profile allows.
  std::vector<std::vector<ingot_abi_size_range>> shapeProfiles;
  /// True if a run may also have other sizes.
  bool takesGeneral = false;
  std::vector<Body> bodies;
  std::vector<Layer> layers;
  std::vector<std::pair<std::string, std::string>> metadata;
  /// Strings by their index; the empty string comes first.
  std::vector<std::string> strings;
  /// Levels, the lowest first; at least one.
  std::vector<LevelCode> levels;
  uint64_t weightsBytes = 0;
  bool externalWeights = false;
  std::array<uint8_t, 32> weightsSha256 = {};
  uint64_t arenaBytes = 0;
  uint64_t arenaLowerBound = 0;
  /// Number of rules about sizes that are proved for all sizes, and number of
  /// rules that each run checks.
  uint32_t sizeRulesProved = 0, sizeRulesChecked = 0;
  /// External dependencies, libraries first.
  std::vector<Usage> uses;
  /// Names of the tensors that a run reports, by index. Not part of the
  /// artifact.
  std::vector<std::string> observed;
  /// Run-time precision flags. Their inputs follow the model's inputs. Not part
  /// of the artifact.
  std::vector<PrecisionFlag> precisionFlags;

  /// True if the code has functions that are called when a model is loaded and
  /// closed.
  bool hasLoad = false;

  bool usesLibrary(llvm::StringRef name) const;
  bool hasStrings() const;
  /// Returns true if a level launches kernels of GPUs.
  bool hasGpuCode() const;
  /// Returns true if the outputs or the memory of a run depend on the sizes of
  /// its inputs. Also returns true if a run needs more than the arena.
  bool hasOpenSizes() const;
};

/// Symbol of the artifact's description. The artifact's own code refers to it.
constexpr llvm::StringLiteral kDescriptionSymbol = "ingot_artifact";
/// Symbol of the artifact's strings.
constexpr llvm::StringLiteral kDictionarySymbol = "ingot_strings";

/// Reads the manifest of a module after plan-memory.
mlir::FailureOr<Manifest> readManifest(mlir::ModuleOp module,
                                       llvm::ArrayRef<Target> targets,
                                       llvm::StringRef symbol);

/// Returns the libraries that the code of a lowered module calls.
std::vector<Usage> readLibraries(mlir::ModuleOp module);

/// Returns the names of the manifest's levels, for example "x86-64-v3,
/// x86-64-v4".
std::string levelNames(const Manifest &manifest);

/// Returns the symbol in the code of one level for `ingot_run`, `ingot_load` or
/// `ingot_unload`.
std::string levelSymbol(llvm::StringRef function, const Target &target);

/// Adds the run function of a level. It calls @forward with the values of an
/// ingot_abi_call. Also gives the functions that the artifact's description
/// refers to names for this level.
void addRunFunction(llvm::Module &module, const Manifest &manifest,
                    const Target &target);

/// Builds a module with the artifact's description and typed entry points.
std::unique_ptr<llvm::Module> buildArtifactModule(llvm::LLVMContext &context,
                                                  const Manifest &manifest);

/// Sets the target machine in the module and in each of its functions.
void setMachine(llvm::Module &module, llvm::TargetMachine &machine);

/// Sets the machine and optimizes a module in place for speed. With `forSize`,
/// also reduces the size of the code.
void optimize(llvm::Module &module, llvm::TargetMachine &machine,
              bool forSize = false);

/// Emits assembly or object code of `module`.
bool emitCode(llvm::Module &module, llvm::TargetMachine &machine,
              llvm::CodeGenFileType type, llvm::SmallVectorImpl<char> &out);

/// Returns the bytes of executable code in an object file.
uint64_t codeBytesOf(llvm::StringRef object);

/// Adds the weights of `further` behind those of `module`. Returns their
/// offset.
uint64_t appendWeights(mlir::ModuleOp module, mlir::ModuleOp further);
/// Writes the weights listed in `ingot.weights` in their memory layout.
mlir::LogicalResult writeWeights(mlir::ModuleOp module, llvm::raw_ostream &out);
/// Returns the SHA-256 of the weights.
std::array<uint8_t, 32> hashWeights(mlir::ModuleOp module);
/// Returns the XXH64 of the weights.
uint64_t checksumWeights(mlir::ModuleOp module);
/// Returns an ELF object whose symbol `ingot_weights` is the start of a section
/// for the weights. The section has the size of the weights, but no bytes in
/// the file: writeLibrary inserts the weights.
std::string makeWeightsObject(uint64_t weightsBytes);
/// Writes the linker's output and seals it. If `hasWeights`, also inserts the
/// weights into their section. The linker does not get the weights, so it
/// neither copies them nor arranges code around them.
mlir::LogicalResult writeLibrary(llvm::StringRef linked, mlir::ModuleOp module,
                                 bool hasWeights, llvm::raw_ostream &out);

/// A backend's library that an artifact is linked with.
struct LinkedLibrary {
  /// The static library beside the compiler that adapts the backend, and the
  /// path of the backend's shared library.
  llvm::StringRef glue, path;
  /// False if there is no shared library that artifacts are linked with.
  bool isShared = true;
};

/// Returns true if artifacts can be linked with the library on this machine.
bool isInstalled(const LinkedLibrary &library);

/// Links `objects` and `others` into a shared library that exports the query
/// symbol and the typed entry points. `library` receives its bytes. On failure
/// `error` receives the linker's message as one line.
mlir::LogicalResult linkSharedLibrary(llvm::ArrayRef<MemoryFile> objects,
                                      llvm::ArrayRef<LinkedLibrary> others,
                                      const Manifest &manifest,
                                      std::string &library, std::string &error);

/// Writes the C header of the typed entry points.
void writeHeader(const Manifest &manifest, llvm::raw_ostream &out);

/// Returns the names of the exported functions.
std::vector<std::string> exportedSymbols(const Manifest &manifest);

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_EMIT_H
