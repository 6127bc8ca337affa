//===- Python.cpp - interpreters of Python --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/measure/Python.h"

#include "base/Process.h"

using namespace ingot;

std::string ingot::tools::checkPython(const std::string &python,
                                      const std::string &package) {
  ProcessResult found = runProcess(
      {python, "-c", "import numpy, " + package + "; print('found')"});
  if (found.exitCode == 127)
    return "cannot run '" + python +
           "'; name a Python interpreter with --python";
  if (found.exitCode)
    return "'" + python + "' cannot use " + package + " (" + found.lastError() +
           "); install it with: " + python + " -m pip install numpy " +
           package + ", or name another interpreter with --python";
  if (found.out.find("found") == std::string::npos)
    return "'" + python + "' is no Python interpreter; name one with --python";
  return "";
}
