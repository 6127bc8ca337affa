"""Small graphs that were reduced from random ones (test/random). Each once gave a wrong result."""
from support import Case, TensorProto, helper, make_model, np


class Graphs(Case):
    """Combinations of operators that failed although each operator works alone."""

    def check(self, nodes, inputs, initializers=(), opset=17, opens=(), others=(), outputs=("y",),
              types=()):
        """Checks a graph. `opens`: axes that are dynamic in all inputs but lists; `others`: inputs of other sizes;
        `types`: types of outputs that are not float32."""
        def shape(name, array):
            return [f"{name}{i}" if i in opens and array.ndim > 1 else d for i, d in enumerate(array.shape)]
        model = make_model(nodes, [(n, shape(n, a), helper.np_dtype_to_tensor_dtype(a.dtype))
                                   for n, a in inputs.items()], [(o, None, helper.np_dtype_to_tensor_dtype(np.dtype(dict(types).get(o, np.float32))))
                                                           for o in outputs], initializers, opset)
        artifact = self.compile(model)
        for given in (inputs, *others):
            self.assert_agrees(model, artifact, given)

    def test_outer_product_that_is_broadcast(self):
        """The outer product must be summed once, not once per element of the broadcast."""
        rng = np.random.default_rng(0)
        inputs = {n: rng.standard_normal(shape).astype(np.float32)
                  for n, shape in (("a", (4, 1, 1, 3)), ("z", (5,)), ("s", (5, 19)))}
        self.check([helper.make_node("Einsum", ["a", "z"], ["e"], equation="abcd,z->adzbc"),
                    helper.make_node("Mul", ["s", "e"], ["y"])], inputs)

    def test_diagonals(self):
        """A repeated index with computation before it; other types and dynamic sizes."""
        rng = np.random.default_rng(6)
        for equation, shape in (("ii->i", (37, 37)), ("bii->bi", (3, 19, 19)), ("bii->ib", (3, 19, 19))):
            for kind, dtype in ((TensorProto.FLOAT, np.float32), (TensorProto.DOUBLE, np.float64),
                                (TensorProto.INT32, np.int32)):
                x = (rng.standard_normal(shape) * 9).astype(dtype)
                for dims in (list(shape), [f"d{n}" for n in shape]):
                    with self.subTest(f"{equation} {dtype} {dims}"):
                        model = make_model([helper.make_node("Neg", ["x"], ["n"]),
                                            helper.make_node("Einsum", ["n"], ["d"], equation=equation),
                                            helper.make_node("Abs", ["d"], ["y"])],
                                           [("x", dims, kind)], [("y", ["a"] * (len(shape) - 1), kind)])
                        got = self.run_model(self.compile(model), {"x": x})["y"]
                        np.testing.assert_array_equal(got, np.abs(np.einsum(equation, x)))

    def test_einsum_of_several(self):
        """An Einsum of more than two operands must not be one loop over every label."""
        rng = np.random.default_rng(0)
        for equation, *shapes in (("ij,jk,kl->il", (9, 20), (20, 30), (30, 7)), ("bn,anm,bm->ba", (5, 6), (4, 6, 7), (5, 7)),
                                  ("i,j,k->kij", (3,), (4,), (5,)), ("ab,bc,cd,de->", (3, 4), (4, 5), (5, 6), (6, 7)),
                                  ("...i,ij,...j->...", (2, 3, 4), (4, 5), (2, 3, 5)), ("ii,ij,j->i", (6, 6), (6, 7), (7,)),
                                  ("ab,bc,ca->b", (3, 4), (4, 5), (5, 3))):
            inputs = {n: rng.standard_normal(shape).astype(np.float32) for n, shape in zip("pqrs", shapes)}
            node = helper.make_node("Einsum", list(inputs), ["y"], equation=equation)
            for opens in ((), (0, 1, 2)):
                self.check([node], inputs, opens=() if equation.startswith("...") else opens)
        integers = {n: rng.integers(-9, 9, shape) for n, shape in zip("pqr", ((4, 5), (5, 6), (6, 3)))}
        self.check([helper.make_node("Einsum", ["p", "q", "r"], ["y"], equation="ij,jk,kl->li")], integers,
                   types={"y": np.int64})

    def test_ends_that_are_repeated(self):
        """Pads each end of each dimension. Corners are padded with the first padded dimension."""
        rng = np.random.default_rng(0)
        for mode in ("reflect", "edge", "wrap"):
            for shape, pads in (((7,), (3, 6)), ((4, 5), (1, 4, 3, 0)), ((4, 1, 5), (3, 0, 2, 0, 0, 4)),
                                ((3, 4, 5, 6), (2, 0, 1, 3, 1, 3, 4, 5)), ((4, 6), (-1, 2, 2, -2))):
                for opens in ((), (0, 1, 2, 3)):
                    x = rng.standard_normal(shape).astype(np.float32)
                    self.check([helper.make_node("Pad", ["x", "pads"], ["y"], mode=mode)], {"x": x}, {"pads": np.array(pads)},
                               opens=opens, opset=19)
        x = rng.integers(0, 255, (2, 3)).astype(np.uint8)
        self.check([helper.make_node("Pad", ["x", "pads"], ["y"], mode="wrap")], {"x": x}, {"pads": np.array([5, 7, 0, 9])},
                   opset=19, opens=(1,), types={"y": np.uint8})

    def test_rows_times_rows(self):
        """Products of types without register tiles, with the second factor transposed."""
        rng = np.random.default_rng(0)
        for dtype, shapes in ((np.float64, ((9, 20), (30, 20), (30,))), (np.float64, ((1, 5), (1, 5), (1,))),
                              (np.float64, ((7, 33), (4, 33), (7, 1)))):
            inputs = {n: rng.standard_normal(shape).astype(dtype) for n, shape in zip("abc", shapes)}
            for opens in ((), (0, 1)):
                self.check([helper.make_node("Gemm", ["a", "b", "c"], ["y"], transB=1, alpha=0.5)], inputs, opens=opens,
                           types={"y": dtype})

    def test_parts_of_open_sizes(self):
        """The first part is a view with gaps, which must not be read as contiguous."""
        rng = np.random.default_rng(0)
        inputs, other = ({"x": rng.standard_normal(s).astype(np.float32)} for s in ((3, 8, 5), (1, 8, 1)))
        self.check([helper.make_node("Split", ["x", "sizes"], ["y", "z"], axis=1)], inputs,
                   {"sizes": np.array([4, 4])}, opens=(0, 2), others=[other], outputs=("y", "z"))
        self.check([helper.make_node("Slice", ["x", "zero", "two", "axis"], ["y"])], inputs,
                   {"zero": np.array([0]), "two": np.array([2]), "axis": np.array([2])}, opens=(0, 1),
                   others=[{"x": inputs["x"][:, :0]}])

    def test_backward_slice_of_nothing(self):
        """No element is taken from an empty dimension."""
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        bounds = {"start": np.array([2**31]), "end": np.array([-2**31]), "axis": np.array([0]), "step": np.array([-1])}
        node = helper.make_node("Slice", ["x", "start", "end", "axis", "step"], ["y"])
        self.check([node], {"x": x}, bounds, opens=(0, 1), others=[{"x": x[:0]}, {"x": x[:1]}])
        # Tests a start that is an input.
        computed = {k: v for k, v in bounds.items() if k != "start"}
        self.check([node], {"x": x, "start": bounds["start"]}, computed, opens=(0,),
                   others=[{"x": x[:0], "start": bounds["start"]}])

    def test_outputs_made_of_one_value(self):
        """An output must not overwrite a value that another output still needs."""
        rng = np.random.default_rng(0)
        inputs = {n: rng.standard_normal(shape).astype(np.float32) for n, shape in (("x", (4, 17)), ("u", (3, 17)),
                                                                                    ("v", (57,)))}
        constants = {"rows": np.array([[2], [0], [3]]), "all": np.array([68]), "places": np.arange(57)[:, None]}
        nodes = [helper.make_node("Floor", ["x"], ["f"]), helper.make_node("ScatterND", ["f", "rows", "u"], ["y"]),
                 helper.make_node("Reshape", ["f", "all"], ["r"]),
                 helper.make_node("ScatterND", ["r", "places", "v"], ["z"])]
        for order in (nodes, [nodes[0], nodes[2], nodes[3], nodes[1]]):
            for outputs in (("y", "z"), ("z", "y"), ("y", "z", "f")):
                self.check(order, inputs, constants, outputs=outputs)

    def test_cumulative_sums_between_ones(self):
        """Among dimensions of size 1, upstream confuses dimensions, which leads to wrong accesses at run time."""
        rng = np.random.default_rng(0)
        for shape, axis in (((9, 1, 6, 1, 1, 4), -3), ((1, 18, 1, 1), -2), ((2, 1, 16, 5, 1, 1), 2), ((1, 1, 3), 0)):
            x = rng.integers(-8, 8, shape).astype(np.int32)
            for attributes in ({}, {"exclusive": 1}, {"exclusive": 1, "reverse": 1}):
                node = helper.make_node("CumSum", ["x", "axis"], ["y"], **attributes)
                given = {"x": x, "axis": np.array(axis)}
                self.check([node], {"x": x}, {"axis": np.array(axis)}, types={"y": np.int32})
                self.check([node], given, types={"y": np.int32})
                self.check([node], {"x": x}, {"axis": np.array(axis)}, opens=(0, 1), types={"y": np.int32})
            # Broadcasts the sum afterwards.
            self.check([helper.make_node("CumSum", ["x", "axis"], ["c"], exclusive=1),
                        helper.make_node("Mul", ["c", "v"], ["y"])],
                       {"x": x.astype(np.float32), "v": np.arange(16, dtype=np.float32)} if shape[-1] == 1 else
                       {"x": x.astype(np.float32), "v": np.array([2], np.float32)}, {"axis": np.array(axis)})
            self.check([helper.make_node("TopK", ["x", "one"], ["y", "i"], axis=axis)], {"x": x.astype(np.float32)},
                       {"one": np.array([1])}, opens=(1,), outputs=("y", "i"), types={"i": np.int64})

    def test_nothing_of_nothing(self):
        """Upstream's verifiers refuse slices and shapes of tensors that are known to be empty."""
        x = np.zeros((8, 6, 0), np.float32)
        self.check([helper.make_node("NonZero", ["x"], ["y"])], {"x": x}, types={"y": np.int64})
        self.check([helper.make_node("NonZero", ["x"], ["y"])], {"x": x}, opens=(0,), others=[{"x": x[:1]}],
                   types={"y": np.int64})
        weights = {"w": np.ones((1, 2, 5), np.float32), "r": np.ones((1, 2, 2), np.float32)}
        states = helper.make_node("RNN", ["x", "w", "r"], ["y", "h"], hidden_size=2, direction="reverse")
        self.check([states], {"x": np.zeros((3, 0, 5), np.float32)}, weights, outputs=("y", "h"))
        size = helper.make_node("Resize", ["x", "", "", "s"], ["y"], mode="nearest")
        self.check([size], {"x": np.zeros((0, 4, 3), np.float32)}, {"s": np.array([0, 4, 6])})
        # The tensor has no elements, but keeps its number of rows.
        self.check([helper.make_node("Slice", ["x", "two", "two"], ["s"]),
                    helper.make_node("Transpose", ["s"], ["t"], perm=[1, 0]),
                    helper.make_node("Tile", ["t", "r"], ["y"])], {"x": np.ones((5, 3), np.float32)},
                   {"two": np.array([2]), "r": np.array([2, 3])}, opens=(1,))

    def test_sizes_that_upstream_learns_late(self):
        """A size that folding found must not stay an operand, because memref.expand_shape refuses that."""
        x = np.random.default_rng(0).standard_normal((8, 1, 4, 5)).astype(np.float32)
        self.check([helper.make_node("Reshape", ["x", "shape"], ["r"]),
                    helper.make_node("CenterCropPad", ["r", "three"], ["c"], axes=[0]),
                    helper.make_node("ReduceMin", ["c", "axis"], ["y"], keepdims=1)], {"x": x},
                   {"shape": np.array([-1, 1, 20]), "three": np.array([3]), "axis": np.array([2])}, opset=18,
                   opens=(0, 1, 2, 3))

    def test_empty_dimensions(self):
        """Operators that insert slices must accept dimensions of size 0."""
        x, w = np.zeros((0, 3, 2), np.float32), np.ones((4, 3, 2), np.float32)
        axis, two = {"axis": np.array(1)}, {"two": np.array([2])}
        self.check([helper.make_node("Concat", ["x", "x"], ["y"], axis=1)], {"x": x})
        self.check([helper.make_node("Concat", ["w", "x"], ["y"], axis=0)], {"x": x, "w": w})
        self.check([helper.make_node("CumSum", ["x", "axis"], ["y"])], {"x": x}, axis)
        self.check([helper.make_node("CumSum", ["x", "axis"], ["y"])], {"x": x}, axis, opens=(1,))
        self.check([helper.make_node("TopK", ["x", "two"], ["y", "i"], axis=1)], {"x": x}, two)
        self.check([helper.make_node("TopK", ["w", "none"], ["y", "i"], axis=1)], {"w": w}, {"none": np.array([0])})
        image = np.zeros((0, 4, 6, 6), np.float32)
        pooled = helper.make_node("MaxPool", ["p"], ["y"], kernel_shape=[3, 3], pads=[1, 1, 1, 1])
        self.check([helper.make_node("Conv", ["image", "k"], ["p"], pads=[1, 1, 1, 1]), pooled], {"image": image},
                   {"k": np.ones((3, 4, 3, 3), np.float32)})
        self.check([helper.make_node("Pad", ["image", "pads"], ["y"])], {"image": image},
                   {"pads": np.array([0, 0, 1, 1, 0, 0, 1, 1])}, opens=(1,))
