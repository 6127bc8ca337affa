//===- DestinationsTest.cpp - decisions equal those of upstream -----------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/Destinations.h"

#include "compiler/pipeline/Register.h"

#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

using namespace mlir;
using namespace mlir::bufferization;

namespace {

/// Draws programs on tensors. They have elementwise and other ops, slices and
/// insertions that match or do not, constants, branches and loops. Destinations
/// are shared, fresh, or inputs.
class Program {
public:
  explicit Program(unsigned seed) : random(seed) {}

  std::string draw(int ops) {
    wide = {"%x", "%y", "%c"};
    narrow = {"%z"};
    body = "  %f = arith.constant 1.0 : f32\n"
           "  %i0 = arith.constant 0 : index\n"
           "  %i1 = arith.constant 1 : index\n"
           "  %i4 = arith.constant 4 : index\n"
           "  %c = arith.constant dense<2.0> : tensor<16xf32>\n"
           "  %e = tensor.empty() : tensor<16xf32>\n";
    wide.push_back("%e");
    drawOps(ops, 0);
    std::string result = any(wide), other = any(narrow);
    return "func.func @f(%x: tensor<16xf32>, %y: tensor<16xf32> "
           "{bufferization.writable = false}, %z: tensor<8xf32>, %k: i1, "
           "%m: memref<16xf32>) -> (tensor<16xf32>, tensor<8xf32>) {\n" +
           body + "  bufferization.materialize_in_destination " + any(wide) +
           " in restrict writable %m : (tensor<16xf32>, memref<16xf32>) -> "
           "()\n  return " +
           result + ", " + other + " : tensor<16xf32>, tensor<8xf32>\n}\n";
  }

private:
  unsigned below(unsigned n) { return random() % n; }
  /// Returns a value, preferably a recent one.
  std::string any(const std::vector<std::string> &values) {
    size_t n = values.size();
    return values[below(3) ? n - 1 - below(std::min<size_t>(n, 4)) : below(n)];
  }
  std::string fresh() { return "%v" + std::to_string(count++); }
  std::string offset() { return below(2) ? "0" : "8"; }

  void drawOps(int ops, int depth) {
    for (int i = 0; i < ops; ++i)
      drawOp(depth);
  }

  void drawOp(int depth) {
    std::string v = fresh(), a = any(wide), b = any(wide), d = any(wide);
    const std::string t = "tensor<16xf32>", u = "tensor<8xf32>";
    switch (below(depth < 2 ? 13 : 11)) {
    case 0:
      body += v + " = tensor.empty() : " + t + "\n";
      break;
    case 1:
    case 2:
      body += v + " = linalg.add ins(" + a + ", " + b + " : " + t + ", " + t +
              ") outs(" + d + " : " + t + ") -> " + t + "\n";
      break;
    case 3:
      body += v + " = linalg.exp ins(" + a + " : " + t + ") outs(" + d + " : " +
              t + ") -> " + t + "\n";
      break;
    case 4:
      body += v + " = linalg.fill ins(%f : f32) outs(" + d + " : " + t +
              ") -> " + t + "\n";
      break;
    case 5:
      body += v + " = tensor.insert %f into " + a + "[%i1] : " + t + "\n";
      break;
    case 6:
      body += v + " = tensor.extract_slice " + a + "[" + offset() +
              "] [8] [1] : " + t + " to " + u + "\n";
      narrow.push_back(v);
      return;
    case 7:
      body += v + " = tensor.insert_slice " + any(narrow) + " into " + a + "[" +
              offset() + "] [8] [1] : " + u + " into " + t + "\n";
      break;
    case 8:
      body += v + " = linalg.exp ins(" + any(narrow) + " : " + u + ") outs(" +
              any(narrow) + " : " + u + ") -> " + u + "\n";
      narrow.push_back(v);
      return;
    case 9:
      // The op reads backwards, so it reads another position than it writes.
      body += v +
              " = linalg.generic {indexing_maps = [affine_map<(i) -> (15 - "
              "i)>, affine_map<(i) -> (i)>], iterator_types = "
              "[\"parallel\"]} ins(" +
              a + " : " + t + ") outs(" + d + " : " + t +
              ") { ^bb0(%p: f32, %q: f32): linalg.yield %p : f32 } -> " + t +
              "\n";
      break;
    case 10:
      body += v + " = arith.select %k, " + a + ", " + b + " : " + t + "\n";
      break;
    case 11: {
      body += v + " = scf.if %k -> (" + t + ") {\n";
      drawBody(depth, "");
      body += "} else {\n";
      drawBody(depth, "");
      body += "}\n";
      break;
    }
    default: {
      std::string argument = fresh();
      body += v + " = scf.for %n" + std::to_string(count++) +
              " = %i0 to %i4 step %i1 iter_args(" + argument + " = " + a +
              ") -> (" + t + ") {\n";
      drawBody(depth, argument);
      body += "}\n";
      break;
    }
    }
    wide.push_back(v);
  }

  /// Draws a body. Values of a region are not visible behind it.
  void drawBody(int depth, const std::string &argument) {
    std::vector<std::string> outerWide = wide, outerNarrow = narrow;
    if (!argument.empty())
      wide.push_back(argument);
    drawOps(1 + below(4), depth + 1);
    body += "scf.yield " + any(wide) + " : tensor<16xf32>\n";
    wide = outerWide;
    narrow = outerNarrow;
  }

  std::mt19937 random;
  std::vector<std::string> wide, narrow;
  std::string body;
  int count = 0;
};

class Destinations : public ::testing::Test {
protected:
  Destinations() {
    DialectRegistry registry;
    ingot::registerDialects(registry);
    context = std::make_unique<MLIRContext>(registry,
                                            MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
    // Both analyses refuse programs that cannot be analyzed.
    context->getDiagEngine().registerHandler(
        [](Diagnostic &) { return success(); });
  }

  /// Returns which operands are in place, in order; empty if the analysis
  /// fails.
  template <typename Analyze>
  std::vector<int> decide(const std::string &text, Analyze analyze) {
    OwningOpRef<ModuleOp> module =
        parseSourceString<ModuleOp>(text, context.get());
    EXPECT_TRUE(module) << text;
    if (!module)
      return {};
    OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    OneShotAnalysisState state(*module, options);
    std::vector<int> decisions;
    if (failed(analyze(*module, state)))
      return decisions;
    module->walk([&](Operation *op) {
      for (OpOperand &operand : op->getOpOperands())
        if (isa<TensorType>(operand.get().getType())) {
          decisions.push_back(state.isInPlace(operand));
          decisions.push_back(state.hasUndefinedContents(&operand));
          for (Value result : op->getResults())
            if (isa<TensorType>(result.getType()))
              decisions.push_back(
                  state.areEquivalentBufferizedValues(operand.get(), result));
        }
    });
    return decisions;
  }

  std::unique_ptr<MLIRContext> context;
};

TEST_F(Destinations, AreThoseOfUpstream) {
  int inPlace = 0, failures = 0;
  for (unsigned seed = 0; seed < 600; ++seed) {
    std::string text = Program(seed).draw(4 + seed % 24);
    std::vector<int> expected =
        decide(text, [](ModuleOp module, OneShotAnalysisState &state) {
          return analyzeModuleOp(module, state);
        });
    std::vector<int> found =
        decide(text, [](ModuleOp module, OneShotAnalysisState &state) {
          return ingot::analyzeDestinations(module, state);
        });
    ASSERT_EQ(found, expected) << "seed " << seed << "\n" << text;
    inPlace += llvm::count(found, 1);
    failures += found.empty();
  }
  // Checks that the drawn programs had enough operands to decide about.
  EXPECT_GT(inPlace, 1000);
  EXPECT_LT(failures, 100);
}

/// 20,000 writes to one buffer, each read once, for which upstream's analysis
/// is too slow.
TEST_F(Destinations, OfLongChainsAreFoundInTime) {
  std::string text =
      "func.func @f(%v0: tensor<16xf32>, %f: f32) -> tensor<16xf32> {\n"
      "  %i = arith.constant 0 : index\n";
  constexpr int kLength = 20'000;
  for (int i = 0; i < kLength; ++i)
    text += "  %v" + std::to_string(i + 1) + " = tensor.insert %f into %v" +
            std::to_string(i) + "[%i] : tensor<16xf32>\n";
  text += "  return %v" + std::to_string(kLength) + " : tensor<16xf32>\n}\n";
  std::vector<int> found =
      decide(text, [](ModuleOp module, OneShotAnalysisState &state) {
        return ingot::analyzeDestinations(module, state);
      });
  // All operands are in place, and no decision is missing.
  EXPECT_EQ(llvm::count(found, 1), 2 * kLength + 1);
}

} // namespace
