//===- ObjectCache.cpp - cache of object code -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/ObjectCache.h"

#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

using namespace llvm;
using namespace ingot;

std::string ObjectCache::keyOf(const Module &module,
                               const TargetMachine &machine, bool forSize) {
  std::string text =
      (machine.getTargetCPU() + "\n" + machine.getTargetFeatureString() + "\n" +
       (forSize ? "size" : "speed") + "\n")
          .str();
  raw_string_ostream stream(text);
  WriteBitcodeToFile(module, stream);
  const auto digest = SHA256::hash(arrayRefFromStringRef(text));
  return std::string(digest.begin(), digest.end());
}

bool ObjectCache::find(StringRef key, SmallVectorImpl<char> &code) {
  std::lock_guard<std::mutex> lock(mutex);
  auto found = objects.find(key);
  if (found == objects.end())
    return false;
  code.assign(found->second.begin(), found->second.end());
  ++numHits;
  return true;
}

void ObjectCache::add(StringRef key, ArrayRef<char> code) {
  std::lock_guard<std::mutex> lock(mutex);
  objects[key].assign(code.begin(), code.end());
}
