//===- Replacements.cpp - functions that archives refer to ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Plugins/PassPlugin.h"

#include <cstdint>
#include <cstdlib>
#include <sys/random.h>

/// LLVM's link-time optimizer registers Polly, which Ingot does not use.
llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "", [](llvm::PassBuilder &) {}};
}

/// Returns a random number. std::random_device calls this function, and the C
/// library has it only since version 2.36.
extern "C" uint32_t arc4random() noexcept {
  uint32_t number;
  if (getrandom(&number, sizeof(number), 0) != sizeof(number))
    std::abort();
  return number;
}
