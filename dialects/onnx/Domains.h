//===- Domains.h - domains of operators that ONNX has not ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_ONNX_DOMAINS_H
#define INGOT_DIALECTS_ONNX_DOMAINS_H

namespace ingot {

/// Domain of contract nodes. A contract node has the name and the operands of
/// an operator, but no results. If the importer expands an operator to a
/// function, it puts a contract node before the function's nodes.
constexpr char kContractDomain[] = "ingot.contract";

/// Domain of operators that ONNX Runtime adds to the operators of ONNX.
constexpr char kMicrosoftDomain[] = "com.microsoft";

} // namespace ingot

#endif // INGOT_DIALECTS_ONNX_DOMAINS_H
