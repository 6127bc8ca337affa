//===- Compile.cpp - ingot compile ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/SystemFailures.h"
#include "compiler/Version.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/DecisionTrace.h"
#include "compiler/emit/ObjectCache.h"
#include "compiler/emit/SymbolName.h"
#include "compiler/pipeline/Backends.h"
#include "compiler/target/Target.h"
#include "compiler/tune/KernelRecord.h"
#include "dialects/nn/NodeName.h"
#include "tools/ingot/compile/CheckOptions.h"
#include "tools/ingot/compile/FatalErrors.h"
#include "tools/ingot/compile/GivenOptions.h"
#include "tools/ingot/compile/MeasureArtifact.h"
#include "tools/ingot/compile/Messages.h"
#include "tools/ingot/compile/PrecisionOptions.h"
#include "tools/ingot/compile/ProfileOption.h"
#include "tools/ingot/compile/ShapeOption.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace llvm;
using namespace ingot;
using namespace ingot::tools;

namespace ingot {
int compileMain(int argc, char **argv);
}

/// Sets the kind of output. Returns false if the name is unknown.
static bool setEmit(CompileOptions &options, StringRef kind) {
  if (kind == "so")
    options.emit = EmitKind::sharedLibrary;
  else if (kind == "obj")
    options.emit = EmitKind::object;
  else if (kind == "asm")
    options.emit = EmitKind::assembly;
  else if (kind == "llvm")
    options.emit = EmitKind::llvmIR;
  else if (kind.consume_front("mlir-")) {
    options.emit = EmitKind::mlir;
    options.lastPhase = kind == "onnx" ? "" : kind.str();
    return kind == "onnx" || findPhase(kind);
  } else
    return false;
  return true;
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

/// Reads fixed sizes and ranges. The ranges of --shape and --dim form one
/// profile.
static bool readShapes(const CompileFlags &options, CompileOptions &result,
                       std::string &error) {
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
  if (options.general != "keep" && options.general != "refuse") {
    error = "unknown --general=" + options.general + ": use keep or refuse";
    return false;
  }
  result.takesGeneral = options.general == "keep";
  if (options.general.getNumOccurrences() && result.profiles.empty()) {
    error = "--general says what becomes of sizes outside of ranges, but none "
            "is given: see --profile";
    return false;
  }
  return true;
}

/// Fills `result` from the command line. Returns 0 or an exit code.
static int readOptions(const CompileFlags &options, CompileOptions &result,
                       PrecisionRequest &request) {
  result.input = options.input;
  if (result.input.empty())
    return usageError("the name of the model is empty");
  std::string kind = options.emit;
  if (!options.compileTo.empty()) {
    if (options.emit.getNumOccurrences())
      return usageError("--emit and --compile-to exclude each other");
    kind = "mlir-" + options.compileTo;
  }
  if (!setEmit(result, kind))
    return usageError(options.compileTo.empty()
                          ? "unknown --emit=" + options.emit +
                                ": see ingot compile --help"
                          : "unknown --compile-to=" + options.compileTo +
                                ": see ingot compile --help");
  result.output = options.output;
  if (result.output.empty()) {
    SmallString<128> name(sys::path::filename(options.input));
    sys::path::replace_extension(name, extensionOf(result.emit));
    result.output = std::string(name);
  }
  if (result.output == "-" && result.emit == EmitKind::sharedLibrary)
    return usageError("a shared library cannot go to standard output");
  if (options.weights != "embed" && options.weights != "file")
    return usageError("unknown --weights=" + options.weights +
                      ": use embed or file");
  result.weightsInFile = options.weights == "file";
  result.target = options.target;
  std::string error;
  if (!parseTargets(options.target, error))
    return usageError(error);
  result.pipeline.winograd = options.winograd;
  std::optional<OptimizeFor> goal = findGoal(options.optimize);
  if (!goal)
    return usageError("unknown --optimize=" +
                      Twine(printable(options.optimize)) +
                      ": use speed, balanced or size");
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
  if (options.printPipeline && !result.decisionsFile.empty())
    return usageError("--print-pipeline compiles nothing, so there are no "
                      "--decisions to write");
  result.dumpAfter.assign(options.dumpAfter.begin(), options.dumpAfter.end());
  if (!readShapes(options, result, error))
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
  for (const std::string &text : options.limits)
    if (!parseLimit(text, result.import, result.pipeline, error))
      return usageError(error);
  return kSuccess;
}

/// Returns the backends that `--kernels` can name, the default one first.
static std::string kernelNames() {
  std::string names = kDefaultKernels.str();
  for (const Backend *backend : getBackends())
    if (!backend->takesRest() && backend->name() != kDefaultKernels)
      names += (", " + backend->name()).str();
  return names;
}

/// Sets the kernels. `auto` is measured later. Returns 0 or an exit code.
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
    return usageError("--kernels: " + error);
  else
    result.otherInputs.push_back(kernels.str());
  return kSuccess;
}

static void printBytes(raw_ostream &out, uint64_t bytes) {
  if (bytes < 10 * 1024)
    out << bytes << " B";
  else if (bytes < 10 * 1024 * 1024)
    out << format("%.1f KiB", bytes / 1024.0);
  else
    out << format("%.1f MiB", bytes / 1048576.0);
}

static void printSummary(const CompileOptions &options,
                         const Manifest &manifest) {
  raw_ostream &out = outs();
  out << printable(options.output) << ": ";
  for (const LevelCode &level : manifest.levels) {
    out << level.target.level << " code ";
    printBytes(out, level.bytes);
    out << ", ";
  }
  out << "weights ";
  printBytes(out, manifest.weightsBytes);
  out << ", arena ";
  printBytes(out, manifest.arenaBytes);
  out << " (lower bound ";
  printBytes(out, manifest.arenaLowerBound);
  out << ")";
  for (const Library *library : usedLibraries(manifest))
    out << ", uses " << library->title;
  out << '\n';
}

/// Prints the artifact's size, what increased it, and how to choose otherwise.
static void printSizes(const CompileOptions &options, const Manifest &manifest,
                       const SizeReport &sizes) {
  raw_ostream &out = outs();
  out << printable(options.output) << ": artifact ";
  printBytes(out, sizes.artifact);
  out << ", weights of the model ";
  printBytes(out, sizes.modelWeights);
  const uint64_t expected = sizes.modelWeights + sizes.fewerProducts;
  // Allow for padding to cache lines and to whole panels of weights.
  const uint64_t usual = expected + expected / 32 + (1 << 16);
  if (manifest.weightsBytes > usual) {
    out << "; constants that are computed when compiling add ";
    printBytes(out, manifest.weightsBytes - expected);
  }
  if (sizes.fewerProducts) {
    out << "; transformed weights of " << sizes.numFewerProducts
        << " 3x3 convolutions add ";
    printBytes(out, sizes.fewerProducts);
    out << " (--optimize=" << getSizeRule(options.pipeline.optimize).name
        << "; size adds none)";
  }
  out << '\n';
}

/// Prints the kernels that `--kernels=auto` chose, and its measurements.
static void printKernels(const CompileOptions &options,
                         const KernelRecord &record) {
  raw_ostream &out = outs();
  out << printable(options.output) << ": ";
  const StringRef other = otherBackend().title();
  switch (record.kernels) {
  case Kernels::native:
    out << "native kernels are fastest";
    break;
  case Kernels::other:
    out << other << "'s kernels are fastest";
    break;
  case Kernels::mixed:
    out << "native kernels and " << other << "'s for "
        << options.pipeline.preferredNodes.size() << " nodes are fastest";
    break;
  }
  out << format(" (native %.3f ms, ", record.nativeMs) << other
      << format(" %.3f ms", record.otherMs);
  if (record.mixedMs)
    out << format(", both %.3f ms", *record.mixedMs);
  out << "); " << printable(options.recordFile) << " holds the choice\n";
}

/// Prints the choice of `--precision=auto`, its speed and its accuracy.
static void printPrecisions(const CompileOptions &options, const Study &study) {
  auto count = [&](bool StudiedLayer::*is) {
    return count_if(study.layers,
                    [&](const StudiedLayer &layer) { return layer.*is; });
  };
  raw_ostream &out = outs();
  out << printable(options.output) << ": " << count(&StudiedLayer::isInt8)
      << " of " << study.layers.size() << " layers in int8, "
      << count(&StudiedLayer::isBF16) << " in bf16";
  if (study.chosen.latencyMs && study.fp32.latencyMs)
    out << format(": %.3f ms, fp32 %.3f ms (%.2f times as fast)",
                  *study.chosen.latencyMs, *study.fp32.latencyMs,
                  *study.fp32.latencyMs / *study.chosen.latencyMs);
  out << format("; %.2f %% right, fp32 %.2f %%\n", study.search->chosenPercent,
                study.search->fp32Percent);
}

/// Flushes standard output. Returns 0, or an exit code if it could not be
/// written.
static int flushOutput() {
  outs().flush();
  if (!outs().has_error())
    return kSuccess;
  errs() << "ingot compile: error: cannot write to standard output: "
         << outs().error().message() << '\n';
  outs().clear_error();
  return kFailure;
}

/// Returns the file of the measurements of `--kernels=auto`.
static std::string kernelsFile(const CompileOptions &options) {
  SmallString<128> name(options.output);
  sys::path::replace_extension(name, "kernels.json");
  return std::string(name);
}

int ingot::compileMain(int argc, char **argv) {
  bool errorsPrinted = false;
  FatalErrorsInOneLine fatalErrors(errorsPrinted);
  CompileFlags options;
  cl::HideUnrelatedOptions(options.category);
  cl::SetVersionPrinter(
      [](raw_ostream &out) { out << "ingot " INGOT_VERSION "\n"; });
  std::string errors;
  raw_string_ostream errorStream(errors);
  // The parser prints the program's name in front of its messages.
  std::vector<const char *> args(argv, argv + argc);
  args[0] = "ingot compile";
  const tools::OptionParser messages("compile", "", "", "");
  if (std::string problem = checkOptions(options, args); !problem.empty())
    return messages.usageError(problem);
  bool parsed = cl::ParseCommandLineOptions(
      args.size(), args.data(),
      "Compiles an ONNX model into a shared library.\n\n"
      "Example:\n"
      "  ingot compile model.onnx -o model.so --shape input=1x3x224x224\n\n"
      "Exit codes: 0 done, 1 the model cannot be compiled, 2 wrong use.\n",
      &errorStream);
  if (!parsed) {
    // The parser itself prints errors about an option's value. Other errors are
    // printed here.
    StringRef message = StringRef(errors).split('\n').first.trim();
    message.consume_front("ingot compile: ");
    return message.empty() ? int(kUsage) : usageError(message);
  }

  CompileOptions compile;
  compile.given = describeGivenOptions(args);
  PrecisionRequest request;
  if (int code = readOptions(options, compile, request))
    return code;
  if (int code = readKernelsOption(options.kernels, compile))
    return code;
  const bool isAuto = options.kernels == "auto";
  if (isAuto && compile.emit != EmitKind::sharedLibrary)
    return usageError("--kernels=auto makes a shared library; for other output "
                      "give --kernels the file that it writes");
  if (isAuto && options.printPipeline)
    return usageError(
        "--kernels=auto measures several pipelines; to print one, "
        "give --kernels the file that it writes");
  // Linking in process resets all options to their defaults, so copy them.
  const bool quiet = options.quiet, timed = options.timing,
             remarks = options.remarks;
  bool isTerminal = sys::Process::StandardErrIsDisplayed() && !quiet;
  compile.progress = [isTerminal](StringRef step) {
    nameStep(step.str().c_str());
    if (isTerminal)
      errs() << "\r\033[K" << step << " …";
  };
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  context->getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    if (isTerminal)
      errs() << "\r\033[K";
    errorsPrinted |=
        diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    if (quiet && diagnostic.getSeverity() == mlir::DiagnosticSeverity::Remark)
      return mlir::success();
    printDiagnostic(diagnostic, compile.input);
    return mlir::success();
  });
  DecisionTrace decisions;
  if (remarks || !compile.decisionsFile.empty()) {
    RemarkReader print = [&](const mlir::remark::detail::Remark &remark) {
      printRemark(remark, compile.input);
    };
    readRemarks(*context, decisions, remarks ? print : nullptr);
    compile.decisions = &decisions;
  }
  if (options.printPipeline) {
    mlir::FailureOr<std::string> text = describePipeline(compile, *context);
    if (failed(text))
      return kFailure;
    outs() << *text;
    return flushOutput();
  }
  // After measurements, the model is compiled again as the user asked. A cache
  // keeps the code.
  ObjectCache objects;
  if (isAuto || request.isWanted())
    compile.objects = request.study.objects = &objects;
  tools::PrecisionStudy study(request.study, messages);
  if (request.isWanted())
    if (int code = runStudy(request, study, compile, *context))
      return code;
  mlir::DefaultTimingManager timer;
  timer.setEnabled(timed);
  mlir::TimingScope timing = timer.getRootScope();
  compile.timing = &timing;
  mlir::FailureOr<CompileResult> result = mlir::failure();
  mlir::FailureOr<KernelRecord> kernels = mlir::failure();
  if (isAuto)
    kernels = tuneKernels(compile, kernelsFile(compile), tools::measureArtifact,
                          *context);
  if (!isAuto || succeeded(kernels)) {
    // Set this only now, since --kernels=auto compiles other artifacts before.
    compile.published = setDone;
    result = compileModel(compile, *context);
  }
  if (isTerminal)
    errs() << "\r\033[K";
  timing.stop();
  if (remarks)
    printDecisions(decisions, compile.input);

  if (mlir::failed(result))
    return kFailure;
  if (!request.report.empty())
    if (std::string problem = writeReport(request, study); !problem.empty())
      return messages.failure(problem);
  // Output to standard output, or through a link, is not renamed at the end.
  setDone();
  if (result->manifest && !quiet) {
    printSummary(compile, *result->manifest);
    printSizes(compile, *result->manifest, result->sizes);
    if (succeeded(kernels))
      printKernels(compile, *kernels);
    if (study.result().search)
      printPrecisions(compile, study.result());
  }
  return flushOutput();
}
