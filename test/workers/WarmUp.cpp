//===- WarmUp.cpp - loads the compiler before forks -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/workers/WarmUp.h"
#include "compiler/driver/Compiler.h"

#include "mlir/IR/MLIRContext.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

using namespace ingot;

constexpr llvm::StringLiteral model =
    "<ir_version: 8, opset_import: [\"\" : 17]>\n"
    "warm (float[1,8,6,6] x, float[8,8,3,3] w, float[6,5] v)"
    " => (float[1,8,6,5] y) {\n"
    "  c = Conv<pads = [1, 1, 1, 1]>(x, w)\n"
    "  r = Relu(c)\n"
    "  y = MatMul(r, v)\n"
    "}\n";

static bool hasOneThread() {
  std::error_code error;
  unsigned count = 0;
  for (llvm::sys::fs::directory_iterator it("/proc/self/task", error), end;
       it != end && !error; it.increment(error))
    ++count;
  return count == 1;
}

bool ingot::warmUp() {
  llvm::SmallString<128> folder;
  if (llvm::sys::fs::createUniqueDirectory("ingot-warm", folder))
    return false;
  auto drop = llvm::scope_exit(
      [&] { llvm::sys::fs::remove_directories(folder); });
  CompileOptions options;
  options.input = (folder + "/model.onnxtxt").str();
  options.output = (folder + "/model.o").str();
  // Linking a library would leave the linker's threads behind.
  options.emit = EmitKind::object;
  std::error_code error;
  llvm::raw_fd_ostream(options.input, error) << model;
  if (error)
    return false;
  std::unique_ptr<mlir::MLIRContext> context = createContext();
  return succeeded(compileModel(options, *context)) && hasOneThread();
}
