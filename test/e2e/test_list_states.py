"""Tests lists that loops read, shorten and fill, and that branches choose, against ONNX Runtime."""
import onnx.parser

from support import Case, np, onnx, tool


def parse(text):
    model = onnx.parser.parse_model(f'<ir_version: 10, opset_import: ["": 18]>\n{text}')
    onnx.checker.check_model(model)
    return model


def floats(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def count(n):
    return np.array(n)


# A loop over a list `q` that starts as `start`; `body` makes `q2`.
LOOP = """g (float[3] x, int64 n) => (float[K,3] y, int64 len) {{
    zero = Constant <value_int = 0> ()
    last = Constant <value_int = -1> ()
    two = Constant <value_int = 2> ()
    s = {start}
    all = Loop (n, , s) <body = b (int64 i, bool c, seq(float[3]) q) => (bool d, seq(float[3]) q2) {{
        d = Identity(c)
        step = Cast <to = 1> (i)
        a = Add(x, step)
        {body}
    }}>
    len = SequenceLength(all)
    {end}
}}"""
JOIN = "y = ConcatFromSequence <axis = 0, new_axis = 1> (all)"
# Appends an element and joins the list, which may be empty before.
PADDED = "more = SequenceInsert(all, x) y = ConcatFromSequence <axis = 0, new_axis = 1> (more)"


class ListStates(Case):
    def check(self, body, start, steps=(0, 1, 5), end=JOIN):
        model = parse(LOOP.format(start=start, body=body, end=end))
        artifact = self.compile(model)
        for n in steps:
            with self.subTest(body=body, n=n):
                self.assert_agrees(model, artifact, {"x": floats(3), "n": count(n)})
        return artifact

    def refuse_run(self, artifact, inputs, *words):
        for name, value in inputs.items():
            np.save(self.path(f"{name}.npy"), value)
        self.assert_one_line(tool("ingot", "run", artifact, *(f"--input={i}={self.path(i)}.npy" for i in inputs)), *words)

    def test_read_while_they_grow(self):
        self.check("e = SequenceAt(q, last) t = Cos(e) q2 = SequenceInsert(q, t)", "SequenceConstruct(x)")
        self.check("k = SequenceLength(q) f = Cast <to = 1> (k) t = Add(a, f) q2 = SequenceInsert(q, t)",
                   "SequenceEmpty <dtype = 1> ()", end=PADDED)

    def test_unchanged(self):
        self.check("e = SequenceAt(q, zero) q2 = Identity(q)", "SequenceConstruct(x, x)")

    def test_filled_from_the_front(self):
        self.check("q2 = SequenceInsert(q, a, zero)", "SequenceEmpty <dtype = 1> ()", end=PADDED)
        self.check("q2 = SequenceInsert(q, a, last)", "SequenceConstruct(x)")

    def test_queue(self):
        self.check("h = SequenceAt(q, zero) r = SequenceErase(q, zero) t = Sin(h) u = Add(t, step) q2 = SequenceInsert(r, u)",
                   "SequenceConstruct(x, x)", steps=(0, 1, 7))

    def test_shortened(self):
        artifact = self.check("q2 = SequenceErase(q)", "SequenceConstruct(x, x, x)", steps=(0, 2, 3), end=PADDED)
        self.refuse_run(artifact, {"x": floats(3), "n": count(4)}, "node 'SequenceErase:q2'",
                        "the sequence has 0 elements, but needs 1")

    def test_made_anew(self):
        self.check("h = SequenceAt(q, last) t = Cos(h) q2 = SequenceConstruct(t, h)", "SequenceConstruct(x, x)")

    def test_chosen_by_a_branch(self):
        """A list to which some steps append, and which other steps leave or empty."""
        body = """m = Mod(i, two)
        e = Equal(m, zero)
        q2 = If(e) <then_branch = t () => (seq(float[3]) p) {{ p = {then} }}, else_branch = u () => (seq(float[3]) r) {{ r = {other} }}>"""
        for start in ("SequenceConstruct(x)", "SequenceEmpty <dtype = 1> ()"):
            self.check(body.format(then="SequenceInsert(q, a)", other="Identity(q)"), start, end=PADDED)
            self.check(body.format(then="SequenceInsert(q, a)", other="SequenceEmpty <dtype = 1> ()"), start, end=PADDED)

    def test_in_a_loop_in_a_loop(self):
        """Each step doubles the length of the list, in an inner loop."""
        self.check("""k = SequenceLength(q)
        q2 = Loop(k, , q) <body = inner (int64 j, bool e, seq(float[3]) o) => (bool e2, seq(float[3]) o2) {
            e2 = Identity(e)
            h = SequenceAt(o, j)
            t = Cos(h)
            o2 = SequenceInsert(o, t)
        }>""", "SequenceConstruct(x)", steps=(0, 1, 4))

    def test_appended_by_two_loops(self):
        model = parse("""g (float[N] x, int64 n) => (float[K,N] y) {
            none = SequenceEmpty <dtype = 1> ()
            some = Loop (n, , none) <body = b (int64 i, bool c, seq(float[N]) q) => (bool d, seq(float[N]) q2) {
                d = Identity(c)
                f = Cast <to = 1> (i)
                a = Add(x, f)
                q2 = SequenceInsert(q, a)
            }>
            one = SequenceInsert(some, x)
            all = Loop (n, , one) <body = b2 (int64 i, bool c, seq(float[N]) q) => (bool d, seq(float[N]) q2) {
                d = Identity(c)
                f = Cast <to = 1> (i)
                a = Mul(x, f)
                q2 = SequenceInsert(q, a)
            }>
            y = ConcatFromSequence <axis = 0, new_axis = 1> (all)
        }""")
        artifact = self.compile(model)
        for n, size in ((1, 4), (6, 1), (3, 0)):
            self.assert_agrees(model, artifact, {"x": floats(size), "n": count(n)})

    def test_until_a_condition(self):
        model = parse("""g (float[3] x, float t) => (float[K,3] y, float[M,3] o) {
            s = SequenceConstruct(x)
            big = Constant <value_float = 100.0> ()
            last = Constant <value_int = -1> ()
            go = Less(t, big)
            l, u, o = Loop (, go, s, t) <body = b (int64 i, bool c, seq(float[3]) q, float v)
                                            => (bool d, seq(float[3]) q2, float w, float[3] f) {
                e = SequenceAt(q, last)
                f = Add(e, v)
                q2 = SequenceInsert(q, f)
                w = Add(v, v)
                d = Less(w, big)
            }>
            y = ConcatFromSequence <axis = 0, new_axis = 1> (l)
        }""")
        artifact = self.compile(model)
        for t in (3, 99, 300):
            self.assert_agrees(model, artifact, {"x": floats(3), "t": np.array(t, np.float32)})

    def test_computed_positions(self):
        model = parse("""g (float[3] x, float[3] z, int64 n, int64 p) => (float[K,3] y, float[L,3] w) {
            known = SequenceConstruct(x, z, x)
            put = SequenceInsert(known, z, p)
            w = ConcatFromSequence <axis = 0, new_axis = 1> (put)
            none = SequenceEmpty <dtype = 1> ()
            all = Loop (n, , none) <body = b (int64 i, bool c, seq(float[3]) q) => (bool d, seq(float[3]) q2) {
                d = Identity(c)
                f = Cast <to = 1> (i)
                a = Add(x, f)
                q2 = SequenceInsert(q, a)
            }>
            less = SequenceErase(all, p)
            y = ConcatFromSequence <axis = 0, new_axis = 1> (less)
        }""")
        artifact = self.compile(model)
        for n, p in ((4, 0), (4, 3), (4, -1), (4, -3), (2, 1)):
            with self.subTest(n=n, p=p):
                self.assert_agrees(model, artifact, {"x": floats(3), "z": floats(3, seed=1), "n": count(n), "p": count(p)})
        for n, p, *words in ((5, 4, "node 'SequenceInsert:put'", "position 4 of the sequence can be at most 3"),
                             (5, -4, "node 'SequenceInsert:put'", "in front of the sequence"),
                             (2, 2, "node 'SequenceErase:less'", "position 2 of the sequence can be at most 1"),
                             (0, 0, "node 'SequenceErase:less'", "the sequence has 0 elements, but needs 1")):
            self.refuse_run(artifact, {"x": floats(3), "z": floats(3), "n": count(n), "p": count(p)}, *words)

    def test_refusals(self):
        """Refuses lists whose elements differ in size, rank or type, and sizes that the first step does not
        determine."""
        model = """g (float[A] x, int64 n) => (float[K,B] y) {{
            s = {start}
            last = Constant <value_int = -1> ()
            l = Loop (n, , s) <body = b (int64 i, bool c, seq(float[P]) q) => (bool d, seq(float[P]) q2) {{
                d = Identity(c)
                {body}
            }}>
            y = ConcatFromSequence <axis = 0, new_axis = 1> (l)
        }}"""
        twice = "e = SequenceAt(q, last) f = Concat <axis = 0> (e, x) q2 = SequenceInsert(q, f)"
        artifact = self.compile(parse(model.format(start="SequenceConstruct(x)", body=twice)))
        self.refuse_run(artifact, {"x": floats(3), "n": count(1)}, "node 'SequenceInsert:q2'", "is 6, but 3 in those before")
        rank = "u = Unsqueeze(x, i1) q2 = SequenceInsert(q, u, last)".replace("i1", "axes")
        rank = "axes = Constant <value_ints = [0]> () " + rank
        self.assert_refuses(parse(model.format(start="SequenceConstruct(x)", body=rank)), "node 'SequenceInsert:q2'",
                            "an element of another rank or type than those in a sequence")
        self.assert_refuses(parse(model.format(start="SequenceEmpty <dtype = 1> ()", body="q2 = SequenceInsert(q, x, i)")),
                            "node 'Loop:l'", "state 0 is a sequence whose shapes differ or are not known before the first step")


# PyTorch's EmbeddingBag as exporters write it: a loop that slices the rows between two neighbouring offsets.
BAGS = """g (float[60,4] table, int64[n] x, int64[m] offsets) => (float[K,4] y) {{
    flat = Constant <value_ints = [-1]> ()
    zero = Constant <value_int = 0> ()
    one = Constant <value_int = 1> ()
    two = Constant <value_int = 2> ()
    axis = Constant <value_ints = [0]> ()
    rows = Gather(table, x)
    length = Shape(x)
    ends = Concat <axis = 0> (offsets, length)
    bags = Size(offsets)
    any = Less(zero, bags)
    none = SequenceEmpty <dtype = 1> ()
    last, all = Loop ( , any, zero, none) <body = b (int64 k, bool c, int64 i, seq(float[1,4]) q)
                                                    => (bool d, int64 j, seq(float[1,4]) q2) {{
        at = Reshape(i, flat)
        next = Add(at, one)
        after = Add(at, two)
        start = Slice(ends, at, next)
        end = Slice(ends, next, after)
        same = Equal(start, end)
        row = If(same) <then_branch = t () => (float[1,4] r) {{ r = Constant <value = float[1,4] {{0, 0, 0, 0}}> () }},
                        else_branch = e () => (float[1,4] r) {{
                            part = Slice(rows, start, end)
                            r = {reduce}(part, axis)
                        }}>
        q2 = SequenceInsert(q, row)
        j = Add(i, one)
        d = Less(j, bags)
    }}>
    y = ConcatFromSequence <axis = 0> (all)
}}"""


class Bags(Case):
    def test_reduced(self):
        for reduce in ("ReduceSum", "ReduceMean", "ReduceMax"):
            model = parse(BAGS.format(reduce=reduce))
            artifact = self.compile(model)
            for n, offsets in ((7, [0, 2, 2, 5]), (1, [0]), (9, [0, 9, 9])):
                x = np.random.default_rng(n).integers(0, 60, n)
                with self.subTest(reduce=reduce, n=n):
                    self.assert_agrees(model, artifact, {"table": floats(60, 4), "x": x, "offsets": np.array(offsets)})
