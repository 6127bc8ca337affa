//===- BlockRange.h - ranges of rounded blocks ------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_SUPPORT_BLOCKRANGE_H
#define INGOT_PASSES_SUPPORT_BLOCKRANGE_H

namespace ingot::support {

/// The largest factor of a block that `nn.packed_matmul` rounds to int8: bytes
/// are elements times `127 / m`, where m is the range of the block. A smaller m
/// would make its scale, `m / 127`, denormal.
constexpr float kMaxBlockFactor = 0x1p126f;

} // namespace ingot::support

#endif // INGOT_PASSES_SUPPORT_BLOCKRANGE_H
