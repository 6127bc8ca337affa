//===- WarmUp.h - loads the compiler before forks ---------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_WORKERS_WARMUP_H
#define INGOT_TEST_WORKERS_WARMUP_H

namespace ingot {

/// Compiles a small model and drops it, which loads ONNX's schemas, LLVM's
/// targets and the libraries' symbols. All children that are forked later share
/// them. Leaves no thread behind, because a child would wait for it. Returns
/// true on success.
bool warmUp();

} // namespace ingot

#endif // INGOT_TEST_WORKERS_WARMUP_H
