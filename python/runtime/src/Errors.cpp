//===- Errors.cpp - exceptions of Python ----------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "Errors.h"

#include <nanobind/nanobind.h>

namespace nb = nanobind;

namespace ingot::python {

/// Raises the exception that a function of ingot._errors returns.
[[noreturn]] static void raiseMade(nb::object exception) {
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(exception.ptr())),
                  exception.ptr());
  throw nb::python_error();
}

void raise(ingot_status status, const std::string &message) {
  nb::bytes text(message.data(), message.size());
  raiseMade(
      nb::module_::import_("ingot._errors").attr("make")(int(status), text));
}

void raise(const ingot_error &error) { raise(error.status, error.message); }

void raiseType(const std::string &message) {
  raiseMade(nb::module_::import_("ingot._errors")
                .attr("InvalidType")(nb::str(message.c_str())));
}

} // namespace ingot::python
