//===- ProgramRecord.cpp - metadata about code for GPUs -------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cuda/emit/ProgramRecord.h"

#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/Metadata.h"
#include "dialects/nn/NodeName.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

/// Returns a JSON string. Bytes that are not UTF-8 become U+FFFD.
static std::string textOf(StringRef text) { return llvm::json::fixUTF8(text); }

static llvm::json::Array describe(const Images &images) {
  llvm::json::Array described;
  for (const Cubin &cubin : images.cubins)
    described.push_back(llvm::json::Object{{"kind", "cubin"},
                                           {"level", cubin.level},
                                           {"bytes", cubin.bytes.size()},
                                           {"ptxas", textOf(images.ptxas)}});
  described.push_back(llvm::json::Object{{"kind", "ptx"},
                                         {"level", images.ptxLevel},
                                         {"bytes", images.ptx.size() + 1},
                                         {"ptxas", ""}});
  return described;
}

static llvm::json::Object describeKernel(LLVM::LLVMFuncOp kernel,
                                         BlockAttr block,
                                         ArrayRef<Cubin> cubins) {
  llvm::json::Array code;
  for (const Cubin &cubin : cubins)
    if (auto found = cubin.kernels.find(kernel.getName());
        found != cubin.kernels.end())
      code.push_back(
          llvm::json::Object{{"level", cubin.level},
                             {"registers", found->second.registers},
                             {"static_shared_bytes", found->second.sharedBytes},
                             {"stack_bytes", found->second.stackBytes},
                             {"spill_bytes", found->second.spillBytes}});
  PredictionAttr prediction =
      CudaDialect::PredictionAttrHelper(kernel.getContext()).getAttr(kernel);
  return llvm::json::Object{
      {"name", textOf(kernel.getName())},
      {"node", textOf(nodeNameOf(kernel.getLoc()))},
      {"threads", block.getThreads()},
      {"shared_bytes", block.getShared()},
      {"launches", prediction ? prediction.getLaunches() : 0},
      {"predicted_ns", prediction ? prediction.getNanoseconds() : 0},
      {"code", std::move(code)}};
}

/// Describes the nodes that the CPU computes. Several ops of a node with the
/// same reason are one entry.
static llvm::json::Array describeHostNodes(ModuleOp module) {
  llvm::MapVector<std::pair<StringAttr, StringAttr>, int64_t> buffers;
  CudaDialect::HostNodesAttrHelper helper(module.getContext());
  if (ArrayAttr listed = helper.getAttr(module))
    for (auto node : listed.getAsRange<HostNodeAttr>())
      buffers[{node.getNode(), node.getReason()}] += node.getBuffers();
  llvm::json::Array nodes;
  for (auto &[key, count] : buffers)
    nodes.push_back(llvm::json::Object{{"node", textOf(key.first)},
                                       {"reason", textOf(key.second)},
                                       {"buffers", count}});
  return nodes;
}

void cuda::recordProgram(ModuleOp module, ModuleOp kernels,
                         const Images &images) {
  MLIRContext *context = module.getContext();
  CudaDialect::BlockAttrHelper blocks(context);
  llvm::json::Array described;
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>())
    if (BlockAttr block = blocks.getAttr(kernel))
      described.push_back(describeKernel(kernel, block, images.cubins));
  auto sizeIn = [&](auto helper) {
    IntegerAttr size = helper.getAttr(module);
    return size ? size.getInt() : 0;
  };
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(llvm::json::Object{
      {"images", describe(images)},
      {"kernels", std::move(described)},
      {"host_nodes", describeHostNodes(module)},
      {"weights_bytes", sizeIn(IngotDialect::WeightsBytesAttrHelper(context))},
      {"arena_bytes", sizeIn(IngotDialect::ArenaBytesAttrHelper(context))}});
  IngotDialect::MetadataAttrHelper metadata(context);
  NamedAttrList entries(metadata.getAttr(module));
  entries.set(metadatakey::gpu, StringAttr::get(context, text));
  metadata.setAttr(module, entries.getDictionary(context));
}
