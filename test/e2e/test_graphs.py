"""Small graphs that random ones were cut down to (test/random): each was wrong once."""
from support import Case, helper, make_model, np


class Graphs(Case):
    """Operators that are right alone, and were not together."""

    def check(self, nodes, inputs, initializers=(), opset=17, opens=(), others=(), outputs=("y",)):
        """`opens`: axes that are open in all inputs but lists; `others`: inputs of other sizes."""
        def shape(name, array):
            return [f"{name}{i}" if i in opens and array.ndim > 1 else d for i, d in enumerate(array.shape)]
        model = make_model(nodes, [(n, shape(n, a), helper.np_dtype_to_tensor_dtype(a.dtype))
                                   for n, a in inputs.items()], [(o, None) for o in outputs], initializers, opset)
        artifact = self.compile(model)
        for given in (inputs, *others):
            self.assert_agrees(model, artifact, given)

    def test_outer_product_that_is_broadcast(self):
        """It was summed up once for each element that it was broadcast to."""
        rng = np.random.default_rng(0)
        inputs = {n: rng.standard_normal(shape).astype(np.float32)
                  for n, shape in (("a", (4, 1, 1, 3)), ("z", (5,)), ("s", (5, 19)))}
        self.check([helper.make_node("Einsum", ["a", "z"], ["e"], equation="abcd,z->adzbc"),
                    helper.make_node("Mul", ["s", "e"], ["y"])], inputs)

    def test_parts_of_open_sizes(self):
        """The first part, a view with gaps, was read as if it had none."""
        rng = np.random.default_rng(0)
        inputs, other = ({"x": rng.standard_normal(s).astype(np.float32)} for s in ((3, 8, 5), (1, 8, 1)))
        self.check([helper.make_node("Split", ["x", "sizes"], ["y", "z"], axis=1)], inputs,
                   {"sizes": np.array([4, 4])}, opens=(0, 2), others=[other], outputs=("y", "z"))
        self.check([helper.make_node("Slice", ["x", "zero", "two", "axis"], ["y"])], inputs,
                   {"zero": np.array([0]), "two": np.array([2]), "axis": np.array([2])}, opens=(0, 1),
                   others=[{"x": inputs["x"][:, :0]}])

    def test_backward_slice_of_nothing(self):
        """One element was taken of a dimension that has none."""
        x = np.arange(12, dtype=np.float32).reshape(3, 4)
        bounds = {"start": np.array([2**31]), "end": np.array([-2**31]), "axis": np.array([0]), "step": np.array([-1])}
        node = helper.make_node("Slice", ["x", "start", "end", "axis", "step"], ["y"])
        self.check([node], {"x": x}, bounds, opens=(0, 1), others=[{"x": x[:0]}, {"x": x[:1]}])
        # The same with bounds that only the run knows.
        computed = {k: v for k, v in bounds.items() if k != "start"}
        self.check([node], {"x": x, "start": bounds["start"]}, computed, opens=(0,),
                   others=[{"x": x[:0], "start": bounds["start"]}])

    def test_outputs_made_of_one_value(self):
        """An output was written where a value lay that another output was still to be made of."""
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

    def test_empty_dimensions(self):
        """Operators that put slices together refused dimensions of size 0."""
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
