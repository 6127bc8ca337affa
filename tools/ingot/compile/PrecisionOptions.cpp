//===- PrecisionOptions.cpp - options of a precision ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/PrecisionOptions.h"

#include "compiler/driver/OutputNames.h"
#include "compiler/pipeline/PrecisionName.h"
#include "compiler/quantize/RulesFile.h"
#include "dialects/nn/NodeName.h"
#include "passes/quantize/CalibrationFile.h"
#include "passes/support/Rules.h"
#include "tools/ingot/calibrate/Report.h"
#include "tools/ingot/calibrate/TextFiles.h"

#include "llvm/Support/raw_ostream.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::tools;

int tools::usageError(const Twine &message) {
  errs() << "ingot compile: error: " << oneLine(message.str()) << '\n';
  return kUsage;
}

/// Adopts the image preprocessing of the calibration, or warns if the command
/// line differs. A file that cannot be read is reported later.
static void adoptPreprocess(const std::string &calibration,
                            Preprocess &preprocess) {
  if (calibration.empty())
    return;
  llvm::Expected<quantize::Calibration> read =
      quantize::readCalibration(calibration);
  if (!read)
    return llvm::consumeError(read.takeError());
  Preprocess recorded;
  if (!read->preprocess ||
      (!read->preprocess->empty() &&
       !recorded.parse(*read->preprocess).empty()))
    return;
  if (!preprocess.isGiven)
    preprocess = recorded;
  else if (preprocess.text() != recorded.text())
    errs() << "ingot compile: warning: '" << printable(calibration)
           << "' was made with --preprocess=" << printable(recorded.text())
           << ", not " << printable(preprocess.text()) << '\n';
}

int tools::readPrecision(const CompileFlags &options, CompileOptions &result,
                         PrecisionRequest &request) {
  const std::string &precision = options.precision;
  if (!setPrecision(precision, result.pipeline))
    return usageError("unknown --precision=" + precision +
                      ": use fp32, bf16, fp16, O0 to O3, int8, "
                      "int8-dynamic, w8, w4 or auto");
  const Precision multiplied = result.pipeline.precision;
  const Quantization quantization = result.pipeline.quantization;
  const bool isBF16 = multiplied == Precision::bf16,
             isFP16 = multiplied == Precision::fp16;
  const bool isInt8 = precision == "int8", isAuto = precision == "auto",
             isNarrow = isInt8 || isAuto || isFP16 || isBF16 ||
                        quantization != Quantization::none;
  if (isInt8 && options.calibration.empty())
    return usageError("--precision=int8 needs --calibration=FILE, which ingot "
                      "calibrate writes");
  if (isAuto && (options.eval.empty() || options.maxDrop.empty()))
    return usageError("--precision=auto needs --eval=FILE and "
                      "--max-drop=PERCENT");
  struct Given {
    const char *name;
    bool isGiven, isRight;
    const char *of;
  };
  constexpr char kOfRanges[] = "--precision=int8 and auto",
                 kOfNarrow[] = "--precision=bf16, fp16, O1, O2, O3, int8, "
                               "int8-dynamic, w8, w4 and auto";
  for (const Given &given :
       {Given{"--calibration", !options.calibration.empty(),
              isInt8 || isAuto || isFP16, "--precision=int8, fp16 and auto"},
        Given{"--keep", !options.keep.empty(), isNarrow, kOfNarrow},
        Given{"--weight-bits", options.weightBits.getNumOccurrences() > 0,
              isInt8 || isAuto || quantization == Quantization::int8Dynamic,
              "--precision=int8, int8-dynamic and auto"},
        Given{"--rules", !options.rules.empty(), isNarrow, kOfNarrow},
        Given{"--report", !options.report.empty(), isInt8 || isAuto, kOfRanges},
        Given{"--eval", !options.eval.empty(), isAuto, "--precision=auto"},
        Given{"--max-drop", !options.maxDrop.empty(), isAuto,
              "--precision=auto"},
        Given{"--data", !options.data.empty(),
              isInt8 && !options.report.empty(),
              "--report with --precision=int8"},
        Given{"--preprocess", !options.preprocess.empty(),
              isAuto || !options.data.empty(), "--data and --eval"}})
    if (given.isGiven && !given.isRight)
      return usageError(given.name + Twine(" is for ") + given.of);
  const StringRef weightBits = options.weightBits;
  if (weightBits != "auto" && weightBits != "7" && weightBits != "8")
    return usageError("--weight-bits=" + Twine(printable(weightBits)) +
                      ": use auto, 7 or 8");
  result.pipeline.weightBits = weightBits == "7" ? 7 : 8;
  result.pipeline.fitPairs = weightBits == "auto";
  result.pipeline.calibration = options.calibration;
  const StringRef narrow = narrowName(result.pipeline);
  for (const std::string &rule : options.keep)
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return usageError("--keep='" + printable(rule) + "' " + wrong);
  result.pipeline.keep.assign(options.keep.begin(), options.keep.end());
  result.otherInputs = {options.calibration, options.rules, options.eval};
  llvm::append_range(result.otherInputs, options.data);
  std::vector<quantize::Rule> &rules = request.study.rules;
  if (!options.rules.empty())
    if (std::string error = quantize::readRules(options.rules, rules);
        !error.empty())
      return usageError(error);
  for (const std::string &rule : quantize::precisionRules(rules)) {
    if (std::string wrong = checkRule(rule, narrow); !wrong.empty())
      return usageError("'" + printable(options.rules) + "': rule '" +
                        printable(rule) + "' " + wrong);
    result.pipeline.keep.push_back(rule);
  }
  request.report = options.report;
  if (!request.isWanted() && !isAuto)
    return kSuccess;
  if (result.emit != EmitKind::sharedLibrary || options.printPipeline)
    return usageError((isAuto ? "--precision=auto" : "--report") +
                      Twine(" measures the model: it goes with a shared "
                            "library only"));
  if (!result.import.values.empty())
    return usageError((isAuto ? "--precision=auto" : "--report") +
                      Twine(" does not go with --value: write the constant "
                            "into the model"));
  if (!result.import.lengths.empty() || !result.import.absent.empty())
    return usageError((isAuto ? "--precision=auto" : "--report") +
                      Twine(" does not go with --length and --absent"));
  StudyOptions &study = request.study;
  study.model = options.input;
  study.isReported = !options.report.empty();
  study.shapes.assign(options.shapes.begin(), options.shapes.end());
  study.dims.assign(options.dims.begin(), options.dims.end());
  study.calibration = options.calibration;
  study.keep = result.pipeline.keep;
  study.weightBits = result.pipeline.weightBits;
  study.fitPairs = result.pipeline.fitPairs;
  study.winograd = result.pipeline.winograd;
  study.optimize = result.pipeline.optimize;
  study.data.assign(options.data.begin(), options.data.end());
  if (isAuto) {
    study.data = {options.eval};
    StringRef percent = options.maxDrop;
    percent.consume_back("%");
    double drop = 0;
    if (percent.getAsDouble(drop) || !(drop >= 0 && drop <= 100))
      return usageError("--max-drop=" + options.maxDrop +
                        ": use a percentage from 0% to 100%");
    study.maxDrop = drop;
  }
  if (!options.preprocess.empty())
    if (std::string wrong = study.preprocess.parse(options.preprocess);
        !wrong.empty())
      return usageError("--preprocess: " + wrong);
  adoptPreprocess(options.calibration, study.preprocess);
  return kSuccess;
}

int tools::runStudy(const PrecisionRequest &request, PrecisionStudy &study,
                    CompileOptions &compile, mlir::MLIRContext &context) {
  // Check the output files first, before the study takes minutes.
  if (failed(checkOutputs(compile, context)))
    return kFailure;
  if (!request.report.empty()) {
    if (StringRef(request.report).ends_with(".json"))
      return usageError("--report=" + request.report +
                        " is a page: the JSON is written beside it");
    for (const std::string &path :
         {request.report, reportJsonPath(request.report)}) {
      if (isSameFile(path, compile.output) ||
          isSameFile(path, headerName(compile)) ||
          isSameFile(path, compile.decisionsFile))
        return usageError("--report=" + request.report +
                          " has the name of the library, its header or "
                          "--decisions");
      if (std::string problem = checkWritable(path, request.study.model,
                                              compile.otherInputs);
          !problem.empty()) {
        errs() << "ingot compile: error: " << oneLine(problem) << '\n';
        return kFailure;
      }
    }
  }
  if (int code = study.run())
    return code;
  study.choosePrecisions(compile.pipeline);
  return kSuccess;
}

std::string tools::writeReport(const PrecisionRequest &request,
                               const PrecisionStudy &study) {
  return writeTexts(
      {{reportJsonPath(request.report), reportJson(study.result())},
       {request.report, reportPage(study.result())}});
}
