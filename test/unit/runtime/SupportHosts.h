//===- SupportHosts.h - hosts of runs in tests -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_RUNTIME_SUPPORTHOSTS_H
#define INGOT_TEST_UNIT_RUNTIME_SUPPORTHOSTS_H

#include "runtime/support/support.h"

#include <cstdlib>
#include <thread>
#include <vector>

namespace {

/// A host with its own threads: all tasks run at the same time on other threads
/// than the caller's.
struct Host {
  ingot_abi_host abi = {};
  ingot_abi_call call = {};
  char error[64] = "";
  int parallelRegions = 0;
  bool hasMemory = true;

  explicit Host(uint32_t threads) {
    abi.struct_size = sizeof abi;
    abi.num_threads = threads;
    abi.user = this;
    abi.allocate = [](void *user, uint64_t bytes, uint64_t) -> void * {
      return static_cast<Host *>(user)->hasMemory ? malloc(bytes) : nullptr;
    };
    abi.release = [](void *, void *pointer) { free(pointer); };
    abi.parallel_for = [](void *user, void (*task)(void *, int64_t), void *arg,
                          int64_t count) {
      ++static_cast<Host *>(user)->parallelRegions;
      std::vector<std::thread> threads;
      for (int64_t i = 0; i < count; ++i)
        threads.emplace_back([=] { task(arg, i); });
      for (std::thread &thread : threads)
        thread.join();
    };
    call.struct_size = sizeof call;
    call.host = &abi;
    call.error = error;
    call.error_bytes = sizeof error;
  }
};

/// A host that counts its allocations.
struct LeakHost : Host {
  int live = 0;
  LeakHost() : Host(1) {
    abi.allocate = [](void *user, uint64_t bytes,
                      uint64_t alignment) -> void * {
      auto *self = static_cast<LeakHost *>(static_cast<Host *>(user));
      if (!self->hasMemory)
        return nullptr;
      ++self->live;
      return aligned_alloc(alignment, (bytes + alignment - 1) / alignment *
                                          alignment);
    };
    abi.release = [](void *user, void *pointer) {
      --static_cast<LeakHost *>(static_cast<Host *>(user))->live;
      free(pointer);
    };
  }
};

} // namespace

#endif // INGOT_TEST_UNIT_RUNTIME_SUPPORTHOSTS_H
