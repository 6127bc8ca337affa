"""Weights in the artifact have the bits that the model stores.

The importer's own sweep is test/compiler/import/weights.py."""
import importlib.util
import os
import unittest

import numpy as np
import onnx
from onnx import TensorProto

from support import ROOT, Case, helper, make_model, numpy_helper

SPEC = importlib.util.spec_from_file_location("weights", os.path.join(ROOT, "test/compiler/import/weights.py"))
weights = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(weights)

# Types of an artifact's outputs.
KINDS = {"FLOAT": np.float32, "DOUBLE": np.float64, "FLOAT16": np.float16, "BOOL": np.bool_, "INT8": np.int8,
         "INT16": np.int16, "INT32": np.int32, "INT64": np.int64, "UINT8": np.uint8, "UINT16": np.uint16,
         "UINT32": np.uint32, "UINT64": np.uint64}


class Model(weights.Model):
    """Records the stored values."""

    def kinds(self):
        return list(KINDS)

    def expect(self, kind, rows, shape=None):
        self.stored[kind] = np.frombuffer(rows.tobytes(), KINDS[kind]).reshape(self.shape)


class Stored(Case):
    """Outputs a tensor of each type, stored in one of the ways that ONNX allows."""
    sanitize = True

    def check(self, place, way, opset=weights.NEWEST, count=20000):
        weights.OUT = self.dir
        Model.stored = {}
        model = Model(place, way, opset, count).build()
        for options in ((), ("--weights=file",)):
            got = self.run_model(self.compile(model.path, *options, name="model"), {})
            self.assertEqual(sorted(got), sorted(KINDS))
            for kind, want in model.stored.items():
                self.assertEqual((got[kind].dtype, got[kind].shape), (want.dtype, want.shape), kind)
                self.assertEqual(got[kind].tobytes(), want.tobytes(), kind)

    def test_raw_stated(self):
        self.check("initializer", "raw-stated")

    def test_typed_stated(self):
        self.check("constant", "typed-stated")

    def test_old_typed(self):
        self.check("initializer", "typed", opset=7)

    def test_external(self):
        self.check("initializer", "external", opset=13)

    def test_sparse(self):
        self.check("sparse_initializer", "linear/raw")

    def test_sparse_constant(self):
        self.check("constant", "grid/typed")

    def test_function_default(self):
        self.check("function_default", "raw")


class Used(Case):
    """Weights that ops use, not only outputs."""

    def test_loaded_and_saved_again(self):
        """The form that onnx writes for a model that had external data, with an explicit location."""
        weight = np.random.default_rng(5).standard_normal(20000).astype(np.float32)
        model = make_model([helper.make_node("Add", ["x", "w"], ["y"])], [("x", [20000])], [("y", [20000])],
                           {"w": weight})
        onnx.save(model, self.path("big.onnx"), save_as_external_data=True, location="big.data", size_threshold=0)
        again = onnx.load(self.path("big.onnx"))
        self.assertEqual(again.graph.initializer[0].data_location, TensorProto.DEFAULT)
        self.assertTrue(again.graph.initializer[0].HasField("data_location"))
        self.assert_agrees(again, self.compile(again), {"x": np.zeros(20000, np.float32)}, 0)

    def test_branches(self):
        """Initializers of branches, with explicit locations, in an old operator set."""
        rng = np.random.default_rng(6)
        def branch(name):
            tensor = numpy_helper.from_array(rng.standard_normal(5000).astype(np.float32), name + "_w")
            tensor.data_location = TensorProto.DEFAULT
            return helper.make_graph([helper.make_node("Add", ["x", name + "_w"], [name])], name, [],
                                     [helper.make_tensor_value_info(name, TensorProto.FLOAT, [5000])], [tensor])
        node = helper.make_node("If", ["c"], ["y"], then_branch=branch("a"), else_branch=branch("b"))
        for condition in (True, False):
            model = make_model([node], [("x", [5000])], [("y", [5000])], {"c": np.array(condition)}, opset=11)
            self.assert_agrees(model, self.compile(model), {"x": np.ones(5000, np.float32)}, 0)


if __name__ == "__main__":
    unittest.main()
