# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Valid models in forms that exporters seldom write: accepted, and computed as ONNX Runtime does."""
import numpy as np

from support import Case, TensorProto, helper, make_model, tool

FLOAT, HALF, DOUBLE = TensorProto.FLOAT, TensorProto.FLOAT16, TensorProto.DOUBLE


def drawn(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def old_model(nodes, inputs, outputs, opset, initializers=()):
    model = make_model(nodes, inputs, outputs, initializers, opset=opset)
    model.ir_version = 6
    return model


class KnownAndOpen(Case):
    """A dimension is static in one operand and dynamic in another."""

    def recurrent(self, kind, gates, states):
        hidden = 3
        weights = {"w": drawn(1, gates * hidden, 2, seed=1), "r": drawn(1, gates * hidden, hidden, seed=2)}
        weights.update({f"s{i}": drawn(1, 1, hidden, seed=3 + i) for i in range(states)})
        node = helper.make_node(kind, ["x", "w", "r", "", ""] + [f"s{i}" for i in range(states)], ["y"], "net",
                                hidden_size=hidden)
        return make_model([node], [("x", ["T", "N", 2])], [("y", ["T", 1, "N", hidden])], weights)

    def test_initial_state_of_known_batch(self):
        for kind, gates, states in (("RNN", 1, 1), ("GRU", 3, 1), ("LSTM", 4, 2)):
            with self.subTest(kind=kind):
                model = self.recurrent(kind, gates, states)
                artifact = self.compile(model)
                self.assert_agrees(model, artifact, {"x": drawn(4, 1, 2)})
                np.save(self.path("two.npy"), drawn(4, 2, 2))
                done = tool("ingot", "run", artifact, "--input", f"x={self.path('two.npy')}")
                self.assert_one_line(done, "'net'", "initial_h is 1, not 2")

    def test_depth_as_attribute(self):
        rng = np.random.default_rng(0)
        weights = {"b": rng.integers(0, 256, (2, 1, 8), np.uint8), "s": np.array([0.5, 0.25], np.float32)}
        node = helper.make_node("MatMulNBits", ["x", "b", "s"], ["y"], "product", domain="com.microsoft", K=16, N=2,
                                bits=4, block_size=16)
        for shape in (["M", "K"], ["K"]):
            model = make_model([node], [("x", shape)], [("y", None)], weights, opset=21)
            model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
            artifact = self.compile(model)
            self.assert_agrees(model, artifact, {"x": drawn(*[3, 16][-len(shape):])})
        np.save(self.path("short.npy"), drawn(15))
        done = tool("ingot", "run", artifact, "--input", f"x={self.path('short.npy')}")
        self.assert_one_line(done, "'product'", "15", "16")


class OldOperators(Case):
    def test_clip_and_pad_of_other_floats(self):
        """Attributes become constants of the data's type."""
        for element, dtype in ((HALF, np.float16), (DOUBLE, np.float64), (FLOAT, np.float32)):
            for opset in (7, 10):
                with self.subTest(dtype=dtype, opset=opset):
                    nodes = [helper.make_node("Pad", ["x"], ["p"], pads=[0, 1, 1, 0], value=7.5),
                             helper.make_node("Clip", ["p"], ["c"], min=0.0, max=6.0),
                             helper.make_node("Clip", ["p"], ["d"], max=1.0),
                             helper.make_node("Clip", ["p"], ["e"], min=-0.5)]
                    outputs = [(name, None, element) for name in "cde"]
                    model = old_model(nodes, [("x", ["N", 3], element)], outputs, opset)
                    values = np.array([[-1, 2, 7], [-6e4, 6, 9]], dtype)
                    got = self.run_model(self.compile(model), {"x": values})
                    padded = np.pad(values, ((0, 1), (1, 0)), constant_values=7.5)
                    for name, low, high in (("c", 0, 6), ("d", None, 1), ("e", -0.5, None)):
                        self.assertEqual(got[name].dtype, dtype)
                        np.testing.assert_array_equal(got[name], np.clip(padded, low, high))

    def test_clip_in_a_branch(self):
        branch = [helper.make_graph([helper.make_node("Clip", ["x"], ["out"], min=float(i), max=6.0)], f"branch{i}", [],
                                    [helper.make_tensor_value_info("out", HALF, None)]) for i in range(2)]
        node = helper.make_node("If", ["c"], ["y"], then_branch=branch[1], else_branch=branch[0])
        model = old_model([node], [("c", [], TensorProto.BOOL), ("x", [3], HALF)], [("y", [3], HALF)], 9)
        artifact = self.compile(model)
        for condition in (False, True):
            inputs = {"c": np.array(condition), "x": np.array([-1, 2, 7], np.float16)}
            self.assert_agrees(model, artifact, inputs)

    def test_batch_norm_of_elements(self):
        parameters = {name: abs(drawn(3, 2, seed=i)) + 0.5 for i, name in enumerate("sbmv")}
        node = helper.make_node("BatchNormalization", ["x", *"sbmv"], ["y"], spatial=0)
        for shape in ([4, 3, 2], ["N", 3, 2], ["N", "C", "D"]):
            model = old_model([node], [("x", shape)], [("y", shape)], 7, parameters)
            got = self.run_model(self.compile(model), {"x": drawn(4, 3, 2)})["y"]
            s, b, m, v = (parameters[name].astype(np.float64) for name in "sbmv")
            want = s * (drawn(4, 3, 2) - m) / np.sqrt(v + 1e-5) + b  # ONNX Runtime no longer supports it
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
        wrong = old_model([node], [("x", [4, 3, 3])], [("y", [4, 3, 3])], 7, parameters)
        self.assert_refuses(wrong, "shape of a sample", "spatial = 0")

    def test_open_hardmax(self):
        node = helper.make_node("Hardmax", ["x"], ["y"], axis=1)
        model = old_model([node], [("x", ["N", "C", 4])], [("y", ["N", "C", 4])], 11)
        artifact = self.compile(model)
        for shape in ((2, 3, 4), (1, 1, 4), (0, 3, 4), (2, 0, 4)):
            with self.subTest(shape=shape):
                got = self.run_model(artifact, {"x": drawn(*shape)})["y"]
                flat = drawn(*shape).reshape(shape[0], -1) if shape[0] else np.zeros((0, 12))
                want = np.zeros_like(flat)
                if flat.size:
                    want[np.arange(len(flat)), flat.argmax(1)] = 1
                np.testing.assert_array_equal(got, want.reshape(shape))


class Shapes(Case):
    def test_reshape_without_elements(self):
        for before, after in (([2, 4, 0, 8], [8, 0, 4]), ([0, 3], [0]), ([0], [5, 0, 7])):
            with self.subTest(before=before, after=after):
                node = helper.make_node("Reshape", ["x", "s"], ["y"], allowzero=1)
                model = make_model([node], [("x", before)], [("y", after)], {"s": np.array(after, np.int64)}, opset=19)
                self.assertEqual(self.run_model(self.compile(model), {"x": drawn(*before)})["y"].shape, tuple(after))
        wrong = make_model([node], [("x", [0])], [("y", None)], {"s": np.array([5, 7], np.int64)}, opset=19)
        self.assert_refuses(wrong, "elements")

    def test_unpool_of_odd_picture(self):
        """Indices of a MaxPool refer to the image that it read."""
        values = np.random.default_rng(0).permutation(np.arange(1, 71, dtype=np.float32)).reshape(1, 2, 5, 7)
        for ceil in (0, 1):  # ONNX Runtime accepts only the first
            attributes = {"kernel_shape": [2, 2], "strides": [2, 2]}
            nodes = [helper.make_node("MaxPool", ["x"], ["p", "i"], ceil_mode=ceil, **attributes),
                     helper.make_node("MaxUnpool", ["p", "i", "s"], ["y"], **attributes)]
            model = make_model(nodes, [("x", [1, 2, 5, 7])], [("y", [1, 2, 5, 7])],
                               {"s": np.array([1, 2, 5, 7], np.int64)}, opset=12)
            want = np.zeros_like(values)
            for c, h, w in np.ndindex(2, 5 // 2 + ceil, 7 // 2 + ceil):
                window = values[0, c, 2 * h:2 * h + 2, 2 * w:2 * w + 2]
                want[values == window.max()] = window.max()
            np.testing.assert_array_equal(self.run_model(self.compile(model), {"x": values})["y"], want)
            # Tests an output_shape that is computed from the image's sizes, and one that is an input.
            sizes = np.array(values.shape)
            traced = make_model([helper.make_node("Shape", ["x"], ["s"]), *nodes], [("x", list("nchw"))], [("y", None)],
                                opset=12)
            given = make_model(nodes, [("x", list("nchw")), ("s", [4], TensorProto.INT64)], [("y", None)], opset=12)
            for model, feeds in ((traced, {}), (given, {"s": sizes})):
                with self.subTest(ceil=ceil, given=bool(feeds)):
                    got = self.run_model(self.compile(model), {"x": values, **feeds})["y"]
                    np.testing.assert_array_equal(got, want)

    def test_unpool_of_open_size(self):
        """Indices refer to the area that the windows cover; a larger output_shape adds zeros."""
        for kernel, stride, pads in ((2, 2, 0), (3, 2, 1), (2, 3, 0), (1, 4, 0)):
            attributes = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pads] * 4}
            for larger in (None, 3):
                nodes = [helper.make_node("MaxUnpool", ["p", "i"] + ["s"] * (larger is not None), ["y"], name="unpool",
                                          **attributes)]
                inputs = [("p", list("nchw")), ("i", list("nchw"), TensorProto.INT64)]
                model = make_model(nodes, inputs + [("s", [4], TensorProto.INT64)] * (larger is not None), [("y", None)],
                                   opset=12)
                artifact = self.compile(model)
                for shape in ((1, 2, 3, 4), (2, 1, 1, 2), (0, 1, 2, 3)):
                    if kernel == 3 and 1 in shape[2:]:
                        continue
                    covered = [(s - 1) * stride + kernel - 2 * pads for s in shape[2:]]
                    rng, total = np.random.default_rng(5), shape[0] * shape[1] * covered[0] * covered[1]
                    feeds = {"p": drawn(*shape), "i": rng.permutation(total)[:np.prod(shape)].reshape(shape)}
                    want = np.zeros(total, np.float32)
                    want[feeds["i"].ravel()] = feeds["p"].ravel()
                    want = want.reshape(*shape[:2], *covered)
                    if larger:
                        want = np.pad(want, ((0, 0), (0, 0), (0, larger), (0, 1)))
                        feeds["s"] = np.array(want.shape)
                    with self.subTest(kernel=kernel, larger=larger, shape=shape):
                        np.testing.assert_array_equal(self.run_model(artifact, feeds)["y"], want)

    def test_affine_grid_of_one(self):
        node = helper.make_node("AffineGrid", ["t", "s"], ["y"])
        for batch in ("N", 1):
            model = make_model([node], [("t", [batch, 2, 3]), ("s", [4], TensorProto.INT64)], [("y", None)], opset=20)
            inputs = {"t": drawn(1, 2, 3), "s": np.array([1, 2, 3, 4], np.int64)}
            self.assert_agrees(model, self.compile(model), inputs)

    def test_heads_that_are_not_given(self):
        caches = {name: drawn(1, 3, 4, seed=i) for i, name in enumerate("cs")}
        node = helper.make_node("RotaryEmbedding", ["x", "c", "s"], ["y"], num_heads=0)
        model = make_model([node], [("x", [1, 2, 3, 8])], [("y", None)], caches, opset=23)
        self.assert_agrees(model, self.compile(model), {"x": drawn(1, 2, 3, 8)})
        node = helper.make_node("Attention", ["q", "k", "v"], ["y"], q_num_heads=0, kv_num_heads=0)
        model = make_model([node], [(name, [1, 2, 3, 8]) for name in "qkv"], [("y", None)], opset=23)
        self.assert_agrees(model, self.compile(model), {name: drawn(1, 2, 3, 8, seed=i) for i, name in enumerate("qkv")})
        flat = make_model([node], [(name, [1, 3, 8]) for name in "qkv"], [("y", None)], opset=23)
        self.assert_refuses(flat, "num_heads")


class Order(Case):
    def compile_sorted(self, model):
        done = tool("ingot", "compile", self.save(model), "-o", self.path("model.so"))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("not in topological order; they were sorted", done.stderr)
        return self.path("model.so")

    def test_nodes_in_any_order(self):
        nodes = [helper.make_node("Neg", ["h"], ["y"]), helper.make_node("Add", ["r", "x"], ["h"]),
                 helper.make_node("Relu", ["x"], ["r"])]
        model = make_model(nodes, [("x", [3])], [("y", [3])])
        got = self.run_model(self.compile_sorted(model), {"x": drawn(3)})["y"]
        np.testing.assert_array_equal(got, -(np.maximum(drawn(3), 0) + drawn(3)))

    def test_nodes_of_branches_and_functions(self):
        """A branch reads a value that a node behind the If computes; the nodes of the branch and of a function are
        unsorted, too."""
        inner = helper.make_graph([helper.make_node("Neg", ["t"], ["out"]), helper.make_node("Abs", ["late"], ["t"])],
                                  "inner", [], [helper.make_tensor_value_info("out", FLOAT, [3])])
        other = helper.make_graph([helper.make_node("Identity", ["late"], ["out2"])], "other", [],
                                  [helper.make_tensor_value_info("out2", FLOAT, [3])])
        nodes = [helper.make_node("If", ["c"], ["y"], then_branch=inner, else_branch=other),
                 helper.make_node("twice", ["x"], ["late"], domain="own")]
        body = [helper.make_node("Add", ["n", "n"], ["b"]), helper.make_node("Neg", ["a"], ["n"])]
        twice = helper.make_function("own", "twice", ["a"], ["b"], body, [helper.make_opsetid("", 17)])
        model = make_model(nodes, [("c", [], TensorProto.BOOL), ("x", [3])], [("y", [3])])
        model.opset_import.append(helper.make_opsetid("own", 1))
        model.functions.append(twice)
        artifact = self.compile_sorted(model)
        for condition, want in ((True, -abs(2 * drawn(3))), (False, -2 * drawn(3))):
            got = self.run_model(artifact, {"c": np.array(condition), "x": drawn(3)})["y"]
            np.testing.assert_array_equal(got, want)


class Types(Case):
    def test_outputs_without_a_type(self):
        """ONNX requires the types of outputs, but ONNX Runtime infers them."""
        nodes = [helper.make_node("ArgMax", ["x"], ["y"], axis=0), helper.make_node("Relu", ["x"], ["z"])]
        for is_empty in (False, True):
            model = make_model(nodes, [("x", ["n", 3])], [("y", None, TensorProto.INT64), ("z", None)])
            for output in model.graph.output:
                output.ClearField("type")
                if is_empty:
                    output.type.SetInParent()
            artifact = self.compile(model, "--dim", "n=2")
            self.assert_agrees(model, artifact, {"x": drawn(2, 3)})
        model.graph.node[0].op_type, model.graph.node[0].domain = "Unknown", "nobody"
        self.assert_refuses(model, "output 'y' has no type")


class FreeDims(Case):
    def model(self):
        nodes = [helper.make_node("ReduceSum", ["b"], ["s"], keepdims=0), helper.make_node("Add", ["a", "s"], ["y"])]
        return make_model(nodes, [("a", ["N"]), ("b", ["N"])], [("y", ["N"])])

    def test_one_name_of_two_sizes(self):
        for name in ("N", "all"):
            artifact = self.compile(self.model(), f"--free-dim={name}")
            got = self.run_model(artifact, {"a": drawn(3), "b": drawn(2, seed=1)})["y"]
            np.testing.assert_allclose(got, drawn(3) + drawn(2, seed=1).sum(), rtol=1e-6)

    def test_sizes_that_must_agree_still_do(self):
        model = make_model([helper.make_node("Add", ["a", "b"], ["y"], "sum")], [("a", ["N"]), ("b", ["N"])],
                           [("y", ["N"])])
        artifact = self.compile(model, "--free-dim=N")
        for name, size in (("a", 3), ("b", 2)):
            np.save(self.path(name + ".npy"), drawn(size))
        done = tool("ingot", "run", artifact, *[f"--input={n}={self.path(n + '.npy')}" for n in "ab"])
        self.assert_one_line(done, "'sum'", "do not broadcast")

    def test_unknown_and_fixed(self):
        self.assert_refuses(self.model(), "no dimension named 'M'", "N", options=["--free-dim=M"])
        self.assert_refuses(self.model(), "'N'", "--dim", "--free-dim", options=["--free-dim=N", "--dim=N=2"])


class OneNameOfSeveralSizes(Case):
    """The name of a dimension is documentation, unless an operator requires equal sizes."""

    @staticmethod
    def cut(node, ends=()):
        """Returns nodes that give the shape of `b` a separate size."""
        return [helper.make_node("Shape", ["b"], ["sizes"]), *ends, node]

    def check(self, nodes, inputs, outputs, sizes, initializers=(), free=True):
        names = {name: ["N" if size == "N" else size for size in shape] for name, shape in inputs.items()}
        model = make_model(nodes, list(names.items()), outputs, initializers)
        artifact = self.path("model.so")
        done = tool("ingot", "compile", self.save(model), "-o", artifact)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual("dimensions named 'N' need not be equal" in done.stderr, free, done.stderr)
        self.assert_agrees(model, artifact, {name: drawn(*shape, seed=i) for i, (name, shape) in enumerate(sizes.items())})
        return artifact

    def test_sum_of_another(self):
        nodes = [helper.make_node("ReduceSum", ["b"], ["s"], keepdims=0), helper.make_node("Add", ["a", "s"], ["y"])]
        artifact = self.check(nodes, {"a": ["N"], "b": ["N"]}, [("y", ["N"])], {"a": (3,), "b": (2,)})
        # The name stays in the artifact, as documentation and for options.
        shown = tool("ingot", "inspect", artifact).stdout
        self.assertEqual(shown.count("<N>"), 3, shown)
        self.assertEqual(tool("ingot", "run", artifact, "--input=random", "--dim=N=3").returncode, 0)

    def test_two_batches(self):
        nodes = [helper.make_node("Transpose", ["b"], ["t"], perm=[1, 0]), helper.make_node("MatMul", ["a", "t"], ["y"])]
        self.check(nodes, {"a": ["N", 8], "b": ["N", 8]}, [("y", ["N", "N"])], {"a": (3, 8), "b": (2, 8)})

    def test_one_input(self):
        self.check([helper.make_node("Relu", ["a"], ["y"])], {"a": ["N", 2, "N"]}, [("y", ["N", 2, "N"])], {"a": (4, 2, 3)})

    def test_sizes_in_shapes(self):
        nodes = [*self.cut(helper.make_node("Expand", ["c", "sizes"], ["z"])), helper.make_node("Relu", ["a"], ["y"])]
        self.check(nodes, {"a": ["N"], "b": ["N"], "c": [1]}, [("y", ["N"]), ("z", ["N"])],
                   {"a": (4,), "b": (2,), "c": (1,)})

    def test_two_of_three(self):
        """Three dimensions are named N. Add requires only two of them to be equal."""
        nodes = [helper.make_node("Add", ["a", "b"], ["t"]), helper.make_node("ReduceSum", ["c"], ["s"], keepdims=0),
                 helper.make_node("Add", ["t", "s"], ["y"])]
        artifact = self.check(nodes, dict.fromkeys("abc", ["N"]), [("y", ["N"])], {"a": (3,), "b": (3,), "c": (2,)})
        inputs = [f"--shape={name}={size}" for name, size in (("a", 3), ("b", 4), ("c", 2))]
        self.assert_one_line(tool("ingot", "run", artifact, "--input=random", *inputs),
                             "dimension 'N' differs: 3 in dimension 0 of input 'a', but 4 in dimension 0 of input 'b'",
                             "--free-dim=N")

    def test_equal_sizes_are_needed(self):
        """An operator requires equal sizes, also if it is in a branch."""
        info = helper.make_tensor_value_info
        branches = [helper.make_graph([helper.make_node(kind, inputs, ["z"])], "branch", [],
                                      [info("z", FLOAT, None)]) for kind, inputs in (("Add", "ab"), ("Relu", "a"))]
        one, last = np.array([0]), np.array([-1])
        cases = {
            "sum": [helper.make_node("Add", ["a", "b"], ["y"])],
            "concat": [helper.make_node("Concat", ["a", "b"], ["y"], axis=1)],
            "slice": self.cut(helper.make_node("Slice", ["a", "one", "size", "one"], ["y"]),
                              [helper.make_node("Gather", ["sizes", "one"], ["size"])]),
            "reshape": self.cut(helper.make_node("Reshape", ["a", "to"], ["y"]),
                                [helper.make_node("Gather", ["sizes", "one"], ["size"]),
                                 helper.make_node("Concat", ["size", "last"], ["to"], axis=0)]),
            "branch": [helper.make_node("ReduceMax", ["a"], ["m"], keepdims=0),
                       helper.make_node("Cast", ["m"], ["c"], to=TensorProto.BOOL),
                       helper.make_node("If", ["c"], ["y"], then_branch=branches[0], else_branch=branches[1])],
        }
        for name, nodes in cases.items():
            with self.subTest(name):
                used = {value for node in nodes for value in node.input}
                self.check(nodes, {"a": ["N", 2], "b": ["N", 2]}, [("y", None)], {"a": (3, 2), "b": (3, 2)},
                           {key: value for key, value in (("one", one), ("last", last)) if key in used}, free=False)


class Messages(Case):
    """One line for one cause, in the user's terms."""

    def test_loop_condition(self):
        def body(kind, nodes):
            infos = [helper.make_tensor_value_info("it", TensorProto.INT64, []),
                     helper.make_tensor_value_info("go", TensorProto.BOOL, []),
                     helper.make_tensor_value_info("a", FLOAT, [2])]
            outputs = [helper.make_tensor_value_info("on", kind, None),
                       helper.make_tensor_value_info("b", FLOAT, [2])]
            return helper.make_graph(nodes + [helper.make_node("Identity", ["a"], ["b"])], "body", infos, outputs)
        cases = ((FLOAT, helper.make_node("Identity", ["a"], ["on"]), "float32[2]"),
                 (TensorProto.INT64, helper.make_node("Identity", ["it"], ["on"]), "int64[]"),
                 (TensorProto.BOOL, helper.make_node("Greater", ["a", "a"], ["on"]), "bool[2]"))
        for kind, node, text in cases:
            with self.subTest(text=text):
                loop = helper.make_node("Loop", ["m", "", "x"], ["y"], "loop", body=body(kind, [node]))
                model = make_model([loop], [("m", [], TensorProto.INT64), ("x", [2])], [("y", [2])], opset=21)
                self.assert_refuses(model, "'loop'", "must be one bool", text)

    def test_tiles_that_grow(self):
        nodes = [helper.make_node("Tile", [f"x{i}", "r"], [f"x{i + 1}"], f"tile{i}") for i in range(20)]
        model = make_model(nodes, [("x0", [8, 8])], [("x20", None)], {"r": np.array([8, 1], np.int64)}, opset=21)
        self.assert_refuses(model, "too large", "float32[")

    def test_profiles_that_differ_in_the_usual_size(self):
        model = make_model([helper.make_node("Concat", ["x", "z"], ["y"], axis=1)],
                           [("x", ["b", "t"]), ("z", ["b", "u"])], [("y", None)])
        self.assert_refuses(model, "'b'", "usually 3", "4", options=["--shape=x=(1:3:8)x?", "--shape=z=(1:4:8)x?"])
