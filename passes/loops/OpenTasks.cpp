//===- OpenTasks.cpp - tasks of loops whose ranges a run says -------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/loops/OpenTasks.h"

#include "passes/support/SkippedBuffers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::loops;

namespace {

/// A loop that a run splits into blocks.
struct SplitLoop {
  Value range, chunk, blocks;
  int64_t least;
};

} // namespace

static Value constantOf(OpBuilder &b, Location loc, int64_t n) {
  return arith::ConstantIndexOp::create(b, loc, n);
}

static Value atLeastOne(OpBuilder &b, Location loc, Value value) {
  return arith::MaxUIOp::create(b, loc, value, constantOf(b, loc, 1));
}

Value loops::sizeOfTask(OpBuilder &b, Location loc, Value rest, Value chunk,
                        int64_t least) {
  if (least == 1)
    return arith::MinSIOp::create(b, loc, rest, chunk);
  Value most = arith::AddIOp::create(b, loc, chunk, constantOf(b, loc, least));
  Value isLast = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, rest,
                                       most);
  return arith::SelectOp::create(b, loc, isLast, rest, chunk);
}

/// Splits the loops into about `tasks` tasks.
static SmallVector<SplitLoop> split(OpBuilder &b, Location loc,
                                    const OpenWork &work, Value tasks) {
  SmallVector<SplitLoop> loops;
  for (const OpenWork::Loop &open : work.loops) {
    SplitLoop loop{open.range, {}, {}, open.least};
    Value grain = constantOf(b, loc, open.grain);
    Value grains = arith::CeilDivUIOp::create(b, loc, open.range, grain);
    Value blocks =
        atLeastOne(b, loc, arith::MinUIOp::create(b, loc, grains, tasks));
    Value perBlock = arith::CeilDivUIOp::create(b, loc, grains, blocks);
    loop.chunk =
        arith::MulIOp::create(b, loc, atLeastOne(b, loc, perBlock), grain);
    Value starts = open.range;
    if (open.least != 1)
      starts = arith::SubIOp::create(
          b, loc,
          arith::MaxUIOp::create(b, loc, starts,
                                 constantOf(b, loc, open.least)),
          constantOf(b, loc, open.least - 1));
    loop.blocks = arith::CeilDivUIOp::create(b, loc, starts, loop.chunk);
    // The number of tasks that remain for the next loop.
    tasks = arith::CeilDivUIOp::create(b, loc, tasks,
                                       atLeastOne(b, loc, loop.blocks));
    loops.push_back(loop);
  }
  return loops;
}

/// Returns the result of `several` if there are several tasks, else the result
/// of `whole`. `whole` avoids dividing the ranges, which may take as long as
/// the work of a single task.
static SmallVector<Value>
ifSeveral(OpBuilder &b, Location loc, Value tasks, ValueRange whole,
          llvm::function_ref<SmallVector<Value>()> several) {
  Value isSeveral = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ugt,
                                          tasks, constantOf(b, loc, 1));
  auto choice = scf::IfOp::create(b, loc, whole.getTypes(), isSeveral,
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(choice.thenBlock());
  scf::YieldOp::create(b, loc, several());
  b.setInsertionPointToStart(choice.elseBlock());
  scf::YieldOp::create(b, loc, whole);
  return SmallVector<Value>(choice.getResults());
}

Value loops::skipEmpty(OpBuilder &b, DestinationStyleOpInterface op,
                       Value tasks) {
  Location loc = op.getLoc();
  Value one = constantOf(b, loc, 1), any;
  for (Value result : op.getDpsInits()) {
    auto type = cast<MemRefType>(result.getType());
    Value holds, skipped = skippedWhen(result);
    if (skipped)
      holds = arith::SelectOp::create(b, loc, skipped, constantOf(b, loc, 0),
                                      one);
    for (auto [d, size] : llvm::enumerate(type.getShape())) {
      if (skipped || (!ShapedType::isDynamic(size) && size != 0))
        continue;
      Value length = b.createOrFold<memref::DimOp>(loc, result, d);
      Value hasSome = arith::MinSIOp::create(b, loc, length, one);
      holds = holds ? arith::MulIOp::create(b, loc, holds, hasSome).getResult()
                    : hasSome;
    }
    if (!holds)
      return tasks;
    any = any ? arith::MaxSIOp::create(b, loc, any, holds).getResult() : holds;
  }
  return any ? arith::MulIOp::create(b, loc, tasks, any).getResult() : tasks;
}

Value OpenTasks::worthOf(OpBuilder &b, Location loc, Value cost) {
  return arith::MinUIOp::create(
      b, loc,
      arith::DivUIOp::create(b, loc, cost,
                             constantOf(b, loc, target.task_flops)),
      constantOf(b, loc, target.most_tasks / 2));
}

func::FuncOp OpenTasks::function(
    StringRef name, const OpenWork &work, bool takesNumber,
    llvm::function_ref<SmallVector<Value>(OpBuilder &, const OpenWork &, Value)>
        build) {
  std::string full = name.str();
  llvm::raw_string_ostream out(full);
  for (const OpenWork::Loop &loop : work.loops)
    out << "." << loop.grain << (loop.least == 1 ? "" : "e");
  func::FuncOp &made = functions[full];
  if (made)
    return made;
  MLIRContext *context = symbols.getOp()->getContext();
  OpBuilder b(context);
  Location loc = b.getUnknownLoc();
  SmallVector<Type> arguments(1 + work.loops.size() + takesNumber,
                              b.getIndexType());
  made = func::FuncOp::create(loc, full, b.getFunctionType(arguments, {}));
  made.setPrivate();
  made->setAttr("llvm.linkage",
                LLVM::LinkageAttr::get(context, LLVM::Linkage::Internal));
  made->setAttr("llvm.readnone", b.getUnitAttr());
  made->setAttr("passthrough",
                b.getStrArrayAttr({"noinline", "nounwind", "willreturn"}));
  Block *body = made.addEntryBlock();
  b.setInsertionPointToStart(body);
  OpenWork inside{body->getArgument(0), work.loops};
  for (auto [i, loop] : llvm::enumerate(inside.loops))
    loop.range = body->getArgument(1 + i);
  SmallVector<Value> results =
      build(b, inside, takesNumber ? body->getArguments().back() : Value());
  func::ReturnOp::create(b, loc, results);
  made.setType(b.getFunctionType(arguments, ValueRange(results).getTypes()));
  symbols.insert(made);
  return made;
}

static SmallVector<Value> argumentsOf(const OpenWork &work) {
  SmallVector<Value> arguments{work.cost};
  for (const OpenWork::Loop &loop : work.loops)
    arguments.push_back(loop.range);
  return arguments;
}

Value OpenTasks::count(OpBuilder &b, Location loc, const OpenWork &work) {
  func::FuncOp callee = function(
      "count_tasks", work, /*takesNumber=*/false,
      [&](OpBuilder &b, const OpenWork &work, Value) -> SmallVector<Value> {
        Location loc = b.getUnknownLoc();
        Value tasks = worthOf(b, loc, work.cost);
        // Makes no task if the cost is 0.
        Value one = arith::MinUIOp::create(b, loc, work.cost,
                                           constantOf(b, loc, 1));
        return ifSeveral(b, loc, tasks, one, [&] {
          Value product = constantOf(b, loc, 1);
          for (const SplitLoop &loop : split(b, loc, work, tasks))
            product = arith::MulIOp::create(b, loc, product, loop.blocks);
          return SmallVector<Value>{product};
        });
      });
  return func::CallOp::create(b, loc, callee, argumentsOf(work)).getResult(0);
}

SmallVector<Value> OpenTasks::partsOf(OpBuilder &b, Location loc,
                                      const OpenWork &work, Value number) {
  func::FuncOp callee = function(
      "part_of_task", work, /*takesNumber=*/true,
      [&](OpBuilder &b, const OpenWork &work, Value number) {
        Location loc = b.getUnknownLoc();
        Value tasks = worthOf(b, loc, work.cost);
        size_t count = work.loops.size();
        SmallVector<Value> whole(count, constantOf(b, loc, 0));
        for (const OpenWork::Loop &loop : work.loops)
          whole.push_back(loop.range);
        return ifSeveral(b, loc, tasks, whole, [&] {
          SmallVector<SplitLoop> loops = split(b, loc, work, tasks);
          SmallVector<Value> parts(2 * count);
          // Maps neighbouring task numbers to neighbouring blocks of the last
          // loop.
          Value left = number;
          for (size_t i = count; i-- > 0;) {
            const SplitLoop &loop = loops[i];
            Value block = left;
            if (i != 0) {
              block = arith::RemUIOp::create(b, loc, left, loop.blocks);
              left = arith::DivUIOp::create(b, loc, left, loop.blocks);
            }
            parts[i] = arith::MulIOp::create(b, loc, block, loop.chunk);
            Value rest = arith::SubIOp::create(b, loc, loop.range, parts[i]);
            parts[count + i] =
                sizeOfTask(b, loc, rest, loop.chunk, loop.least);
          }
          return parts;
        });
      });
  SmallVector<Value> arguments = argumentsOf(work);
  arguments.push_back(number);
  return SmallVector<Value>(
      func::CallOp::create(b, loc, callee, arguments).getResults());
}
