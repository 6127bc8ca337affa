//===- SystemFailures.h - one line for what the system refuses --*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_SYSTEMFAILURES_H
#define INGOT_BASE_SYSTEMFAILURES_H

namespace ingot {

/// From now on the process `ingot COMMAND` ends in exit code 1, one line on
/// standard error and no temporary file left where nobody catches an exception,
/// and where a file that is mapped became shorter. A write beyond the limit on
/// the size of files fails, instead of ending the process. The signals that
/// interrupt it print a line, too, and then end it as they do.
void endInOneLine(const char *command);

/// Whose line it is, before the above is called.
void nameCommand(const char *command);

/// The same for memory that `new` cannot get, for code that cannot go on.
void endWithoutMemory();
bool isWithoutMemoryTheEnd();

/// What is being done, for the line above. Kept, up to some length.
void nameStep(const char *step);

/// Ends the process so. Allocates nothing.
[[noreturn]] void endOutOfMemory();
[[noreturn]] void endBecause(const char *reason);

/// What was asked for is there. If the process ends early now, with less
/// printed than it would, it has done its work all the same: exit code 0.
void setDone();

/// Whether a line has been printed that says why; then none is added.
void setReported(const bool *isReported);

} // namespace ingot

#endif // INGOT_BASE_SYSTEMFAILURES_H
