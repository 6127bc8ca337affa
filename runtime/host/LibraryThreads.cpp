//===- LibraryThreads.cpp - threads that a model's libraries start --------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "runtime/host/LibraryThreads.h"

#include <atomic>
#include <dlfcn.h>
#include <initializer_list>
#include <pthread.h>

static pthread_once_t forkOnce = PTHREAD_ONCE_INIT;
static std::atomic<bool> started{false};
static std::atomic<bool> lost{false};

static void afterForkInChild() {
  if (started.load())
    lost.store(true);
}

static void registerForkHandler() {
  pthread_atfork(nullptr, nullptr, afterForkInChild);
}

void ingot::rt::noteLibraryThreads() {
  pthread_once(&forkOnce, registerForkHandler);
  started.store(true);
}

bool ingot::rt::libraryThreadsLostByFork() { return lost.load(); }

void ingot::rt::pinThreadLibraries() {
  // Names of the OpenMP libraries of GCC, LLVM and Intel.
  for (const char *name : {"libgomp.so.1", "libomp.so.5", "libiomp5.so"})
    if (void *library = dlopen(name, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE))
      dlclose(library);
}
