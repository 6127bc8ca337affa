//===- ObjectCache.h - cache of object code ---------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_EMIT_OBJECTCACHE_H
#define INGOT_COMPILER_EMIT_OBJECTCACHE_H

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <mutex>
#include <string>

namespace llvm {
class Module;
class TargetMachine;
} // namespace llvm

namespace ingot {

/// Object code that the compilations of one process share, in memory. If a
/// command compiles a model several times, LLVM compiles equal modules only
/// once. Thread-safe.
class ObjectCache {
public:
  /// Returns a fingerprint of all inputs of the object code: the module before
  /// `optimize`, the machine, and `forSize`.
  static std::string keyOf(const llvm::Module &module,
                           const llvm::TargetMachine &machine, bool forSize);

  /// Copies the object code to `code`. Returns false if the cache has no code
  /// for this key.
  bool find(llvm::StringRef key, llvm::SmallVectorImpl<char> &code);
  void add(llvm::StringRef key, llvm::ArrayRef<char> code);
  /// Returns how many times `find` has found code.
  unsigned hits() const { return numHits; }

private:
  std::mutex mutex;
  llvm::StringMap<llvm::SmallVector<char, 0>> objects;
  unsigned numHits = 0;
};

} // namespace ingot

#endif // INGOT_COMPILER_EMIT_OBJECTCACHE_H
