"""Networks with channels of zeros: what vanishes, and that what is computed stays."""
import json

import families

from support import Case, helper, make_model, np, numpy_helper, tool

PRODUCTS = {"Conv": 0, "ConvTranspose": 1, "MatMul": 1, "Gemm": 1}


def zero_channels(model, wanted, constants):
    """Sets outputs of products by weights to zero, of each those of the numbers wanted(outputs). The normalization or bias
    behind makes another number of them where `constants` is true."""
    model = type(model).FromString(model.SerializeToString())
    tensors = {t.name: t for t in model.graph.initializer}
    made = {}

    def change(name, axis, values=0):
        tensor = tensors.get(name)
        if tensor is None:
            return None
        data = numpy_helper.to_array(tensor).copy()
        channels = wanted(data.shape[axis])
        np.moveaxis(data, axis, 0)[channels] = values
        tensor.CopyFrom(numpy_helper.from_array(data, name))
        return len(channels)

    for node in model.graph.node:
        if node.op_type in PRODUCTS and len(node.input) > 1:
            transposed = any(a.name == "transB" and a.i for a in node.attribute)
            made[node.output[0]] = change(node.input[1], 0 if transposed else PRODUCTS[node.op_type])
            if len(node.input) > 2 and not constants:
                change(node.input[2], 0)
        elif node.op_type == "BatchNormalization" and made.get(node.input[0]) and not constants:
            change(node.input[2], 0)
            change(node.input[3], 0)
    return model


class Pruned(Case):
    """Model families, of whose channels a quarter is zero, the same of tensors of one width."""

    def removed(self, artifact):
        metadata = json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["metadata"]
        return int(metadata.get("ingot.channels_removed", 0))

    def weights(self, artifact):
        return json.loads(tool("ingot", "inspect", "--json", artifact).stdout)["weights_bytes"]


def every_fourth(outputs):
    return list(range(1, outputs, 4)) if outputs > 10 else []


def family_test(name, least, *options, constants=False):
    def test(self):
        dense, runs = families.ALL[name]()
        model = zero_channels(dense, every_fourth, constants)
        artifact = self.compile(model, *options)
        for inputs in runs:
            self.assert_agrees(model, artifact, inputs)
        removed = self.removed(artifact)
        self.assertGreaterEqual(removed, least)
        if least:
            self.assertLess(self.weights(artifact), self.weights(self.compile(dense, *options, name="dense")))
        text = tool("ingot", "inspect", artifact).stdout
        self.assertEqual(f"pruned    {removed} of " in text, removed > 0, text)
    return test


for _name, _least in LEAST.items():
    setattr(Pruned, f"test_{_name}", family_test(_name, _least))
    setattr(Pruned, f"test_{_name}_constants", family_test(_name, 0, constants=True))
