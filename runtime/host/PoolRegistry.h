//===- PoolRegistry.h - all pools of the process --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_HOST_POOLREGISTRY_H
#define INGOT_RUNTIME_HOST_POOLREGISTRY_H

#include "runtime/host/Pool.h"

/// The list of pools that a forked child must reset. All functions except the
/// fork handler require the lock.
struct PoolRegistry {
  static void add(ingot_pool *pool);
  static void remove(ingot_pool *pool);
  static void afterForkInChild();
};

#endif // INGOT_RUNTIME_HOST_POOLREGISTRY_H
