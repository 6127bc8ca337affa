//===- Library.h - the shared library of a model --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_LIBRARY_H
#define INGOT_RUNTIME_CORE_LIBRARY_H

#include "ingot/ingot.h"
#include "runtime/core/MappedFile.h"
#include "runtime/core/Mapping.h"

namespace ingot::rt {

/// A loaded library with the content that its file had at load time. dlopen
/// alone does not ensure this content. If a name was loaded before, dlopen
/// returns the loaded object, even if the name now refers to another file.
class Library {
public:
  Library() = default;
  Library(const Library &) = delete;
  Library &operator=(const Library &) = delete;
  ~Library() { close(); }

  /// Checks the file and loads it. `flags` are INGOT_MODEL_....
  ingot_status open(const char *path, uint32_t flags, ingot_error *error);
  /// Loads a copy of a file's bytes. `subject` names it in messages.
  ingot_status openMemory(const void *bytes, uint64_t size, const char *subject,
                          uint32_t flags, ingot_error *error);
  void close();

  bool isOpen() const { return handle; }
  void *symbol(const char *name) const;
  const Mapping &mapping() const { return mapped; }

private:
  struct Entry;
  static Entry *entries;

  enum class Result { loaded, failed, otherFile };
  /// A file, or bytes in memory, to load.
  struct Source {
    const char *path;
    const char *subject; ///< name in messages
    uint32_t flags;
    /// Number of the first spelling of the path to try (see `spell`). The
    /// dynamic linker does not load a path twice. Files in memory share one
    /// path, so each of them gets its own spelling.
    uint32_t firstAlias;
    bool isPrivate; ///< true if no other process can write to it
  };
  ingot_status open(const Source &source, ingot_error *error);
  Result openChecked(const Source &source, MappedFile &file,
                     ingot_error *error);
  Result load(const char *name, const Source &source, const MappedFile &file,
              ingot_error *error);
  Result enter(char *name, const Source &source, MappedFile &file,
               ingot_error *error);
  static Entry *find(const MappedFile &file);
  static bool isOfOtherFile(void *handle, const MappedFile &file);
  void leave();
  void unload();

  void *handle = nullptr;
  Entry *entry = nullptr;
  Mapping mapped;
};

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_LIBRARY_H
