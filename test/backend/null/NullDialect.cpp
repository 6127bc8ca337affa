//===- NullDialect.cpp - null dialect ---------------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/backend/null/NullDialect.h"

#include "dialects/kernel/Bufferize.h"
#include "dialects/kernel/Verify.h"

#include "mlir/Dialect/Bufferization/IR/DstBufferizableOpInterfaceImpl.h"

using namespace mlir;
using namespace mlir::bufferization;
using namespace ingot;
using namespace ingot::null;

#include "test/backend/null/NullDialect.cpp.inc"

#define GET_OP_CLASSES
#include "test/backend/null/NullOps.cpp.inc"

void NullDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "test/backend/null/NullOps.cpp.inc"
      >();
}

LogicalResult ReluOp::verify() { return kernel::verifyDst(*this, getDst()); }

void ReluOp::getEffects(kernel::Effects &effects) {
  kernel::collectEffects(*this, effects);
}

kernel::Work ReluOp::getWork() { return kernel::workPerElement(getDst(), {}); }

namespace {

struct ReluModel : DstBufferizableOpInterfaceExternalModel<ReluModel, ReluOp> {
  LogicalResult bufferize(Operation *op, RewriterBase &rewriter,
                          const BufferizationOptions &options,
                          BufferizationState &state) const {
    return kernel::bufferize(op, rewriter, options, state);
  }
};

} // namespace

void null::registerBufferizableOpInterfaceExternalModels(
    DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NullDialect *) {
    ReluOp::attachInterface<ReluModel>(*context);
  });
}
