//===- Temporaries.h - removal of temporary files ---------------*- C++ -*-===//
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

/// Returns a name that no process uses: ".ingot-", random letters, ".tmp".
std::string temporaryName();
bool isTemporaryName(const char *name);

/// Calls `visit` with each name in a folder, in any order. Allocates nothing,
/// and moves the position of `folder`.
void forEachName(int folder, const std::function<void(const char *)> &visit);

/// A file, or a folder of files, that is removed when a signal or abandonAll
/// ends the process. After a SIGKILL the next process removes it. The lock on
/// the file tells that process that nobody uses the file.
class Temporary {
public:
  Temporary() = default;
  Temporary(Temporary &&other);
  Temporary &operator=(Temporary &&other);
  ~Temporary() { forget(); }

  /// Registers a file or folder for removal. `folder` must stay open.
  void watch(int folder, const std::string &name, bool isFolder = false);
  void forget();

private:
  int slot = -1;
};

/// Removes every watched file before the process ends at once. Safe in a signal
/// handler.
void removeTemporaries();

/// Removes the regular file or folder of that name if no process holds its
/// lock. Returns true if it was removed.
bool removeIfUnused(int folder, const char *name);

/// Removes files that killed processes left in a folder.
void removeLeftovers(int folder);

} // namespace ingot

#endif // INGOT_BASE_TEMPORARIES_H
