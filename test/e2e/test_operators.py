"""Tests sizes that request all memory; test/sweeps/operators.py looks for more."""
import os
import subprocess
import time

import numpy as np

from support import BIN, Case, TensorProto, helper, make_model, tool

HUGE = 2**31
# Operators that read a list of sizes, axes or pads from the input "s": (inputs, attributes).
LISTS = {"ConstantOfShape": (["s"], {}), "Expand": (["x", "s"], {}), "Reshape": (["x", "s"], {}),
         "Slice": (["x", "s", "s"], {}), "Pad": (["x", "s"], {}), "CenterCropPad": (["x", "s"], {}),
         "AffineGrid": (["x", "s"], {}), "MaxUnpool": (["x", "s", "s"], {"kernel_shape": [1, 1]}),
         "Tile": (["x", "s"], {}), "Resize": (["x", "", "", "s"], {}), "Squeeze": (["x", "s"], {}),
         "Unsqueeze": (["x", "s"], {}), "ReduceSum": (["x", "s"], {}), "Col2Im": (["x", "s", "s"], {})}


class Memory(Case):
    """Sizes are checked before anything is allocated."""

    def check(self, model, compiles=False):
        path, out = self.save(model), self.path("out.mlir")
        start = time.monotonic()
        done = subprocess.run(["bash", "-c", 'ulimit -v 3000000; exec "$@"', "-", os.path.join(BIN, "ingot"), "compile",
                               path, "--compile-to=linalg", "-o", out], capture_output=True, text=True, timeout=120)
        self.assertLess(time.monotonic() - start, 30)
        if compiles:
            self.assertEqual(done.returncode, 0, done.stderr)
        else:
            self.assert_one_line(done, "node 'odd'")

    def test_lists(self):
        for op, (inputs, attributes) in LISTS.items():
            for through in (False, True):
                with self.subTest(op=op, through=through):
                    names = [i.replace("s", "t") for i in inputs] if through else inputs
                    nodes = [helper.make_node("Identity", ["s"], ["t"])] if through else []
                    nodes.append(helper.make_node(op, names, ["y"], name="odd", **attributes))
                    self.check(make_model(nodes, [("x", [2, 3]), ("s", [HUGE], TensorProto.INT64)], [("y", None)],
                                          opset=20))

    def test_counting(self):
        """Operators whose result has indices or counts along a dimension."""
        for op, shape, attributes, more in (
                ("Hardmax", [2, HUGE], {}, ()), ("Trilu", [HUGE, 2], {}, ()),
                ("EyeLike", [HUGE, 2], {}, ()),
                ("ReverseSequence", [HUGE, 2], {"time_axis": 0, "batch_axis": 1}, [("l", [2], TensorProto.INT64)])):
            with self.subTest(op=op):
                node = helper.make_node(op, ["x"] + [m[0] for m in more], ["y"], name="odd", **attributes)
                self.check(make_model([node], [("x", shape), *more], [("y", None)]), compiles=True)


class Limit(Case):
    """--limit=tensor-elements: for tensors that a model declares, holds, gets a size for, or computes."""

    def test_tensor_elements(self):
        def one(op, inputs, shapes, initializers=(), **attributes):
            node = helper.make_node(op, inputs, ["y"], name="odd", **attributes)
            return make_model([node], shapes, [("y", None)], initializers)

        x = np.zeros((10, 10), np.float32)
        many = "1000 elements (--limit=tensor-elements)"
        for word, model, options in (
                ("input 'x'", one("Relu", ["x"], [("x", [10, 101])]), ()),
                ("input 'x'", one("Relu", ["x"], [("x", [10, "n"])]), ("--dim=n=101",)),
                ("input 'x'", one("Relu", ["x"], [("x", ["m", "n"])]), ("--shape=x=101x10",)),
                ("'w'", one("Add", ["x", "w"], [("x", [1])], {"w": np.zeros((7, 11, 13), np.float32)}), ()),
                ("node 'odd'", one("Tile", ["x", "s"], [("x", [10, 1])], {"s": np.array([1, 101])}), ()),
                ("node 'odd'", one("Expand", ["x", "s"], [("x", ["n", 1])], {"s": np.array([10, 101])}), ()),
                ("node 'odd'", one("Add", ["x", "y0"], [("x", [101, 1]), ("y0", [10])]), ())):
            with self.subTest(word=word, options=options):
                self.assert_refuses(model, word, many, options=["--limit=tensor-elements=1000", *options])
                self.compile(model, "--limit=tensor-elements=1K", *options)
        self.assert_refuses(one("Relu", ["x"], [("x", [2**43, 3])]), "input 'x'", f"{2**44} elements")
        kept = one("Tile", ["x", "s"], [("x", [10, 10])], {"s": np.array([1, 10], np.int64)})
        artifact = self.compile(kept, "--limit=tensor-elements=1000")
        np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], np.zeros((10, 100), np.float32))

    def test_values(self):
        model = self.save(make_model([helper.make_node("Relu", ["x"], ["y"])], [("x", [2])], [("y", [2])]))
        for value in ("0", "-1", "17T", "16385G", "9223372036854775807", "1.5G", "", "T", "1P"):
            with self.subTest(value=value):
                self.assert_refuses(model, f"'{value}' is not a count of 1 to 16T",
                                    options=[f"--limit=tensor-elements={value}"])
        self.compile(model, "--limit=tensor-elements=16T")
        done = tool("ingot", "compile", model, "--print-pipeline", "--limit=tensor-elements=1K")
        self.assertIn("onnx-legalize{max-elements=1024 max-loop-steps=1000000000}", done.stdout)
        self.assert_refuses(model, "the limits are nodes, function-nodes, nesting, graph-bytes, sparse-bytes, "
                            "tensor-elements, folded-bytes, loop-steps, e.g.", options=["--limit=elements=1"])
