//===- CompileReport.h - the result of a compilation ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_COMPILE_COMPILEREPORT_H
#define INGOT_COMPILER_STUDY_COMPILE_COMPILEREPORT_H

#include "client/Json.h"
#include "compiler/study/compile/CompileSession.h"

namespace ingot::study {

/// Returns the sizes and the choices as lines for people. Empty if no shared
/// library was written.
std::string textReport(const CompileOutcome &outcome);

/// Returns the members of the JSON document.
tools::Json jsonReport(const CompileOutcome &outcome);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_COMPILE_COMPILEREPORT_H
