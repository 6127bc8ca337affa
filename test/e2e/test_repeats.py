# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that operations which a model repeats for each class are compiled once."""
import re

from support import Case, NodeByNode, TensorProto, helper, make_model, np, tool

CLASSES = 30


def detector(classes=CLASSES, kept=4):
    """A detector as exported: for each class the best scores above a threshold, and their boxes."""
    net = NodeByNode(3, 1)

    def number(value):
        net.constants[f"i{len(net.constants)}"] = np.array(value, np.int64)
        return f"i{len(net.constants) - 1}"

    threshold, most, second = net.constant(0.25), number([kept]), number([1])
    ends = {"best": [], "found": [], "labels": [], "asked": []}
    for c in range(classes):
        label = number([c])
        scores = net.node("Squeeze", net.node("Gather", "scores", label, axis=1), second)
        where = net.node("Transpose", net.node("NonZero", net.node("Greater", scores, threshold)), perm=[1, 0])
        above = net.node("GatherND", scores, where)
        count = net.node("Min", net.node("Shape", above), most)
        net.nodes.append(helper.make_node("TopK", [above, count], [f"best{c}", f"order{c}"], name=f"best of {c}"))
        places = net.node("Gather", where, f"order{c}")
        net.nodes.append(helper.make_node("Gather", [scores, net.node("Gather", "wanted", label)], [f"asked{c}"],
                                          name=f"asked of {c}"))
        for name, part in (("best", f"best{c}"), ("found", net.node("GatherND", "boxes", places)),
                           ("labels", net.node("Expand", label, count)), ("asked", f"asked{c}")):
            ends[name].append(part)
    for name, parts in ends.items():
        net.nodes.append(helper.make_node("Concat", parts, [name], axis=0))
    return make_model(net.nodes, [("scores", ["n", classes]), ("boxes", ["n", 4]), ("wanted", [classes], TensorProto.INT64)],
                      [("best", ["m"]), ("found", ["m", 4]), ("labels", ["m"], TensorProto.INT64), ("asked", [classes])],
                      net.constants)


def inputs(rows, wanted=0):
    rng = np.random.default_rng(rows)
    return {"scores": rng.random((rows, CLASSES)).astype(np.float32) ** 3,
            "boxes": rng.random((rows, 4)).astype(np.float32), "wanted": np.full(CLASSES, wanted)}


class Repeats(Case):
    def test_agrees(self):
        model = detector()
        for target in ("x86-64-v3", "native"):
            artifact = self.compile(model, f"--target={target}")
            for rows in (1, 7, 100):
                self.assert_agrees(model, artifact, inputs(rows))

    def test_shared(self):
        """All classes call one code with the index of the class; nothing is copied for it."""
        with open(self.compile(detector(), "--emit=mlir-kernels", name="kernels")) as f:
            text = f.read()
        calls = re.findall(r"call @(forward_repeat_\d+)\(", text)
        self.assertGreaterEqual(max(calls.count(name) for name in calls), CLASSES - 2, calls)
        self.assertLess(text.count("cpu.launch"), 10 * CLASSES)
        with open(self.compile(detector(), "--emit=mlir-memory", name="memory")) as f:
            self.assertEqual(re.findall(r"ins\((%\w+) : [^)]*\) outs\(\1 :.*", f.read()), [])

    def test_messages(self):
        """A failing check names its node."""
        artifact = self.compile(detector())
        for wrong in (0, 11, CLASSES - 1):
            given = inputs(5)
            given["wanted"][wrong] = 5
            arguments = []
            for name, value in given.items():
                np.save(self.path(name + ".npy"), value)
                arguments += ["--input", f"{name}={self.path(name)}.npy"]
            self.assert_one_line(tool("ingot", "run", artifact, *arguments), f"'asked of {wrong}'", "outside")
