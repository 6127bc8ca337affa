//===- EmitProgram.cpp - cuda-emit-program --------------------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "dialects/cuda/CudaDialect.h"
#include "dialects/ingot/ElementTypes.h"
#include "dialects/ingot/IngotDialect.h"
#include "dialects/nn/NodeName.h"
#include "ingot/abi/cuda.h"
#include "passes/cuda/Passes.h"
#include "passes/cuda/emit/ProgramRecord.h"
#include "passes/cuda/emit/Ptx.h"
#include "passes/cuda/emit/Ptxas.h"
#include "passes/support/LibraryCalls.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

namespace ingot {
#define GEN_PASS_DEF_EMITPROGRAM
#include "passes/cuda/Passes.h.inc"
} // namespace ingot

using namespace mlir;
using namespace ingot;
using namespace ingot::cuda;

// The functions of ingot/abi/cuda.h.
static constexpr StringLiteral kLoad = "ingot_cuda_load";
static constexpr StringLiteral kUnload = "ingot_cuda_unload";
static constexpr StringLiteral kProgram = "ingot_cuda_program";

namespace {

/// Builds constants that are structs of numbers and addresses.
class ConstantBuilder {
public:
  ConstantBuilder(ModuleOp module)
      : b(OpBuilder::atBlockBegin(module.getBody())), loc(module.getLoc()) {}

  /// A number of 4 or 8 bytes, or the address of a global.
  struct Field {
    unsigned bits;
    uint64_t number = 0;
    std::string symbol = "";
  };
  static Field i32(uint64_t number) { return {32, number, ""}; }
  static Field i64(uint64_t number) { return {64, number, ""}; }
  static Field address(StringRef symbol) { return {64, 0, symbol.str()}; }

  /// Adds a constant global with `text` and a null character.
  void addText(StringRef name, StringRef text);
  /// Adds a constant global: an array of structs with equal types of fields.
  void addTable(StringRef name, ArrayRef<SmallVector<Field>> rows);

private:
  OpBuilder b;
  Location loc;
};

struct EmitProgramPass : ingot::impl::EmitProgramBase<EmitProgramPass> {
  using EmitProgramBase::EmitProgramBase;
  void runOnOperation() override;
  /// Adds the table of kernels. Returns their number.
  uint64_t addKernels(ConstantBuilder &constants, ModuleOp kernels);
  /// Adds the messages of checks. Returns their number.
  uint64_t addChecks(ConstantBuilder &constants);
  /// Makes machine code for each level, if there is a ptxas.
  LogicalResult addCubins(Images &images);
};

} // namespace

void ConstantBuilder::addText(StringRef name, StringRef text) {
  std::string ended = text.str() + '\0';
  LLVM::GlobalOp::create(
      b, loc, LLVM::LLVMArrayType::get(b.getI8Type(), unsigned(ended.size())),
      /*isConstant=*/true, LLVM::Linkage::Internal, name,
      b.getStringAttr(ended));
}

void ConstantBuilder::addTable(StringRef name,
                               ArrayRef<SmallVector<Field>> rows) {
  auto pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types;
  if (!rows.empty())
    for (const Field &field : rows.front())
      types.push_back(field.symbol.empty() ? Type(b.getIntegerType(field.bits))
                                           : Type(pointer));
  Type row = LLVM::LLVMStructType::getLiteral(b.getContext(), types);
  Type type = LLVM::LLVMArrayType::get(row, unsigned(rows.size()));
  auto global =
      LLVM::GlobalOp::create(b, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name, Attribute());
  OpBuilder::InsertionGuard guard(b);
  b.createBlock(&global.getInitializerRegion());
  Value table = LLVM::UndefOp::create(b, loc, type);
  for (auto [i, fields] : llvm::enumerate(rows))
    for (auto [j, field] : llvm::enumerate(fields)) {
      Value value;
      if (field.symbol.empty())
        value = LLVM::ConstantOp::create(
            b, loc, types[j],
            b.getIntegerAttr(types[j], int64_t(field.number)));
      else
        value = LLVM::AddressOfOp::create(b, loc, pointer, field.symbol);
      table = LLVM::InsertValueOp::create(
          b, loc, table, value, ArrayRef<int64_t>{int64_t(i), int64_t(j)});
    }
  LLVM::ReturnOp::create(b, loc, table);
}

uint64_t EmitProgramPass::addKernels(ConstantBuilder &constants,
                                     ModuleOp kernels) {
  SmallVector<SmallVector<ConstantBuilder::Field>> rows;
  for (auto kernel : kernels.getOps<LLVM::LLVMFuncOp>()) {
    BlockAttr block =
        CudaDialect::BlockAttrHelper(&getContext()).getAttr(kernel);
    if (!block)
      continue;
    const std::string suffix = std::to_string(rows.size());
    const std::string name = "ingot_cuda_kernel_" + suffix;
    const std::string node = "ingot_cuda_node_" + suffix;
    constants.addText(name, kernel.getName());
    constants.addText(node, nodeNameOf(kernel.getLoc()));
    rows.push_back({ConstantBuilder::address(name),
                    ConstantBuilder::address(node),
                    ConstantBuilder::i32(uint64_t(block.getThreads())),
                    ConstantBuilder::i32(uint64_t(block.getShared())),
                    ConstantBuilder::i32(kernel.getNumArguments()),
                    ConstantBuilder::i32(0)});
  }
  constants.addTable("ingot_cuda_kernel_table", rows);
  return rows.size();
}

uint64_t EmitProgramPass::addChecks(ConstantBuilder &constants) {
  SmallVector<SmallVector<ConstantBuilder::Field>> rows;
  CudaDialect::ChecksAttrHelper helper(&getContext());
  if (ArrayAttr messages = helper.getAttr(getOperation()))
    for (auto message : messages.getAsRange<StringAttr>()) {
      const std::string name =
          "ingot_cuda_check_" + std::to_string(rows.size());
      constants.addText(name, message);
      rows.push_back({ConstantBuilder::address(name)});
    }
  constants.addTable("ingot_cuda_checks", rows);
  return rows.size();
}

/// Returns the sizes of the tensors in bytes.
static SmallVector<uint64_t> bytesOf(ArrayAttr tensors) {
  SmallVector<uint64_t> bytes;
  for (auto tensor : tensors.getAsRange<TensorAttr>()) {
    RankedTensorType type = tensor.getType();
    if (elementNumberOf(type.getElementType()) == INGOT_ABI_STRING) {
      bytes.push_back(INGOT_CUDA_STRINGS);
      continue;
    }
    if (!type.hasStaticShape()) {
      bytes.push_back(INGOT_CUDA_OPEN);
      continue;
    }
    bytes.push_back(
        llvm::divideCeil(uint64_t(type.getNumElements()) *
                             (type.getElementType().isInteger(1)
                                  ? 8
                                  : uint64_t(type.getElementTypeBitWidth())),
                         8));
  }
  return bytes;
}

LogicalResult EmitProgramPass::addCubins(Images &images) {
  if (cubins.empty())
    return success();
  Location loc = getOperation().getLoc();
  const Ptxas program{findPtxas(ptxas)};
  if (program.path.empty()) {
    emitRemark(loc) << "there is no ptxas, so the GPU's driver compiles the "
                       "kernels when the model is loaded";
    return success();
  }
  FailureOr<std::string> version = program.version(loc);
  if (failed(version))
    return failure();
  images.ptxas = std::move(*version);
  for (unsigned one : cubins) {
    FailureOr<Cubin> cubin = program.assemble(loc, images.ptx, one);
    if (failed(cubin))
      return failure();
    images.cubins.push_back(std::move(*cubin));
  }
  return success();
}

void EmitProgramPass::runOnOperation() {
  ModuleOp module = getOperation();
  auto kernels = module.lookupSymbol<ModuleOp>(kKernels);
  if (!kernels)
    return;
  FailureOr<std::string> ptx = translateToPtx(kernels, level);
  if (failed(ptx))
    return signalPassFailure();
  using Field = ConstantBuilder::Field;
  ConstantBuilder constants(module);
  auto addSizes = [&](StringRef name, ArrayRef<uint64_t> sizes) {
    SmallVector<SmallVector<Field>> rows;
    for (uint64_t size : sizes)
      rows.push_back({ConstantBuilder::i64(size)});
    constants.addTable(name, rows);
  };
  auto addRanks = [&](StringRef name, ArrayAttr tensors) {
    SmallVector<SmallVector<Field>> rows;
    for (auto tensor : tensors.getAsRange<TensorAttr>())
      rows.push_back(
          {ConstantBuilder::i32(uint32_t(tensor.getType().getRank()))});
    constants.addTable(name, rows);
  };
  auto sizeIn = [&](auto helper) {
    IntegerAttr attr = helper.getAttr(module);
    return ConstantBuilder::i64(attr ? uint64_t(attr.getInt()) : 0);
  };
  MLIRContext *context = &getContext();
  SmallVector<uint64_t> inputs =
      bytesOf(IngotDialect::InputsAttrHelper(context).getAttr(module));
  SmallVector<uint64_t> outputs =
      bytesOf(IngotDialect::OutputsAttrHelper(context).getAttr(module));
  Images code;
  code.ptx = std::move(*ptx);
  code.ptxLevel = level;
  if (failed(addCubins(code)))
    return signalPassFailure();
  recordProgram(module, kernels, code);
  constants.addText("ingot_cuda_ptx", code.ptx);
  SmallVector<SmallVector<Field>> images;
  for (const Cubin &cubin : code.cubins) {
    const std::string name = "ingot_cuda_cubin_" + std::to_string(cubin.level);
    constants.addText(name, cubin.bytes);
    images.push_back({ConstantBuilder::i32(INGOT_CUDA_CUBIN),
                      ConstantBuilder::i32(cubin.level),
                      ConstantBuilder::address(name),
                      ConstantBuilder::i64(cubin.bytes.size())});
  }
  const uint64_t numKernels = addKernels(constants, kernels);
  const uint64_t numChecks = addChecks(constants);
  addSizes("ingot_cuda_input_bytes", inputs);
  addSizes("ingot_cuda_output_bytes", outputs);
  addRanks("ingot_cuda_input_ranks",
           IngotDialect::InputsAttrHelper(context).getAttr(module));
  addRanks("ingot_cuda_output_ranks",
           IngotDialect::OutputsAttrHelper(context).getAttr(module));
  images.push_back({ConstantBuilder::i32(INGOT_CUDA_PTX),
                    ConstantBuilder::i32(level),
                    ConstantBuilder::address("ingot_cuda_ptx"),
                    ConstantBuilder::i64(code.ptx.size() + 1)});
  constants.addTable("ingot_cuda_images", images);
  SmallVector<Field> program{
      ConstantBuilder::i32(sizeof(ingot_cuda_program)),
      ConstantBuilder::i32(images.size()),
      ConstantBuilder::address("ingot_cuda_images"),
      ConstantBuilder::address("ingot_cuda_kernel_table"),
      ConstantBuilder::i32(numKernels),
      ConstantBuilder::i32(inputs.size()),
      ConstantBuilder::i32(outputs.size()),
      ConstantBuilder::i32(firstLayer),
      ConstantBuilder::i64(weightsOffset),
      sizeIn(IngotDialect::WeightsBytesAttrHelper(context)),
      sizeIn(IngotDialect::ArenaBytesAttrHelper(context)),
      ConstantBuilder::address("ingot_cuda_input_bytes"),
      ConstantBuilder::address("ingot_cuda_output_bytes"),
      ConstantBuilder::address("ingot_cuda_input_ranks"),
      ConstantBuilder::address("ingot_cuda_output_ranks"),
      ConstantBuilder::address("ingot_cuda_checks"),
      ConstantBuilder::i32(numChecks),
      ConstantBuilder::i32(0)};
  constants.addTable(kProgram, {program});
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  auto pointer = LLVM::LLVMPointerType::get(context);
  support::createForward(b, module.getLoc(), kLoadSymbol, kLoad,
                         LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer}),
                         {kProgram});
  support::createForward(
      b, module.getLoc(), kUnloadSymbol, kUnload,
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context),
                                  {pointer, pointer}),
      {});
  IngotDialect::LibrariesAttrHelper(context).setAttr(
      module, ArrayAttr::get(context, LibraryAttr::get(context, kLibrary,
                                                       /*ownThreads=*/false)));
  kernels.erase();
}
