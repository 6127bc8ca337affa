//===- OutputNames.cpp - names of what a compilation writes ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/OutputNames.h"

#include "base/OutputPath.h"
#include "runtime/format/WeightsName.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

#include <climits>

using namespace llvm;
using namespace ingot;

std::string ingot::fileName(StringRef path) {
  return sys::path::filename(path).str();
}

std::string ingot::headerName(const CompileOptions &options) {
  SmallString<128> name(options.output);
  sys::path::replace_extension(name, "h");
  return std::string(name);
}

std::string ingot::weightsName(const CompileOptions &options,
                               const Manifest &manifest) {
  if (!manifest.externalWeights)
    return "";
  uint8_t digest[32];
  copy(manifest.weightsSha256, digest);
  char name[rt::maxFileName];
  rt::weightsName(manifest.libraryName.c_str(), digest, name);
  SmallString<128> path(options.output);
  sys::path::remove_filename(path);
  sys::path::append(path, name);
  return std::string(path);
}

/// Returns the names of the output files, the output itself first.
static SmallVector<std::string> namesOf(const CompileOptions &options) {
  SmallVector<std::string> names;
  if (options.output != "-")
    names.push_back(options.output);
  if (options.emit != EmitKind::sharedLibrary)
    return names;
  if (options.writeHeader)
    names.push_back(headerName(options));
  if (!options.recordFile.empty())
    names.push_back(options.recordFile);
  return names;
}

static SmallVector<std::string> allNamesOf(const CompileOptions &options) {
  SmallVector<std::string> names = namesOf(options);
  if (!options.decisionsFile.empty())
    names.push_back(options.decisionsFile);
  return names;
}

bool ingot::isSameFile(StringRef one, StringRef other) {
  auto folderOf = [](StringRef path) {
    StringRef folder = sys::path::parent_path(path);
    return folder.empty() ? StringRef(".") : folder;
  };
  return one == other || sys::fs::equivalent(one, other) ||
         (fileName(one) == fileName(other) &&
          sys::fs::equivalent(folderOf(one), folderOf(other)));
}

bool ingot::isOutput(const CompileOptions &options, StringRef path) {
  for (const std::string &name : namesOf(options))
    if (isSameFile(path, name))
      return true;
  // A weights file stands beside the library.
  SmallString<128> weights(sys::path::parent_path(options.output));
  sys::path::append(weights, fileName(path));
  return options.emit == EmitKind::sharedLibrary &&
         rt::isWeightsName(fileName(path).c_str(),
                           fileName(options.output).c_str()) &&
         isSameFile(path, weights);
}

static std::string checkName(const CompileOptions &options, StringRef name) {
  const bool isFile =
      options.emit == EmitKind::sharedLibrary || name == options.decisionsFile;
  std::string problem =
      isFile ? checkOutputFile(name.str()) : checkOutputText(name.str());
  if (!problem.empty())
    return problem;
  if (sys::fs::equivalent(name, options.input))
    return "it is the model itself";
  if (problem = checkNotRead(name.str(), options.otherInputs);
      !problem.empty())
    return problem;
  if (size_t bytes = sys::path::filename(name).size(); bytes > NAME_MAX)
    return "its name has " + std::to_string(bytes) + " bytes, but " +
           std::to_string(NAME_MAX) + " is the limit";
  return "";
}

std::string ingot::checkNames(const CompileOptions &options) {
  SmallVector<std::string> names = namesOf(options);
  if (!options.decisionsFile.empty() &&
      isOutput(options, options.decisionsFile))
    return "'" + options.decisionsFile +
           "' is the name of another output; write decisions to another file";
  for (const std::string &name : names)
    if (names.front() == name && &name != names.begin())
      return "'" + options.output + "' is the name of the " +
             (name == options.recordFile ? "record" : "header") +
             "; give the library another name";
  for (const std::string &name : allNamesOf(options))
    if (std::string problem = checkName(options, name); !problem.empty())
      return "cannot write '" + name + "': " + problem;
  return "";
}

std::string
ingot::checkNamesAgainst(const CompileOptions &options,
                         ArrayRef<sys::fs::UniqueID> externalFiles) {
  for (const std::string &name : allNamesOf(options)) {
    sys::fs::UniqueID found;
    if (!sys::fs::getUniqueID(name, found) &&
        is_contained(externalFiles, found))
      return "cannot write '" + name + "': it holds external data of the model";
  }
  return "";
}
