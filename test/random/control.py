"""Draws If, Loop and Scan. Their bodies are random graphs, which may read outer values and have bodies themselves."""
import contextlib
import dataclasses
import math

import numpy as np
from onnx import helper

from graph import (BOOL, FLOATS, I64, LARGEST, TYPES, Num, Value, allowed, elements, family_of, fixed, is_fixed,
                   rounding)
from shrink import outer_names

FAMILY, family = family_of()

MOST_DEEP = 2
MOST_ELEMENTS = 1500  # limit on a state
# Factor by which results of two implementations may differ more after a few steps than after one.
SPREAD = 50


class Body:
    """Builds a subgraph: nodes that are added while it is entered belong to it. Entering returns a function that lists
    the new values."""

    def __init__(self, g, stem):
        self.g, self.name, self.arguments = g, g.name(stem), []

    @contextlib.contextmanager
    def entered(self, *arguments):
        g = self.g
        around = g.nodes, g.initializers, g.values, g.unshaped
        g.nodes, g.initializers, g.values, g.unshaped = [], [], [*g.values, *arguments], []
        self.arguments, before = arguments, {id(v) for v in (*g.values, *g.inputs)}
        g.depth += 1
        try:
            yield lambda: [v for v in g.values if id(v) not in before]
        finally:
            g.depth -= 1
            self.nodes, self.initializers = g.nodes, g.initializers
            g.nodes, g.initializers, g.values, g.unshaped = around

    def graph(self, results):
        """Makes the graph; `results` are the outputs of the body. If sizes are fixed, unread nodes stay. If sizes are
        dynamic, unread nodes are removed: peers report contradicting sizes in them, which Ingot may ignore."""
        if self.g.is_open:
            self.nodes = read_by(self.nodes, {v.name for v in results})
        names = []
        for value in results:
            names.append(self.g.name("r"))
            self.nodes.append(helper.make_node("Identity", [value.name], [names[-1]], name=f"n_{names[-1]}"))
        def info(name, value):
            return helper.make_tensor_value_info(name, TYPES[value.dtype],
                                                 [d[0] if is_fixed(d) else None for d in value.shape])
        return helper.make_graph(self.nodes, self.name, [info(v.name, v) for v in self.arguments],
                                 [info(n, v) for n, v in zip(names, results)], self.initializers)


def read_by(nodes, names):
    """Returns the nodes that the values `names` need."""
    kept = []
    for node in reversed(nodes):
        if any(o in names for o in node.output):
            kept.insert(0, node)
            names |= {*node.input, *outer_names(node)}
    return kept


def grow(g):
    for _ in range(g.one(1, 1, 2, 2, 3, 5)):
        g.more(g)


def like(g, x, values, fits=lambda v: True):
    """Returns one of `values` with the type and shape of x, or a new value made of x."""
    found = [v for v in values if v.dtype == x.dtype and v.shape == x.shape and g.is_usable(v) and fits(v)]
    if found:
        return found[-1]
    op = g.one(*(o for o in ("Abs", "Neg", "Relu", "Identity") if x.dtype in allowed(o)
                 and (o != "Neg" or x.dtype.kind != "u")))
    low, high = x.num.low, x.num.high
    size = max(abs(low), abs(high))
    low, high = {"Abs": (0, size), "Neg": (-high, -low), "Relu": (max(low, 0), max(high, 0))}.get(op, (low, high))
    return g.node(op, [x], [(x.dtype, x.shape, dataclasses.replace(x.num, low=low, high=high))]) or x


def is_one(value):
    return set(elements(value.shape)) == {1} and value.rank <= 1


def condition(g):
    if g.chance(0.15):
        return g.constant(np.array(g.chance(0.5)))
    x = g.pick(lambda v: v.rank and v.constant is None) if g.chance(0.3) else None
    if x:  # a condition that depends on sizes
        size = g.node("Size", [x], [(I64, (), Num(min(elements(x.shape)), max(elements(x.shape))))])
        return g.node("Greater", [size, g.constant(np.array(g.between(0, 40)))], [(BOOL, (), Num(0, 1))])
    return g.pick(is_one, types={BOOL}, make=lambda: g.input(BOOL, ()))


@family(9)
def branches(g):
    if g.depth >= MOST_DEEP:
        return None
    given = condition(g)
    x = g.pick(make=lambda: g.input())
    others = [g.pick() for _ in range(g.one(0, 0, 1))]
    wanted = [v for v in [x, *others] if v and g.is_usable(v)]
    if not given or not wanted:
        return None
    graphs, results = [], []
    for side in ("then", "else"):
        body = Body(g, side)
        with body.entered() as own:
            grow(g)
            results.append([like(g, v, own()) for v in wanted])
        graphs.append(body.graph(results[-1]))
    def both(a, b):
        grain = None if None in (a.grain, b.grain) else max(a.grain, b.grain)
        return Num(min(a.low, b.low), max(a.high, b.high), grain, max(a.error, b.error))
    return g.node("If", [given], [(a.dtype, a.shape, both(a.num, b.num)) for a, b in zip(*results)],
                  then_branch=graphs[0], else_branch=graphs[1])


def trips(g):
    """Returns (operand with the number of steps, number of steps in each set)."""
    x = g.pick(lambda v: any(0 < max(d) <= 9 for d in v.shape)) if g.chance(0.4) else None
    if x:
        axis = g.one(*(i for i, d in enumerate(x.shape) if 0 < max(d) <= 9))
        shape = g.node("Shape", [x], [(I64, (fixed(x.rank),), Num(0, 100))])
        count = shape and g.node("Gather", [shape, g.constant(np.array(axis))], [(I64, (), Num(0, max(x.shape[axis])))])
        if count:
            return count, x.shape[axis]
    n = g.one(0, 1, 1, 2, 3, 4, 7)
    if g.chance(0.5):
        return g.constant(np.array(n)), fixed(n)
    return g.input(I64, (), Num(n, n)), fixed(n)


def state_of(g):
    """Returns an initial value, or None, and what is known of it in each step."""
    x = g.pick(lambda v: max(elements(v.shape)) <= MOST_ELEMENTS and v.dtype != BOOL, types=allowed("Clip"),
               make=lambda: g.input(g.favourite))
    if max(elements(x.shape)) > MOST_ELEMENTS or x.dtype not in allowed("Clip") or x.num.size > LARGEST.get(x.dtype, 1e3):
        return None
    low = min(x.num.low, 0 if x.dtype.kind == "u" else -2.0)
    num = Num(math.floor(low), math.ceil(max(x.num.high, 2.0)), x.num.grain, x.num.error)
    if x.dtype in FLOATS and (g.chance(0.6) or not num.exact):
        num.grain, num.error = None, num.error + 4 * rounding(x.dtype) * num.size
    return x, Value(g.name("s"), x.dtype, x.shape, num)


def step(g, x, own):
    """Returns the next state, within its range."""
    def fits(v):
        return not x.num.exact or v.num.exact and v.num.grain <= x.num.grain and v.num.error <= x.num.error
    found = like(g, x, own, fits)
    low, high = (float(b) if x.dtype in FLOATS else int(b) for b in (x.num.low, x.num.high))
    return g.bounded(found, low, high) or x


def spread(num):
    return num if num.exact else dataclasses.replace(num, error=SPREAD * num.error)


def stacked(g, own, counts, axis_of=lambda rank: 0):
    """Returns [(value, its axis)] for up to two values of a body whose steps are all kept."""
    found = [v for v in own if v.rank < 5 and v.dtype in TYPES and v.constant is None and g.is_usable(v)
             and max(elements(v.shape)) * max(counts) <= 8000 and (min(counts) or all(is_fixed(d) for d in v.shape))]
    return [(v, axis_of(v.rank)) for v in found[-g.one(1, 1, 2):]] if found and g.chance(0.7) else []


def with_axis(shape, axis, counts):
    shape = list(shape)
    shape.insert(axis, tuple(counts))
    return shape


@family(8)
def loop(g):
    if g.depth >= MOST_DEEP:
        return None
    count, counts = trips(g)
    pairs = [p for p in (state_of(g) for _ in range(g.one(1, 1, 2))) if p]
    if not pairs or not count:
        return None
    starts, states = zip(*pairs)
    number = Value(g.name("i"), I64, (), Num(0, max(*counts, 1)))
    goes_on = Value(g.name("c"), BOOL, (), Num(1, 1))
    last = g.between(0, 5) if g.chance(0.3) else None
    body = Body(g, "loop")
    with body.entered(number, goes_on, *states) as own:
        grow(g)
        after = [step(g, s, own()) for s in states]
        if last is None:
            ends = goes_on
        else:
            ends = g.node("Less", [number, g.constant(np.array(last))], [(BOOL, (), Num(0, 1))])
            counts = tuple(min(c, last + 1) for c in counts)
        kept = stacked(g, own(), counts)
    graph = body.graph([ends, *after, *(v for v, _ in kept)])
    given = g.one(None, g.constant(np.array(True)))
    results = [(s.dtype, s.shape, spread(s.num)) for s in states]
    results += [(v.dtype, with_axis(v.shape, 0, counts), spread(v.num)) for v, _ in kept]
    return g.node("Loop", [count, given, *starts], results, body=graph)


@family(6)
def scan(g):
    x = g.depth < MOST_DEEP and g.pick(lambda v: v.rank and max(elements(v.shape)) <= 4 * MOST_ELEMENTS and
                                       any(0 < min(d) and max(d) <= 12 for d in v.shape))
    pair = x and state_of(g)
    if not pair:
        return None
    axis = g.one(*(i for i, d in enumerate(x.shape) if 0 < min(d) and max(d) <= 12))
    start, state = pair
    counts = x.shape[axis]
    row = Value(g.name("t"), x.dtype, x.shape[:axis] + x.shape[axis + 1:], x.num)
    body = Body(g, "scan")
    with body.entered(state, row) as own:
        grow(g)
        after = step(g, state, own())
        kept = stacked(g, own(), counts, lambda rank: g.between(0, rank))
    attributes = {"num_scan_inputs": 1}
    if axis or g.chance(0.3):
        attributes["scan_input_axes"] = [axis - g.one(0, x.rank)]
    if g.chance(0.3):
        attributes["scan_input_directions"] = [1]
    if kept and (any(a for _, a in kept) or g.chance(0.3)):
        attributes["scan_output_axes"] = [a for _, a in kept]
    if kept and g.chance(0.3):
        attributes["scan_output_directions"] = [g.between(0, 1) for _ in kept]
    results = [(start.dtype, start.shape, spread(state.num))]
    results += [(v.dtype, with_axis(v.shape, a, counts), spread(v.num)) for v, a in kept]
    return g.node("Scan", [start, x], results, body=body.graph([after, *(v for v, _ in kept)]), **attributes)
