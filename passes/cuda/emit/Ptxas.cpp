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
using namespace ingot::cuda;

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

static std::string contentOf(StringRef path) {
  auto file = llvm::MemoryBuffer::getFile(path);
  return file ? (*file)->getBuffer().str() : "";
}

/// Returns the first line of a log that is not part of the report on kernels.
static std::string problemIn(StringRef log) {
  for (StringRef line : llvm::split(log, '\n'))
    if (!line.trim().empty() && !line.starts_with("ptxas info") &&
        !line.starts_with(" "))
      return line.trim().str();
  return "it says nothing";
}

/// Returns the number that stands before `unit` in a line, or 0.
static int64_t numberBefore(StringRef line, StringRef unit) {
  const size_t at = line.find(unit);
  if (at == StringRef::npos)
    return 0;
  StringRef before = line.take_front(at);
  int64_t number = 0;
  return before.drop_front(before.find_last_of(' ') + 1)
                 .getAsInteger(10, number)
             ? 0
             : number;
}

/// Reads the report of `ptxas -v`.
static llvm::StringMap<KernelResources> readResources(StringRef log) {
  llvm::StringMap<KernelResources> kernels;
  KernelResources *kernel = nullptr;
  for (StringRef line : llvm::split(log, '\n')) {
    // ptxas info    : Compiling entry function 'matmul_0' for 'sm_80'
    if (auto [rest, name] = line.split("Compiling entry function '");
        !name.empty())
      kernel = &kernels[name.split('\'').first];
    if (!kernel)
      continue;
    // Functions that a kernel calls have a frame of their own.
    kernel->stackBytes += numberBefore(line, " bytes stack frame");
    kernel->spillBytes += numberBefore(line, " bytes spill stores") +
                          numberBefore(line, " bytes spill loads");
    if (line.contains(" registers")) {
      kernel->registers = numberBefore(line, " registers");
      kernel->sharedBytes = numberBefore(line, " bytes smem");
    }
  }
  return kernels;
}

/// Runs the program. Reports one that cannot be run, or that does not end.
/// Returns the exit code.
static FailureOr<int> run(Location loc, const Ptxas &ptxas,
                          ArrayRef<StringRef> arguments,
                          ArrayRef<std::optional<StringRef>> redirects) {
  std::string problem;
  const int code = llvm::sys::ExecuteAndWait(
      ptxas.path, arguments, /*Env=*/std::nullopt, redirects, ptxas.maxSeconds,
      /*MemoryLimit=*/0, &problem);
  if (code < 0)
    return emitError(loc) << "ptxas '" << ptxas.path << "' "
                          << (code == -1 ? "cannot be run: " : "did not end: ")
                          << StringRef(problem).rtrim(": ");
  return code;
}

FailureOr<std::string> Ptxas::version(Location loc) const {
  ScratchFile log("txt");
  if (log.error)
    return emitError(loc) << "cannot make a temporary file for ptxas: "
                          << log.error.message();
  // A program that answers at all answers at once.
  const Ptxas asked{path, std::min(maxSeconds, 20u)};
  FailureOr<int> code =
      run(loc, asked, {path, "--version"},
          {StringRef(""), StringRef(log.path), StringRef("")});
  if (failed(code))
    return failure();
  if (*code != 0)
    return std::string();
  // Cuda compilation tools, release 12.9, V12.9.86
  const std::string text = contentOf(log.path);
  return StringRef(text)
      .split(", V")
      .second.take_while([](char c) { return llvm::isDigit(c) || c == '.'; })
      .str();
}

FailureOr<Cubin> Ptxas::assemble(Location loc, StringRef ptx,
                                 unsigned level) const {
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
  FailureOr<int> code =
      run(loc, *this,
          {path, arch, "-O3", "-v", input.path, "-o", output.path},
          {StringRef(""), StringRef(log.path), StringRef(log.path)});
  if (failed(code))
    return failure();
  if (*code != 0)
    return emitError(loc) << "ptxas '" << path << "' failed for sm_" << level
                          << ": " << problemIn(contentOf(log.path));
  std::string bytes = contentOf(output.path);
  if (!StringRef(bytes).starts_with("\x7f"
                                    "ELF"))
    return emitError(loc) << "ptxas '" << path << "' wrote no machine code";
  return Cubin{level, std::move(bytes), readResources(contentOf(log.path))};
}
