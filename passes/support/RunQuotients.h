//===- RunQuotients.h - quotients by numbers of a run -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_RUNQUOTIENTS_H
#define INGOT_PASSES_SUPPORT_RUNQUOTIENTS_H

namespace ingot {

/// The magnitude to which `saturate-integers` limits quotients that become i32.
/// `divide-by-constants` recognizes it, and limits the dividend instead, so
/// that a quotient may exceed it by a rounding error.
constexpr float kMaxRunQuotient = 0x1p30F;

} // namespace ingot

#endif // INGOT_PASSES_SUPPORT_RUNQUOTIENTS_H
