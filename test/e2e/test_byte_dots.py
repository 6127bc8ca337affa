"""Tests kernels for AVX-VNNI, which multiplies groups of four bytes in 256-bit vectors: instructions and results."""
import re

import numpy as np

import quantized
from support import Case, tool

LEVEL, BELOW = "alderlake", "x86-64-v3"
KINDS = (quantized.EXACT, quantized.CLOSE, quantized.BETWEEN, quantized.TRAINED)


def products(depthwise=False):
    """A convolution, a matrix product and a single-channel convolution of bytes."""
    graph = quantized.Graph(1)

    def data(*shape):
        return graph.quantized_pair(graph.input(graph.rng.standard_normal(shape).astype(np.float32)), np.uint8, 0.05)[1]

    def store(value):
        graph.output(graph.quantized_pair(value, np.uint8, 0.1)[0], 2, exact=False)

    if depthwise:
        store(graph.node("Conv", [data(1, 48, 12, 17), graph.weights([48, 1, 3, 3], 0)], group=48, pads=[1] * 4))
        return graph.model()
    store(graph.node("Conv", [data(1, 64, 8, 12), graph.weights([48, 64, 3, 3], 0)], pads=[1] * 4))
    store(graph.node("MatMul", [data(30, 96), graph.weights([96, 64], 1)]))
    return graph.model()


class Instructions(Case):
    def assembly(self, model, level):
        path = self.path("model.s")
        done = tool("ingot", "compile", self.save(model), "-o", path, "--emit=asm", f"--target={level}")
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(path) as f:
            return f.read()

    def test_products(self):
        """No byte is widened for a product, and no product takes more than one instruction."""
        for depthwise in (False, True):
            with self.subTest(depthwise=depthwise):
                text = self.assembly(products(depthwise), LEVEL)
                dots = re.findall(r"\{vex\}\s+vpdpbusd\s.*%ymm", text)
                # Tiles have 6 rows and two vectors, with 4 groups of k.
                self.assertGreaterEqual(len(dots), 12 if depthwise else 2 * 48)
                self.assertEqual(text.count("vpdpbusd"), len(dots))
                for name in ("zmm", "vpmaddubsw", "vpmaddwd", "vpdpwssd"):
                    self.assertNotIn(name, text)
                self.assertNotIn("vpdp", self.assembly(products(depthwise), BELOW))

    def test_tile_stays_in_registers(self):
        """No sum of a loop over k is on the stack."""
        text = self.assembly(products(), LEVEL)
        loops = [block for block in re.split(r"\n\.L\w+:", text) if block.count("vpdpbusd") >= 48]
        self.assertGreaterEqual(len(loops), 2)
        for loop in loops:
            body = loop[:loop.rfind("vpdpbusd")]
            self.assertIsNone(re.search(r"vmov\w+\s+%ymm\d+, -?\d*\(%r[sb]p\)", body), loop)


class Emulated(Case):
    """Replaces the instruction by arithmetic. Results are bit-equal to those of the next lower level."""

    def test_whole_graphs(self):
        for kinds in KINDS:
            for seed in range(500, 504):
                graph = quantized.draw(kinds, seed)
                model = graph.model()
                want = self.run_model(self.compile(model, f"--target={BELOW}"), graph.feeds)
                got = self.run_model(self.compile(model, f"--target={LEVEL}", f"--emulate-on={BELOW}"), graph.feeds)
                for name, value in want.items():
                    np.testing.assert_array_equal(got[name], value, f"{name} of {kinds}, seed {seed}")

    def test_drawn_schedules(self):
        for seed in range(1, 4):
            graph = quantized.draw(quantized.EXACT, 600 + seed)
            model = graph.model()
            want = self.run_model(self.compile(model, f"--target={BELOW}"), graph.feeds)
            got = self.run_model(self.compile(model, f"--target={LEVEL}", f"--emulate-on={BELOW}",
                                              f"--schedule-seed={seed}"), graph.feeds)
            for name, value in want.items():
                np.testing.assert_array_equal(got[name], value, f"{name} of seed {seed}")
