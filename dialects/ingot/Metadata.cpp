//===- Metadata.cpp - metadata that the compiler adds ---------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/ingot/Metadata.h"

#include "dialects/ingot/IngotDialect.h"

using namespace mlir;
using namespace ingot;

static constexpr StringLiteral kKeys[] = {
#define INGOT_METADATA_NUMBER(NAME, KEY, MEANING) KEY,
#include "runtime/include/ingot/abi/metadata_keys.inc"
};

void ingot::setCount(ModuleOp module, Count count, int64_t value) {
  assert(value >= 0 && "counts are not negative");
  IngotDialect::StatisticsAttrHelper helper(module.getContext());
  SmallVector<int64_t> values(std::size(kKeys), StatisticsAttr::kUnset);
  if (StatisticsAttr known = helper.getAttr(module))
    llvm::copy(known.getValues(), values.begin());
  values[unsigned(count)] = value;
  helper.setAttr(module, StatisticsAttr::get(module.getContext(), values));
}

void ingot::forEachCount(ModuleOp module,
                             function_ref<void(StringRef, int64_t)> body) {
  IngotDialect::StatisticsAttrHelper helper(module.getContext());
  if (StatisticsAttr known = helper.getAttr(module))
    for (auto [key, value] : llvm::zip_equal(kKeys, known.getValues()))
      if (value != StatisticsAttr::kUnset)
        body(key, value);
}
