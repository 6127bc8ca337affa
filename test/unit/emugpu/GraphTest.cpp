//===- GraphTest.cpp - graphs on the emulated driver ----------------------===//
//
// Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
#include "test/unit/emugpu/TestProgram.h"

#include <gtest/gtest.h>

#include <string.h>

using namespace emugpu;
using namespace emugpu::test;

namespace {
using Nodes = std::vector<cuda::GraphNode>;

/// A test program with a graph, pinned memory, and kernels that add 1 and 2.
class GraphSession : public Session {
public:
  GraphSession() {
    check(cuGraphCreate(&graph, 0));
    void *memory;
    check(cuMemHostAlloc(&memory, 512, 0));
    input = static_cast<uint32_t *>(memory);
    output = input + 64;
    memcpy(input, words.data(), 256);
    check(cuMemAlloc_v2(&z, 256));
  }

  cuda::KernelNode kernel(cuda::DevicePointer from, cuda::DevicePointer to) {
    held[0] = from;
    held[1] = to;
    return {function, 1, 1,          1,       64,      1,
            1,        0, parameters, nullptr, nullptr, nullptr};
  }
  static cuda::CopyNode upload(cuda::DevicePointer to, const void *from) {
    cuda::CopyNode node = {};
    node.source.type = cuda::memoryHost;
    node.source.host = from;
    node.target.type = cuda::memoryDevice;
    node.target.device = to;
    node.bytes = 256;
    node.height = node.depth = 1;
    return node;
  }
  static cuda::CopyNode download(void *to, cuda::DevicePointer from) {
    cuda::CopyNode node = upload(from, to);
    std::swap(node.source, node.target);
    return node;
  }

  cuda::GraphNode add(const cuda::KernelNode &node, const Nodes &behind) {
    cuda::GraphNode made;
    check(cuGraphAddKernelNode_v2(&made, graph, behind.data(), behind.size(),
                                  &node));
    return made;
  }
  cuda::GraphNode add(const cuda::CopyNode &node, const Nodes &behind) {
    cuda::GraphNode made;
    check(cuGraphAddMemcpyNode(&made, graph, behind.data(), behind.size(),
                               &node, context));
    return made;
  }
  cuda::GraphNode add(const cuda::MemsetNode &node, const Nodes &behind) {
    cuda::GraphNode made;
    check(cuGraphAddMemsetNode(&made, graph, behind.data(), behind.size(),
                               &node, context));
    return made;
  }
  void instantiate() { check(cuGraphInstantiateWithFlags(&exec, graph, 0)); }
  void launchGraph() { check(cuGraphLaunch(exec, stream)); }
  /// Waits, and ends the program with 251 if a word of the output differs.
  void expect(uint32_t value) {
    check(cuStreamSynchronize(stream));
    for (unsigned i = 0; i < 64; ++i)
      if (output[i] != value)
        exit(251);
  }
  void close() {
    check(cuGraphExecDestroy(exec));
    check(cuGraphDestroy(graph));
    check(cuMemFreeHost(input));
    check(cuMemFree_v2(z));
    Session::close();
  }

  cuda::Graph graph;
  cuda::GraphExec exec;
  uint32_t *input, *output;
  cuda::DevicePointer z;

private:
  cuda::DevicePointer held[2];
  void *parameters[2] = {&held[0], &held[1]};
};

constexpr int kFound = 1;

/// Runs a program with all seeds. Returns the number of seeds with which it
/// succeeded without a report.
unsigned countRight(const std::function<void()> &program) {
  unsigned right = 0;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome = run(withSeed(seed), guarded(program));
    right += outcome.code == 0 && outcome.errors.empty();
  }
  return right;
}

void addOneInAGraph() {
  GraphSession p;
  cuda::GraphNode up = p.add(p.upload(p.x, p.input), {});
  cuda::GraphNode run = p.add(p.kernel(p.x, p.y), {up});
  p.add(p.download(p.output, p.y), {run});
  p.instantiate();
  check(cuGraphUpload(p.exec, p.stream));
  for (uint32_t value : {41u, 7u}) {
    for (unsigned i = 0; i < 64; ++i)
      p.input[i] = value;
    p.launchGraph();
    p.expect(value + 1);
  }
  p.close();
}
} // namespace

TEST(Graph, Program) { EXPECT_EQ(countRight(addOneInAGraph), kSeeds); }

TEST(Graph, EachCallCanFail) {
  for (const char *name :
       {"cuGraphCreate", "cuGraphAddMemcpyNode", "cuGraphAddKernelNode_v2",
        "cuGraphInstantiateWithFlags", "cuGraphUpload", "cuGraphLaunch",
        "cuGraphExecDestroy", "cuGraphDestroy"})
    EXPECT_EQ(
        run("fail=" + std::string(name) + ":1", guarded(addOneInAGraph)).code,
        250)
        << name;
}

/// Launches a graph of two branches that write the same memory.
static void branches(bool isOrdered) {
  GraphSession p;
  cuda::GraphNode up = p.add(p.upload(p.x, p.input), {});
  cuda::GraphNode left = p.add(p.kernel(p.x, p.y), {up});
  cuda::GraphNode right = p.add(p.kernel(p.x, p.z), {up});
  cuda::GraphNode last = p.add(p.kernel(p.y, p.z), {left});
  if (isOrdered)
    check(cuGraphAddDependencies(p.graph, &right, &last, 1));
  p.add(p.download(p.output, p.z), {right, last});
  p.instantiate();
  p.launchGraph();
  p.launchGraph();
  p.expect(43);
  p.close();
}

TEST(Graph, DependencyIsMissing) {
  EXPECT_EQ(countRight([] { branches(true); }), kSeeds);
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome wrong = run(withSeed(seed), guarded([] { branches(false); }));
    EXPECT_NE(wrong.code, 0) << "seed " << seed;
    EXPECT_NE(wrong.errors.find("race"), std::string::npos) << wrong.errors;
  }
}

/// The seed orders nodes that do not depend on each other.
TEST(Graph, SeedsOrderNodes) {
  std::set<std::string> orders;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    char name[] = "/tmp/emugpu-log-XXXXXX";
    const int file = mkstemp(name);
    ASSERT_GE(file, 0);
    Outcome outcome = run(withSeed(seed) + ",log=" + name, guarded([] {
                            GraphSession p;
                            cuda::GraphNode up =
                                p.add(p.upload(p.x, p.input), {});
                            p.add(p.kernel(p.x, p.y), {up});
                            p.add(p.download(p.output, p.x), {up});
                            p.add(cuda::MemsetNode{p.z, 0, 3, 4, 64, 1}, {});
                            p.instantiate();
                            p.launchGraph();
                            p.expect(41);
                            p.close();
                          }));
    EXPECT_EQ(outcome.code, 0) << outcome.errors;
    std::string text(1 << 12, '\0'), order;
    text.resize(size_t(std::max<ssize_t>(read(file, &text[0], 1 << 12), 0)));
    close(file);
    unlink(name);
    for (size_t at = 0; (at = text.find("  executes ", at)) < text.size(); ++at)
      order += text[at + 11] == 'c' ? text[at + 19] : text[at + 11];
    orders.insert(order);
  }
  EXPECT_GE(orders.size(), 3u);
}

TEST(Graph, StreamsAreOrderedBehindGraphs) {
  auto program = [](bool waits) {
    return [=] {
      GraphSession p;
      cuda::GraphNode up = p.add(p.upload(p.x, p.input), {});
      p.add(p.kernel(p.x, p.y), {up});
      p.instantiate();
      p.launchGraph();
      cuda::Stream other;
      cuda::Event event;
      check(cuStreamCreate(&other, cuda::streamNonBlocking));
      check(cuEventCreate(&event, cuda::eventDisableTiming));
      check(cuEventRecord(event, p.stream));
      if (waits)
        check(cuStreamWaitEvent(other, event, 0));
      check(cuMemcpyDtoHAsync_v2(p.output, p.y, 256, other));
      check(cuStreamSynchronize(other));
      p.expect(42);
      check(cuEventDestroy_v2(event));
      check(cuStreamDestroy_v2(other));
      p.close();
    };
  };
  EXPECT_EQ(countRight(program(true)), kSeeds);
  EXPECT_EQ(countRight(program(false)), 0u);
}

TEST(Graph, NobodyWaits) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome = run(withSeed(seed), guarded([] {
                            GraphSession p;
                            p.add(p.upload(p.x, p.input), {});
                            p.instantiate();
                            p.launchGraph();
                            check(cuDevicePrimaryCtxRelease_v2(0));
                          }));
    EXPECT_NE(outcome.errors.find("nobody waited"), std::string::npos)
        << outcome.errors;
  }
}

TEST(Graph, OutputIsPoisonUntilTheWait) {
  bool wasPoison = false;
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome = run(withSeed(seed), guarded([] {
                            GraphSession p;
                            cuda::GraphNode up =
                                p.add(p.upload(p.x, p.input), {});
                            p.add(p.download(p.output, p.x), {up});
                            p.instantiate();
                            memset(p.output, 0, 256);
                            p.launchGraph();
                            const uint32_t early = p.output[0];
                            p.expect(41);
                            p.close();
                            exit(early == 41 ? 2 : early == ~0u ? kFound : 251);
                          }));
    EXPECT_TRUE(outcome.code == kFound || outcome.code == 2) << outcome.errors;
    wasPoison |= outcome.code == kFound;
  }
  EXPECT_TRUE(wasPoison);
}

TEST(Graph, UpdatesReachLaterLaunchesOnly) {
  EXPECT_EQ(
      countRight([] {
        GraphSession p;
        const std::string text =
            kernelOf("  ld.global.u32 %r7, [%d3];\n  add.u32 %r7, %r7, "
                     "2;\n  st.global.u32 [%d4], %r7;");
        cuda::Module module;
        cuda::Function other;
        check(cuModuleLoadData(&module, text.c_str()));
        check(cuModuleGetFunction(&other, module, "k"));
        cuda::GraphNode up = p.add(p.upload(p.x, p.input), {});
        cuda::GraphNode run = p.add(p.kernel(p.x, p.y), {up});
        cuda::GraphNode down = p.add(p.download(p.output, p.y), {run});
        p.instantiate();
        p.launchGraph();
        cuda::KernelNode node = p.kernel(p.x, p.z);
        node.function = other;
        check(cuGraphExecKernelNodeSetParams_v2(p.exec, run, &node));
        p.expect(42);
        cuda::CopyNode copy = p.download(p.output, p.z);
        check(cuGraphExecMemcpyNodeSetParams(p.exec, down, &copy, p.context));
        p.launchGraph();
        p.expect(43);
        p.close();
      }),
      kSeeds);
}

TEST(Graph, WrongArguments) {
  Outcome outcome = run(
      "", guarded([] {
        GraphSession p;
        auto expect = [](int where, cuda::Result got, cuda::Result wanted) {
          if (got != wanted)
            exit(where);
        };
        const cuda::Result wrong = cuda::invalidValue;
        cuda::Graph graph;
        cuda::GraphNode up = p.add(p.upload(p.x, p.input), {}), made;
        cuda::GraphNode run = p.add(p.kernel(p.x, p.y), {up});
        expect(201, cuGraphCreate(&graph, 1), wrong);
        // Nodes and their operands.
        cuda::KernelNode kernel = p.kernel(p.x, p.y);
        kernel.gridX = 0;
        expect(202,
               cuGraphAddKernelNode_v2(&made, p.graph, nullptr, 0, &kernel),
               wrong);
        cuda::CopyNode copy = p.upload(p.x + 4, p.input);
        expect(
            203,
            cuGraphAddMemcpyNode(&made, p.graph, nullptr, 0, &copy, p.context),
            wrong);
        copy = p.upload(p.x, p.input);
        expect(204,
               cuGraphAddMemcpyNode(&made, p.graph, nullptr, 0, &copy, nullptr),
               wrong);
        copy.height = 2;
        expect(
            205,
            cuGraphAddMemcpyNode(&made, p.graph, nullptr, 0, &copy, p.context),
            cuda::notSupported);
        cuda::MemsetNode fill{p.x, 0, 0, 3, 8, 1};
        expect(
            206,
            cuGraphAddMemsetNode(&made, p.graph, nullptr, 0, &fill, p.context),
            wrong);
        // Dependencies.
        const cuda::GraphNode twice[] = {up, up};
        kernel = p.kernel(p.x, p.y);
        expect(207, cuGraphAddKernelNode_v2(&made, p.graph, twice, 2, &kernel),
               wrong);
        expect(208, cuGraphAddDependencies(p.graph, &up, &run, 1), wrong);
        expect(209, cuGraphAddDependencies(p.graph, &up, &up, 1), wrong);
        check(cuGraphCreate(&graph, 0));
        expect(210, cuGraphAddKernelNode_v2(&made, graph, &up, 1, &kernel),
               wrong);
        // Updates.
        p.instantiate();
        copy = p.upload(p.x, p.input);
        expect(211,
               cuGraphExecMemcpyNodeSetParams(p.exec, run, &copy, p.context),
               wrong);
        copy = p.download(p.output, p.x);
        expect(212,
               cuGraphExecMemcpyNodeSetParams(p.exec, up, &copy, p.context),
               wrong);
        check(cuGraphAddKernelNode_v2(&made, graph, nullptr, 0, &kernel));
        expect(213, cuGraphExecKernelNodeSetParams_v2(p.exec, made, &kernel),
               wrong);
        check(cuGraphDestroy(graph));
        expect(214, cuGraphExecKernelNodeSetParams_v2(p.exec, made, &kernel),
               wrong);
        expect(215, cuGraphDestroy(graph), wrong);
        // A cycle, and an executable graph that was destroyed.
        check(cuGraphAddDependencies(p.graph, &run, &up, 1));
        cuda::GraphExec exec;
        expect(216, cuGraphInstantiateWithFlags(&exec, p.graph, 0), wrong);
        exec = p.exec;
        p.launchGraph();
        check(cuGraphExecDestroy(exec));
        expect(217, cuGraphLaunch(exec, p.stream), wrong);
        expect(218, cuGraphExecDestroy(exec), wrong);
        expect(219, cuGraphUpload(exec, p.stream), wrong);
        check(cuStreamSynchronize(p.stream));
      }));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
}

TEST(Graph, MemoryThatWasFreed) {
  for (unsigned seed = 0; seed < kSeeds; ++seed) {
    Outcome outcome = run(withSeed(seed), guarded([] {
                            GraphSession p;
                            p.add(p.upload(p.x, p.input), {});
                            p.instantiate();
                            check(cuMemFree_v2(p.x));
                            p.launchGraph();
                            check(cuStreamSynchronize(p.stream));
                          }));
    EXPECT_NE(outcome.errors.find("was freed"), std::string::npos)
        << outcome.errors;
  }
}

TEST(Graph, Captures) {
  Outcome outcome = run(
      "", guarded([] {
        Session p;
        cuda::CaptureStatus status;
        cuda::Graph graph;
        auto isStatus = [&](cuda::CaptureStatus wanted) {
          check(cuStreamIsCapturing(p.stream, &status));
          return status == wanted;
        };
        auto begin = [](cuda::Stream stream) {
          return cuStreamBeginCapture_v2(stream, cuda::captureThreadLocal);
        };
        if (!isStatus(cuda::captureNone) ||
            cuStreamEndCapture(p.stream, &graph) != cuda::illegalState ||
            begin(nullptr) != cuda::captureUnsupported)
          exit(251);
        check(begin(p.stream));
        if (!isStatus(cuda::captureActive) ||
            begin(p.stream) != cuda::illegalState)
          exit(252);
        check(cuStreamEndCapture(p.stream, &graph));
        check(cuGraphDestroy(graph));
        // Waiting ends a capture.
        check(begin(p.stream));
        if (cuStreamSynchronize(p.stream) != cuda::captureUnsupported ||
            !isStatus(cuda::captureIsInvalidated) ||
            cuStreamEndCapture(p.stream, &graph) != cuda::captureInvalidated ||
            graph || !isStatus(cuda::captureNone))
          exit(253);
        p.close();
      }));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
}

TEST(Graph, ElapsedTime) {
  Outcome outcome =
      run("", guarded([] {
            Session p;
            cuda::Event events[3];
            for (int i = 0; i < 3; ++i) {
              check(cuEventCreate(
                  &events[i], i == 2 ? unsigned(cuda::eventDisableTiming) : 0));
              if (i < 2)
                check(cuMemsetD8Async(p.x, 0, 256, p.stream));
              check(cuEventRecord(events[i], p.stream));
            }
            check(cuStreamSynchronize(p.stream));
            float time = 0;
            check(cuEventElapsedTime(&time, events[0], events[1]));
            if (time <= 0 || cuEventElapsedTime(&time, events[0], events[2]) !=
                                 cuda::invalidHandle)
              exit(251);
            for (cuda::Event event : events)
              check(cuEventDestroy_v2(event));
            p.close();
          }));
  EXPECT_EQ(outcome.code, 0) << outcome.errors;
}
