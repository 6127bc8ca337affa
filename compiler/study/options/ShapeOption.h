//===- ShapeOption.h - --shape, --dim and names -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_OPTIONS_SHAPEOPTION_H
#define INGOT_COMPILER_STUDY_OPTIONS_SHAPEOPTION_H

#include "compiler/driver/ShapeProfiles.h"
#include "compiler/import/Import.h"
#include "compiler/pipeline/Pipeline.h"

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

namespace ingot {

/// Parses `name=1x3x?x224` or `name=scalar`. Adds ranges of sizes, as in
/// `name=1x3x(32:48:64)x224`, to `profile`.
bool parseShape(llvm::StringRef text, ImportOptions &import,
                ShapeProfile &profile, std::string &error);

/// Parses `name=8`, or a range, which it adds to `profile`.
bool parseDim(llvm::StringRef text, ImportOptions &import,
              ShapeProfile &profile, std::string &error);

/// Parses `name=16000`.
bool parseValue(llvm::StringRef text, llvm::StringMap<std::string> &values,
                std::string &error);

/// Parses `name=2`.
bool parseLength(llvm::StringRef text, llvm::StringMap<int64_t> &lengths,
                 std::string &error);

/// Parses a limit such as `sparse-bytes=4G`.
bool parseLimit(llvm::StringRef text, ImportOptions &import,
                PipelineOptions &pipeline, std::string &error);

bool isCIdentifier(llvm::StringRef text);

} // namespace ingot

#endif // INGOT_COMPILER_STUDY_OPTIONS_SHAPEOPTION_H
