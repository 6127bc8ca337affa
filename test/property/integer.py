#!/usr/bin/env python3
"""Runs int8 kernels, written by the passes of ingot-opt, and holds them against numpy: exactly.

usage: integer.py [--cases N] [--seed S] [--kinds KIND[,KIND...]] [--targets LEVEL[,LEVEL...]] [--measure]

Half of the cases consist of the extremes of both types (255 and -128, 255 and 127), for which int16 sums saturate. The
other half has small weights, with or without outliers, whose pairs vpmaddubsw can add. All data ends or begins at a
guard page. Every second batch has random schedules, except on emulated instructions. --measure prints GOP/s of some
products instead. Needs mlir-translate and clang of the LLVM that Ingot is built with.
"""
import argparse
import ctypes
import mmap
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import numpy as np

from integer_weights import compensation_of, pack, pairs_of, proved_tiles

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
LLVM = os.environ.get("INGOT_LLVM_BIN", "/usr/lib/llvm-22/bin")
PASSES = "builtin.module(cpu-schedule{{seed={seed}}},{emulation}ingot-llvm)"
# Features of each level, as in compiler/target.
FEATURES = {"x86-64-v2": ["-march=x86-64-v2"], "x86-64-v3": ["-march=x86-64-v3"], "x86-64-v4": ["-march=x86-64-v4"],
            "alderlake": ["-march=x86-64-v3", "-mavxvnni"], "cascadelake": ["-march=x86-64-v4", "-mavx512vnni"],
            "sapphirerapids": ["-march=x86-64-v4", "-mavx512vnni", "-mamx-tile", "-mamx-int8"]}
NEEDS = {"x86-64-v2": "sse4_2", "x86-64-v3": "avx2", "alderlake": "avx_vnni", "x86-64-v4": "avx512vl",
         "cascadelake": "avx512_vnni", "sapphirerapids": "amx_int8"}
# Kernels for one level whose instructions are emulated on another.
EMULATION = "cpu-conv-to-vector,cpu-depthwise-to-vector,cpu-matmul-to-vector,emulate-instructions{{on={}}},"
EMULATED = ("alderlake@x86-64-v3", "sapphirerapids@x86-64-v3", "sapphirerapids@x86-64-v4")
TYPES = {np.uint8: "i8", np.int8: "i8", np.int32: "i32", np.float32: "f32"}

KINDS = ("matmul", "conv", "depthwise", "filter")
BATCH = 20  # cases per library

# Stores the sum unchanged, or scaled, rounded and clamped to a byte, as a quantized layer does.
PLAIN = """^bb0(%sum: i32):
  cpu.yield %sum : i32
"""
REQUANTIZE = """^bb0(%sum: i32, %scale: f32):
  %low = arith.constant 0.0 : f32
  %high = arith.constant 255.0 : f32
  %zero = arith.constant 3.0 : f32
  %real = arith.sitofp %sum : i32 to f32
  %scaled = arith.mulf %real, %scale : f32
  %near = math.roundeven %scaled : f32
  %moved = arith.addf %near, %zero : f32
  %above = arith.maximumf %moved, %low : f32
  %within = arith.minimumf %above, %high : f32
  %whole = arith.fptosi %within : f32 to i32
  %byte = arith.trunci %whole : i32 to i8
  cpu.yield %byte : i8
"""


# Epilogues for single channels, whose sums are integers in f32.
PLAIN_FLOATS = PLAIN.replace("i32", "f32")
REQUANTIZE_FLOATS = (REQUANTIZE.replace("%sum: i32", "%real: f32")
                     .replace("  %real = arith.sitofp %sum : i32 to f32\n", ""))
# Adds a residual of bytes; the zero point is added to integers.
RESIDUAL_FLOATS = (REQUANTIZE_FLOATS.replace("%scale: f32", "%scale: f32, %rest: i8").replace("255.0", "250.0")
                   .replace("%byte = arith.trunci %whole", "%five = arith.constant 5 : i32\n"
                            "  %shifted = arith.addi %whole, %five : i32\n  %byte = arith.trunci %shifted")
                   .replace("%near = math.roundeven %scaled",
                            "%float = arith.uitofp %rest : i8 to f32\n  %both = arith.addf %scaled, %float : f32\n"
                            "  %near = math.roundeven %both"))


def runs_on(target):
    return target.rpartition("@")[2]


def supported(targets=(*NEEDS, *EMULATED)):
    with open("/proc/cpuinfo") as f:
        flags = f.read().split()
    return [target for target in targets if NEEDS[runs_on(target)] in flags]


def request_tiles():
    """Requests AMX's registers from the kernel, as the runtime does."""
    arch_prctl, permission, tiles = 158, 0x1023, 18
    if ctypes.CDLL(None, use_errno=True).syscall(arch_prctl, permission, tiles):
        raise RuntimeError(f"the kernel grants no AMX: {os.strerror(ctypes.get_errno())}")


def memref(array, open_dims=()):
    sizes = ["?" if i in open_dims else str(n) for i, n in enumerate(array.shape)]
    layout = ""
    if not array.flags.c_contiguous:
        strides = [s // array.itemsize for s in array.strides]
        # A stride is static if all inner sizes are static.
        known = ["?" if any(d > i for d in open_dims) else str(s) for i, s in enumerate(strides)]
        layout = f", strided<[{', '.join(known)}]>"
    return f"memref<{'x'.join(sizes)}x{TYPES[array.dtype.type]}{layout}>"


def guarded(array, at_end):
    """Returns a copy that ends, or begins, at a guard page."""
    page = mmap.PAGESIZE
    size = -(-max(array.nbytes, 1) // page) * page
    memory = mmap.mmap(-1, size + 2 * page)
    start = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    protect = ctypes.CDLL(None, use_errno=True).mprotect
    for guard in (start, start + page + size):
        if protect(ctypes.c_void_p(guard), ctypes.c_size_t(page), 0):
            raise RuntimeError(f"mprotect: {os.strerror(ctypes.get_errno())}")
    offset = page + (size - array.nbytes if at_end else 0)
    copy = np.frombuffer(memory, array.dtype, array.size, offset).reshape(array.shape)
    copy[...] = array
    return copy


class Case:
    """A product: the op's text, its arrays and the expected result."""

    def __init__(self, rng, kind):
        self.requantized = bool(rng.integers(2))
        extreme = bool(rng.integers(2))

        def source(*shape):
            if extreme:
                return np.where(rng.random(shape) < 0.9, 255, 0).astype(np.uint8)
            return rng.integers(0, 256, shape).astype(np.uint8)

        # Mostly so small that int16 holds any pair. A few weights, or some channels, have the largest values.
        small = bool(rng.integers(2))
        share = rng.choice((0.0, 0.003, 0.03))

        def factor(*shape):
            if small:
                # Draws weights up to the bound.
                high = int(rng.choice((20, 64)))
                values = rng.integers(-high, high + 1, shape)
                return np.where(rng.random(shape) < share, rng.choice((-128, 127), shape), values).astype(np.int8)
            if extreme:
                return np.where(rng.random(shape) < 0.9, -128, 127).astype(np.int8)
            return rng.integers(-128, 128, shape).astype(np.int8)

        self.kind, self.pairs, self.compensation, self.open_dims = kind, [], [], ()
        # Number of channels of the wider tensor that contains src.
        self.others = 0
        if kind == "depthwise":
            self.draw_depthwise(rng, source, factor)
            self.finish(rng, extreme)
            return
        if kind == "filter":
            self.draw_filter(rng, source, factor)
            self.finish(rng, extreme)
            return
        if kind == "matmul":
            rows, depth, columns = (int(v) for v in (rng.integers(1, 40), rng.integers(1, 300), rng.integers(1, 80)))
            if rng.integers(2):
                rows, depth = 2 * rows, -(-depth // 4) * 4
            self.text = f"matmul {rows} x {depth} x {columns}"
            self.src, weights = source(rows, depth), factor(1, depth, columns)
            self.attributes = ""
            self.sums = self.src.astype(np.int32) @ weights[0].astype(np.int32)
        else:
            groups, kernel, stride, dilation = (int(rng.integers(1, n)) for n in (4, 5, 3, 3))
            channels, outputs = int(rng.integers(1, 40)), int(rng.integers(1, 50))
            if rng.integers(2):
                groups, channels = 1, 4 * channels
            pad = int(rng.integers(0, kernel))
            least = max(1, (kernel - 1) * dilation + 1 - 2 * pad)
            height, width = (int(rng.integers(least, least + n)) for n in (4, 30))
            # Short rows of many channels are multiplied with blocks of weights.
            if rng.integers(6) == 0:
                groups, channels = 1, int(rng.integers(512, 700))
                height, width = least + 6, int(rng.integers(least + 1, least + 10))
            self.text = (f"conv {height} x {width} x {channels * groups}, {groups} groups, {outputs * groups} outputs, "
                         f"kernel {kernel}, stride {stride}, dilation {dilation}, pad {pad}")
            self.src = source(1, height, width, channels * groups)
            weights = factor(groups, kernel, kernel, channels, outputs)
            self.attributes = (f" attributes {{strides = array<i64: {stride}, {stride}>, "
                               f"pads = array<i64: {pad}, {pad}, {pad}, {pad}>, "
                               f"dilations = array<i64: {dilation}, {dilation}>, groups = {groups} : i64}}")
            self.sums = self.convolve(weights.astype(np.int32), groups, kernel, stride, dilation, pad)
        self.weights = pack(weights)
        statements = []
        if kind == "conv" and (groups, kernel, stride, dilation) == (1, 3, 1, 1) and channels % 4 == 0:
            tiles = proved_tiles(weights[0], 0)
            statements += [f"exact_tiles = {tiles}"] if tiles else []
            self.text += f" tiles {tiles}"
        groups, depth = (1, weights.shape[-2]) if kind == "matmul" else (groups, channels)
        if groups == 1 and depth % 4 == 0 and rng.integers(4):
            pairs, counts = pairs_of(self.weights)
            self.pairs = [pairs]
            statements.append(f"pairs = true, pair_counts = {list(map(int, counts))}")
            self.text += " pairs"
        if statements:
            inner = f"format = #cpu.weights<panels, {', '.join(statements)}>"
            self.attributes = (self.attributes.replace("{", "{" + inner + ", ", 1) if self.attributes
                               else f" attributes {{{inner}}}")
        self.finish(rng, extreme)

    def finish(self, rng, extreme):
        self.text += " requantized" if self.requantized else ""
        self.text += " extreme" if extreme else ""
        self.operands = []
        self.want = self.sums.astype(np.float32) if self.kind == "depthwise" else self.sums
        if self.requantized:
            shape = [1] * (self.sums.ndim - 1) + [self.sums.shape[-1]]
            scale = (rng.random(shape) * 300 / max(1, np.abs(self.sums).max())).astype(np.float32)
            self.operands = [scale]
            scaled = self.sums.astype(np.float32) * scale
            if self.kind == "depthwise" and rng.integers(2):
                self.operands.append(rng.integers(0, 256, self.sums.shape).astype(np.uint8))
                scaled = scaled + self.operands[1].astype(np.float32)
                self.text += " residual"
            near = np.round(scaled) + np.float32(3)
            self.want = np.clip(near, 0, 255).astype(np.uint8)
            if len(self.operands) == 2:
                self.want = (np.clip(near, 0, 250) + 5).astype(np.uint8)

    def draw_filter(self, rng, source, factor):
        """Draws 3x3 taps, which Winograd may multiply."""
        batch = int(rng.choice((1, 1, 2, 3)))
        # Whole and partial vectors of groups of four, and several blocks of weights.
        channels = 4 * int(rng.choice((rng.integers(1, 17), rng.integers(1, 17), rng.integers(17, 60))))
        outputs = int(rng.choice((8, 16, 24, 32, 48, rng.integers(1, 70))))
        # Sometimes so many channels that sums leave no room for the largest tiles, or hardly room for one tile.
        if rng.integers(12) == 0:
            channels, outputs = int(rng.choice((116, 228, 232, 600, 1832, 1844, 4200, 4400))), int(rng.integers(1, 20))
        pads = [int(n) for n in rng.integers(0, 2, 4)]
        if rng.integers(3) == 0:
            pads = [int(n) for n in rng.integers(0, 5, 4)]
        zero = int(rng.choice((0, 0, 128, 255, rng.integers(1, 256))))
        most = 14 if channels < 100 else 5
        height, width = (max(1, 3 - before - after) + int(rng.integers(0, most))
                         for before, after in zip(pads[:2], pads[2:]))
        if rng.integers(3) == 0:
            self.open_dims = ((0,), (1, 2), (2,), (0, 1, 2))[int(rng.integers(4))]
        self.others = int(rng.choice((0, 0, rng.integers(1, 30))))
        self.src = source(batch, height, width, channels + self.others)[..., self.others:]
        weights = factor(1, 3, 3, channels, outputs)
        self.weights = pack(weights)
        tiles = proved_tiles(weights[0], zero)
        self.text = (f"filter {batch} x {height} x {width} x {channels}, {outputs} outputs, pads {pads}, "
                     f"zero point {zero}, open {self.open_dims}, beside {self.others} others, tiles {tiles}")
        inner = f"src_zero_point = {zero} : i64" if zero else ""
        if zero:
            self.compensation = [compensation_of(self.weights, zero)]
        statements = [f"exact_tiles = {tiles}"] if tiles else []
        if rng.integers(2):
            pairs, counts = pairs_of(self.weights)
            self.pairs = [pairs]
            statements.append(f"pairs = true, pair_counts = {list(map(int, counts))}")
            self.text += " pairs"
        if statements:
            inner += f"{', ' if inner else ''}format = #cpu.weights<panels, {', '.join(statements)}>"
        self.attributes = (f" attributes {{strides = array<i64: 1, 1>, pads = array<i64: {', '.join(map(str, pads))}>, "
                           f"dilations = array<i64: 1, 1>, groups = 1 : i64{', ' if inner else ''}{inner}}}")
        src = np.pad(self.src.astype(np.int32) - zero, ((0, 0), pads[::2], pads[1::2], (0, 0)))
        out = [n - 2 for n in src.shape[1:3]]
        self.sums = np.zeros((batch, *out, outputs), np.int32)
        for i in range(3):
            for j in range(3):
                self.sums += src[:, i:i + out[0], j:j + out[1]] @ weights[0, i, j].astype(np.int32)

    def draw_depthwise(self, rng, source, factor):
        kernel = [int(n) for n in rng.integers(1, 6, 2)]
        strides, dilations = ([int(n) for n in rng.integers(1, 3, 2)] for _ in range(2))
        extents = [(k - 1) * d for k, d in zip(kernel, dilations)]
        pads = [[int(n) for n in rng.integers(0, e + 1, 2)] for e in extents]
        low = [max(1, e + 1 - sum(p)) for e, p in zip(extents, pads)]
        height, width = (int(rng.integers(n, n + more)) for n, more in zip(low, (5, 30)))
        # Numbers of channels: blocks of 64, vectors of 16, and a rest.
        channels = int(rng.choice((16, 64, 80, 128, 192, rng.integers(1, 200))))
        zero = int(rng.choice((0, 0, rng.integers(1, 256))))
        if rng.integers(4) == 0:
            self.open_dims = (1, 2) if rng.integers(2) else (2,)
        self.text = (f"depthwise {height} x {width} x {channels}, kernel {kernel}, strides {strides}, dilations "
                     f"{dilations}, pads {pads}, zero point {zero}, open {self.open_dims}")
        self.src = source(1, height, width, channels)
        weights = factor(*kernel, channels)
        self.weights = weights.astype(np.float32)
        integers = "{}: {}, {}".format
        self.attributes = (f" attributes {{strides = array<{integers('i64', *strides)}>, "
                           f"pads = array<{integers('i64', pads[0][0], pads[1][0])}, {pads[0][1]}, {pads[1][1]}>, "
                           f"dilations = array<{integers('i64', *dilations)}>, src_zero_point = {zero} : i64}}")
        src = np.pad(self.src.astype(np.int32) - zero, ((0, 0), *pads, (0, 0)))
        out = [(n - e - 1) // s + 1 for n, e, s in zip(src.shape[1:3], extents, strides)]
        self.sums = np.zeros((1, *out, channels), np.int32)
        for i in range(kernel[0]):
            for j in range(kernel[1]):
                taps = [slice(t * d, t * d + (n - 1) * s + 1, s)
                        for t, d, n, s in zip((i, j), dilations, out, strides)]
                self.sums += src[:, taps[0], taps[1]] * weights[i, j].astype(np.int32)

    def convolve(self, weights, groups, kernel, stride, dilation, pad):
        src = np.pad(self.src.astype(np.int32), ((0, 0), (pad, pad), (pad, pad), (0, 0)))
        extent = (kernel - 1) * dilation
        rows, columns = ((n - extent - 1) // stride + 1 for n in src.shape[1:3])
        channels, outputs = weights.shape[-2:]
        sums = np.zeros((1, rows, columns, groups * outputs), np.int32)
        for g in range(groups):
            for i in range(kernel):
                for j in range(kernel):
                    part = src[:, i * dilation:i * dilation + (rows - 1) * stride + 1:stride,
                               j * dilation:j * dilation + (columns - 1) * stride + 1:stride,
                               g * channels:(g + 1) * channels]
                    sums[..., g * outputs:(g + 1) * outputs] += part @ weights[g, i, j]
        return sums

    def arrays(self, dst):
        return [self.src, self.weights, *self.compensation, *self.pairs, *self.operands, dst]

    def guard(self, at_end):
        """Guards all arrays but the result. `check` guards the result, so that reading too much of it fails."""
        channels = self.src.shape[-1]
        wide = np.pad(self.src, [(0, 0)] * (self.src.ndim - 1) + [(self.others, 0) if at_end else (0, self.others)])
        self.src = guarded(wide, at_end)[..., self.others:] if at_end else guarded(wide, at_end)[..., :channels]
        self.weights = guarded(self.weights, at_end)
        for arrays in (self.compensation, self.pairs, self.operands):
            arrays[:] = [guarded(array, at_end) for array in arrays]

    def function(self, name):
        dst = np.empty_like(self.want)
        types = [memref(a) for a in self.arrays(dst)]
        types[0], types[-1] = memref(self.src, self.open_dims), memref(dst, self.open_dims)
        names = [f"%{i}" for i in range(len(types))]
        operands, at = "", 2
        for part, arrays in (("compensation", self.compensation), ("pairs", self.pairs)):
            if arrays:
                operands += f" {part}({names[at]} : {types[at]})"
                at += 1
        if self.operands:
            first = -1 - len(self.operands)
            types[first + 1:-1] = [memref(a, self.open_dims) for a in self.operands[1:]]
            operands += f" operands({', '.join(names[first:-1])} : {', '.join(types[first:-1])})"
        body = REQUANTIZE if self.requantized else PLAIN
        if self.kind == "depthwise":
            body = (PLAIN_FLOATS, REQUANTIZE_FLOATS, RESIDUAL_FLOATS)[len(self.operands)]
        arguments = ", ".join(f"%{i}: {t}" for i, t in enumerate(types))
        op = {"depthwise": "depthwise_conv", "filter": "conv"}.get(self.kind, self.kind)
        return (f"func.func @{name}({arguments}, %task: index) {{\n"
                f"cpu.{op} ins(%0, %1 : {types[0]}, {types[1]}){operands} outs({names[-1]} : {types[-1]})"
                f"{self.attributes} {{\n{body}}}\nreturn\n}}\n")

    def arguments(self, dst):
        words = []
        for array in self.arrays(dst):
            strides = [s // array.itemsize for s in array.strides]
            words += [ctypes.c_int64(n) for n in (*[array.ctypes.data] * 2, 0, *array.shape, *strides)]
        return words

    def call(self, function, dst, task):
        function(*self.arguments(dst), ctypes.c_int64(task))


def run(command):
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode:
        raise RuntimeError(f"{os.path.basename(command[0])}: {done.stderr[:800]}")
    return done.stdout


def build(binaries, cases, target, folder, seed=0):
    """Builds a library of the cases' kernels. Draws schedules if there is a seed. Returns the library and the number of
    tasks of each case."""
    level, _, on = target.partition("@")
    if level == "sapphirerapids" and not on:
        request_tiles()
    text = f'module attributes {{ingot.target = #ingot.target<"{level}">}} {{\n'
    text += "".join(case.function(f"kernel{i}") for i, case in enumerate(cases)) + "}\n"
    path = os.path.join(folder, "kernels")
    with open(path + ".mlir", "w") as f:
        f.write(text)
    optimizer = os.path.join(binaries, "ingot-opt")
    passes = PASSES.format(seed=seed, emulation=EMULATION.format(on) if on else "")
    run([optimizer, path + ".mlir", f"--pass-pipeline={passes}", "-o", path + ".llvm.mlir"])
    with open(path + ".llvm.mlir") as f:
        generated = f.read()
    with open(path + ".llvm.mlir", "w") as f:  # upstream's tool does not know Ingot's attributes
        f.write(re.sub(r"ingot\.\w+ = #ingot\.\w+<[^>]*>", "", generated))
    run([os.path.join(LLVM, "mlir-translate"), "--mlir-to-llvmir", path + ".llvm.mlir", "-o", path + ".ll"])
    run([os.path.join(LLVM, "clang"), "-O2", "-Wno-override-module", *FEATURES[runs_on(target)], "-fPIC", "-shared",
         path + ".ll", "-lm", "-o", path + ".so"])
    launches = run([optimizer, path + ".mlir", f"--cpu-schedule=seed={seed}", "--outline-kernels", "--canonicalize"])
    # For dynamic sizes a run counts the tasks: at most the product of pixels and channel vectors.
    counts = re.findall(r"tasks\(%(c\d+)?", launches)
    return ctypes.CDLL(path + ".so"), [int(count[1:]) if count else np.prod(case.want.shape[:3]) * -(-case.want.shape[3] // 4)
                                       for count, case in zip(counts, cases, strict=True)]


def check(binaries, cases, target, seed=0):
    """Returns one line per problem."""
    folder = tempfile.mkdtemp(prefix="ingot-integer-")
    try:
        library, tasks = build(binaries, cases, target, folder, seed)
        wrong = []
        for i, (case, count) in enumerate(zip(cases, tasks, strict=True)):
            at_end = bool(i % 2)
            case.guard(at_end)
            dst = guarded(np.full_like(case.want, 77), at_end)
            for task in range(count):
                case.call(library[f"kernel{i}"], dst, task)
            if not np.array_equal(dst, case.want):
                many = np.count_nonzero(dst != case.want)
                at = tuple(int(n) for n in np.argwhere(dst != case.want)[0])
                wrong.append(f"{target}, schedule seed {seed}: {case.text}: {many} of {dst.size} elements, "
                             f"{dst[at]} for {case.want[at]} at {at}")
        return wrong
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def draw(kind, number, seed=0):
    return Case(np.random.default_rng([seed, KINDS.index(kind), number]), kind)


def all_tasks(folder, count, target):
    """Returns a function that calls the kernel for all tasks, because a call from Python is slow."""
    path = os.path.join(folder, "kernels")
    names = ", ".join(f"a{i}" for i in range(count))
    parameters = ", ".join(f"long a{i}" for i in range(count))
    with open(path + ".c", "w") as f:
        f.write(f"void kernel0({parameters}, long task);\n"
                f"void all({parameters}, long tasks) {{\n"
                f"  for (long task = 0; task < tasks; ++task)\n    kernel0({names}, task);\n}}\n")
    run([os.path.join(LLVM, "clang"), "-O2", "-Wno-override-module", *FEATURES[target.rpartition("@")[2]], "-fPIC",
         "-shared", path + ".ll", path + ".c", "-lm", "-o", path + ".loop.so"])
    return getattr(ctypes.CDLL(path + ".loop.so"), "all")


def measure(binaries, target):
    """Prints GOP/s of products whose data fits the second-level cache: the best of many runs on one thread."""
    for rows, depth, columns in ((196, 256, 256), (196, 1024, 256), (784, 128, 512), (256, 512, 512)):
        case = draw("matmul", 0)
        rng = np.random.default_rng(0)
        case.src = rng.integers(0, 256, (rows, depth)).astype(np.uint8)
        case.weights = pack(rng.integers(-128, 128, (1, depth, columns)).astype(np.int8))
        case.requantized, case.operands, case.want = False, [], np.zeros((rows, columns), np.int32)
        case.pairs, case.attributes = [], ""
        folder = tempfile.mkdtemp(prefix="ingot-integer-")
        _, (tasks,) = build(binaries, [case], target, folder)
        dst, best = np.empty_like(case.want), float("inf")
        words = case.arguments(dst)
        loop = all_tasks(folder, len(words), target)
        for _ in range(1000):
            start = time.perf_counter()
            loop(*words, ctypes.c_int64(tasks))
            best = min(best, time.perf_counter() - start)
        print(f"{target}: matmul {rows} x {depth} x {columns}: {2e-9 * rows * depth * columns / best:.0f} GOP/s")
        shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0], epilog="example: integer.py --cases 100")
    parser.add_argument("--cases", type=int, default=200, help="cases of each kind (default: 200)")
    parser.add_argument("--seed", type=int, default=0, help="draws other cases (default: 0)")
    parser.add_argument("--targets", help="CPU levels, comma-separated, one whose instructions are emulated on a "
                        "lower one as LEVEL@LOWER (default: all that this machine runs)")
    parser.add_argument("--kinds", default=",".join(KINDS), help="which ones (default: all)")
    parser.add_argument("--bin", default=os.path.join(ROOT, "build", "bin"), help="where the tools are")
    parser.add_argument("--measure", action="store_true", help="print GOP/s instead")
    args = parser.parse_args()
    targets = args.targets.split(",") if args.targets else supported()
    failed = done = 0
    for target in targets:
        if args.measure:
            measure(args.bin, target)
            continue
        for kind in args.kinds.split(","):
            for first in range(0, args.cases, BATCH):
                cases = [draw(kind, n, args.seed) for n in range(first, min(first + BATCH, args.cases))]
                # Only usual schedules are emulated.
                seed = first if first // BATCH % 2 and "@" not in target else 0
                wrong = check(args.bin, cases, target, seed)
                print("".join(f"FAILED {line}\n" for line in wrong), end="")
                failed += len(wrong)
                done += len(cases)
    if not args.measure:
        print(f"{done - failed} passed, {failed} failed, 0 skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
