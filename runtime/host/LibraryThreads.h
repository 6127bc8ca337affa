//===- LibraryThreads.h - threads that a model's libraries start ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_HOST_LIBRARYTHREADS_H
#define INGOT_RUNTIME_HOST_LIBRARYTHREADS_H

namespace ingot::rt {

/// Records that a loaded model uses libraries with their own threads. Such
/// threads do not survive a fork.
void noteLibraryThreads();

/// Returns true in a forked child whose parent had such threads. A parallel
/// region of the library would wait there for threads that do not exist.
bool libraryThreadsLostByFork();

/// Keeps the code of libraries with their own threads mapped forever. Idle
/// threads stay in this code after the model is closed.
void pinThreadLibraries();

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_LIBRARYTHREADS_H
