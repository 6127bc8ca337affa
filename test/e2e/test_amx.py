"""Tests kernels for AMX: the generated code, with emulated instructions and with real ones."""
import os
import re
import sys

import numpy as np
from onnx import helper

import support
from support import BIN, ROOT, make_model

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import cases as drawing  # noqa: E402
import harness  # noqa: E402
import integer  # noqa: E402
from test_precision import EXACT, ROUNDED, rounded  # noqa: E402

OPTIONS = ("--precision=bf16",)
TARGET = "sapphirerapids"


def draw(name, text, nodes, inputs, weights, dynamic=None):
    """Makes a case whose factors bf16 holds exactly; data of convolutions is channels-last."""
    case = drawing.Case(name, text=text, nodes=nodes, tolerance=EXACT)
    case.inputs = {key: rounded(array) for key, array in inputs.items()}
    case.weights = {key: rounded(array) for key, array in weights.items()}
    case.dynamic = dynamic or {}
    case.output = nodes[-1].output[0]
    case.rank = len(next(iter(case.inputs.values())).shape)
    return case


def conv(name, size, channels, outputs, kernel, stride=1, pads=None, dilation=1, groups=1, residual=False, batch=1):
    rng = np.random.default_rng(len(name) + sum(map(ord, name)))
    rank = len(size)
    to_first, to_last = [0, rank + 1, *range(1, rank + 1)], [0, *range(2, rank + 2), 1]
    pads = [(kernel - 1) * dilation // 2] * (2 * rank) if pads is None else pads
    out = [(s + pads[i] + pads[rank + i] - (kernel - 1) * dilation - 1) // stride + 1 for i, s in enumerate(size)]
    weights = {f"{name}w": drawing.normal(rng, [outputs, channels // groups, *[kernel] * rank])}
    inputs = {f"{name}x": drawing.normal(rng, [batch, *size, channels])}
    nodes = [helper.make_node("Transpose", [f"{name}x"], [f"{name}f"], perm=to_first),
             helper.make_node("Conv", [f"{name}f", f"{name}w"], [f"{name}c"], name=f"{name}_conv", group=groups,
                              kernel_shape=[kernel] * rank, pads=pads, strides=[stride] * rank,
                              dilations=[dilation] * rank)]
    last = f"{name}c"
    if residual:
        inputs[f"{name}r"] = drawing.normal(rng, [batch, *out, outputs])
        nodes += [helper.make_node("Transpose", [f"{name}r"], [f"{name}q"], perm=to_first),
                  helper.make_node("Add", [last, f"{name}q"], [f"{name}s"])]
        last = f"{name}s"
    nodes.append(helper.make_node("Transpose", [last], [f"{name}y"], perm=to_last))
    return draw(name, f"conv {size} x {channels} -> {outputs}, kernel {kernel}, stride {stride}, pads {pads}, "
                f"dilation {dilation}, {groups} groups", nodes, inputs, weights)


def matmul(name, rows, depth, columns, batch=(), dynamic=False, constant=True, residual=False):
    rng = np.random.default_rng(len(name) + sum(map(ord, name)))
    inputs = {f"{name}a": drawing.normal(rng, [*batch, rows, depth])}
    b = drawing.normal(rng, [*(() if constant else batch), depth, columns])
    weights = {f"{name}b": b} if constant else {}
    if not constant:
        inputs[f"{name}b"] = b
    nodes = [helper.make_node("MatMul", [f"{name}a", f"{name}b"], [f"{name}p"], name=f"{name}_matmul")]
    if residual:
        inputs[f"{name}r"] = drawing.normal(rng, [*batch, rows, columns])
        nodes.append(helper.make_node("Add", [f"{name}p", f"{name}r"], [f"{name}y"]))
    known = {}
    if dynamic:
        known = {key: {len(batch): f"{name}rows"} for key in inputs if key != f"{name}b"}
        known[nodes[-1].output[0]] = {len(batch): f"{name}rows"}
    return draw(name, f"matmul {list(batch)} {rows} x {depth} x {columns}{' dynamic' if dynamic else ''}", nodes,
                inputs, weights, known)


def attention(number, is_open=False):
    """Draws an attention; `is_open` makes queries and keys dynamic if a kernel accepts that."""
    case = drawing.draw("attention", number)
    case.tolerance = ROUNDED
    if is_open:
        case.dynamic = {name: {axis: f"{case.name}_{name}_{axis}" for axis in range(1, len(array.shape))}
                        for name, array in case.inputs.items()}
    return case


class Emulated(support.Case):
    """Runs the loops on the highest level below AMX that this machine has, between guard pages."""

    def check(self, batch, *options):
        on = integer.supported(("x86-64-v3", "x86-64-v4"))
        if not on:
            self.skipTest("no AVX2")
        wrong = harness.check(BIN, batch, TARGET, (*OPTIONS, f"--emulate-on={on[-1]}", *options))
        self.assertEqual([f"{case.name}: {what}\n{case.text}" for case, what in wrong], [])


class DrawnSchedules(Emulated):
    """Draws schedules with AMX tiles of any height, and with other bf16 products of the level."""

    def test_products(self):
        for seed in range(1, 6):
            self.check([
                matmul(f"rows{seed}", 30 + 7 * seed, 96, 64),
                matmul(f"odd{seed}", 33 + seed, 101, 70, residual=True),
                matmul(f"batch{seed}", 20, 64, 24, batch=(2, 2)),
                matmul(f"open{seed}", 50 + seed, 64, 40, dynamic=True),
                attention(200 + seed),
            ], f"--schedule-seed={seed}")


class MatMul(Emulated):
    def test_rows_columns_and_sums(self):
        self.check([
            matmul("whole", 64, 128, 64),  # 2 x 2 tiles, steps of 32
            matmul("even", 40, 192, 64),  # tiles of 10 rows
            matmul("overlap", 35, 96, 32),  # 18 and 17 rows: 9 + 9, and tiles that overlap
            matmul("rest", 1000, 64, 16),  # the remaining 8 rows are fewer than those of an AMX tile
            matmul("one", 13, 64, 48),
            matmul("prime", 45, 2 * 17, 40),  # 17 groups: only one group of the last step counts
            matmul("odd", 33, 101, 70),  # the row ends inside a group
            matmul("short", 50, 31, 33),
            matmul("residual", 40, 64, 64, residual=True),
            matmul("runtime", 37, 70, 50, batch=(3,), constant=False),
            matmul("batch", 20, 64, 24, batch=(2, 2)),
        ])

    def test_dynamic_rows(self):
        self.check([matmul(f"rows{rows}", rows, 80, 48, dynamic=True) for rows in (1, 15, 16, 31, 55, 64)])


class Attention(Emulated):
    def test_drawn(self):
        """Attention with heads of all sizes, with masks, and with one key or many. All three steps use AMX tiles."""
        self.check([attention(number) for number in range(100, 116)])

    def test_open_sizes(self):
        self.check([attention(number, is_open=True) for number in range(116, 124)])


class Conv(Emulated):
    def test_windows(self):
        self.check([
            conv("same", [9, 28], 64, 64, 3),
            conv("wide", [5, 70], 32, 32, 3, residual=True),
            conv("seven", [7, 7], 128, 48, 3),
            conv("valid", [6, 35], 32, 16, 3, pads=[0] * 4),
            conv("stride", [15, 41], 32, 40, 3, stride=2),
            conv("dilated", [12, 30], 48, 32, 3, dilation=2),
            conv("uneven", [6, 21], 20, 24, 3, pads=[1, 2, 0, 1]),
            conv("odd", [6, 19], 37, 33, 3),
            conv("five", [8, 8], 24, 20, 5, batch=2),
            conv("groups", [7, 17], 96, 64, 3, groups=2, residual=True),
            conv("oddgroups", [7, 17], 2 * 33, 2 * 40, 3, groups=2, stride=2),
            conv("line", [90], 64, 32, 7),
            conv("space", [4, 5, 12], 16, 32, 3),
        ])


class Drawn(Emulated):
    def test_drawn(self):
        for kind in ("conv", "matmul"):
            batch = []
            for number in range(100, 116):
                case = drawing.draw(kind, number)
                case.inputs = {name: rounded(array) for name, array in case.inputs.items()}
                case.weights = {name: rounded(array) for name, array in case.weights.items()}
                case.tolerance = EXACT if case.text.endswith(":") else ROUNDED
                batch.append(case)
            self.check(batch)


class Amx(support.Case):
    def assembly(self, model, *options):
        path = self.path("model.s")
        done = support.tool("ingot", "compile", self.save(model), "-o", path, "--emit=asm", f"--target={TARGET}",
                            *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path) as f:
            return f.read()

    def test_instructions(self):
        rng = np.random.default_rng(0)
        weights = {"w": drawing.normal(rng, [64, 64, 3, 3]), "m": drawing.normal(rng, [64, 96])}
        model = make_model([helper.make_node("Transpose", ["x"], ["f"], perm=[0, 3, 1, 2]),
                            helper.make_node("Conv", ["f", "w"], ["c"], kernel_shape=[3, 3], pads=[1] * 4, name="conv"),
                            helper.make_node("Relu", ["c"], ["d"]),
                            helper.make_node("Transpose", ["d"], ["e"], perm=[0, 2, 3, 1]),
                            helper.make_node("MatMul", ["e", "m"], ["y"], name="product")],
                           [("x", [1, 56, 56, 64])], [("y", [1, 56, 56, 96])], weights)
        text = self.assembly(model, *OPTIONS)
        kernels = [kernel for kernel in re.split(r"\n(?=[A-Za-z_][\w.]*:)", text) if "tdpbf16ps" in kernel]
        self.assertEqual(len(kernels), 2)
        for kernel in kernels:
            # Tiles are configured once, before all loops. No tile is spilled, and no function is called.
            self.assertEqual(kernel.count("ldtilecfg"), 1)
            self.assertLess(kernel.index("ldtilecfg"), kernel.index("\n.LBB"))
            self.assertNotRegex(kernel, r"tile(loadd|stored)\b.*\(%rsp")
            self.assertNotRegex(kernel, r"\tcall")
            loops = [block for block in re.split(r"\n(?=\.LBB)", kernel) if "tdpbf16ps" in block]
            for block in loops:
                # Four products use two tiles of weights and two of rows.
                self.assertEqual(block.count("tdpbf16ps"), block.count("tileloadd"))
        self.assertNotIn("tdpbf16ps", self.assembly(model))

    def test_emulation_is_refused(self):
        model = make_model([helper.make_node("Relu", ["x"], ["y"])], [("x", [4])], [("y", [4])])
        for target, on, words in ((TARGET, "pentium", ["unknown CPU level 'pentium'"]),
                                  ("x86-64-v3", "x86-64-v4", ["x86-64-v4, which is above it"]),
                                  ("x86-64-v3,x86-64-v4", "x86-64-v2", ["for one CPU level"])):
            self.assert_refuses(model, *words, options=(f"--target={target}", f"--emulate-on={on}"))


del Emulated

if __name__ == "__main__":
    import unittest
    unittest.main()
