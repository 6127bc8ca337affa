"""ONNX Runtime's interface: ONNX's own node tests, and what programs use beside them."""
import threading
import warnings

import numpy as np
from onnx import TensorProto, numpy_helper
from onnx.backend.test.loader import load_model_tests

import ingot
from ingot import onnxruntime as ort
from support import Case, add_one

X = np.arange(4, dtype=np.float32).reshape(1, 4)
# Every so many of ONNX's node tests. `make conformance` runs all of them.
EVERY = 90
# Tests whose inputs or outputs are sequences or optionals, and operators that Ingot refuses.
LEFT_OUT = ("sequence", "optional", "loop16", "identity_opt", "strings", "string_", "image_decoder", "training", "adam",
            "momentum", "adagrad", "gradient", "regex", "if_seq", "if_opt")


class Sessions(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.session = ort.InferenceSession(add_one(("batch", 4)).SerializeToString())

    def test_descriptions(self):
        self.assertEqual(self.session.get_inputs(), [ort.NodeArg("x", "tensor(float)", ["batch", 4])])
        self.assertEqual(self.session.get_outputs()[0].name, "y")
        self.assertEqual(self.session.get_modelmeta().graph_name, "model")
        self.assertEqual(self.session.get_providers(), ort.get_available_providers())

    def test_runs(self):
        for names in (None, [], ["y"]):
            np.testing.assert_array_equal(self.session.run(names, {"x": X})[0], X + 1)
        wide = np.ones((2, 8), np.float32)
        np.testing.assert_array_equal(self.session.run(None, {"x": wide[:, ::2]})[0], wide[:, ::2] + 1)
        self.assert_fails(ValueError, "expected the outputs 'y', but got 'z'", self.session.run, ["z"], {"x": X})
        self.assert_fails(ValueError, "expected the inputs 'x', but got 'z'", self.session.run, None, {"z": X})

    def test_a_compiled_model(self):
        ingot.compile(add_one(), self.at("model.so"))
        options = ort.SessionOptions()
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
        session = ort.InferenceSession(self.at("model.so"), options, providers=["CPUExecutionProvider"])
        np.testing.assert_array_equal(session.run(None, {"x": X})[0], X + 1)

    def test_bindings(self):
        binding = self.session.io_binding()
        binding.bind_cpu_input("x", X)
        binding.bind_output("y")
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(binding.copy_outputs_to_cpu()[0], X + 1)
        y = np.zeros((1, 4), np.float32)
        binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(y))
        self.session.run_with_iobinding(binding)
        np.testing.assert_array_equal(y, X + 1)
        self.assertIs(binding.get_outputs()[0].numpy(), y)

    def test_callbacks(self):
        done, results = threading.Event(), []

        def callback(*args):
            results.append(args)
            done.set()

        self.session.run_async(None, {"x": X}, callback, 7)
        self.assertTrue(done.wait(60))
        self.assertEqual(results[0][1:], (7, ""))
        np.testing.assert_array_equal(results[0][0][0], X + 1)

    def test_what_is_missing_says_so(self):
        missing = [
            ("CUDAExecutionProvider", lambda: ort.InferenceSession("m.onnx", providers=["CUDAExecutionProvider"])),
            ("InferenceSession.end_profiling", lambda: self.session.end_profiling()),
            ("SessionOptions.enable_profiling", lambda: setattr(ort.SessionOptions(), "enable_profiling", True)),
            ("SessionOptions.register_custom_ops_library", lambda: ort.SessionOptions().register_custom_ops_library("a")),
            ("run_options", lambda: self.session.run(None, {"x": X}, run_options=1)),
            ("quantization", lambda: ort.quantization),
            ("the device 'cuda'", lambda: ort.OrtValue.ortvalue_from_numpy(X, "cuda")),
        ]
        for name, function in missing:
            with self.subTest(name):
                self.assert_fails(NotImplementedError, name, function)


def array(value):
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


class NodeTests(Case):
    def check(self, result, expected):
        self.assertEqual((result.dtype, result.shape), (expected.dtype, expected.shape))
        if expected.dtype == object:
            np.testing.assert_array_equal(result, expected)
        else:
            np.testing.assert_allclose(result.astype(np.float64), expected.astype(np.float64), rtol=1e-3, atol=1e-5)

    def test_nodes(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # The tests overflow and divide by zero on purpose.
            tests = load_model_tests(kind="node")
        chosen = [t for t in sorted(tests, key=lambda t: t.name) if not any(part in t.name for part in LEFT_OUT)][::EVERY]
        self.assertGreater(len(chosen), 15)
        for test in chosen:
            with self.subTest(test.name):
                session = ort.InferenceSession(test.model.SerializeToString())
                names = [arg.name for arg in session.get_inputs()]
                for inputs, outputs in test.data_sets:
                    results = session.run(None, dict(zip(names, map(array, inputs))))
                    for result, expected in zip(results, map(array, outputs)):
                        self.check(result, expected)
