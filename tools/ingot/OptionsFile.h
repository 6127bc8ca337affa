//===- OptionsFile.h - options in a JSON file -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes options files. A file is one JSON object, whose keys are the
// names of options:
//
//   {"model": "m.onnx", "dim": ["batch=1"], "winograd": false}
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_OPTIONSFILE_H
#define INGOT_TOOLS_INGOT_OPTIONSFILE_H

#include "base/OptionTable.h"
#include "tools/ingot/Options.h"

#include <string>
#include <vector>

namespace ingot::tools {

/// The key of the first positional argument.
inline constexpr const char *kModelKey = "model";

/// A member of the object.
struct FileOption {
  enum Type { boolean, number, text, list };
  std::string key;
  Type type;
  /// The elements of a list, or the one value as text.
  std::vector<std::string> values;
};

/// Returns true for an argument `@FILE.json`.
bool isOptionsFile(const std::string &argument);

/// Reads a file. Returns false if it cannot be read. If its content is wrong,
/// `problem` has a message.
bool readOptionsFile(const std::string &path, std::vector<FileOption> &options,
                     std::string &problem);

/// Returns the message that the value of `key` has another type.
std::string wrongType(const std::string &key, const std::string &expected);

/// Returns a message if the member has not the type of `option`, or "".
std::string checkType(const cli::Option &option, const FileOption &member);

/// Returns the text of a file with the model and the given options. Options
/// called `omitted` are left out.
std::string optionsFileText(const std::string &model,
                            const std::vector<GivenOption> &given,
                            const std::string &omitted);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_OPTIONSFILE_H
