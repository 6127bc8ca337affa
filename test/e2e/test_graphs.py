"""Small graphs that random ones were cut down to (test/random): each was wrong once."""
from support import Case, helper, make_model, np


class Graphs(Case):
    """Operators that are right alone, and were not together."""

    def check(self, nodes, inputs, initializers=(), opset=17):
        model = make_model(nodes, [(n, a.shape, helper.np_dtype_to_tensor_dtype(a.dtype)) for n, a in inputs.items()],
                           [("y", None)], initializers, opset)
        self.assert_agrees(model, self.compile(model), inputs)

    def test_outer_product_that_is_broadcast(self):
        """It was summed up once for each element that it was broadcast to."""
        rng = np.random.default_rng(0)
        inputs = {n: rng.standard_normal(shape).astype(np.float32)
                  for n, shape in (("a", (4, 1, 1, 3)), ("z", (5,)), ("s", (5, 19)))}
        self.check([helper.make_node("Einsum", ["a", "z"], ["e"], equation="abcd,z->adzbc"),
                    helper.make_node("Mul", ["s", "e"], ["y"])], inputs)
