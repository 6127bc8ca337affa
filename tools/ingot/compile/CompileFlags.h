//===- CompileFlags.h - what `ingot compile` is told ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_INGOT_COMPILE_COMPILEFLAGS_H
#define INGOT_TOOLS_INGOT_COMPILE_COMPILEFLAGS_H

#include "llvm/Support/CommandLine.h"

namespace ingot::tools {

namespace cl = llvm::cl;

/// The options of the command line of `ingot compile`. The object must live
/// while the command line is parsed.
struct CompileFlags {
  cl::OptionCategory category{"Options of ingot compile"};
  cl::opt<std::string> input{cl::Positional, cl::desc("MODEL.onnx"),
                             cl::Required, cl::cat(category)};
  cl::opt<std::string> output{
      "o", cl::value_desc("file"), cl::cat(category),
      cl::desc("Output; by default the model's name with .so")};
  cl::list<std::string> shapes{
      "shape", cl::value_desc("input=AxBxC"), cl::cat(category),
      cl::desc("Fix an input's shape; ? keeps a dimension dynamic, and "
               "(MIN:USUAL:MAX) bounds it: x=1x3x48x(64:320:2048)")};
  cl::list<std::string> dims{
      "dim", cl::value_desc("name=N"), cl::cat(category),
      cl::desc("Fix a named dimension, e.g. batch=1, or bound it: "
               "length=1:128:512, length=8k (multiples of 8)")};
  cl::list<std::string> freeDims{
      "free-dim", cl::value_desc("name"), cl::cat(category),
      cl::desc("Let dimensions of this name differ between and within inputs, "
               "e.g. where an exporter gave one name to several sizes; 'all' "
               "stands for every name")};
  cl::list<std::string> profiles{
      "profile", cl::value_desc("ranges"), cl::cat(category),
      cl::desc("Ranges of sizes that belong together, by input or named "
               "dimension: 'x=1x3x48x(64:320:2048),n=1:1:8'. May be repeated; "
               "there is code for the usual sizes of each, and for all "
               "others")};
  cl::opt<std::string> general{
      "general", cl::value_desc("refuse|keep"), cl::init("refuse"),
      cl::cat(category),
      cl::desc("Sizes outside of all ranges: end the run (default), or run, "
               "too")};
  cl::list<std::string> values{
      "value", cl::value_desc("input=V"), cl::cat(category),
      cl::desc("Make an input a constant: sr=16000, or sizes=1,2,3; it is no "
               "input of the library then")};
  cl::list<std::string> lengths{
      "length", cl::value_desc("input=N"), cl::cat(category),
      cl::desc("How many tensors a sequence input has: with --length x=2 the "
               "library takes x.0 and x.1")};
  cl::list<std::string> absent{
      "absent", cl::value_desc("input"), cl::cat(category),
      cl::desc("Compile for an optional input that is not there; without it, "
               "the library takes what the optional holds")};
  cl::list<std::string> limits{
      "limit", cl::value_desc("name=N"), cl::cat(category),
      cl::desc("What a model may make the compiler do: nodes (1000000), "
               "function-nodes (100000), nesting (30), graph-bytes (1G), "
               "sparse-bytes (1G), tensor-elements (16T), folded-bytes (16M), "
               "and a run: loop-steps (1000000000)")};
  cl::opt<std::string> target{
      "target", cl::value_desc("levels"), cl::init("native"), cl::cat(category),
      cl::desc(
          "CPU levels, comma-separated: x86-64-v2, x86-64-v3, alderlake, "
          "x86-64-v4, cascadelake, znver4, avx512fp16, sapphirerapids; or "
          "native (this machine's), or multi (x86-64-v3,x86-64-v4, and what "
          "multiplies bytes or bf16 if the model does). The library holds "
          "code for each and runs the highest that the CPU has. l1=48K and "
          "l2=2M among them are the caches that blocks are cut for (32K "
          "and 1M); docs/kernels.md has more such numbers")};
  cl::opt<std::string> kernels{
      "kernels", cl::value_desc("native|onednn|auto|FILE"), cl::init("native"),
      cl::cat(category),
      cl::desc(
          "What computes the heavy ops: generated kernels, which need no "
          "library (default); oneDNN, where it is found; whichever of both "
          "is faster here, layer by layer, which is measured and written to "
          "<output>.kernels.json; or as such a file says")};
  cl::opt<std::string> precision{
      "precision",
      cl::value_desc("fp32|bf16|fp16|O0…O3|int8|int8-dynamic|w8|w4|auto"),
      cl::init("fp32"), cl::cat(category),
      cl::desc(
          "What heavy ops multiply and store: 32-bit floats (default); "
          "bfloat16, summed up as 32-bit floats (O1; O2 stores so all but "
          "norms, softmax and reductions, O3 all, O0 is fp32); 32-bit floats "
          "by weights that are stored as float16; bytes, with the ranges of "
          "--calibration or those that each run finds; floats by weights that "
          "are stored in 8 or 4 bits; or, layer by layer, whichever is faster "
          "here and right within --max-drop. All but fp32 for native "
          "kernels")};
  cl::opt<std::string> calibration{
      "calibration", cl::value_desc("file"), cl::cat(category),
      cl::desc("For --precision=int8 and fp16: what ingot calibrate wrote")};
  cl::list<std::string> keep{
      "keep", cl::value_desc("GLOB=fp32"), cl::cat(category),
      cl::desc("For all precisions but fp32: nodes that stay in it, e.g. "
               "'/head/*=fp32'")};
  cl::opt<std::string> weightBits{
      "weight-bits", cl::value_desc("auto|7|8"), cl::init("auto"),
      cl::cat(category),
      cl::desc("For --precision=int8, int8-dynamic and auto: CPUs without VNNI "
               "are faster with 7, which are less exact; auto, for such CPUs "
               "alone, takes 8 with scales that are large enough for most of "
               "that speed")};
  cl::opt<std::string> eval{
      "eval", cl::value_desc("file"), cl::cat(category),
      cl::desc("For --precision=auto: samples, and in an .npz an array "
               "'labels' of the classes that are right; without it, those of "
               "fp32 are")};
  cl::opt<std::string> maxDrop{
      "max-drop", cl::value_desc("percent"), cl::cat(category),
      cl::desc("For --precision=auto: how many points of what is right may be "
               "lost, e.g. 0.5%")};
  cl::opt<std::string> report{
      "report", cl::value_desc("file.html"), cl::cat(category),
      cl::desc("For --precision=int8 and auto: write a page on what each layer "
               "costs and brings, and the same as JSON beside it")};
  cl::list<std::string> data{
      "data", cl::value_desc("path"), cl::cat(category),
      cl::desc("For --report with int8: samples that errors are measured on")};
  cl::opt<std::string> preprocess{
      "preprocess", cl::value_desc("how"), cl::cat(category),
      cl::desc("Of pictures in --data and --eval, as ingot calibrate has it")};
  cl::opt<std::string> rules{
      "rules", cl::value_desc("file"), cl::cat(category),
      cl::desc("For the same: JSON that says it of many nodes; "
               "what --keep says comes first")};
  cl::opt<std::string> emulateOn{
      "emulate-on", cl::value_desc("level"), cl::Hidden, cl::cat(category),
      cl::desc("For tests: code as for --target, in which the instructions of "
               "AMX, AVX512-BF16 and VNNI are emulated, to be run on a lower "
               "CPU level")};
  cl::opt<uint64_t> scheduleSeed{
      "schedule-seed",
      cl::value_desc("number"),
      cl::Hidden,
      cl::cat(category),
      cl::init(0),
      cl::desc("For tests: schedules of native kernels drawn at random, others "
               "for each number but 0")};
  cl::opt<bool> winograd{
      "winograd", cl::init(true), cl::cat(category),
      cl::desc("3x3 convolutions of 32-bit floats and of bytes in fewer "
               "products where that is faster (default), of floats by weights "
               "up to four times as large; =false computes them as they are "
               "written")};
  cl::opt<std::string> optimize{
      "optimize", cl::value_desc("speed|balanced|size"), cl::init("balanced"),
      cl::cat(category),
      cl::desc("Where speed costs bytes: speed takes the fastest code, size "
               "adds no bytes, balanced (default) adds those that save enough "
               "time")};
  cl::opt<std::string> weights{
      "weights", cl::value_desc("embed|file"), cl::init("embed"),
      cl::cat(category),
      cl::desc("Weights in the library, or in <output>.<hash>.weights")};
  cl::opt<std::string> emit{
      "emit", cl::value_desc("kind"), cl::init("so"), cl::cat(category),
      cl::desc(
          "What to write: so, obj, asm, llvm, mlir-onnx, mlir-nn, "
          "mlir-graph, mlir-quantize, mlir-layout, mlir-linalg, mlir-memory, "
          "mlir-kernels, mlir-llvm")};
  cl::opt<std::string> compileTo{
      "compile-to", cl::value_desc("phase"), cl::cat(category),
      cl::desc("Stop after a phase and write its MLIR: onnx, nn, graph, "
               "quantize, layout, linalg, memory, kernels, llvm")};
  cl::list<std::string> dumpAfter{
      "dump-after", cl::value_desc("pass"), cl::CommaSeparated,
      cl::cat(category),
      cl::desc("Write the IR to standard error after a pass, or 'all'")};
  cl::opt<bool> printPipeline{
      "print-pipeline", cl::cat(category),
      cl::desc("Compile nothing; write the passes as ingot-opt's "
               "--pass-pipeline takes them, a line for each CPU level")};
  cl::opt<std::string> symbol{
      "symbol", cl::value_desc("name"), cl::cat(category),
      cl::desc("Prefix of the C functions; by default the output's name")};
  cl::opt<bool> header{"header", cl::init(true), cl::cat(category),
                       cl::desc("Write the C header too (default)")};
  cl::opt<bool> timing{
      "timing", cl::cat(category),
      cl::desc("Write to standard error how long each phase and pass took")};
  cl::opt<bool> remarks{
      "remarks", cl::cat(category),
      cl::desc("Write to standard error which backends do not compute a node "
               "that they have kernels for, and why; other decisions that are "
               "not the usual ones; which channels were taken "
               "out because they are constant, and which were not; how many "
               "weights are zero, and which blocks of them are not stored")};
  cl::opt<std::string> decisions{
      "decisions", cl::value_desc("file.json"), cl::cat(category),
      cl::desc("Write as JSON what was decided about each operation: backend, "
               "precision, layout, packing, schedule; the alternatives, and "
               "why")};
  cl::opt<bool> quiet{"quiet", cl::cat(category),
                      cl::desc("Print errors only")};
  cl::alias quietShort{"q", cl::aliasopt(quiet), cl::desc("Same as --quiet"),
                       cl::cat(category)};
};

} // namespace ingot::tools

#endif // INGOT_TOOLS_INGOT_COMPILE_COMPILEFLAGS_H
