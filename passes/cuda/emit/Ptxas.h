//===- Ptxas.h - NVIDIA's assembler of PTX ----------------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_EMIT_PTXAS_H
#define INGOT_PASSES_CUDA_EMIT_PTXAS_H

#include "mlir/IR/Location.h"

#include "llvm/ADT/StringMap.h"

#include <string>

namespace ingot::cuda {

/// The registers and the memory of a kernel, as ptxas reports them.
struct KernelResources {
  int64_t registers = 0;
  /// Bytes of static shared memory of a block.
  int64_t sharedBytes = 0;
  /// Bytes of local memory of a thread, and bytes of its accesses that spill
  /// registers.
  int64_t stackBytes = 0, spillBytes = 0;
};

/// Machine code of one compute capability.
struct Cubin {
  unsigned level;
  std::string bytes;
  /// Resources by kernel. Empty if ptxas reports none.
  llvm::StringMap<KernelResources> kernels;
};

/// Returns the path of ptxas: `asked`, or the one that the build found. Returns
/// "" if there is none. A ptxas in the PATH does not count: another version
/// gives other bytes, which older drivers may refuse.
std::string findPtxas(llvm::StringRef asked);

/// The program ptxas, as a compilation uses it.
struct Ptxas {
  std::string path;
  /// Seconds until a call counts as one without end. A large model takes some
  /// seconds.
  unsigned maxSeconds = 600;

  /// Returns the version, e.g. "12.9.86", or "" if the program names none.
  /// Fails with a diagnostic at `loc` if the program cannot be run or does not
  /// end.
  mlir::FailureOr<std::string> version(mlir::Location loc) const;
  /// Assembles PTX for one compute capability. Fails with a diagnostic at
  /// `loc`.
  mlir::FailureOr<Cubin> assemble(mlir::Location loc, llvm::StringRef ptx,
                                  unsigned level) const;
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_EMIT_PTXAS_H
