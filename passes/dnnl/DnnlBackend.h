//===- DnnlBackend.h - oneDNN's primitives ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_DNNL_DNNLBACKEND_H
#define INGOT_PASSES_DNNL_DNNLBACKEND_H

#include "passes/backend/Backend.h"

namespace ingot::dnnl {

/// Returns the backend whose kernels are primitives of oneDNN.
const Backend &getBackend();

} // namespace ingot::dnnl

#endif // INGOT_PASSES_DNNL_DNNLBACKEND_H
