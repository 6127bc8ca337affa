//===- DecodePicture.h - the pixels in a picture's file ---------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_DECODEPICTURE_H
#define INGOT_CLIENT_INPUTS_DECODEPICTURE_H

#include "client/inputs/Pictures.h"

namespace ingot::tools {

/// Decodes an image into pixels from 0 to 255. Converts it to 1 or 3 channels
/// if the file has another number. Returns an error message, or "".
std::string decode(const std::string &bytes, int64_t channels,
                   Picture &picture);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_DECODEPICTURE_H
