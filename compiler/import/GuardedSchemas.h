//===- GuardedSchemas.h - ONNX's operator schemas, bounded ------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_IMPORT_GUARDEDSCHEMAS_H
#define INGOT_COMPILER_IMPORT_GUARDEDSCHEMAS_H

#include "compiler/import/Model.h"

#include "onnx/defs/schema.h"

#include <map>
#include <memory>
#include <mutex>

namespace ingot::importer {

/// ONNX's schemas with two guards. After an error, type inference continues
/// with the next node. Data propagation skips long vectors, because a model of
/// a few bytes could otherwise use up all memory.
class GuardedSchemas : public pb::ISchemaRegistry {
public:
  static const GuardedSchemas &instance();

  const pb::OpSchema *GetSchema(const std::string &name, int version,
                                  const std::string &domain) const override;

private:
  GuardedSchemas() = default;

  mutable std::mutex mutex;
  mutable std::map<const pb::OpSchema *, std::unique_ptr<pb::OpSchema>>
      guarded;
};

} // namespace ingot::importer

#endif // INGOT_COMPILER_IMPORT_GUARDEDSCHEMAS_H
