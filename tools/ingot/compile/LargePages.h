//===- LargePages.h - the heap in large pages -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_LARGEPAGES_H
#define INGOT_TOOLS_INGOT_COMPILE_LARGEPAGES_H

#include <stddef.h>

namespace ingot {

/// Has the C library take the next `bytes` of its heap from large pages, where
/// the system has them and lets a process reserve as much; takes no memory by
/// itself. False: all is as it was.
///
/// The passes of a compilation walk a module of hundreds of megabytes over and
/// over, and with small pages wait for addresses to be looked up.
bool takeHeapFromLargePages(size_t bytes);

} // namespace ingot

#endif // INGOT_TOOLS_INGOT_COMPILE_LARGEPAGES_H
