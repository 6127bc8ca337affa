//===- Domains.h - domains of operators that ONNX has not ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_ONNX_DOMAINS_H
#define INGOT_DIALECTS_ONNX_DOMAINS_H

namespace ingot {

/// Domain of contract nodes, which have an operator's name, its operands and no
/// results. The importer puts a contract node before the function that it
/// expands the operator to.
constexpr char kContractDomain[] = "ingot.contract";

/// Domain of operators that ONNX Runtime adds to ONNX's own.
constexpr char kMicrosoftDomain[] = "com.microsoft";

} // namespace ingot

#endif // INGOT_DIALECTS_ONNX_DOMAINS_H
