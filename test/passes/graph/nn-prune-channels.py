# RUN: %python %s
# Results do not change when channels are removed: blocks of pruned networks, and random programs.
import os
import re
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Function, check, finish  # noqa: E402
import nn_numerics  # noqa: E402

PRUNE = ["--nn-prune-channels"]


class Pruned(Function):
    """A function whose convolutions have channels of zeros."""

    def product_weights(self, out, zero_out, inputs, zero_in, *kernel):
        w = self.random.uniform(-1, 1, (out, inputs, *kernel))
        w[list(zero_out)] = 0
        w[:, list(zero_in)] = 0
        return self.const(w)

    def biased(self, out, zero_out, biased):
        b = self.random.uniform(0.1, 1, out)
        if not biased:
            b[list(zero_out)] = 0
        return self.const(b)

    def pconv(self, x, out, k=3, zero_out=(), zero_in=(), biased=False, pad=None, groups=1, stride=1):
        pad = k // 2 if pad is None else pad
        w = self.product_weights(out, zero_out, x.shape[1] // groups, zero_in, k, k)
        return self.conv(x, w, self.biased(out, zero_out, biased), strides=[stride] * 2, pads=[pad] * 4,
                         dilations=[1, 1], groups=groups)

    def reshape(self, x, *shape):
        y = self.new(x.data.reshape(shape))
        self.lines.append(f'{y.name} = "nn.reshape"({x.name}) : ({nn_numerics.type_of(x.data)}) -> '
                          f"{nn_numerics.type_of(y.data)}")
        return y


def outputs_left(f, *results):
    """The outputs of all products after the pass."""
    text = subprocess.run(["ingot-opt", *PRUNE, "-"], input=f.text(*results), capture_output=True, text=True).stdout
    return [int(n) for n in re.findall(r"nn\.(?:conv|matmul|conv_transpose).*-> tensor<1x(\d+)", text)]


def expect(title, f, result, outputs):
    check(title, f, result, PRUNE, tolerance=1e-5)
    got = outputs_left(f, *(result if isinstance(result, list) else [result]))
    if got != outputs:
        nn_numerics.failures += 1
        print(f"FAIL: {title}: expected products of {outputs} channels, but got {got}", file=sys.stderr)


f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 5)))
expect("zeros before a padded product", f, f.pconv(x, 4), [6, 4])
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 5), biased=True))
expect("numbers before a padded product", f, f.pconv(x, 4), [8, 4])
f = Pruned()
x = f.hard_swish(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 5), biased=True))
expect("numbers before one without padding", f, f.pconv(x, 4, pad=0), [6, 4])
f = Pruned()
x = f.sigmoid(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 5)))
expect("zeros that an activation makes a half", f, f.pconv(x, 4, k=1), [6, 4])
f = Pruned()
expect("outputs of the model", f, f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 5)), [8])
f = Pruned()
x = f.pconv(f.arg(1, 3, 8, 8), 8)
expect("channels that nobody reads", f, f.pconv(x, 4, zero_in=(0, 7)), [6, 4])
f = Pruned()
x = f.pconv(f.pconv(f.arg(1, 3, 8, 8), 8), 8)
y = f.pconv(f.relu(x), 8, zero_out=(2,), zero_in=(0, 7))
expect("along a chain", f, f.pconv(f.relu(y), 4, zero_in=(3,)), [8, 6, 6, 4])

# Residual sums.
f = Pruned()
x = f.arg(1, 3, 8, 8)
y = f.add(f.pconv(x, 8, zero_out=(1, 2)), f.pconv(x, 8, zero_out=(2, 3)))
expect("a sum of which both sides are zero", f, f.pconv(f.relu(y), 4), [7, 7, 4])
f = Pruned()
x = f.arg(1, 3, 8, 8)
y = f.add(f.pconv(x, 8, zero_out=(1, 2)), f.pconv(x, 8))
expect("a sum of which one side is zero", f, f.pconv(f.relu(y), 4), [8, 8, 4])
f = Pruned()
x = f.arg(1, 3, 8, 8)
y = f.add(f.pconv(x, 8), f.pconv(x, 8))
z = f.add(y, f.pconv(f.relu(f.pconv(y, 8, zero_in=(4,))), 8))
expect("a sum that nobody reads", f, f.pconv(z, 4, zero_in=(4, 5)), [7, 7, 8, 7, 4])
f = Pruned()
x = f.arg(1, 8, 8, 8)
y = f.add(x, f.pconv(x, 8, zero_out=(1, 2)))
expect("a sum with the model's input", f, f.pconv(y, 4, zero_in=(1,)), [8, 4])

f = Pruned()
x = f.pconv(f.arg(1, 3, 8, 8), 8)
y = f.relu(f.pconv(f.relu(f.pconv(x, 8)), 8, zero_out=range(8), biased=True))
check("a branch of constants", f, f.pconv(f.add(x, y), 4), PRUNE + ["--canonicalize"],
      {"conv": 2, "add": 1}, tolerance=1e-5)
f = Pruned()
x = f.pconv(f.arg(1, 3, 8, 8), 8)
y = f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=range(8))
check("one that is larger", f, f.pconv(f.add(f.reduce(x, kind=1, axes=[2, 3], keep_dims=True), y), 4),
      PRUNE + ["--canonicalize"], {"conv": 3, "add": 1, "reduce": 1}, tolerance=1e-5)

# Concatenations, slices, padding.
f = Pruned()
x = f.arg(1, 3, 8, 8)
y = f.concat(f.pconv(x, 8, zero_out=(1, 2)), x, f.pconv(x, 8, zero_out=(7,)), axis=1)
expect("a concatenation", f, f.pconv(f.relu(y), 4), [6, 7, 4])
f = Pruned()
x = f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 2, 6))
parts = [f.slice(x, starts=[0, s, 0, 0], sizes=[1, 4, 8, 8], steps=[1] * 4) for s in (0, 4)]
expect("slices", f, [f.pconv(f.relu(p), 4) for p in parts], [5, 4, 4])
f = Pruned()
x = f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 2, 6))
part = f.slice(x, starts=[0, 0, 0, 0], sizes=[1, 4, 8, 8], steps=[1, 2, 1, 1])
expect("a slice that skips", f, f.pconv(part, 4), [8, 4])
f = Pruned()
x = f.arg(1, 3, 8, 8)
padded = f.pad(f.pconv(x, 4), f.const(np.array(0.0)), low=[0, 2, 0, 0], high=[0, 2, 0, 0], mode=0)
y = f.add(padded, f.pconv(x, 8, zero_out=(0, 7)))
expect("padded channels", f, f.pconv(y, 4), [4, 6, 4])

# Groups.
f = Pruned()
x = f.pconv(f.arg(1, 3, 8, 8), 9, zero_out=(1, 2))
y = f.relu(f.pconv(x, 9, groups=9, zero_out=(6,)))
expect("depthwise", f, f.pconv(y, 4, zero_in=(4,), pad=0), [5, 5, 4])
for gone, left in ((1, 32), (15, 32), (16, 16), (20, 16)):
    f = Pruned()
    x = f.pconv(f.arg(1, 3, 8, 8), 32, zero_out=range(gone))
    expect(f"depthwise, {gone} of two vectors", f, f.pconv(f.pconv(x, 32, groups=32), 4, pad=0), [left, left, 4])
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 6, zero_out=(1, 2)))
expect("two outputs a channel", f, f.pconv(f.pconv(x, 12, groups=6), 4, pad=0), [4, 8, 4])
f = Pruned()
y = f.relu(f.pconv(f.pconv(f.arg(1, 3, 8, 8), 8), 8, groups=4, zero_out=(2, 3, 6)))
expect("a whole group", f, f.pconv(y, 4), [6, 6, 4])
f = Pruned()
y = f.relu(f.pconv(f.pconv(f.arg(1, 3, 8, 8), 8), 8, groups=2, zero_out=(0, 6, 7)))
expect("one of each group", f, f.pconv(y, 4), [8, 6, 4])
f = Pruned()
y = f.relu(f.pconv(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 7)), 8, groups=2))
expect("an input of each group", f, f.pconv(y, 4), [6, 8, 4])
f = Pruned()
y = f.relu(f.pconv(f.pconv(f.arg(1, 3, 8, 8), 8), 8, groups=2, zero_out=(0,)))
expect("one of one group", f, f.pconv(y, 4), [8, 8, 4])
f = Pruned()
y = f.pconv(f.arg(1, 8, 8, 8), 8, groups=8, zero_out=(0,))
expect("depthwise over the model's input", f, f.pconv(y, 4), [8, 4])

# Transposed convolutions, whose borders have fewer taps, and products with exchanged operands.
for biased, left in ((False, 6), (True, 8)):
    for groups, out in ((1, 5), (2, 6)):
        f = Pruned()
        x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 5), biased=biased))
        w = f.random.uniform(-1, 1, (8, 6 // groups, 3, 3))
        w[:, 0] = 0
        y = f.conv_transpose(x, f.const(w), f.rand(6, low=0.1), strides=[2, 2], pads=[1] * 4, dilations=[1, 1],
                             output_padding=[0, 0], groups=groups)
        expect(f"transposed, {groups} groups, biased {biased}", f, f.pconv(y, 4, pad=0), [left, 6 - groups, 4])
f = Pruned()
x = f.relu(f.matmul(f.arg(1, 6), f.product_weights(8, (1, 5), 6, ()), f.rand(8), transpose_b=True))
expect("weights by rows", f, f.matmul(x, f.product_weights(5, (), 8, (2,)), transpose_b=True), [5, 5])
f = Pruned()
x = f.matmul(f.arg(1, 6, 4), f.product_weights(4, (), 8, (1, 5)))
x = f.matmul(f.transpose(x, perm=[0, 2, 1]), f.rand(6, 7))
expect("rows of a product", f, f.matmul(x, f.product_weights(8, (1, 5), 5, ()), transpose_a=True), [6, 6, 7])

# Pools, channel attention, and flattened data.
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 2), biased=True))
x = f.max_pool(x, kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], dilations=[1, 1])
x = f.reduce(x, kind=1, axes=[2, 3])
w = f.product_weights(8, (), 5, ())
expect("a pool and a mean", f, f.matmul(x, w, f.rand(5)), [6, 5])
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 2), biased=True))
x = f.avg_pool(x, kernel=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], dilations=[1, 1], count_include_pad=True)
expect("a pool that counts its padding", f, f.pconv(x, 4, pad=0), [8, 4])
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 2)))
s = f.pconv(f.relu(f.pconv(f.reduce(x, kind=1, axes=[2, 3], keep_dims=True), 4, k=1)), 8, k=1)
expect("squeeze and excitation", f, f.pconv(f.mul(x, f.sigmoid(s)), 4), [6, 4, 6, 4])
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 4, 4), 8, zero_out=(1, 2), biased=True))
w = f.product_weights(128, (), 5, ())
expect("flattened", f, f.matmul(f.reshape(x, 1, 128), w), [6, 5])
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 4, 4), 8, zero_out=(1, 2)))
x = f.transpose(f.reshape(x, 1, 2, 4, 4, 4), perm=[0, 2, 1, 3, 4])
expect("shuffled", f, f.pconv(f.reshape(x, 1, 8, 4, 4), 4), [8, 4])
f = Pruned()
x = f.transpose(f.pconv(f.arg(1, 3, 4, 4), 8, zero_out=(1, 2)), perm=[0, 2, 3, 1])
x = f.layer_norm(x, f.rand(8), f.rand(8), axis=3, epsilon=1e-5, operandSegmentSizes=nn_numerics.Array([1, 1, 1], "i32"))
expect("normalized over channels", f, f.matmul(x, f.rand(8, 5)), [8, 4])
f = Pruned()
x = f.mul(f.pconv(f.arg(1, 3, 8, 8), 8), f.const(np.array([1, 0, 1, 1, 0, 1, 1, 1.0]).reshape(8, 1, 1)))
expect("a mask", f, f.pconv(f.add(x, f.rand(8, 1, 1)), 4, pad=0), [6, 4])
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=(1, 2), biased=True))
expect("one that is read with padding and without", f, [f.pconv(x, 4, pad=0), f.pconv(x, 4)], [8, 4, 4])
f = Pruned()
x = f.relu(f.pconv(f.arg(1, 3, 8, 8), 8, zero_out=range(8)))
expect("the last channel", f, f.pconv(x, 4), [1, 4])

# --- programs drawn at random ------------------------------------------------

ACTIVATIONS = ["relu", "hard_swish", "sigmoid", "tanh", "softplus"]


class Drawn(Pruned):
    """Draws a program of blocks. Each block reads results of earlier blocks."""

    def some(self, count):
        return [i for i in range(count) if self.random.random() < 0.3]

    def pick(self, values):
        return values[int(self.random.integers(len(values)))]

    def product(self, x, out, groups=1):
        k = self.pick([1, 3])
        return self.pconv(x, out, k, self.some(out), self.some(x.shape[1] // groups), self.random.random() < 0.5,
                          pad=0 if k == 1 else self.pick([1, 1, 1, 0]) if x.shape[2] > 3 else 1, groups=groups)

    def activate(self, x):
        return getattr(self, self.pick(ACTIVATIONS))(x) if self.random.random() < 0.7 else x

    def step(self, values):
        x = self.pick(values)
        c, size = x.shape[1], x.shape[2]
        kind = self.random.integers(14)
        if kind < 3:
            return self.activate(self.product(x, self.pick([4, 6, 8])))
        if kind == 3:
            return self.activate(self.product(x, c * self.pick([1, 1, 2]), groups=c))
        if kind == 4 and c % 2 == 0:
            return self.activate(self.product(x, self.pick([4, 6, 8]), groups=2))
        if kind in (5, 6):
            others = [v for v in values if v.shape == x.shape and v is not x]
            if not others:
                return None
            return getattr(self, self.pick(["add", "mul", "sub", "max"]))(x, self.pick(others))
        if kind in (7, 8):
            others = [v for v in values if v.shape[2:] == x.shape[2:]]
            return self.concat(x, self.pick(others), axis=1)
        if kind == 9 and c > 2:
            start = int(self.random.integers(c - 1))
            count = int(self.random.integers(1, c - start + 1))
            return self.slice(x, starts=[0, start, 0, 0], sizes=[1, count, size, size], steps=[1] * 4)
        if kind == 10 and size > 3:
            pool = self.pick(["max_pool", "avg_pool"])
            more = {"count_include_pad": True} if pool == "avg_pool" and self.random.random() < 0.5 else {}
            return getattr(self, pool)(x, kernel=[3, 3], strides=[2, 2], pads=[1] * 4, dilations=[1, 1], **more)
        if kind == 11:
            s = self.product(self.reduce(x, kind=1, axes=[2, 3], keep_dims=True), c)
            return self.mul(x, self.sigmoid(s))
        if kind == 12:
            constant = self.random.uniform(-1, 1, (c, 1, 1))
            constant[self.some(c)] = 0
            return getattr(self, self.pick(["mul", "add"]))(x, self.const(constant))
        if kind == 13:
            y = self.transpose(x, perm=[0, 2, 3, 1])
            if self.random.random() < 0.5:
                y = self.reshape(y, size * size, c)
            w = self.product_weights(c, self.some(c), c, self.some(c))
            y = self.matmul(y, self.const(w.data.T), self.rand(c))
            return self.transpose(self.reshape(y, 1, size, size, c), perm=[0, 3, 1, 2])
        return None


def draw(seed):
    f = Drawn(seed)
    values = [f.product(f.arg(1, 3, 6, 6), 8)]
    values.append(f.product(f.args[0], 8))
    for _ in range(int(f.random.integers(4, 16))):
        y = f.step(values)
        if y is not None and y.shape[1] <= 24:
            values.append(y)
    results = []
    for x in values[-2:]:
        if f.random.random() < 0.5:
            results.append(f.product(x, 4))
        elif f.random.random() < 0.5:
            flat = f.reshape(x, 1, int(np.prod(x.shape[1:])))
            results.append(f.matmul(flat, f.rand(flat.shape[1], 3)))
        else:
            results.append(f.activate(x))
    check(f"drawn {seed}", f, results, PRUNE, tolerance=3e-5)


first, _, count = os.environ.get("PRUNE_SEEDS", "0:25").partition(":")
for seed in range(int(first), int(first) + int(count)):
    draw(seed)
finish()
