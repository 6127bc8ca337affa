//===- Folder.h - a folder for one test -------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TEST_UNIT_BASE_FOLDER_H
#define INGOT_TEST_UNIT_BASE_FOLDER_H

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <set>
#include <stdlib.h>
#include <string>

namespace ingot::test {

class Folder : public testing::Test {
protected:
  Folder() {
    char name[] = "/tmp/ingot-test-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() override { std::filesystem::remove_all(path); }

  std::string at(const std::string &name) const { return path + "/" + name; }
  std::string read(const std::string &name) const {
    std::ifstream file(at(name), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }
  void write(const std::string &name, const std::string &text) const {
    std::ofstream(at(name), std::ios::binary) << text;
  }
  std::set<std::string> names() const {
    std::set<std::string> found;
    for (const auto &entry : std::filesystem::directory_iterator(path))
      found.insert(entry.path().filename());
    return found;
  }

  std::string path;
};

using Names = std::set<std::string>;

} // namespace ingot::test

#endif // INGOT_TEST_UNIT_BASE_FOLDER_H
