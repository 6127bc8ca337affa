//===- LibraryThreads.h - threads that a model's libraries start ----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_HOST_LIBRARYTHREADS_H
#define INGOT_RUNTIME_HOST_LIBRARYTHREADS_H

namespace ingot::rt {

/// Notes that a model was loaded whose libraries start threads of their own:
/// those do not survive a fork.
void noteLibraryThreads();

/// True in a forked child whose parent had such threads. A parallel region of
/// the library would wait there for threads that do not exist.
bool libraryThreadsLostByFork();

/// Keeps the code of the libraries that such threads run in mapped for good:
/// idle threads stay in it when the model that brought them goes.
void pinThreadLibraries();

} // namespace ingot::rt

#endif // INGOT_RUNTIME_HOST_LIBRARYTHREADS_H
