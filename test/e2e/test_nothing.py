"""Tests tensors without elements, and operands beyond all sizes: a right result, or one line."""
import numpy as np

from support import Case, TensorProto, helper, make_model, tool


def floats(*shape):
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def ints(*values):
    return np.array(values, np.int64)


def names(prefix, rank):
    return [f"{prefix}{i}" for i in range(rank)]


class Ran(Case):
    sanitize = True

    def artifact(self, node, inputs, outputs=("y",), opset=24, weights=None, fixed=()):
        """Runs one node whose inputs ({name: array}) have dynamic dimensions, except for the lists in `fixed`."""
        def info(name, array):
            shape = list(array.shape) if name in fixed else names(name, array.ndim)
            return (name, shape, helper.np_dtype_to_tensor_dtype(array.dtype))
        model = make_model([node], [info(n, a) for n, a in inputs.items()], [(o, None) for o in outputs],
                           weights or {}, opset=opset)
        for output, kind in zip(model.graph.output, self.kinds(node, outputs, inputs)):
            output.type.tensor_type.elem_type = kind
        return self.compile(model)

    @staticmethod
    def kinds(node, outputs, inputs):
        if node.op_type == "DynamicQuantizeLinear":
            return (TensorProto.UINT8, TensorProto.FLOAT, TensorProto.UINT8)
        return [TensorProto.FLOAT] * len(outputs)

    def gives(self, node, inputs, *wanted, **how):
        outputs = list(node.output)
        got = self.run_model(self.artifact(node, inputs, outputs, **how), inputs)
        for name, want in zip(outputs, wanted):
            np.testing.assert_allclose(got[name], want, rtol=1e-5, atol=1e-6, strict=True)

    def refuses(self, node, inputs, *words, **how):
        artifact = self.artifact(node, inputs, list(node.output), **how)
        arguments = []
        for name, array in inputs.items():
            np.save(self.path(f"{name}.npy"), array)
            arguments += ["--input", f"{name}={self.path(name)}.npy"]
        self.assert_one_line(tool("ingot", "run", artifact, "--output-dir", self.path("out"), *arguments), *words)


def node(op, inputs, **attributes):
    outputs = attributes.pop("outputs", ["y"])
    return helper.make_node(op, list(inputs), outputs, name="n", **attributes)


class Reshapes(Ran):
    def test_copies_beside_what_is_left(self):
        """An empty batch keeps the number of columns."""
        reshape = node("Reshape", ["x", "shape"])
        for shape, want in (((0, -1), (0, 12)), ((0, 0, -1), (0, 3, 4)), ((-1, 4), (0, 4))):
            self.gives(reshape, {"x": floats(0, 3, 4)}, np.zeros(want, np.float32), weights={"shape": ints(*shape)})
            self.gives(reshape, {"x": floats(0, 3, 4), "shape": ints(*shape)}, np.zeros(want, np.float32),
                       fixed=("shape",))
        self.gives(reshape, {"x": floats(2, 0, 4)}, np.zeros((2, 0, 1, 4), np.float32),
                   weights={"shape": ints(2, 0, 1, -1)})

    def test_what_is_left_beside_nothing(self):
        reshape = node("Reshape", ["x", "shape"], allowzero=1)
        self.refuses(reshape, {"x": floats(0, 3, 4), "shape": ints(-1, 4, 0)}, "node 'n'", "one beside a 0",
                     fixed=("shape",))
        model = make_model([reshape], [("x", ["A", "B", "C"])], [("y", None)], {"shape": ints(-1, 4, 0)}, opset=24)
        self.assert_refuses(model, "node 'n'", "-1 beside a 0")
        self.refuses(node("Reshape", ["x", "shape"]), {"x": floats(2, 1), "shape": ints(-1, -1)}, "node 'n'",
                     "two -1", fixed=("shape",))

    def test_squeezed_though_empty(self):
        self.refuses(node("Squeeze", ["x", "axes"]), {"x": floats(0, 3, 0, 5), "axes": ints(-2)}, "node 'n'",
                     "dimension 2 of 0 elements cannot be squeezed", fixed=("axes",))


class Reductions(Ran):
    def test_axis_twice(self):
        for axes in ((1, 1), (0, -3)):
            self.refuses(node("ReduceSum", ["x", "axes"], keepdims=0),
                         {"x": floats(2, 3, 4), "axes": ints(*axes)}, "node 'n'", "one of them twice",
                         fixed=("axes",))

    def test_pools_of_nothing(self):
        for shape in ((1, 2, 0, 5), (1, 2, 5, 0)):
            self.refuses(node("GlobalMaxPool", ["x"]), {"x": floats(*shape)}, "node 'n'", "has 0")
            for op in ("MaxPool", "AveragePool"):
                self.refuses(node(op, ["x"], kernel_shape=[3, 3], pads=[2, 2, 2, 2]), {"x": floats(*shape)},
                             "node 'n'", "expects elements to pool")
        self.gives(node("GlobalAveragePool", ["x"]), {"x": floats(1, 0, 2, 2)}, np.zeros((1, 0, 1, 1), np.float32))

    def test_many_rows_of_nothing(self):
        """No loop iterates over 2^40 rows without elements, even if the reduction is over rows."""
        for op in ("ArgMax", "ArgMin", "Hardmax"):
            with self.subTest(op=op):
                kind = TensorProto.FLOAT if op == "Hardmax" else TensorProto.INT64
                artifact = self.compile(make_model([node(op, ["x"], axis=0)], [("x", ["a", "b"])],
                                                   [("y", ["c", "d"], kind)]))
                done = tool("ingot", "run", artifact, "--input", "random", "--shape", f"x={2**40}x0", timeout=30)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_numbers_of_rows_of_nothing(self):
        """No memory is needed for the means of 2^40 rows without elements, which an empty result does not read."""
        for op, shape, scales, attributes in (("LayerNormalization", f"{2**40}x0", 2, {}), ("CumSum", f"0x{2**40}", 0, {}),
                                              ("LpNormalization", f"{2**40}x0", 0, {}), ("Hardmax", f"0x{2**40}", 0, {"axis": 0}),
                                              ("LogSoftmax", f"0x{2**40}", 0, {"axis": 0})):
            with self.subTest(op=op):
                scale = [("s", ["b"]), ("t", ["b"])][:scales]
                weights = {"axis": np.array(0)} if op == "CumSum" else {}
                made = make_model([node(op, ["x", *weights, *(s[0] for s in scale)], **attributes)],
                                  [("x", ["a", "b"]), *scale], [("y", ["a", "b"])], weights)
                sizes = [part for s in scale for part in ("--shape", f"{s[0]}=0")]
                done = tool("ingot", "run", self.compile(made), "--input", "random", "--shape", f"x={shape}", *sizes,
                            timeout=30)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_no_pictures(self):
        """A dynamic length with one channel, which the number of elements (0) does not determine."""
        w = floats(2, 1, 3)
        conv = node("Conv", ["x", "w"], auto_pad="SAME_LOWER", strides=[2])
        model = make_model([conv], [("x", [0, 1, "l"])], [("y", [0, 2, "m"])], {"w": w})
        artifact = self.compile(model)
        for length in (1, 6, 13):
            got = self.run_model(artifact, {"x": floats(0, 1, length)})["y"]
            self.assertEqual(got.shape, (0, 2, -(-length // 2)))

    def test_loss_of_nothing(self):
        """The mean loss of an empty batch is NaN, as ReduceMean of an empty tensor."""
        for op in ("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss"):
            self.gives(node(op, ["x", "t"]), {"x": floats(0, 5), "t": np.zeros(0, np.int64)},
                       np.array(np.nan, np.float32), opset=22)
            self.refuses(node(op, ["x", "t"]), {"x": floats(3, 5), "t": np.zeros(0, np.int64)}, "node 'n'",
                         "dimension 0", opset=22)

    def test_range_of_nothing(self):
        """DynamicQuantizeLinear of zeros, or of an empty tensor, has the scale 1: a scale of 0 is invalid."""
        wanted = ["y", "scale", "zero"]
        for x in (floats(0), floats(0, 3), np.zeros((2, 2), np.float32)):
            self.gives(node("DynamicQuantizeLinear", ["x"], outputs=wanted), {"x": x}, np.zeros(x.shape, np.uint8),
                       np.array(1, np.float32), np.array(0, np.uint8))

    def test_variance_of_one(self):
        """E[x^2] - E[x]^2 is 0 for one element, because both products are rounded equally."""
        axes = [0, 1]
        nodes = [helper.make_node("ReduceMean", ["x", "axes"], ["m"]), helper.make_node("Mul", ["m", "m"], ["mm"]),
                 helper.make_node("Mul", ["x", "x"], ["xx"]), helper.make_node("ReduceMean", ["xx", "axes"], ["e"]),
                 helper.make_node("Sub", ["e", "mm"], ["v"]), helper.make_node("Sqrt", ["v"], ["y"])]
        model = make_model(nodes, [("x", ["A", "B"])], [("y", None)], {"axes": ints(*axes)}, opset=24)
        artifact = self.compile(model)
        for seed in range(8):
            x = np.random.default_rng(seed).standard_normal((1, 1)).astype(np.float32)
            np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], [[0]])

    def test_products_are_rounded(self):
        """x x - y y is 0 for x = y: both products are rounded equally."""
        nodes = [helper.make_node("Mul", ["x", "x"], ["xx"]), helper.make_node("Mul", ["z", "z"], ["zz"]),
                 helper.make_node("Sub", ["xx", "zz"], ["y"])]
        x = floats(1000)
        for shape in (["N"], [1000]):
            artifact = self.compile(make_model(nodes, [("x", shape), ("z", shape)], [("y", None)], opset=24))
            np.testing.assert_array_equal(self.run_model(artifact, {"x": x, "z": x})["y"], 0 * x)


class Recurrences(Ran):
    def test_no_batch(self):
        h = 3
        for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
            weights = {"w": floats(1, gates * h, 2), "r": floats(1, gates * h, h)}
            self.gives(node(op, ["x", "w", "r"], hidden_size=h, layout=1, outputs=["y", "yh"]),
                       {"x": floats(0, 4, 2)}, np.zeros((0, 4, 1, h), np.float32), np.zeros((0, 1, h), np.float32),
                       weights=weights, opset=22)

    def test_lengths(self):
        h = 3
        for op, gates in (("RNN", 1), ("GRU", 3), ("LSTM", 4)):
            weights = {"w": floats(1, gates * h, 2), "r": floats(1, gates * h, h)}
            net = node(op, ["x", "w", "r", "", "lens"], hidden_size=h, outputs=["y"])
            for lens in ((-1, 2), (2, 5), (0, 1 << 30)):
                self.refuses(net, {"x": floats(4, 2, 2), "lens": np.array(lens, np.int32)}, "node 'n'",
                             "sequence_lens", "4 steps", weights=weights, opset=22)


class Far(Ran):
    def test_triangles(self):
        x = floats(4, 5)
        for k in (2**63 - 1, -2**63, 2**40, -2**40):
            far = min(max(k, -100), 100)
            for upper in (0, 1):
                self.gives(node("Trilu", ["x", "k"], upper=upper), {"x": x, "k": np.array(k)},
                           (np.triu if upper else np.tril)(x, far))

    def test_cropped_before_repeated(self):
        x = floats(3, 4)
        for mode in ("wrap", "reflect", "edge"):
            for pads in ((0, 1, 0, -1), (0, -2, 1, 1), (1, -1, -1, 1)):
                low, high = np.array(pads[:2]), np.array(pads[2:])
                inner = x[max(-low[0], 0):3 + min(high[0], 0), max(-low[1], 0):4 + min(high[1], 0)]
                want = np.pad(inner, list(zip(np.maximum(low, 0), np.maximum(high, 0))), mode)
                pad = node("Pad", ["x", "pads"], mode=mode)
                self.gives(pad, {"x": x}, want, weights={"pads": ints(*pads)})
                self.gives(pad, {"x": x, "pads": ints(*pads)}, want, fixed=("pads",))

    def test_computed_pads(self):
        """Pads a constant: cropped, cropped to nothing, or empty from the start."""
        for size, low, high in ((3, 1, 2), (3, -1, 2), (3, 2, -1), (3, -3, 2), (3, -5, 4), (3, 4, -5), (3, 5, -4), (0, 2, 1),
                                (1, 0, 0), (0, 0, 0), (3, -3, 0), (3, -1, -2)):
            x = floats(2, size)
            want = np.full((4, size + low + high), 2.5, np.float32)
            first, count = max(-low, 0), max(min(size - max(-low, 0), size + low + high - max(low, 0)), 0)
            want[1:3, max(low, 0):max(low, 0) + count] = x[:, first:first + count]
            pad, weights, pads = node("Pad", ["x", "pads", "v"]), {"v": np.float32(2.5)}, ints(1, low, 1, high)
            self.gives(pad, {"x": x, "pads": pads}, want, weights=weights, fixed=("pads",))
            if max(-low, -high) > size:
                for fixed in ((), ("x",)):
                    self.gives(pad, {"x": x}, want, weights={**weights, "pads": pads}, fixed=fixed)


class Contracts(Ran):
    """Operators that ONNX defines as functions. The functions broadcast operands, but the operators must refuse such
    operands."""

    def test_affine_grid(self):
        grid = node("AffineGrid", ["theta", "size"])
        for theta, size, words in (((3, 2, 3), (2, 3, 5, 6), ("dimension 0 of theta", "3", "2")),
                                   ((2, 3, 3), (2, 3, 5, 6), ("dimension 1 of theta", "3", "2")),
                                   ((2, 2, 4), (2, 3, 5, 6), ("dimension 2 of theta", "4", "3")),
                                   ((1, 3, 4), (2, 3, 5, 6, 7), ())):
            self.refuses(grid, {"theta": floats(*theta)}, "node 'n'", *words, weights={"size": ints(*size)})

    def test_attention(self):
        attention = node("Attention", "qkv")
        good = {"q": (2, 3, 4, 8), "k": (2, 3, 6, 8), "v": (2, 3, 6, 5)}
        for bad, words in (({"v": (1, 3, 6, 5)}, ("dimension 0 of V", "1", "2")),
                           ({"k": (2, 3, 1, 8)}, ("dimension 2 of V", "6", "1")),
                           ({"v": (2, 1, 6, 5)}, ("dimension 1 of V", "1", "3")),
                           ({"k": (2, 2, 6, 8), "v": (2, 2, 6, 5)}, ("dimension 1 of Q", "3", "2"))):
            self.refuses(attention, {n: floats(*s) for n, s in {**good, **bad}.items()}, "node 'n'", *words)

    def test_attention_masks(self):
        attention = node("Attention", ["q", "k", "v", "m"], q_num_heads=3, kv_num_heads=3)
        for mask, word in (((4, 7), "attn_mask"), ((2, 6), "2"), ((2, 4, 6), "2"), ((3, 1, 4, 6), "3")):
            inputs = {"q": floats(2, 4, 24), "k": floats(2, 6, 24), "v": floats(2, 6, 24), "m": floats(*mask)}
            self.refuses(attention, inputs, "node 'n'", word)
        # A mask of four rows must not broadcast the single query.
        inputs = {"q": floats(2, 1, 24), "k": floats(2, 6, 24), "v": floats(2, 6, 24), "m": floats(4, 6)}
        self.refuses(attention, inputs, "node 'n'", "dimension 0 of attn_mask", "4", "1")

    def test_rotary_embedding(self):
        rotary = node("RotaryEmbedding", ["x", "c", "s"])
        for c, s in (((2, 3, 1), (2, 3, 4)), ((2, 3, 1), (2, 3, 1)), ((2, 3, 4), (2, 3, 1)), ((2, 3, 4), (1, 3, 4))):
            for fixed in (("x",), ()):
                self.refuses(rotary, {"x": floats(2, 4, 3, 8), "c": floats(*c), "s": floats(*s)}, "node 'n'", "_cache",
                             fixed=fixed)

    def test_swiglu(self):
        for b in ((1, 4), (2, 1)):
            self.refuses(node("SwiGLU", "ab"), {"a": floats(2, 4), "b": floats(*b)}, "node 'n'", "of B", opset=28)

    def test_known_when_compiling(self):
        for shapes, word in ((((2, 3, 4, 8), (2, 3, 6, 8), (1, 3, 6, 5)), "dimension 0 of V is 1"),
                             (((2, 3, 4, 8), (2, 3, 6, 7), (2, 3, 6, 5)), "dimension 3 of K is 7")):
            model = make_model([node("Attention", "qkv")], list(zip("qkv", shapes)), [("y", None)], opset=24)
            self.assert_refuses(model, "node 'n'", word)
