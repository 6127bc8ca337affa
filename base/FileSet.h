//===- FileSet.h - publishes complete files ---------------------*- C++ -*-===//
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

/// Files of one folder that get their names when all of them are written. At
/// every instant each name refers to a whole file, old or new, even if the
/// process is killed or the machine stops. A file without a name disappears
/// with the object.
///
/// Functions return an error message, or "".
class FileSet {
public:
  FileSet() = default;
  FileSet(const FileSet &) = delete;
  FileSet &operator=(const FileSet &) = delete;
  ~FileSet();

  /// Opens the folder and removes files that killed processes left there.
  std::string open(const std::string &folder);

  /// Creates a file. `descriptor` is for writing and is closed with this
  /// object.
  std::string create(bool isExecutable, int &descriptor);

  struct Name {
    int descriptor;
    std::string name;
  };
  using IsStale = std::function<bool(const char *name)>;
  /// Gives the files their names, in this order. Refuses to replace anything
  /// but regular files. If a name cannot be given, all names get their previous
  /// files back. If the process is killed, only the first part of the list may
  /// have new files. The function allocates nothing after it has given the
  /// first name.
  ///
  /// Then removes the files of the folder that `isStale` selects. These are
  /// always files of earlier sets, because a lock keeps other processes from
  /// publishing into this folder at the same time.
  std::string publish(const std::vector<Name> &names,
                      const IsStale &isStale = nullptr);

  /// Returns the open folder, or -1 before `open`.
  int descriptor() const { return folder; }

private:
  struct File {
    int descriptor = -1;
    /// Temporary name until the file is published. Afterwards, the name of the
    /// file that this file replaced, or empty.
    std::string temporary;
    Temporary watch;
  };
  /// The effect of publish on one file, to undo it.
  struct Step {
    File *file = nullptr;
    const std::string *name = nullptr;
    /// kPlaced: the name was free. kReplaced: a second link keeps the old file.
    /// kLost: nothing keeps the old file.
    ///
    /// kExchanged: the old file has the temporary name.
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
