//===- Temporaries.h - what a process must not leave behind -----*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_TEMPORARIES_H
#define INGOT_BASE_TEMPORARIES_H

#include <functional>
#include <string>

namespace ingot {

/// A name that no process uses: ".ingot-", random letters, ".tmp".
std::string temporaryName();
bool isTemporaryName(const char *name);

/// Calls `visit` with each name in a folder, in no order. Allocates nothing,
/// and moves the position of `folder`.
void forEachName(int folder, const std::function<void(const char *)> &visit);

/// A file or a folder of files that is gone when a signal or abandonAll ends
/// the process. Whoever kills it with SIGKILL leaves it to the next process,
/// which sees by the lock on the file that nobody uses it.
class Temporary {
public:
  Temporary() = default;
  Temporary(Temporary &&other);
  Temporary &operator=(Temporary &&other);
  ~Temporary() { forget(); }

  /// `folder` must stay open.
  void watch(int folder, const std::string &name, bool isFolder = false);
  void forget();

private:
  int slot = -1;
};

/// Removes every watched file, for whoever is about to end the process at once.
/// Safe in a signal handler.
void removeTemporaries();

/// Whether no process holds the lock of the regular file, or of the folder, of
/// that name. If so it has been removed when this returns.
bool removeIfUnused(int folder, const char *name);

/// Removes what killed processes have left in a folder.
void removeLeftovers(int folder);

} // namespace ingot

#endif // INGOT_BASE_TEMPORARIES_H
