//===- Machine.h - blocks and warps that execute kernels --------*- C++ -*-===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A launch keeps some blocks resident and runs their warps in turns, in a
// random order that a seed determines. A warp executes an instruction for all
// lanes at the lowest position. With a seed, other lanes sometimes go first.
//
//===----------------------------------------------------------------------===//
#ifndef INGOT_TOOLS_EMUGPU_MACHINE_H
#define INGOT_TOOLS_EMUGPU_MACHINE_H

#include "tools/emugpu/Memory.h"
#include "tools/emugpu/Ptx.h"

#include <functional>
#include <memory>
#include <random>

namespace emugpu {

constexpr unsigned kLanes = 32;
/// A set of lanes, one bit per lane.
using Mask = uint32_t;
constexpr Mask kAllLanes = ~Mask(0);

struct Dimensions {
  unsigned x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t(x) * y * z; }
};

/// An error of a kernel, which ends the launch.
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
  /// The number of elements of a vector access, or the number of matrices.
  uint8_t count = 1;
  /// Other choices that the opcode makes. Each decoder defines their meaning.
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

/// Decodes a kernel. Returns "", or a message with the line of an unknown
/// instruction.
std::string decode(const Kernel &kernel, unsigned target, Program &program);

/// Options of a launch.
struct LaunchOptions {
  /// Determines the order of blocks, of warps and of completions.
  uint64_t seed = 0;
  /// True to detect races and reads of undefined memory.
  bool isChecked = true;
  /// The most instructions that all warps together may execute.
  uint64_t mostInstructions = uint64_t(1) << 40;
};

/// Numbers that a launch counts.
struct LaunchCounts {
  uint64_t instructions = 0, matrixProducts = 0, blocks = 0;
};

/// Returns true if the work that owns `segment` ended before the current work
/// began. `segment` belongs to an earlier launch, a copy or a host access.
using EndedBefore = std::function<bool(Segment segment)>;

/// Executes `program`. Uses segments from `nextSegment` on. Throws a
/// KernelFault if the kernel fails.
LaunchCounts launch(const Program &program, Dimensions grid, Dimensions block,
                    unsigned dynamicShared,
                    const std::vector<uint8_t> &parameters,
                    DeviceMemory &memory, const LaunchOptions &options,
                    Segment &nextSegment, const EndedBefore &endedBefore);

/// A copy of bytes to shared memory that is not complete yet.
struct AsyncCopy {
  uint32_t target;
  /// The number of the lane's group that the copy is in.
  uint32_t group;
  uint8_t bytes;
  uint8_t data[16];
};

/// A lane of a warp.
struct Lane {
  /// The copies that the lane has not waited for, the oldest first.
  std::vector<AsyncCopy> copies;
  /// The number of groups that the lane has committed.
  uint32_t committed = 0;
  /// For each thread of the block, the highest clock that this lane is ordered
  /// after, plus 1. Empty if only full barriers order the lane.
  std::vector<uint32_t> known;
  /// Releases that a later fence will acquire.
  std::vector<uint64_t> loosely;
  bool hasFenced = false;
};

/// Returns a number as 0x and its digits.
std::string hexadecimal(uint64_t value);

/// A warp of a block.
class Warp {
public:
  Warp(Block &block, unsigned number, unsigned numLanes);

  /// Executes at most `most` instructions. Returns the number of executed ones.
  uint64_t run(uint64_t most);
  bool isDone() const { return !live; }
  /// Returns true if at least one lane can execute its next instruction.
  bool canRun() const { return ready() != 0; }

  // Operands.
  const uint64_t *read(const Operand &operand, uint64_t *buffer);
  Mask readPredicate(const Operand &operand);
  void write(const Operand &operand, const uint64_t *values, Mask mask);
  void writePredicate(const Operand &operand, Mask values, Mask mask);

  // Functions for memory accesses. Each returns the accessed bytes on the host.
  uint8_t *access(Space space, uint64_t address, unsigned bytes, bool isWrite,
                  unsigned lane, bool isAtomic = false);

  // Control.
  void jump(int32_t target, Mask mask);
  void exit(Mask mask);
  /// Blocks the lanes of `mask` at the current instruction until all `members`
  /// have arrived. Returns true when they have; `mask` is then all members.
  bool gather(Mask members, Mask &mask);

  // Asynchronous copies.
  void startCopy(unsigned lane, AsyncCopy copy);
  void commitCopies(Mask mask);
  /// Completes all groups except the last `pending` groups.
  void waitCopies(Mask mask, size_t pending);

  // Order.
  void releaseLanes(Mask mask);

  [[noreturn]] void fault(const std::string &text, int lane = -1) const;

  Block &block;
  const unsigned number;
  /// The lanes that have not exited, the lanes that wait at a barrier, and the
  /// lanes that wait for others at a collective.
  Mask live, atBarrier = 0, atCollective = 0;
  Lane lanes[kLanes];
  /// The index of the next instruction of each lane.
  int32_t position[kLanes] = {};
  /// The instruction that is being executed.
  const Instruction *current = nullptr;
  /// Increases with each synchronization of the warp.
  uint32_t clock = 1;
  /// Element [lane][other] is 1 plus a clock of lane `other`. All that `other`
  /// did up to this clock happened before the next step of `lane`.
  uint32_t knows[kLanes][kLanes] = {};
  /// The segment of the current clock; 0 if none is assigned yet.
  Segment segment = 0;

private:
  Mask ready() const { return live & ~atBarrier & ~atCollective; }
  Mask pickLanes();
  void finishCopy(unsigned lane, const AsyncCopy &copy);
  void step(Mask mask);

  /// The lanes that have executed the current instruction.
  Mask executed = 0;
  std::vector<uint64_t> registers;
  std::vector<Mask> predicates;
  std::vector<uint8_t> localMemory;
  std::vector<uint8_t> localDefined;
  bool isConverged = true;
};

/// A barrier of a block.
struct Barrier {
  /// The number of threads that have arrived, and the number that must arrive.
  /// An expected number of 0 means all threads.
  uint32_t arrived = 0, expected = 0;
  /// For each warp, the lanes that wait, and the lanes that have arrived
  /// without waiting.
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
  /// Runs each warp for a turn. Returns the number of executed instructions.
  uint64_t run();
  unsigned numThreads() const;

  // Barriers.
  void arrive(Warp &warp, Mask mask, unsigned barrier, unsigned expected,
              bool waits);
  /// Completes barriers whose missing lanes have all exited.
  void threadsExited();
  MBarrier &mbarrierAt(Warp &warp, uint32_t address);
  void arriveAt(Warp &warp, unsigned lane, MBarrier &barrier);

  // Order of accesses.
  void check(Warp &warp, unsigned lane, Memory &memory, uint64_t offset,
             unsigned bytes, bool isWrite, bool isAtomic, const char *name);
  /// Checks and records an access to a cell if that needs no search. If it
  /// returns false, `check` must be called.
  bool checkQuickly(Segment segment, unsigned lane, Cell &cell, bool isWrite);
  Segment segmentOf(Warp &warp);
  std::vector<uint32_t> knowledgeOf(const Warp &warp, unsigned lane) const;
  void learn(Warp &warp, unsigned lane, const std::vector<uint32_t> &known);

  Launch &launch;
  const Dimensions index;
  const uint64_t number;
  /// Increases with each barrier of all threads.
  uint32_t epoch = 1;
  Memory shared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::map<unsigned, Barrier> barriers;
  std::map<uint32_t, MBarrier> mbarriers;

private:
  /// The number of a cell's set of readers if lanes of several blocks read it.
  static constexpr uint32_t kManyBlocks = 1;
  /// Returns true if all lanes of the block are ordered after `segment`.
  bool isBehind(Segment segment);
  void complete(Barrier &barrier, unsigned id);
  uint32_t newReaders();
  void forgetReaders(Cell &cell);
  void noteReader(const Warp &warp, unsigned lane, Cell &cell, Segment segment);
  bool isOrdered(const Warp &warp, unsigned lane, Segment segment,
                 unsigned otherLane) const;
  std::string describe(Segment segment, unsigned lane) const;

  /// Segments for which isBehind is true, at their number modulo the size.
  static constexpr unsigned kBehind = 64;
  Segment behind[kBehind] = {};
};

/// A running kernel.
class Launch {
public:
  /// The work that a segment stands for: a warp, its clocks, and its line.
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
  /// The first segment of this launch, and the owners of it and all later
  /// segments.
  Segment firstSegment;
  std::vector<Owner> owners;
  /// Lanes of a warp that read a cell.
  struct Readers {
    uint32_t warp, clock;
    Mask lanes;
    Segment segment;
  };
  /// The readers of a cell, if several lanes read it without an order. The
  /// first two sets stand for no such readers, and for several blocks.
  std::vector<std::vector<Readers>> readers{2};
  /// The numbers of sets that no cell uses.
  std::vector<uint32_t> unusedReaders;

  /// Returns true if earlier work ended before this launch began.
  bool hasEnded(Segment segment) {
    Segment &known = ended[segment % kEnded];
    if (known != segment && endedBefore(segment))
      known = segment;
    return known == segment;
  }
  /// `progress` increases with each event that can end a lane's waiting.
  /// `polls` increases each time that a waiting lane polls.
  uint64_t progress = 0, polls = 0;
  /// Clocks that atomics and fences have published, by address.
  struct Published {
    uint64_t block;
    uint32_t epoch;
    std::vector<uint32_t> known;
  };
  std::map<uint64_t, std::vector<Published>> published;
  /// For a pair of blocks (later, earlier): the epoch up to which the work of
  /// `earlier` comes before the next work of `later`.
  std::map<std::pair<uint64_t, uint64_t>, Published> acquired;

private:
  /// Segments of work that has ended, at their number modulo the size.
  static constexpr unsigned kEnded = 1024;
  std::vector<Segment> ended = std::vector<Segment>(kEnded);
};

} // namespace emugpu

#endif // INGOT_TOOLS_EMUGPU_MACHINE_H
