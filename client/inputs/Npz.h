//===- Npz.h - NumPy's .npz files -------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_CLIENT_INPUTS_NPZ_H
#define INGOT_CLIENT_INPUTS_NPZ_H

#include "client/Npy.h"
#include "client/inputs/Zip.h"

namespace ingot::tools {

/// Returns true if `text` ends with `end`.
bool endsWith(const std::string &text, const std::string &end);

/// Finds the array with the name of an input. If the file has only one array
/// and the model only one input, their names may differ. Returns null if there
/// is no such array.
const ZipMember *findArray(const ZipFile &file, const std::string &input,
                           bool isOnlyInput);

/// Describes the arrays of a file for a message: "it is empty", or "it has a,
/// b".
std::string listArrays(const ZipFile &file);

/// Returns the name of an array, without `.npy`.
std::string arrayName(const ZipMember &member);

/// Returns true for the name of the array of right results.
bool isLabels(const std::string &array);

/// Reads an array, like readNpy. Returns an error message, or "".
std::string readNpzArray(const ZipFile &file, const ZipMember &member,
                         Array &array, const NpyCheck &check);

} // namespace ingot::tools

#endif // INGOT_CLIENT_INPUTS_NPZ_H
