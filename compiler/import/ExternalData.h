//===- ExternalData.h - tensors kept in files beside the model --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_EXTERNALDATA_H
#define INGOT_COMPILER_IMPORT_EXTERNALDATA_H

#include "compiler/import/Model.h"

#include "llvm/Support/FileSystem/UniqueID.h"

namespace ingot::importer {

/// Maps the external data of all tensors. Locations are relative to `directory`
/// and must name regular files in it. Symbolic links are refused, so that a
/// model cannot read other files. If `directory` is null, all external data is
/// refused. Adds the identities of the files to `read` and their locations to
/// `locations`; both may be null.
llvm::Error resolveExternalData(Model &model,
                                std::optional<llvm::StringRef> directory,
                                std::vector<llvm::sys::fs::UniqueID> *read,
                                std::vector<std::string> *locations);

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_EXTERNALDATA_H
