//===- FreeMemory.h - memory that the allocator keeps -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_FREEMEMORY_H
#define INGOT_BASE_FREEMEMORY_H

namespace ingot {

/// Returns the memory that the allocator keeps after frees to the system. Works
/// with glibc's allocator and with jemalloc, and with others does nothing.
void returnFreeMemory();

} // namespace ingot

#endif // INGOT_BASE_FREEMEMORY_H
