//===- ShapeOption.cpp - --shape, --dim and names -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/options/ShapeOption.h"

#include "compiler/study/options/ProfileOption.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/StringExtras.h"

using namespace llvm;
using namespace ingot;
using namespace ingot::tools;

static std::string unreadable(StringRef option, StringRef text,
                              const std::string &problem, StringRef example) {
  return ("--" + option + "=" + text + " cannot be read: ").str() +
         (problem.empty() ? "write it as --" + (option + " " + example).str()
                          : problem);
}

bool ingot::parseShape(StringRef text, ImportOptions &import,
                       ShapeProfile &profile, std::string &error) {
  std::string problem;
  auto fails = [&] {
    error = unreadable("shape", text, problem,
                       text.contains('(') ? "'input=1x3x224x(64:320:2048)'"
                                          : "input=1x3x224x224");
    return false;
  };
  std::string name, list;
  if (!splitNameAndValue(text.str(), name, list) || list.empty())
    return fails();
  SmallVector<int64_t> dims;
  SmallVector<std::optional<SizeRange>> ranges;
  SmallVector<StringRef> parts;
  if (list != "scalar")
    StringRef(list).split(parts, 'x');
  bool hasRange = false;
  for (StringRef part : parts) {
    SizeText size;
    if (!parseSize(part, size, problem))
      return fails();
    bool isRange = size.kind == SizeText::range;
    hasRange |= isRange;
    dims.push_back(size.kind == SizeText::fixed ? size.usual : -1);
    ranges.push_back(isRange ? rangeOf(size) : std::nullopt);
  }
  if (!import.shapes.try_emplace(name, dims).second) {
    error = "--shape is given twice for input '" + name + "'";
    return false;
  }
  if (hasRange)
    profile.shapes[name] = ranges;
  return true;
}

bool ingot::parseDim(StringRef text, ImportOptions &import,
                     ShapeProfile &profile, std::string &error) {
  auto [name, value] = text.rsplit('=');
  SizeText size;
  std::string problem;
  if (name.empty() || !parseSize(value, size, problem) ||
      size.kind == SizeText::open) {
    error = unreadable("dim", text, problem,
                       value.contains(':') ? "width=64:320:2048" : "batch=1");
    return false;
  }
  bool isRange = size.kind == SizeText::range;
  if ((isRange ? import.dims.count(name) : profile.dims.count(name)) ||
      !(isRange ? profile.dims.try_emplace(name, *rangeOf(size)).second
                : import.dims.try_emplace(name, size.usual).second)) {
    error = "--dim is given twice for '" + name.str() + "'";
    return false;
  }
  return true;
}

bool ingot::parseValue(StringRef text, StringMap<std::string> &values,
                       std::string &error) {
  auto [name, value] = text.rsplit('=');
  if (name.empty() || !text.contains('=')) {
    error = "--value=" + text.str() +
            " cannot be read: write it as --value sr=16000";
    return false;
  }
  if (!values.try_emplace(name, value.str()).second) {
    error = "--value is given twice for '" + name.str() + "'";
    return false;
  }
  return true;
}

bool ingot::parseLength(StringRef text, StringMap<int64_t> &lengths,
                        std::string &error) {
  auto [name, value] = text.rsplit('=');
  int64_t length;
  if (name.empty() || !to_integer(value, length, 10) || length < 0) {
    error =
        "--length=" + text.str() + " cannot be read: write it as --length x=2";
    return false;
  }
  if (!lengths.try_emplace(name, length).second) {
    error = "--length is given twice for '" + name.str() + "'";
    return false;
  }
  return true;
}

bool ingot::parseLimit(llvm::StringRef text, ImportOptions &import,
                       PipelineOptions &pipeline, std::string &error) {
  llvm::StringRef name, value;
  std::tie(name, value) = text.split('=');
  int64_t nesting = import.maxNesting;
  struct Limit {
    llvm::StringLiteral name;
    int64_t *number;
    int64_t most = INT64_MAX;
    llvm::StringLiteral range = "a size such as 500000, 64M or 4G";
  };
  const Limit limits[] = {{"nodes", &import.maxNodes},
                          {"function-nodes", &import.maxFunctionNodes},
                          {"nesting", &nesting, 100, "a depth of 1 to 100"},
                          {"graph-bytes", &import.maxGraphBytes},
                          {"sparse-bytes", &import.maxSparseBytes},
                          {"tensor-elements", &import.maxTensorElements,
                           onnx::kLargestTensor, "a count of 1 to 16T"},
                          {"folded-bytes", &pipeline.maxFoldedBytes},
                          {"loop-steps", &pipeline.maxLoopSteps}};
  const Limit *limit = llvm::find_if(
      limits, [&name = name](const Limit &l) { return l.name == name; });
  if (limit == std::end(limits)) {
    error = ("--limit=" + text + ": the limits are ").str();
    for (const Limit &known : limits)
      error += (known.name + ", ").str();
    error += "e.g. --limit=sparse-bytes=4G";
    return false;
  }
  llvm::StringRef digits = value;
  int64_t unit = digits.consume_back("K")   ? int64_t(1) << 10
                 : digits.consume_back("M") ? int64_t(1) << 20
                 : digits.consume_back("G") ? int64_t(1) << 30
                 : digits.consume_back("T") ? int64_t(1) << 40
                                            : 1;
  int64_t number;
  if (!llvm::to_integer(digits, number, 10) || number < 1 ||
      number > limit->most / unit) {
    error =
        ("--limit=" + text + ": '" + value + "' is not " + limit->range).str();
    return false;
  }
  *limit->number = number * unit;
  import.maxNesting = unsigned(nesting);
  pipeline.maxTensorElements = import.maxTensorElements;
  return true;
}

bool ingot::isCIdentifier(StringRef text) {
  if (text.empty() || !(isAlpha(text.front()) || text.front() == '_'))
    return false;
  return all_of(text, [](char c) { return isAlnum(c) || c == '_'; });
}
