"""Sizes that ask for all memory; test/sweeps/operators.py looks for more."""
import os
import subprocess
import time

from support import BIN, Case, TensorProto, helper, make_model

HUGE = 2**31
# What takes a list that says sizes, axes or pads: (inputs, attributes).
LISTS = {"ConstantOfShape": (["s"], {}), "Expand": (["x", "s"], {}), "Reshape": (["x", "s"], {}),
         "Slice": (["x", "s", "s"], {}), "Pad": (["x", "s"], {}), "CenterCropPad": (["x", "s"], {}),
         "AffineGrid": (["x", "s"], {}), "MaxUnpool": (["x", "s", "s"], {"kernel_shape": [1, 1]}),
         "Tile": (["x", "s"], {}), "Resize": (["x", "", "", "s"], {}), "Squeeze": (["x", "s"], {}),
         "Unsqueeze": (["x", "s"], {}), "ReduceSum": (["x", "s"], {}), "Col2Im": (["x", "s", "s"], {})}


class Memory(Case):
    """Sizes are counted before anything is made of them."""

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
        """Operators that count along a dimension."""
        for op, shape, attributes, more in (
                ("Hardmax", [2, HUGE], {}, ()), ("Trilu", [HUGE, 2], {}, ()),
                ("EyeLike", [HUGE, 2], {}, ()),
                ("ReverseSequence", [HUGE, 2], {"time_axis": 0, "batch_axis": 1}, [("l", [2], TensorProto.INT64)])):
            with self.subTest(op=op):
                node = helper.make_node(op, ["x"] + [m[0] for m in more], ["y"], name="odd", **attributes)
                self.check(make_model([node], [("x", shape), *more], [("y", None)]), compiles=True)
