//===- Machine.h - blocks and warps that execute kernels --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch keeps some blocks resident and runs their warps in turns that a seed
// draws. A warp executes an instruction for all lanes that are at the lowest
// position. A seed lets other lanes go first now and then.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_MACHINE_H
#define INGOT_TOOLS_EMUGPU_MACHINE_H

#include "tools/emugpu/Memory.h"
#include "tools/emugpu/Ptx.h"

#include <deque>
#include <functional>
#include <memory>
#include <random>

namespace emugpu {

constexpr unsigned kLanes = 32;
/// A bit per lane.
using Mask = uint32_t;
constexpr Mask kAllLanes = ~Mask(0);

struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// A fault of a kernel. Ends the launch.
struct KernelFault {
  std::string text;
};

class Warp;
class Block;
class Launch;
struct Instruction;

/// Executes an instruction for some lanes.
using Execute = void (*)(Warp &, const Instruction &, Mask);

/// A decoded instruction.
struct Instruction {
  const Statement *source = nullptr;
  Execute execute = nullptr;
  Type type = Type::none, type2 = Type::none;
  Space space = Space::generic;
  /// The number of elements of a vector access, or of matrices.
  uint8_t count = 1;
  /// A further choice of the opcode; each decoder gives it a meaning.
  uint8_t mode = 0, mode2 = 0;
  bool isVolatile = false;
  /// True if all lanes of the mask must execute the instruction together.
  bool isCollective = false;
  const Operand &operand(size_t i) const { return source->operands[i]; }
  size_t numOperands() const { return source->operands.size(); }
};

/// A kernel that can be launched.
struct Program {
  const Kernel *kernel = nullptr;
  std::vector<Instruction> code;
};

/// Decodes a kernel. Returns "" or a message with the line of an instruction
/// that is unknown.
std::string decode(const Kernel &kernel, unsigned target, Program &program);

/// The choices of a launch.
struct LaunchOptions {
  /// Determines the order of blocks, warps and completions.
  uint64_t seed = 0;
  /// Looks for races and for reads of undefined memory.
  bool isChecked = true;
  /// The most instructions of all warps together.
  uint64_t mostInstructions = uint64_t(1) << 40;
};

/// Counts of a launch.
struct LaunchCounts {
  uint64_t instructions = 0, matrixProducts = 0, blocks = 0;
};

/// Orders segments of earlier launches, copies and host accesses: returns true
/// if the work that owns `segment` has ended before the current work began.
using EndedBefore = std::function<bool(Segment segment)>;

/// Executes `program`. Takes segments from `nextSegment` on. Throws a
/// KernelFault.
LaunchCounts launch(const Program &program, Dimensions grid, Dimensions block,
                    unsigned dynamicShared,
                    const std::vector<uint8_t> &parameters,
                    DeviceMemory &memory, const LaunchOptions &options,
                    Segment &nextSegment, const EndedBefore &endedBefore);

/// Bytes of a copy to shared memory that is under way.
struct AsyncCopy {
  uint32_t target;
  uint8_t bytes;
  uint8_t data[16];
};

/// The copies of one lane that were committed together.
using CopyGroup = std::vector<AsyncCopy>;

/// A lane of a warp.
struct Lane {
  CopyGroup open;
  std::deque<CopyGroup> groups;
  /// The highest clock of each thread of the block that this lane is ordered
  /// behind, plus 1; empty if only full barriers order it.
  std::vector<uint32_t> known;
  /// Releases that a fence will acquire.
  std::vector<uint64_t> loosely;
  bool hasFenced = false;
};

/// A warp of a block.
class Warp {
public:
  Warp(Block &block, unsigned number, unsigned numLanes);

  /// Executes up to `most` instructions. Returns how many.
  uint64_t run(uint64_t most);
  bool isDone() const { return !live; }
  /// Returns true if some lane can execute its next instruction.
  bool canRun() const { return ready() != 0; }

  // Operands.
  const uint64_t *read(const Operand &operand, uint64_t *buffer);
  Mask readPredicate(const Operand &operand);
  void write(const Operand &operand, const uint64_t *values, Mask mask);
  void writePredicate(const Operand &operand, Mask values, Mask mask);

  // Memory. The functions return the host's bytes of an access.
  uint8_t *access(Space space, uint64_t address, unsigned bytes, bool isWrite,
                  unsigned lane, bool isAtomic = false);

  // Control.
  void jump(int32_t target, Mask mask);
  void exit(Mask mask);
  /// Blocks the lanes of `mask` at the current instruction until all of
  /// `members` are there. Returns true once they are; `mask` is then all of
  /// them.
  bool gather(Mask members, Mask &mask);

  // Asynchronous copies.
  void startCopy(unsigned lane, const AsyncCopy &copy);
  void commitCopies(Mask mask);
  /// Completes all groups but the last `pending`.
  void waitCopies(Mask mask, size_t pending);

  // Order.
  void releaseLanes(Mask mask);

  [[noreturn]] void fault(const std::string &text, int lane = -1) const;

  Block &block;
  const unsigned number;
  /// The lanes that have not exited, that wait at a barrier, and that wait for
  /// others at a collective.
  Mask live, atBarrier = 0, atCollective = 0;
  Lane lanes[kLanes];
  /// The index of the next instruction of each lane.
  int32_t position[kLanes] = {};
  /// The instruction that is executed.
  const Instruction *current = nullptr;
  /// Rises with each synchronization of the warp.
  uint32_t clock = 1;
  /// The highest clock of each lane of this warp that a lane is ordered
  /// behind, plus 1: [lane][other].
  uint32_t knows[kLanes][kLanes] = {};
  /// The segment of the current clock; 0 if none was taken.
  Segment segment = 0;

private:
  Mask ready() const { return live & ~atBarrier & ~atCollective; }
  Mask pickLanes();
  void finishCopies(unsigned lane, CopyGroup &group);
  void step(Mask mask);

  /// The lanes for which the current instruction is done.
  Mask executed = 0;
  std::vector<uint64_t> registers;
  std::vector<Mask> predicates;
  std::vector<uint8_t> localMemory;
  std::vector<uint8_t> localDefined;
  bool isConverged = true;
};

/// A barrier of a block.
struct Barrier {
  /// The threads that have arrived, and how many must; 0 stands for all.
  uint32_t arrived = 0, expected = 0;
  /// The lanes of each warp that wait, and those that only have arrived.
  std::vector<Mask> waiting, passing;
};

/// An mbarrier object in shared memory.
struct MBarrier {
  uint32_t count = 0, pending = 0, phase = 0;
  std::vector<uint32_t> arriving, completed;
};

/// A resident block.
class Block {
public:
  Block(Launch &launch, Dimensions index, uint64_t number);

  bool isDone() const;
  /// Runs the warps once. Returns the number of executed instructions.
  uint64_t run();
  unsigned numThreads() const;

  // Barriers.
  void arrive(Warp &warp, Mask mask, unsigned barrier, unsigned expected,
              bool waits);
  /// Ends barriers that wait only for lanes that have exited.
  void threadsExited();
  MBarrier &mbarrierAt(Warp &warp, uint32_t address);
  void arriveAt(Warp &warp, unsigned lane, MBarrier &barrier);

  // Order of accesses.
  void check(Warp &warp, unsigned lane, Memory &memory, uint64_t offset,
             unsigned bytes, bool isWrite, bool isAtomic, const char *name);
  Segment segmentOf(Warp &warp);
  std::vector<uint32_t> knowledgeOf(const Warp &warp, unsigned lane) const;
  void learn(Warp &warp, unsigned lane, const std::vector<uint32_t> &known);

  Launch &launch;
  const Dimensions index;
  const uint64_t number;
  /// Rises with each barrier of all threads.
  uint32_t epoch = 1;
  Memory shared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::map<unsigned, Barrier> barriers;
  std::map<uint32_t, MBarrier> mbarriers;

private:
  void complete(Barrier &barrier, unsigned id);
  void noteReader(const Warp &warp, unsigned lane, Cell &cell, Segment segment);
  bool isOrdered(const Warp &warp, unsigned lane, Segment segment,
                 unsigned otherLane) const;
  std::string describe(Segment segment, unsigned lane) const;
};

/// A running kernel.
class Launch {
public:
  /// The owner of a segment.
  struct Owner {
    uint64_t block;
    uint32_t warp, epoch, clock;
    unsigned line;
  };

  Launch(const Program &program, Dimensions grid, Dimensions blockSize,
         unsigned dynamicShared, const std::vector<uint8_t> &parameters,
         DeviceMemory &memory, const LaunchOptions &options,
         const EndedBefore &endedBefore, Segment firstSegment)
      : program(program), grid(grid), blockSize(blockSize),
        dynamicShared(dynamicShared), parameters(parameters), memory(memory),
        options(options), endedBefore(endedBefore), random(options.seed),
        firstSegment(firstSegment) {}

  const Program &program;
  Dimensions grid, blockSize;
  unsigned dynamicShared;
  const std::vector<uint8_t> &parameters;
  DeviceMemory &memory;
  const LaunchOptions &options;
  const EndedBefore &endedBefore;
  std::mt19937_64 random;
  LaunchCounts counts;
  /// The first segment of this launch, and the owners from there on.
  Segment firstSegment;
  std::vector<Owner> owners;
  /// The readers of a cell that several unordered lanes read.
  struct Readers {
    struct OfWarp {
      uint32_t warp, epoch, clock;
      Mask lanes;
      Segment segment;
    };
    std::vector<OfWarp> reads;
    /// True if lanes of several blocks read the cell. `reads` is empty then.
    bool areManyBlocks = false;
  };
  std::vector<Readers> readers{1};
  /// Rises with everything that can end the waiting of a lane, and with each
  /// look of a lane that waits.
  uint64_t progress = 0, polls = 0;
  /// The knowledge that atomics and fences published, by address.
  struct Published {
    uint64_t block;
    uint32_t epoch;
    std::vector<uint32_t> known;
  };
  std::map<uint64_t, std::vector<Published>> published;
  /// Blocks whose work up to an epoch is known to a block: (knower, known).
  std::map<std::pair<uint64_t, uint64_t>, Published> acquired;
};

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_MACHINE_H
