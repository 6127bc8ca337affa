"""What the compiler computes of constants is what a run computes."""
import itertools

from support import Case, TensorProto, helper, make_model, np

FLOATS = ["Abs", "Neg", "Ceil", "Floor", "Round", "Sqrt", "Reciprocal", "Relu", "Sign", "Exp", "Log", "Erf",
          "Sigmoid", "Tanh", "Softplus", "IsNaN", "IsInf", "Sin", "Cos", "Atan", "Asin", "Sinh", "HardSwish"]
PAIRS = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Pow", "PRelu", "Equal", "Less", "LessOrEqual", "Greater",
         "GreaterOrEqual"]
INTS = ["Abs", "Neg", "Sign", "BitwiseNot"]
SHIFTS = ["left", "right"]
INT_PAIRS = ["Add", "Sub", "Mul", "Div", "Max", "Min", "Mod", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Equal", "Less",
             "Greater"]
# Functions of the run are polynomials, within some last bits of those of the compiler.
APPROXIMATE = {"Exp", "Log", "Erf", "Sigmoid", "Tanh", "Softplus", "Sin", "Cos", "Atan", "Asin", "Sinh", "Pow", "Sqrt",
               "Reciprocal", "HardSwish"}
TYPES = {t: helper.np_dtype_to_tensor_dtype(np.dtype(t)) for t in (
    "float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")}


def extremes(name):
    dtype = np.dtype(name)
    if dtype.kind == "f":
        info = np.finfo(dtype)
        values = [0.0, -0.0, 1, -1, 0.5, -0.5, 1.5, 2.5, -2.5, 3.999, info.max, info.min, info.tiny, -info.tiny,
                  np.inf, -np.inf, np.nan, 127.5, -128.5, 255.5]
        return np.array(values).astype(dtype)
    info = np.iinfo(dtype)
    values = {info.min, info.max, info.min + 1, info.max - 1, 0, 1, 2, 7, info.max // 2}
    if dtype.kind == "i":
        values |= {-1, -2, -7}
    return np.array(sorted(values), dtype)


def flushed(x, dtype):
    """A run takes what is smaller than normal numbers for 0."""
    return np.where(np.abs(x) < np.finfo(dtype).tiny, 0, x)


def defined(x, to):
    """Where ONNX says what a cast gives: numbers within the range of integers."""
    if x.dtype.kind != "f" or np.dtype(to).kind not in "iu":
        return np.ones(x.shape, bool)
    info = np.iinfo(to)
    with np.errstate(all="ignore"):
        whole = np.trunc(x.astype(np.float64))
        return np.isfinite(whole) & (whole >= float(info.min)) & (whole < float(info.max) + 1.0)


class Folding(Case):
    """The same nodes on constants and on inputs: equal bits where nothing is approximated."""

    def compare(self, label, nodes, values, outputs):
        """Both ways; `outputs` are {name: element type}."""
        infos = [(n, list(v.shape), helper.np_dtype_to_tensor_dtype(v.dtype)) for n, v in values.items()]
        results = [(n, None, t) for n, t in outputs.items()]
        extra = [("unused", [1])]
        folded = make_model(nodes + [helper.make_node("Identity", ["unused"], ["same"])], extra,
                            results + [("same", [1])], values, opset=18)
        computed = make_model(nodes, infos, results, opset=18)
        one = np.zeros(1, np.float32)
        a = self.run_model(self.compile(folded), {"unused": one})
        b = self.run_model(self.compile(computed), values)
        wrong = []
        for node in nodes:
            name = node.output[0]
            if name not in outputs:
                continue
            x, y = a[name], b[name]
            self.assertEqual((x.shape, x.dtype), (y.shape, y.dtype), name)
            if x.dtype.kind == "f":
                x, y = x.astype(np.float64), y.astype(np.float64)
                bits = {"float16": 2e-3}.get(a[name].dtype.name, 1e-6)
                tolerance = bits if node.op_type in APPROXIMATE else 0
                with np.errstate(all="ignore"):
                    same = (x == y) | (flushed(x, a[name].dtype) == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= tolerance * np.abs(y) + (
                        1e-30 if tolerance else 0))
            else:
                same = x == y
            if node.op_type == "Cast":
                same |= ~defined(values["x"], x.dtype)
            for i in np.flatnonzero(~np.atleast_1d(same).ravel())[:3]:
                wrong.append(f"{label} {name}: element {i} is {x.ravel()[i]} of constants, {y.ravel()[i]} of inputs; "
                             + ", ".join(f"{n}={values[n].ravel()[i]}" for n in node.input if n in values and
                                         values[n].size == x.size))
        return wrong

    def test_elementwise(self):
        wrong = []
        for name, kind in TYPES.items():
            x = extremes(name)
            grid = np.array(list(itertools.product(x, x)), x.dtype)
            values = {"x": x, "a": grid[:, 0].copy(), "b": grid[:, 1].copy()}
            isfloat = x.dtype.kind == "f"
            nodes, outputs = [], {}
            for op in FLOATS if isfloat else INTS:
                if (op == "Neg" and x.dtype.kind == "u") or (op == "IsInf" and name == "float16"):
                    continue
                nodes.append(helper.make_node(op, ["x"], [op], name=op))
                outputs[op] = TensorProto.BOOL if op.startswith("Is") else kind
            for op in PAIRS if isfloat else INT_PAIRS:
                nodes.append(helper.make_node(op, ["a", "b"], [op], name=op))
                outputs[op] = TensorProto.BOOL if op in ("Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual") \
                    else kind
            if x.dtype.kind == "u":
                for way in SHIFTS:
                    nodes.append(helper.make_node("BitShift", ["a", "b"], [way], name=way, direction=way.upper()))
                    outputs[way] = kind
            if name in ("int32", "int64"):
                nodes.append(helper.make_node("Pow", ["a", "b"], ["Pow"], name="Pow"))
                outputs["Pow"] = kind
            wrong += self.compare(name, nodes, values, outputs)
        self.assertEqual(wrong, [], "\n".join(wrong))

    def test_casts(self):
        wrong = []
        for name in TYPES:
            values, nodes, outputs = {"x": extremes(name)}, [], {}
            for to, kind in {**TYPES, "bool": TensorProto.BOOL}.items():
                if to != name:
                    nodes.append(helper.make_node("Cast", ["x"], [f"to_{to}"], to=kind))
                    outputs[f"to_{to}"] = kind
            wrong += self.compare(name, nodes, values, outputs)
        self.assertEqual(wrong, [], "\n".join(wrong))
