"""Tests If, Loop and Scan, which a run decides, against ONNX Runtime."""
import onnx.parser

from support import Case, np, onnx, tool


def parse(text, opset=17, **weights):
    model = onnx.parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]>\n{text}')
    model.graph.initializer.extend(onnx.numpy_helper.from_array(value, name) for name, value in weights.items())
    onnx.checker.check_model(model)
    return model


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


class Flow(Case):
    def check(self, text, *runs, options=(), opset=17):
        """Each run, a dict of inputs, equals ONNX Runtime's."""
        model = parse(text, opset)
        artifact = self.compile(model, *options)
        for inputs in runs:
            with self.subTest({k: v.shape for k, v in inputs.items()}):
                self.assert_agrees(model, artifact, inputs)
        return artifact

    def refuse_run(self, text, inputs, *words, options=()):
        artifact = self.compile(parse(text), *options)
        arguments = []
        for name, value in inputs.items():
            np.save(self.path(name + ".npy"), value)
            arguments += ["--input", f"{name}={self.path(name + '.npy')}"]
        self.assert_one_line(tool("ingot", "run", artifact, *arguments), *words)


TRUE, FALSE = np.array(True), np.array(False)


def count(n):
    return np.array(n, np.int64)


class If(Flow):
    def test_both_branches(self):
        self.check("""g (float[3,4] x, bool c) => (float[3,4] y, float[3,4] z) {
            w = Exp(x)
            y, z = If (c) <
              then_branch = t () => (float[3,4] a, float[3,4] b) { a = Relu(w)  b = Add(x, w) },
              else_branch = e () => (float[3,4] d, float[3,4] f) { d = Neg(x)  f = Identity(x) }>
        }""", *[{"x": floats(3, 4), "c": c} for c in (TRUE, FALSE)])

    def test_other_shapes(self):
        self.check("""g (float[3,4] x, bool c) => (float[n,4] y, float[m] s) {
            y = If (c) <
              then_branch = t () => (float[6,4] a) { a = Concat<axis=0>(x, x) },
              else_branch = e () => (float[3,4] b) { b = Neg(x) }>
            axis = Constant<value_ints=[1]>()
            s = ReduceSum<keepdims=0>(y, axis)
        }""", *[{"x": floats(3, 4), "c": c} for c in (TRUE, FALSE)])

    def test_open_shapes(self):
        self.check("""g (float[n,4] x, float[n,4] w) => (float[m,4] y) {
            a0 = Constant<value_int=0>()
            s = Shape(x)
            n = Gather(s, a0)
            five = Constant<value_int=5>()
            c = Less(n, five)
            y = If (c) <
              then_branch = t () => (float[k,4] a) { a = Concat<axis=0>(x, w) },
              else_branch = e () => (float[l,4] b) { b = Mul(x, w) }>
        }""", *[{"x": floats(n, 4), "w": floats(n, 4, seed=1)} for n in (1, 4, 5, 9)])

    def test_nested(self):
        self.check("""g (float[5] x, bool c, bool d) => (float[5] y) {
            y = If (c) <
              then_branch = t () => (float[5] a) {
                w = Exp(x)
                a = If (d) <
                  then_branch = tt () => (float[5] aa) { aa = Add(w, x) },
                  else_branch = te () => (float[5] ab) { ab = Identity(w) }> },
              else_branch = e () => (float[5] b) { b = Identity(x) }>
        }""", *[{"x": floats(5), "c": c, "d": d} for c in (TRUE, FALSE) for d in (TRUE, FALSE)])

    def test_layers_in_branches(self):
        """Weights, kernels and epilogues work in a branch as outside of it."""
        w, v = floats(8, 3, 3, 3, seed=1), floats(8, 8, 1, 1, seed=2)
        text = """g (float[1,3,9,9] x, bool c) => (float[1,8,9,9] y) {
            h = Conv<pads=[1,1,1,1]>(x, w)
            r = If (c) <
              then_branch = t () => (float[1,8,9,9] a) { p = Conv(h, v)  q = Relu(p)  a = Add(q, h) },
              else_branch = e () => (float[1,8,9,9] b) { b = Sigmoid(h) }>
            y = Relu(r)
        }"""
        model = parse(text, w=w, v=v)
        artifact = self.compile(model)
        for c in (TRUE, FALSE):
            self.assert_agrees(model, artifact, {"x": floats(1, 3, 9, 9), "c": c})

    SQUEEZES = """g (float[n,k] x, float[4,2] w) => (float[a,b] y) {
            one = Constant<value_ints=[1]>()  zero = Constant<value_ints=[0]>()
            s = Shape(x)  d = Gather<axis=0>(s, zero)  c = Equal(d, one)
            v = If (c) <
              then_branch = t () => (p) { p = Squeeze(x, zero) },
              else_branch = e () => (q) { q = Identity(x) }>
            %s
        }"""

    def test_ranks_that_differ(self):
        runs = [{"x": floats(n, 4), "w": floats(4, 2, seed=1)} for n in (1, 3)]
        self.check(self.SQUEEZES % "r = ReduceSum<keepdims=0>(v, zero)  y = Mul(w, r) ", runs[0])
        self.check(self.SQUEEZES % "r = MatMul(v, w)  m = ReduceMax<keepdims=0>(r)  y = Mul(w, m) ", *runs)

    def test_a_branch_that_cannot_be(self):
        """The ops after the If accept only one branch's rank. Exporters keep the other branch, which is never taken."""
        text = self.SQUEEZES % "u = Unsqueeze(v, zero)  h = Concat<axis=0>(u, w2)  y = Identity(h)"
        text = text.replace("float[4,2] w)", "float[4,2] w, float[1,4] w2)")
        inputs = lambda n: {"x": floats(n, 4), "w": floats(4, 2, seed=1), "w2": floats(1, 4, seed=2)}
        self.check(text, inputs(1))
        self.refuse_run(text, inputs(3), "node")

    def test_a_check_in_a_branch_not_taken(self):
        text = """g (float[n] x, float[m] w, bool c) => (float[k] y) {
            y = If (c) <
              then_branch = t () => (float[p] a) { a = Add(x, w) },
              else_branch = e () => (float[q] b) { b = Neg(x) }>
        }"""
        self.check(text, {"x": floats(3), "w": floats(3), "c": TRUE}, {"x": floats(3), "w": floats(5), "c": FALSE})
        self.refuse_run(text, {"x": floats(3), "w": floats(5), "c": TRUE}, "dimension 0", "3", "5")


class Loop(Flow):
    SUMS = """g (int64 n, float[3] x) => (float[3] y, float[k,3] rows) {
        t = Constant<value = bool {1}>()
        y, rows = Loop (n, t, x) <body = b (int64 i, bool c, float[3] s) => (bool c2, float[3] s2, float[3] r) {
            c2 = Identity(c)
            f = Cast<to=1>(i)
            s2 = Add(s, f)
            r = Mul(s2, x)
        }>
    }"""

    def test_trip_count(self):
        self.check(self.SUMS, *[{"n": count(n), "x": floats(3)} for n in (0, 1, 7, 200, -3)])

    def test_limit(self):
        self.refuse_run(self.SUMS, {"n": count(11), "x": floats(3)}, "node", "11 steps", "--limit=loop-steps",
                        options=["--limit=loop-steps=10"])
        self.check(self.SUMS, {"n": count(10), "x": floats(3)}, options=["--limit=loop-steps=10"])

    def test_condition(self):
        text = """g (int64 n, float[2,3] x) => (float[2,3] y, int64 steps, float[k,2,3] rows) {
            t = Constant<value = bool {1}>()
            zero = Constant<value_int=0>()
            limit = Constant<value_float=50.0>()
            y, steps, rows = Loop (n, t, x, zero) <body = b (int64 i, bool c, float[2,3] s, int64 k)
                  => (bool c2, float[2,3] s2, int64 k2, float[2,3] r) {
                a = Abs(s)
                one = Constant<value_float=1.0>()
                s2 = Add(a, one)
                m = ReduceSum<keepdims=0>(s2)
                c2 = Less(m, limit)
                unit = Constant<value_int=1>()
                k2 = Add(k, unit)
                r = Neg(s2)
            }>
        }"""
        self.check(text, *[{"n": count(n), "x": floats(2, 3)} for n in (0, 1, 3, 1000)])

    def test_without_end(self):
        text = """g (float[1] x) => (float[1] y) {
            t = Constant<value = bool {1}>()
            y = Loop (, t, x) <body = b (int64 i, bool c, float[1] s) => (bool c2, float[1] s2) {
                s2 = Abs(s)
                zero = Constant<value_floats=[0.0]>()
                d = GreaterOrEqual(s2, zero)
                q = Constant<value_ints: ints = []>()
                c2 = Reshape(d, q)
            }>
        }"""
        self.refuse_run(text, {"x": floats(1)}, "node", "more than 1000 steps", options=["--limit=loop-steps=1000"])

    def test_state_that_grows(self):
        """An autoregressive loop: each step adds to the input of the next one."""
        text = """g (int64 n, float[1,4] x) => (float[m,4] y, float[k,4] rows) {
            t = Constant<value = bool {1}>()
            y, rows = Loop (n, t, x) <body = b (int64 i, bool c, float[p,4] s)
                  => (bool c2, float[q,4] s2, float[4] last) {
                c2 = Identity(c)
                z = Constant<value_ints=[0]>()
                mean = ReduceMean<axes=[0], keepdims=1>(s)
                e = Tanh(mean)
                s2 = Concat<axis=0>(s, e)
                last = ReduceSum<keepdims=0>(s2, z)
            }>
        }"""
        self.check(text, *[{"n": count(n), "x": floats(1, 4)} for n in (0, 1, 2, 30)])

    def test_states_that_change_places(self):
        self.check("""g (int64 n, float[4] x, float[4] w, int64 j) => (float[4] y, float[4] z, float[4] u, int64 k) {
            y, z, u, k = Loop (n, , x, w, w, j) <body = b (int64 i, bool c, float[4] s, float[4] r, float[4] q, int64 h)
                  => (bool c, float[4] r, float[4] s, float[4] v, int64 l) { v = Sub(q, s)  l = Neg(i) }>
        }""", *[{"n": count(n), "x": floats(4), "w": floats(4, seed=1), "j": count(9)} for n in (0, 1, 2, 151)])

    def test_nested(self):
        self.check("""g (int64 n, int64 m, float[4] x) => (float[4] y, float[k,l,4] rows) {
            y, rows = Loop (n, , x) <body = b (int64 i, bool c, float[4] s) => (bool c, float[4] s2, float[p,4] r) {
                s2, r = Loop (m, , s) <body = d (int64 j, bool e, float[4] a) => (bool e, float[4] a2, float[4] o) {
                    f = Cast<to=1>(i)
                    g = Cast<to=1>(j)
                    h = Sub(f, g)
                    a1 = Add(a, h)
                    a2 = Sin(a1)
                    o = Mul(a2, s)
                }>
            }>
        }""", *[{"n": count(n), "m": count(m), "x": floats(4)} for n in (0, 1, 5, 40) for m in (0, 3)
                if (n == 0) == (m == 0) or m])

    def test_branch_in_a_loop(self):
        self.check("""g (int64 n, float[4] x) => (float[4] y, float[k,4] rows) {
            two = Constant<value_int=2>()
            y, rows = Loop (n, , x) <body = b (int64 i, bool c, float[4] s) => (bool c, float[4] s2, float[4] s2) {
                r = Mod(i, two)
                even = Cast<to=9>(r)
                s2 = If (even) <
                  then_branch = t () => (float[4] p) { p = Cos(s) },
                  else_branch = e () => (float[4] q) { q = Add(s, x) }>
            }>
        }""", *[{"n": count(n), "x": floats(4)} for n in (0, 1, 2, 77)])

    def test_open_batch(self):
        self.check("""g (int64 n, float[b,4] x) => (float[b,4] y, float[k,b,4] rows) {
            y, rows = Loop (n, , x) <body = b (int64 i, bool c, float[p,4] s) => (bool c, float[p,4] s2, float[p,4] r) {
                t = Tanh(s)
                s2 = Add(t, x)
                r = Neg(s2)
            }>
        }""", *[{"n": count(n), "x": floats(b, 4)} for n in (1, 9) for b in (1, 3, 6)])

    def test_buffers_that_a_condition_hands_on(self):
        """Dynamic states in a loop that a condition ends: each buffer is released once."""
        self.check("""g (int64 n, float[b,4] x, float[b,4] w) => (float[b,4] y, float[m,4] z, float[b,4] u) {
            t = Constant<value = bool {1}>()
            limit = Constant<value_float=1000.0>()
            y, z, u = Loop (n, t, x, w, w) <body = b (int64 i, bool c, float[p,4] s, float[q,4] r, float[k,4] v)
                  => (bool c2, float[p,4] s2, float[o,4] r2, float[k,4] v2) {
                s2 = Tanh(v)
                v2 = Exp(s)
                r2 = Concat<axis=0>(r, s)
                m = ReduceSum<keepdims=0>(r2)
                c2 = Less(m, limit)
            }>
        }""", *[{"n": count(n), "x": floats(b, 4), "w": floats(b, 4, seed=1)} for n in (0, 1, 40) for b in (1, 3)])

    def test_choices_between_tensors(self):
        """Canonicalization turns a branch into a selection of tensors that are also outputs."""
        self.check("""g (float[3,4] x, float[3,4] w, bool c) => (float[3,4] y, float[1,4] m) {
            r = Relu(x)
            y = If (c) <then_branch = t () => (float[3,4] a) { a = Identity(r) },
                        else_branch = e () => (float[3,4] b) { b = Identity(w) }>
            m = ReduceMax<axes=[0]>(y)
        }""", *[{"x": floats(3, 4), "w": floats(3, 4, seed=1), "c": c} for c in (TRUE, FALSE)])

    def test_no_steps(self):
        self.check("""g (float[3,4] x) => (float[3,4] y, float[k,3,4] rows, float[l,4] m) {
            zero = Constant<value_int=0>()
            y, rows = Loop (zero, , x) <body = b (int64 i, bool c, float[3,4] s) => (bool c, float[3,4] s2, float[3,4] r) {
                s2 = Relu(s)
                r = Neg(s2)
            }>
            n = ReduceSum<keepdims=0>(rows, q)
            m = Softmax(n)
        }""".replace("n = Red", "q = Constant<value_ints=[1]>()\n            n = Red"), {"x": floats(3, 4)})

    def test_rows_that_differ(self):
        text = """g (int64 n, float[9] x) => (float[k,l] rows) {
            t = Constant<value = bool {1}>()
            rows = Loop (n, t) <body = b (int64 i, bool c) => (bool c, float[m] r) {
                z = Constant<value_ints=[0]>()
                q = Constant<value_ints=[1]>()
                one = Constant<value_int=1>()
                up = Add(i, one)
                e = Reshape(up, q)
                r = Slice(x, z, e)
            }>
        }"""
        self.refuse_run(text, {"n": count(4), "x": floats(9)}, "node", "rows of other sizes")

    def test_constant_steps(self):
        """A loop of few steps is unrolled, a loop of many steps stays a loop."""
        for steps in (1, 3, 300):
            text = """g (float[3] x) => (float[3] y, float[k,3] rows) {
                n = Constant<value_int=%d>()
                y, rows = Loop (n, , x) <body = b (int64 i, bool c, float[3] s) => (bool c, float[3] s2, float[3] s2) {
                    f = Cast<to=1>(i)
                    a = Add(s, f)
                    s2 = Cos(a)
                }>
            }""" % steps
            self.check(text, {"x": floats(3)})
            loops = tool("ingot", "compile", self.path("model.onnx"), "--emit=mlir-nn", "-o", "-").stdout.count("scf.for")
            self.assertEqual(loops, int(steps > 100))


class Scan(Flow):
    def test_axes_and_directions(self):
        for flip in (0, 1):
            self.check("""g (float[2,5] h, float[5,7,2] x, float[7,3] w) => (float[2,5] y, float[5,7,2] o, float[7,5] p) {
                y, o, p = Scan <num_scan_inputs=2, scan_input_axes=[1,0], scan_input_directions=[1,0],
                       scan_output_axes=[1,-2], scan_output_directions=[%d,%d],
                       body = b (float[2,5] s, float[5,2] a, float[3] v) => (float[2,5] s2, float[5,2] q, float[5] r) {
                    t = Transpose(a)
                    m = ReduceMax<keepdims=0>(v)
                    u = Mul(s, m)
                    s1 = Add(u, t)
                    s2 = Tanh(s1)
                    q = Transpose(s2)
                    r = ReduceSum<keepdims=0>(s2, z)
                    z = Constant<value_ints=[0]>()
                }>(h, x, w)
            }""".replace("r = ReduceSum<keepdims=0>(s2, z)\n                    z = Constant<value_ints=[0]>()",
                         "z = Constant<value_ints=[0]>()\n                    r = ReduceSum<keepdims=0>(s2, z)")
                       % (flip, 1 - flip), {"h": floats(2, 5), "x": floats(5, 7, 2), "w": floats(7, 3, seed=1)})

    def test_open_time_and_batch(self):
        text = """g (float[b,8] h, float[t,b,4] x) => (float[b,8] y, float[t,b,8] o) {
            y, o = Scan <num_scan_inputs=1, scan_output_directions=[1],
                   body = b (float[p,8] s, float[p,4] a) => (float[p,8] s2, float[p,8] e) {
                m = MatMul(a, w)
                n = MatMul(s, r)
                k = Add(m, n)
                s2 = Tanh(k)
                e = Neg(k)
            }>(h, x)
        }"""
        model = parse(text, w=floats(4, 8, seed=3), r=floats(8, 8, seed=4))
        artifact = self.compile(model)
        for t, b in ((1, 1), (5, 3), (64, 2)):
            self.assert_agrees(model, artifact, {"h": floats(b, 8), "x": floats(t, b, 4, seed=t)})

    def test_lengths_that_differ(self):
        text = """g (float[n] x, float[m] w) => (float[k] o) {
            o = Scan <num_scan_inputs=2, body = b (float a, float c) => (float d) { d = Add(a, c) }>(x, w)
        }"""
        self.check(text, {"x": floats(4), "w": floats(4)})
        self.refuse_run(text, {"x": floats(4), "w": floats(5)}, "node", "5 steps", "first has 4")
        model = text.replace("float[n]", "float[4]").replace("float[m]", "float[5]")
        self.assert_refuses(parse(model).SerializeToString(), "scan", "5", "4")


class Sequences(Flow):
    """Tests sequences that are known at compile time."""

    def test_split_and_join(self):
        for split, keep in (("", 0), ("", 1), (", two", 1), (", parts", 1)):
            with self.subTest(split=split, keep=keep):
                self.check("""g (float[3,6] x) => (float[a,b,c] y, float[k,l] e, int64 n) {
                    two = Constant<value_int=2>()
                    parts = Constant<value_ints=[1,2,3]>()
                    at = Constant<value_int=-1>()
                    first = Constant<value_int=0>()
                    s = SplitToSequence<axis=1, keepdims=%d>(x%s)
                    e = SequenceAt(s, at)
                    f = SequenceErase(s, at)
                    a = SequenceAt(f, first)
                    q = SequenceConstruct(a, a)
                    i = SequenceInsert(q, a, first)
                    y = ConcatFromSequence<axis=-1, new_axis=1>(i)
                    n = SequenceLength(f)
                }""".replace("float[a,b,c] y", "float[a,b,c] y" if keep else "float[a,b] y")
                           .replace("float[k,l] e", "float[k,l] e" if keep else "float[k] e") % (keep, split),
                           {"x": floats(3, 6)})

    def test_filled_by_a_loop(self):
        self.check("""g (float[3] x) => (float[k] y) {
            n = Constant<value_int=4>()
            e = SequenceEmpty()
            s = Loop (n, , e) <body = b (int64 i, bool c, seq(float[]) q) => (bool c2, seq(float[]) r) {
                c2 = Identity(c)
                f = Cast<to=1>(i)
                a = Add(x, f)
                r = SequenceInsert(q, a)
            }>
            y = ConcatFromSequence<axis=0>(s)
        }""", {"x": floats(3)})


class Value(Flow):
    """--value: an input that is a constant."""

    RATES = """g (float[2,12] x, int64 sr) => (float[2,n] y) {
        rate = Constant<value_int=16000>()
        c = Equal(sr, rate)
        y = If (c) <
          then_branch = t () => (float[2,12] a) { a = Tanh(x) },
          else_branch = e () => (float[2,6] b) {
            z = Constant<value_ints=[0]>()
            six = Constant<value_ints=[6]>()
            one = Constant<value_ints=[1]>()
            b = Slice(x, z, six, one)
          }>
    }"""

    def test_decides_a_branch(self):
        for rate, wanted in ((16000, (2, 12)), (8000, (2, 6))):
            artifact = self.compile(parse(self.RATES), f"--value=sr={rate}")
            got = self.run_model(artifact, {"x": floats(2, 12)})
            self.assertEqual(got["y"].shape, wanted)
            np.testing.assert_allclose(got["y"], np.tanh(floats(2, 12)) if rate == 16000 else floats(2, 12)[:, :6],
                                       rtol=1e-5)
            code = tool("ingot", "compile", self.path("model.onnx"), f"--value=sr={rate}", "--emit=mlir-nn", "-o", "-")
            self.assertNotIn("scf.if", code.stdout)

    def test_every_type(self):
        for kind, text, value in (("float", "0.5", np.float32(.5)), ("double", "-1e300", np.float64(-1e300)),
                                  ("float16", "0.1", np.float16(.1)), ("int8", "-128", np.int8(-128)),
                                  ("uint8", "255", np.uint8(255)), ("int32", "7", np.int32(7)),
                                  ("uint64", "18446744073709551615", np.uint64(2**64 - 1)),
                                  ("bool", "true", np.bool_(True))):
            with self.subTest(kind):
                model = parse(f"g ({kind} v, float[1] x) => ({kind} y, float[1] z) {{ y = Identity(v) z = Neg(x) }}")
                got = self.run_model(self.compile(model, f"--value=v={text}"), {"x": floats(1)})
                self.assertEqual((got["y"].dtype, got["y"]), (value.dtype, value))

    def test_lists(self):
        model = parse("g (float[n] v, float[n] x, float[2,2] w) => (float[n] y, float[2,2] z) "
                      "{ y = Add(v, x) z = Add(w, w) }")
        artifact = self.compile(model, "--value=v=1,2.5,-3", "--value=w=[1,2,3,4]")
        got = self.run_model(artifact, {"x": np.ones(3, np.float32)})
        np.testing.assert_array_equal(got["y"], [2, 3.5, -2])
        np.testing.assert_array_equal(got["z"], [[2, 4], [6, 8]])

    def test_bad_values(self):
        model = parse(self.RATES)
        for option, *words in (("sr=16k", "'16k' is not of type int64", "'sr'"), ("sr=1.5", "'1.5' is not of type int64"),
                               ("sr=1,2", "2 elements", "takes 1"), ("sr=", "0 elements", "takes 1"),
                               ("rate=1", "no input named 'rate'", "'sr'"), ("sr", "cannot be read"),
                               ("x=1", "1 element,", "takes 24"), ("sr=9223372036854775808", "is not of type int64")):
            with self.subTest(option):
                self.assert_refuses(model, *words, options=[f"--value={option}"])
        self.assert_refuses(model, "given twice for 'sr'", options=["--value=sr=1", "--value=sr=2"])
