//===- ModelMutator.h - changes fields of ONNX models -----------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_FUZZ_MODELMUTATOR_H
#define INGOT_TEST_FUZZ_MODELMUTATOR_H

#include <cstddef>
#include <cstdint>

namespace ingot::fuzz {

/// Changes, removes or repeats one field of the serialized model in `data`.
/// Returns 0 if `data` is no model or the result does not fit.
size_t mutateModel(uint8_t *data, size_t size, size_t maxSize, unsigned seed);

} // namespace ingot::fuzz

#endif // INGOT_TEST_FUZZ_MODELMUTATOR_H
