//===- Errors.h - exceptions of Python ------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PYTHON_ERRORS_H
#define INGOT_PYTHON_ERRORS_H

#include <string>

#include "ingot/ingot.h"

namespace ingot::python {

/// Raises the exception class of a status, e.g. ingot.NotFound. Needs the GIL.
[[noreturn]] void raise(ingot_status status, const std::string &message);

/// Raises the error that a function of the C API reported.
[[noreturn]] void raise(const ingot_error &error);

/// Raises ingot.InvalidType, for an argument of a wrong type.
[[noreturn]] void raiseType(const std::string &message);

} // namespace ingot::python

#endif // INGOT_PYTHON_ERRORS_H
