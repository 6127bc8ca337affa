//===- Compile.cpp - ingot compile ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/SystemFailures.h"
#include "compiler/driver/Compiler.h"
#include "compiler/Version.h"
#include "compiler/emit/SymbolName.h"
#include "compiler/quantize/RulesFile.h"
#include "compiler/target/Target.h"
#include "compiler/tune/KernelRecord.h"
#include "dialects/nn/NodeName.h"
#include "tools/ingot/compile/FatalErrors.h"
#include "tools/ingot/compile/LargePages.h"
#include "tools/ingot/compile/MeasureArtifact.h"
#include "tools/ingot/compile/Messages.h"
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

namespace ingot {
int compileMain(int argc, char **argv);
}

namespace {

/// The command line of `ingot compile`; lives while it is parsed.
struct Options {
  cl::OptionCategory category{"Options of ingot compile"};
  cl::opt<std::string> input{cl::Positional, cl::desc("MODEL.onnx"),
                             cl::Required, cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::value_desc("file"), cl::cat(category),
      cl::desc("Output; by default the model's name with .so")};
  cl::list<std::string> shapes{
      "shape", cl::value_desc("input=AxBxC"), cl::cat(category),
      cl::desc("Fix an input's shape; ? keeps a dimension dynamic")};
  cl::list<std::string> dims{"dim", cl::value_desc("name=N"),
                             cl::cat(category),
                             cl::desc("Fix a named dimension, e.g. batch=1")};
  cl::list<std::string> limits{
      "limit", cl::value_desc("name=N"), cl::cat(category),
      cl::desc("What a model may make the compiler do: nodes (1000000), "
               "function-nodes (100000), nesting (30), graph-bytes (1G), "
               "sparse-bytes (1G), tensor-elements (16T), folded-bytes (16M)")};
  cl::opt<std::string> target{
      "target", cl::value_desc("levels"), cl::init("native"), cl::cat(category),
      cl::desc(
          "CPU levels, comma-separated: x86-64-v2, x86-64-v3, x86-64-v4, "
          "cascadelake, znver4, sapphirerapids; or native (this "
          "machine's), or multi (x86-64-v3,x86-64-v4). The library holds "
          "code for each and runs the highest that the CPU has. l1=48K and "
          "l2=2M among them are the caches that blocks are cut for (32K "
          "and 1M); docs/kernels.md has more such numbers")};
  cl::opt<std::string> kernels{
      "kernels", cl::value_desc("native|onednn|auto|FILE"), cl::init("native"),
      cl::cat(category),
      cl::desc(
          "What computes the heavy ops: generated kernels, which need no "
          "library (default); oneDNN, where it is found; whichever of both "
          "is faster here, layer by layer, which is measured and written to "
          "<output>.kernels.json; or as such a file says")};
  cl::opt<std::string> precision{
      "precision", cl::value_desc("fp32|bf16|int8|int8-dynamic"),
      cl::init("fp32"),
      cl::cat(category),
      cl::desc(
          "What heavy ops multiply and store: 32-bit floats (default); "
          "bfloat16, summed up as 32-bit floats; or bytes, with the ranges "
          "of --calibration or those that each run finds. All but fp32 for "
          "native kernels")};
  cl::opt<std::string> calibration{
      "calibration", cl::value_desc("file"), cl::cat(category),
      cl::desc("For --precision=int8: what ingot calibrate wrote")};
  cl::list<std::string> keep{
      "keep", cl::value_desc("GLOB=fp32"), cl::cat(category),
      cl::desc("For --precision=int8 and int8-dynamic: nodes that are not "
               "quantized, e.g. '/head/*=fp32'")};
  cl::opt<std::string> rules{
      "rules", cl::value_desc("file"), cl::cat(category),
      cl::desc("For the same: JSON that says it of many nodes; "
               "what --keep says comes first")};
  cl::opt<std::string> emulateOn{
      "emulate-on", cl::value_desc("level"), cl::Hidden, cl::cat(category),
      cl::desc("For tests: code as for --target, in which the instructions of "
               "AMX, AVX512-BF16 and VNNI are emulated, to be run on a lower "
               "CPU level")};
  cl::opt<uint64_t> scheduleSeed{
      "schedule-seed", cl::value_desc("number"), cl::Hidden, cl::cat(category),
      cl::init(0),
      cl::desc("For tests: schedules of native kernels drawn at random, others "
               "for each number but 0")};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("embed|file"), cl::init("embed"),
      cl::cat(category),
      cl::desc("Weights in the library, or in <output>.<hash>.weights")};
  cl::opt<std::string> emit{
      "emit", cl::value_desc("kind"), cl::init("so"), cl::cat(category),
      cl::desc(
          "What to write: so, obj, asm, llvm, mlir-onnx, mlir-nn, "
          "mlir-graph, mlir-quantize, mlir-layout, mlir-linalg, mlir-memory, "
          "mlir-kernels, mlir-llvm")};
  cl::opt<std::string> compileTo{
      "compile-to", cl::value_desc("phase"), cl::cat(category),
      cl::desc("Stop after a phase and write its MLIR: onnx, nn, graph, "
               "quantize, layout, linalg, memory, kernels, llvm")};
  cl::list<std::string> dumpAfter{
      "dump-after", cl::value_desc("pass"), cl::CommaSeparated,
      cl::cat(category),
      cl::desc("Write the IR to standard error after a pass, or 'all'")};
  cl::opt<bool> printPipeline{
      "print-pipeline", cl::cat(category),
      cl::desc("Compile nothing; write the passes as ingot-opt's "
               "--pass-pipeline takes them, a line for each CPU level")};
  cl::opt<std::string> symbol{
      "symbol", cl::value_desc("name"), cl::cat(category),
      cl::desc("Prefix of the C functions; by default the output's name")};
  cl::opt<bool> header{"header", cl::init(true), cl::cat(category),
                       cl::desc("Write the C header too (default)")};
  cl::opt<bool> timing{
      "timing", cl::cat(category),
      cl::desc("Write to standard error how long each phase and pass took")};
  cl::opt<bool> remarks{
      "remarks", cl::cat(category),
      cl::desc("Write to standard error which backends do not compute a node "
               "that they have kernels for, and why")};
  cl::opt<bool> quiet{"quiet", cl::cat(category),
                      cl::desc("Print errors only")};
  cl::alias quietShort{"q", cl::aliasopt(quiet), cl::desc("Same as --quiet"),
                       cl::cat(category)};
};

/// Exit codes that scripts can tell apart.
enum { kSuccess = 0, kFailure = 1, kUsage = 2 };

} // namespace

static int usageError(const Twine &message) {
  errs() << "ingot compile: error: " << message << '\n';
  return kUsage;
}

/// Sets what is to be emitted; nullopt if the name is unknown.
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

/// Fills `result` from the command line; 0 or an exit code.
static int readOptions(const Options &options, CompileOptions &result) {
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
  const auto quantization =
      StringSwitch<std::optional<Quantization>>(options.precision)
          .Cases({"fp32", "bf16", "int8"}, Quantization::none)
          .Case("int8-dynamic", Quantization::int8Dynamic)
          .Default(std::nullopt);
  if (!quantization)
    return usageError("unknown --precision=" + options.precision +
                      ": use fp32, bf16, int8 or int8-dynamic");
  result.pipeline.quantization = *quantization;
  const bool isInt8 = options.precision == "int8";
  if (isInt8 && options.calibration.empty())
    return usageError("--precision=int8 needs --calibration=FILE, which ingot "
                      "calibrate writes");
  if (!isInt8 && !options.calibration.empty())
    return usageError("--calibration is for --precision=int8");
  for (auto [name, isGiven] : {std::pair("--keep", !options.keep.empty()),
                               std::pair("--rules", !options.rules.empty())})
    if (!isInt8 && *quantization == Quantization::none && isGiven)
      return usageError(name +
                        Twine(" is for --precision=int8 and int8-dynamic"));
  result.pipeline.calibration = options.calibration;
  result.pipeline.keep.assign(options.keep.begin(), options.keep.end());
  std::vector<quantize::Rule> rules;
  if (!options.rules.empty())
    if (error = quantize::readRules(options.rules, rules); !error.empty())
      return usageError(error);
  llvm::append_range(result.pipeline.keep, quantize::precisionRules(rules));
  if (options.precision == "bf16")
    result.pipeline.precision = Precision::bf16;
  result.pipeline.emulateOn = options.emulateOn;
  result.pipeline.scheduleSeed = options.scheduleSeed;
  if (options.precision != "fp32" && options.kernels != "native")
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
  result.dumpAfter.assign(options.dumpAfter.begin(), options.dumpAfter.end());
  for (const std::string &text : options.shapes)
    if (!parseShape(text, result.import.shapes, error))
      return usageError(error);
  for (const std::string &text : options.dims)
    if (!parseDim(text, result.import.dims, error))
      return usageError(error);
  for (const std::string &text : options.limits)
    if (!parseLimit(text, result.import, result.pipeline, error))
      return usageError(error);
  return kSuccess;
}

/// Sets the kernels but for `auto`, which is measured later; 0 or an exit code.
static int readKernelsOption(StringRef kernels, CompileOptions &result) {
  if (kernels == "onednn" || kernels == "auto")
    result.pipeline.kernels = Kernels::onednn;
  else if (kernels == "native")
    result.pipeline.kernels = Kernels::native;
  else if (!sys::path::has_extension(kernels))
    return usageError("unknown --kernels=" + kernels +
                      ": use native, onednn, auto or a file that auto wrote");
  else if (std::string error = readKernelRecord(kernels, result.pipeline);
           !error.empty())
    return usageError("--kernels: " + error);
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
  out << options.output << ": ";
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
  out << ")" << (manifest.usesLibrary("onednn") ? ", uses oneDNN" : "") << '\n';
}

/// 0 or an exit code: what was printed may have no room.
static int flushOutput() {
  outs().flush();
  if (!outs().has_error())
    return kSuccess;
  errs() << "ingot compile: error: cannot write to standard output: "
         << outs().error().message() << '\n';
  outs().clear_error();
  return kFailure;
}

/// Where `--kernels=auto` writes what it found.
static std::string kernelsFile(const CompileOptions &options) {
  SmallString<128> name(options.output);
  sys::path::replace_extension(name, "kernels.json");
  return std::string(name);
}

/// More than all but the largest models make the compiler take.
static constexpr size_t kHeapInLargePages = size_t(1) << 30;

int ingot::compileMain(int argc, char **argv) {
  takeHeapFromLargePages(kHeapInLargePages);
  bool errorsPrinted = false;
  FatalErrorsInOneLine fatalErrors(errorsPrinted);
  Options options;
  cl::HideUnrelatedOptions(options.category);
  cl::SetVersionPrinter(
      [](raw_ostream &out) { out << "ingot " INGOT_VERSION "\n"; });
  std::string errors;
  raw_string_ostream errorStream(errors);
  // The parser puts the program's name before its messages.
  std::vector<const char *> args(argv, argv + argc);
  args[0] = "ingot compile";
  bool parsed = cl::ParseCommandLineOptions(
      args.size(), args.data(),
      "Compiles an ONNX model into a shared library.\n\n"
      "Example:\n"
      "  ingot compile model.onnx -o model.so --shape input=1x3x224x224\n\n"
      "Exit codes: 0 done, 1 the model cannot be compiled, 2 wrong use.\n",
      &errorStream);
  if (!parsed) {
    // It prints what is wrong with an option's value itself, the rest here.
    StringRef message = StringRef(errors).split('\n').first.trim();
    message.consume_front("ingot compile: ");
    if (message.starts_with("Too many positional"))
      message = "more than one model is given";
    return message.empty() ? int(kUsage) : usageError(message);
  }

  CompileOptions compile;
  if (int code = readOptions(options, compile))
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
  // Linking in process puts all options back to their defaults.
  const bool quiet = options.quiet;
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
    printDiagnostic(diagnostic, compile.input);
    return mlir::success();
  });
  if (options.remarks)
    printRemarks(*context, compile.input);
  if (options.printPipeline) {
    mlir::FailureOr<std::string> text = describePipeline(compile, *context);
    if (failed(text))
      return kFailure;
    outs() << *text;
    return flushOutput();
  }
  mlir::DefaultTimingManager timer;
  timer.setEnabled(options.timing);
  mlir::TimingScope timing = timer.getRootScope();
  compile.timing = &timing;
  mlir::FailureOr<CompileResult> result = mlir::failure();
  if (!isAuto || succeeded(tuneKernels(compile, kernelsFile(compile),
                                       tools::measureArtifact, *context))) {
    // Not before: --kernels=auto compiles what it measures, too.
    compile.published = setDone;
    result = compileModel(compile, *context);
  }
  if (isTerminal)
    errs() << "\r\033[K";
  timing.stop();

  if (mlir::failed(result))
    return kFailure;
  // What went to standard output or through a link has no name to get.
  setDone();
  if (result->manifest && !quiet)
    printSummary(compile, *result->manifest);
  return flushOutput();
}
