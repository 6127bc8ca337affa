"""Sizes that ask for all memory, and numbers at the end of their range; test/sweeps/operators.py looks for more."""
import os
import subprocess
import time

from support import BIN, Case, TensorProto, helper, make_model, np

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


class Extremes(Case):
    """Numbers that no size reaches, and with which sums overflow."""

    def test_diagonals(self):
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        for upper in (0, 1):
            for k in (-2**63, -3, 4, 2**63 - 1):
                wanted = np.where((np.arange(4) - np.arange(3)[:, None] >= float(k)) if upper else
                                  (np.arange(4) - np.arange(3)[:, None] <= float(k)), x, 0)
                node = helper.make_node("Trilu", ["x", "k"], ["y"], name="odd", upper=upper)
                for constant in (False, True):
                    with self.subTest(upper=upper, k=k, constant=constant):
                        number = np.array(k, np.int64)
                        model = make_model([node], [("x", [3, 4])] + [("k", [], TensorProto.INT64)] * (not constant),
                                           [("y", None)], {"k": number} if constant else {})
                        got = self.run_model(self.compile(model), {"x": x} | ({} if constant else {"k": number}))
                        np.testing.assert_array_equal(got["y"], wanted)
