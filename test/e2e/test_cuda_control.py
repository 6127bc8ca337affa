"""If, Loop and Scan on the emulated GPU: conditions and trip counts of the GPU, and bodies with kernels and with ops of
the CPU."""
from emulated import Emulated
from support import TensorProto, helper, make_model, np, numpy_helper, peer

BOOL, FLOAT, INT64 = TensorProto.BOOL, TensorProto.FLOAT, TensorProto.INT64
node = helper.make_node


def body(nodes, inputs, outputs, name="body", **constants):
    """Returns a graph. Inputs and outputs are (name, type, rank)."""
    infos = [[helper.make_tensor_value_info(n, t, [None] * rank) for n, t, rank in values]
             for values in (inputs, outputs)]
    return helper.make_graph(nodes, name, *infos, [numpy_helper.from_array(np.asarray(a), n)
                                                   for n, a in constants.items()])


def steps(nodes, *stacked, **constants):
    """Returns the body of a loop that makes `next` of `state`. Its condition is always true."""
    return body([*nodes, node("Identity", ["on"], ["still"])],
                [("step", INT64, 0), ("on", BOOL, 0), ("state", FLOAT, 1)],
                [("still", BOOL, 0), ("next", FLOAT, 1), *stacked], **constants)


class CudaControl(Emulated):
    def check(self, model, *runs, tolerance=1e-5):
        """Compares with ONNX Runtime. Bits do not depend on the order of threads."""
        artifact = self.compile(model, "--target=sm_80", "--ptxas=none")
        session = peer(model)
        names = [output.name for output in session.get_outputs()]
        for feeds in runs:
            want = dict(zip(names, session.run(names, feeds)))
            first = self.emulate(artifact, feeds, seed=0)
            for name, array in want.items():
                np.testing.assert_allclose(first[name], array, tolerance, tolerance, err_msg=name)
            for name, array in self.emulate(artifact, feeds, seed=1).items():
                np.testing.assert_array_equal(array, first[name], name)

    def loop(self, graph, *stacked):
        """Returns a model whose largest input is the number of steps."""
        nodes = [node("ReduceMax", ["x"], ["most"], keepdims=0), node("Cast", ["most"], ["count"], to=INT64),
                 node("Loop", ["count", "", "x"], ["y", *(name for name, *_ in stacked)], name="loop", body=graph)]
        return make_model(nodes, [("x", [4])], [("y", [4]), *stacked])

    RUNS = [{"x": np.array([0, -1, most, 0.5], np.float32)} for most in (3, 0, 1, 6)]

    def test_step_numbers(self):
        """The CPU writes the number of a step, and a kernel reads it."""
        graph = steps([node("Cast", ["step"], ["f"], to=FLOAT), node("Add", ["state", "f"], ["next"])])
        self.check(self.loop(graph), *self.RUNS)
        # Nobody has defined the number before the first step.
        model = make_model([node("Loop", ["n", "", "x"], ["y"], name="loop", body=graph)],
                           [("n", [], INT64), ("x", [4])], [("y", [4])])
        self.check(model, *({"n": np.array(n), "x": np.ones(4, np.float32)} for n in (3, 0, 1)))

    def test_stacked_results(self):
        """A result of each step: a number that the CPU knows, and a row that a kernel computes."""
        graph = steps([node("Less", ["step", "three"], ["early"]), node("Neg", ["state"], ["next"]),
                       node("Identity", ["early"], ["e"]), node("Exp", ["state"], ["r"])],
                      ("e", BOOL, 0), ("r", FLOAT, 1), three=np.int64(3))
        # ONNX Runtime gives rows without elements if there are no steps.
        runs = [feeds for feeds in self.RUNS if feeds["x"].max() >= 1]
        self.check(self.loop(graph, ("early", ["n"], BOOL), ("rows", ["n", 4])), *runs)

    def test_stacked_inputs(self):
        """The rows of a list are an input and a value from outside. The steps depend on a computed condition."""
        graph = body([node("Neg", ["state"], ["next"]), node("Less", ["step", "four"], ["more"]),
                      node("Identity", ["z"], ["given"]), node("Identity", ["e"], ["made"])],
                     [("step", INT64, 0), ("on", BOOL, 0), ("state", FLOAT, 1)],
                     [("more", BOOL, 0), ("next", FLOAT, 1), ("given", FLOAT, 2), ("made", FLOAT, 2)], four=np.int64(4))
        model = make_model([node("Exp", ["z"], ["e"]),
                            node("Loop", ["n", "", "x"], ["y", "inputs", "values"], name="loop", body=graph)],
                           [("n", [], INT64), ("x", [4]), ("z", [2, 3])],
                           [("y", [4]), ("inputs", ["s", 2, 3]), ("values", ["s", 2, 3])])
        rng = np.random.default_rng(4)
        self.check(model, *({"n": np.array(n), "x": np.ones(4, np.float32),
                             "z": rng.standard_normal((2, 3)).astype(np.float32)} for n in (2, 1, 9)))

    def test_ops_of_the_cpu_in_loops(self):
        """Nobody has defined the result of an op of the CPU before."""
        graph = steps([node("NonZero", ["state"], ["at"]), node("Cast", ["at"], ["f"], to=FLOAT),
                       node("ReduceSum", ["f", "axis"], ["sum"], keepdims=0), node("Add", ["state", "sum"], ["a"]),
                       node("Tanh", ["a"], ["next"]), node("Reshape", ["state", "square"], ["m"]),
                       node("Det", ["m"], ["d"])],
                      ("d", FLOAT, 0), axis=np.array([1]), square=np.array([2, 2]))
        self.check(self.loop(graph, ("dets", ["n"])), *self.RUNS)

    def test_buffers_before_loops(self):
        """The positions of NonZero have a buffer for all steps, which each step writes in part."""
        graph = steps([node("Greater", ["state", "limit"], ["is"]), node("NonZero", ["is"], ["at"]),
                       node("Cast", ["at"], ["f"], to=FLOAT), node("ReduceSum", ["f"], ["sum"], keepdims=0),
                       node("Mul", ["state", "half"], ["h"]), node("Add", ["h", "sum"], ["a"]), node("Tanh", ["a"], ["next"])],
                      limit=np.float32(0.1), half=np.float32(0.5))
        model = make_model([node("Conv", ["x", "w"], ["c"], pads=[1, 1]), node("Reshape", ["c", "flat"], ["z"]),
                            node("Loop", ["n", "", "z"], ["y"], name="loop", body=graph)],
                           [("n", [], INT64), ("x", [1, 1, 4])], [("y", [4])],
                           {"w": np.ones((1, 1, 3), np.float32), "flat": np.array([4])})
        x = np.random.default_rng(5).standard_normal((1, 1, 4)).astype(np.float32)
        self.check(model, *({"n": np.array(n), "x": x} for n in (3, 0, 1)))

    def test_ops_of_the_cpu_in_branches(self):
        then = body([node("NonZero", ["x"], ["at"]), node("Cast", ["at"], ["f"], to=FLOAT),
                     node("ReduceSum", ["f", "axis"], ["p"], keepdims=0)], [], [("p", FLOAT, 1)], axis=np.array([0]))
        other = body([node("Reshape", ["x", "square"], ["m"]), node("Det", ["m"], ["d"]), node("Add", ["x", "d"], ["q"])],
                     [], [("q", FLOAT, 1)], "other", square=np.array([2, 2]))
        model = make_model([node("ReduceSum", ["x"], ["sum"], keepdims=0), node("Greater", ["sum", "zero"], ["is"]),
                            node("If", ["is"], ["y"], name="if", then_branch=then, else_branch=other)],
                           [("x", [4])], [("y", ["n"])], {"zero": np.float32(0)})
        self.check(model, *({"x": np.array(x, np.float32)} for x in ([1, 0, 2, 0], [-1, 0, 0, -3], [1, 1, 1, 1])))

    def test_ops_of_the_cpu_in_scans(self):
        graph = body([node("Reshape", ["row", "square"], ["m"]), node("Det", ["m"], ["d"]), node("Add", ["s", "d"], ["t"]),
                      node("Mul", ["row", "t"], ["r"])], [("s", FLOAT, 0), ("row", FLOAT, 1)],
                     [("t", FLOAT, 0), ("r", FLOAT, 1)], square=np.array([2, 2]))
        model = make_model([node("Scan", ["zero", "x"], ["last", "y"], name="scan", num_scan_inputs=1, body=graph)],
                           [("x", ["n", 4])], [("last", []), ("y", ["n", 4])], {"zero": np.float32(0)})
        rng = np.random.default_rng(2)
        self.check(model, *({"x": rng.standard_normal((n, 4)).astype(np.float32)} for n in (3, 1, 5)))

    def test_kernels_in_bodies(self):
        """Scatters, sorts, running sums and recurrent networks in a loop and its branches."""
        rng = np.random.default_rng(3)
        normal = lambda *shape: rng.standard_normal(shape).astype(np.float32) / 2
        then = body([node("CumSum", ["state", "zero"], ["sums"], reverse=1), node("TopK", ["sums", "two"], ["v", "i"]),
                     node("ScatterElements", ["state", "i", "v"], ["p"], reduction="add")],
                    [], [("p", FLOAT, 1)], zero=np.int64(0), two=np.array([2]))
        other = body([node("Reshape", ["state", "one"], ["u"]), node("LSTM", ["u", "w", "r"], ["", "h"], hidden_size=4),
                      node("Reshape", ["h", "flat"], ["q"])], [], [("q", FLOAT, 1)], "other", w=normal(1, 16, 4),
                     r=normal(1, 16, 4), one=np.array([1, 1, 4]), flat=np.array([4]))
        graph = steps([node("ReduceSum", ["state"], ["sum"], keepdims=0), node("Greater", ["sum", "limit"], ["is"]),
                       node("If", ["is"], ["both"], then_branch=then, else_branch=other), node("Tanh", ["both"], ["next"])],
                      limit=np.float32(1))
        self.check(self.loop(graph), *self.RUNS)
