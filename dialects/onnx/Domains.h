//===- Domains.h - domains of operators that ONNX has not ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_ONNX_DOMAINS_H
#define INGOT_DIALECTS_ONNX_DOMAINS_H

namespace ingot {

/// Of nodes that say which operands an operator takes, before the function that
/// the importer expands it to: named after the operator, without results.
constexpr char kContractDomain[] = "ingot.contract";

/// Of operators that ONNX Runtime adds to ONNX's own.
constexpr char kMicrosoftDomain[] = "com.microsoft";

} // namespace ingot

#endif // INGOT_DIALECTS_ONNX_DOMAINS_H
