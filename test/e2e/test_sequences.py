"""Tests sequences and optionals as inputs and outputs, MelWeightMatrix, and the old Scan.

The results are compared with ONNX Runtime and ONNX's reference implementation."""
import onnx.parser
from onnx.reference import ReferenceEvaluator

from support import Case, np, onnx, tool


def parse(text, opset=18):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]>\n{text}')
    onnx.checker.check_model(model)
    return model


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Sequences(Case):
    MAP = """g (seq(float[N]) s, float[M] w) => (seq(float[K]) t, int64 n) {
        t = SequenceMap (s, w) <body = b (float[N] a, float[M] v) => (float[K] c) { c = Concat<axis=0>(a, v) }>
        n = SequenceLength(s)
    }"""

    def test_inputs_and_outputs(self):
        elements = [floats(3), floats(5, seed=1), floats(0)]
        artifact = self.compile(parse(self.MAP), "--length=s=3")
        inputs = {f"s.{i}": e for i, e in enumerate(elements)}
        got = self.run_model(artifact, {**inputs, "w": floats(2, seed=2)})
        self.assertEqual(sorted(got), ["n", "t.0", "t.1", "t.2"])
        self.assertEqual(got["n"], 3)
        for i, element in enumerate(elements):
            np.testing.assert_array_equal(got[f"t.{i}"], np.concatenate([element, floats(2, seed=2)]))

    def test_many_steps(self):
        """A loop over a sequence is unrolled, even if a loop over tensors would not be."""
        artifact = self.compile(parse(self.MAP), "--length=s=200", "--shape=w=1")
        inputs = {f"s.{i}": floats(1, seed=i) for i in range(200)}
        got = self.run_model(artifact, {**inputs, "w": floats(1)})
        np.testing.assert_array_equal(got["t.199"], np.concatenate([floats(1, seed=199), floats(1)]))

    def test_empty(self):
        got = self.run_model(self.compile(parse(self.MAP), "--length=s=0"), {"w": floats(2)})
        self.assertEqual((list(got), int(got["n"])), (["n"], 0))

    def test_shapes_of_elements(self):
        model = parse("g (seq(float[A,3]) s) => (float[B,3] y) { y = ConcatFromSequence<axis=0>(s) }")
        artifact = self.compile(model, "--length=s=2", "--shape=s.0=2x3")
        got = self.run_model(artifact, {"s.0": floats(2, 3), "s.1": floats(4, 3)})
        self.assertEqual(got["y"].shape, (6, 3))

    def test_refusals(self):
        model = parse(self.MAP)
        for words, *options in (
                (("input 's' is a sequence", "--length s=2"),),
                (("cannot be read: write it as --length x=2",), "--length=s=two"),
                (("cannot be read",), "--length=s=-1"),
                (("given twice for 's'",), "--length=s=1", "--length=s=1"),
                (("is 1000000", "must be in [0, 1000]"), "--length=s=1000000"),
                (("input 'w' is not a sequence", "--length"), "--length=w=1"),
                (("no input named 'q'", "'s', 'w' (M)"), "--length=q=1"),
                (("input 's' is not an optional", "--absent"), "--length=s=1", "--absent=s"),
                (("no input named 'q'",), "--length=s=1", "--absent=q"),
                (("--absent is given twice for 's'",), "--absent=s", "--absent=s")):
            with self.subTest(options):
                self.assert_refuses(model, *words, options=options)
        # Text does not allow such names; protobuf does.
        taken = parse("g (seq(float[2]) s, float[2] x) => (seq(float[2]) t) { y = Neg(x) t = SequenceInsert(s, y) }")
        taken.graph.node[0].output[0] = taken.graph.node[1].input[1] = "s.0"
        self.assert_refuses(taken, "element 0 of input 's' would be an input 's.0'", options=["--length=s=1"])


class Optionals(Case):
    MODEL = """g (optional(float[4]) o, float[4] x) => (float[4] y) {
        has = OptionalHasElement(o)
        y = If (has) <
          then_branch = t () => (float[4] a) { v = OptionalGetElement(o) a = Add(v, x) },
          else_branch = e () => (float[4] b) { b = Neg(x) }>
    }"""

    def test_present(self):
        artifact = self.compile(parse(self.MODEL))
        got = self.run_model(artifact, {"o": floats(4), "x": floats(4, seed=1)})
        np.testing.assert_array_equal(got["y"], floats(4) + floats(4, seed=1))

    def test_absent(self):
        artifact = self.compile(parse(self.MODEL), "--absent=o")
        np.testing.assert_array_equal(self.run_model(artifact, {"x": floats(4)})["y"], -floats(4))

    def test_sequence_in_an_optional(self):
        model = parse("""g (optional(seq(float[N])) o) => (float[M] y, bool has) {
            has = OptionalHasElement(o)
            s = OptionalGetElement(o)
            y = ConcatFromSequence<axis=0>(s)
        }""")
        got = self.run_model(self.compile(model, "--length=o=2"), {"o.0": floats(2), "o.1": floats(3)})
        self.assertEqual((got["y"].shape, bool(got["has"])), ((5,), True))
        self.assert_refuses(model, "--length o=2")
        self.assert_refuses(model, "'o' is --absent, so it has no --length", options=["--absent=o", "--length=o=2"])
        self.assert_refuses(model, "the optional has no element", options=["--absent=o"])


class SplitToSequence(Case):
    def test_computed_parts(self):
        model = parse("g (float[N,2] x, int64[3] p) => (seq(float[M,2]) s) { s = SplitToSequence<axis=0>(x, p) }")
        artifact = self.compile(model)
        x = floats(6, 2)
        got = self.run_model(artifact, {"x": x, "p": np.array([1, 0, 5], np.int64)})
        for i, part in enumerate((x[:1], x[1:1], x[1:])):
            np.testing.assert_array_equal(got[f"s.{i}"], part)
        np.save(self.path("x.npy"), x)
        for parts, text in (([1, 2, 2], "split adds up to 5 of 6 elements"), ([7, -1, 0], "dimension 0 is taken up to position 7, but has 6 elements")):
            np.save(self.path("p.npy"), np.array(parts))
            done = tool("ingot", "run", artifact, "--input", f"x={self.path('x.npy')}", "--input", f"p={self.path('p.npy')}")
            self.assert_one_line(done, text)


class OpenLengths(Case):
    """Sequences of elements of one shape, whose number only the run knows."""

    APPENDED = """g (int64 n, float[B,3] x, int64 k) => (float[T,B,3] front, float[B,T,3] middle, float[B,D] back,
                                                       float[A,3] joined, float[B,C] beside, int64 count, float[B,3] one) {
        none = %s
        go = Constant <value = bool {1}> ()
        last, all = Loop (n, go, x, none) <body = b (int64 i, bool c, float[B,3] s, seq(float[B,3]) l)
                                                 => (bool d, float[B,3] t, seq(float[B,3]) m) {
            d = Identity(c)
            step = Cast <to = 1> (i)
            t = Add(s, step)
            square = Mul(t, t)
            m = SequenceInsert(l, square)
        }>
        front = ConcatFromSequence <axis = 0, new_axis = 1> (all)
        middle = ConcatFromSequence <axis = 1, new_axis = 1> (all)
        last_axis = ConcatFromSequence <axis = -1, new_axis = 1> (all)
        back = ReduceSum <keepdims = 0> (last_axis, two)
        joined = ConcatFromSequence <axis = 0> (all)
        beside = ConcatFromSequence <axis = 1> (all)
        count = SequenceLength(all)
        one = SequenceAt(all, k)
    }"""

    def appended(self, start):
        text = self.APPENDED % start
        return parse(text.replace("none =", "two = Constant <value = int64[1] {2}> ()\n        none =", 1))

    def check(self, artifact, n, x, k, before):
        state, rows = x, list(before)
        for step in range(n):
            state = state + np.float32(step)
            rows.append(state * state)
        got = self.run_model(artifact, {"n": np.array(n), "x": x, "k": np.array(k)})
        want = {"front": np.stack(rows), "middle": np.stack(rows, 1), "back": np.stack(rows, -1).sum(2),
                "joined": np.concatenate(rows), "beside": np.concatenate(rows, 1), "count": np.array(len(rows)),
                "one": rows[k]}
        for name, array in want.items():
            np.testing.assert_allclose(got[name], array, rtol=1e-6, atol=1e-4 if name == "back" else 0, err_msg=name)

    def test_appended(self):
        artifact = self.compile(self.appended("SequenceEmpty <dtype = 1> ()"))
        for n, batch, k in ((1, 2, 0), (5, 1, -2), (300, 4, 299)):
            with self.subTest(n=n):
                self.check(artifact, n, floats(batch, 3), k, [])
        np.save(self.path("x.npy"), floats(2, 3))
        for n, k, *words in ((0, 0, "the sequence has 0 elements, but needs 1"), (3, 3, "node 'SequenceAt:one': an index is outside"),
                             (-1, 0, "the sequence has 0 elements")):
            for name, value in (("n", n), ("k", k)):
                np.save(self.path(f"{name}.npy"), np.array(value))
            done = tool("ingot", "run", artifact, *(f"--input={i}={self.path(i)}.npy" for i in "nxk"))
            self.assert_one_line(done, *words)

    def test_appended_to_some(self):
        artifact = self.compile(self.appended("SequenceConstruct(x, x)"))
        for n, k in ((0, 1), (7, -9), (7, 8)):
            with self.subTest(n=n):
                self.check(artifact, n, floats(2, 3), k, [floats(2, 3)] * 2)

    def test_known_numbers(self):
        """Too many steps to be unrolled, or few enough."""
        for n in (4, 20000):
            with self.subTest(n=n):
                artifact = self.compile(self.appended("SequenceEmpty <dtype = 1> ()"), f"--value=n={n}", "--shape=x=1x3")
                got = self.run_model(artifact, {"x": np.zeros((1, 3), np.float32), "k": np.array(2)})
                self.assertEqual((got["front"].shape, int(got["count"])), ((n, 1, 3), n))
                np.testing.assert_array_equal(got["one"], np.full((1, 3), 9.0))

    def test_rows(self):
        """Passes the rows of a tensor, one after the other, through a function."""
        for split, shape in (("SplitToSequence <axis = 1> (x)", ("A", 1)), ("SplitToSequence <axis = 1, keepdims = 0> (x)", ("A",)),
                             ("SplitToSequence <axis = 1> (x, one)", ("A", 1))):
            with self.subTest(split):
                dims = ",".join(map(str, shape))
                model = parse(f"""g (float[3,N] x, float[3{',1' * (len(shape) - 1)}] w) => (float[3,M] y, int64 n) {{
                    one = Constant <value = int64 {{1}}> ()
                    s = {split}
                    t = SequenceMap (s, w) <body = b (float[{dims}] a, float[{dims}] v) => (float[{dims}] c) {{ c = Add(a, v) }}>
                    n = SequenceLength(t)
                    y = ConcatFromSequence <axis = 1, new_axis = {2 - len(shape)}> (t)
                }}""")
                artifact, w = self.compile(model), floats(3, *([1] * (len(shape) - 1)), seed=1)
                for n in (1, 6, 17):
                    got = self.run_model(artifact, {"x": floats(3, n), "w": w})
                    np.testing.assert_array_equal(got["y"], floats(3, n) + w.reshape(3, 1))
                    self.assertEqual(int(got["n"]), n)

    def test_refusals(self):
        """Rows of several sizes, and lists as outputs."""
        loop = """g (int64 n, float[9] x) => (float[M] y) {{
            none = SequenceEmpty <dtype = 1> ()
            go = Constant <value = bool {{1}}> ()
            zero = Constant <value = int64[1] {{0}}> ()
            all = Loop (n, go, none) <body = b (int64 i, bool c, seq(float[P]) l) => (bool d, seq(float[P]) m) {{
                d = Identity(c)
                flat = Constant <value = int64[1] {{-1}}> ()
                end = Reshape(i, flat)
                row = Slice(x, zero, end)
                {body}
            }}>
            y = ConcatFromSequence <axis = 0> (all)
        }}"""
        artifact = self.compile(parse(loop.format(body="m = SequenceInsert(l, row)")))
        np.save(self.path("x.npy"), floats(9))
        np.save(self.path("n.npy"), np.array(3))
        self.assert_one_line(tool("ingot", "run", artifact, *(f"--input={i}={self.path(i)}.npy" for i in "nx")),
                             "output 0 has rows of other sizes than the first")
        self.assert_refuses(parse(loop.format(body="m = SequenceInsert(l, row, i)")),
                            "state 0 is a sequence whose shapes differ or are not known before the first step")
        full = loop.replace("SequenceEmpty <dtype = 1> ()", "SequenceConstruct(x)")
        self.assert_refuses(parse(full.format(body="r = Unsqueeze(row, zero) m = SequenceInsert(l, r)")),
                            "steps append to a sequence a tensor of another rank or type than its elements")
        self.assert_refuses(parse(full.format(body="r = Cast <to = 11> (row) m = SequenceInsert(l, r)")),
                            "steps append to a sequence a tensor of another rank or type than its elements")
        self.assert_refuses(parse("g (float[N] x) => (seq(float[M]) s) { s = SplitToSequence <keepdims = 0> (x) }"),
                            "output 's' is a sequence", "only the run knows")


class MelWeights(Case):
    MODEL = """g (int32 bins, int32 length, int32 rate, float low, float high) => (float[R,C] y) {
        y = MelWeightMatrix(bins, length, rate, low, high)
    }"""

    def test_agrees(self):
        model = parse(self.MODEL)
        artifact = self.compile(model)
        reference = ReferenceEvaluator(model)
        for bins, length, rate, low, high in ((8, 16, 8192, 0, 4096), (80, 400, 16000, 0, 8000), (40, 512, 16000, 20, 7600),
                                              (3, 9, 100, 10, 45), (1, 4, 8, 0, 4)):
            with self.subTest(bins=bins, length=length):
                inputs = {"bins": np.array(bins, np.int32), "length": np.array(length, np.int32),
                          "rate": np.array(rate, np.int32), "low": np.array(low, np.float32),
                          "high": np.array(high, np.float32)}
                got = self.run_model(artifact, inputs)["y"]
                np.testing.assert_allclose(got, reference.run(None, inputs)[0], atol=1e-6)

    def test_refuses(self):
        model = parse(self.MODEL.replace("(int32 bins, ", "(").replace(
            "{", "{ wide = Constant<value_int=-3>() bins = Cast<to=6>(wide)", 1))
        self.assert_refuses(model, "'num_mel_bins' is -3, but must be at least 1")


class BatchedScan(Case):
    """Scan before operator set 9, with a batch as first dimension."""

    def test_batches(self):
        model = parse("""g (float[B,2] h, float[B,3,2] x) => (float[B,2] y, float[B,3,2] z) {
            y, z = Scan ("", h, x) <num_scan_inputs = 1, directions = [1], body = b (float[2] s, float[2] n)
              => (float[2] t, float[2] o) { t = Add(s, n) o = Mul(s, n) }>
        }""".replace("B", "4"), 8)
        h, x = floats(4, 2), floats(4, 3, 2, seed=1)
        got = self.run_model(self.compile(model), {"h": h, "x": x})
        state, rows = h, []
        for step in (2, 1, 0):
            rows.append(state * x[:, step])
            state = state + x[:, step]
        np.testing.assert_allclose(got["y"], state, rtol=1e-6)
        np.testing.assert_allclose(got["z"], np.stack(rows, 1), rtol=1e-6)
