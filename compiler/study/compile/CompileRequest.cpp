//===- CompileRequest.cpp - from flags to the options of the compiler -----===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compile/CompileRequest.h"

#include "client/Parse.h"
#include "compiler/driver/OutputNames.h"
#include "compiler/emit/SymbolName.h"
#include "compiler/pipeline/Backends.h"
#include "compiler/study/compile/GivenOptions.h"
#include "compiler/study/options/ProfileOption.h"
#include "compiler/study/options/ShapeOption.h"
#include "compiler/study/options/SizeOptions.h"
#include "compiler/study/report/Report.h"
#include "compiler/study/runs/Errors.h"
#include "compiler/study/runs/TextFiles.h"
#include "compiler/target/Target.h"
#include "compiler/tune/KernelRecord.h"
#include "dialects/nn/NodeName.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::study;

static Error usageError(const Twine &message) {
  return makeUsageError(oneLine(message.str()));
}

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

/// Sets the files that are written, and their form.
static Error readOutput(const cli::CompileFlags &flags,
                        CompileOptions &options) {
  setEmit(options,
          flags.compileTo.empty() ? flags.emit : "mlir-" + flags.compileTo);
  options.output = flags.output;
  if (options.output.empty()) {
    SmallString<128> name(sys::path::filename(options.input));
    sys::path::replace_extension(name, extensionOf(options.emit));
    options.output = std::string(name);
  }
  if (options.output == "-" && options.emit == EmitKind::sharedLibrary)
    return usageError("a shared library cannot go to standard output");
  options.weightsInFile = flags.weights == "file";
  options.writeHeader = flags.header;
  options.decisionsFile = flags.decisions;
  for (const std::string &names : flags.dumpAfter)
    append_range(options.dumpAfter, tools::split(names, ','));
  return Error::success();
}

static Error readSymbol(const std::string &symbol, CompileOptions &options) {
  options.symbol = symbol;
  if (!symbol.empty() && !isCIdentifier(symbol))
    return usageError("--symbol=" + symbol + " is not a C identifier");
  if (isTakenSymbol(symbol))
    return usageError(
        "--symbol=" + symbol +
        ": C, C++, their libraries or Ingot have this name, or one "
        "with _create, _run or _destroy; choose another");
  return Error::success();
}

static bool isGiven(const CompileCommand &command, StringRef name) {
  return any_of(command.given, [&](const cli::GivenOption &option) {
    return option.option->name == name;
  });
}

/// Returns true if the artifact has code for `device`.
static bool hasCodeFor(const Targets &targets, const Device &device) {
  return device == kCpu ? !targets.sure.empty()
                        : targets.host && *targets.host->device == device;
}

/// Checks that --target names a level of the device of each option that is for
/// the code of one device.
static Error checkDeviceOptions(const CompileCommand &command,
                                const Targets &targets) {
  for (const Backend *backend : getBackends()) {
    const Device &device = backend->device();
    if (hasCodeFor(targets, device))
      continue;
    std::string example = device.name.str();
    if (device == kCpu)
      example = ("native," + targets.host->device->name).str();
    for (StringRef name : backend->options())
      if (isGiven(command, name))
        return usageError("--" + name + " is for code for " + device.title +
                          ": name a level of " + device.title +
                          " in --target, e.g. --target=" + example);
  }
  return Error::success();
}

/// Sets the machines that get code, and how to choose between kinds of code.
static Error readTarget(const CompileCommand &command,
                        CompileOptions &options) {
  const cli::CompileFlags &flags = command.flags;
  options.target = flags.target;
  std::string error;
  std::optional<Targets> targets = parseTargets(flags.target, error);
  if (!targets)
    return usageError(error);
  // The table of options does not know the forms of --target.
  if (Error error = checkDeviceOptions(command, *targets))
    return error;
  if (targets->host && flags.precision == "auto")
    return usageError("--precision=auto measures code for CPUs only: leave "
                      "levels of " +
                      targets->host->device->title + " out of --target");
  PipelineOptions &pipeline = options.pipeline;
  pipeline.emulateOn = flags.emulateOn;
  std::vector<ingot::Target> levels = targets->sure;
  if (targets->host)
    levels.push_back(*targets->host);
  if (!flags.emulateOn.empty() && !emulate(levels, flags.emulateOn, error))
    return usageError("--emulate-on: " + error);
  pipeline.assembler = flags.assembler;
  pipeline.refusesHost = flags.hostFallback == "error";
  pipeline.winograd = flags.winograd;
  pipeline.scheduleSeed = flags.scheduleSeed;
  std::optional<OptimizeFor> goal = findGoal(flags.optimize);
  assert(goal && "the table of options has other goals");
  pipeline.optimize = *goal;
  return Error::success();
}

/// Reads fixed sizes and ranges. All ranges of --shape and --dim form one
/// profile.
static bool readShapes(const cli::CompileFlags &flags, bool givesGeneral,
                       CompileOptions &options, std::string &error) {
  ShapeProfile single;
  for (const std::string &text : flags.shapes)
    if (!parseShape(text, options.import, single, error))
      return false;
  for (const std::string &text : flags.dims)
    if (!parseDim(text, options.import, single, error))
      return false;
  for (const std::string &name : flags.freeDims)
    options.import.freeDims.insert(name);
  for (const std::string &text : flags.profiles)
    if (!parseProfile(text, options.profiles.emplace_back(), error))
      return false;
  if (!single.empty() && !options.profiles.empty()) {
    error = "--profile goes with fixed sizes in --shape and --dim only: put "
            "all ranges into --profile";
    return false;
  }
  if (!single.empty())
    options.profiles.push_back(std::move(single));
  options.takesGeneral = flags.general == "keep";
  if (givesGeneral && options.profiles.empty()) {
    error =
        "--general is about sizes outside of ranges, but no range is given: "
        "see --profile";
    return false;
  }
  return true;
}

/// Reads the values, the lengths and the absence of inputs.
static Error readInputs(const cli::CompileFlags &flags, ImportOptions &import) {
  std::string error;
  for (const std::string &text : flags.values)
    if (!parseValue(text, import.values, error))
      return usageError(error);
  for (const std::string &text : flags.lengths)
    if (!parseLength(text, import.lengths, error))
      return usageError(error);
  for (const std::string &name : flags.absent)
    if (!import.absent.insert(name).second)
      return usageError("--absent is given twice for '" + name + "'");
  return Error::success();
}

static Error readLimits(const std::vector<std::string> &texts,
                        CompileOptions &options) {
  std::string error;
  StringMap<std::string> limits;
  for (const std::string &text : texts) {
    if (!parseLimit(text, options.import, options.pipeline, error))
      return usageError(error);
    auto [name, value] = StringRef(text).split('=');
    if (limits.try_emplace(name, value.str()).first->second != value)
      return usageError("--limit is given twice for '" + name + "'");
  }
  return Error::success();
}

/// Returns the names of backends for `--kernels`, the default first.
static std::string kernelNames() {
  std::string names = kDefaultKernels.str();
  for (const Backend *backend : getBackends())
    if (!backend->takesRest() && backend->name() != kDefaultKernels)
      names += (", " + backend->name()).str();
  return names;
}

/// Sets the kernels. Measurements choose them for `auto`.
static Error readKernels(const cli::CompileFlags &flags,
                         CompileRequest &request) {
  CompileOptions &options = request.compile;
  const StringRef kernels = flags.kernels;
  request.tunesKernels = kernels == "auto";
  const Backend *backend =
      request.tunesKernels ? &otherBackend() : findBackend(kernels);
  if (backend && !backend->takesRest())
    options.pipeline.kernels = backend->name().str();
  else if (!sys::path::has_extension(kernels))
    return usageError("unknown --kernels=" + kernels + ": use " +
                      kernelNames() + ", auto or a file that auto wrote");
  else if (std::string error = readKernelRecord(kernels, options.pipeline);
           !error.empty())
    return makeError(oneLine("--kernels: " + error));
  else
    options.otherInputs.push_back(kernels.str());
  if (request.tunesKernels && options.emit != EmitKind::sharedLibrary)
    return usageError("--kernels=auto makes a shared library; for other output "
                      "give --kernels the file that it writes");
  if (request.tunesKernels && flags.printPipeline)
    return usageError(
        "--kernels=auto measures several pipelines; to print one, "
        "give --kernels the file that it writes");
  return Error::success();
}

Expected<CompileRequest> study::readRequest(const CompileCommand &command) {
  const cli::CompileFlags &flags = command.flags;
  CompileRequest request;
  CompileOptions &options = request.compile;
  options.input = command.model;
  options.given = describeGivenOptions(command.given);
  append_range(options.otherInputs, command.optionsFiles);
  if (Error error = readOutput(flags, options))
    return error;
  if (Error error = readTarget(command, options))
    return error;
  if (Error error = readPrecision(flags, request))
    return error;
  if (flags.precision != "fp32" && flags.precision != "O0" &&
      flags.kernels != kDefaultKernels)
    return usageError("--precision=" + flags.precision +
                      " is for native kernels: it does not go with --kernels=" +
                      flags.kernels);
  if (Error error = readSymbol(flags.symbol, options))
    return error;
  std::string wrong;
  if (!readShapes(flags, isGiven(command, "general"), options, wrong))
    return usageError(wrong);
  if (request.wantsStudy())
    if (wrong = readSizes(flags.shapes, flags.dims, request.study.sizes);
        !wrong.empty())
      return usageError(wrong);
  if (Error error = readInputs(flags, options.import))
    return error;
  if (Error error = readLimits(flags.limits, options))
    return error;
  if (Error error = readKernels(flags, request))
    return error;
  request.measuresSteps = flags.timing;
  request.timesAsJson = flags.json;
  return request;
}

std::string CompileRequest::kernelsFile() const {
  SmallString<128> name(compile.output);
  sys::path::replace_extension(name, "kernels.json");
  return std::string(name);
}

Error study::checkSavedOptions(const std::string &path,
                               const CompileRequest &request) {
  const CompileOptions &options = request.compile;
  if (request.tunesKernels && isSameFile(path, request.kernelsFile()))
    return usageError("--save-options=" + path +
                      " has the name of the file that --kernels=auto writes");
  bool isTaken = isOutput(options, path);
  for (const std::string &other :
       {options.decisionsFile, request.report,
        request.report.empty() ? "" : reportJsonPath(request.report)})
    isTaken |= !other.empty() && isSameFile(path, other);
  if (isTaken)
    return usageError("--save-options=" + path +
                      " has the name of another output");
  return checkWritable(path, options.input, options.otherInputs);
}
