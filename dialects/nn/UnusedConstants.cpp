//===- UnusedConstants.cpp - constants that nothing uses ------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/nn/UnusedConstants.h"

#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace ingot;

static DialectResourceBlobManager &managerOf(MLIRContext *context) {
  return DenseResourceElementsHandle::getManagerInterface(context)
      .getBlobManager();
}

uint64_t nn::bytesOfConstants(MLIRContext *context) {
  uint64_t bytes = 0;
  managerOf(context).getBlobMap(
      [&](const llvm::StringMap<DialectResourceBlobManager::BlobEntry> &blobs) {
        for (const auto &blob : blobs)
          if (const AsmResourceBlob *data = blob.second.getBlob())
            bytes += data->getData().size();
      });
  return bytes;
}

uint64_t nn::dropUnusedConstants(ModuleOp module) {
  llvm::StringSet<> used;
  AttrTypeWalker walker;
  walker.addWalk([&](DenseResourceElementsAttr attr) {
    used.insert(attr.getRawHandle().getKey());
  });
  module->walk([&](Operation *op) { walker.walk(op->getAttrDictionary()); });
  DialectResourceBlobManager &manager = managerOf(module.getContext());
  SmallVector<StringRef> unused;
  uint64_t bytes = 0;
  manager.getBlobMap(
      [&](const llvm::StringMap<DialectResourceBlobManager::BlobEntry> &blobs) {
        for (const auto &blob : blobs) {
          const AsmResourceBlob *data = blob.second.getBlob();
          if (!data || data->getData().empty() || used.contains(blob.getKey()))
            continue;
          bytes += data->getData().size();
          unused.push_back(blob.getKey());
        }
      });
  for (StringRef name : unused)
    manager.update(name, AsmResourceBlob());
  return bytes;
}
