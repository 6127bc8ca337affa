"""Tests --optimize: the size of an artifact against its speed, and the compiler's report on both."""
import os
import re

import numpy as np
from onnx import TensorProto, helper, numpy_helper

from support import Case, make_model, tool

KIB = 1024
# Winograd rounds differently.
TOLERANCE = 1e-5


def model():
    """64 channels of 56x56, which suit tiles of 4x4; 128 channels of 28x28, whose tiles of 4x4 take many bytes."""
    rng = np.random.default_rng(0)
    nodes, weights, x = [], {}, "x"
    for i, (inputs, outputs, kernel, stride) in enumerate(((64, 64, 3, 1), (64, 128, 2, 2), (128, 128, 3, 1))):
        w = rng.standard_normal((outputs, inputs, kernel, kernel)) / np.sqrt(inputs * kernel ** 2)
        weights[f"w{i}"] = w.astype(np.float32)
        nodes.append(helper.make_node("Conv", [x, f"w{i}"], [f"y{i}"], strides=[stride] * 2,
                                      pads=[1 if kernel == 3 else 0] * 4))
        nodes.append(helper.make_node("Relu", [f"y{i}"], [f"z{i}"]))
        x = f"z{i}"
    return make_model(nodes, [("x", (1, 64, 56, 56), TensorProto.FLOAT)], [(x, None, TensorProto.FLOAT)], weights)


class Optimize(Case):
    def made(self, goal, *options):
        """Returns the artifact, the compiler's output, and KiB of code."""
        path = self.path(f"{goal}.so")
        done = tool("ingot", "compile", self.save(model()), "-o", path, "--target=x86-64-v3", f"--optimize={goal}",
                    *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return path, done.stdout, float(re.search(r"code ([0-9.]+) KiB", done.stdout)[1])

    def test_bytes_and_numbers(self):
        weights = sum(numpy_helper.to_array(w).nbytes for w in model().graph.initializer)
        x = np.random.default_rng(1).standard_normal((1, 64, 56, 56)).astype(np.float32)
        sizes, results, said = {}, {}, {}
        for goal in ("speed", "balanced", "size"):
            artifact, said[goal], _ = self.made(goal)
            sizes[goal] = os.path.getsize(artifact)
            results[goal] = self.run_model(artifact, {"x": x})["z2"]
            recorded = tool("ingot", "inspect", artifact, "--metadata", "ingot.optimize")
            self.assertEqual(recorded.stdout.strip(), "" if goal == "balanced" else goal)
        # Winograd's transformed weights are 4 times as large with tiles of 4x4, and 16/9 times as large with tiles of
        # 2x2.
        small, large = 64 * 64 * 4, 128 * 128 * 4
        more = {"speed": 27 * (small + large), "balanced": 27 * small + 7 * large, "size": 0}
        for goal, size in sizes.items():
            with self.subTest(goal=goal):
                self.assertLess(abs(size - weights - more[goal]), 64 * KIB)
                np.testing.assert_allclose(results[goal], results["size"], rtol=0,
                                           atol=TOLERANCE * np.abs(results["size"]).max())
                line = said[goal].splitlines()[1]
                self.assertIn("weights of the model 848.0 KiB", line)
                if goal == "size":
                    self.assertNotIn("transformed", line)
                else:
                    self.assertIn(f"transformed weights of 2 3x3 convolutions add {more[goal] / KIB:.1f} KiB "
                                  f"(--optimize={goal}; size adds none)", line)

    def test_code(self):
        code = {goal: self.made(goal, "--winograd=false")[2] for goal in ("balanced", "size")}
        self.assertLess(code["size"], code["balanced"])

    def test_computed_constants(self):
        """Constants that are larger than their operands are named, too."""
        nodes = [helper.make_node("Tile", ["w", "repeats"], ["t"]), helper.make_node("MatMul", ["x", "t"], ["y"])]
        source = make_model(nodes, [("x", (4, 256), TensorProto.FLOAT)], [("y", None, TensorProto.FLOAT)],
                            {"w": np.arange(1 << 14, dtype=np.float32).reshape(256, 64), "repeats": np.array([1, 8])})
        done = tool("ingot", "compile", self.save(source), "-o", self.path("model.so"))
        self.assertIn("constants that are computed when compiling add 448.0 KiB", done.stdout)

    def test_quiet(self):
        done = tool("ingot", "compile", self.save(model()), "-o", self.path("model.so"), "-q")
        self.assertEqual((done.stdout, done.stderr), ("", ""))

    def test_unknown(self):
        done = tool("ingot", "compile", self.save(model()), "-o", self.path("model.so"), "--optimize=small")
        self.assertEqual(done.returncode, 2)
        self.assert_one_line(done, "unknown --optimize=small: use speed, balanced or size")
