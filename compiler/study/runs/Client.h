//===- Client.h - what studies use of the client library --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_COMPILER_STUDY_RUNS_CLIENT_H
#define INGOT_COMPILER_STUDY_RUNS_CLIENT_H

#include "client/Handles.h"
#include "client/Npy.h"
#include "client/Text.h"
#include "client/inputs/Samples.h"

namespace ingot::study {

using tools::Array;
using tools::ContextHandle;
using tools::formatLine;
using tools::formatShape;
using tools::InputSpec;
using tools::ModelHandle;
using tools::PickedSample;
using tools::PoolHandle;
using tools::Preprocess;
using tools::Samples;
using tools::SampleSurvey;

} // namespace ingot::study

#endif // INGOT_COMPILER_STUDY_RUNS_CLIENT_H
