//===- FileSetTest.cpp - files that are whole or not there ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"

#include "Folder.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using ingot::test::Names;

namespace {

class FileSets : public test::Folder {
protected:
  static int make(FileSet &set, const std::string &text,
                  bool isExecutable = false) {
    int descriptor = -1;
    EXPECT_EQ(set.create(isExecutable, descriptor), "");
    EXPECT_EQ(::write(descriptor, text.data(), text.size()),
              ssize_t(text.size()));
    return descriptor;
  }
  mode_t modeOf(const std::string &name) const {
    struct stat status = {};
    stat(at(name).c_str(), &status);
    return status.st_mode & 0777;
  }
};

TEST_F(FileSets, GiveNamesToNewFilesAndOld) {
  write("old", "was there");
  mode_t mask = umask(027);
  {
    FileSet set;
    ASSERT_EQ(set.open(path), "");
    int a = make(set, "new one"), b = make(set, "another", true);
    EXPECT_EQ(read("old"), "was there");
    EXPECT_EQ(set.publish({{a, "old"}, {b, "fresh"}}), "");
    EXPECT_EQ(names(), (Names{"old", "fresh"}));
  }
  umask(mask);
  EXPECT_EQ(names(), (Names{"old", "fresh"}));
  EXPECT_EQ(read("old"), "new one");
  EXPECT_EQ(read("fresh"), "another");
  EXPECT_EQ(modeOf("old"), 0640u);
  EXPECT_EQ(modeOf("fresh"), 0750u);
}

TEST_F(FileSets, WhatIsNotPublishedIsGone) {
  {
    FileSet set;
    ASSERT_EQ(set.open(path), "");
    make(set, "some");
    EXPECT_EQ(names().size(), 1u);
  }
  EXPECT_EQ(names(), Names{});
}

TEST_F(FileSets, AllOrNothing) {
  write("first", "old first");
  std::filesystem::create_directory(at("third"));
  for (const char *last : {"third", "no such folder/file"}) {
    FileSet set;
    ASSERT_EQ(set.open(path), "");
    int a = make(set, "1"), b = make(set, "2"), c = make(set, "3");
    std::string problem =
        set.publish({{a, "first"}, {b, "second"}, {c, last}});
    EXPECT_NE(problem.find(std::string("cannot write '") + last + "'"),
              std::string::npos)
        << problem;
    EXPECT_EQ(read("first"), "old first");
    EXPECT_EQ(names(), (Names{"first", "third"}));
  }
}

TEST_F(FileSets, LinksAreReplacedAndNotFollowed) {
  write("victim", "precious");
  std::filesystem::create_symlink("victim", at("link"));
  {
    FileSet set;
    ASSERT_EQ(set.open(path), "");
    EXPECT_EQ(set.publish({{make(set, "new"), "link"}}), "");
  }
  EXPECT_EQ(read("victim"), "precious");
  EXPECT_EQ(read("link"), "new");
  EXPECT_EQ(names(), (Names{"victim", "link"}));
}

TEST_F(FileSets, WhatAKilledProcessLeftIsRemoved) {
  write(".ingot-notes.tmp", "of somebody else");
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    FileSet set;
    (void)set.open(path);
    make(set, std::string(100000, 'x'));
    make(set, "more");
    (void)!::write(ready[1], "x", 1);
    pause();
  }
  char byte;
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(names().size(), 3u);
  {
    // What a living process writes stays.
    FileSet set;
    ASSERT_EQ(set.open(path), "");
    EXPECT_EQ(names().size(), 3u);
  }
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(names().size(), 3u);
  FileSet set;
  ASSERT_EQ(set.open(path), "");
  EXPECT_EQ(names(), Names{".ingot-notes.tmp"});
  close(ready[0]);
  close(ready[1]);
}

TEST_F(FileSets, StaleFilesAreRemovedUnlessSomebodyHasJustMadeThem) {
  write("a.old", "1");
  write("b.old", "2");
  write("keep", "3");
  FileSet other, set;
  ASSERT_EQ(other.open(path), "");
  ASSERT_EQ(other.publish({{make(other, "new"), "c.old"}}), "");
  ASSERT_EQ(set.open(path), "");
  set.removeStale([](const char *name) {
    return std::string(name).find(".old") != std::string::npos;
  });
  EXPECT_EQ(names(), (Names{"c.old", "keep"}));
}

TEST_F(FileSets, FolderThatIsNotThere) {
  FileSet set;
  EXPECT_EQ(set.open(at("nowhere")), "No such file or directory");
  write("file", "");
  FileSet other;
  EXPECT_EQ(other.open(at("file")), "Not a directory");
}

} // namespace
