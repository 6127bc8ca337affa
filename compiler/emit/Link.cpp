//===- Link.cpp - objects to a shared library, lld in process -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Emit.h"

#include "compiler/emit/SupportPaths.h"
#include "runtime/include/ingot/abi/artifact.h"

#include "lld/Common/Driver.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace ingot;

LLD_HAS_DRIVER(elf)

std::optional<std::string> ingot::findSupportFile(StringRef name) {
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

bool ingot::hasOneDNN() {
  return kOneDNNLibrary[0] != 0 && llvm::sys::fs::exists(kOneDNNLibrary) &&
         findSupportFile("libingot_dnnl.a");
}

/// A libc library that every process has anyway; linking it records versions.
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

/// Adds the library, or says what is missing.
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

/// A version script, in memory, that keeps everything but the interface local:
/// lld would export `_end` and others that some library refers to.
static std::optional<std::string> writeExports(const Manifest &manifest) {
  std::string script = "{ global: " INGOT_ABI_QUERY_SYMBOL ";";
  for (StringRef suffix : {"_create", "_run", "_destroy"})
    script += (" " + manifest.symbol + suffix + ";").str();
  script += " local: *; };\n";
  int file = memfd_create("ingot-exports", MFD_CLOEXEC);
  if (file < 0 ||
      write(file, script.data(), script.size()) != ssize_t(script.size()))
    return std::nullopt;
  return "/proc/self/fd/" + std::to_string(file);
}

LogicalResult ingot::linkSharedLibrary(ArrayRef<std::string> objects,
                                       const Manifest &manifest,
                                       StringRef output, std::string &error) {
  std::vector<std::string> args = {"ld.lld", "-shared", "--gc-sections",
                                   "--build-id=none", "--hash-style=gnu",
                                   "-z", "noexecstack", "-z", "relro", "-z",
                                   "now", "--as-needed", "--strip-debug",
                                   "--exclude-libs=ALL", "--no-undefined",
                                   "--threads=2"};
  llvm::append_range(args, objects);
  if (manifest.usesOneDNN &&
      failed(addLibrary(args, "libingot_dnnl.a", error)))
    return failure();
  if (failed(addLibrary(args, "libingot_support.a", error)))
    return failure();
  if (manifest.usesOneDNN)
    args.push_back(kOneDNNLibrary);
  for (StringRef name : {"libm.so.6", "libc.so.6"})
    if (std::optional<std::string> path = findLibc(name))
      args.push_back(*path);
  if (manifest.usesOneDNN) {
    // Where the compiler itself was built with oneDNN; elsewhere the loader's
    // own search finds it.
    args.push_back("-rpath");
    args.push_back(
        ("$ORIGIN:" + llvm::sys::path::parent_path(kOneDNNLibrary)).str());
  }
  std::optional<std::string> exports = writeExports(manifest);
  if (!exports) {
    error = "cannot make a file in memory for the linker";
    return failure();
  }
  llvm::scope_exit close([&] {
    ::close(std::stoi(exports->substr(exports->rfind('/') + 1)));
  });
  args.push_back("--version-script=" + *exports);
  // Without it a program that links the library would look for it at the path
  // that it was linked by.
  args.push_back("-soname=" + manifest.libraryName);
  args.push_back("-o");
  args.push_back(output.str());

  std::vector<const char *> pointers;
  for (const std::string &arg : args)
    pointers.push_back(arg.c_str());
  std::string out, err;
  llvm::raw_string_ostream outStream(out), errStream(err);
  lld::Result result = lld::lldMain(pointers, outStream, errStream,
                                    {{lld::Gnu, &lld::elf::link}});
  if (result.retCode != 0) {
    error = "linking failed: " + StringRef(err).trim().str();
    return failure();
  }
  return success();
}
