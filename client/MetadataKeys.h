//===- MetadataKeys.h - the compiler's metadata -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_METADATAKEYS_H
#define INGOT_CLIENT_METADATAKEYS_H

/// Keys of the entries that the compiler adds to an artifact's metadata.
namespace ingot::tools::metadatakey {
#define INGOT_METADATA_TEXT(NAME, KEY, MEANING) constexpr char NAME[] = KEY;
#define INGOT_METADATA_NUMBER(NAME, KEY, MEANING) constexpr char NAME[] = KEY;
#include "ingot/abi/metadata_keys.inc"
} // namespace ingot::tools::metadatakey

#endif // INGOT_CLIENT_METADATAKEYS_H
