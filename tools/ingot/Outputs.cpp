//===- Outputs.cpp - files of a run's results ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "tools/ingot/Outputs.h"

#include <errno.h>
#include <filesystem>
#include <set>
#include <stdio.h>
#include <string.h>
#include <system_error>
#include <unistd.h>

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

std::string ingot::tools::writeOutputs(const std::string &directory,
                                const std::vector<std::string> &fileNames,
                                const std::vector<Array> &arrays) {
  std::error_code failed;
  bool created = fs::create_directories(directory, failed);
  if (failed)
    return "cannot create directory '" + directory + "': " + failed.message();

  std::vector<std::string> temporaries;
  auto undo = [&](const std::string &problem) {
    for (const std::string &path : temporaries)
      remove(path.c_str());
    if (created)
      fs::remove(directory, failed);
    return problem;
  };
  for (size_t i = 0; i < arrays.size(); ++i) {
    std::string path = directory + "/." + fileNames[i] + "." +
                       std::to_string(getpid()) + ".tmp";
    temporaries.push_back(path);
    std::string problem = writeNpy(path, arrays[i]);
    if (!problem.empty())
      return undo("cannot write '" + directory + "/" + fileNames[i] +
                  "': " + problem);
  }
  for (size_t i = 0; i < arrays.size(); ++i) {
    std::string path = directory + "/" + fileNames[i];
    if (rename(temporaries[i].c_str(), path.c_str()))
      return undo("cannot write '" + path + "': " + strerror(errno));
  }
  return "";
}
