//===- OptionsFile.h - options in a JSON file -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Reads and writes options files. A file is one JSON object. Its keys are the
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
  enum Type { boolean, number, text, list, other };
  std::string key;
  Type type;
  /// The elements of a list as text, or the single value as text.
  std::vector<std::string> values;
  /// The value in words for messages, e.g. "a number with a fraction".
  std::string described;
};

/// Returns true for an argument `@FILE.json`.
bool isOptionsFile(const std::string &argument);

/// Reads a file. Returns false if it cannot be read. If its contents are wrong,
/// sets `problem` to a message.
bool readOptionsFile(const std::string &path, std::vector<FileOption> &options,
                     std::string &problem);

/// Returns the message that the value of `member` has another type.
std::string wrongType(const FileOption &member, const std::string &expected);

/// Checks that the member has the type of `option`. Returns a message, or "".
std::string checkType(const cli::Option &option, const FileOption &member);

/// Returns the text of a file with the model and the given options, except for
/// those named in `omitted`.
std::string optionsFileText(const std::string &model,
                            const std::vector<cli::GivenOption> &given,
                            const std::string &omitted);

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_OPTIONSFILE_H
