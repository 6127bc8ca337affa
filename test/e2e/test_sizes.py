"""Tests dynamic sizes that do not fit each other: the run ends in one line that names the node and both sizes."""
import json

import numpy as np
from onnx import TensorProto

from support import Case, make_model, helper, tool


def zeros(*shape):
    return np.zeros(shape, np.float32)


class Contradictions(Case):
    """Each case has the nodes, the declared input shapes, sizes that do not fit, and words of the message."""
    sanitize = True

    def refuses(self, nodes, inputs, arrays, *words, rank=1, weights=None):
        model = make_model(nodes, list(inputs.items()), [("y", [f"y{i}" for i in range(rank)])], weights or {})
        artifact = self.compile(model)
        arguments = []
        for name, array in arrays.items():
            np.save(self.path(f"{name}.npy"), array)
            arguments += ["--input", f"{name}={self.path(name)}.npy"]
        done = tool("ingot", "run", artifact, "--output-dir", self.path("out"), *arguments)
        self.assert_one_line(done, *words)

    def test_sum_of_millions(self):
        """The sum must not read far behind the shorter operand."""
        self.refuses([helper.make_node("Add", ["a", "b"], ["y"], name="sum")], {"a": ["N"], "b": ["M"]},
                     {"a": zeros(3), "b": zeros(5_000_000)}, "node 'sum'", "dimension 0", "3", "5000000")

    def test_concat(self):
        """The concatenation must not write behind the result."""
        self.refuses([helper.make_node("Concat", ["a", "b"], ["y"], name="join", axis=0)],
                     {"a": ["N", "A"], "b": ["M", "B"]}, {"a": zeros(2, 3), "b": zeros(2, 70_000)},
                     "node 'join'", "dimension 1", "3", "70000", rank=2)

    def test_product(self):
        self.refuses([helper.make_node("MatMul", ["a", "b"], ["y"], name="product")],
                     {"a": [2, "K"], "b": ["L", 2]}, {"a": zeros(2, 3), "b": zeros(4, 2)},
                     "node 'product'", "inner dimensions", "3", "4", rank=2)

    def test_one_name(self):
        self.refuses([helper.make_node("Add", ["a", "b"], ["y"], name="sum")], {"a": ["N"], "b": ["N"]},
                     {"a": zeros(3), "b": zeros(4)},
                     "dimension 'N' differs: 3 in dimension 0 of input 'a', but 4 in dimension 0 of input 'b'; --free-dim")

    def test_one_name_in_one_input(self):
        nodes = [helper.make_node("Transpose", ["a"], ["t"], perm=[2, 1, 0]), helper.make_node("Add", ["a", "t"], ["y"])]
        self.refuses(nodes, {"a": ["N", 2, "N"]}, {"a": zeros(3, 2, 5)},
                     "dimension 'N' differs: 3 in dimension 0 of input 'a', but 5 in dimension 2 of input 'a'", rank=3)

    def test_one_name_that_is_long_or_no_text(self):
        """The message is one line, and its numbers are not cut off."""
        for name in ("n" * 5000, "a\nb\x1b[2J"):
            with self.subTest(name[:10]):
                self.refuses([helper.make_node("Add", ["a", "b"], ["y"], name="sum")], {"a": [name], "b": [name]},
                             {"a": zeros(3), "b": zeros(4)},
                             "differs: 3 in dimension 0 of input 'a', but 4 in dimension 0 of input 'b'")

    def test_feature_pyramid(self):
        """Halves an odd size twice, rounding down."""
        scales = np.array([1, 1, 2, 2], np.float32)
        nodes = [helper.make_node("MaxPool", ["x"], ["small"], kernel_shape=[2, 2], strides=[2, 2]),
                 helper.make_node("Resize", ["small", "", "scales"], ["large"], mode="nearest"),
                 helper.make_node("Add", ["x", "large"], ["y"], name="merge")]
        self.refuses(nodes, {"x": [1, 2, "H", "W"]}, {"x": zeros(1, 2, 7, 8)}, "node 'merge'", "dimension 2", "7", "6",
                     rank=4,
                     weights={"scales": scales})

    def test_beyond_the_position_table(self):
        self.refuses([helper.make_node("Add", ["x", "table"], ["y"], name="position")], {"x": [1, "T", 4]},
                     {"x": zeros(1, 17, 4)}, "node 'position'", "17", "16", rank=3,
                     weights={"table": zeros(1, 16, 4)})

    def position_slice(self):
        """Learned positions: the model gathers a row of a table for each token, expands the rows to the batch, and adds
        them."""
        nodes = [helper.make_node("Shape", ["x"], ["shape"]),
                 helper.make_node("Gather", ["shape", "one"], ["length"], axis=0),
                 helper.make_node("Slice", ["ids", "zero", "length", "one"], ["first"]),
                 helper.make_node("Slice", ["shape", "zero", "two"], ["batch"]),
                 helper.make_node("Expand", ["first", "batch"], ["expanded"], name="expand"),
                 helper.make_node("Gather", ["table", "expanded"], ["rows"]),
                 helper.make_node("Add", ["x", "rows"], ["sum"], name="position"),
                 helper.make_node("Gather", ["table", "first"], ["again"]),
                 helper.make_node("Add", ["again", "sum"], ["y"], name="again")]
        table = np.random.default_rng(1).standard_normal((16, 4)).astype(np.float32)
        return nodes, table, {"ids": np.arange(16)[None], "table": table, "zero": np.array([0]), "one": np.array([1]),
                              "two": np.array([2])}

    def test_positions(self):
        nodes, table, weights = self.position_slice()
        artifact = self.compile(make_model(nodes, [("x", ["B", "T", 4])], [("y", ["B", "T", 4])], weights))
        for length in (1, 2, 15, 16):
            x = np.random.default_rng(length).standard_normal((3, length, 4)).astype(np.float32)
            got = self.run_model(artifact, {"x": x})["y"]
            np.testing.assert_allclose(got, x + 2 * table[:length], rtol=1e-6, atol=1e-6)

    def test_expanded_beyond_the_position_table(self):
        nodes, _, weights = self.position_slice()
        self.refuses(nodes, {"x": ["B", "T", 4]}, {"x": zeros(3, 17, 4)}, "node 'expand'", "17", "16", rank=3,
                     weights=weights)

    def test_window(self):
        self.refuses([helper.make_node("Conv", ["x", "w"], ["y"], name="edge")], {"x": [1, 1, "H", "W"]},
                     {"x": zeros(1, 1, 1, 9)}, "node 'edge'", "kernel", "3", "1", rank=4,
                     weights={"w": zeros(1, 1, 3, 3)})


class Batches(Case):
    """Dynamic batch dimensions of products broadcast."""

    def test_one_against_some(self):
        rng = np.random.default_rng(1)
        model = make_model([helper.make_node("MatMul", ["a", "b"], ["y"])], [("a", ["N", 2, 3]), ("b", ["M", 3, 4])],
                           [("y", ["L", 2, 4])])
        artifact = self.compile(model)
        for n, m in ((1, 3), (2, 1), (3, 3), (1, 1), (0, 1)):
            a, b = rng.random((n, 2, 3), np.float32), rng.random((m, 3, 4), np.float32)
            np.testing.assert_allclose(self.run_model(artifact, {"a": a, "b": b})["y"], a @ b, rtol=1e-5)


class RunningSums(Case):
    def test_axis_of_one_element(self):
        for shape, axis in (((1,), 0), ((1, 1), 1), ((3, 1), 1), ((1, 3, 1), 0)):
            model = make_model([helper.make_node("CumSum", ["x", "axis"], ["y"])], [("x", shape)], [("y", shape)],
                               {"axis": np.array(axis, np.int64)})
            x = np.random.default_rng(2).random(shape, np.float32)
            np.testing.assert_allclose(self.run_model(self.compile(model), {"x": x})["y"], np.cumsum(x, axis))


class Counted(Case):
    def test_inspect_says_how_many(self):
        """Equal names of dimensions prove rules, and a run checks the others."""
        nodes = [helper.make_node("Add", ["a", "b"], ["s"]), helper.make_node("Relu", ["s"], ["r"]),
                 helper.make_node("Add", ["r", "a"], ["y"])]
        for dims, checked in (([3], False), (["N"], False), (["M"], True)):
            artifact = self.compile(make_model(nodes, [("a", ["N"] if dims != [3] else [3]), ("b", dims)],
                                               [("y", ["L"])]))
            rules = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["size_rules"]
            self.assertGreater(rules["proved"], 0)
            text = tool("ingot", "inspect", artifact).stdout
            self.assertIn(f"{rules['checked']} are checked in each run", text)
            if checked:
                self.assertGreater(rules["checked"], 0)
            elif dims == [3]:
                self.assertEqual(rules["checked"], 0)


class Named(Case):
    """Outputs keep the names of the inputs' dimensions, with any operators and declarations between. Other
    dimensions keep the names of the file."""

    def names(self, nodes, inputs, rank, weights=None, declared=None, domains=()):
        model = make_model(nodes, list(inputs.items()), [("y", declared or [f"y{i}" for i in range(rank)])],
                           weights or {})
        for domain in domains:
            model.opset_import.append(helper.make_opsetid(domain, 1))
        artifact = self.compile(model)
        output, = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["outputs"]
        with open(artifact[:-3] + ".h") as f:
            line = next(line for line in f if "out0_y: " in line)
        self.assertEqual([name for name in output["dim_names"] if name],
                         [part for part in line[line.index("[") + 1:line.index("]")].split(", ") if part != "?" and not part.isdigit()])
        return output["dim_names"]

    def test_names(self):
        sizes = ["batch", "seq", 8]
        x = {"x": sizes}
        for title, nodes, inputs, wanted, options in (
                ("declared otherwise", [helper.make_node("Relu", ["x"], ["y"])], x, ["batch", "seq", ""],
                 {"declared": ["unk__0", "unk__1", 8]}),
                ("a convolution that keeps the length", [helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1])],
                 {"x": ["batch", 3, "seq"]}, ["batch", "", "seq"], {"weights": {"w": zeros(4, 3, 3)}}),
                ("one that does not", [helper.make_node("Conv", ["x", "w"], ["y"])],
                 {"x": ["batch", 3, "seq"]}, ["batch", "", "y2"], {"weights": {"w": zeros(4, 3, 3)}}),
                ("another domain", [helper.make_node("Gelu", ["x"], ["y"], domain="com.microsoft")], x,
                 ["batch", "seq", ""], {"domains": ["com.microsoft"]}),
                ("repeated once", [helper.make_node("Tile", ["x", "r"], ["y"])], x, ["batch", "seq", ""],
                 {"weights": {"r": np.array([1, 1, 2])}}),
                ("turned", [helper.make_node("Transpose", ["x"], ["y"], perm=[1, 0, 2])], x, ["seq", "batch", ""], {}),
                ("put together", [helper.make_node("Concat", ["x", "x"], ["y"], axis=1)], x, ["batch", "y1", ""], {}),
                ("found by the run", [helper.make_node("Cast", ["x"], ["b"], to=TensorProto.BOOL),
                                      helper.make_node("NonZero", ["b"], ["i"]),
                                      helper.make_node("Cast", ["i"], ["y"], to=TensorProto.FLOAT)], x,
                 ["", "found"], {"declared": [3, "found"]})):
            with self.subTest(title):
                self.assertEqual(self.names(nodes, inputs, 3, **options), wanted)
