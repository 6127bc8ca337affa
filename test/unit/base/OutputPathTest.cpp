//===- OutputPathTest.cpp - checks paths of outputs -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/OutputPath.h"

#include "Folder.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

using namespace ingot;

namespace {

class OutputPaths : public test::Folder {};

TEST_F(OutputPaths, Kinds) {
  write("file", "");
  std::filesystem::create_directory(at("folder"));
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0666), 0);
  int listener = socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address = {};
  address.sun_family = AF_UNIX;
  strcpy(address.sun_path, at("socket").c_str());
  ASSERT_EQ(
      bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)),
      0);
  close(listener);
  for (const char *name : {"file", "folder", "pipe", "socket", "nothing"})
    std::filesystem::create_symlink(name, at(std::string("to ") + name));

  const std::string isNoFile = "it is not a regular file";
  struct Case {
    const char *name;
    std::string asFile, asText;
  };
  const Case cases[] = {
      {"file", "", ""},
      {"new", "", ""},
      {"folder", "it is a directory", "it is a directory"},
      {"new/", "it is the name of a directory",
       "it is the name of a directory"},
      {"pipe", isNoFile, ""},
      {"socket", isNoFile, isNoFile},
      {"nowhere/new", "No such file or directory", "No such file or directory"},
      {"file/new", "Not a directory", "Not a directory"},
  };
  for (const Case &given : cases)
    for (const char *link : {"", "to "}) {
      std::string name = link + std::string(given.name);
      struct stat status;
      if (*link && lstat(at(name).c_str(), &status))
        continue;
      EXPECT_EQ(checkOutputFile(at(name)), given.asFile) << name;
      EXPECT_EQ(checkOutputText(at(name)), given.asText) << name;
    }
  EXPECT_EQ(checkOutputFile(at("to nothing")), "");
  EXPECT_EQ(checkOutputFile(""), "its name is empty");
  EXPECT_EQ(checkOutputFile("/dev/null"), isNoFile);
  EXPECT_EQ(checkOutputText("/dev/null"), "");
  if (geteuid()) {
    chmod(at("folder").c_str(), 0555);
    EXPECT_EQ(checkOutputFile(at("folder/new")), "Permission denied");
  }
}

TEST_F(OutputPaths, TextGoesThroughLinksAndPipes) {
  write("file", "a long text that was there");
  std::filesystem::create_symlink("file", at("link"));
  std::filesystem::create_symlink("fresh", at("to nothing"));
  EXPECT_FALSE(isWrittenInPlace(at("file")));
  EXPECT_FALSE(isWrittenInPlace(at("no such")));
  for (const char *name : {"link", "to nothing"}) {
    ASSERT_TRUE(isWrittenInPlace(at(name)));
    int descriptor = -1;
    ASSERT_EQ(openInPlace(at(name), descriptor), "");
    ASSERT_EQ(::write(descriptor, "new", 3), 3);
    close(descriptor);
    EXPECT_TRUE(std::filesystem::is_symlink(at(name)));
  }
  EXPECT_EQ(read("file"), "new");
  EXPECT_EQ(read("fresh"), "new");
}

TEST_F(OutputPaths, PipeWithoutAReaderIsRefusedAtOnce) {
  ASSERT_EQ(mkfifo(at("pipe").c_str(), 0666), 0);
  ASSERT_TRUE(isWrittenInPlace(at("pipe")));
  int descriptor = -1;
  EXPECT_EQ(openInPlace(at("pipe"), descriptor), "no process reads this pipe");
  EXPECT_EQ(descriptor, -1);
  int reader = open(at("pipe").c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_EQ(openInPlace(at("pipe"), descriptor), "");
  EXPECT_EQ(fcntl(descriptor, F_GETFL) & O_NONBLOCK, 0);
  close(descriptor);
  close(reader);
}

} // namespace
