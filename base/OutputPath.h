//===- OutputPath.h - checks paths of outputs -------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_OUTPUTPATH_H
#define INGOT_BASE_OUTPUTPATH_H

#include <string>
#include <vector>

namespace ingot {

/// The functions of this file return an error message, or "".

/// Checks that a new file can take the name `path`. Its folder must be
/// writable, and the name must be free or name a regular file. Links are
/// followed, so a link to a device is refused like the device.
std::string checkOutputFile(const std::string &path);

/// Checks an output of text, which may also be a pipe or a character device
/// such as /dev/stdout.
std::string checkOutputText(const std::string &path);

/// Checks that `path` is none of the files that the command reads, under any
/// name.
std::string checkNotRead(const std::string &path,
                         const std::vector<std::string> &read);

/// Applies the rule of checkOutputFile to the name of a file in an open folder.
std::string checkOutputName(int folder, const char *name);

/// Returns true for a link, a pipe or a character device. For such a path, text
/// is written into the file, and no new file takes its name.
bool isWrittenInPlace(const std::string &path);

/// Opens a path for which isWrittenInPlace is true; the caller closes
/// `descriptor`. Fails for a named pipe that no process reads, instead of
/// waiting for a reader.
std::string openInPlace(const std::string &path, int &descriptor);

} // namespace ingot

#endif // INGOT_BASE_OUTPUTPATH_H
