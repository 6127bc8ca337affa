//===- OnnxRuntime.cpp - ONNX Runtime as another process ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compare/OnnxRuntime.h"

#include "base/Process.h"
#include "base/ScratchFolder.h"
#include "client/measure/Python.h"
#include "compiler/study/runs/Errors.h"

#include "ingot/ingot.h"

using namespace ingot;
using namespace ingot::study;

/// The text of scripts/run_onnxruntime.py. It is built into the program, so
/// that the script need not be installed.
static constexpr char kScript[] =
#include "OnnxRuntimeScript.inc"
    ;

llvm::Error OnnxRuntime::check() const {
  return errorIf(tools::checkPython(python, "onnxruntime"));
}

static std::string fileName(const ScratchFolder &folder, size_t sample,
                            const char *kind, size_t number) {
  return folder.path() + "/" + std::to_string(sample) + "." + kind + "." +
         std::to_string(number) + ".npy";
}

llvm::Error OnnxRuntime::run(const std::vector<Tensors> &inputs,
                             std::vector<Tensors> &outputs) {
  ScratchFolder folder;
  std::string problem = folder.create();
  for (size_t s = 0; s < inputs.size() && problem.empty(); ++s)
    for (size_t i = 0; i < inputs[s].size() && problem.empty(); ++i)
      problem = tools::writeNpy(fileName(folder, s, "in", i), inputs[s][i]);
  if (!problem.empty())
    return makeError(problem);
  std::vector<std::string> command = {
      python,
      "-c",
      kScript,
      model,
      folder.path(),
      std::to_string(inputs.size()),
      std::to_string(threads ? threads : ingot_cpu_count())};
  command.insert(command.end(), inputNames.begin(), inputNames.end());
  command.push_back("--");
  command.insert(command.end(), outputNames.begin(), outputNames.end());
  ProcessResult done = runProcess(command);
  if (done.exitCode)
    return makeError("onnxruntime cannot run '" + model +
                     "': " + done.lastError());
  found = done.out.substr(0, done.out.find('\n'));
  outputs.assign(inputs.size(), Tensors(outputNames.size()));
  for (size_t s = 0; s < inputs.size(); ++s)
    for (size_t i = 0; i < outputNames.size(); ++i)
      if (problem =
              tools::readNpy(fileName(folder, s, "out", i), outputs[s][i]);
          !problem.empty())
        return makeError("output '" + formatLine(outputNames[i], 120) +
                         "' of onnxruntime: " + problem);
  return llvm::Error::success();
}
