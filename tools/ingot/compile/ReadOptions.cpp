//===- ReadOptions.cpp - from flags to the options of the compiler --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/ReadOptions.h"

#include "compiler/driver/OutputNames.h"
#include "compiler/emit/SymbolName.h"
#include "compiler/pipeline/Backends.h"
#include "compiler/study/report/Report.h"
#include "compiler/study/runs/TextFiles.h"
#include "compiler/target/Target.h"
#include "compiler/tune/KernelRecord.h"
#include "dialects/nn/NodeName.h"
#include "tools/ingot/OptionsFile.h"
#include "tools/ingot/compile/GivenOptions.h"
#include "tools/ingot/support/ProfileOption.h"
#include "tools/ingot/support/ShapeOption.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::tools;

/// Sets the kind of output. The table of options has already checked it.
static void setEmit(CompileOptions &options, StringRef kind) {
  if (kind == "so")
    options.emit = EmitKind::sharedLibrary;
  else if (kind == "obj")
    options.emit = EmitKind::object;
  else if (kind == "asm")
    options.emit = EmitKind::assembly;
  else if (kind == "llvm")
    options.emit = EmitKind::llvmIR;
  else {
    [[maybe_unused]] bool isPhase = kind.consume_front("mlir-");
    assert(isPhase && (kind == "onnx" || findPhase(kind)) && "unknown kind");
    options.emit = EmitKind::mlir;
    options.lastPhase = kind == "onnx" ? "" : kind.str();
  }
}

static const char *extensionOf(EmitKind kind) {
  switch (kind) {
  case EmitKind::sharedLibrary:
    return ".so";
  case EmitKind::mlir:
    return ".mlir";
  case EmitKind::llvmIR:
    return ".ll";
  case EmitKind::assembly:
    return ".s";
  case EmitKind::object:
    return ".o";
  }
  return "";
}

/// Reads fixed sizes and ranges. All ranges of --shape and --dim form one
/// profile.
static bool readShapes(const cli::CompileFlags &options, bool givesGeneral,
                       CompileOptions &result, std::string &error) {
  ShapeProfile single;
  for (const std::string &text : options.shapes)
    if (!parseShape(text, result.import, single, error))
      return false;
  for (const std::string &text : options.dims)
    if (!parseDim(text, result.import, single, error))
      return false;
  for (const std::string &name : options.freeDims)
    result.import.freeDims.insert(name);
  for (const std::string &text : options.profiles)
    if (!parseProfile(text, result.profiles.emplace_back(), error))
      return false;
  if (!single.empty() && !result.profiles.empty()) {
    error = "--profile goes with fixed sizes in --shape and --dim only: put "
            "all ranges into --profile";
    return false;
  }
  if (!single.empty())
    result.profiles.push_back(std::move(single));
  result.takesGeneral = options.general == "keep";
  if (givesGeneral && result.profiles.empty()) {
    error = "--general says what becomes of sizes outside of ranges, but none "
            "is given: see --profile";
    return false;
  }
  return true;
}

/// Fills `result` from the command line. Returns 0 or an exit code.
static int readFlags(const cli::CompileFlags &options,
                     const OptionParser &parser, CompileOptions &result,
                     PrecisionRequest &request) {
  setEmit(result, options.compileTo.empty() ? options.emit
                                            : "mlir-" + options.compileTo);
  result.output = options.output;
  if (result.output.empty()) {
    SmallString<128> name(sys::path::filename(result.input));
    sys::path::replace_extension(name, extensionOf(result.emit));
    result.output = std::string(name);
  }
  if (result.output == "-" && result.emit == EmitKind::sharedLibrary)
    return usageError("a shared library cannot go to standard output");
  result.weightsInFile = options.weights == "file";
  result.target = options.target;
  std::string error;
  if (!parseTargets(options.target, error))
    return usageError(error);
  result.pipeline.ptxas = options.ptxas;
  result.pipeline.refusesHost = options.cudaFallback == "error";
  result.pipeline.winograd = options.winograd;
  std::optional<OptimizeFor> goal = findGoal(options.optimize);
  assert(goal && "the table of options has other goals");
  result.pipeline.optimize = *goal;
  if (int code = readPrecision(options, result, request))
    return code;
  result.pipeline.emulateOn = options.emulateOn;
  result.pipeline.scheduleSeed = options.scheduleSeed;
  if (options.precision != "fp32" && options.precision != "O0" &&
      options.kernels != kDefaultKernels)
    return usageError("--precision=" + options.precision +
                      " is for native kernels: it does not go with --kernels=" +
                      options.kernels);
  result.writeHeader = options.header;
  result.symbol = options.symbol;
  if (!result.symbol.empty() && !isCIdentifier(result.symbol))
    return usageError("--symbol=" + result.symbol + " is not a C identifier");
  if (isTakenSymbol(result.symbol))
    return usageError(
        "--symbol=" + result.symbol +
        ": C, C++, their libraries or Ingot have this name, or one "
        "with _create, _run or _destroy; choose another");
  result.decisionsFile = options.decisions;
  for (const std::string &names : options.dumpAfter)
    llvm::append_range(result.dumpAfter, split(names, ','));
  if (!readShapes(options, parser.isGiven("general"), result, error))
    return usageError(error);
  for (const std::string &text : options.values)
    if (!parseValue(text, result.import.values, error))
      return usageError(error);
  for (const std::string &text : options.lengths)
    if (!parseLength(text, result.import.lengths, error))
      return usageError(error);
  for (const std::string &name : options.absent)
    if (!result.import.absent.insert(name).second)
      return usageError("--absent is given twice for '" + name + "'");
  StringMap<std::string> limits;
  for (const std::string &text : options.limits) {
    if (!parseLimit(text, result.import, result.pipeline, error))
      return usageError(error);
    auto [name, value] = StringRef(text).split('=');
    if (limits.try_emplace(name, value.str()).first->second != value)
      return usageError("--limit is given twice for '" + name + "'");
  }
  return kSuccess;
}

/// Returns the names of backends for `--kernels`, the default first.
static std::string kernelNames() {
  std::string names = kDefaultKernels.str();
  for (const Backend *backend : getBackends())
    if (!backend->takesRest() && backend->name() != kDefaultKernels)
      names += (", " + backend->name()).str();
  return names;
}

/// Sets the kernels. `auto` is handled later, by measurements. Returns 0 or an
/// exit code.
static int readKernelsOption(StringRef kernels, CompileOptions &result) {
  const Backend *backend =
      kernels == "auto" ? &otherBackend() : findBackend(kernels);
  if (backend && !backend->takesRest())
    result.pipeline.kernels = backend->name().str();
  else if (!sys::path::has_extension(kernels))
    return usageError("unknown --kernels=" + kernels + ": use " +
                      kernelNames() + ", auto or a file that auto wrote");
  else if (std::string error = readKernelRecord(kernels, result.pipeline);
           !error.empty())
    return failure("--kernels: " + error);
  else
    result.otherInputs.push_back(kernels.str());
  return kSuccess;
}

int tools::readOptions(const cli::CompileFlags &flags,
                       const OptionParser &parser, CompileOptions &options,
                       PrecisionRequest &request) {
  options.given = describeGivenOptions(parser.given());
  llvm::append_range(options.otherInputs, parser.optionsFiles());
  if (int code = readFlags(flags, parser, options, request))
    return code;
  if (int code = readKernelsOption(flags.kernels, options))
    return code;
  if (flags.kernels != "auto")
    return kSuccess;
  if (options.emit != EmitKind::sharedLibrary)
    return usageError("--kernels=auto makes a shared library; for other output "
                      "give --kernels the file that it writes");
  if (flags.printPipeline)
    return usageError(
        "--kernels=auto measures several pipelines; to print one, "
        "give --kernels the file that it writes");
  return kSuccess;
}

int tools::saveOptions(const cli::CompileFlags &flags,
                       const OptionParser &parser,
                       const CompileOptions &options) {
  const std::string &path = flags.saveOptions;
  if (path.empty())
    return kSuccess;
  bool isTaken = isOutput(options, path);
  for (const std::string &other :
       {options.decisionsFile, flags.report,
        flags.report.empty() ? "" : study::reportJsonPath(flags.report)})
    isTaken |= !other.empty() && isSameFile(path, other);
  if (isTaken)
    return usageError("--save-options=" + path +
                      " has the name of another output");
  Error error = study::checkWritable(path, options.input, options.otherInputs);
  if (!error)
    error = study::writeTexts(
        {{path,
          optionsFileText(options.input, parser.given(), "save-options")}});
  return error ? parser.failure(toString(std::move(error))) : int(kSuccess);
}
