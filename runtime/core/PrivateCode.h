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
/// addresses. A later change of the file then affects neither the library's
/// code nor its tables. The dynamic linker reads these tables whenever it loads
/// another library. The weights that `seal` describes stay mapped and shared.
///
/// Changes nothing if memory is exhausted, or if the system does not allow code
/// in private memory.
void makePrivate(const Mapping &library, const ingot_abi_seal &seal);

} // namespace ingot::rt

#endif // INGOT_RUNTIME_CORE_PRIVATECODE_H
