//===- NodeName.h - the ONNX nodes an op comes from -------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_NN_NODENAME_H
#define INGOT_DIALECTS_NN_NODENAME_H

#include "mlir/IR/Location.h"

#include <string>

namespace ingot {

/// The ONNX nodes a location names, joined by " + "; "" if it names none.
std::string nodeNameOf(mlir::Location location);

} // namespace ingot

#endif // INGOT_DIALECTS_NN_NODENAME_H
