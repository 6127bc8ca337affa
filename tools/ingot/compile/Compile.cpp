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
#include "compiler/driver/Messages.h"
#include "compiler/driver/OutputNames.h"
#include "compiler/emit/ObjectCache.h"
#include "compiler/pipeline/Backends.h"
#include "compiler/study/report/Report.h"
#include "compiler/target/Target.h"
#include "compiler/tune/KernelRecord.h"
#include "dialects/nn/NodeName.h"
#include "tools/ingot/Console.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/compile/MeasureArtifact.h"
#include "tools/ingot/compile/ReadOptions.h"
#include "tools/ingot/compile/Summary.h"
#include "tools/ingot/support/FatalErrors.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace llvm;
using namespace ingot;
using namespace ingot::tools;

namespace ingot {
int compileMain(int argc, char **argv);
}

/// Flushes standard output. Returns 0, or an exit code if writing fails.
static int flushOutput(Console &console) {
  outs().flush();
  if (!outs().has_error())
    return kSuccess;
  std::string reason = outs().error().message();
  outs().clear_error();
  return console.failure("cannot write to standard output: " + reason);
}

/// Prints the passes, as text or as JSON. Returns 0 or an exit code.
static int printPasses(Console &console, const std::string &text) {
  if (!console.isJson()) {
    outs() << text;
    return flushOutput(console);
  }
  SmallVector<StringRef> lines;
  StringRef(text).trim().split(lines, '\n');
  Json pipelines = Json::array();
  for (StringRef line : lines)
    pipelines.push_back(line.str());
  console.result({{"pipelines", std::move(pipelines)}});
  return kSuccess;
}

/// Returns the path of the file with the measurements of `--kernels=auto`.
static std::string kernelsFile(const CompileOptions &options) {
  SmallString<128> name(options.output);
  sys::path::replace_extension(name, "kernels.json");
  return std::string(name);
}

int ingot::compileMain(int argc, char **argv) {
  bool errorsPrinted = false;
  FatalErrorsInOneLine fatalErrors(errorsPrinted);
  CompileOptions compile;
  PrecisionRequest request;
  cli::CompileFlags options;
  OptionParser messages(cli::CommandId::compile);
  messages.addCompile(options);
  int exitCode = 0;
  if (!messages.parse(argc, argv, compile.input, exitCode))
    return exitCode;
  if (int code = readOptions(options, messages, compile, request))
    return code;
  const bool isAuto = options.kernels == "auto";
  const bool json = options.json || writesJson();
  if (json && compile.output == "-")
    return usageError("--json writes to standard output, so -o - is not "
                      "possible with it");
  if (isAuto && !options.saveOptions.empty() &&
      isSameFile(options.saveOptions, kernelsFile(compile)))
    return usageError("--save-options=" + options.saveOptions +
                      " has the name of the file that --kernels=auto writes");
  if (int code = saveOptions(options, messages, compile))
    return code;
  const bool quiet = options.quiet, timed = options.timing,
             remarks = options.remarks;
  Console console("compile");
  console.setJson(json);
  console.setQuiet(quiet);
  // --remarks shows remarks even with --quiet, so it has its own console.
  Console asked("compile");
  asked.setJson(json);
  // A status line would be in the middle of the text.
  const bool isTextOnTerminal =
      compile.output == "-" && sys::Process::StandardOutIsDisplayed();
  const ingot::Progress shown = console.progress();
  ingot::Progress progress = shown;
  progress.onStep = [&](const std::string &step, double fraction) {
    nameStep(step.c_str());
    if (!isTextOnTerminal)
      shown.step(step, fraction);
  };
  StringMap<std::string> operators;
  compile.operators = &operators;
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  context->getDiagEngine().registerHandler([&](mlir::Diagnostic &diagnostic) {
    errorsPrinted |=
        diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error;
    console.message(toMessage(diagnostic, compile.input, operators));
    return mlir::success();
  });
  DecisionTrace decisions;
  if (remarks || !compile.decisionsFile.empty()) {
    RemarkReader printRemark = [&](const mlir::remark::detail::Remark &remark) {
      asked.message(toMessage(remark, compile.input, operators));
    };
    readRemarks(*context, decisions, remarks ? printRemark : nullptr);
    compile.decisions = &decisions;
  }
  for (const std::string &warning : request.warnings)
    console.warning(warning);
  if (options.printPipeline) {
    mlir::FailureOr<std::string> text = describePipeline(compile, *context);
    return failed(text) ? int(kFailure) : printPasses(console, *text);
  }
  // Fractions of the total work before the final compilation, for a study and
  // for tuning.
  constexpr double kStudyShare = 0.8, kTuningShare = 0.75;
  const auto started = std::chrono::steady_clock::now();
  // After measurements, the model is compiled again with the user's options.
  // The cache avoids generating the code again.
  ObjectCache objects;
  if (isAuto || request.isWanted())
    compile.objects = request.study.objects = &objects;
  std::optional<study::Study> study;
  if (request.isWanted())
    if (int code = runStudy(request, study, compile, *context, console,
                            progress.part(0, kStudyShare)))
      return code;
  // The timer writes to the stream until it is destroyed.
  std::string times;
  raw_string_ostream timesStream(times);
  mlir::DefaultTimingManager timer;
  timer.setEnabled(timed);
  if (json)
    timer.setOutput(mlir::createOutputStrategy(
        mlir::DefaultTimingManager::OutputFormat::Json, timesStream));
  mlir::TimingScope timing = timer.getRootScope();
  compile.timing = &timing;
  mlir::FailureOr<CompileResult> result = mlir::failure();
  mlir::FailureOr<KernelRecord> kernels = mlir::failure();
  if (isAuto) {
    compile.progress = progress.part(0, kTuningShare);
    kernels = tuneKernels(compile, kernelsFile(compile), tools::measureArtifact,
                          *context);
  }
  if (!isAuto || succeeded(kernels)) {
    compile.progress = isAuto  ? progress.part(kTuningShare, 1)
                       : study ? progress.part(kStudyShare, 1)
                               : progress;
    // Set this only here, because --kernels=auto has compiled other artifacts
    // before.
    compile.published = setDone;
    result = compileModel(compile, *context);
  }
  console.clear();
  timing.stop();
  if (remarks)
    for (const Message &message :
         remarksOf(decisions, compile.input, operators))
      asked.message(message);

  if (mlir::failed(result))
    return kFailure;
  if (!request.report.empty())
    if (Error error = study::writeReport(*study, request.report))
      return messages.failure(toString(std::move(error)));
  // Output to standard output or through a link is not renamed, so mark it as
  // done here.
  setDone();
  CompileSummary summary{compile, *result};
  if (succeeded(kernels))
    summary.kernels = &*kernels;
  if (study)
    summary.study = &*study;
  summary.report = request.report;
  const std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - started;
  summary.seconds = taken.count();
  if (json) {
    Json members = toJson(summary);
    if (timed) {
      timer.print();
      members["timing"] = Json::parse(times, /*callback=*/nullptr,
                                      /*allow_exceptions=*/false);
    }
    console.result(members);
  } else if (!quiet) {
    printText(summary);
  }
  return flushOutput(console);
}
