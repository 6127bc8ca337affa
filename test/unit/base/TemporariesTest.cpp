//===- TemporariesTest.cpp - removal of temporary files -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"

#include "Folder.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace ingot;
using ingot::test::Names;

namespace {

class TemporariesTest : public test::Folder {
protected:
  /// Returns the status of a child that makes files and then ends by `end`.
  int endOf(void (*end)()) {
    pid_t child = fork();
    if (child == 0) {
      FileSet set;
      int descriptor;
      if (!set.open(path).empty() || !set.create(false, descriptor).empty() ||
          !set.create(true, descriptor).empty() || names().size() != 2)
        _exit(99);
      end();
      _exit(98);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return status;
  }
};

TEST_F(TemporariesTest, NamesDiffer) {
  std::set<std::string> seen;
  for (int i = 0; i < 10000; ++i) {
    std::string name = temporaryName();
    EXPECT_TRUE(isTemporaryName(name.c_str())) << name;
    EXPECT_TRUE(seen.insert(name).second) << name;
  }
  for (const char *name : {"", "model.so", ".ingot-", ".ingot-.tmp",
                           ".ingot-12345678901.tmp", ".ingot-1234567890.tm",
                           "xingot-1234567890.tmp"})
    EXPECT_FALSE(isTemporaryName(name)) << name;
}

TEST_F(TemporariesTest, AreGoneWhenASignalEndsTheProcess) {
  // The process ends by the original signal.
  int status = endOf([] { raise(SIGTERM); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM) << status;
  status = endOf([] { raise(SIGINT); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGINT) << status;
  status = endOf([] { raise(SIGHUP); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGHUP) << status;
  status = endOf([] { abort(); });
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT) << status;
  EXPECT_EQ(names(), Names{});
}

TEST_F(TemporariesTest, IgnoredSignalsStayIgnored) {
  auto *before = signal(SIGHUP, SIG_IGN);
  int status = endOf([] {
    raise(SIGHUP);
    _exit(7);
  });
  signal(SIGHUP, before);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
}

TEST_F(TemporariesTest, AreGoneWhenTheProcessEndsAtOnce) {
  int status = endOf([] {
    removeTemporaries();
    _exit(1);
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 1) << status;
  EXPECT_EQ(names(), Names{});
}

TEST_F(TemporariesTest, FoldersGoWithWhatIsInThem) {
  std::string name = temporaryName();
  std::filesystem::create_directory(at(name));
  for (int i = 0; i < 300; ++i)
    write(name + "/a file with a long name, number " + std::to_string(i), "x");
  pid_t child = fork();
  if (child == 0) {
    Temporary watch;
    int folder = ::open(path.c_str(), 0);
    watch.watch(folder, name, /*isFolder=*/true);
    raise(SIGTERM);
    _exit(1);
  }
  int status;
  waitpid(child, &status, 0);
  EXPECT_EQ(names(), Names{});
}

} // namespace
