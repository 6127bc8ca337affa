//===- Int8Summary.cpp - which layers are in int8 -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/compile/Int8Summary.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <map>

using namespace ingot;
using namespace ingot::study;

/// The number of reasons that the sentence names.
static constexpr size_t kMaxReasons = 3;

Int8Summary study::summarizeInt8(const std::vector<Decision> &decisions) {
  const auto layers = precisionsOf(decisions);
  Int8Summary summary;
  summary.layers = layers.size();
  std::map<std::pair<std::string, std::string>, size_t> reasons;
  for (const auto &[nodes, layer] : layers) {
    summary.int8Layers += layer.isNarrow;
    if (!layer.isNarrow)
      ++reasons[{layer.decision->operation, layer.decision->reason}];
  }
  for (const auto &[key, count] : reasons)
    summary.floats.push_back({key.first, key.second, count});
  llvm::stable_sort(summary.floats, [](const auto &a, const auto &b) {
    return a.layers > b.layers;
  });
  return summary;
}

std::string Int8Summary::toText() const {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << int8Layers << " of " << layers << " layers in int8";
  if (floats.empty())
    return text;
  out << "; " << layers - int8Layers << " stay float32: ";
  size_t left = layers - int8Layers;
  llvm::ListSeparator separator("; ");
  for (const Floats &some : llvm::ArrayRef(floats).take_front(kMaxReasons)) {
    out << separator << some.layers << " because the " << some.operation << ' '
        << some.reason;
    left -= some.layers;
  }
  if (left)
    out << separator << left << " for other reasons (see --decisions)";
  return text;
}
