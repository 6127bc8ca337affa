//===- StringList.cpp - list of strings of a model ------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/StringList.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace ingot;

ArrayAttr ingot::stringsOf(ModuleOp module) {
  return module->getAttrOfType<ArrayAttr>(kStringsAttr);
}

void StringList::read(ModuleOp module) {
  if (ArrayAttr known = stringsOf(module))
    for (auto text : known.getAsRange<StringAttr>())
      placeOf(text.getValue());
}

int64_t StringList::placeOf(StringRef text) {
  if (strings.empty() && !text.empty())
    placeOf("");
  auto [entry, isNew] = places.try_emplace(text, int64_t(strings.size()));
  if (isNew)
    strings.push_back(entry->first());
  return entry->second;
}

SmallVector<int64_t> StringList::placesOf(ArrayAttr texts) {
  SmallVector<int64_t> found;
  for (auto text : texts.getAsRange<StringAttr>())
    found.push_back(placeOf(text.getValue()));
  return found;
}

void StringList::write(ModuleOp module) const {
  if (strings.empty())
    return;
  Builder builder(module.getContext());
  module->setAttr(kStringsAttr, builder.getStrArrayAttr(strings));
}
