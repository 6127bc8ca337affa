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
      "The name of the backend that computes it: by default the dialect's.",
      "::llvm::StringRef", "getBackend", (ins), [{}],
      [{ return $_op->getName().getDialectNamespace(); }]>,
    InterfaceMethod<[{
        Whether its constant operands must lie in the artifact's weights, as
        they are: code that loads the model reads them there.
      }],
      "bool", "readsStoredConstants", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<[{
        Whether it becomes a launch of tasks. Without tasks, as for an empty
        result, a launch touches no buffer.
      }],
      "bool", "isLaunched", (ins), [{}], [{ return false; }]>,
    InterfaceMethod<
      "How a batch is split into pictures that are computed by themselves.",
      "::ingot::kernel::PictureSplit", "getPictureSplit", (ins), [{}],
      [{ return {}; }]>,
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

def EpilogueOpInterface : OpInterface<"EpilogueOpInterface"> {
  let description = [{
    A kernel with an epilogue: a region that computes what is stored of each
    element of the result. Its block has an argument for the element, then one
    for each epilogue operand, and its terminator has the value to store.
    Epilogue operands have the rank of the result and broadcast to it.
  }];
  let cppNamespace = "::ingot::kernel";
  let methods = [
    InterfaceMethod<"The region.", "::mlir::Region &", "getEpilogue">,
    InterfaceMethod<"The operands that the region reads.",
                    "::mlir::OperandRange", "getEpilogueOperands">,
    InterfaceMethod<"The same, to be changed.", "::mlir::MutableOperandRange",
                    "getEpilogueOperandsMutable">,
    StaticInterfaceMethod<
      "Whether an epilogue reads and stores elements of a type.",
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
