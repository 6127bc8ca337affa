//===- PrivateCode.h - a loaded library without its file --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_RUNTIME_CORE_PRIVATECODE_H
#define INGOT_RUNTIME_CORE_PRIVATECODE_H

#include "ingot/ingot.h"
#include "runtime/core/Mapping.h"

namespace ingot::rt {

/// Replaces read-only pages of a loaded library by private copies at the same
/// addresses. The copies cover its code and the tables that the dynamic linker
/// reads whenever another library is loaded. Overwriting the file then changes
/// neither. The weights that `seal` describes stay mapped and shared.
///
/// Changes nothing if the system has no memory or does not allow code in
/// private memory.
void makePrivate(const Mapping &library, const ingot_abi_seal &seal);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_PRIVATECODE_H
