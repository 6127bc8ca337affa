//===- OutputPath.cpp - checks paths of outputs ---------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/OutputPath.h"

#include <errno.h>
#include <fcntl.h>
#include <filesystem>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;

/// Returns true if text can be written into the file without replacing it.
static bool isStream(const struct stat &status) {
  return S_ISFIFO(status.st_mode) || S_ISCHR(status.st_mode);
}

static std::string checkKind(const struct stat &status) {
  if (S_ISDIR(status.st_mode))
    return "it is a directory";
  return S_ISREG(status.st_mode) ? "" : "it is not a regular file";
}

std::string ingot::checkOutputName(int folder, const char *name) {
  struct stat status;
  if (!fstatat(folder, name, &status, 0))
    return checkKind(status);
  // A dangling link is replaced.
  return errno == ENOENT ? "" : strerror(errno);
}

static std::string checkPath(const std::string &path, bool takesStreams) {
  if (path.empty())
    return "its name is empty";
  struct stat status;
  bool exists = !stat(path.c_str(), &status);
  size_t nameBytes = path.size() - (path.rfind('/') + 1);
  if (!exists && errno == ENAMETOOLONG && nameBytes > NAME_MAX)
    return "its name has " + std::to_string(nameBytes) + " bytes, but " +
           std::to_string(NAME_MAX) + " are the most";
  if (!exists && errno != ENOENT)
    return strerror(errno);
  if (exists && takesStreams && isStream(status))
    return "";
  if (std::string problem = exists ? checkKind(status) : ""; !problem.empty())
    return problem;
  size_t slash = path.rfind('/');
  std::string folder = slash == std::string::npos ? "." : path.substr(0, slash);
  if (folder.empty())
    folder = "/";
  if (slash == path.size() - 1)
    return "it is the name of a directory";
  return access(folder.c_str(), W_OK | X_OK) ? strerror(errno) : "";
}

std::string ingot::checkOutputFile(const std::string &path) {
  return checkPath(path, /*takesStreams=*/false);
}

std::string ingot::checkOutputText(const std::string &path) {
  return checkPath(path, /*takesStreams=*/true);
}

std::string ingot::checkNotRead(const std::string &path,
                                const std::vector<std::string> &read) {
  std::error_code ignored;
  for (const std::string &other : read)
    if (std::filesystem::equivalent(path, other, ignored))
      return "it is read as '" + other + "'";
  return "";
}

bool ingot::isWrittenInPlace(const std::string &path) {
  struct stat status;
  return !lstat(path.c_str(), &status) &&
         (S_ISLNK(status.st_mode) || isStream(status));
}

std::string ingot::openInPlace(const std::string &path, int &descriptor) {
  // O_NONBLOCK keeps open() from waiting for a pipe's reader.
  descriptor =
      open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC,
           0666);
  if (descriptor < 0)
    return errno == ENXIO ? "no process reads this pipe" : strerror(errno);
  struct stat status;
  std::string problem;
  if (fstat(descriptor, &status))
    problem = strerror(errno);
  else if (!isStream(status))
    problem = checkKind(status);
  int flags = fcntl(descriptor, F_GETFL);
  if (problem.empty() && fcntl(descriptor, F_SETFL, flags & ~O_NONBLOCK))
    problem = strerror(errno);
  if (!problem.empty()) {
    close(descriptor);
    descriptor = -1;
  }
  return problem;
}
