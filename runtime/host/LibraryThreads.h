//===- LibraryThreads.h - threads that a model's libraries start ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_HOST_LIBRARYTHREADS_H
#define INGOT_RUNTIME_HOST_LIBRARYTHREADS_H

namespace ingot::rt {

/// Records that a loaded model uses libraries with their own threads. These
/// threads do not exist in a forked child.
void noteLibraryThreads();

/// Returns true in a forked child if the parent had such threads. In the child,
/// a parallel region of the library would wait for them forever.
bool libraryThreadsLostByFork();

/// Keeps the code of libraries with their own threads mapped forever, because
/// idle threads still run it after the model is closed.
void pinThreadLibraries();

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_LIBRARYTHREADS_H
