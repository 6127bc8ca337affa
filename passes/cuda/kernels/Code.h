//===- Code.h - code of a kernel with 32-bit numbers ------------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_PASSES_CUDA_KERNELS_CODE_H
#define INGOT_PASSES_CUDA_KERNELS_CODE_H

#include "passes/cuda/kernels/Number.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

namespace ingot::cuda {

using mlir::Type;
using mlir::Value;

/// Address spaces of NVIDIA GPUs (LLVM, User Guide for NVPTX).
enum : unsigned { kGlobalSpace = 1, kSharedSpace = 3 };

/// Writes the code of a kernel. Indices are numbers of 32 bits. Functions fold
/// what is constant.
class Code {
public:
  Code(mlir::OpBuilder &b, mlir::Location loc) : b(b), loc(loc) {}

  Value number(int64_t value);
  /// Returns 0 of f32.
  Value zero();
  Value add(Value x, Value y);
  Value add(Value x, int64_t y) { return y == 0 ? x : add(x, number(y)); }
  Value subtract(Value x, Value y);
  Value multiply(Value x, Number y);
  /// Returns the quotient and the remainder of numbers that are not negative.
  Value divide(Value x, Number y);
  Value remainder(Value x, Number y);
  Value exclusiveOr(Value x, Value y);
  /// Returns true if `x` is at least 0 and below `y`.
  Value isWithin(Value x, Number y);
  Value equals(Value x, int64_t y);
  /// Returns true if both are true. A condition that is null is true.
  Value both(Value x, Value y);
  Value select(Value condition, Value x, Value y);

  /// Returns a number as a value.
  Value valueOf(Number x) { return x.isOpen() ? x.value() : number(x.known()); }
  Number product(llvm::ArrayRef<Number> factors);
  /// Returns how many parts of `size` hold `x` elements.
  Number parts(Number x, int64_t size);

  /// Returns the number of the thread or block.
  Value thread();
  Value block();

  /// Returns the indices of element `number` of an array with `sizes`.
  llvm::SmallVector<Value> delinearize(Value number,
                                       llvm::ArrayRef<Number> sizes);
  /// Returns the offset of position `number` of an array with these sizes and
  /// strides. Dimensions that are contiguous are not taken apart.
  Value offsetOf(Value number, llvm::ArrayRef<Number> sizes,
                 llvm::ArrayRef<Number> strides);

  Type pointer(unsigned space);
  /// Returns the dynamic shared memory of the block. Declares it in the module
  /// of kernels if necessary. A launch gives its size.
  Value sharedMemory(mlir::ModuleOp kernels);
  /// Returns a size of a memref.
  Number sizeOf(Value memref, int64_t dim);
  /// Loads or stores an element of a memref.
  Value loadAt(Value memref, llvm::ArrayRef<Value> at);
  void storeAt(Value value, Value memref, llvm::ArrayRef<Value> at);
  /// Runs `body` if `condition` holds.
  void when(Value condition, llvm::function_ref<void()> body);

  /// Returns the address of the first element of a memref in global memory.
  Value addressOf(Value memref);
  /// Returns an address `offset` elements, of either sign, behind `address`.
  Value shift(Value address, Type element, Value offset);
  Value load(Value address, Type type, int64_t alignment);
  void store(Value value, Value address, int64_t alignment);
  Value extract(Value vector, int64_t at);
  /// Returns the value, of 32 bits, of the lane whose number differs in the
  /// bits of `distance`. All lanes of the warp take part.
  Value exchange(Value value, int64_t distance);

  mlir::OpBuilder &b;
  mlir::Location loc;

private:
  llvm::SmallVector<Value> toIndices(llvm::ArrayRef<Value> numbers);
  template <typename Op>
  Value binary(Value x, Value y);
  template <typename Op>
  Value special();
};

} // namespace ingot::cuda

#endif // INGOT_PASSES_CUDA_KERNELS_CODE_H
