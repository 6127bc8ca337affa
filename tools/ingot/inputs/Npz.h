//===- Npz.h - NumPy's .npz files -------------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_INPUTS_NPZ_H
#define INGOT_TOOLS_INGOT_INPUTS_NPZ_H

#include "tools/ingot/Npy.h"
#include "tools/ingot/inputs/Zip.h"

namespace ingot::tools {

/// Whether the name of a file ends so.
bool endsWith(const std::string &text, const std::string &end);

/// Finds the array of an input by its name. The only array of a file is that
/// of a model's only input, whatever its name. Returns null if there is none.
const ZipMember *findArray(const ZipFile &file, const std::string &input,
                           bool isOnlyInput);

/// Lists the arrays of a file for a message: "it is empty", or "it has a, b".
std::string listArrays(const ZipFile &file);

/// Name of an array, without `.npy`.
std::string arrayName(const ZipMember &member);

/// Reads an array as readNpy does. Returns what is wrong, or "".
std::string readNpzArray(const ZipFile &file, const ZipMember &member,
                         Array &array, const NpyCheck &check);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_INPUTS_NPZ_H
