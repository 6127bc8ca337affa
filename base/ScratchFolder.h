//===- ScratchFolder.h - temporary folder of one run ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_SCRATCHFOLDER_H
#define INGOT_BASE_SCRATCHFOLDER_H

#include "base/Temporaries.h"

namespace ingot {

/// A folder in $TMPDIR or /tmp. The folder and its files are removed with the
/// object, or when a signal ends the process. Folders that killed processes
/// left there are removed first.
class ScratchFolder {
public:
  ScratchFolder() = default;
  ScratchFolder(const ScratchFolder &) = delete;
  ScratchFolder &operator=(const ScratchFolder &) = delete;
  ~ScratchFolder();

  /// Creates the folder. Returns an error message, or "".
  std::string create();
  const std::string &path() const { return folderPath; }

private:
  std::string folderPath, name;
  int parent = -1, folder = -1;
  Temporary watch;
};

} // namespace ingot

#endif // INGOT_BASE_SCRATCHFOLDER_H
