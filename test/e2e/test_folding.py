"""Constants that the compiler computes equal those that a run computes."""
import itertools

from support import Case, TensorProto, helper, make_model, np, tool

FLOATS = ["Abs", "Neg", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal", "Relu", "Sign", "Exp", "Log", "Erf",
          "Sigmoid", "Tanh", "Softplus", "IsNaN", "IsInf", "Sin", "Cos", "Tan", "Atan", "Asin", "Acos", "Sinh", "Cosh",
          "Asinh", "Acosh", "Atanh", "HardSwish"]
# Functions with attributes.
PARAMETERS = [("Elu", {"alpha": 0.7}), ("LeakyRelu", {"alpha": 0.3}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.6}),
              ("Gelu", {"approximate": "none"}), ("Gelu", {"approximate": "tanh"})]
LOGIC = ["And", "Or", "Xor", "Equal"]
LOGICAL = {"IsNaN", "IsInf", "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual"}
PAIRS = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Equal", "Less", "LessOrEqual", "Greater",
         "GreaterOrEqual"]
INTS = ["Abs", "Neg", "Sign", "BitwiseNot"]
SHIFTS = ["left", "right"]
INT_PAIRS = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Less",
             "Greater"]
# Functions that a run approximates by polynomials, so the last bits differ from the compiler's.
APPROXIMATE = {"Exp", "Log", "Erf", "Sigmoid", "Tanh", "Softplus", "Sin", "Cos", "Tan", "Atan", "Asin", "Acos", "Sinh",
               "Cosh", "Asinh", "Acosh", "Atanh", "Pow", "Sqrt", "Reciprocal", "HardSwish", "Elu", "LeakyRelu",
               "HardSigmoid", "Gelu"}
# Functions whose f32 terms cancel: errors are relative to the largest result.
CANCELS = {"Elu", "Gelu", "Asinh", "Acosh", "Atanh"}
TYPES = {t: helper.np_dtype_to_tensor_dtype(np.dtype(t)) for t in (
    "float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}


def extremes(name):
    dtype = np.dtype(name)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        values = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.999, info.max, info.min, info.tiny, -info.tiny,
                  np.inf, -np.inf, np.nan, 127.5, -128.5, 255.5]
        if name == "float32":
            values += [info.tiny / 2, -info.tiny / 2, info.smallest_subnormal]
        return np.array(values).astype(dtype)
    info = np.iinfo(dtype)
    values = {info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 7, info.max // 2}
    if dtype.kind == "i":
        values |= {-1, -2, -7}
    return np.array(sorted(values), dtype)


def flushed(x, dtype):
    """Returns x with denormal values replaced by 0, as in a run."""
    return np.where(np.abs(x) < np.finfo(dtype).tiny, 0, x)


def defined(x, to):
    """Returns where ONNX defines the result of a cast: values in the range of integers."""
    if x.dtype.kind != "f" or np.dtype(to).kind not in "iu":
        return np.ones(x.shape, bool)
    info = np.iinfo(to)
    with np.errstate(all="ignore"):
        whole = np.trunc(x.astype(np.float64))
        return np.isfinite(whole) & (whole >= float(info.min)) & (whole < float(info.max) + 1.0)


class Folding(Case):
    """Runs nodes on constants and on inputs: equal bits unless a function is approximated."""

    def compare(self, label, nodes, values, outputs, bits=1e-6):
        """Compares constants with inputs. `outputs` are {OPERATOR[-ANYTHING]: element type}; `bits` is the error of an
        approximation."""
        infos = [(n, list(v.shape), helper.np_dtype_to_tensor_dtype(v.dtype)) for n, v in values.items()]
        results = [(n, None, t) for n, t in outputs.items()]
        extra = [("unused", [1])]
        folded = make_model(nodes + [helper.make_node("Identity", ["unused"], ["same"])], extra,
                            results + [("same", [1])], values, opset=20)
        computed = make_model(nodes, infos, results, opset=20)
        one = np.zeros(1, np.float32)
        a = self.run_model(self.compile(folded), {"unused": one})
        b = self.run_model(self.compile(computed), values)
        wrong = []
        for name in outputs:
            op = name.split("-")[0]
            x, y = a[name], b[name]
            self.assertEqual((x.shape, x.dtype), (y.shape, y.dtype), name)
            if x.dtype.kind == "f":
                x, y = x.astype(np.float64), y.astype(np.float64)
                tolerance = bits if op in APPROXIMATE else 0
                with np.errstate(all="ignore"):
                    size = np.maximum(np.abs(y), 1) if op in CANCELS else np.abs(y)
                    zeros = flushed(x, a[name].dtype) == flushed(y, a[name].dtype)
                    same = (x == y) | zeros | (np.isnan(x) & np.isnan(y)) | (
                        np.abs(x - y) <= tolerance * size + (1e-30 if tolerance else 0))
            else:
                same = x == y
            if op == "Pow" and x.dtype.kind == "f":
                # libm, which a run calls, does not flush denormal values.
                for operand in (values["a"], values["b"]):
                    same |= flushed(operand, operand.dtype) != operand
            if op == "Cast":
                same |= ~defined(values["x"], x.dtype)
            for i in np.flatnonzero(~np.atleast_1d(same).ravel())[:3]:
                wrong.append(f"{label} {name}: element {i} is {x.ravel()[i]} of constants, {y.ravel()[i]} of inputs; "
                             + ", ".join(f"{n}={v.ravel()[i]}" for n, v in values.items() if v.size == x.size))
        return wrong

    def float_nodes(self, x, a, b):
        """Makes nodes on the named values, with outputs named after their operators."""
        for op in FLOATS:
            yield helper.make_node(op, [x], [op], name=op)
        for i, (op, attributes) in enumerate(PARAMETERS):
            yield helper.make_node(op, [x], [f"{op}-{i}"], name=f"{op}-{i}", **attributes)
        for op in PAIRS:
            yield helper.make_node(op, [a, b], [op], name=op)
        yield helper.make_node("Mod", [a, b], ["Mod"], name="Mod", fmod=1)

    def test_elementwise(self):
        wrong = []
        for name, kind in TYPES.items():
            x = extremes(name)
            grid = np.array(list(itertools.product(x, x)), x.dtype)
            values = {"x": x, "a": grid[:, 0].copy(), "b": grid[:, 1].copy()}
            nodes = []
            if x.dtype.kind == "f":
                nodes += [n for n in self.float_nodes("x", "a", "b") if (n.op_type, name) != ("IsInf", "float16")]
            else:
                nodes += [helper.make_node(op, ["x"], [op], name=op) for op in INTS
                          if (op, x.dtype.kind) != ("Neg", "u")]
                nodes += [helper.make_node(op, ["a", "b"], [op], name=op) for op in INT_PAIRS]
                if name in ("int32", "int64"):
                    nodes.append(helper.make_node("Pow", ["a", "b"], ["Pow"], name="Pow"))
            if x.dtype.kind == "u":
                nodes += [helper.make_node("BitShift", ["a", "b"], [f"BitShift-{way}"], name=way, direction=way.upper())
                          for way in SHIFTS]
            outputs = {n.output[0]: TensorProto.BOOL if n.op_type in LOGICAL else kind for n in nodes}
            wrong += self.compare(name, nodes, values, outputs, 2e-3 if name == "float16" else 1e-6)
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_bfloat16(self):
        x = extremes("float32")
        grid = np.array(list(itertools.product(x, x)), x.dtype)
        values = {"x": x, "a": grid[:, 0].copy(), "b": grid[:, 1].copy()}
        nodes = [helper.make_node("Cast", [n], [n + "16"], to=TensorProto.BFLOAT16) for n in values]
        outputs = {}
        for node in self.float_nodes("x16", "a16", "b16"):
            if node.op_type == "IsInf":
                continue
            name = node.output[0]
            outputs[name] = TensorProto.BOOL if node.op_type in LOGICAL else TensorProto.FLOAT
            nodes.append(node)
            if node.op_type not in LOGICAL:
                node.output[0] = name + "16"
                nodes.append(helper.make_node("Cast", [name + "16"], [name], to=TensorProto.FLOAT))
        wrong = self.compare("bfloat16", nodes, values, outputs, 1e-2)
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_logic(self):
        values = {"a": np.array([0, 0, 1, 1], bool), "b": np.array([0, 1, 0, 1], bool)}
        nodes = [helper.make_node(op, ["a", "b"], [op], name=op) for op in LOGIC]
        nodes.append(helper.make_node("Not", ["a"], ["Not"], name="Not"))
        wrong = self.compare("bool", nodes, values, {n.output[0]: TensorProto.BOOL for n in nodes})
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_casts(self):
        wrong = []
        for name in TYPES:
            values, nodes, outputs = {"x": extremes(name)}, [], {}
            for to, kind in {**TYPES, "bool": TensorProto.BOOL}.items():
                if to != name:
                    nodes.append(helper.make_node("Cast", ["x"], [f"Cast-{to}"], to=kind))
                    outputs[f"Cast-{to}"] = kind
            wrong += self.compare(name, nodes, values, outputs)
        self.assertEqual(wrong, [], "\n".join(wrong))


class Limit(Case):
    """--limit=folded-bytes: the run computes larger constants."""

    def test_folded_bytes(self):
        weights = np.random.default_rng(1).standard_normal((100, 100)).astype(np.float32)
        nodes = [helper.make_node("Exp", ["w"], ["e"]), helper.make_node("Add", ["x", "e"], ["y"])]
        source = self.save(make_model(nodes, [("x", [100, 100])], [("y", [100, 100])], {"w": weights}))
        x = np.zeros((100, 100), np.float32)
        for limit, is_folded in ((None, True), ("40000", True), ("39999", False), ("10K", False)):
            with self.subTest(limit=limit):
                options = [f"--limit=folded-bytes={limit}"] * bool(limit)
                done = tool("ingot", "compile", source, "-o", "-", "--emit=mlir-graph", *options)
                self.assertEqual((done.returncode, "nn.exp" in done.stdout), (0, not is_folded), done.stderr)
                artifact = self.compile(source, *options)
                np.testing.assert_allclose(self.run_model(artifact, {"x": x})["y"], np.exp(weights), rtol=1e-6)
        done = tool("ingot", "compile", source, "--print-pipeline", "--limit=folded-bytes=1K")
        folds = [p for p in done.stdout.split("nn-fold-constants{")[1:]]
        self.assertGreater(len(folds), 2)
        self.assertTrue(all(p.startswith("max-bytes=1024 ") for p in folds), folds)
        self.assert_refuses(source, "'-1'", options=["--limit=folded-bytes=-1"])
