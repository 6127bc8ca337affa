//===- ingot-opt.cpp - runs passes on MLIR files --------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/Version.h"
#include "compiler/pipeline/Register.h"

#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  ingot::registerDialects(registry);
  ingot::registerPasses();
  llvm::cl::SetVersionPrinter([](llvm::raw_ostream &out) {
    out << "ingot-opt " INGOT_VERSION "\n";
  });
  return mlir::asMainReturnCode(mlir::MlirOptMain(
      argc, argv,
      "Runs passes of Ingot on MLIR files\n\n"
      "Example:\n"
      "  ingot-opt --nn-merge-branches --nn-fold-batch-norm model.mlir\n",
      registry));
}
