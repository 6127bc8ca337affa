//===- Turns.h - models that are timed in turns -----------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_PRECISION_TURNS_H
#define INGOT_COMPILER_STUDY_PRECISION_TURNS_H

#include "compiler/study/runs/ScratchModel.h"

namespace ingot::study {

/// Times the models on a sample, and returns the milliseconds of a run of each.
/// Changes the model every few milliseconds. Other work on the machine lasts
/// longer than such a turn, so it slows all models down alike.
llvm::Expected<std::vector<double>>
timeInTurns(llvm::ArrayRef<const ScratchModel *> models,
            const std::vector<Array> &sample, const Progress &progress);

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_PRECISION_TURNS_H
