//===- LayerNotes.cpp - shapes and scopes of layers -----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/memory/LayerNotes.h"

#include "dialects/ingot/IngotDialect.h"
#include "dialects/ingot/Metadata.h"
#include "dialects/nn/NodeScope.h"
#include "passes/memory/BatchImages.h"
#include "passes/support/Shapes.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Interfaces/DestinationStyleOpInterface.h"

using namespace mlir;
using namespace ingot;

/// Returns the sizes of an operand of `op` ("1x?x8"), or "" for scalars and
/// values without a shape.
static std::string shapeOf(Operation *op, Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  if (!type || !type.hasRank() || type.getRank() == 0)
    return "";
  std::optional<int64_t> images = knownImagesAt(op);
  SmallVector<int64_t> sizes(type.getShape());
  for (int64_t &size : sizes)
    if (ShapedType::isDynamic(size))
      size = images.value_or(size);
  return support::describeSizes(sizes);
}

/// Returns the sizes of an op's first operand and of its result.
static std::string shapesOf(Operation *op) {
  Value from, to;
  if (auto copy = dyn_cast<memref::CopyOp>(op)) {
    from = copy.getSource();
    to = copy.getTarget();
  } else if (auto styled = dyn_cast<DestinationStyleOpInterface>(op)) {
    if (styled.getNumDpsInputs())
      from = styled.getDpsInputs().front();
    if (styled.getNumDpsInits())
      to = styled.getDpsInits().front();
  }
  std::string first = from ? shapeOf(op, from) : "",
              last = to ? shapeOf(op, to) : "";
  if (first.empty() || last.empty())
    return first + last;
  return first + " -> " + last;
}

void LayerNotes::add(ArrayRef<Operation *> ops, Operation *largest) {
  shapes += shapesOf(largest) + "\n";
  auto note = [&](Operation *op) {
    forEachScope(op->getLoc(), [&](StringAttr name, StringAttr scope) {
      // Leave out a name with a line break or a tab, because these are
      // separators.
      constexpr StringLiteral kSeparators("\n\t");
      if (name.getValue().find_first_of(kSeparators) == StringRef::npos &&
          scope.getValue().find_first_of(kSeparators) == StringRef::npos)
        scopes.insert({name, scope});
    });
  };
  for (Operation *op : ops)
    op->walk(note);
}

void LayerNotes::write(ModuleOp module) const {
  MLIRContext *context = module.getContext();
  IngotDialect::MetadataAttrHelper metadata(context);
  NamedAttrList entries(metadata.getAttr(module));
  entries.set(metadatakey::layer_shapes, StringAttr::get(context, shapes));
  std::string text;
  for (auto [name, scope] : scopes)
    text += name.str() + "\t" + scope.str() + "\n";
  if (!text.empty())
    entries.set(metadatakey::scopes, StringAttr::get(context, text));
  metadata.setAttr(module, entries.getDictionary(context));
}
