//===- ingot-import.cpp - prints a model in the onnx dialect --------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "compiler/Version.h"
#include "compiler/import/Import.h"
#include "dialects/nn/Constants.h"
#include "dialects/nn/NodeName.h"
#include "dialects/onnx/OnnxDialect.h"
#include "passes/legalize/core/Legalize.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"

namespace cl = llvm::cl;
using llvm::StringRef;

/// Parses "name=AxBx?" into a shape.
static bool parseShape(StringRef text, ingot::ImportOptions &options) {
  auto [name, sizes] = text.rsplit('=');
  llvm::SmallVector<StringRef> parts;
  sizes.split(parts, 'x');
  llvm::SmallVector<int64_t> shape;
  for (StringRef part : parts) {
    int64_t size = -1;
    if (part != "?" && (!llvm::to_integer(part, size, 10) || size < 0))
      return false;
    shape.push_back(size);
  }
  options.shapes[name] = shape;
  return !name.empty();
}

static bool parseDim(StringRef text, ingot::ImportOptions &options) {
  auto [name, size] = text.rsplit('=');
  return !name.empty() && llvm::to_integer(size, options.dims[name], 10);
}

static void printConstant(mlir::Location loc, mlir::ElementsAttr elements) {
  std::vector<char> storage;
  auto bytes = ingot::nn::getRawBytes(elements, storage);
  if (!bytes)
    return;
  auto hash = llvm::SHA256::hash(llvm::ArrayRef<uint8_t>(
      reinterpret_cast<const uint8_t *>(bytes->data()), bytes->size()));
  llvm::outs() << llvm::toHex(hash, /*LowerCase=*/true) << ' '
               << elements.getShapedType() << ' ' << ingot::nodeNameOf(loc)
               << '\n';
}

/// Prints a line for each constant tensor without strings: SHA-256 of its
/// bytes, type, and name or node. Elements of less than a byte are hashed as
/// one byte each.
static void printConstants(mlir::ModuleOp module) {
  module->walk([](mlir::Operation *op) {
    if (auto constant = llvm::dyn_cast<mlir::arith::ConstantOp>(op))
      if (auto elements =
              llvm::dyn_cast<mlir::ElementsAttr>(constant.getValue()))
        printConstant(op->getLoc(), elements);
    auto node = llvm::dyn_cast<ingot::onnx::NodeOp>(op);
    if (!node)
      return;
    for (mlir::NamedAttribute attr : node.getNodeAttrs()) {
      if (auto elements = llvm::dyn_cast<mlir::ElementsAttr>(attr.getValue()))
        printConstant(op->getLoc(), elements);
      if (auto list = llvm::dyn_cast<mlir::ArrayAttr>(attr.getValue()))
        for (mlir::Attribute entry : list)
          if (auto elements = llvm::dyn_cast<mlir::ElementsAttr>(entry))
            printConstant(op->getLoc(), elements);
    }
  });
}

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  static cl::opt<std::string> path(cl::Positional, cl::Required,
                                   cl::desc("<model>"));
  static cl::list<std::string> shapes(
      "shape", cl::desc("Fix the shape of an input; '?' stays dynamic"),
      cl::value_desc("name=AxBx.."));
  static cl::list<std::string> dims("dim", cl::desc("Fix a named dimension"),
                                    cl::value_desc("name=size"));
  static cl::opt<bool> expand(
      "expand", cl::desc("Expand operators that have no lowering but that ONNX "
                         "defines as functions"));
  static cl::opt<bool> debugInfo("mlir-print-debuginfo",
                                 cl::desc("Print locations, the nodes' names"));
  static cl::opt<unsigned> elide(
      "elide", cl::desc("Leave out elements of constants larger than this"),
      cl::init(16));
  static cl::opt<bool> constants(
      "constants",
      cl::desc("Print a hash of each tensor that the model holds instead"));
  cl::SetVersionPrinter([](llvm::raw_ostream &out) {
    out << "ingot-import " INGOT_VERSION "\n";
  });
  std::string errors;
  llvm::raw_string_ostream errorStream(errors);
  if (!cl::ParseCommandLineOptions(
          argc, argv,
          "Imports an ONNX model and prints it in the onnx dialect\n\n"
          "Example:\n"
          "  ingot-import model.onnx --shape x=1x3x224x224 --dim batch=1\n\n"
          "Exit codes: 0 done, 1 the model cannot be imported, 2 wrong use.\n",
          &errorStream)) {
    StringRef message = StringRef(errors).split('\n').first.trim();
    message.consume_front("ingot-import: ");
    if (!message.empty())
      llvm::errs() << "ingot-import: error: " << message << "\n";
    return 2;
  }

  ingot::ImportOptions options;
  for (const std::string &shape : shapes)
    if (!parseShape(shape, options)) {
      llvm::errs() << "ingot-import: error: --shape " << shape
                   << " is not of the form name=AxBx..\n";
      return 2;
    }
  for (const std::string &dim : dims)
    if (!parseDim(dim, options)) {
      llvm::errs() << "ingot-import: error: --dim " << dim
                   << " is not of the form name=size\n";
      return 2;
    }
  if (expand)
    options.isSupported = ingot::isLegalizable;

  mlir::MLIRContext context(mlir::MLIRContext::Threading::DISABLED);
  context.getDiagEngine().registerHandler([](mlir::Diagnostic &diagnostic) {
    llvm::errs() << "ingot-import: error: "
                 << ingot::oneLine(diagnostic.str(), 2000) << "\n";
  });
  mlir::OwningOpRef<mlir::ModuleOp> module =
      ingot::importModel(path, context, options);
  if (!module)
    return 1;
  if (constants) {
    printConstants(*module);
    return 0;
  }
  mlir::OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(elide);
  flags.elideLargeResourceString(elide);
  if (debugInfo)
    flags.enableDebugInfo();
  module->print(llvm::outs(), flags);
  llvm::outs() << "\n";
  return 0;
}
