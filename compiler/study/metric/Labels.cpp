//===- Labels.cpp - right results that the user gives ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/study/metric/Labels.h"

#include "client/Text.h"
#include "client/Values.h"
#include "client/inputs/Npz.h"
#include "compiler/study/runs/Errors.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace ingot;
using namespace ingot::study;

/// The most bytes of labels: more than any evaluation has.
static constexpr uint64_t kMostLabelBytes = uint64_t(1) << 30;

uint64_t Labels::rowSize() const {
  return dims.empty() || dims.front() == 0
             ? values.size()
             : values.size() / uint64_t(dims.front());
}

static llvm::Error labelError(const std::string &path,
                              const std::string &problem) {
  return makeError("'" + tools::formatLine(path, 200) + "': array 'labels'" +
                   problem);
}

llvm::Expected<std::optional<tools::Array>>
ingot::study::readLabels(const std::string &path) {
  if (!tools::endsWith(path, ".npz"))
    return std::nullopt;
  tools::ZipFile file;
  if (std::string problem = file.open(path); !problem.empty())
    return makeError("'" + tools::formatLine(path, 200) + "': " + problem);
  auto member = llvm::find_if(file.members(), [](const tools::ZipMember &one) {
    return tools::isLabels(tools::arrayName(one));
  });
  if (member == file.members().end())
    return std::nullopt;
  if (member->size > kMostLabelBytes)
    return labelError(path, " is larger than 1 GiB");
  tools::ZipReader reader(file, *member);
  std::vector<unsigned char> bytes(member->size);
  std::string problem = reader.open();
  if (problem.empty())
    problem = reader.read(bytes.data(), bytes.size());
  tools::Array array;
  if (problem.empty())
    problem = tools::parseNpy(bytes.data(), bytes.size(), array);
  if (!problem.empty())
    return labelError(path, ": " + problem);
  if (tools::elementCount(array) == 0)
    return labelError(path, " is empty");
  return array;
}

llvm::Expected<Labels> ingot::study::toLabels(const tools::Array &array,
                                              const std::string &path) {
  if (array.dtype == INGOT_STRING)
    return labelError(path, " has strings, but labels are numbers: give the "
                            "numbers of classes");
  Labels labels = {tools::toDoubles(array), array.dims, true};
  for (double label : labels.values)
    labels.areIntegers &= label == std::floor(label) && std::isfinite(label);
  return labels;
}
