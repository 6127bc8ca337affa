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
/// error and no temporary files. This applies to uncaught exceptions and to
/// mapped files that became shorter. A write beyond the limit on file sizes
/// fails instead of ending the process. A signal that interrupts the process
/// prints a line and then ends the process as usual.
void endInOneLine(const char *command);

/// Sets the command name in the line, before endInOneLine is called.
void nameCommand(const char *command);

/// Switches the line to a JSON object if the arguments have --json before "--".
/// Allocates nothing.
void readJsonFlag(int argc, char *const *argv);
/// Returns true if messages are JSON objects, one a line.
bool writesJson();
/// Switches all messages to lines of JSON, because an options file asks for it.
void setWritesJson();

/// Makes a failing `new` end the process, for code that cannot continue.
void endWithoutMemory();
bool isWithoutMemoryTheEnd();

/// Sets the current step, for the line. Keeps a copy, which may be cut.
void nameStep(const char *step);

/// Ends the process for lack of memory. Allocates nothing.
[[noreturn]] void endOutOfMemory();
[[noreturn]] void endBecause(const char *reason);

/// Marks the work as done. If the process fails later, it ends with exit code
/// 0, even if it has not printed everything.
void setDone();

/// Registers a flag that is true once an error line has been printed. No second
/// line is then printed.
void setReported(const bool *isReported);

} // namespace ingot

#endif // INGOT_BASE_SYSTEMFAILURES_H
