//===- Cases.cpp - models of one kernel, ready to run ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/bench/Cases.h"

#include "client/Execute.h"
#include "client/inputs/Inputs.h"

#include <fstream>
#include <sstream>

using namespace ingot;
using namespace ingot::bench;

std::string bench::readCases(const std::string &path,
                             std::vector<Case> &cases) {
  std::ifstream file(path);
  if (!file)
    return "cannot read '" + path + "'";
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    Case one;
    std::string flops, bytes, input;
    if (!std::getline(fields, one.name, '\t') ||
        !std::getline(fields, one.artifact, '\t') ||
        !std::getline(fields, flops, '\t') ||
        !std::getline(fields, bytes, '\t'))
      return "'" + path + "' has a line that is no case: " + line;
    one.flops = atof(flops.c_str());
    one.bytes = atof(bytes.c_str());
    while (std::getline(fields, input, '\t'))
      one.inputs.push_back(input);
    cases.push_back(one);
  }
  return cases.empty() ? "'" + path + "' has no case" : "";
}

std::string Kernel::load(const Case &from) {
  std::string problem = tools::createPool(1, pool);
  if (problem.empty())
    problem = tools::loadModel(from.artifact, {}, pool.get(), model);
  if (problem.empty())
    problem = tools::createContext(model.get(), pool.get(), context);
  tools::InputSpecs specs;
  specs.inputs = from.inputs;
  specs.isRandomByDefault = true;
  if (problem.empty())
    problem = tools::makeInputs(model.get(), specs, inputs);
  if (!problem.empty())
    return problem;
  ingot_error error = INGOT_ERROR_INIT;
  if (tools::runToFit(model.get(), context.get(), inputs, outputs, error))
    return error.message;
  in = tools::inputViews(inputs);
  out = tools::outputViews(outputs);
  return "";
}

std::string Kernel::run() {
  ingot_error error = INGOT_ERROR_INIT;
  if (ingot_context_run(context.get(), in.data(), uint32_t(in.size()),
                        out.data(), uint32_t(out.size()), nullptr, &error))
    return error.message;
  return "";
}
