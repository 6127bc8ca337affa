//===- Npz.cpp - NumPy's .npz files ---------------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/inputs/Npz.h"

#include "client/Text.h"

using namespace ingot::tools;

bool ingot::tools::endsWith(const std::string &text, const std::string &end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

std::string ingot::tools::arrayName(const ZipMember &member) {
  return member.name.substr(0, member.name.rfind(".npy"));
}

bool ingot::tools::isLabels(const std::string &array) {
  return array == "labels";
}

const ZipMember *ingot::tools::findArray(const ZipFile &file,
                                         const std::string &input,
                                         bool isOnlyInput) {
  const std::vector<ZipMember> &members = file.members();
  for (const ZipMember &member : members)
    if (member.name == input + ".npy" || member.name == input)
      return &member;
  return isOnlyInput && members.size() == 1 && !isLabels(arrayName(members[0]))
             ? &members[0]
             : nullptr;
}

std::string ingot::tools::listArrays(const ZipFile &file) {
  constexpr size_t kShown = 8;
  const std::vector<ZipMember> &members = file.members();
  std::string names;
  for (size_t i = 0; i < members.size() && i < kShown; ++i)
    names += (i ? ", " : "") + arrayName(members[i]);
  return names.empty() ? "it is empty" : "it has " + formatLine(names, 120);
}

std::string ingot::tools::readNpzArray(const ZipFile &file,
                                       const ZipMember &member, Array &array,
                                       const NpyCheck &check) {
  ZipReader reader(file, member);
  std::string problem = reader.open();
  if (!problem.empty())
    return problem;
  return readNpy(
      [&](void *data, uint64_t bytes) { return reader.read(data, bytes); },
      member.size, array, check);
}
