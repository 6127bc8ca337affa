#!/usr/bin/env python3
"""Runs random sequences of what programs do with models, and watches results, memory, descriptors and threads.

usage: sequences.py [--count N] [--seed N] [--first N] [--growth MB] [--slope BYTES]

A sequence loads a model and takes some random steps: runs, asynchronous runs, cancelled and failing ones, threads that
end, forked processes, contexts, pickles, outputs that live longer than their model. Each sequence has random numbers of
its own, so `--first N --count 1` repeats one. If a hundred sequences take minutes, the stacks of all threads are printed.

Resident memory is measured 200 times, and printed 20 times. It must not grow by more than --growth after a quarter of the
sequences. In the median of five parts of the last half, a line through the measurements must not rise by more than --slope
bytes a sequence. Runs of fewer than 20,000 sequences are too short to tell a slope. Exit code: 0 if every result was right and nothing grew, else 1.
"""
import argparse
import asyncio
import ctypes
import faulthandler
import gc
import os
import pickle
import queue
import random
import signal
import sys
import tempfile
import threading
import time
import traceback

import ml_dtypes
import numpy as np
from onnx import TensorProto

import ingot
from support import add_one, identity, make, node, slow

# The share of the sequences after which memory may not grow any more: until then, allocators fill their caches.
WARM_UP = 0.25
# Sequences that are watched together, and the seconds after which they hang.
WATCHED, HANG = 100, 300
# Measurements of memory in a run, and how many of them make a line that is printed.
MEASURED, EACH = 200, 10
# The parts of the last half that have a slope each, and the fewest sequences that tell one.
PARTS = 5
MIN_SLOPE = 20_000


class Kind:
    """A compiled model, inputs for it, and the expected outputs."""

    def __init__(self, folder, name, model, draw, expect):
        self.path = os.path.join(folder, name + ".so")
        self.draw, self.expect = draw, expect
        ingot.compile(model, self.path)
        with open(self.path, "rb") as file:
            self.content = file.read()


def write_models(folder):
    """Compiles the models of the sequences. Each has one output."""
    size = 128

    def floats(rng, *shape):
        return np.random.default_rng(rng.getrandbits(32)).random(shape, np.float32)

    # A chain of products that is computed once, since numpy takes longer than the model.
    chain = np.random.default_rng(0).random((size, size), np.float32)
    result = chain
    for _ in range(24):
        e = np.exp(result @ np.full((size, size), 1 / size, np.float32))
        result = e / e.sum(1, keepdims=True)

    words = np.array([["", "a"], ["grün", "a long text " * 9]], object)
    gather = make([node("Gather", ["x", "i"], ["y"])], [("x", TensorProto.FLOAT, (4,)), ("i", TensorProto.INT64, (1,))],
                  [("y", TensorProto.FLOAT, (1,))])
    nonzero = make([node("NonZero", ["x"], ["y"])], [("x", TensorProto.FLOAT, ("n", 4))],
                   [("y", TensorProto.INT64, (2, "k"))])
    return {
        "fixed": Kind(folder, "fixed", add_one(), lambda r: (floats(r, 1, 4),), lambda x: x + np.float32(1)),
        "open": Kind(folder, "open", add_one(("n", 4)), lambda r: (floats(r, r.randrange(300), 4),),
                     lambda x: x + np.float32(1)),
        "data": Kind(folder, "data", nonzero, lambda r: (floats(r, r.randrange(9), 4).round(),),
                     lambda x: np.array(np.nonzero(x))),
        "gather": Kind(folder, "gather", gather, lambda r: (floats(r, 4), np.array([r.randrange(4)])),
                       lambda x, i: x[i]),
        "bf16": Kind(folder, "bf16", identity(TensorProto.BFLOAT16),
                     lambda r: (floats(r, 2, 3).astype(ml_dtypes.bfloat16),), lambda x: x),
        "int4": Kind(folder, "int4", identity(TensorProto.INT4), lambda r: (floats(r, 2, 3).astype(ml_dtypes.int4),),
                     lambda x: x),
        "words": Kind(folder, "words", identity(TensorProto.STRING, (2, 2)), lambda r: (words,), lambda x: x),
        "slow": Kind(folder, "slow", slow(size, 24), lambda r: (chain,), lambda x: result),
    }


def check(result, expected):
    if result.dtype == object or result.dtype.kind not in "fi":
        np.testing.assert_array_equal(result, expected)
    else:
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-6)


class Sequence:
    """One sequence: a model, and random steps."""

    def __init__(self, kinds, rng, kept):
        self.rng, self.kept = rng, kept
        self.kind = kinds[rng.choice(sorted(kinds))]
        self.is_slow = self.kind is kinds["slow"]
        self.model = ingot.load(rng.choice([self.kind.path, self.kind.path, self.kind.content]))
        self.threads = []

    def run(self):
        steps = [self.call, self.call, self.by_name, self.in_place, self.fail, self.describe, self.in_context,
                 self.asynchronous, self.thread, self.pickle, self.profile, self.outlive, self.capsule]
        if self.rng.randrange(200) == 0:
            steps = [self.fork]
        if self.is_slow:
            steps += [self.cancel, self.time_out] * 2 + [self.interrupt]
        for _ in range(self.rng.randint(1, 6)):
            if self.model is None:
                break
            self.rng.choice(steps)()
        self.model = None
        for thread in self.threads:
            thread.join()

    def inputs(self):
        arrays = self.kind.draw(self.rng)
        return arrays, self.kind.expect(*arrays)

    def named(self, arrays):
        return dict(zip((spec.name for spec in self.model.inputs), arrays))

    # Steps

    def call(self):
        arrays, expected = self.inputs()
        check(self.model(*arrays), expected)

    def by_name(self):
        arrays, expected = self.inputs()
        check(self.model.run(self.named(arrays), threads=self.rng.choice([None, 1, 2]))["y"], expected)

    def in_place(self):
        arrays, expected = self.inputs()
        y = np.zeros(expected.shape, expected.dtype)
        assert self.model.run(self.named(arrays), out={"y": y})["y"] is y
        check(y, expected)

    def fail(self):
        arrays, _ = self.inputs()
        wrong = [lambda: self.model(), lambda: self.model(*arrays, arrays[0]), lambda: self.model(*[3] * len(arrays)),
                 lambda: self.model(*[a.astype(np.complex64) if a.dtype != object else [1j] for a in arrays]),
                 lambda: self.model(*[np.zeros((1, 2, 3, 4, 5), a.dtype) for a in arrays]),
                 lambda: self.model.run({"none": arrays[0]}), lambda: self.model.run(self.named(arrays), threads=-1),
                 lambda: self.model.run(self.named(arrays), out={"y": np.zeros(77, np.complex64)}),
                 lambda: ingot.load(self.kind.content[:self.rng.randrange(4096)]), lambda: ingot.load(self.kind.path + "x")]
        try:
            self.rng.choice(wrong)()
        except ingot.Error:
            return
        raise AssertionError("a wrong call raised nothing")

    def describe(self):
        assert self.model.info.arena_bytes >= 0 and self.model.metadata and repr(self.model)
        assert [spec.numpy_dtype for spec in self.model.inputs] and self.model.layers is not None
        self.model.infer({spec.name: [2 if size is None or isinstance(size, str) else size for size in spec.shape]
                          for spec in self.model.inputs})

    def in_context(self):
        arrays, expected = self.inputs()
        pool = ingot.Pool(threads=self.rng.randint(1, 2)) if self.rng.randrange(8) == 0 else None
        with self.model.context(threads=0 if pool else 1, pool=pool) as context:
            del pool
            check(context(*arrays), expected)
            if self.rng.randrange(2):
                context.trim()
        try:
            context(*arrays)
        except ingot.InvalidArgument:
            return
        raise AssertionError("a closed context has run")

    def asynchronous(self):
        async def main():
            made = [self.inputs() for _ in range(self.rng.randint(1, 4))]
            runs = [asyncio.ensure_future(self.model.run_async(*arrays)) for arrays, _ in made]
            expected = [one for _, one in made]
            del made  # The runs are the last to hold the inputs.
            if self.rng.randrange(3) == 0:
                self.model = None
            for run, one in zip(runs, expected):
                check(await run, one)

        asyncio.run(main())

    def cancel(self):
        async def main():
            arrays, _ = self.inputs()
            run = asyncio.ensure_future(self.model.run_async(*arrays))
            await asyncio.sleep(self.rng.random() / 1000)
            run.cancel()
            try:
                await run
            except asyncio.CancelledError:
                pass

        asyncio.run(main())

    def time_out(self):
        arrays, expected = self.inputs()
        try:
            check(self.model.run(self.named(arrays), timeout=self.rng.random() / 500)["y"], expected)
        except ingot.Timeout:
            pass

    def interrupt(self):
        arrays, _ = self.inputs()
        delay, begun = self.rng.random() / 500, queue.SimpleQueue()

        def send():
            begun.get()
            time.sleep(delay)
            os.kill(os.getpid(), signal.SIGINT)

        # Locks of the module threading are left in disorder by a signal, so the thread waits for the call.
        thread = threading.Thread(target=send)
        thread.start()
        try:
            begun.put(None)
            self.model(*arrays)
            time.sleep(60)  # until the signal arrives
        except KeyboardInterrupt:
            thread.join()

    def thread(self):
        """Starts a thread that runs and ends, perhaps with an exception. It is the last to hold its model."""
        arrays, expected = self.inputs()
        model, fails = self.model, self.rng.randrange(3) == 0
        if self.rng.randrange(2):
            self.model = None

        def work():
            check(model(*arrays), expected)
            if fails:
                try:
                    model()
                except ingot.InvalidArgument:
                    pass

        self.threads.append(threading.Thread(target=work))
        self.threads[-1].start()

    def fork(self):
        """Runs in a child process, which also has the models and threads of its parent."""
        for thread in self.threads:
            thread.join()
        sys.stdout.flush()
        child = os.fork()
        if not child:
            code = 1
            signal.alarm(HANG // 5)  # The thread that watches the sequences is not in this process.
            try:
                self.call()
                self.asynchronous()
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        assert os.waitpid(child, 0)[1] == 0, "a child failed"

    def pickle(self):
        if self.model.path is None:
            return
        arrays, expected = self.inputs()
        check(pickle.loads(pickle.dumps(self.model))(*arrays), expected)

    def profile(self):
        arrays, expected = self.inputs()
        profile = ingot.Profile(self.model)
        check(self.model.run(self.named(arrays), profile=profile)["y"], expected)
        assert profile.run.runs >= 1 and profile.layers is not None

    def outlive(self):
        """Keeps an output, and an array that shares its memory, longer than the model."""
        arrays, expected = self.inputs()
        y = self.model(*arrays)
        shared = np.from_dlpack(y) if y.dtype in (np.float32, np.int64) else y.view() if y.dtype != object else y
        self.kept.append((shared, expected))
        if len(self.kept) > 16:
            check(*self.kept.pop(self.rng.randrange(16)))

    def capsule(self):
        """Passes a capsule of DLPack once, and again after another has taken its content."""
        arrays, expected = self.inputs()
        if arrays[0].dtype not in (np.float32, np.int64):
            return
        capsules = [array.__dlpack__() for array in arrays]
        check(self.model(*capsules), expected)
        try:
            self.model(*capsules)
        except ingot.InvalidType:
            return
        raise AssertionError("a used capsule was taken again")


def resources():
    """Returns the resident memory in MB, and the number of open descriptors."""
    gc.collect()
    # Pages that the allocator keeps for later are no leak, and their number is random.
    ctypes.CDLL(None).malloc_trim(0)
    with open("/proc/self/status") as file:
        resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS:"))
    return resident / 1024, len(os.listdir("/proc/self/fd"))


class Memory:
    """Measurements of resident memory, over the numbers of the sequences."""

    def __init__(self, count):
        self.count, self.rows = count, []
        self.start = time.monotonic()

    def measure(self, done):
        """Measures after so many sequences, if it is time to."""
        if done % max(1, self.count // MEASURED):
            return
        self.rows.append((done, *resources()))
        if len(self.rows) % EACH == 1:
            print(f"{done} of {self.count} sequences, {time.monotonic() - self.start:.0f} s, {self.rows[-1][1]:.1f} MB, "
                  f"{self.rows[-1][2]} descriptors", file=sys.stderr, flush=True)

    def slope(self):
        """Returns the bytes that memory grows for each sequence: the median of the slopes of PARTS parts of the last half.

        A leak grows with each sequence, and so in all parts. Python and the C library take memory for small objects in
        steps of up to a megabyte, each of which falls into one part.
        """
        late = np.array([row[:2] for row in self.rows if row[0] >= self.count / 2], float)
        if len(late) < 2 * PARTS:
            return 0.0
        return float(np.median([np.polyfit(part[:, 0], part[:, 1] * 2**20, 1)[0] for part in np.array_split(late, PARTS)]))

    def problem(self, growth, slope):
        """Prints what was measured. Returns what has grown, or ""."""
        before = next(row for row in self.rows if row[0] >= self.count * WARM_UP)
        after = self.rows[-1]
        grown = self.slope()
        print(f"{self.count} sequences in {time.monotonic() - self.start:.0f} s; {before[1]:.1f} MB and {before[2]} "
              f"descriptors after a quarter, {after[1]:.1f} MB and {after[2]} at the end; {grown:+.1f} bytes a sequence in "
              "the last half")
        if after[2] > before[2]:
            return "descriptors have grown"
        if after[1] > before[1] + growth:
            return f"memory has grown by more than {growth} MB"
        return f"memory grows by more than {slope} bytes a sequence" if self.count >= MIN_SLOPE and grown > slope else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--count", type=int, default=100_000, help="sequences (default: 100000)")
    parser.add_argument("--seed", type=int, default=1, help="seed of the random numbers")
    parser.add_argument("--first", type=int, default=0, help="number of the first sequence")
    parser.add_argument("--growth", type=float, default=8, help="MB by which resident memory may grow (default: 8)")
    parser.add_argument("--slope", type=float, default=16, help="bytes by which a sequence may make it grow (default: 16)")
    args = parser.parse_args()
    faulthandler.register(signal.SIGALRM, chain=True)
    kept = []
    with tempfile.TemporaryDirectory(prefix="ingot-sequences-") as folder:
        os.environ["INGOT_CACHE"] = os.path.join(folder, "cache")
        kinds = write_models(folder)
        memory = Memory(args.count)
        for i in range(args.first, args.first + args.count):
            memory.measure(i - args.first)
            if (i - args.first) % WATCHED == 0:
                faulthandler.dump_traceback_later(HANG, exit=True)
            try:
                Sequence(kinds, random.Random(f"{args.seed}:{i}"), kept).run()
            except Exception:
                traceback.print_exc()
                print(f"sequences.py: sequence {i} failed: --seed {args.seed} --first {i} --count 1")
                return 1
        faulthandler.cancel_dump_traceback_later()
        memory.rows.append((args.count, *resources()))
    problem = memory.problem(args.growth, args.slope)
    if problem:
        print(f"sequences.py: {problem}")
    return 1 if problem else 0


# A shell starts jobs in the background with SIGINT ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
if __name__ == "__main__":
    sys.exit(main())
