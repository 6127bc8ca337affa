# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests single operators with only dynamic sizes. They write outputs into the host's memory, broadcast, gather, and
multiply by weights that are inputs."""
import itertools
import json

import onnx
from support import Case, TensorProto, helper, make_model, np, tool
from test_native_rows import supported_levels

TYPES = {np.dtype(np.float32): TensorProto.FLOAT, np.dtype(np.float64): TensorProto.DOUBLE,
         np.dtype(np.int64): TensorProto.INT64, np.dtype(np.bool_): TensorProto.BOOL,
         np.dtype(np.uint8): TensorProto.UINT8, np.dtype(np.int8): TensorProto.INT8}


def open_model(nodes, feeds, outputs, fixed=(), opset=17):
    """Makes a model with inputs like `feeds`. All dimensions are dynamic, except from dimension `fixed[input]` on."""
    fixed = dict(fixed)
    inputs = [(name, [f"{name}{i}" if i < fixed.get(name, value.ndim) else size for i, size in enumerate(value.shape)],
               TYPES[value.dtype]) for name, value in feeds.items()]
    return make_model(nodes, inputs, outputs, opset=opset)


class OpenOperators(Case):
    def setUp(self):
        super().setUp()
        self.rng = np.random.default_rng(0)

    def floats(self, *shape, dtype=np.float32):
        return self.rng.standard_normal(shape).astype(dtype)

    def check(self, model, runs, tolerance=1e-5):
        """Compiles once, and compares with ONNX Runtime for each of the inputs."""
        artifact = self.compile(model)
        for feeds in runs:
            with self.subTest({name: value.shape for name, value in feeds.items()}):
                self.assert_agrees(model, artifact, feeds, tolerance)
        return artifact

    def test_outputs_take_no_memory_of_the_run(self):
        """A result that is written to the host's buffer needs no memory in the arena, even if other ops read it."""
        nodes = [helper.make_node("Relu", ["x"], ["r"]), helper.make_node("Transpose", ["r"], ["y"]),
                 helper.make_node("Flatten", ["r"], ["f"], axis=0), helper.make_node("Identity", ["r"], ["again"])]
        model = open_model(nodes, {"x": self.floats(3, 5)},
                           [("r", list("nm")), ("y", list("mn")), ("f", list("ab")), ("again", list("cd"))])
        artifact = self.check(model, [{"x": self.floats(*shape)} for shape in ((37, 41), (1, 1), (0, 3), (5, 0))])
        done = tool("ingot", "inspect", artifact, "--shape", "x=1000x1000", "--json")
        self.assertLess(json.loads(done.stdout)["inferred"]["arena_bytes"], 1000 * 1000)

    def test_transposes_in_tasks(self):
        """Transposes in square blocks, and the rest element by element. Tasks consist of a few channels."""
        for perm in ([0, 2, 3, 1], [0, 3, 1, 2], [3, 2, 1, 0]):
            model = open_model([helper.make_node("Transpose", ["x"], ["y"], perm=perm)], {"x": self.floats(1, 2, 3, 4)},
                               [("y", list("abcd"))])
            self.check(model, [{"x": self.floats(*shape)} for shape in (
                (1, 64, 112, 56), (2, 5, 70, 90), (1, 60, 3, 2000), (1, 3, 200, 201), (1, 1, 7, 3), (1, 84, 90, 90))])

    def test_every_count_of_rows(self):
        """For any number of rows, the kernel adds to each row exactly once. The sum overwrites the addend, so that a
        second addition would show."""
        inner, columns = 33, 70
        nodes = [helper.make_node("MatMul", ["x", "w"], ["p"]), helper.make_node("Exp", ["r"], ["e"]),
                 helper.make_node("Add", ["p", "e"], ["y"])]
        model = make_model(nodes, [("x", ["n", inner]), ("r", ["n", columns])], [("y", None)],
                           {"w": self.floats(inner, columns)})
        # With a small second-level cache, weights do not fit it and come from the third.
        for level in (*supported_levels(), *(f"{level},l2=4K" for level in supported_levels()), "native"):
            for options, tolerance in ((), 1e-5), (("--precision=bf16",), 2e-2), (("--precision=int8-dynamic",), 4e-2):
                artifact = self.compile(model, f"--target={level}", *options)
                for rows in range(1, 30):
                    with self.subTest(level=level, options=options, rows=rows):
                        feeds = {"x": self.floats(rows, inner), "r": self.floats(rows, columns)}
                        self.assert_agrees(model, artifact, feeds, tolerance)

    # Each entry: taps, stride, dilation and padding along a row.
    WINDOWS = ((3, 1, 1, (1, 1)), (3, 2, 1, (1, 1)), (3, 1, 2, (2, 2)), (5, 1, 1, (2, 2)), (5, 2, 1, (2, 2)),
               (5, 1, 1, (0, 0)), (5, 3, 1, (2, 3)), (4, 1, 1, (0, 3)), (11, 1, 1, (5, 5)))

    def check_every_width(self, group, outputs, most, compilations):
        """Runs two convolutions of 20 channels on rows of up to `most` pixels. The first adds into its operand, the
        second does not. `compilations` maps options to tolerances."""
        for taps, stride, dilation, pads in self.WINDOWS:
            conv = dict(group=group, strides=[1, stride], dilations=[1, dilation], pads=[1, pads[0], 1, pads[1]])
            nodes = [helper.make_node("Conv", ["x", "w"], ["c"], **conv), helper.make_node("Exp", ["r"], ["e"]),
                     helper.make_node("Add", ["c", "e"], ["s"]), helper.make_node("Conv", ["x", "w"], ["t"], **conv),
                     helper.make_node("Relu", ["t"], ["y"])]
            model = make_model(nodes, [("x", [1, 20, "h", "w"]), ("r", [1, outputs, "h", "v"])],
                               [("s", None), ("y", None)], {"w": self.floats(outputs, 20 // group, 3, taps)})
            for options, tolerance in compilations.items():
                artifact = self.compile(model, *options.split())
                for width in range(1, most + 1):
                    out = (width + sum(pads) - (taps - 1) * dilation - 1) // stride + 1
                    if width + sum(pads) <= (taps - 1) * dilation:
                        continue
                    with self.subTest(options=options, taps=taps, stride=stride, dilation=dilation, pads=pads,
                                      width=width):
                        feeds = {"x": self.floats(1, 20, 3, width), "r": self.floats(1, outputs, 3, out)}
                        self.assert_agrees(model, artifact, feeds, tolerance)

    def test_every_width_of_single_channels(self):
        """Depthwise convolutions, for any width of a row: the kernel adds to each pixel exactly once."""
        self.check_every_width(20, 20, 30, {f"--target={t}": 1e-5 for t in ("x86-64-v2", "x86-64-v3", "native")})

    def test_every_width_of_groups(self):
        """Grouped convolutions, for any width of a row: the kernel stores each pixel exactly once."""
        self.check_every_width(2, 12, 32, {"--target=x86-64-v2": 1e-5, "--target=x86-64-v3": 1e-5,
                                           "--target=native": 1e-5, "--target=native --precision=fp16": 1e-2})

    def test_products_of_inputs(self):
        """Products whose right factor is an input. Columns do not fill a panel, and rows do not fill a tile."""
        for columns in (1, 3, 15, 17, 33, 38, 66):
            nodes = [helper.make_node("MatMul", ["x", "w"], ["y"]), helper.make_node("Transpose", ["v"], ["t"], perm=[0, 2, 1]),
                     helper.make_node("MatMul", ["x", "t"], ["z"])]
            for rows in (5, 9, 11, 23, 89):
                feeds = {"x": self.floats(3, rows, 37), "w": self.floats(3, 37, columns), "v": self.floats(3, columns, 37)}
                fixed = make_model(nodes, [(name, value.shape) for name, value in feeds.items()], [("y", None), ("z", None)])
                self.check(fixed, [feeds])
                if rows == 89:
                    model = open_model(nodes, feeds, [("y", list("abc")), ("z", list("def"))])
                    self.check(model, [{"x": self.floats(3, n, 37), "w": feeds["w"], "v": feeds["v"]}
                                       for n in (1, 2, 5, 9, 11, 23, 89)])

    def test_slices_of_one_position(self):
        """x[i:i+1] has one element, or none if i is out of range. The list of starts of another slice needs the
        element."""
        model = onnx.parser.parse_model("""<ir_version: 10, opset_import: ["": 18]>
            g (float[n,m] x, int64[k] list, int64[1] i) => (float[a,b] row, int64[c] start, float[d,e] y) {
            one = Constant <value_ints = [1]> ()
            two = Constant <value_ints = [2]> ()
            next = Add(i, one)
            after = Add(i, two)
            row = Slice(x, i, next)
            start = Slice(list, i, next)
            end = Slice(list, next, after)
            y = Slice(x, start, end)
        }""")
        runs = [{"x": self.floats(4, 3), "list": np.array([1, 3, 2, 2, 9]), "i": np.array([i])} for i in (0, 1, 2, 3, -3)]
        artifact = self.check(model, runs)
        for i in (4, 7, -1):
            feeds = {**runs[0], "i": np.array([i])}
            for name, value in feeds.items():
                np.save(self.path(f"{name}.npy"), value)
            self.assert_one_line(tool("ingot", "run", artifact, *(f"--input={k}={self.path(k)}.npy" for k in feeds)),
                                 "node 'Slice:y'", "dimension 0 of 'ends' is 0, but must be 1" if i == 4 else
                                 "dimension 0 of 'starts' is 0, but must be 1")
        model.graph.node.pop()
        model.graph.output.pop()
        self.check(model, [{**runs[0], "i": np.array([i])} for i in range(-6, 7)])

    def test_slices_between_convolutions(self):
        """Slices a convolution's result with computed bounds and a step of 1 or 2."""
        for step in (1, 2):
            model = onnx.parser.parse_model(f"""<ir_version: 10, opset_import: ["": 18]>
                g (float[n,8,t] x, float[8,8,1] w, float[8,8,3] v, int64[1] from, int64[1] to)
                    => (float[a,8,b] y, float[c,8,d] z) {{
                two = Constant <value_ints = [2]> ()
                step = Constant <value_ints = [{step}]> ()
                p = Conv(x, w)
                part = Slice(p, from, to, two, step)
                r = Relu(part)
                y = Conv <pads = [1, 1]> (r, v)
                z = Add(part, part)
            }}""")
            weights = {"w": self.floats(8, 8, 1), "v": self.floats(8, 8, 3)}
            for name, value in weights.items():
                model.graph.initializer.append(onnx.numpy_helper.from_array(value, name))
            del model.graph.input[1:3]
            self.check(model, [{"x": self.floats(n, 8, t), "from": np.array([first]), "to": np.array([last])}
                               for n, t, first, last in ((2, 37, 5, 30), (1, 37, -7, 2**62), (3, 9, -100, -1), (1, 1, 0, 9),
                                                         (2, 12, 11, 12), (1, 40, 1, -1))])
            # The slice or the input is empty.
            model.graph.node.pop(-2)
            del model.graph.output[0]
            self.check(model, [{"x": self.floats(n, 8, t), "from": np.array([first]), "to": np.array([last])}
                               for n, t, first, last in ((2, 12, 12, 12), (2, 12, 7, 3), (2, 12, 30, 50), (0, 12, 1, 3))])

    def test_states_that_are_outputs(self):
        """The initial value of a loop's state and its final value are both outputs."""
        body = helper.make_graph(
            [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Mul", ["s", "two"], ["t"])], "body",
            [helper.make_tensor_value_info("i", TensorProto.INT64, []),
             helper.make_tensor_value_info("c", TensorProto.BOOL, []),
             helper.make_tensor_value_info("s", TensorProto.FLOAT, ["n"])],
            [helper.make_tensor_value_info("d", TensorProto.BOOL, []),
             helper.make_tensor_value_info("t", TensorProto.FLOAT, ["n"])])
        nodes = [helper.make_node("Neg", ["x"], ["begin"]),
                 helper.make_node("Loop", ["steps", "", "begin"], ["end"], body=body),
                 helper.make_node("Add", ["begin", "end"], ["sum"])]
        model = make_model(nodes, [("x", ["n"]), ("steps", [], TensorProto.INT64)],
                           [("begin", ["n"]), ("end", ["n"]), ("sum", ["n"])], {"two": np.float32(2)})
        self.check(model, [{"x": self.floats(n), "steps": np.array(steps)} for n in (0, 1, 33) for steps in (0, 1, 3)])

    def test_ways_to_broadcast(self):
        """In each dimension, each operand has one element or all. Tests also a fused chain, and booleans."""
        nodes = [helper.make_node("Sub", ["a", "b"], ["d"]), helper.make_node("Max", ["d", "c"], ["y"]),
                 helper.make_node("Less", ["a", "c"], ["l"])]
        model = open_model(nodes, {"a": self.floats(1, 1), "b": self.floats(1, 1), "c": self.floats(1, 1)},
                           [("y", list("nm")), ("l", list("km"), TensorProto.BOOL)])
        sizes = list(itertools.product((1, 7), (1, 19)))
        runs = [{"a": self.floats(*a), "b": self.floats(*b), "c": self.floats(*c)}
                for a, b, c in itertools.product(sizes, repeat=3)]
        runs += [{"a": self.floats(0, 1), "b": self.floats(1, 3), "c": self.floats(1, 1)},
                 {"a": self.floats(2, 1), "b": self.floats(1, 0), "c": self.floats(1, 1)},
                 {"a": np.full((3, 1), np.nan, np.float32), "b": self.floats(1, 5), "c": self.floats(3, 5)}]
        artifact = self.compile(model)
        for feeds in runs:
            got = self.run_model(artifact, feeds)
            np.testing.assert_array_equal(got["y"], np.maximum(feeds["a"] - feeds["b"], feeds["c"]))
            np.testing.assert_array_equal(got["l"], feeds["a"] < feeds["c"])

    def test_where(self):
        """Three operands, of ranks 1 to 3."""
        nodes = [helper.make_node("Where", ["c", "x", "z"], ["y"])]
        model = open_model(nodes, {"c": np.ones((1, 1, 1), bool), "x": self.floats(1, 1), "z": self.floats(1)},
                           [("y", list("nmk"))])
        runs = []
        for c, x, z in itertools.product(((2, 3, 17), (2, 1, 1), (1, 3, 17)), ((3, 17), (1, 17), (3, 1)), (1, 17)):
            runs.append({"c": self.rng.random(c) > 0.5, "x": self.floats(*x), "z": self.floats(z)})
        self.check(model, runs, 0)

    def test_pooling(self):
        """Pooling over one to three dimensions, for any number of channels, with few and many taps, pads, strides and
        dilations."""
        kinds = ((1, dict(kernel_shape=[2], strides=[2])), (2, dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)),
                 (2, dict(kernel_shape=[1, 13], pads=[0, 6, 0, 6])), (2, dict(kernel_shape=[1, 1], strides=[2, 3])),
                 (2, dict(kernel_shape=[2, 3], strides=[2, 1], ceil_mode=1)),
                 (3, dict(kernel_shape=[2, 2, 2], strides=[2, 2, 2])),
                 (3, dict(kernel_shape=[3, 3, 3], pads=[1] * 6, dilations=[1, 2, 1])))
        for (n, attributes), (op, dtype, more) in itertools.product(
                kinds, (("MaxPool", np.float32, {}), ("MaxPool", np.float64, {}), ("MaxPool", np.int8, {}),
                        ("AveragePool", np.float32, {}), ("AveragePool", np.float32, {"count_include_pad": 1}))):
            node = helper.make_node(op, ["x"], ["y"], **attributes, **more)
            runs = [{"x": (self.floats(*lead, *(9, 11, 7)[:n]) * 50).astype(dtype)}
                    for lead in ((2, 5), (1, 1), (0, 3), (1, 33))]
            model = open_model([node], runs[0], [("y", list("abcde")[:n + 2], TYPES[np.dtype(dtype)])], opset=22)
            with self.subTest(op=op, dtype=dtype, **attributes):
                self.check(model, runs)

    def test_batch_normalization(self):
        """Each parameter has one element per channel, for any number of channels."""
        node = helper.make_node("BatchNormalization", list("xsbmv"), ["y"], name="norm")

        def feeds(*shape):
            return {"x": self.floats(*shape), **{name: self.floats(shape[1]) for name in "sbm"},
                    "v": self.rng.random(shape[1]).astype(np.float32) + 0.1}
        runs = [feeds(*shape) for shape in ((2, 5, 7, 9), (1, 1, 1, 1), (0, 3, 2, 2), (1, 33, 1, 50))]
        self.check(open_model([node], runs[0], [("y", list("abcd"))]), runs)

    def test_rotary_embedding(self):
        """Both versions of the operator, for whole and partial heads, with and without positions, for 3-D and 4-D
        inputs."""
        def positions(batch, steps):
            return self.rng.integers(0, 20, (batch, steps))

        def row(domain, *arrays):
            names = "xcsp" if not domain else "xpcs"
            return dict(zip(names, arrays))

        sizes = ((2, 3, 5, 16), (1, 1, 1, 2), (3, 2, 7, 6), (2, 1, 9, 10), (0, 2, 3, 8), (2, 3, 0, 8))
        for domain, interleaved, part in itertools.product(("", "com.microsoft"), (0, 1), (0, 4)):
            for flat in (False, True):
                attributes = {"interleaved": interleaved, **({"rotary_embedding_dim": part} if part else {}),
                              **({"num_heads": 2} if flat or (domain and part) else {})}
                runs = []
                for batch, heads, steps, width in sizes:
                    heads = 2 if "num_heads" in attributes else heads
                    width += part
                    shape = (batch, steps, heads * width) if flat else (batch, heads, steps, width)
                    caches = [self.floats(20, (part or width) // 2) for _ in range(2)]
                    where = positions(batch, steps)
                    runs.append(row(domain, self.floats(*shape), *((where, *caches) if domain else (*caches, where))))
                node = helper.make_node("RotaryEmbedding", list(runs[0]), ["y"], domain=domain, **attributes)
                outputs = [("y", list("abc" if flat else "abcd"))]
                model = open_model([node], runs[0], outputs, opset=23)
                model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
                self.check(model, runs)
        node = helper.make_node("RotaryEmbedding", ["x", "c", "s"], ["y"])
        runs = [{"x": self.floats(b, h, s, 2 * w), "c": self.floats(b, s, w), "s": self.floats(b, s, w)}
                for b, h, s, w in ((2, 3, 5, 4), (1, 1, 1, 1))]
        model = open_model([node], runs[0], [("y", list("abcd"))], opset=23)
        self.check(model, runs)

    def test_products(self):
        """Numbers of rows, columns and k around the sizes of tiles, panels and blocks, in f32 and f64."""
        for dtype in (np.float32, np.float64):
            nodes = [helper.make_node("MatMul", ["a", "b"], ["y"])]
            model = open_model(nodes, {"a": self.floats(1, 1, dtype=dtype), "b": self.floats(1, 1, dtype=dtype)},
                               [("y", list("nm"), TYPES[np.dtype(dtype)])])
            sizes = ((1, 1, 1), (6, 256, 64), (7, 257, 65), (13, 5, 17), (49, 3, 131), (101, 300, 8), (5, 0, 3),
                     (0, 4, 3), (3, 4, 0), (50, 200, 1), (5, 17, 3), (7, 3, 2), (3, 70, 50), (1, 513, 130), (2, 5, 9), (9, 1, 1))
            self.check(model, [{"a": self.floats(m, k, dtype=dtype), "b": self.floats(k, n, dtype=dtype)}
                               for m, k, n in sizes])

    def test_products_of_integers(self):
        """Products of unsigned and signed bytes, with and without zero points. No sum overflows."""
        for m, k, n in ((1, 300, 70), (7, 257, 65), (50, 33, 131), (3, 0, 5), (9, 100, 2), (3, 6, 20), (4, 5, 3)):
            a = self.rng.integers(0, 256, (m, k)).astype(np.uint8)
            b = self.rng.integers(-128, 128, (k, n)).astype(np.int8)
            zeros = {"za": np.array(7, np.uint8), "zb": np.array(-3, np.int8)}
            for names in ([], ["za", "zb"]):
                nodes = [helper.make_node("MatMulInteger", ["a", "b", *names], ["y"])]
                feeds = {"a": a, "b": b, **{name: zeros[name] for name in names}}
                model = open_model(nodes, feeds, [("y", list("nm"), TensorProto.INT32)])
                got = self.run_model(self.compile(model), feeds)["y"]
                less = [int(feeds.get(name, 0)) for name in zeros]
                np.testing.assert_array_equal(got, (a.astype(np.int32) - less[0]) @ (b.astype(np.int32) - less[1]))

    def test_products_of_pairs_of_bytes(self):
        """Signed and unsigned bytes, batches, odd k, partial panels, and the largest values: instructions add two
        products at once."""
        sizes = ((1, 1, 1), (3, 7, 9), (5, 1, 17), (6, 3, 16), (7, 2, 64), (13, 255, 65), (4, 257, 33), (20, 512, 3), (20, 513, 70),
                 (2, 300, 80), (9, 0, 5), (40, 31, 200))
        for left, right, batch in itertools.product((np.uint8, np.int8), (np.uint8, np.int8), ((), (2,))):
            nodes = [helper.make_node("MatMulInteger", ["a", "b", "za", "zb"], ["y"])]
            feeds = {"a": np.zeros((*batch, 1, 1), left), "b": np.zeros((*batch, 1, 1), right),
                     "za": np.array(5, left), "zb": np.array(100, right)}
            artifact = self.compile(open_model(nodes, feeds, [("y", None, TensorProto.INT32)]))
            for m, k, n in sizes:
                with self.subTest(left=left, right=right, batch=batch, m=m, k=k, n=n):
                    for name, shape in (("a", (m, k)), ("b", (k, n))):
                        bounds = np.iinfo(feeds[name].dtype)
                        feeds[name] = self.rng.integers(bounds.min, bounds.max, (*batch, *shape), bounds.dtype, endpoint=True)
                        if n % 2:
                            feeds[name][...] = bounds.min or bounds.max
                    want = (feeds["a"].astype(np.int64) - 5) @ (feeds["b"].astype(np.int64) - 100)
                    np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], want)

    def test_convolutions_of_bytes_by_weights_of_the_run(self):
        for x, w, attributes in (((1, 5, 9, 11), (17, 5, 3, 3), dict(pads=[1, 1, 1, 1])),
                                 ((2, 4, 8), (6, 2, 3), dict(group=2, strides=[2]))):
            feeds = {"x": self.rng.integers(0, 256, x).astype(np.uint8),
                     "w": self.rng.integers(0, 256, w).astype(np.uint8), "z": np.array(3, np.uint8)}
            nodes = [helper.make_node("ConvInteger", ["x", "w", "z"], ["y"], **attributes)]
            model = open_model(nodes, feeds, [("y", list("nabc")[:len(x)], TensorProto.INT32)], {"w": 2})
            self.check(model, [feeds])

    def test_transposed_and_batched_products(self):
        for equation, a, b in (("bik,bjk->bij", (3, 20, 31), (3, 70, 31)), ("bik,kj->bij", (4, 9, 33), (33, 67)),
                               ("bn,anm,bm->ba", (7, 11), (5, 11, 13))):
            feeds = {"a": self.floats(*a), "b": self.floats(*b)}
            if equation.count(",") == 2:
                feeds["c"] = self.floats(7, 13)
            nodes = [helper.make_node("Einsum", list(feeds), ["y"], equation=equation)]
            rank = len(equation.partition("->")[2])
            model = open_model(nodes, feeds, [("y", list("uvw")[:rank])])
            self.check(model, [feeds])

    def test_few_rows_by_a_factor_of_the_run(self):
        for rows in (1, 2, 7, 23, 24):
            feeds = {"a": self.floats(rows, 70), "b": self.floats(70, 131)}
            nodes = [helper.make_node("Gemm", ["a", "b"], ["g"]), helper.make_node("Relu", ["g"], ["y"])]
            model = make_model(nodes, [(n, list(v.shape)) for n, v in feeds.items()], [("y", [rows, 131])])
            self.check(model, [feeds])

    def test_few_columns_of_the_run(self):
        for columns, transposed in itertools.product((1, 3, 4), (0, 1)):
            feeds = {"a": self.floats(33, 150), "b": self.floats(*((columns, 150) if transposed else (150, columns)))}
            nodes = [helper.make_node("Gemm", ["a", "b"], ["g"], transB=transposed),
                     helper.make_node("Sigmoid", ["g"], ["y"])]
            model = make_model(nodes, [(n, list(v.shape)) for n, v in feeds.items()], [("y", [33, columns])])
            self.check(model, [feeds])

    # Input, weights, attributes.
    CONVS = [((1, 5, 9, 11), (7, 5, 3, 3), dict(pads=[1, 1, 1, 1])), ((2, 16, 8, 8), (33, 16, 1, 1), {}),
             ((1, 8, 10, 10), (8, 1, 3, 3), dict(group=8, pads=[1, 0, 1, 0])),
             ((1, 8, 10, 10), (8, 2, 3, 3), dict(group=4)), ((1, 6, 7, 7), (4, 3, 3, 3), dict(group=2, strides=[2, 1])),
             ((2, 3, 40), (20, 3, 5), dict(dilations=[2], pads=[4, 4])),
             ((1, 3, 5, 6, 7), (4, 3, 2, 3, 2), dict(strides=[2, 2, 1])), ((1, 32, 20, 20), (32, 32, 3, 3), {}),
             ((2, 32, 9, 13), (32, 1, 3, 3), dict(group=32, pads=[1, 1, 1, 1], strides=[1, 2])),
             ((1, 24, 9, 9), (48, 3, 3, 3), dict(group=8, pads=[2, 2, 2, 2], dilations=[2, 2]))]

    def test_convolutions_by_weights_of_the_run(self):
        for (x, w, attributes), is_open in itertools.product(self.CONVS, (False, True)):
            feeds = {"x": self.floats(*x), "w": self.floats(*w), "b": self.floats(w[0])}
            nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], **attributes),
                     helper.make_node("Relu", ["c"], ["y"])]
            known = {} if is_open else {"x": 0, "w": 0, "b": 0}
            model = open_model(nodes, feeds, [("y", list("nabcd")[:len(x)])], {"w": 2, **known})
            self.check(model, [feeds])

    def test_transposed_convolutions_by_weights_of_the_run(self):
        for x, w, attributes in (((1, 4, 6, 7), (4, 5, 4, 4), dict(strides=[2, 2], pads=[1, 1, 1, 1])),
                                 ((2, 6, 9), (6, 2, 3), dict(group=3, strides=[3])),
                                 ((1, 8, 5, 5), (8, 1, 3, 3), dict(group=8)),
                                 ((1, 16, 5, 5), (16, 2, 3, 4), dict(group=8, strides=[2, 2])),
                                 ((1, 3, 5, 5), (3, 4, 2, 3), dict(strides=[3, 2], output_padding=[1, 1])),
                                 ((1, 3, 5, 5), (3, 4, 3, 3), dict(strides=[2, 2], pads=[1, 1, 1, 1], output_padding=[1, 1])),
                                 ((1, 3, 1, 2), (3, 4, 3, 5), dict(strides=[2, 4], pads=[0, 1, 2, 0], dilations=[3, 2])),
                                 ((1, 2, 2, 3, 4), (2, 3, 2, 3, 2), dict(strides=[2, 1, 2], pads=[0, 1, 0, 0, 1, 1])),
                                 ((1, 2, 3, 3), (2, 3, 4, 4), dict(strides=[2, 2], pads=[3, 3, 0, 0])),
                                 ((1, 2, 8), (2, 3, 3), dict(strides=[2], dilations=[2], pads=[1, 2]))):
            for is_open in (False, True):
                feeds = {"x": self.floats(*x), "w": self.floats(*w)}
                nodes = [helper.make_node("ConvTranspose", ["x", "w"], ["y"], **attributes)]
                known = {} if is_open else {"x": 0, "w": 0}
                model = open_model(nodes, feeds, [("y", list("nabcd")[:len(x)])], {"w": 2, **known})
                one = {**feeds, "x": self.floats(*x[:2], *[max(1, size // 2) for size in x[2:]])}
                self.check(model, [feeds, one] if is_open else [feeds])

    def test_transposed_convolutions_of_many_phases(self):
        """Transposed convolutions with large strides, as in inverse short-time Fourier transforms and upsampling by
        32."""
        for x, w, attributes in (((1, 10, 7), (10, 1, 400), dict(strides=[160])),
                                 ((1, 5, 7), (5, 3, 400), dict(strides=[160], pads=[200, 199])),
                                 ((1, 4, 5), (4, 2, 320), dict(strides=[160], pads=[80, 81], output_padding=[3])),
                                 ((2, 4, 5), (4, 2, 100), dict(strides=[160], output_padding=[159])),
                                 ((1, 3, 7), (3, 1, 512), dict(strides=[128], pads=[300, 40])),
                                 ((1, 5, 4, 3), (5, 6, 64, 64), dict(strides=[32, 32], pads=[16, 16, 16, 16]))):
            spread = [1, *[(size - 1) * attributes["strides"][i] - sum(attributes.get("pads", [0] * 4)[i::len(x) - 2]) +
                           w[2 + i] + attributes.get("output_padding", [0] * 2)[i] for i, size in enumerate(x[2:])]]
            feeds = {"x": self.floats(*x), "m": self.floats(x[0], *spread)}
            weights = self.floats(*w)
            nodes = [helper.make_node("Constant", [], ["w"], value=onnx.numpy_helper.from_array(weights)),
                     helper.make_node("ConvTranspose", ["x", "w"], ["c"], **attributes),
                     helper.make_node("Mul", ["c", "m"], ["y"])]
            for known in ({"x": 0, "m": 0}, {}):
                self.check(open_model(nodes, feeds, [("y", list("nabcd")[:len(x)])], known), [feeds])

    def test_gathers_from_open_tables(self):
        """Gathers rows or single elements. A table may be empty if there are no indices."""
        table, at = {"x": self.floats(6, 5)}, np.array([[5, 0, -1], [2, -6, 3]])
        for axis in (0, 1):
            nodes = [helper.make_node("Gather", ["x", "at"], ["y"], axis=axis)]
            model = open_model(nodes, {**table, "at": at}, [("y", list("abc"))])
            self.check(model, [{**table, "at": np.clip(at, -5, 4)},
                               {"x": np.zeros((0, 0), np.float32), "at": np.zeros((0, 3), np.int64)},
                               {"x": self.floats(5, 5), "at": np.zeros((2, 0), np.int64)}])
        nodes = [helper.make_node("GatherElements", ["x", "at"], ["y"], axis=1)]
        model = open_model(nodes, {**table, "at": at}, [("y", list("ab"))])
        self.check(model, [{**table, "at": np.clip(at, -5, 4)}])
        nodes = [helper.make_node("Gather", ["x", "at"], ["y"], axis=0)]
        model = open_model(nodes, {**table, "at": at}, [("y", list("abc"))])
        np.save(self.path("x.npy"), np.zeros((0, 5), np.float32))
        np.save(self.path("at.npy"), at)
        done = tool("ingot", "run", self.compile(model), f"--input=x={self.path('x.npy')}",
                    f"--input=at={self.path('at.npy')}")
        self.assert_one_line(done, "Gather")

    def test_compress(self):
        nodes = [helper.make_node("Compress", ["x", "c"], ["y"], axis=0)]
        feeds = {"x": self.floats(9, 7), "c": self.rng.random(9) > 0.5}
        model = open_model(nodes, feeds, [("y", list("ab"))])
        self.check(model, [feeds, {"x": self.floats(4, 3), "c": np.zeros(4, bool)},
                           {"x": self.floats(0, 3), "c": np.zeros(0, bool)}])
