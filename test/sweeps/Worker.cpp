//===- Worker.cpp - ingot-sweep: compiles invalid models ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Compiles models for the sweeps. Reads lines, each the path of a model, and
// answers each with one line `KIND <tab> MILLISECONDS <tab> PEAK-MIB <tab>
// DETAIL`. KIND is compiled, refused (one error, which DETAIL contains as
// `ingot compile` prints it), crash, timeout, or bad (not reported by exactly
// one line). With --digest, DETAIL of a compiled model is a digest of its
// module after the phase. Each model is compiled in a forked child of this warm
// process, with limits on time and address space.
//
//===----------------------------------------------------------------------===//
#include "test/workers/WarmUp.h"
#include "compiler/driver/Compiler.h"
#include "dialects/nn/NodeName.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/xxhash.h"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

struct Settings {
  unsigned seconds = 20;
  uint64_t mebibytes = 4096;
  /// A phase of getPhases, or "so" for all phases and a library.
  std::string phase = "llvm";
  std::string target = "x86-64-v3";
  bool digest = false;
};

/// Returns a digest of a file, and removes the file.
std::string digestOf(const std::string &path) {
  auto text = llvm::MemoryBuffer::getFile(path);
  unlink(path.c_str());
  return text ? llvm::utohexstr(llvm::xxh3_64bits((*text)->getBuffer())) : "";
}

/// Compiles a model in a child. Returns "KIND\tDETAIL".
std::string compile(const Settings &settings, const std::string &model) {
  std::unique_ptr<mlir::MLIRContext> context = ingot::createContext();
  int errors = 0;
  std::string first;
  auto isLine = [](mlir::Diagnostic &diagnostic) {
    return diagnostic.getSeverity() == mlir::DiagnosticSeverity::Error ||
           diagnostic.getSeverity() == mlir::DiagnosticSeverity::Note;
  };
  mlir::ScopedDiagnosticHandler handler(
      context.get(), [&](mlir::Diagnostic &diagnostic) {
        if (isLine(diagnostic) && errors++ == 0) {
          std::string node = ingot::nodeNameOf(diagnostic.getLocation());
          // The module's location is named after the file.
          if (!node.empty() && node != llvm::sys::path::filename(model))
            first = "node '" + ingot::printable(node) + "': ";
          first += diagnostic.str();
        }
        // A note of an error is a hint, which stands in its line.
        return mlir::success();
      });
  ingot::CompileOptions options;
  options.input = model;
  options.verifyEach = true;
  options.target = settings.target;
  if (settings.phase == "so") {
    options.output = model + ".so";
    options.writeHeader = false;
  } else {
    options.emit = ingot::EmitKind::mlir;
    options.lastPhase = settings.phase;
    options.output = settings.digest ? model + ".mlir" : "/dev/null";
  }
  bool compiled = mlir::succeeded(ingot::compileModel(options, *context));
  std::string digest = settings.digest ? digestOf(options.output) : "";
  if (settings.phase == "so")
    unlink(options.output.c_str());
  if (compiled)
    return errors ? "bad\tcompiled in spite of: " + first
                  : "compiled\t" + digest;
  if (errors == 0)
    return "bad\trefused without a message";
  if (errors > 1)
    return "bad\t" + std::to_string(errors) + " errors, the first: " + first;
  if (first.empty() || first.find('\n') != std::string::npos)
    return "bad\tnot one line: " + first;
  return "refused\t" + first;
}

std::string compileInChild(const Settings &settings, const std::string &model) {
  int channel[2];
  if (pipe(channel))
    return "crash\t0\t0\tno pipe";
  auto start = std::chrono::steady_clock::now();
  pid_t child = fork();
  if (child == 0) {
    alarm(settings.seconds);
    rlimit space{settings.mebibytes << 20, settings.mebibytes << 20};
    setrlimit(RLIMIT_AS, &space);
    rlimit core{0, 0};
    setrlimit(RLIMIT_CORE, &core);
    close(channel[0]);
    int null = open("/dev/null", O_WRONLY);
    dup2(null, STDOUT_FILENO);
    if (!getenv("INGOT_SWEEP_STDERR"))
      dup2(null, STDERR_FILENO);
    std::string text = compile(settings, model).substr(0, 4000);
    ssize_t written = write(channel[1], text.data(), text.size());
    _exit(written == ssize_t(text.size()) ? 0 : 1);
  }
  close(channel[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(channel[0], buffer, sizeof buffer)) > 0;)
    text.append(buffer, size_t(n));
  close(channel[0]);
  int status = 0;
  rusage usage{};
  if (child > 0)
    wait4(child, &status, 0, &usage);
  auto taken = std::chrono::duration_cast<std::chrono::milliseconds>(
      std::chrono::steady_clock::now() - start);
  std::string figures = "\t" + std::to_string(taken.count()) + "\t" +
                        std::to_string(usage.ru_maxrss / 1024) + "\t";
  if (child < 0)
    return "crash" + figures + "no process";
  if (WIFSIGNALED(status))
    return (WTERMSIG(status) == SIGALRM ? "timeout" : "crash") + figures +
           strsignal(WTERMSIG(status));
  size_t tab = text.find('\t');
  if (tab == std::string::npos)
    return "crash" + figures + "exit code " +
           std::to_string(WEXITSTATUS(status));
  std::string detail = text.substr(tab + 1);
  for (char &c : detail)
    if (c == '\n' || c == '\t')
      c = ' ';
  return text.substr(0, tab) + figures + detail;
}

} // namespace

int main(int argc, char **argv) {
  Settings settings;
  for (int i = 1; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    bool good = true;
    if (argument.consume_front("--seconds="))
      good = !argument.getAsInteger(10, settings.seconds);
    else if (argument.consume_front("--mebibytes="))
      good = !argument.getAsInteger(10, settings.mebibytes);
    else if (argument.consume_front("--phase="))
      settings.phase = argument.str();
    else if (argument.consume_front("--target="))
      settings.target = argument.str();
    else if (argument == "--digest")
      settings.digest = true;
    else
      good = false;
    if (!good) {
      std::cerr << "usage: ingot-sweep [--seconds=N] [--mebibytes=N] "
                   "[--phase=NAME|so] [--target=LEVEL] [--digest] < PATHS\n";
      return 2;
    }
  }
  if (!ingot::warmUp()) {
    std::cerr << "ingot-sweep: cannot warm up\n";
    return 1;
  }
  for (std::string line; std::getline(std::cin, line);)
    std::cout << compileInChild(settings, line) << std::endl;
  return 0;
}
