//===- RecordSchedule.cpp - schedules in the decision trace ---------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "passes/cpu/schedule/RecordSchedule.h"

#include "passes/backend/Policy.h"
#include "passes/cpu/schedule/PairCosts.h"
#include "passes/support/Shapes.h"

#include "mlir/Interfaces/DestinationStyleOpInterface.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace ingot;
using namespace ingot::cpu;

static std::string sizeText(int64_t rows, int64_t columns) {
  return std::to_string(rows) + "x" + std::to_string(columns);
}

static std::string describeTile(TileAttr tile) {
  std::string text = stringifyProduct(tile.getProduct()).str() + " tiles of " +
                     sizeText(tile.getRows(), tile.getColumns());
  if (int64_t rows = tile.getAmxRows())
    text += " in AMX tiles of " + std::to_string(rows) + " rows";
  return text;
}

/// Returns a schedule as a list of its parts.
static std::string describe(ScheduleAttr schedule) {
  SmallVector<std::string> parts;
  if (TileAttr tile = schedule.getTile())
    parts.push_back(describeTile(tile));
  if (TileAttr scores = schedule.getScores())
    parts.push_back("scores by " + describeTile(scores));
  if (GridAttr grid = schedule.getGrid()) {
    parts.push_back("tasks of " + sizeText(grid.getRows(), grid.getTiles()));
    if (int64_t blocks = grid.getRowBlocks())
      parts.push_back("at most " + std::to_string(blocks) + " blocks of rows");
  }
  if (int64_t outputs = schedule.getWinograd())
    parts.push_back("winograd " + sizeText(outputs, outputs));
  if (schedule.getAcrossRows())
    parts.push_back("tiles across rows");
  if (int64_t groups = schedule.getDepthBlock())
    parts.push_back("weights in blocks of " + std::to_string(groups) +
                    " groups");
  if (int64_t tiles = schedule.getTileBlock())
    parts.push_back("blocks of " + std::to_string(tiles) + " tiles");
  if (schedule.getPrefetch())
    parts.push_back("prefetch");
  return llvm::join(parts, ", ");
}

/// Returns the properties of the op that decided its schedule.
static std::string reasonOf(ScheduledOpInterface op) {
  auto styled = dyn_cast<DestinationStyleOpInterface>(op.getOperation());
  if (!styled || styled.getNumDpsInits() == 0)
    return "is a kernel";
  ArrayRef<int64_t> dst = support::shapeOf(styled.getDpsInits().front());
  if (dst.empty())
    return "computes one element";
  int64_t rows = support::productOf(dst.drop_back());
  auto count = [](int64_t size, const std::string &noun) {
    return (ShapedType::isDynamic(size) ? "an open number of"
                                        : std::to_string(size)) +
           " " + noun + (size == 1 ? "" : "s");
  };
  return "computes " + count(rows, "row") + " of " +
         count(dst.back(), "column");
}

void cpu::recordSchedule(ScheduledOpInterface op) {
  if (!isRecorded(op))
    return;
  record(op, Question::schedule, describe(op.getScheduleAttr()), reasonOf(op),
         weighProducts(op));
}
