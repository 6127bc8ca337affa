//===- ScratchFolder.cpp - temporary folder of one run --------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "base/ScratchFolder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace ingot;

std::string ScratchFolder::create() {
  const char *temporary = getenv("TMPDIR");
  std::string where = temporary && *temporary ? temporary : "/tmp";
  auto fail = [&](int reason) {
    return "cannot create a folder in '" + where + "': " + strerror(reason);
  };
  parent = open(where.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (parent < 0)
    return fail(errno);
  removeLeftovers(parent);
  name = temporaryName();
  watch.watch(parent, name, /*isFolder=*/true);
  if (mkdirat(parent, name.c_str(), 0700)) {
    int reason = errno;
    watch.forget();
    return fail(reason);
  }
  // The lock shows that the folder is in use. Other processes check it when
  // they look for leftovers.
  folder = openat(parent, name.c_str(),
                  O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 || (flock(folder, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK))
    return fail(errno);
  folderPath = where + "/" + name;
  return "";
}

ScratchFolder::~ScratchFolder() {
  if (folder >= 0)
    close(folder);
  if (parent < 0)
    return;
  // Closing the folder has released the lock.
  removeIfUnused(parent, name.c_str());
  watch.forget();
  close(parent);
}
