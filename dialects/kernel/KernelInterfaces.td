//===- KernelInterfaces.td - what ops that are kernels tell *- tablegen -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_DIALECTS_KERNEL_KERNELINTERFACES_TD
#define INGOT_DIALECTS_KERNEL_KERNELINTERFACES_TD

include "mlir/IR/OpBase.td"

def KernelOpInterface : OpInterface<"KernelOpInterface"> {
  let description = [{
    An op that one kernel computes, of whatever backend: what profiles and
    reports say of it.
  }];
  let cppNamespace = "::ingot::kernel";
  let methods = [
    InterfaceMethod<
      "What it is, in the words of profiles.",
      "::llvm::StringRef", "getKernelKind", (ins), [{}],
      [{ return $_op->getName().stripDialect(); }]>,
    InterfaceMethod<
      "The element type that its products multiply; null if it has none.",
      "::mlir::Type", "getProductType", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<
      "Of products by weights of so few bits that these are numbers of blocks: "
      "how many; else 0.",
      "int64_t", "getWeightBits", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
        Its arithmetic operations, as a product; a multiply-add is two. What the
        epilogue does to each element is not counted.
      }],
      "::ingot::kernel::Work", "getWork", (ins)>];
}

#endif // INGOT_DIALECTS_KERNEL_KERNELINTERFACES_TD
