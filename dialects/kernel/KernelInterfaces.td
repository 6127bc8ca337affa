//===- KernelInterfaces.td - interfaces of kernel ops ------*- tablegen -*-===//
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
    An op that one kernel of any backend computes, with the facts that profiles
    and reports show.
  }];
  let cppNamespace = "::ingot::kernel";
  let methods = [
    InterfaceMethod<
      "Returns the backend that computes the op: by default the dialect's.",
      "::llvm::StringRef", "getBackend", (ins), [{}],
      [{ return $_op->getName().getDialectNamespace(); }]>,
    InterfaceMethod<[{
        Returns true if the weights of the artifact must contain the constant
        operands unchanged, because code that loads the model reads them there.
      }],
      "bool", "readsStoredConstants", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Returns true if the op becomes a launch of tasks. A launch without
        tasks, as for an empty result, accesses no buffer.
      }],
      "bool", "isLaunched", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<
      "Returns how a batch is split into images that are computed separately.",
      "::ingot::kernel::ImageSplit", "getImageSplit", (ins), [{}],
      [{ return {}; }]>,
    InterfaceMethod<
      "Returns the class of the op, for the precision of its result.",
      "::ingot::kernel::KernelClass", "getKernelClass", (ins), [{}],
      [{ return ::ingot::kernel::KernelClass::other; }]>,
    InterfaceMethod<
      "Returns true if the op reads only f32, except in its epilogue.",
      "bool", "readsOnlyF32", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<
      "Returns the kind of the op, as profiles show it.",
      "::llvm::StringRef", "getKernelKind", (ins), [{}],
      [{ return $_op->getName().stripDialect(); }]>,
    InterfaceMethod<
      "Returns the element type of its products; null if it has none.",
      "::mlir::Type", "getProductType", (ins), [{}], [{ return {}; }]>,
    InterfaceMethod<
      "Returns the bits of a weight if weights are quantized in blocks to few "
      "bits, else 0.",
      "int64_t", "getWeightBits", (ins), [{}], [{ return 0; }]>,
    InterfaceMethod<[{
        Returns the number of arithmetic operations, as a product. A
        multiply-add counts as two. The epilogue does not count.
      }],
      "::ingot::kernel::Work", "getWork", (ins)>];
}

def EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let description = [{
    A kernel with an epilogue: a region that computes the stored value from each
    element of the result. Its block has an argument for the element, then one
    for each epilogue operand, and its terminator has the value to store.
    Epilogue operands have the rank of the result and broadcast to it.
  }];
  let cppNamespace = "::ingot::kernel";
  let methods = [
    InterfaceMethod<"The region.", "::mlir::Region &", "getEpilogue">,
    InterfaceMethod<"The operands that the region reads.",
                    "::mlir::OperandRange", "getEpilogueOperands">,
    InterfaceMethod<"The mutable range of these operands.",
                    "::mlir::MutableOperandRange",
                    "getEpilogueOperandsMutable">,
    StaticInterfaceMethod<
      "Returns true if an epilogue can read and store elements of the type.",
      "bool", "canEpilogueRead", (ins "::mlir::Type":$element)>,
  ];
}

def LaunchOpInterface : OpInterface<"LaunchOpInterface"> {
  let description = [{
    An op that starts the tasks of a kernel, which is a function of the module,
    and waits for all of them.
  }];
  let cppNamespace = "::ingot::kernel";
}

#endif // INGOT_DIALECTS_KERNEL_KERNELINTERFACES_TD
