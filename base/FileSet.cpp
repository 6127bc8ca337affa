//===- FileSet.cpp - files that are whole or not there --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;

FileSet::~FileSet() {
  for (File &file : files) {
    remove(file);
    close(file.descriptor);
  }
  if (folder >= 0)
    close(folder);
}

std::string FileSet::open(const std::string &path) {
  folder = ::open(path.empty() ? "." : path.c_str(),
                  O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0)
    return strerror(errno);
  removeLeftovers(folder);
  return "";
}

std::string FileSet::create(bool isExecutable, int &descriptor) {
  files.reserve(files.size() + 1);
  for (int attempt = 0; attempt < 100; ++attempt) {
    std::string name = temporaryName();
    Temporary watch;
    watch.watch(folder, name);
    // O_EXCL does not follow a link that somebody put there.
    int file = openat(folder, name.c_str(),
                      O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                      isExecutable ? 0777 : 0666);
    if (file < 0) {
      int reason = errno;
      watch.forget();
      if (reason == EEXIST)
        continue;
      return strerror(reason);
    }
    // The lock says that it is in use. Whoever looked at it just before that has
    // taken it for a leftover; file systems without locks have no leftovers
    // removed.
    struct stat status = {};
    bool lost = flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (lost || fstat(file, &status) || !status.st_nlink) {
      unlinkat(folder, name.c_str(), 0);
      close(file);
      continue;
    }
    files.push_back({file, name, std::move(watch)});
    descriptor = file;
    return "";
  }
  return strerror(EEXIST);
}

FileSet::File *FileSet::find(int descriptor) {
  for (File &file : files)
    if (file.descriptor == descriptor)
      return &file;
  return nullptr;
}

void FileSet::remove(File &file) {
  if (!file.temporary.empty())
    unlinkat(folder, file.temporary.c_str(), 0);
  file.temporary.clear();
  file.watch.forget();
}

/// Some file systems, those of /proc and some networks, have nothing to flush.
static bool flush(int descriptor) {
  return !fsync(descriptor) || errno == EINVAL || errno == ENOTSUP ||
         errno == EROFS;
}

/// Exchanges the file with what has the name, so that it can be undone; where the
/// file system cannot, a second link keeps what was there.
std::string FileSet::place(File &file, const std::string &name, Step &step) {
  step = {&file, name, Step::kExchanged, ""};
  const char *from = file.temporary.c_str(), *to = name.c_str();
  struct stat status = {};
  bool exists = !fstatat(folder, to, &status, AT_SYMLINK_NOFOLLOW);
  if (exists && S_ISDIR(status.st_mode))
    return strerror(EISDIR);
  if (!renameat2(folder, from, folder, to, RENAME_EXCHANGE))
    return "";
  if (errno != ENOENT && errno != EINVAL && errno != ENOSYS &&
      errno != ENOTSUP)
    return strerror(errno);
  step.kind = Step::kPlaced;
  if (exists) {
    step.kind = Step::kReplaced;
    step.backup = temporaryName();
    if (linkat(folder, to, folder, step.backup.c_str(), 0))
      step.backup.clear();
  }
  if (renameat(folder, from, folder, to)) {
    int reason = errno;
    if (!step.backup.empty())
      unlinkat(folder, step.backup.c_str(), 0);
    return strerror(reason);
  }
  file.temporary = step.backup;
  if (file.temporary.empty())
    file.watch.forget();
  else
    file.watch.watch(folder, file.temporary);
  return "";
}

void FileSet::undo(const Step &step) {
  const char *name = step.name.c_str();
  if (step.kind == Step::kExchanged)
    renameat2(folder, step.file->temporary.c_str(), folder, name,
              RENAME_EXCHANGE);
  else if (step.kind == Step::kPlaced)
    unlinkat(folder, name, 0);
  else if (!step.backup.empty() &&
           !renameat(folder, step.backup.c_str(), folder, name))
    step.file->temporary.clear();
}

std::string FileSet::publish(const std::vector<Name> &names) {
  for (const Name &name : names)
    if (!flush(name.descriptor))
      return "cannot write '" + name.name + "': " + strerror(errno);
  std::vector<Step> done(names.size());
  std::string problem;
  size_t count = 0;
  for (; count < names.size() && problem.empty(); ++count) {
    problem = place(*find(names[count].descriptor), names[count].name,
                    done[count]);
    if (!problem.empty()) {
      problem = "cannot write '" + names[count].name + "': " + problem;
      break;
    }
  }
  if (problem.empty() && !flush(folder))
    problem = "cannot write '" + names.back().name + "': " + strerror(errno);
  if (!problem.empty())
    while (count)
      undo(done[--count]);
  for (const Name &name : names)
    remove(*find(name.descriptor));
  return problem;
}

void FileSet::removeStale(
    const std::function<bool(const char *name)> &isStale) {
  forEachName(folder, [&](const char *name) {
    if (isStale(name))
      removeIfUnused(folder, name);
  });
}
