"""Checks that a pass keeps what a function computes.

A Function is built op by op, and numpy computes each op in double. `check`
runs ingot-opt on its text, computes the resulting function, and compares. This
file knows the ops that the graph and layout passes rewrite.
"""
import math
import re
import subprocess
import sys

import numpy as np


class Array(list):
    """An attribute of integers or floats; `of` is the element type."""

    def __init__(self, values, of="i64"):
        super().__init__(values)
        self.of = of


# --- the ops, in numpy ------------------------------------------------------

def first(x, a):
    return np.moveaxis(x, -1, 1) if a.get("channels_last") else x


def back(y, a):
    return np.moveaxis(y, 1, -1) if a.get("channels_last") else y


def padded(x, pads, fill=0.0):
    n = len(pads) // 2
    x = np.pad(x, [(0, 0), (0, 0)] + [(max(pads[i], 0), max(pads[n + i], 0)) for i in range(n)], constant_values=fill)
    crop = [slice(max(-pads[i], 0), x.shape[2 + i] - max(-pads[n + i], 0)) for i in range(n)]
    return x[(slice(None), slice(None), *crop)]


def windows(x, kernel, a, fill=0.0):
    """N, C, positions..., taps"""
    x = padded(x, a["pads"], fill)
    out = [(x.shape[2 + i] - a["dilations"][i] * (k - 1) - 1) // a["strides"][i] + 1 for i, k in enumerate(kernel)]
    taps = []
    for tap in np.ndindex(*kernel):
        at = [slice(t * d, t * d + (o - 1) * s + 1, s)
              for t, d, s, o in zip(tap, a["dilations"], a["strides"], out)]
        taps.append(x[(slice(None), slice(None), *at)])
    return np.stack(taps, -1)


def conv(a, x, w, bias=None):
    x, g = first(x, a), a["groups"]
    win = windows(x, w.shape[2:], a)
    parts = [np.einsum("nc...t,oct->no...", xs, ws.reshape(*ws.shape[:2], -1))
             for xs, ws in zip(np.split(win, g, 1), np.split(w, g, 0))]
    y = np.concatenate(parts, 1)
    if bias is not None:
        y = y + bias.reshape(-1, *[1] * (y.ndim - 2))
    return back(y, a)


def conv_transpose(a, x, w, bias=None):
    x, g, n = first(x, a), a["groups"], w.ndim - 2
    kernel, s, d, pads = w.shape[2:], a["strides"], a["dilations"], a["pads"]
    full = [(x.shape[2 + i] - 1) * s[i] + (kernel[i] - 1) * d[i] + 1 + a["output_padding"][i] for i in range(n)]
    parts = []
    for xs, ws in zip(np.split(x, g, 1), np.split(w, g, 0)):
        y = np.zeros((x.shape[0], ws.shape[1], *full))
        for tap in np.ndindex(*kernel):
            at = [slice(t * d[i], t * d[i] + (x.shape[2 + i] - 1) * s[i] + 1, s[i]) for i, t in enumerate(tap)]
            y[(slice(None), slice(None), *at)] += np.einsum("nc...,co->no...", xs, ws[(slice(None), slice(None), *tap)])
        parts.append(y)
    y = padded(np.concatenate(parts, 1), [-p for p in pads])
    if bias is not None:
        y = y + bias.reshape(-1, *[1] * n)
    return back(y, a)


def matmul(a, x, w, bias=None):
    x = np.swapaxes(x, -1, -2) if a.get("transpose_a") else x
    w = np.swapaxes(w, -1, -2) if a.get("transpose_b") else w
    y = x @ w
    return y if bias is None else y + bias


def batch_norm(a, x, scale, bias, mean, variance):
    shape = [-1] if a.get("channels_last") else [-1] + [1] * (x.ndim - 2)
    scale, bias, mean, variance = (v.reshape(shape) for v in (scale, bias, mean, variance))
    return (x - mean) / np.sqrt(variance + a["epsilon"]) * scale + bias


def avg_pool(a, x):
    x = first(x, a)
    total = windows(x, a["kernel"], a).sum(-1)
    ones = windows(np.ones_like(x), a["kernel"], a, 1.0 if a.get("count_include_pad") else 0.0).sum(-1)
    return back(total / ones, a)


def max_pool(a, x):
    return back(windows(first(x, a), a["kernel"], a, -np.inf).max(-1), a)


def reduce(a, x):
    f = [np.sum, np.mean, np.max, np.min, np.prod, lambda v, **k: np.sum(v * v, **k)][a["kind"]]
    return f(x, axis=tuple(a["axes"]), keepdims=bool(a.get("keep_dims")))


def layer_norm(a, x, *rest):
    axes = tuple(range(a["axis"], x.ndim))
    y = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + a["epsilon"])
    sizes = a.get("operandSegmentSizes", [1, 1, 1])
    rest = list(rest)
    if sizes[1]:
        y = y * rest.pop(0)
    return y + rest.pop(0) if sizes[2] else y


def group_norm(a, x, scale, bias):
    x = first(x, a)
    v = x.reshape(x.shape[0], a["groups"], -1)
    v = (v - v.mean(-1, keepdims=True)) / np.sqrt(v.var(-1, keepdims=True) + a["epsilon"])
    shape = [-1] + [1] * (x.ndim - 2)
    return back(v.reshape(x.shape) * scale.reshape(shape) + bias.reshape(shape), a)


def lrn(a, x):
    x, size = first(x, a), a["size"]
    low = (size - 1) // 2
    square = np.pad(x * x, [(0, 0), (low, size - 1 - low)] + [(0, 0)] * (x.ndim - 2))
    total = sum(square[:, i:i + x.shape[1]] for i in range(size))
    return back(x / (a["k"] + a["alpha"] / size * total) ** a["beta"], a)


def softmax(a, x):
    e = np.exp(x - x.max(a["axis"], keepdims=True))
    y = e / e.sum(a["axis"], keepdims=True)
    return np.log(y) if a.get("log") else y


def nn_slice(a, x):
    at = []
    for start, size, step in zip(a["starts"], a["sizes"], a["steps"]):
        end = start + size * step
        at.append(slice(None) if size == -1 else slice(start, None if end < 0 else end, step))
    return x[tuple(at)]


def nn_pad(a, x, value=None):
    grow = [(max(l, 0), max(h, 0)) for l, h in zip(a["low"], a["high"])]
    mode = ["constant", "reflect", "edge", "wrap"][a["mode"]]
    x = np.pad(x, grow, mode, **({"constant_values": float(value)} if mode == "constant" else {}))
    return x[tuple(slice(max(-l, 0), x.shape[i] - max(-h, 0)) for i, (l, h) in enumerate(zip(a["low"], a["high"])))]


def nearest(a, x):
    y = x
    for d, s in enumerate(a["scales"]):
        y = np.take(y, np.minimum((np.arange(int(y.shape[d] * s)) / s).astype(int), y.shape[d] - 1), d)
    return y


def concat(a, *xs):
    return np.concatenate(xs, a["axis"])


def scatter_nd(a, x, indices, updates):
    y = x.copy()
    y[tuple(np.moveaxis(indices.astype(int), -1, 0))] = updates
    return y


erf = np.vectorize(math.erf, otypes=[float])


def gelu(a, x):
    if a.get("tanh_approximation"):
        return x / 2 * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))
    return x / 2 * (1 + erf(x / math.sqrt(2)))


OPS = {
    "conv": conv, "conv_transpose": conv_transpose, "matmul": matmul, "batch_norm": batch_norm, "avg_pool": avg_pool,
    "max_pool": max_pool, "reduce": reduce, "layer_norm": layer_norm, "group_norm": group_norm, "lrn": lrn,
    "softmax": softmax, "scatter_nd": scatter_nd, "slice": nn_slice, "pad": nn_pad, "resize": nearest,
    "concat": concat, "gelu": gelu,
    "transpose": lambda a, x: x.transpose(a["perm"]),
    "gather": lambda a, x, i: np.take(x, i.astype(int), a["axis"]),
    "relu": lambda a, x: np.maximum(x, 0), "clamp": lambda a, x: np.clip(x, a["min"], a["max"]),
    "sigmoid": lambda a, x: 1 / (1 + np.exp(-x)), "tanh": lambda a, x: np.tanh(x), "erf": lambda a, x: erf(x),
    "swish": lambda a, x: x / (1 + np.exp(-a.get("alpha", 1.0) * x)), "sqrt": lambda a, x: np.sqrt(x),
    "softplus": lambda a, x: np.logaddexp(0, x), "exp": lambda a, x: np.exp(x), "log": lambda a, x: np.log(x),
    "hard_swish": lambda a, x: x * np.clip(x / 6 + 0.5, 0, 1), "reciprocal": lambda a, x: 1 / x,
    "hard_sigmoid": lambda a, x: np.clip(a["alpha"] * x + a["beta"], 0, 1), "neg": lambda a, x: -x,
    "add": lambda a, x, y: x + y, "sub": lambda a, x, y: x - y, "mul": lambda a, x, y: x * y,
    "div": lambda a, x, y: x / y, "pow": lambda a, x, y: x ** y, "max": lambda a, x, y: np.maximum(x, y),
    "min": lambda a, x, y: np.minimum(x, y), "rms_norm": lambda a, x, s: x / np.sqrt(
        (x * x).mean(tuple(range(a["axis"], x.ndim)), keepdims=True) + a["epsilon"]) * s,
}

# --- writing ----------------------------------------------------------------


def type_of(x):
    return "tensor<" + "".join(f"{d}x" for d in x.shape) + ("i64" if x.dtype == np.int64 else "f32") + ">"


ENUMS = {"kind", "mode", "coordinates", "nearest_mode", "reduction"}
DOUBLES = {"min", "max"}


def attribute(name, value):
    if name in ENUMS:
        return f"{value} : i32"
    if name in DOUBLES:
        return f"{value:.17e} : f64"
    if value is True:
        return "unit"
    if isinstance(value, Array):
        return f"array<{value.of}: " + ", ".join(str(v) for v in value) + ">" if value else f"array<{value.of}>"
    if isinstance(value, (list, tuple)):
        return attribute(name, Array(value))
    if isinstance(value, float):
        return f"{value:.17e} : f32"
    return f"{value} : i64" if isinstance(value, int) else str(value)


class Value:
    def __init__(self, name, data):
        self.name, self.data = name, data

    @property
    def shape(self):
        return self.data.shape


class Function:
    """`f.OP(operands..., attributes...)` appends one nn op and computes it."""

    def __init__(self, seed=0):
        self.random = np.random.default_rng(seed)
        self.args, self.lines, self.count = [], [], 0

    def new(self, data):
        self.count += 1
        return Value(f"%v{self.count}", data)

    def arg(self, *shape):
        x = self.new(self.random.standard_normal(shape))
        self.args.append(x)
        return x

    def rand(self, *shape, low=-1.0, high=1.0):
        return self.const(self.random.uniform(low, high, shape))

    def const(self, data):
        data = np.asarray(data)
        data = data.astype(np.int64) if data.dtype.kind == "i" else data.astype(np.float32)
        v = self.new(data.astype(float) if data.dtype == np.float32 else data)
        text = "0x" + data.tobytes().hex().upper()
        self.lines.append(f'{v.name} = arith.constant dense<"{text}"> : {type_of(v.data)}')
        return v

    def __getattr__(self, op):
        def append(*operands, **attrs):
            y = self.new(OPS[op]({k: v for k, v in attrs.items()}, *[o.data for o in operands]))
            text = ", ".join(f"{k} = {attribute(k, v)}" for k, v in attrs.items())
            properties = f"<{{{text}}}> " if text else ""
            self.lines.append(f'{y.name} = "nn.{op}"({", ".join(o.name for o in operands)}) {properties}: '
                              f'({", ".join(type_of(o.data) for o in operands)}) -> {type_of(y.data)}')
            return y
        return append

    def conv2d(self, x, out, kernel, stride=1, pad=0, dilation=1, groups=1, bias=True, last=False):
        """Adds a convolution with random weights. `kernel`, `stride` and the like are a number or a pair."""
        pair = lambda v: [v, v] if isinstance(v, int) else list(v)
        inputs = x.shape[-1 if last else 1]
        w = self.rand(out, inputs // groups, *pair(kernel))
        more = [self.rand(out)] if bias else []
        pads = pair(pad) * 2 if isinstance(pad, int) or len(pad) == 2 else list(pad)
        layout = {"channels_last": True} if last else {}
        return self.conv(x, w, *more, strides=pair(stride), pads=pads, dilations=pair(dilation), groups=groups,
                         **layout)

    def bn(self, x, last=False):
        c = x.shape[-1 if last else 1]
        layout = {"channels_last": True} if last else {}
        return self.batch_norm(x, self.rand(c, low=0.5), self.rand(c), self.rand(c), self.rand(c, low=0.5, high=2.0),
                               epsilon=1e-3, **layout)

    def text(self, *results):
        args = ", ".join(f"{a.name}: {type_of(a.data)}" for a in self.args)
        types = ", ".join(type_of(r.data) for r in results)
        return (f"func.func @forward({args}) -> ({types}) {{\n  " + "\n  ".join(self.lines) +
                f'\n  return {", ".join(r.name for r in results)} : {types}\n}}\n')


# --- reading ----------------------------------------------------------------

def parse_type(text):
    *dims, element = text.strip()[len("tensor<"):-1].split("x")
    return [int(d) for d in dims], {"f32": np.float32, "i64": np.int64}[element]


def parse_constant(text, resources):
    value, type_ = text.rsplit(" : ", 1)
    shape, dtype = parse_type(type_)
    if value.startswith("dense_resource<"):
        raw = resources[value[len("dense_resource<"):-1]]
        data = np.frombuffer(raw, dtype)
    elif value.startswith('dense<"0x'):
        data = np.frombuffer(bytes.fromhex(value[len('dense<"0x'):-2]), dtype)
    else:
        numbers = [n for n in re.split(r"[\[\], ]+", value[len("dense<"):-1]) if n]
        data = np.array([np.frombuffer(bytes.fromhex(n[2:])[::-1], dtype)[0] if n.startswith("0x") else dtype(n)
                         for n in numbers], dtype)
    data = data.reshape(shape) if data.size == math.prod(shape) else np.full(shape, data[0])
    return data.astype(float) if dtype == np.float32 else data


def parse_attributes(text):
    attrs = {}
    for name, value in re.findall(r"(\w+)(?: = (array<[^>]*>|[^,]+))?(?:, |$)", text):
        if not value:
            attrs[name] = True
        elif value.startswith("array<"):
            numbers = re.findall(r"[-+.\de]+", value.split(":", 1)[-1]) if ":" in value else []
            attrs[name] = [float(v) if "." in v else int(v) for v in numbers]
        elif value in ("true", "false"):
            attrs[name] = value == "true"
        else:
            number, _, kind = value.partition(" : ")
            if number.startswith("0x"):
                number = np.frombuffer(bytes.fromhex(number[2:])[::-1], {"f32": "f4", "f64": "f8"}[kind])[0]
            attrs[name] = float(number) if kind.startswith("f") else int(number)
    return attrs


def evaluate(text, args):
    """Returns the results of the only function in generic form, and the names of its ops."""
    blobs = re.findall(r'(\w+): "0x([0-9A-F]+)"', text)
    resources = {name: bytes.fromhex(data)[4:] for name, data in blobs}
    values, used = {}, []
    for line in text.splitlines():
        line = line.strip()
        block = re.match(r"\^bb0\((.*)\):", line)
        if block:
            for arg, data in zip(re.findall(r"%\w+", block.group(1)), args):
                values[arg] = data
            continue
        if line.startswith('"func.return"'):
            return [values[v] for v in re.findall(r"%\w+", line)], used
        op = re.match(r'(%\w+) = "([\w.]+)"\((.*?)\)(?: <\{(.*)\}>)?(?: \{.*\})? : ', line)
        if not op:
            continue
        result, name, operands, attrs = op.groups()
        used.append(name)
        if name == "arith.constant":
            values[result] = parse_constant(attrs[len("value = "):], resources)
            continue
        operands = [values[v] for v in re.findall(r"%\w+", operands)]
        short = name[len("nn."):]
        if short == "reshape" or short == "broadcast_to":
            shape, _ = parse_type(re.search(r"-> (tensor<[^>]*>)", line).group(1))
            values[result] = operands[0].reshape(shape) if short == "reshape" else np.broadcast_to(operands[0], shape)
        else:
            values[result] = OPS[short](parse_attributes(attrs or ""), *operands)
    raise ValueError("no function.return in:\n" + text)


failures = 0


def check(title, function, result, passes, ops=None, tolerance=2e-6):
    """Runs `passes` and compares results. If `ops` (name to count) is given, also compares the remaining nn ops."""
    global failures
    results = result if isinstance(result, (list, tuple)) else [result]
    text = function.text(*results)
    run = subprocess.run(["ingot-opt", *passes, "--mlir-print-op-generic", "-"], input=text, capture_output=True,
                         text=True)
    problem = ""
    if run.returncode:
        problem = f"ingot-opt fails\n{run.stderr}"
    else:
        got, names = evaluate(run.stdout, [a.data for a in function.args])
        for r, g in zip(results, got):
            error = np.max(np.abs(r.data - g)) / max(np.max(np.abs(r.data)), 1e-30) if r.shape == g.shape else np.inf
            if not error <= tolerance:
                problem += f"results differ by {error:.3g}\n"
        counts = {n[3:]: names.count(n) for n in sorted(set(names)) if n.startswith("nn.")}
        if ops is not None and counts != ops:
            problem += f"expected {ops}, but got {counts}\n"
    print(f"{'FAIL' if problem else 'ok'}: {title}")
    if problem:
        failures += 1
        print(problem + (run.stdout if not run.returncode and len(run.stdout) < 4000 else ""), file=sys.stderr)


def finish():
    sys.exit(1 if failures else 0)
