//===- Outputs.cpp - files of a run's results ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "client/run/Outputs.h"

#include "base/FileSet.h"
#include "base/OutputPath.h"

#include <filesystem>
#include <set>
#include <system_error>

using namespace ingot;
using namespace ingot::tools;
namespace fs = std::filesystem;

std::vector<std::string>
ingot::tools::outputFileNames(const std::vector<std::string> &names) {
  std::set<std::string> taken;
  std::vector<std::string> files;
  for (const std::string &name : names) {
    std::string safe;
    for (char c : name.substr(0, 200)) {
      bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   (c >= '0' && c <= '9') || c == '-' || c == '_' ||
                   (c == '.' && !safe.empty());
      safe += plain ? c : '_';
    }
    std::string candidate = safe.empty() ? "output" : safe;
    for (int i = 2; !taken.insert(candidate).second; ++i)
      candidate = safe + "_" + std::to_string(i);
    files.push_back(candidate + ".npy");
  }
  return files;
}

namespace {
/// A directory. If it is new, it is removed at the end, unless `keep` was
/// called.
class Directory {
public:
  explicit Directory(const std::string &path) : path(path) {}
  ~Directory() {
    std::error_code ignored;
    if (isNew)
      fs::remove(path, ignored);
  }
  std::string create() {
    std::error_code failed;
    isNew = fs::create_directories(path, failed);
    return failed ? "cannot create directory '" + path.string() +
                        "': " + failed.message()
                  : "";
  }
  void keep() { isNew = false; }

private:
  fs::path path;
  bool isNew = false;
};
} // namespace

std::string
ingot::tools::checkOutputs(const std::string &directory,
                           const std::vector<std::string> &fileNames,
                           const std::vector<std::string> &read) {
  std::error_code ignored;
  if (!fs::exists(directory, ignored))
    return "";
  if (!fs::is_directory(directory, ignored))
    return "cannot write to '" + directory + "': it is not a directory";
  for (const std::string &name : fileNames) {
    std::string path = directory + "/" + name;
    std::string problem = checkOutputFile(path);
    if (problem.empty())
      problem = checkNotRead(path, read);
    if (!problem.empty())
      return "cannot write '" + path + "': " + problem;
  }
  return "";
}

std::string
ingot::tools::writeOutputs(const std::string &directory,
                           const std::vector<std::string> &fileNames,
                           const std::vector<Array> &arrays) {
  Directory target(directory);
  std::string problem = target.create();
  if (!problem.empty())
    return problem;
  FileSet files;
  std::vector<FileSet::Name> names;
  problem = files.open(directory);
  if (!problem.empty())
    return "cannot write to '" + directory + "': " + problem;
  for (size_t i = 0; i < arrays.size(); ++i) {
    int descriptor = -1;
    problem = files.create(/*isExecutable=*/false, descriptor);
    if (problem.empty())
      problem = writeNpy(descriptor, arrays[i]);
    if (!problem.empty())
      return "cannot write '" + directory + "/" + fileNames[i] +
             "': " + problem;
    names.push_back({descriptor, fileNames[i]});
  }
  problem = files.publish(names);
  if (problem.empty())
    target.keep();
  return problem;
}
