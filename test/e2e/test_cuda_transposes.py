"""Transposes through shared memory on the emulated GPU: equal bits for all orders of threads."""
import itertools

from emulated import Emulated, kernels_of
from support import TensorProto, helper, make_model, np

TYPES = {"bool": TensorProto.BOOL, "int8": TensorProto.INT8, "float16": TensorProto.FLOAT16, "int16": TensorProto.INT16,
         "float32": TensorProto.FLOAT, "int32": TensorProto.INT32, "float64": TensorProto.DOUBLE,
         "int64": TensorProto.INT64}


def drawn(seed, shape, dtype):
    """Random bits as elements of the type. Floats have no NaN."""
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        return rng.standard_normal(shape).astype(dtype)
    info = np.iinfo(dtype)
    return rng.integers(info.min, info.max, shape, dtype=dtype, endpoint=True)


def permutations_model(shape, dtype):
    """A transpose for each permutation of the dimensions. Returns the model and {output: permutation}."""
    orders = [p for p in itertools.permutations(range(len(shape))) if p != tuple(range(len(shape)))]
    found = {"y" + "".join(map(str, p)): p for p in orders}
    nodes = [helper.make_node("Transpose", ["x"], [name], name=name, perm=p) for name, p in found.items()]
    outputs = [(name, [shape[i] for i in p], TYPES[dtype]) for name, p in found.items()]
    return make_model(nodes, [("x", list(shape), TYPES[dtype])], outputs), found


class CudaTransposes(Emulated):
    def check(self, model, feeds, want, *options, schedules=(0, 1, 2), seeds=(0, 1), tiles=True):
        """Compares bits. With drawn schedules, some kernel uses tiles."""
        for schedule in schedules:
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}", *options,
                                    name="gpu")
            if tiles and schedule:
                self.assertIn("transpose", kernels_of(artifact))
            for seed in seeds:
                got = self.emulate(artifact, feeds, seed=seed)
                for name, array in want.items():
                    np.testing.assert_array_equal(got[name], array, f"{name}, schedule {schedule}, {seed=}")

    def check_permutations(self, shape, dtype, **settings):
        with self.subTest(shape=shape, dtype=dtype):
            model, orders = permutations_model(shape, dtype)
            x = drawn(len(shape), shape, dtype)
            self.check(model, {"x": x}, {name: x.transpose(p) for name, p in orders.items()}, **settings)

    def test_permutations(self):
        """All permutations of ranks 2 to 5, with tails and sizes that are multiples of wide accesses."""
        for shape in ((33, 50), (64, 32), (3, 1000), (4, 33, 20), (24, 16, 32), (3, 18, 2, 24)):
            self.check_permutations(shape, "float32")
        self.check_permutations((2, 3, 17, 2, 20), "float32", schedules=(3,), seeds=(0,))

    def test_types(self):
        """Elements of 1, 2, 4 and 8 bytes, with the widest accesses and with single elements."""
        for dtype in TYPES:
            for shape in (2, 64, 32), (35, 2, 33):
                self.check_permutations(shape, dtype, schedules=(1, 4))

    def test_fused(self):
        """Ops before and behind a transpose, a second transposed operand, and one in another order."""
        x, z = drawn(1, (3, 40, 33), "float32"), drawn(2, (3, 40, 33), "float32")
        r, s, v = drawn(3, (3, 33, 40), "float32"), drawn(4, (40,), "float32"), drawn(5, (40, 33, 3), "float32")
        nodes = [helper.make_node("Neg", ["x"], ["n"]), helper.make_node("Transpose", ["n"], ["t"], perm=[0, 2, 1]),
                 helper.make_node("Add", ["t", "r"], ["a"]), helper.make_node("Mul", ["a", "s"], ["m"]),
                 helper.make_node("Relu", ["m"], ["y"]), helper.make_node("Transpose", ["z"], ["u"], perm=[0, 2, 1]),
                 helper.make_node("Transpose", ["v"], ["w"], perm=[2, 1, 0]), helper.make_node("Add", ["t", "u"], ["p"]),
                 helper.make_node("Add", ["p", "w"], ["q"]), helper.make_node("Cast", ["q"], ["h"], to=TYPES["float16"])]
        feeds = {"x": x, "z": z, "r": r, "s": s, "v": v}
        model = make_model(nodes, [(name, list(array.shape)) for name, array in feeds.items()],
                           [("y", [3, 33, 40]), ("h", [3, 33, 40], TYPES["float16"])])
        t = -x.transpose(0, 2, 1)
        want = {"y": np.maximum((t + r) * s, 0), "h": (t + z.transpose(0, 2, 1) + v.transpose(2, 1, 0)).astype(np.float16)}
        self.check(model, feeds, want, schedules=(0, 1, 2, 3))

    def test_open(self):
        """Open sizes, of which some are smaller than a tile."""
        nodes = [helper.make_node("Transpose", ["x"], ["t"], perm=[0, 2, 1]), helper.make_node("Abs", ["t"], ["y"]),
                 helper.make_node("Transpose", ["c"], ["d"], perm=[0, 2, 1])]
        for dtype in "float32", "float16":
            model = make_model(nodes, [("x", ["n", "h", "w"], TYPES[dtype]), ("c", ["n", 48, "w"], TYPES[dtype])],
                               [("y", ["n", "w", "h"], TYPES[dtype]), ("d", ["n", "w", 48], TYPES[dtype])])
            for schedule in (0, 1, 2):
                artifact = self.compile(model, "--target=sm_80", "--ptxas=none", f"--schedule-seed={schedule}",
                                        name="gpu")
                self.assertIn("transpose", kernels_of(artifact))
                for seed, (n, h, w) in enumerate([(2, 33, 70), (1, 1, 1), (0, 4, 5), (3, 5, 130), (1, 64, 0)]):
                    feeds = {"x": drawn(seed, (n, h, w), dtype), "c": drawn(seed, (n, 48, w), dtype)}
                    got = self.emulate(artifact, feeds, seed=seed)
                    np.testing.assert_array_equal(got["y"], np.abs(feeds["x"].transpose(0, 2, 1)), f"{(n, h, w)}")
                    np.testing.assert_array_equal(got["d"], feeds["c"].transpose(0, 2, 1), f"{(n, h, w)}")

    def test_choice(self):
        """A large transpose has tiles. A small one has none, nor one whose warps read whole sectors anyway."""
        for shape, perm, kernel in (([512, 512], [1, 0], "transpose"), ([20, 30], [1, 0], "grid"),
                                    ([1, 4, 200000], [0, 2, 1], "grid"), ([400, 2, 512], [1, 0, 2], "grid")):
            result = [shape[i] for i in perm]
            model = make_model([helper.make_node("Transpose", ["x"], ["y"], perm=perm)], [("x", shape)],
                               [("y", result)])
            artifact = self.compile(model, "--target=sm_80", "--ptxas=none", name="gpu")
            self.assertEqual(kernels_of(artifact), [kernel], f"{shape}")
        x = drawn(0, (512, 512), "float32")
        model = make_model([helper.make_node("Transpose", ["x"], ["y"])], [("x", [512, 512])], [("y", [512, 512])])
        self.check(model, {"x": x}, {"y": x.T}, schedules=(0,), seeds=(0,))

    def test_pictures(self):
        """A convolution's picture gets its channels last, and its result gets them first again."""
        rng = np.random.default_rng(6)
        weights = {"w": (rng.integers(-8, 9, (40, 24, 1, 1)) / 8).astype(np.float32)}
        model = make_model([helper.make_node("Conv", ["x", "w"], ["y"], name="conv")], [("x", [1, 24, 40, 41])],
                           [("y", [1, 40, 40, 41])], weights)
        x = (rng.integers(-8, 9, (1, 24, 40, 41)) / 8).astype(np.float32)
        want = np.einsum("nchw,oc->nohw", x, weights["w"][:, :, 0, 0])
        for options in ([], ["--precision=fp16"]):
            self.check(model, {"x": x}, {"y": want}, *options, schedules=(1, 2))
