"""Runs compiled models on the emulated GPU, and makes models that several tests of code for GPUs share."""
import contextlib
import os
import re

from support import BUILD, Case, helper, make_model, np, tool

EMULATOR = os.path.join(BUILD, "lib", "emugpu", "libcuda.so.1")
EMULATED = {"INGOT_DEVICE": "emulated", "INGOT_EMULATED_DRIVER": EMULATOR}


@contextlib.contextmanager
def environment(**variables):
    """Sets variables. A process that serves the tools has others, so it is not used."""
    previous = dict(os.environ)
    os.environ.update(variables)
    os.environ.pop("INGOT_SERVER", None)
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(previous)


class Emulated(Case):
    """A test that runs models on the emulated GPU."""

    def emulate(self, artifact, inputs, **settings):
        """Runs on the emulated GPU; returns {output: array}."""
        variables = dict(EMULATED)
        if settings:
            variables["INGOT_EMUGPU"] = ",".join(f"{k}={v}" for k, v in settings.items())
        with environment(**variables):
            return self.run_model(artifact, inputs)

    def run_on(self, artifact, device=None, **settings):
        env = {"INGOT_DEVICE": device or "", "INGOT_EMULATED_DRIVER": EMULATOR,
               "INGOT_EMUGPU": ",".join(f"{k}={v}" for k, v in settings.items())}
        return tool("ingot", "run", artifact, "--input", "random", env=env)


def kernels_of(artifact):
    """Returns the kinds of the kernels, sorted."""
    with open(artifact, "rb") as f:
        return sorted(name.decode() for name in re.findall(rb"\.entry (\w+)_\d+", f.read()))


def eighths(rng, *shape):
    """Multiples of 1/8 whose sums of products are exact in any order."""
    return (rng.integers(-8, 9, shape) / 8).astype(np.float32)


def classifier():
    """A convolution with a bias and an activation, a pool, a product and a softmax."""
    rng = np.random.default_rng(0)
    weights = {"w": rng.standard_normal((8, 3, 3, 3)).astype(np.float32), "b": rng.standard_normal(8).astype(np.float32),
               "m": rng.standard_normal((8, 10)).astype(np.float32)}
    nodes = [helper.make_node("Conv", ["x", "w", "b"], ["c"], name="stem", pads=[1] * 4),
             helper.make_node("Relu", ["c"], ["r"], name="relu"),
             helper.make_node("GlobalAveragePool", ["r"], ["g"], name="pool"),
             helper.make_node("Flatten", ["g"], ["f"], name="flatten"),
             helper.make_node("MatMul", ["f", "m"], ["p"], name="head"),
             helper.make_node("Softmax", ["p"], ["y"], name="softmax")]
    return make_model(nodes, [("x", [2, 3, 12, 12])], [("y", [2, 10])], weights)


def drawn_products(seed, count):
    """A model with `count` convolutions and matrix products of drawn sizes, each with an output."""
    rng = np.random.default_rng(seed)
    draw = lambda *choices: choices[rng.integers(len(choices))]
    nodes, inputs, outputs, weights, feeds = [], [], [], {}, {}

    def add_input(name, *shape):
        inputs.append((name, list(shape)))
        feeds[name] = eighths(rng, *shape)
        return name

    for i in range(count):
        name = f"p{i}"
        if draw(True, True, False):
            size, taps = [int(rng.integers(5, 20)), int(rng.integers(5, 20))], [draw(1, 2, 3, 5), draw(1, 3, 4)]
            channels, results, images = draw(1, 3, 4, 8, 12, 16, 40), draw(1, 5, 8, 10, 32, 33, 72), draw(1, 1, 2)
            strides, dilations = [draw(1, 1, 2), draw(1, 1, 3)], [draw(1, 1, 2), draw(1, 1, 2)]
            pads = [int(p) for p in rng.integers(0, 3, 4)]
            window = [(t - 1) * d + 1 for t, d in zip(taps, dilations)]
            room = [s + pads[k] + pads[k + 2] - w for k, (s, w) in enumerate(zip(size, window))]
            if min(room) < 0:
                pads, room = [8] * 4, [s + 16 - w for s, w in zip(size, window)]
            groups = draw(1, 1, 2, 3)
            if groups > 1:
                channels, results = channels * groups, draw(1, 4, 11, 36) * groups
            weights[name + "w"] = eighths(rng, results, channels // groups, *taps)
            shape = [images, results] + [r // s + 1 for r, s in zip(room, strides)]
            arguments = [add_input(name + "x", images, channels, *size), name + "w"]
            if draw(True, False):
                weights[name + "b"] = eighths(rng, results)
                arguments.append(name + "b")
            nodes.append(helper.make_node("Conv", arguments, [name], name=name, strides=strides, pads=pads,
                                          dilations=dilations, group=groups))
        else:
            batches = draw([], [3], [2, 2])
            rows, depth, columns = int(rng.integers(1, 90)), draw(1, 7, 16, 50, 130), int(rng.integers(1, 90))
            shape = batches + [rows, columns]
            right = name + "w"
            if draw(True, False):
                weights[right] = eighths(rng, *draw([], batches), depth, columns)
            else:
                add_input(right, *batches, depth, columns)
            nodes.append(helper.make_node("MatMul", [add_input(name + "x", *batches, rows, depth), right], [name],
                                          name=name))
        if draw(True, False):
            other = add_input(name + "r", *draw(shape, shape[-1:], [1] * len(shape)))
            nodes.append(helper.make_node("Add", [name, other], [name + "a"]))
            name += "a"
        nodes.append(helper.make_node("Relu", [name], [f"y{i}"]))
        outputs.append((f"y{i}", shape))
    return make_model(nodes, inputs, outputs, weights), feeds


def attention_model(batch, heads, queries, keys, size, width, mask=None, safe=False, residual=False):
    """`softmax(q kᵀ / √size + mask) v` of heads that lie within a position. `mask` is the shape of an input."""
    inputs = [("q", [batch, queries, heads, size]), ("k", [batch, keys, heads, size]),
              ("v", [batch, keys, heads, width])]
    nodes = [helper.make_node("Transpose", ["q"], ["qh"], perm=[0, 2, 1, 3]),
             helper.make_node("Transpose", ["k"], ["kt"], perm=[0, 2, 3, 1]),
             helper.make_node("Transpose", ["v"], ["vh"], perm=[0, 2, 1, 3]),
             helper.make_node("MatMul", ["qh", "kt"], ["s"], name="scores"),
             helper.make_node("Mul", ["s", "scale"], ["scaled"], name="scale")]
    weights = {"scale": np.float32(size ** -0.5)}
    scores = "scaled"
    if mask is not None:
        inputs.append(("mask", list(mask)))
        nodes.append(helper.make_node("Add", ["scaled", "mask"], ["masked"], name="mask"))
        scores = "masked"
    nodes.append(helper.make_node("Softmax", [scores], ["p"], axis=-1, name="softmax"))
    probabilities = "p"
    if safe:
        weights["zero"] = np.float32(0)
        nodes += [helper.make_node("IsNaN", ["p"], ["nan"]), helper.make_node("Where", ["nan", "zero", "p"], ["safe"])]
        probabilities = "safe"
    nodes += [helper.make_node("MatMul", [probabilities, "vh"], ["yh"], name="result"),
              helper.make_node("Transpose", ["yh"], ["y" if not residual else "t"], perm=[0, 2, 1, 3])]
    shape = [batch, queries, heads, width]
    if residual:
        inputs.append(("r", shape))
        nodes.append(helper.make_node("Add", ["t", "r"], ["y"], name="residual"))
    return make_model(nodes, inputs, [("y", shape)], weights), inputs
