"""Tests transposes that quantize, dequantize or convert elements, at every CPU level of this machine.

Shapes are whole squares of rows and columns, parts of them, pixels of a few bytes, and more than one task."""
import os
import sys
import unittest

import numpy as np
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

from support import BIN, ROOT, Case, have
from test_levels import cap

sys.path.insert(0, os.path.join(ROOT, "test", "property"))

import harness  # noqa: E402
import integer  # noqa: E402

LEVELS = [level for level in integer.supported() if "@" not in level]
CHANNELS = (2, 3, 4, 5, 8, 15, 16, 17, 30, 43)
SIZES = ((1, 5), (3, 5), (4, 4), (7, 7), (11, 19))
LARGE = ((3, 120, 97), (72, 56, 57))
TO_LAST, TO_FIRST = [0, 2, 3, 1], [0, 3, 1, 2]


class QuantizedTransposes(Case):
    def draw(self, is_open, seed):
        """Returns a model with one transpose per shape and kind, and its inputs."""
        rng = np.random.default_rng(seed)
        nodes, inputs, outputs, feeds = [], [], [], {}
        constants = {"s": np.float32(0.04), "u": np.uint8(117), "i": np.int8(-9)}

        def add(x, kind, to_last, *steps):
            number = len(feeds)
            feeds[f"x{number}"] = x
            sizes = [f"n{number}_{i}" if is_open and i != (1 if to_last else 3) else size for i, size in enumerate(x.shape)]
            inputs.append(helper.make_tensor_value_info(f"x{number}", helper.np_dtype_to_tensor_dtype(x.dtype), sizes))
            value = f"x{number}"
            for i, (op, operands, attributes) in enumerate(steps):
                result = f"y{number}" if i == len(steps) - 1 else f"v{number}_{i}"
                nodes.append(helper.make_node(op, [value, *operands], [result], **attributes))
                value = result
            outputs.append(helper.make_tensor_value_info(value, kind, None))

        shapes = [(channels, *SIZES[i % len(SIZES)]) for i, channels in enumerate(CHANNELS)]
        shapes += [(channels, *SIZES[(i + 3) % len(SIZES)]) for i, channels in enumerate(CHANNELS)]
        last, first = ("Transpose", [], {"perm": TO_LAST}), ("Transpose", [], {"perm": TO_FIRST})
        for channels, height, width in (*shapes, *LARGE):
            floats = (4 * rng.standard_normal((1, channels, height, width))).astype(np.float32)
            bytes_ = rng.integers(0, 256, (1, height, width, channels)).astype(np.uint8)
            zero = rng.choice(["u", "i"])
            kind = TensorProto.UINT8 if zero == "u" else TensorProto.INT8
            pair = ["s", zero]
            add(floats, kind, True, ("QuantizeLinear", pair, {}), last)
            add(floats, kind, True, last, ("QuantizeLinear", pair, {}))
            add(bytes_ if zero == "u" else bytes_.view(np.int8), TensorProto.FLOAT, False, first, ("DequantizeLinear", pair, {}))
            add(floats, TensorProto.FLOAT, True, ("Abs", [], {}), last)
            add(floats, TensorProto.FLOAT16, True, ("Cast", [], {"to": TensorProto.FLOAT16}), last)
            add(floats.astype(np.float16), TensorProto.FLOAT, True, last, ("Cast", [], {"to": TensorProto.FLOAT}))
        graph = helper.make_graph(nodes, "transposes", inputs, outputs,
                                  [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()])
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 19)], ir_version=9)
        want = dict(zip([o.name for o in outputs], ReferenceEvaluator(model).run(None, feeds)))
        return model, feeds, want

    def test_every_level(self):
        for is_open in (False, True):
            model, feeds, want = self.draw(is_open, 11 + is_open)
            artifact = self.compile(model, "--target", ",".join(LEVELS))
            for level in LEVELS:
                with cap(level):
                    got = self.run_model(artifact, feeds)
                for name, value in want.items():
                    with self.subTest(level=level, is_open=is_open, name=name, shape=value.shape):
                        np.testing.assert_array_equal(got[name], value)

    @unittest.skipUnless(have("ingot-guarded-run"), "built without ingot-guarded-run")
    def test_between_guard_pages(self):
        """No memory outside of a tensor is accessed, and threads give equal bytes."""
        for is_open in (False, True):
            model, feeds, want = self.draw(is_open, 13 + is_open)
            for level in ("x86-64-v2", LEVELS[-1]):
                with self.subTest(level=level, is_open=is_open):
                    artifact = self.compile(model, "--weights=file", "--target", level)
                    got, notes = harness.run_guarded(BIN, artifact, self.dir, feeds, want)
                    self.assertEqual(notes, [])
                    for name, value in want.items():
                        np.testing.assert_array_equal(got[name], value, name)
