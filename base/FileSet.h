//===- FileSet.h - files that are whole or not there ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_FILESET_H
#define INGOT_BASE_FILESET_H

#include "base/Temporaries.h"

#include <vector>

namespace ingot {

/// Files of one folder that get their names when all are written. At every
/// instant each name stands for a whole file, the old or the new one, also when
/// the process is killed or the machine stops. A file that nobody gave a name
/// is gone with the object.
///
/// Functions return what went wrong, or "".
class FileSet {
public:
  FileSet() = default;
  FileSet(const FileSet &) = delete;
  FileSet &operator=(const FileSet &) = delete;
  ~FileSet();

  /// Opens the folder and removes what killed processes have left in it.
  std::string open(const std::string &folder);

  /// Makes a file. `descriptor`, to write to, is closed with this object.
  std::string create(bool isExecutable, int &descriptor);

  struct Name {
    int descriptor;
    std::string name;
  };
  using IsStale = std::function<bool(const char *name)>;
  /// Gives files their names, in this order. Refuses names of anything but
  /// regular files. If it fails, or is stopped by a failure of the system, all
  /// names are what they were; a process that is killed may have got through a
  /// part of the list. From the first name that is given on, it needs no
  /// memory.
  ///
  /// Then removes the files of the folder that `isStale` chooses. Other
  /// processes publish into this folder before or after both steps, so that
  /// only files of earlier sets are removed.
  std::string publish(const std::vector<Name> &names,
                      const IsStale &isStale = nullptr);

  /// The open folder, -1 before.
  int descriptor() const { return folder; }

private:
  struct File {
    int descriptor = -1;
    /// Its own name until it is published; then that of the file whose place it
    /// has taken, or empty.
    std::string temporary;
    Temporary watch;
  };
  /// What publish has done with one file, to undo it.
  struct Step {
    File *file = nullptr;
    const std::string *name = nullptr;
    /// Nothing was there; a second link keeps what was; nothing keeps it; it
    /// has the temporary name.
    enum { kPlaced, kReplaced, kLost, kExchanged } kind = kPlaced;
    std::string backup;
  };

  std::string placeAll(std::vector<Step> &steps);
  int place(Step &step);
  void undo(const Step &step);
  File *find(int descriptor);
  void remove(File &file);

  int folder = -1;
  std::vector<File> files;
};

} // namespace ingot

#endif // INGOT_BASE_FILESET_H
