"""Tests networks with channels of zeros: these channels are removed, and results do not change."""
import json

import families

from support import Case, helper, make_model, np, numpy_helper, tool

# For each operator, the dimension of its weights that numbers the outputs.
PRODUCTS = {"Conv": 0, "ConvTranspose": 1, "MatMul": 1, "Gemm": 1}


def every_fourth(outputs):
    """Returns equal channels for all tensors of one width, because residual sums need them."""
    return list(range(1, outputs, 4)) if outputs > 10 else []


def zero_channels(model, constants):
    """Sets every fourth output of products by weights to zero. If `constants` is true, the following normalization or
    bias makes another constant of it."""
    model = type(model).FromString(model.SerializeToString())
    tensors = {t.name: t for t in model.graph.initializer}
    zeroed = set()

    def change(name, axis):
        tensor = tensors.get(name)
        if tensor is None:
            return
        data = numpy_helper.to_array(tensor).copy()
        np.moveaxis(data, axis, 0)[every_fourth(data.shape[axis])] = 0
        tensor.CopyFrom(numpy_helper.from_array(data, name))

    for node in model.graph.node:
        if node.op_type in PRODUCTS:
            transposed = any(a.name == "transB" and a.i for a in node.attribute)
            change(node.input[1], 0 if transposed else PRODUCTS[node.op_type])
            zeroed.add(node.output[0])
            if len(node.input) > 2 and not constants:
                change(node.input[2], 0)
        elif node.op_type == "BatchNormalization" and node.input[0] in zeroed and not constants:
            change(node.input[2], 0)
            change(node.input[3], 0)
    return model


class Pruned(Case):
    """Model families with a quarter of the channels zero, and then with other constants."""

    def inspect(self, artifact):
        return json.loads(tool("ingot", "inspect", "--json", artifact).stdout)

    def removed(self, artifact):
        return int(self.inspect(artifact)["metadata"].get("ingot.channels_removed", 0))

    def test_another_model_says_nothing(self):
        model, _ = families.ALL["mlp_dynamic"]()
        artifact = self.compile(model)
        self.assertEqual([key for key in self.inspect(artifact)["metadata"] if "removed" in key or "zero" in key], [])
        self.assertNotIn("pruned", tool("ingot", "inspect", artifact).stdout)

    def test_fixed_sizes(self):
        dense, runs = families.ALL["cnn_dynamic"]()
        model = zero_channels(dense, constants=True)
        artifact = self.compile(model, "--dim", "batch=2")
        self.assert_agrees(model, artifact, runs[1])
        self.assertGreaterEqual(self.removed(artifact), 4)

    def test_usual_sizes(self):
        """A body for usual sizes removes these channels, too: both bodies read the same weights."""
        dense, runs = families.ALL["mlp_dynamic"]()
        model = zero_channels(dense, constants=True)
        width = runs[0]["input"].shape[1]
        artifact = self.compile(model, "--shape", f"input=(1:3:64)x{width}")
        for inputs in runs:
            self.assert_agrees(model, artifact, inputs)
        general = self.compile(model, name="general")
        self.assertEqual(self.removed(artifact), self.removed(general))
        self.assertLess(self.inspect(artifact)["weights_bytes"], 1.2 * self.inspect(general)["weights_bytes"])

    def test_zeros_and_remarks(self):
        """Remaining weights of zeros are counted, and --remarks reports both kinds by node."""
        rng = np.random.default_rng(0)
        w = rng.standard_normal((16, 8)).astype(np.float32)
        w[rng.random(w.shape) < 0.5] = 0
        v = rng.standard_normal((8, 4)).astype(np.float32)
        w[:, 3] = 0
        v[5] = 0
        nodes = [helper.make_node("MatMul", ["x", "w"], ["h"], name="first"),
                 helper.make_node("Relu", ["h"], ["a"], name="act"),
                 helper.make_node("MatMul", ["a", "v"], ["y"], name="second")]
        model = make_model(nodes, [("x", ["n", 16])], [("y", ["n", 4])], {"w": w, "v": v})
        source, artifact = self.save(model), self.path("model.so")
        done = tool("ingot", "compile", source, "-o", artifact, "--remarks")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("node 'first': 2 of its 8 output channels vanish", done.stderr)
        zeros = int((np.delete(w, [3, 5], 1) == 0).sum())
        self.assertIn(f"node 'first': {zeros} of its 96 weights are zero", done.stderr)
        text = tool("ingot", "inspect", artifact).stdout
        self.assertIn("pruned    2 of 12 channels, weights from 640 bytes to 480 bytes as floats", text)
        self.assertIn(f"zeros     {100 * zeros / 120:.1f} % of 120 weights", text)
        self.assert_agrees(model, artifact, {"x": rng.standard_normal((3, 16)).astype(np.float32)})


def family_test(name, least, constants):
    def test(self):
        dense, runs = families.ALL[name]()
        model = zero_channels(dense, constants)
        artifact = self.compile(model)
        for inputs in runs:
            self.assert_agrees(model, artifact, inputs)
        self.assertGreaterEqual(self.removed(artifact), least)
        if not constants:
            whole = self.inspect(self.compile(dense, name="dense"))["weights_bytes"]
            self.assertLess(self.inspect(artifact)["weights_bytes"], whole)
    return test


# The least number of removed channels: if they are zero, and if they have another constant. Channels of other constants
# stay where pads are.
LEAST = {"resnet": (68, 64), "repvgg": (22, 10), "diverse_branch": (7, 6), "mobilenet_v2": (40, 40),
         "efficientnet": (8, 8), "densenet": (5, 5), "db_head": (18, 18), "detector": (8, 4), "cnn_dynamic": (4, 4),
         "vit": (48, 48), "speech_gru": (8, 8), "mlp_dynamic": (12, 12)}
for _name, (_zeros, _numbers) in LEAST.items():
    setattr(Pruned, f"test_{_name}", family_test(_name, _zeros, constants=False))
    setattr(Pruned, f"test_{_name}_numbers", family_test(_name, _numbers, constants=True))
