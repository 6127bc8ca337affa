//===- Guard.h - exceptions to errors ---------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_GUARD_H
#define INGOT_COMPILER_IMPORT_GUARD_H

#include "compiler/import/MappedFile.h"
#include "compiler/import/Message.h"

#include <new>

namespace ingot::importer {

/// Runs `fn` and converts its exceptions to errors.
template <typename Fn> llvm::Error guard(Fn fn) {
  try {
    return fn();
  } catch (const std::bad_alloc &) {
    return makeError("the model asks for more memory than there is");
  } catch (const std::exception &e) {
    return makeError(cleanOnnxMessage(e.what()));
  } catch (...) {
    return makeError("ONNX's library failed without a message");
  }
}

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_GUARD_H
