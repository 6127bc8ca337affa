//===- Python.h - interpreters of Python ------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_MEASURE_PYTHON_H
#define INGOT_CLIENT_MEASURE_PYTHON_H

#include <string>

namespace ingot::tools {

/// Checks that the interpreter `python` has numpy and a package. Returns an
/// error message, or "".
std::string checkPython(const std::string &python, const std::string &package);

} // namespace ingot::tools

#endif // INGOT_CLIENT_MEASURE_PYTHON_H
