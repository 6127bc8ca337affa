"""Models with open sizes on the emulated GPU."""
import re

from emulated import Emulated, eighths, kernels_of
from support import TensorProto, helper, make_model, np, peer


def open_encoder(length, heads, size, layers=1):
    """A transformer whose batch and, if `length` is a name, length are open. The input names tokens, and a mask."""
    rng = np.random.default_rng(0)
    width = heads * size
    weights = {"scale": np.float32(size ** -0.5), "one": np.float32(1), "large": np.float32(-1e4),
               "tokens": eighths(rng, 50, width), "positions": eighths(rng, 64, width),
               "split": np.array([0, 0, heads, size], np.int64), "joined": np.array([0, 0, width], np.int64),
               "axes": np.array([1, 2], np.int64), "zero": np.array([0], np.int64)}
    node = helper.make_node
    nodes = [node("Gather", ["tokens", "ids"], ["token"], name="embed"), node("Shape", ["ids"], ["end"], start=1, end=2),
             node("Slice", ["positions", "zero", "end"], ["position"], name="positions"),
             node("Add", ["token", "position"], ["x0"]), node("Cast", ["mask"], ["m0"], to=TensorProto.FLOAT),
             node("Unsqueeze", ["m0", "axes"], ["m1"]), node("Sub", ["one", "m1"], ["m2"]),
             node("Mul", ["m2", "large"], ["m3"])]

    def dense(x, y, rows, columns, bias=True):
        weights[y + "w"] = eighths(rng, rows, columns)
        nodes.append(node("MatMul", [x, y + "w"], [y + "p" if bias else y], name=y))
        if bias:
            weights[y + "b"] = eighths(rng, columns)
            nodes.append(node("Add", [y + "p", y + "b"], [y]))

    def norm(x, y):
        weights[y + "g"], weights[y + "b"] = eighths(rng, width) + 1, eighths(rng, width)
        nodes.append(node("LayerNormalization", [x, y + "g", y + "b"], [y], axis=-1, name=y))

    for i in range(layers):
        x, p = f"x{i}", f"layer{i}_"
        for part in "qkv":
            dense(x, p + part, width, width)
            nodes.extend([node("Reshape", [p + part, "split"], [p + part + "s"]),
                          node("Transpose", [p + part + "s"], [p + part + "t"],
                               perm=[0, 2, 3, 1] if part == "k" else [0, 2, 1, 3])])
        nodes.extend([node("MatMul", [p + "qt", p + "kt"], [p + "s"], name=p + "scores"),
                      node("Mul", [p + "s", "scale"], [p + "s1"]), node("Add", [p + "s1", "m3"], [p + "s2"]),
                      node("Softmax", [p + "s2"], [p + "p"], axis=-1, name=p + "softmax"),
                      node("MatMul", [p + "p", p + "vt"], [p + "c"], name=p + "context"),
                      node("Transpose", [p + "c"], [p + "c1"], perm=[0, 2, 1, 3]),
                      node("Reshape", [p + "c1", "joined"], [p + "c2"])])
        dense(p + "c2", p + "o", width, width)
        nodes.append(node("Add", [p + "o", x], [p + "r"]))
        norm(p + "r", p + "n")
        dense(p + "n", p + "f", width, 2 * width)
        nodes.append(node("Relu", [p + "f"], [p + "f1"]))
        dense(p + "f1", p + "g", 2 * width, width, bias=False)
        nodes.append(node("Add", [p + "g", p + "n"], [p + "r2"]))
        norm(p + "r2", f"x{i + 1}")
    nodes.append(node("Identity", [f"x{layers}"], ["y"]))
    inputs = [(name, ["n", length], TensorProto.INT64) for name in ("ids", "mask")]
    return make_model(nodes, inputs, [("y", ["n", length, width])], weights)


def open_pictures(height, width):
    """Convolutions with padding, strides, groups and a residual, pooling and a classifier, with an open batch."""
    rng = np.random.default_rng(1)
    weights = {"w1": eighths(rng, 16, 3, 3, 3), "b1": eighths(rng, 16), "w2": eighths(rng, 16, 16, 1, 1),
               "w3": eighths(rng, 24, 8, 3, 3), "w4": eighths(rng, 24, 10), "b4": eighths(rng, 10)}
    nodes = [helper.make_node("Conv", ["x", "w1", "b1"], ["c1"], name="stem", pads=[1, 1, 1, 1], strides=[2, 2]),
             helper.make_node("Relu", ["c1"], ["r1"]),
             helper.make_node("Conv", ["r1", "w2"], ["c2"], name="pointwise"),
             helper.make_node("Add", ["c2", "r1"], ["a2"]),
             helper.make_node("MaxPool", ["a2"], ["p2"], kernel_shape=[2, 2], strides=[2, 2], name="pool"),
             helper.make_node("Conv", ["p2", "w3"], ["c3"], name="grouped", pads=[1, 1, 1, 1], group=2),
             helper.make_node("GlobalAveragePool", ["c3"], ["g"], name="average"),
             helper.make_node("Flatten", ["g"], ["f"]),
             helper.make_node("Gemm", ["f", "w4", "b4"], ["y"], name="classifier")]
    return make_model(nodes, [("x", ["n", 3, height, width])], [("y", ["n", 10])], weights)


def open_products():
    """A product whose sizes are all open, with an epilogue, one of batches, and one whose left factor is transposed."""
    nodes = [helper.make_node("MatMul", ["x", "z"], ["p"], name="product"), helper.make_node("Relu", ["p"], ["y"]),
             helper.make_node("MatMul", ["bx", "bz"], ["by"], name="batches"),
             helper.make_node("Gemm", ["x", "t"], ["gy"], name="transposed", transA=1)]
    inputs = [("x", ["m", "k"]), ("z", ["k", "n"]), ("bx", ["b", "m", "k"]), ("bz", ["b", "k", "n"]), ("t", ["m", "n"])]
    return make_model(nodes, inputs, [("y", ["m", "n"]), ("by", ["b", "m", "n"]), ("gy", ["k", "n"])])


class CudaOpen(Emulated):
    """Open sizes: buffers in a heap of the GPU, and sizes as parameters of kernels."""

    def check(self, model, sizes, kernels, tolerance, *options):
        """Runs at each of `sizes`, which name open dimensions. The code has `kernels`."""
        session = peer(model)
        for schedule in (0, 1):
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            with open(artifact, "rb") as f:
                code = f.read()
            for kernel in kernels:
                self.assertTrue(re.search(rb"\.entry %s_\d" % kernel.encode(), code), kernel)
            for seed, size in enumerate(sizes):
                rng = np.random.default_rng(seed)
                feeds = {}
                for value in session.get_inputs():
                    shape = [size.get(dim, dim) for dim in value.shape]
                    feeds[value.name] = (eighths(rng, *shape) if value.name == "x" else
                                         rng.integers(0, 50 if value.name == "ids" else 2, shape))
                if "mask" in feeds:
                    feeds["mask"][:, :1] = 1
                want = session.run(None, feeds)[0]
                got = self.emulate(artifact, feeds, seed=seed)["y"]
                np.testing.assert_allclose(got, want, rtol=tolerance, atol=tolerance, err_msg=f"{size} {schedule}")

    def test_encoder(self):
        sizes = [{"n": n, "t": t} for n, t in ((2, 7), (1, 1), (0, 5), (3, 33))]
        self.check(open_encoder("t", 2, 16), sizes, ["attention", "matmul", "row_norm", "grid"], 1e-5)
        self.check(open_encoder("t", 2, 16), sizes[:1], ["attention", "matmul"], 2e-2, "--precision=fp16")
        # Only the batch is open.
        self.check(open_encoder(9, 1, 32), [{"n": n} for n in (3, 1, 0)], ["attention", "matmul"], 1e-5)

    def test_pictures(self):
        self.check(open_pictures(12, 20), [{"n": n} for n in (3, 1, 0)], ["conv", "matmul"], 1e-5)
        sizes = [{"n": n, "h": h, "w": w} for n, h, w in ((2, 16, 12), (1, 8, 9), (0, 8, 8), (3, 13, 22))]
        self.check(open_pictures("h", "w"), sizes, ["conv", "matmul"], 1e-5)
        self.check(open_pictures("h", "w"), sizes[:1], ["conv", "matmul"], 2e-2, "--precision=fp16")

    def test_products(self):
        """Multiples of 1/8, whose sums are exact: the bits do not depend on tiles."""
        model = open_products()
        session = peer(model)
        for options, share in ([], 0), (["--precision=fp16"], 2 ** -11), (["--precision=tf32"], 0):
            for schedule in (0, 3):
                artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                        name="gpu")
                self.assertEqual(kernels_of(artifact).count("matmul"), 3)
                for seed, (b, m, k, n) in enumerate([(2, 5, 7, 9), (1, 33, 70, 130), (3, 1, 1, 1), (2, 4, 0, 3),
                                                     (0, 2, 3, 4), (1, 2, 5, 0), (2, 16, 64, 32)]):
                    rng = np.random.default_rng(seed)
                    feeds = {"x": eighths(rng, m, k), "z": eighths(rng, k, n), "bx": eighths(rng, b, m, k),
                             "bz": eighths(rng, b, k, n), "t": eighths(rng, m, n)}
                    got = self.emulate(artifact, feeds, seed=seed)
                    for name, want in zip(("y", "by", "gy"), session.run(None, feeds)):
                        np.testing.assert_allclose(got[name], want, 0, share * np.abs(want).max(initial=0),
                                                   err_msg=f"{name} {options} {schedule} {(b, m, k, n)}")

    def test_rows_that_nobody_reads(self):
        """If the results have no columns, a run skips the sums of the rows. No kernel writes their memory."""
        node = helper.make_node
        sums = {"sum": [node("ReduceSum", ["x", "axis"], ["m"], keepdims=1)],
                "position": [node("ArgMax", ["x"], ["i"], axis=1, keepdims=1), node("Cast", ["i"], ["m"], to=1)],
                "running sum": [node("CumSum", ["x", "axis"], ["c"]), node("ReduceMax", ["c", "axis"], ["m"], keepdims=1)],
                "sort": [node("TopK", ["x", "axis"], ["m", "i"])],
                "softmax": [node("Softmax", ["z"], ["s"]), node("ReduceSum", ["s", "axis"], ["m"], keepdims=1)]}
        for name, nodes in sums.items():
            model = make_model([*nodes, node("Mul", ["m", "z"], ["y"])], [("x", ["n", 8]), ("z", ["n", "k"])],
                               [("y", ["n", "k"])], {"axis": np.array([1])}, opset=18)
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none")
            for n, k in (40, 0), (3, 2), (0, 3):
                rng = np.random.default_rng(n)
                feeds = {"x": eighths(rng, n, 8), "z": eighths(rng, n, k)}
                with self.subTest(name, n=n, k=k):
                    want = peer(model).run(None, feeds)[0]
                    np.testing.assert_allclose(self.emulate(artifact, feeds)["y"], want, 1e-5, 1e-6)
