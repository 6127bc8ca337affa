//===- SystemFailures.h - one message for system failures -------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_BASE_SYSTEMFAILURES_H
#define INGOT_BASE_SYSTEMFAILURES_H

namespace ingot {

/// Makes the process `ingot COMMAND` end with exit code 1, one line on standard
/// error and no temporary files. This applies to exceptions that nobody catches
/// and to mapped files that became shorter. A write beyond the limit on file
/// sizes fails instead of ending the process. Signals that interrupt the
/// process print a line and then end it as usual.
void endInOneLine(const char *command);

/// Sets the command name in the line, before endInOneLine is called.
void nameCommand(const char *command);

/// Makes the line a JSON object from now on if the arguments have --json before
/// "--". Allocates nothing.
void readJsonFlag(int argc, char *const *argv);
/// Returns true if messages are JSON objects, one a line.
bool writesJson();
/// Makes messages lines of JSON, as an options file says.
void setWritesJson();

/// Makes a failing `new` end the process, for code that cannot continue.
void endWithoutMemory();
bool isWithoutMemoryTheEnd();

/// Sets the current step, which the line names. Keeps a copy, up to some
/// length.
void nameStep(const char *step);

/// Ends the process for lack of memory. Allocates nothing.
[[noreturn]] void endOutOfMemory();
[[noreturn]] void endBecause(const char *reason);

/// Marks the work as done. If the process fails later, it ends with exit code
/// 0, even if it has not printed everything.
void setDone();

/// Sets a flag that is true once an error line has been printed. Then no other
/// line is printed.
void setReported(const bool *isReported);

} // namespace ingot

#endif // INGOT_BASE_SYSTEMFAILURES_H
