//===- WarmUp.h - what each process of the compiler pays once ---*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_WORKERS_WARMUP_H
#define INGOT_TEST_WORKERS_WARMUP_H

namespace ingot {

/// Compiles a small model and drops it: ONNX's schemas, LLVM's targets and the
/// libraries' symbols are there afterwards, for all children that are forked
/// from this process. They are half of a small model's compilation. Leaves no
/// thread behind, which a child would wait for. Returns whether all went well.
bool warmUp();

} // namespace ingot

#endif // INGOT_TEST_WORKERS_WARMUP_H
