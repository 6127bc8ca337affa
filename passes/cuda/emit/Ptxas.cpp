//===- Ptxas.cpp - NVIDIA's assembler of PTX ------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/emit/Ptxas.h"

#include "base/Process.h"
#include "base/ScratchFolder.h"
#include "passes/cuda/PtxasPath.h"

#include "mlir/IR/Diagnostics.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <string.h>

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

std::string cuda::findPtxas(StringRef asked) {
  if (!asked.empty())
    return asked == "none" ? "" : asked.str();
  return llvm::sys::fs::can_execute(kPtxasPath) ? kPtxasPath : "";
}

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

/// The most bytes of a report. A kernel has some 500.
static constexpr size_t kMaxReport = size_t(64) << 20;

/// Runs the program. Reports one that cannot be run, or that does not end by
/// itself.
static FailureOr<ProcessResult> run(Location loc, const Ptxas &ptxas,
                                    std::vector<std::string> arguments) {
  // A name without a folder is a file here: the PATH is not searched.
  const bool hasFolder = StringRef(ptxas.path).contains('/');
  arguments.insert(arguments.begin(),
                   hasFolder ? ptxas.path : "./" + ptxas.path);
  ProcessLimits limits;
  limits.seconds = ptxas.maxSeconds;
  limits.bytes = kMaxReport;
  ProcessResult done = runProcess(arguments, limits);
  auto fail = [&] { return emitError(loc) << "ptxas '" << ptxas.path << "' "; };
  if (done.startError)
    return fail() << "cannot be run: " << done.lastError();
  if (done.isLate)
    return fail() << "did not end in " << ptxas.maxSeconds << " s";
  if (done.signal)
    return fail() << "was ended by " << signalText(done.signal);
  return done;
}

FailureOr<std::string> Ptxas::version(Location loc) const {
  // A program that answers at all answers at once.
  const Ptxas asked{path, std::min(maxSeconds, 20u)};
  FailureOr<ProcessResult> done = run(loc, asked, {"--version"});
  if (failed(done))
    return failure();
  if (done->exitCode != 0)
    return std::string();
  // Cuda compilation tools, release 12.9, V12.9.86
  return StringRef(done->out)
      .split(", V")
      .second.take_while([](char c) { return llvm::isDigit(c) || c == '.'; })
      .str();
}

FailureOr<Cubin> Ptxas::assemble(Location loc, StringRef ptx,
                                 unsigned level) const {
  // The folder is also removed if a signal ends the compilation.
  ScratchFolder folder;
  if (std::string problem = folder.create(); !problem.empty())
    return emitError(loc) << "cannot run ptxas: " << problem;
  const std::string input = folder.path() + "/kernels.ptx",
                    output = folder.path() + "/kernels.cubin";
  {
    std::error_code error;
    llvm::raw_fd_ostream out(input, error);
    out << ptx;
    out.close();
    if (error || out.has_error()) {
      const std::error_code reason = error ? error : out.error();
      out.clear_error();
      return emitError(loc) << "cannot write '" << input
                            << "' for ptxas: " << reason.message();
    }
  }
  FailureOr<ProcessResult> done = run(
      loc, *this,
      {"-arch=sm_" + std::to_string(level), "-O3", "-v", input, "-o", output});
  if (failed(done))
    return failure();
  const std::string report = done->out + done->err;
  if (done->exitCode != 0)
    return emitError(loc) << "ptxas '" << path << "' failed for sm_" << level
                          << ": " << problemIn(report);
  std::string bytes = contentOf(output);
  if (!StringRef(bytes).starts_with("\x7f"
                                    "ELF"))
    return emitError(loc) << "ptxas '" << path << "' wrote no machine code";
  return Cubin{level, std::move(bytes), readResources(report)};
}
