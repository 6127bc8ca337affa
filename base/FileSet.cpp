//===- FileSet.cpp - publishes complete files -----------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/FileSet.h"

#include "base/FolderLock.h"
#include "base/OutputPath.h"

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
    if (file.descriptor >= 0)
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
  // Allocate all memory before the file exists. A failing allocation would
  // otherwise leave a file that nobody removes.
  files.push_back({});
  File &made = files.back();
  for (int attempt = 0; attempt < 100; ++attempt) {
    made.temporary = temporaryName();
    const char *name = made.temporary.c_str();
    made.watch.watch(folder, made.temporary);
    // O_EXCL does not follow a link that somebody put there.
    int file = openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC,
                      isExecutable ? 0777 : 0666);
    if (file < 0) {
      int reason = errno;
      made.watch.forget();
      made.temporary.clear();
      if (reason == EEXIST)
        continue;
      return strerror(reason);
    }
    // Lock the file to show that it is in use. If another process removed the
    // unlocked file as a leftover just before, the loop makes another file. On
    // file systems without locks, leftovers are not removed.
    struct stat status = {};
    bool lost = flock(file, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (lost || fstat(file, &status) || !status.st_nlink) {
      unlinkat(folder, name, 0);
      close(file);
      continue;
    }
    descriptor = made.descriptor = file;
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

/// Flushes a file. Some file systems, such as /proc and some network file
/// systems, have nothing to flush. Returns an error number, or 0.
static int flush(int descriptor) {
  bool failed = fsync(descriptor) && errno != EINVAL && errno != ENOTSUP &&
                errno != EROFS;
  return failed ? errno : 0;
}

/// Gives the file its final name. Exchanges it with an existing file of that
/// name, so that the step can be undone. If the file system cannot exchange
/// files, a second link keeps the existing file. Returns an error number, or 0.
int FileSet::place(Step &step) {
  File &file = *step.file;
  const char *from = file.temporary.c_str(), *to = step.name->c_str();
  struct stat status = {};
  bool exists = !fstatat(folder, to, &status, AT_SYMLINK_NOFOLLOW);
  step.kind = Step::kExchanged;
  if (!renameat2(folder, from, folder, to, RENAME_EXCHANGE))
    return 0;
  if (errno != ENOENT && errno != EINVAL && errno != ENOSYS && errno != ENOTSUP)
    return errno;
  const char *backup = step.backup.c_str();
  bool hasBackup = exists && !linkat(folder, to, folder, backup, 0);
  step.kind = !exists     ? Step::kPlaced
              : hasBackup ? Step::kReplaced
                          : Step::kLost;
  if (renameat(folder, from, folder, to)) {
    int reason = errno;
    if (hasBackup)
      unlinkat(folder, backup, 0);
    return reason;
  }
  file.watch.forget();
  if (hasBackup) {
    file.temporary.swap(step.backup);
    file.watch.watch(folder, file.temporary);
  } else {
    file.temporary.clear();
  }
  return 0;
}

void FileSet::undo(const Step &step) {
  File &file = *step.file;
  const char *name = step.name->c_str(), *kept = file.temporary.c_str();
  if (step.kind == Step::kExchanged)
    renameat2(folder, kept, folder, name, RENAME_EXCHANGE);
  else if (step.kind == Step::kPlaced)
    unlinkat(folder, name, 0);
  else if (step.kind == Step::kReplaced &&
           !renameat(folder, kept, folder, name))
    file.temporary.clear();
}

static std::string cannotWrite(const std::string &name,
                               const std::string &reason) {
  return "cannot write '" + name + "': " + reason;
}

/// Gives all files of the set their final names. If a step fails, undoes the
/// earlier steps. Returns an error message, or "".
std::string FileSet::placeAll(std::vector<Step> &steps) {
  for (const Step &step : steps)
    if (std::string problem = checkOutputName(folder, step.name->c_str());
        !problem.empty())
      return cannotWrite(*step.name, problem);
  int reason = 0;
  const std::string *name = nullptr;
  size_t done = 0;
  while (done < steps.size() && !reason) {
    name = steps[done].name;
    reason = place(steps[done]);
    done += !reason;
  }
  if (!reason)
    reason = flush(folder);
  if (!reason)
    return "";
  while (done)
    undo(steps[--done]);
  return cannotWrite(*name, strerror(reason));
}

std::string FileSet::publish(const std::vector<Name> &names,
                             const IsStale &isStale) {
  if (names.empty())
    return "";
  // Allocate all memory before the first step, because a failing allocation
  // later would need an undo.
  std::vector<Step> steps(names.size());
  for (size_t i = 0; i < names.size(); ++i)
    steps[i] = {find(names[i].descriptor), &names[i].name, Step::kPlaced,
                temporaryName()};
  std::string problem;
  for (const Name &name : names)
    if (int reason = flush(name.descriptor); reason && problem.empty())
      problem = cannotWrite(name.name, strerror(reason));
  {
    FolderLock lock;
    if (isStale || names.size() > 1)
      lock.take(folder);
    if (problem.empty())
      problem = placeAll(steps);
    if (problem.empty() && isStale && lock.isHeld()) {
      // Unlock the published files, so that the next process can remove them
      // while this process still runs.
      for (const Name &name : names)
        flock(name.descriptor, LOCK_UN);
      forEachName(folder, [&](const char *name) {
        if (isStale(name))
          removeIfUnused(folder, name);
      });
    }
  }
  for (const Step &step : steps)
    remove(*step.file);
  return problem;
}
