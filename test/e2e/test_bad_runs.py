"""Tests bad input at run time, and invalid artifacts."""
import os
import shutil

import families

from support import Case, make_model, np, helper, relu_model, tool, TensorProto


class Inputs(Case):
    """Wrong inputs: one line, no output written."""
    sanitize = True

    def setUp(self):
        super().setUp()
        self.artifact = self.compile(relu_model((2, 4)))

    def refuses(self, array, *words, name="x"):
        np.save(self.path("in.npy"), array)
        out = self.path("out")
        done = tool("ingot", "run", self.artifact, "--input", f"{name}={self.path('in.npy')}", "--output-dir", out)
        self.assert_one_line(done, *words)
        self.assertFalse(os.path.isdir(out) and os.listdir(out), "an output was written")

    def test_right_input_works(self):
        x = np.array([[-1, 2, -3, 4], [0, 1, 2, 3]], np.float32)
        np.testing.assert_array_equal(self.run_model(self.artifact, {"x": x})["y"], np.maximum(x, 0))

    def test_wrong_shape(self):
        self.refuses(np.zeros((2, 5), np.float32), "x", "2x4")

    def test_wrong_rank(self):
        self.refuses(np.zeros(8, np.float32), "x")

    def test_wrong_dtype(self):
        self.refuses(np.zeros((2, 4), np.float64), "x", "float64")

    def test_unknown_input(self):
        self.refuses(np.zeros((2, 4), np.float32), "z", name="z")

    def test_missing_input(self):
        done = tool("ingot", "run", self.artifact, "--output-dir", self.path("out"))
        self.assert_one_line(done, "x")

    def test_missing_file(self):
        done = tool("ingot", "run", self.artifact, "--input", "x=nothing.npy", "--output-dir", self.path("out"))
        self.assert_one_line(done, "nothing.npy")

    def test_not_numpy(self):
        with open(self.path("in.npy"), "wb") as f:
            f.write(b"no array at all")
        done = tool("ingot", "run", self.artifact, "--input", f"x={self.path('in.npy')}", "--output-dir",
                    self.path("out"))
        self.assert_one_line(done, "in.npy")

    def test_truncated_numpy(self):
        np.save(self.path("whole.npy"), np.zeros((2, 4), np.float32))
        with open(self.path("whole.npy"), "rb") as f, open(self.path("in.npy"), "wb") as g:
            g.write(f.read()[:-8])
        done = tool("ingot", "run", self.artifact, "--input", f"x={self.path('in.npy')}", "--output-dir",
                    self.path("out"))
        self.assert_one_line(done, "in.npy")

    def test_random_input(self):
        """random:SEED is reproducible."""
        results = []
        for seed in (7, 7, 8):
            out = self.path(f"out{len(results)}")
            done = tool("ingot", "run", self.artifact, "--input", f"random:{seed}", "--output-dir", out)
            self.assertEqual(done.returncode, 0, done.stderr)
            results.append(np.load(os.path.join(out, "y.npy")))
        np.testing.assert_array_equal(results[0], results[1])
        self.assertFalse(np.array_equal(results[0], results[2]))


class DataChecks(Case):
    """Tests values that only a run can check."""

    def refuses(self, artifact, inputs, *words):
        arguments = []
        for name, value in inputs.items():
            np.save(self.path(name + ".npy"), value)
            arguments += ["--input", f"{name}={self.path(name + '.npy')}"]
        out = self.path("refused")
        done = tool("ingot", "run", artifact, *arguments, "--output-dir", out)
        self.assert_one_line(done, *words)
        self.assertFalse(os.path.isdir(out) and os.listdir(out), "an output was written")

    def test_index_out_of_range(self):
        """The run fails, as in ONNX Runtime. Negative indices count from the end, down to the first element."""
        table = np.arange(12, dtype=np.float32).reshape(4, 3)
        cases = {  # op: (attributes, a valid index, its result, invalid ones)
            "Gather": ({}, [3, -4], table[[3, 0]], ([1, 4], [0, -5], [2**62, 0])),
            "GatherElements": ({}, [[3, -4, 0]], [[9, 1, 2]], ([[0, 0, 4]], [[-5, 0, 0]])),
            "GatherND": ({}, [[3, -3], [-4, 2]], [9, 2], ([[4, 0], [0, 0]], [[0, 0], [0, 3]], [[0, -4], [0, 0]])),
        }
        for op, (attributes, right, want, wrongs) in cases.items():
            right = np.array(right, np.int64)
            node = helper.make_node(op, ["t", "i"], ["y"], name="look", **attributes)
            # Up to two indices are checked one by one, and more are checked in a loop. A longer list tests the loop.
            for repeat in (1, 8):
                indices = np.repeat(right, repeat, axis=0)
                want_all = np.repeat(np.array(want, np.float32), repeat, axis=0)
                artifact = self.compile(make_model([node], [("i", indices.shape, TensorProto.INT64)],
                                                   [("y", want_all.shape)], {"t": table}))
                np.testing.assert_array_equal(self.run_model(artifact, {"i": indices})["y"], want_all)
                for wrong in wrongs:
                    with self.subTest(op, wrong=wrong, repeat=repeat):
                        self.refuses(artifact, {"i": np.repeat(np.array(wrong, np.int64), repeat, axis=0)}, "look",
                                     "index", "outside")

    def test_index_out_of_a_dimension_that_the_run_brings(self):
        artifact = self.compile(make_model([helper.make_node("Gather", ["t", "i"], ["y"], name="look")],
                                           [("t", ["n"]), ("i", ["m"], TensorProto.INT32)], [("y", ["m"])]))
        t = np.arange(5, dtype=np.float32)
        got = self.run_model(artifact, {"t": t, "i": np.array([4, -5, 2], np.int32)})
        np.testing.assert_array_equal(got["y"], [4, 0, 2])
        self.refuses(artifact, {"t": t, "i": np.array([4, 5], np.int32)}, "look", "index")
        self.assertEqual(self.run_model(artifact, {"t": t, "i": np.zeros(0, np.int32)})["y"].shape, (0,))

    def test_update_out_of_range(self):
        for op, shape in (("ScatterElements", (2,)), ("ScatterND", (2, 1))):
            with self.subTest(op):
                put = helper.make_node(op, ["t", "i", "u"], ["y"], name="put")
                artifact = self.compile(make_model([put], [("t", [4]), ("i", shape, TensorProto.INT64), ("u", [2])],
                                                   [("y", [4])]))
                inputs = {"t": np.zeros(4, np.float32), "u": np.array([1, 2], np.float32)}
                got = self.run_model(artifact, {**inputs, "i": np.array([-4, 3]).reshape(shape)})
                np.testing.assert_array_equal(got["y"], [1, 0, 0, 2])
                self.refuses(artifact, {**inputs, "i": np.array([0, 4]).reshape(shape)}, "put", "index", "[-4, 3]")

    def test_label_out_of_range(self):
        """A negative label is out of range: it does not count from the end. Only the label `ignore_index` is
        accepted."""
        x = np.random.default_rng(1).standard_normal((3, 5)).astype(np.float32)
        for op, name in (("NegativeLogLikelihoodLoss", "target"), ("SoftmaxCrossEntropyLoss", "labels")):
            for attributes, ignored in (({}, None), ({"ignore_index": -1}, -1), ({"ignore_index": 9}, 9)):
                for classes in (5, "c"):
                    loss = helper.make_node(op, ["x", "t"], ["y"], name="loss", reduction="none", **attributes)
                    artifact = self.compile(make_model([loss], [("x", [3, classes]), ("t", [3], TensorProto.INT64)],
                                                       [("y", [3])], opset=22))
                    labels = np.array([4, ignored or 2, 0])
                    logs = x if op[0] == "N" else x - np.log(np.exp(x).sum(axis=1, keepdims=True))
                    wanted = np.where(labels == ignored, 0, -logs[range(3), np.where(labels == ignored, 0, labels)])
                    got = self.run_model(artifact, {"x": x, "t": labels})["y"]
                    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-6)
                    for wrong in {-1, -5, 5, 9, -2**63} - {ignored}:
                        with self.subTest(op, classes=classes, ignored=ignored, wrong=wrong):
                            self.refuses(artifact, {"x": x, "t": np.array([0, 1, wrong])}, "node 'loss'", name,
                                         str(wrong), "5 classes")

    def test_length_of_a_sequence_out_of_range(self):
        x = np.arange(12, dtype=np.float32).reshape(4, 3)
        node = helper.make_node("ReverseSequence", ["x", "n"], ["y"], name="turn", time_axis=0, batch_axis=1)
        artifact = self.compile(make_model([node], [("x", [4, "b"]), ("n", ["b"], TensorProto.INT64)],
                                           [("y", [4, "b"])]))
        got = self.run_model(artifact, {"x": x, "n": np.array([4, 0, 2])})["y"]
        np.testing.assert_array_equal(got, np.stack([x[::-1, 0], x[:, 1], x[[1, 0, 2, 3], 2]], axis=1))
        empty = {"x": np.zeros((4, 0), np.float32), "n": np.zeros(0, np.int64)}
        self.assertEqual(self.run_model(artifact, empty)["y"].shape, (4, 0))
        for wrong in (-1, 5, -4, 2**62, -2**63):
            self.refuses(artifact, {"x": x, "n": np.array([4, wrong, 2])}, "node 'turn'", "sequence_lens", str(wrong),
                         "4 steps")

    def test_position_out_of_range(self):
        """A position of RotaryEmbedding is a row of the caches; positions do not count from the end."""
        node = helper.make_node("RotaryEmbedding", ["x", "c", "s", "p"], ["y"], name="turn")
        for rows in (8, "rows"):
            artifact = self.compile(make_model([node], [("x", [1, 3, 2, 4]), ("c", [rows, 2]), ("s", [rows, 2]),
                                                        ("p", [1, 2], TensorProto.INT64)], [("y", [1, 3, 2, 4])],
                                               opset=23))
            inputs = {"x": np.ones((1, 3, 2, 4), np.float32), "s": np.zeros((8, 2), np.float32),
                      "c": np.arange(16, dtype=np.float32).reshape(8, 2)}
            got = self.run_model(artifact, {**inputs, "p": np.array([[7, 0]])})["y"]
            np.testing.assert_array_equal(got[0, 0], [[14, 15, 14, 15], [0, 1, 0, 1]])
            for wrong in (-1, 8, -8):
                self.refuses(artifact, {**inputs, "p": np.array([[0, wrong]])}, "node 'turn'", "position_ids",
                             str(wrong), "8 positions")

    def test_nothing_to_index(self):
        """An index into a table without entries, whose size only the run knows."""
        for op, shape in (("Gather", [2]), ("GatherElements", [2]), ("GatherND", [2, 1])):
            with self.subTest(op):
                artifact = self.compile(make_model([helper.make_node(op, ["t", "i"], ["y"], name="look")],
                                                   [("t", ["n"]), ("i", shape, TensorProto.INT64)], [("y", [2])]))
                self.refuses(artifact, {"t": np.zeros(0, np.float32), "i": np.zeros(shape, np.int64)}, "look")

    def test_shape_of_another_size(self):
        """Fails even if the product of the sizes wraps around to the right number."""
        artifact = self.compile(make_model([helper.make_node("Reshape", ["x", "s"], ["y"], name="fold0")],
                                           [("x", [12]), ("s", [2], TensorProto.INT64)], [("y", ["a", "b"])]))
        x = np.arange(12, dtype=np.float32)
        for sizes in ([3, 4], [-1, 6], [0, 1], [12, -1]):
            got = self.run_model(artifact, {"x": x, "s": np.array(sizes)})
            np.testing.assert_array_equal(got["y"], x.reshape([12 if size == 0 else size for size in sizes]))
        for sizes, word in ([3, 5], "elements"), ([-1, 5], "elements"), ([-1, -1], "any size"), ([-3, -4], "elements"):
            with self.subTest(sizes=sizes):
                self.refuses(artifact, {"x": x, "s": np.array(sizes)}, "fold0", "shape", word)
        for sizes in ([4, 2**62 + 3], [2**32, 2**32], [-2**63, 2]):
            with self.subTest(sizes=sizes):
                self.refuses(artifact, {"x": x, "s": np.array(sizes)}, "fold0", "does not fit into 64 bits")

    def test_labels_of_another_size(self):
        """Sizes of Einsum's labels that do not fit, although their products do; a static size of 1 fits all sizes."""
        def compiled(a, z):
            return self.compile(make_model([helper.make_node("Einsum", ["a", "z"], ["y"], name="sum",
                                                             equation="abcd,adz->cbza")],
                                           [("a", a), ("z", z)], [("y", None)]))

        a = np.arange(36, dtype=np.float32).reshape(1, 6, 2, 3)
        z = np.arange(48, dtype=np.float32).reshape(1, 3, 16)
        artifact = compiled(["a", "b", "c", "d"], ["e", "f", "g"])
        np.testing.assert_allclose(self.run_model(artifact, {"a": a, "z": z})["y"],
                                   np.einsum("abcd,adz->cbza", a, z))
        self.refuses(artifact, {"a": a, "z": z.reshape(3, 1, 16)}, "node 'sum'", "label 'a'", "3 and 1 elements")
        a, z = a.reshape(3, 6, 2, 1), z.reshape(3, 1, 16)
        np.testing.assert_allclose(self.run_model(artifact, {"a": a, "z": z})["y"],
                                   np.einsum("abcd,adz->cbza", a, z))
        artifact = compiled(["a", "b", "c", "d"], [1, "f", "g"])
        np.testing.assert_allclose(self.run_model(artifact, {"a": a, "z": z[:1]})["y"],
                                   np.einsum("abcd,adz->cbza", a, z[:1]))

    def test_data_of_another_size(self):
        """A fixed shape for dynamic data."""
        for shape in ([2, 3], [4, -1], [0, 2, 3]):
            with self.subTest(shape=shape):
                artifact = self.compile(make_model(
                    [helper.make_node("Reshape", ["x", "s"], ["y"], name="fold0")], [("x", ["n", 3])],
                    [("y", [f"d{i}" for i in range(len(shape))])], {"s": np.array(shape)}))
                rows = {"23": 2, "4-1": 4}.get("".join(map(str, shape)))
                if rows:
                    x = np.arange(3 * rows, dtype=np.float32).reshape(rows, 3)
                    np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], x.reshape(shape))
                self.refuses(artifact, {"x": np.zeros((1, 3), np.float32)}, "fold0", "elements")

    def test_more_updates_than_data(self):
        """Dynamic dimensions of updates that exceed the data."""
        node = helper.make_node("ScatterElements", ["t", "i", "u"], ["y"], axis=0, name="put")
        artifact = self.compile(make_model([node], [("t", ["n", "m"]), ("i", ["k", "l"], TensorProto.INT64),
                                                    ("u", ["k", "l"])], [("y", ["n", "m"])]))
        for rows, columns in ((2, 3), (2, 0)):
            with self.subTest(f"{rows}x{columns}"):
                self.refuses(artifact, {"t": np.zeros((rows, columns), np.float32), "i": np.zeros((2, 64), np.int64),
                                        "u": np.ones((2, 64), np.float32)}, "put", "64", f"{columns}")

    def test_open_dimensions_must_agree(self):
        model = make_model([helper.make_node("Add", ["a", "b"], ["y"], name="sum0")], [("a", ["n"]), ("b", ["n"])],
                           [("y", ["n"])])
        artifact = self.compile(model)
        for name, count in (("a", 3), ("b", 4)):
            np.save(self.path(name + ".npy"), np.ones(count, np.float32))
        done = tool("ingot", "run", artifact, "--input", f"a={self.path('a.npy')}", "--input",
                    f"b={self.path('b.npy')}", "--output-dir", self.path("out"))
        self.assert_one_line(done)


class Arithmetic(Case):
    """Tests values on which a processor traps."""
    sanitize = True

    def test_integer_division(self):
        for name, numpy_type in (("INT8", np.int8), ("INT32", np.int32), ("INT64", np.int64), ("UINT8", np.uint8)):
            with self.subTest(name):
                dtype, least = getattr(TensorProto, name), np.iinfo(numpy_type).min
                nodes = [helper.make_node("Div", ["a", "b"], ["q"]), helper.make_node("Mod", ["a", "b"], ["r"])]
                model = make_model(nodes, [("a", [4], dtype), ("b", [4], dtype)],
                                   [("q", [4], dtype), ("r", [4], dtype)])
                minus_one = -1 if least < 0 else 1
                got = self.run_model(self.compile(model), {
                    "a": np.array([7, least, 7, 0], numpy_type), "b": np.array([0, minus_one, 2, 0], numpy_type)})
                np.testing.assert_array_equal(got["q"], np.array([0, least, 3, 0], numpy_type))
                np.testing.assert_array_equal(got["r"], np.array([0, 0, 1, 0], numpy_type))


class Output(Case):
    # ASan ends a program that requests so much memory, so it is excluded.

    def test_output_larger_than_memory(self):
        model = make_model([helper.make_node("ConstantOfShape", ["s"], ["y"])], [], [("y", ["a", "b"])],
                           {"s": np.array([2**21, 2**21], np.int64)})
        self.assert_one_line(tool("ingot", "run", self.compile(model)), "memory")


class Memory(Case):
    """Tests sizes that exceed all memory."""
    sanitize = True

    def test_sizes_that_overflow_in_the_run(self):
        model = make_model([helper.make_node("Expand", ["x", "s"], ["y"])],
                           [("x", [1, 1]), ("s", [2], TensorProto.INT64)], [("y", ["a", "b"])])
        artifact = self.compile(model)
        np.save(self.path("x.npy"), np.ones((1, 1), np.float32))
        for sizes in ([2**63 - 1] * 2, [2**32, 2**32], [2**62, 4], [-1, 5], [-2**63, 2]):
            with self.subTest(sizes=sizes):
                np.save(self.path("s.npy"), np.array(sizes, np.int64))
                done = tool("ingot", "run", artifact, "--input", f"x={self.path('x.npy')}", "--input",
                            f"s={self.path('s.npy')}")
                self.assert_one_line(done)


class Artifacts(Case):
    """Tests files that are not artifacts, truncated, or for another machine."""
    sanitize = True

    def setUp(self):
        super().setUp()
        self.model, self.runs = families.ALL["repvgg"]()

    def refuses(self, path, *words, env=None, options=()):
        done = tool("ingot", "run", path, "--input", "random", "--output-dir", self.path("out"), *options, env=env)
        self.assert_one_line(done, *words)

    def test_missing(self):
        self.refuses(self.path("nothing.so"), "nothing.so")

    def test_not_a_library(self):
        with open(self.path("text.so"), "w") as f:
            f.write("this is no library")
        self.refuses(self.path("text.so"), "text.so")

    def test_another_library(self):
        with open(self.path("other.c"), "w") as f:
            f.write("int other(void) { return 1; }\n")
        done = os.system(f"cc -shared -fPIC {self.path('other.c')} -o {self.path('other.so')}")
        self.assertEqual(done, 0)
        self.refuses(self.path("other.so"), "other.so")

    def test_truncated(self):
        artifact = self.compile(self.model)
        with open(artifact, "rb") as f:
            data = f.read()
        for share in (0.01, 0.3, 0.7, 0.99):
            with self.subTest(share=share):
                with open(self.path("cut.so"), "wb") as f:
                    f.write(data[:int(len(data) * share)])
                self.refuses(self.path("cut.so"), "cut.so")

    def test_weights_missing(self):
        artifact = self.compile(self.model, "--weights=file")
        os.remove(self.weights_of(artifact))
        self.refuses(artifact, "weights")

    def test_weights_swapped(self):
        artifact = self.compile(self.model, "--weights=file")
        size = os.path.getsize(self.weights_of(artifact))
        with open(self.weights_of(artifact), "wb") as f:
            f.write(b"\1" * size)
        self.refuses(artifact, "weights")

    def test_weights_truncated(self):
        artifact = self.compile(self.model, "--weights=file")
        os.truncate(self.weights_of(artifact), os.path.getsize(self.weights_of(artifact)) // 2)
        self.refuses(artifact, "weights")

    def test_weights_elsewhere(self):
        artifact = self.compile(self.model, "--weights=file")
        shutil.move(self.weights_of(artifact), self.path("elsewhere"))
        done = tool("ingot", "run", artifact, "--weights", self.path("elsewhere"), "--input", "random",
                    "--output-dir", self.path("out"))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_cpu_below_the_artifact(self):
        with open("/proc/cpuinfo") as f:
            if "avx2" not in f.read():
                self.skipTest("this CPU has no AVX2")
        artifact = self.compile(self.model, "--target=x86-64-v3")
        self.refuses(artifact, "x86-64-v3", env={"INGOT_MAX_ISA": "x86-64-v2"})

    def test_unknown_isa_cap(self):
        self.refuses(self.compile(self.model), "INGOT_MAX_ISA", env={"INGOT_MAX_ISA": "pentium"})
