"""Compiles model families at small sizes and compares them with ONNX Runtime."""
import families

from support import Case, helper, make_model, np, onnx


class Families(Case):
    """One test per family: results agree for static and dynamic sizes."""


class OneDnn(Case):
    """Compiles with oneDNN's kernels."""


def family_test(name, *options):
    def test(self):
        model, runs = families.ALL[name]()
        artifact = self.compile(model, *options)
        for inputs in runs:
            self.assert_agrees(model, artifact, inputs)
    return test


for _name in families.ALL:
    setattr(Families, "test_" + _name, family_test(_name))
    setattr(OneDnn, "test_" + _name, family_test(_name, "--kernels=onednn"))


class Variants(Case):
    """Compiles models with other options or forms."""
    sanitize = True

    def test_fixed_batch(self):
        model, runs = families.ALL["cnn_dynamic"]()
        self.assert_agrees(model, self.compile(model, "--dim", "batch=2"), runs[1])

    def test_fixed_shape(self):
        model, runs = families.ALL["mlp_dynamic"]()
        self.assert_agrees(model, self.compile(model, "--shape", "input=3x20"), runs[1])

    def test_weights_in_a_file(self):
        model, runs = families.ALL["resnet"]()
        self.assert_agrees(model, self.compile(model, "--weights=file"), runs[0])

    def test_threads_agree(self):
        model, runs = families.ALL["mobilenet_v2"]()
        artifact = self.compile(model)
        one = self.run_model(artifact, runs[0], "--threads", "1")
        two = self.run_model(artifact, runs[0], "--threads", "2")
        np.testing.assert_allclose(one["output"], two["output"], rtol=1e-4, atol=1e-4)

    def test_columns(self):
        """Convolutions along one column of pixels: strides, groups, additions, and a dynamic batch."""
        rng = np.random.default_rng(3)
        for attributes, groups in (({"pads": [2, 0, 2, 0]}, 1), ({"strides": [2, 3]}, 1), ({"dilations": [2, 1]}, 2),
                                   ({"pads": [1, 0, 3, 0], "strides": [3, 1]}, 4)):
            with self.subTest(f"{attributes} {groups}"):
                weights = {"w": (rng.standard_normal((36, 24 // groups, 5, 1)) / 10).astype(np.float32),
                           "b": rng.standard_normal(36).astype(np.float32)}
                nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], group=groups, **attributes),
                         helper.make_node("Tanh", ["c"], ["y"])]
                model = make_model(nodes, [("x", ["batch", 24, 31, 1])], [("y", None)], weights)
                for level in ("x86-64-v3", "native"):
                    artifact = self.compile(model, f"--target={level}")
                    for batch in (1, 3):
                        x = rng.standard_normal((batch, 24, 31, 1)).astype(np.float32)
                        self.assert_agrees(model, artifact, {"x": x})

    def test_queries_without_keys(self):
        """Attention with a boolean mask as PyTorch exports it: zeros for a query that sees no key. With one block of
        keys and with several; the first may be masked completely."""
        rng = np.random.default_rng(4)
        weights = {"zero": np.zeros(1, np.float32), "lowest": np.full(1, -np.inf, np.float32)}
        nodes = [helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 1, 3, 2]),
                 helper.make_node("MatMul", ["q", "kt"], ["scores"]),
                 helper.make_node("Where", ["seen", "zero", "lowest"], ["mask"]),
                 helper.make_node("Add", ["scores", "mask"], ["sum"]),
                 helper.make_node("Softmax", ["sum"], ["p"], axis=-1), helper.make_node("IsNaN", ["p"], ["none"]),
                 helper.make_node("Where", ["none", "zero", "p"], ["safe"]),
                 helper.make_node("MatMul", ["safe", "v"], ["y"])]
        for keys, dims in ((9, (7, 9)), (300, (7, 300)), (9, ("M", "N")), (300, ("M", "N"))):
            with self.subTest(f"{keys} {dims}"):
                model = make_model(nodes, [("q", [1, 2, dims[0], 16]), ("k", [1, 2, dims[1], 16]),
                                           ("v", [1, 2, dims[1], 16]), ("seen", list(dims), onnx.TensorProto.BOOL)],
                                   [("y", [1, 2, dims[0], 16])], weights)
                seen = rng.random((7, keys)) < 0.5
                seen[2], seen[3, :keys // 2 + 1], seen[4] = False, False, True
                q, k, v = (rng.standard_normal((1, 2, n, 16)).astype(np.float32) for n in (7, keys, keys))
                inputs = {"q": q, "k": k, "v": v, "seen": seen}
                artifact = self.compile(model)
                self.assert_agrees(model, artifact, inputs)
                y = self.run_model(artifact, inputs)["y"]
                self.assertFalse(y[:, :, 2].any())

    def test_attention_without_keys(self):
        """ONNX's Attention without keys; its function reads the mask, and its heads are repeated or not."""
        import onnx.reference
        rng = np.random.default_rng(5)
        for heads, keys, dims in ((2, 9, ("B", "M", "N")), (1, 300, ("B", "M", "N")), (2, 9, (2, 7, 9))):
            with self.subTest(f"{heads} {keys} {dims}"):
                batch, m, n = dims
                model = make_model([helper.make_node("Attention", ["q", "k", "v", "seen"], ["y"])],
                                   [("q", [batch, 2, m, 16]), ("k", [batch, heads, n, 16]), ("v", [batch, heads, n, 16]),
                                    ("seen", [m, n], onnx.TensorProto.BOOL)], [("y", [batch, 2, m, 16])], opset=24)
                seen = rng.random((7, keys)) < 0.5
                seen[2], seen[4] = False, True
                inputs = {name: rng.standard_normal((2, count, length, 16)).astype(np.float32)
                          for name, count, length in (("q", 2, 7), ("k", heads, keys), ("v", heads, keys))}
                inputs["seen"] = seen
                want, = onnx.reference.ReferenceEvaluator(model).run(None, inputs)
                y = self.run_model(self.compile(model), inputs)["y"]
                np.testing.assert_allclose(y, want, rtol=1e-5, atol=1e-5)
                self.assertFalse(y[:, :, 2].any())

    def test_text_model(self):
        """A model written as ONNX text."""
        source = self.path("model.onnxtxt")
        with open(source, "w") as f:
            f.write('<ir_version: 8, opset_import: ["" : 17]>\n'
                    "g (float[2,3] x) => (float[2,3] y) { y = Relu(x) }\n")
        artifact = self.compile(source)
        x = np.array([[-1, 0, 2], [3, -4, 5]], np.float32)
        np.testing.assert_array_equal(self.run_model(artifact, {"x": x})["y"], np.maximum(x, 0))

    def test_external_data(self):
        model, runs = families.ALL["repvgg"]()
        onnx.save(model, self.path("model.onnx"), save_as_external_data=True, location="weights.bin",
                  size_threshold=0)
        plain, _ = families.ALL["repvgg"]()
        self.assert_agrees(plain, self.compile(self.path("model.onnx")), runs[0])

    def test_initializers_listed_as_inputs(self):
        """IR version 3 also lists weights as inputs; they are still constants."""
        model = make_model([helper.make_node("Add", ["x", "b"], ["y"])], [("x", [2]), ("b", [2])], [("y", [2])],
                           {"b": np.array([1, 2], np.float32)}, opset=8)
        model.ir_version = 3
        x = np.array([10, 20], np.float32)
        np.testing.assert_array_equal(self.run_model(self.compile(model), {"x": x})["y"], [11, 22])

    def test_wrong_value_info(self):
        """A model's statements about inner shapes are not trusted."""
        model, runs = families.ALL["resnet"]()
        inner = model.graph.node[2].output[0]
        model.graph.value_info.append(helper.make_tensor_value_info(inner, onnx.TensorProto.FLOAT, [7, 7]))
        plain, _ = families.ALL["resnet"]()
        self.assert_agrees(plain, self.compile(model), runs[0])

    def test_output_without_a_shape(self):
        """The declared rank of the output may be missing. Inference finds it."""
        model = make_model([helper.make_node("Add", ["x", "x"], ["y"])], [("x", [2, 3])], [("y", None)])
        self.assert_agrees(model, self.compile(model), {"x": np.arange(6, dtype=np.float32).reshape(2, 3)})

    def test_shapes_that_a_run_brings(self):
        """Resize to another tensor's size, and a triangle of dynamic sizes."""
        source = self.path("model.onnxtxt")
        with open(source, "w") as f:
            f.write('<ir_version: 8, opset_import: ["" : 18]>\n'
                    "g (float[n,2,h,w] x, float[n,1,p,q] like) => (float[n,2,p,q] y, float[n,1,p,q] t) {\n"
                    "  nc = Shape<end = 2>(x)\n  pq = Shape<start = 2>(like)\n"
                    "  sizes = Concat<axis = 0>(nc, pq)\n"
                    '  y = Resize<mode = "linear">(x, , , sizes)\n  t = Trilu(like)\n}\n')
        artifact = self.compile(source)
        random = np.random.default_rng(0)
        model = onnx.parser.parse_model(open(source).read())
        for n, h, w, p, q in ((1, 4, 6, 8, 12), (2, 5, 3, 2, 7), (1, 1, 1, 3, 3)):
            self.assert_agrees(model, artifact, {"x": random.random((n, 2, h, w), np.float32),
                                                 "like": random.random((n, 1, p, q), np.float32)})

    def test_means_of_many_are_exact(self):
        """Values of one sign, whose sum exceeds their precision."""
        x = np.random.default_rng(0).uniform(0.5, 1.5, (1, 3, 300, 400)).astype(np.float32)
        model = make_model([helper.make_node("GlobalAveragePool", ["x"], ["y"])], [("x", x.shape)], [("y", None)])
        y = self.run_model(self.compile(model), {"x": x})["y"]
        np.testing.assert_allclose(y, x.mean((2, 3), dtype=np.float64, keepdims=True), rtol=2e-6)

    def test_denormals_count_as_zero(self):
        """Denormal values would make every product with them very slow."""
        node = helper.make_node("Add", ["x", "x"], ["y"])
        model = make_model([node], [("x", [2, 4])], [("y", [2, 4])])
        x = np.array([[1e-40, -1e-40, 1e-38, 3], [0, 1e-45, 2e-38, -5]], dtype=np.float32)
        y = self.run_model(self.compile(model), {"x": x})["y"]
        tiny = np.finfo(np.float32).tiny
        np.testing.assert_array_equal(y, np.where(abs(x) < tiny, np.float32(0), x + x))

    def test_older_opsets(self):
        """One network, written in the forms of several older opsets."""
        for opset in (7, 9, 11, 13):
            with self.subTest(opset=opset):
                weights = {"w": np.random.default_rng(0).standard_normal((4, 3, 3, 3)).astype(np.float32)}
                nodes = [helper.make_node("Conv", ["x", "w"], ["a"], kernel_shape=[3, 3]),
                         helper.make_node("Relu", ["a"], ["b"]),
                         helper.make_node("MaxPool", ["b"], ["c"], kernel_shape=[2, 2], strides=[2, 2]),
                         helper.make_node("Flatten", ["c"], ["d"]),
                         helper.make_node("Softmax", ["d"], ["y"], axis=1)]
                model = make_model(nodes, [("x", [1, 3, 8, 8])], [("y", [1, 36])], weights, opset=opset)
                model.ir_version = 4
                x = np.random.default_rng(1).standard_normal((1, 3, 8, 8)).astype(np.float32)
                self.assert_agrees(model, self.compile(model), {"x": x})
