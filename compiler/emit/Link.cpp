//===- Link.cpp - links a shared library with lld -------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "runtime/include/ingot/abi/artifact.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

using namespace mlir;
using namespace ingot;

LLD_HAS_DRIVER(elf)

/// Returns the path of a file that is installed beside the compiler.
static std::optional<std::string> findSupportFile(StringRef name) {
  std::string executable =
      llvm::sys::fs::getMainExecutable(nullptr, (void *)&findSupportFile);
  StringRef bin = llvm::sys::path::parent_path(executable);
  for (StringRef folder : {"../lib", "../lib/ingot", "lib"}) {
    llvm::SmallString<256> path(bin);
    llvm::sys::path::append(path, folder, name);
    if (llvm::sys::fs::exists(path))
      return std::string(path);
  }
  return std::nullopt;
}

bool ingot::isInstalled(const LinkedLibrary &library) {
  return (!library.isShared || (!library.path.empty() &&
                                llvm::sys::fs::exists(library.path))) &&
         findSupportFile(library.glue).has_value();
}

/// Returns the path of a library of libc. Every process has loaded libc, but
/// linking with it records the versions of symbols.
static std::optional<std::string> findLibc(StringRef name) {
  for (StringRef folder : {"/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
                           "/usr/lib/x86_64-linux-gnu", "/usr/lib"}) {
    llvm::SmallString<128> path(folder);
    llvm::sys::path::append(path, name);
    if (llvm::sys::fs::exists(path))
      return std::string(path);
  }
  return std::nullopt;
}

/// Adds the library to the arguments. If the file is missing, sets `error`.
static LogicalResult addLibrary(std::vector<std::string> &args, StringRef name,
                                std::string &error) {
  std::optional<std::string> path = findSupportFile(name);
  if (!path) {
    error = name.str() + " is not beside the compiler: Ingot is not installed "
                         "completely";
    return failure();
  }
  args.push_back(*path);
  return success();
}

/// Returns a version script that makes all symbols local except those of the
/// interface. Without it lld exports `_end` and other symbols that libraries
/// refer to.
static std::string exportsScript(const Manifest &manifest) {
  return "{ global: " + llvm::join(exportedSymbols(manifest), "; ") +
         "; local: *; };\n";
}

namespace {
/// A pipe that lld writes to, and a thread that empties it. If lld wrote a
/// regular file, it would use a mapping, where a full disk or a file size limit
/// raises a signal. Also, a killed lld would leave temporary files.
class LinkerOutput {
public:
  ~LinkerOutput() { finish(); }

  bool start(std::string &error) {
    if (pipe2(ends, O_CLOEXEC)) {
      error = std::string("cannot make a pipe for the linker: ") +
              strerror(errno);
      return false;
    }
    // The thread needs little stack, and address space may be scarce.
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 256 << 10);
    int problem = pthread_create(&thread, &attributes, drain, this);
    pthread_attr_destroy(&attributes);
    if (problem) {
      error = std::string("cannot start a thread: ") + strerror(problem);
      return false;
    }
    isRunning = true;
    return true;
  }
  std::string path() const {
    return "/proc/self/fd/" + std::to_string(ends[1]);
  }
  /// Waits for the thread and returns the bytes that lld wrote.
  std::string &finish() {
    closeEnd(1);
    if (isRunning)
      pthread_join(thread, nullptr);
    isRunning = false;
    closeEnd(0);
    return bytes;
  }

private:
  static void *drain(void *argument) {
    auto *self = static_cast<LinkerOutput *>(argument);
    char piece[1 << 16];
    ssize_t count;
    while ((count = read(self->ends[0], piece, sizeof(piece))) > 0 ||
           (count < 0 && errno == EINTR))
      if (count > 0)
        self->bytes.append(piece, size_t(count));
    return nullptr;
  }
  void closeEnd(int end) {
    if (ends[end] >= 0)
      close(ends[end]);
    ends[end] = -1;
  }

  int ends[2] = {-1, -1};
  pthread_t thread = {};
  bool isRunning = false;
  std::string bytes;
};
} // namespace

/// Returns the first line of lld's diagnostics. lld uses several lines per
/// error, and one mistake causes many errors.
static std::string firstLine(StringRef diagnostics) {
  StringRef line = diagnostics.trim().split('\n').first.rtrim();
  line.consume_front("ld.lld: ");
  line.consume_front("error: ");
  return line.str();
}

LogicalResult ingot::linkSharedLibrary(ArrayRef<MemoryFile> objects,
                                       ArrayRef<LinkedLibrary> others,
                                       const Manifest &manifest,
                                       std::string &library,
                                       std::string &error) {
  // Places weights behind all other sections, so that code and data stay within
  // reach of each other. No argument contains a name from the user.
  std::vector<std::string> args = {"ld.lld", "-shared", "--gc-sections",
                                   "--build-id=none", "--hash-style=gnu",
                                   "-z", "noexecstack", "-z", "relro", "-z",
                                   "now", "-z", "lrodata-after-bss",
                                   "--as-needed", "--strip-debug",
                                   "--exclude-libs=ALL", "--no-undefined",
                                   "--threads=1"};
  // Keeps functions and constants of equal bytes once. No code compares their
  // addresses. The weights have no bytes yet that could be compared.
  args.insert(args.end(), {"--icf=all", "--ignore-data-address-equality"});
  if (manifest.weightsBytes != 0 && !manifest.externalWeights)
    args.push_back("--keep-unique=ingot_weights");
  for (const MemoryFile &object : objects)
    args.push_back(object.path());
  for (const LinkedLibrary &other : others)
    if (failed(addLibrary(args, other.glue, error)))
      return failure();
  if (failed(addLibrary(args, "libingot_support.a", error)))
    return failure();
  for (const LinkedLibrary &other : others)
    if (other.isShared)
      args.push_back(other.path.str());
  for (StringRef name : {"libm.so.6", "libc.so.6"})
    if (std::optional<std::string> path = findLibc(name))
      args.push_back(*path);
  for (const LinkedLibrary &other : others) {
    if (!other.isShared)
      continue;
    // The path is valid on the machine that built the compiler. On other
    // machines the loader also searches its usual folders.
    args.push_back("-rpath");
    args.push_back(
        ("$ORIGIN:" + llvm::sys::path::parent_path(other.path)).str());
  }
  MemoryFile exports;
  LinkerOutput output;
  if (!exports.write(exportsScript(manifest), error) || !output.start(error))
    return failure();
  args.push_back("--version-script=" + exports.path());
  // Sets the soname. Without it, a program that links the library would look
  // for it at the path that was used for linking.
  args.push_back("-soname=" + manifest.libraryName);
  args.push_back("-o");
  args.push_back(output.path());

  std::vector<const char *> pointers;
  for (const std::string &arg : args)
    pointers.push_back(arg.c_str());
  std::string out, err;
  llvm::raw_string_ostream outStream(out), errStream(err);
  lld::Result result = lld::lldMain(pointers, outStream, errStream,
                                    {{lld::Gnu, &lld::elf::link}});
  library = std::move(output.finish());
  if (result.retCode != 0) {
    error = firstLine(err);
    return failure();
  }
  return success();
}
