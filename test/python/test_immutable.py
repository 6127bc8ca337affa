"""Objects that describe or share something: no attribute of one can be set, added or deleted."""
import dataclasses

import numpy as np

import ingot
import ingot_compiler
from ingot import onnxruntime as ort
from support import Case, add_one

X = np.zeros((1, 4), np.float32)


class Attributes(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.result = ingot_compiler.compile_to(add_one(("n", 4)), cls.models + "/add.so", shape={"x": "(1:2:8)x4"})
        cls.model = ingot.load(cls.models + "/add.so")

    def check(self, value):
        names = [name for name in dir(value) if not name.startswith("_")]
        self.assertNotEqual(names, [])
        for name in [*names, "other"]:
            with self.subTest(f"{type(value).__name__}.{name}"):
                with self.assertRaises(AttributeError):
                    setattr(value, name, 3)
                with self.assertRaises(AttributeError):
                    delattr(value, name)

    def test_models(self):
        specs = self.model.inputs
        self.model.info, self.model.layers, self.model.sha256
        self.check(self.model)
        self.assertIs(self.model.inputs, specs)
        np.testing.assert_array_equal(self.model(X), X + 1)
        with self.assertRaisesRegex(AttributeError, "Model is immutable, so its attribute 'inputs' cannot be set"):
            self.model.inputs = 3

    def test_descriptions(self):
        spec, = self.model.inputs
        for value in (spec, spec.profiles[0][0], self.model.info, self.model.layers[0], self.model.infer({"x": (2, 4)})):
            self.check(value)
        self.model.metadata["ingot.precision"] = "none"
        self.assertNotEqual(self.model.metadata["ingot.precision"], "none")

    def test_what_a_run_uses(self):
        profile, pool = ingot.Profile(self.model), ingot.Pool(threads=1)
        self.model.run({"x": X}, profile=profile)
        with self.model.context(pool=pool) as context:
            for value in (profile, profile.run, pool, context):
                self.check(value)
            np.testing.assert_array_equal(context(X), X + 1)

    def test_results(self):
        steps = []
        ingot.compile(add_one(), self.at("a.so"), progress=steps.append)
        with self.assertRaises(ingot.CompileError) as caught:
            ingot.compile(b"text")
        session = ort.InferenceSession(self.model.path)
        values = [self.result, steps[0], *caught.exception.diagnostics, ingot.inspect(self.model), session.get_inputs()[0],
                  session.get_modelmeta()]
        for value in values:
            self.check(value)

    def test_every_class_of_results_is_frozen(self):
        from ingot_compiler import _results
        classes = [value for value in vars(_results).values() if isinstance(value, type) and dataclasses.is_dataclass(value)]
        self.assertGreater(len(classes), 10)
        for one in classes:
            self.assertTrue(one.__dataclass_params__.frozen, one)
