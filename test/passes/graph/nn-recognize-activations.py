# RUN: %python %s
# Activations that exporters write as several ops.
import math
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "Inputs"))
from nn_numerics import Array, Function, check, finish

KNOW = ["--nn-recognize-activations"]
half, one, root = (lambda f: f.const(0.5)), (lambda f: f.const(1.0)), math.sqrt(2)
GELU = {
    "divided, PyTorch": lambda f, x: f.mul(f.mul(x, f.add(f.erf(f.div(x, f.const(root))), one(f))), half(f)),
    "half first": lambda f, x: f.mul(f.mul(x, half(f)), f.add(one(f), f.erf(f.mul(x, f.const(1 / root))))),
    "half on the gate": lambda f, x: f.mul(x, f.mul(half(f), f.add(f.erf(f.div(x, f.const(root))), one(f)))),
    "divided by two": lambda f, x: f.div(f.mul(x, f.add(f.erf(f.div(x, f.const(root))), one(f))), f.const(2.0)),
}
k, c = math.sqrt(2 / math.pi), 0.044715
TANH = {
    "power": lambda f, x: f.mul(k, f.add(x, f.mul(f.const(c), f.pow(x, f.const(3.0))))),
    "products": lambda f, x: f.mul(k, f.add(x, f.mul(f.const(c), f.mul(f.mul(x, x), x)))),
    "factored": lambda f, x: f.mul(f.mul(x, k), f.add(f.mul(f.mul(x, f.const(c)), x), one(f))),
}
for name, make in GELU.items():
    f = Function()
    x = f.arg(4, 33)
    check(f"gelu, {name}", f, make(f, x), KNOW, {"gelu": 1})
for name, make in TANH.items():
    f = Function()
    x = f.arg(4, 33)
    k = f.const(math.sqrt(2 / math.pi))
    y = f.mul(f.mul(half(f), x), f.add(f.tanh(make(f, x)), one(f)))
    check(f"gelu with tanh, {name}", f, y, KNOW, {"gelu": 1})

f = Function()
x = f.arg(4, 33)
check("swish", f, f.mul(f.sigmoid(x), x), KNOW, {"swish": 1})
f = Function()
x = f.arg(4, 33)
check("swish with a factor", f, f.mul(x, f.sigmoid(f.mul(x, f.const(1.702)))), KNOW, {"swish": 1})

clip = lambda f, x: f.clamp(f.add(x, f.const(3.0)), min=0.0, max=6.0)
HARD = {
    "divided last": lambda f, x: f.div(f.mul(x, clip(f, x)), f.const(6.0)),
    "divided first": lambda f, x: f.mul(x, f.div(clip(f, x), f.const(6.0))),
    "multiplied": lambda f, x: f.mul(f.mul(clip(f, x), f.const(1 / 6)), x),
    "hard sigmoid": lambda f, x: f.mul(x, f.hard_sigmoid(x, alpha=1 / 6, beta=0.5)),
}
for name, make in HARD.items():
    f = Function()
    x = f.arg(4, 33)
    check(f"hard swish, {name}", f, make(f, x), KNOW, {"hard_swish": 1})
f = Function()
x = f.arg(4, 33)
check("hard sigmoid", f, f.div(clip(f, x), f.const(6.0)), KNOW, {"hard_sigmoid": 1})

# Almost an activation: must not fire.
f = Function()
x, z = f.arg(4, 33), f.arg(4, 33)
check("gate of something else", f, f.mul(x, f.sigmoid(z)), KNOW, {"mul": 1, "sigmoid": 1})
f = Function()
x = f.arg(4, 33)
y = f.mul(f.mul(x, f.add(f.erf(f.div(x, f.const(1.5))), one(f))), half(f))
check("other constant", f, y, KNOW, {"add": 1, "div": 1, "erf": 1, "mul": 2})
f = Function()
x = f.arg(4, 33)
y = f.mul(x, f.div(f.clamp(f.add(x, f.const(3.0)), min=0.0, max=5.0), f.const(6.0)))
check("other bound", f, y, KNOW, {"add": 1, "clamp": 1, "div": 1, "mul": 1})

finish()
