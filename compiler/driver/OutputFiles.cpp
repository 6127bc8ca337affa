//===- OutputFiles.cpp - files that are whole or not there ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/OutputFiles.h"

#include "runtime/format/WeightsName.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

using namespace mlir;
using namespace ingot;

bool ingot::isSpecial(StringRef name) {
  llvm::sys::fs::file_status status;
  return !llvm::sys::fs::status(name, status) &&
         llvm::sys::fs::exists(status) &&
         !llvm::sys::fs::is_regular_file(status) &&
         !llvm::sys::fs::is_directory(status);
}

bool ingot::isWrittenInPlace(StringRef name) {
  return isSpecial(name) || llvm::sys::fs::is_symlink_file(name);
}

OutputFiles::OutputFiles(MLIRContext &context, StringRef output)
    : context(context), output(output) {}

LogicalResult OutputFiles::fail(const Twine &message) {
  return emitError(UnknownLoc::get(&context)) << message;
}

/// Large writes leave large folios in the page cache, which whoever maps the
/// file gets as huge pages: the first answer of ResNet-50 comes 8 ms earlier.
static constexpr size_t kWriteBytes = 8 << 20;

LogicalResult OutputFiles::writeTo(int descriptor, StringRef path,
                                   Write write) {
  llvm::raw_fd_ostream out(descriptor, /*shouldClose=*/false);
  out.SetBufferSize(kWriteBytes);
  LogicalResult written = write(out);
  out.flush();
  if (!out.has_error())
    return written;
  std::string message = out.error().message();
  out.clear_error();
  // Why it could not be written is what the user needs to know.
  return succeeded(written) ? fail("cannot write '" + path + "': " + message)
                            : failure();
}

FailureOr<int> OutputFiles::write(Write write, bool isExecutable) {
  std::string problem;
  if (files.descriptor() < 0)
    problem = files.open(llvm::sys::path::parent_path(output).str());
  int descriptor = -1;
  if (problem.empty())
    problem = files.create(isExecutable, descriptor);
  if (!problem.empty())
    return fail("cannot write '" + output + "': " + problem);
  if (failed(writeTo(descriptor, output, write)))
    return failure();
  return descriptor;
}

LogicalResult OutputFiles::publish(const std::vector<Name> &names) {
  std::string problem = files.publish(names);
  return problem.empty() ? success() : fail(problem);
}

void OutputFiles::removeStaleWeights(StringRef current) {
  // Needs no memory: the work is done.
  const char *library = llvm::sys::path::filename(output).data();
  files.removeStale([&](const char *name) {
    return name != current && rt::isWeightsName(name, library);
  });
}

LogicalResult OutputFiles::writeInPlace(StringRef path, Write write) {
  int descriptor = ::open(path.str().c_str(),
                          O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
  if (descriptor < 0)
    return fail("cannot write '" + path + "': " + strerror(errno));
  llvm::scope_exit close([&] { ::close(descriptor); });
  return writeTo(descriptor, path, write);
}
