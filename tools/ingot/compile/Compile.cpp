//===- Compile.cpp - ingot compile ----------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/SystemFailures.h"
#include "compiler/study/compile/CompileReport.h"
#include "compiler/study/runs/TextFiles.h"
#include "tools/ingot/Commands.h"
#include "tools/ingot/Options.h"
#include "tools/ingot/OptionsFile.h"
#include "tools/ingot/support/FatalErrors.h"
#include "tools/ingot/support/StudyConsole.h"

#include "llvm/Support/Process.h"
#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::tools;

/// Flushes standard output. Returns an exit code.
static int flushOutput(Console &console) {
  outs().flush();
  if (!outs().has_error())
    return exitSuccess;
  std::string reason = outs().error().message();
  outs().clear_error();
  return console.failure("cannot write to standard output: " + reason);
}

/// Prints the passes, as text or as JSON. Returns an exit code.
static int printPasses(Console &console, const std::string &text) {
  if (!console.isJson()) {
    outs() << text;
    return flushOutput(console);
  }
  Json pipelines = Json::array();
  for (const std::string &line : split(text, '\n'))
    if (!line.empty())
      pipelines.push_back(line);
  console.result({{"pipelines", std::move(pipelines)}});
  return exitSuccess;
}

/// Prints the result, as text or as JSON. Returns an exit code.
static int printOutcome(Console &console, const study::CompileOutcome &outcome,
                        bool isQuiet, const std::string &times) {
  if (console.isJson()) {
    Json members = study::jsonReport(outcome);
    if (!times.empty())
      members["timing"] = Json::parse(times, /*callback=*/nullptr,
                                      /*allow_exceptions=*/false);
    console.result(members);
  } else if (!isQuiet) {
    outs() << study::textReport(outcome);
  }
  return flushOutput(console);
}

/// Writes the file of --save-options, if requested.
static Error saveOptions(const study::CompileCommand &command,
                         const study::CompileRequest &request) {
  const std::string &path = command.flags.saveOptions;
  if (path.empty())
    return Error::success();
  if (Error error = study::checkSavedOptions(path, request))
    return error;
  return study::writeTexts(
      {{path, optionsFileText(command.model, command.given, "save-options")}});
}

int ingot::compileMain(int argc, char **argv) {
  bool errorsPrinted = false;
  FatalErrorsInOneLine fatalErrors(errorsPrinted);
  study::CompileCommand command;
  cli::CompileFlags &flags = command.flags;
  OptionParser parser(cli::CommandId::compile);
  parser.addCompile(flags);
  int exitCode = 0;
  if (!parser.parse(argc, argv, command.model, exitCode))
    return exitCode;
  command.given = parser.given();
  command.optionsFiles = parser.optionsFiles();
  flags.json |= writesJson();
  Console console("compile");
  console.setJson(flags.json);
  console.setQuiet(flags.quiet);
  // --remarks shows remarks even with --quiet, so it has its own console.
  Console asked("compile");
  asked.setJson(flags.json);

  Expected<study::CompileRequest> request = study::readRequest(command);
  if (!request)
    return writeError(console, request.takeError());
  const bool isText = request->compile.output == "-";
  if (flags.json && isText)
    return console.usageError("--json writes to standard output, so -o - is "
                              "not possible with it");
  if (Error error = saveOptions(command, *request))
    return writeError(console, std::move(error));
  request->compile.published = setDone;
  if (flags.remarks)
    request->onRemark = [&](const Message &remark) { asked.message(remark); };

  // A status line would be in the middle of the text.
  const bool hidesSteps = isText && sys::Process::StandardOutIsDisplayed();
  const ingot::Progress shown = console.progress();
  ingot::Progress progress;
  progress.onStep = [&](const std::string &step, double fraction) {
    nameStep(step.c_str());
    if (!hidesSteps)
      shown.step(step, fraction);
  };
  progress.onMessage = [&](const Message &message) {
    errorsPrinted |= message.severity == Severity::error;
    console.message(message);
  };
  study::CompileSession session(std::move(*request), progress);
  if (flags.printPipeline) {
    Expected<std::string> passes = session.describePasses();
    return passes ? printPasses(console, *passes)
                  : writeError(console, passes.takeError());
  }
  Expected<study::CompileOutcome> outcome = session.run();
  console.clear();
  const std::string times = session.times();
  if (outcome) {
    // Output to standard output or through a link is not renamed, so mark it as
    // done here.
    setDone();
    exitCode = printOutcome(console, *outcome, flags.quiet, times);
  } else {
    exitCode = writeError(console, outcome.takeError());
  }
  if (!flags.json)
    errs() << times;
  return exitCode;
}
