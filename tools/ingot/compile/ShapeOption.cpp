//===- ShapeOption.cpp - --shape, --dim and names -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/compile/ShapeOption.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

using namespace llvm;
using namespace ingot;

bool ingot::parseShape(StringRef text,
                       StringMap<SmallVector<int64_t>> &shapes,
                       std::string &error) {
  error = "--shape=" + text.str() +
          " cannot be read: write it as --shape input=1x3x224x224";
  StringRef name, list;
  char separator = 'x';
  if (text.ends_with("]") && text.contains('[')) {
    std::tie(name, list) = text.drop_back().rsplit('[');
    separator = ',';
  } else {
    std::tie(name, list) = text.rsplit(text.contains('=') ? '=' : ':');
  }
  if (name.empty())
    return false;
  SmallVector<int64_t> dims;
  SmallVector<StringRef> parts;
  if (!list.empty())
    list.split(parts, separator);
  else if (separator == 'x')
    return false;
  for (StringRef part : parts) {
    int64_t size = -1;
    part = part.trim();
    if (part != "?" && (part.getAsInteger(10, size) || size < 0))
      return false;
    dims.push_back(size);
  }
  if (!shapes.try_emplace(name, dims).second) {
    error = "--shape is given twice for input '" + name.str() + "'";
    return false;
  }
  return true;
}

bool ingot::parseDim(StringRef text, StringMap<int64_t> &dims,
                     std::string &error) {
  auto [name, value] = text.rsplit('=');
  int64_t size;
  if (name.empty() || value.getAsInteger(10, size) || size < 0) {
    error = "--dim=" + text.str() +
            " cannot be read: write it as --dim batch=1";
    return false;
  }
  if (!dims.try_emplace(name, size).second) {
    error = "--dim is given twice for '" + name.str() + "'";
    return false;
  }
  return true;
}

bool ingot::parseLimit(llvm::StringRef text, ImportOptions &import,
                       PipelineOptions &pipeline, std::string &error) {
  auto [name, value] = text.split('=');
  int64_t *limit = llvm::StringSwitch<int64_t *>(name)
                       .Case("nodes", &import.maxNodes)
                       .Case("function-nodes", &import.maxFunctionNodes)
                       .Case("graph-bytes", &import.maxGraphBytes)
                       .Case("sparse-bytes", &import.maxSparseBytes)
                       .Case("folded-bytes", &pipeline.maxFoldedBytes)
                       .Default(nullptr);
  if (!limit && name != "nesting") {
    error = ("--limit=" + text +
             ": the limits are nodes, function-nodes, nesting, graph-bytes, "
             "sparse-bytes and folded-bytes, e.g. --limit=sparse-bytes=4G")
                .str();
    return false;
  }
  llvm::StringRef digits = value;
  int64_t unit = digits.consume_back("K")   ? int64_t(1) << 10
                 : digits.consume_back("M") ? int64_t(1) << 20
                 : digits.consume_back("G") ? int64_t(1) << 30
                                            : 1;
  int64_t number;
  if (!llvm::to_integer(digits, number, 10) || number < 1 ||
      number > INT64_MAX / unit ||
      (name == "nesting" && number * unit > 100)) {
    error = ("--limit=" + text + ": '" + value +
             (name == "nesting" ? "' is not a depth of 1 to 100"
                                : "' is not a size such as 500000, 64M or 4G"))
                .str();
    return false;
  }
  if (limit)
    *limit = number * unit;
  else
    import.maxNesting = unsigned(number * unit);
  return true;
}

bool ingot::isCIdentifier(StringRef text) {
  if (text.empty() || !(isAlpha(text.front()) || text.front() == '_'))
    return false;
  return all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}
