//===- FileSetTest.cpp - publishes complete files -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"

#include "base/FolderLock.h"

#include "Folder.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
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
    std::string problem = set.publish({{a, "first"}, {b, "second"}, {c, last}});
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
    // A file that a living process writes is kept.
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

TEST_F(FileSets, StaleFilesGoUnlessSomebodyWritesThem) {
  write("a.old", "1");
  write("keep", "3");
  write("busy.old", "2");
  int busy = open(at("busy.old").c_str(), O_RDONLY);
  ASSERT_EQ(flock(busy, LOCK_EX), 0);
  FileSet first, second;
  ASSERT_EQ(first.open(path), "");
  ASSERT_EQ(first.publish(
                {{make(first, "new"), "b.old"}},
                [](const char *name) { return std::string(name) == "a.old"; }),
            "");
  EXPECT_EQ(names(), (Names{"b.old", "busy.old", "keep"}));
  // A published set is no longer in use, even while it is open.
  ASSERT_EQ(second.open(path), "");
  ASSERT_EQ(second.publish({{make(second, "newer"), "library"}},
                           [](const char *name) {
                             return std::string(name).find(".old") !=
                                    std::string::npos;
                           }),
            "");
  EXPECT_EQ(names(), (Names{"busy.old", "keep", "library"}));
  close(busy);
}

TEST_F(FileSets, NamesOfAnythingButRegularFilesAreRefused) {
  write("first", "old first");
  std::filesystem::create_directory(at("folder"));
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0666), 0);
  std::filesystem::create_symlink("pipe", at("link to pipe"));
  std::filesystem::create_symlink("folder", at("link to folder"));
  Names before = names();
  for (const char *name :
       {"folder", "pipe", "link to pipe", "link to folder"}) {
    FileSet set;
    ASSERT_EQ(set.open(path), "");
    int a = make(set, "1"), b = make(set, "2");
    std::string problem = set.publish({{a, "first"}, {b, name}});
    bool isFolder = std::string(name).find("folder") != std::string::npos;
    EXPECT_EQ(problem, std::string("cannot write '") + name + "': " +
                           (isFolder ? "it is a directory"
                                     : "it is not a regular file"));
    EXPECT_EQ(read("first"), "old first");
  }
  EXPECT_EQ(names(), before);
}

/// Publishes a file "library" that names its "....data" file, `rounds` times.
/// Returns an exit code.
static int publishPairs(const std::string &path, char writer, int rounds) {
  for (int round = 0; round < rounds; ++round) {
    FileSet set;
    std::string data = writer + std::to_string(round % 2) + ".data";
    if (!set.open(path).empty())
      return 1;
    int files[2];
    for (int &file : files)
      if (!set.create(false, file).empty() ||
          ::write(file, data.data(), data.size()) != ssize_t(data.size()))
        return 2;
    if (!set.publish({{files[0], data}, {files[1], "library"}},
                     [&](const char *name) {
                       return data != name && strstr(name, ".data");
                     })
             .empty())
      return 3;
  }
  return 0;
}

TEST_F(FileSets, OneOfTwoPairsIsWhole) {
  for (int race = 0; race < 40; ++race) {
    pid_t children[2];
    for (int i = 0; i < 2; ++i) {
      children[i] = fork();
      if (!children[i])
        _exit(publishPairs(path, char('a' + i), 3));
    }
    for (pid_t child : children) {
      int status = 0;
      waitpid(child, &status, 0);
      ASSERT_EQ(status, 0);
    }
    // The older pair of files, the locks and the temporary files were removed.
    ASSERT_EQ(names(), (Names{"library", read("library")})) << race;
  }
}

TEST_F(FileSets, LockOfAKilledProcessIsFree) {
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  pid_t child = fork();
  if (child == 0) {
    int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY);
    FolderLock lock;
    lock.take(folder);
    (void)!::write(ready[1], lock.isHeld() ? "1" : "0", 1);
    pause();
  }
  char byte = '0';
  ASSERT_EQ(::read(ready[0], &byte, 1), 1);
  EXPECT_EQ(byte, '1');
  EXPECT_EQ(names().size(), 1u);
  kill(child, SIGKILL);
  waitpid(child, nullptr, 0);
  int folder = open(path.c_str(), O_RDONLY | O_DIRECTORY);
  {
    FolderLock lock;
    lock.take(folder);
    EXPECT_TRUE(lock.isHeld());
  }
  EXPECT_EQ(names(), Names{});
  close(folder);
  close(ready[0]);
  close(ready[1]);
}

TEST_F(FileSets, FolderThatIsNotThere) {
  FileSet set;
  EXPECT_EQ(set.open(at("nowhere")), "No such file or directory");
  write("file", "");
  FileSet other;
  EXPECT_EQ(other.open(at("file")), "Not a directory");
}

} // namespace
