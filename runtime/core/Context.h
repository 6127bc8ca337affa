//===- Context.h - what one run at a time needs ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_CONTEXT_H
#define INGOT_RUNTIME_CORE_CONTEXT_H

#include "runtime/core/BlockCache.h"
#include "runtime/core/Model.h"
#include "runtime/core/Profile.h"

struct ingot_context {
  ingot_context(const ingot_allocator &allocator)
      : allocator(allocator), blocks(allocator), profile(allocator) {}
  ~ingot_context();

  ingot_status init(ingot_model *model, const ingot_context_options &options,
                    ingot_error *error);
  ingot_status initThreads(const ingot_context_options &options,
                           ingot_error *error);
  ingot_status initArena(const ingot_context_options &options,
                         ingot_error *error);
  ingot_status initBuffers(ingot_error *error);

  ingot_status run(const ingot_input *inputs, const ingot_output *outputs,
                   ingot_error *error);
  ingot_status bindInputs(const ingot_input *inputs, ingot_error *error);
  ingot_status bindOutputs(const ingot_output *outputs, ingot_error *error);
  ingot_status checkOverlaps(ingot_error *error) const;
  void reportDims() const;

  ingot_model *model = nullptr;
  ingot_allocator allocator;
  ingot::rt::BlockCache blocks;
  ingot::rt::Profile profile;
  ingot_pool *pool = nullptr; ///< null with an executor
  ingot_executor executor = INGOT_EXECUTOR_INIT;
  ingot_abi_host host = {};
  void *arena = nullptr;
  bool ownsArena = false;
  std::atomic<bool> running{false};

  // One allocation, made once, so that a run makes none: what the generated
  // code gets, and which of the caller's structs each came from.
  void *tables = nullptr;
  ingot_abi_buffer *inputBuffers = nullptr;
  ingot_abi_buffer *outputBuffers = nullptr;
  const ingot_input **givenInputs = nullptr;
  const ingot_output **givenOutputs = nullptr;
};

#endif // INGOT_RUNTIME_CORE_CONTEXT_H
