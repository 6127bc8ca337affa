//===- Ptxas.cpp - NVIDIA's assembler of PTX ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/emit/Ptxas.h"

#include "passes/cuda/PtxasPath.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace ingot;

std::string cuda::findPtxas(StringRef asked) {
  if (!asked.empty())
    return asked == "none" ? "" : asked.str();
  return llvm::sys::fs::can_execute(kPtxasPath) ? kPtxasPath : "";
}

namespace {
/// A file in the folder for temporary files, which is removed at the end.
struct ScratchFile {
  explicit ScratchFile(StringRef extension)
      : error(llvm::sys::fs::createTemporaryFile("ingot", extension, path)),
        remover(path) {}

  llvm::SmallString<128> path;
  std::error_code error;
  llvm::FileRemover remover;
};
} // namespace

/// Returns the first line of a file that says something.
static std::string firstLineOf(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  if (!file)
    return "it says nothing";
  StringRef line = (*file)->getBuffer().trim().split('\n').first.rtrim();
  return line.empty() ? "it says nothing" : line.str();
}

FailureOr<std::string> cuda::assemble(Location loc, StringRef ptx,
                                      unsigned level, StringRef ptxas) {
  // Some seconds are usual for a large model.
  constexpr unsigned kMaxSeconds = 600;
  ScratchFile input("ptx"), output("cubin"), log("txt");
  for (const ScratchFile *file : {&input, &output, &log})
    if (file->error)
      return emitError(loc) << "cannot make a temporary file for ptxas: "
                            << file->error.message();
  {
    std::error_code error;
    llvm::raw_fd_ostream out(input.path, error);
    out << ptx;
    out.close();
    if (error || out.has_error())
      return emitError(loc) << "cannot write a temporary file for ptxas";
  }
  const std::string arch = "-arch=sm_" + std::to_string(level);
  StringRef arguments[] = {ptxas, arch, "-O3", input.path, "-o", output.path};
  std::optional<StringRef> redirects[] = {StringRef(""), StringRef(log.path),
                                          StringRef(log.path)};
  std::string problem;
  const int code = llvm::sys::ExecuteAndWait(
      ptxas, arguments, /*Env=*/std::nullopt, redirects, kMaxSeconds,
      /*MemoryLimit=*/0, &problem);
  if (code == -1 || code == -2)
    return emitError(loc) << "ptxas '" << ptxas << "' "
                          << (code == -1 ? "cannot be run: " : "did not end: ")
                          << problem;
  if (code != 0)
    return emitError(loc) << "ptxas '" << ptxas << "' failed for sm_" << level
                          << ": " << firstLineOf(log.path);
  auto cubin = llvm::MemoryBuffer::getFile(output.path);
  if (!cubin || !(*cubin)->getBuffer().starts_with("\x7f"
                                                   "ELF"))
    return emitError(loc) << "ptxas '" << ptxas << "' wrote no machine code";
  return (*cubin)->getBuffer().str();
}
