//===- OutputFiles.cpp - files that are whole or not there ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/OutputFiles.h"

#include "base/OutputPath.h"
#include "runtime/format/WeightsName.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

using namespace mlir;
using namespace ingot;

OutputFiles::OutputFiles(MLIRContext &context, StringRef output)
    : context(context), output(output) {}

LogicalResult OutputFiles::fail(const Twine &message) {
  return emitError(UnknownLoc::get(&context)) << message;
}

/// The size of one write. Large writes use large folios in the page cache. A
/// process that maps the file then gets huge pages, so its first run is faster.
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
  // Report the reason of the failure.
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

LogicalResult OutputFiles::publishLibrary(const std::vector<Name> &names,
                                          StringRef weights) {
  const char *library = llvm::sys::path::filename(output).data();
  std::string problem = files.publish(names, [&](const char *name) {
    return name != weights && rt::isWeightsName(name, library);
  });
  return problem.empty() ? success() : fail(problem);
}

LogicalResult OutputFiles::writeInPlace(StringRef path, Write write) {
  int descriptor = -1;
  if (std::string problem = openInPlace(path.str(), descriptor);
      !problem.empty())
    return fail("cannot write '" + path + "': " + problem);
  llvm::scope_exit close([&] { ::close(descriptor); });
  return writeTo(descriptor, path, write);
}
