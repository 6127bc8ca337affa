# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `x[:, 1:, 2:5] = v` as exporters write it: as ScatterND of expanded ranges. The new values are stored in
place."""
import numpy as np

from support import Case, NodeByNode, helper, make_model, tool


class Assignment(NodeByNode):
    """Assigns to a part of some data; dynamic dimensions are computed in the run."""

    def __init__(self, seed, shape, key, is_open):
        super().__init__(seed, 1)
        self.shape, self.key, self.is_open = shape, key, is_open
        self.wide = [d for d, part in enumerate(key) if isinstance(part, slice)]

    def constant(self, value):
        name = super().constant(value)
        self.constants[name] = np.asarray(value, np.int64)
        return name

    def range(self, dim):
        """Returns the positions of a sliced dimension."""
        part, size = self.key[dim], self.shape[dim]
        if not self.is_open:
            return self.constant(np.arange(size)[part])
        limit = self.node("Gather", self.node("Shape", "x"), self.constant(np.array(dim)), axis=0)
        positions = self.node("Range", self.constant(np.array(0)), limit, self.constant(np.array(1)))
        first, last, step = part.start or 0, part.stop or 2**62, part.step or 1
        bounds = [self.constant(np.array([n])) for n in (first, last, 0, step)]
        return self.node("Slice", positions, *bounds)

    def build(self):
        ranges = {d: self.range(d) for d in self.wide}
        columns, wide = [], self.wide
        for d, part in enumerate(self.key):
            if d in ranges:
                place = [1] * len(wide)
                place[wide.index(d)] = -1
                columns.append(self.node("Reshape", ranges[d], self.constant(np.array(place))))
            else:
                columns.append(self.constant(np.full([1] * len(wide), part)))
        total = columns[0]
        for column in columns[1:]:
            total = self.node("Add", total, column)
        space = self.node("Shape", total)
        one = self.constant(np.array([-1]))
        parts = [self.node("Unsqueeze", self.node("Expand", column, space), one) for column in columns]
        indices = self.node("Concat", *parts, axis=-1)
        twice = self.node("Add", "x", "x")
        y = self.node("ScatterND", twice, indices, "v")
        assigned = np.empty(self.shape)[self.key].shape
        names = [f"n{d}" if self.is_open else n for d, n in enumerate(self.shape)]
        return make_model(self.nodes, [("x", names), ("v", [f"m{d}" for d in range(len(assigned))]
                                                      if self.is_open else assigned)],
                          [(y, names)], self.constants)


KEYS = [((7,), (slice(2, 5),)), ((7, 3), (slice(1, None),)), ((6, 8), (slice(None), slice(0, None, 2))),
        ((2, 9, 7), (slice(None), slice(1, None), slice(2, 5))), ((2, 9, 7), (slice(None), 3)),
        ((2, 9, 7), (1, slice(None), 0)), ((3, 4, 5, 6), (slice(None), slice(1, 3), slice(None), slice(3, None, 2))),
        ((1, 3, 5, 4, 5), (slice(None), slice(None), slice(None), slice(None), slice(0, 2)))]


class AssignedSlices(Case):
    def check(self, is_open):
        for number, (shape, key) in enumerate(KEYS):
            with self.subTest(shape=shape, key=key):
                model = Assignment(number, shape, key, is_open).build()
                graph = self.compile(model, "--emit=mlir-graph", name="graph")
                with open(graph) as f:
                    text = f.read()
                self.assertIn("tensor.insert_slice", text)
                self.assertNotIn("nn.scatter_nd", text)
                rng = np.random.default_rng(number)
                x = rng.standard_normal(shape).astype(np.float32)
                v = rng.standard_normal(x[key].shape).astype(np.float32)
                self.assert_agrees(model, self.compile(model), {"x": x, "v": v})

    def test_fixed(self):
        self.check(is_open=False)

    def test_open(self):
        self.check(is_open=True)

    def test_elements(self):
        """ScatterElements along each axis, as the newer exporter writes x[:, 3] = v."""
        shape = (4, 5, 6)
        x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
        for axis in range(3):
            for positions in ([2], [-1], [1, 2, 3], [0, 2]):
                part = list(shape)
                part[axis] = len(positions)
                along = np.reshape(positions, [-1 if d == axis else 1 for d in range(3)])
                indices = np.broadcast_to(along, part).astype(np.int64).copy()
                model = make_model([helper.make_node("ScatterElements", ["x", "i", "v"], ["y"], axis=axis)],
                                   [("x", shape), ("v", part)], [("y", shape)], {"i": indices})
                v = np.random.default_rng(1).standard_normal(part).astype(np.float32)
                self.assert_agrees(model, self.compile(model), {"x": x, "v": v})

    def test_outside(self):
        """A known position in a dynamic dimension: the run reports where it is invalid."""
        indices = np.array([[3], [4]])
        model = make_model([helper.make_node("ScatterND", ["x", "i", "v"], ["y"], name="store")],
                           [("x", ["n", 2]), ("v", [2, 2])], [("y", ["n", 2])], {"i": indices})
        artifact = self.compile(model)
        v = np.ones((2, 2), np.float32)
        self.assert_agrees(model, artifact, {"x": np.zeros((5, 2), np.float32), "v": v})
        np.save(self.path("x.npy"), np.zeros((4, 2), np.float32))
        np.save(self.path("v.npy"), v)
        done = tool("ingot", "run", artifact, "--input", f"x={self.path('x.npy')}", "--input",
                    f"v={self.path('v.npy')}")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("node 'store': 'indices' has 4 for dimension 0, which has 4 elements", done.stderr)
