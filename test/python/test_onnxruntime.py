"""ONNX Runtime's interface. The part `conformance` of run.py runs ONNX's backend tests through it."""
import threading

import numpy as np
from onnx import TensorProto, helper

import ingot
from ingot import onnxruntime as ort
from support import Case, add_one, make, node

X = np.arange(4, dtype=np.float32).reshape(1, 4)


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

    def test_options_of_the_compiler(self):
        options = ort.SessionOptions()
        options.add_session_config_entry("ingot.shape", "x=8x4")
        self.assertEqual(options.get_session_config_entry("ingot.shape"), "x=8x4")
        session = ort.InferenceSession(add_one(("batch", 4)).SerializeToString(), options)
        self.assertEqual(session.get_inputs()[0].shape, [8, 4])
        self.assert_fails(ValueError, "no session config entry 'ingot.a' was added", options.get_session_config_entry,
                          "ingot.a")
        wrong = ort.SessionOptions()
        wrong.add_session_config_entry("ingot.speed", "1")
        self.assert_fails(ValueError, "no option 'speed'", ort.InferenceSession, add_one().SerializeToString(), wrong)
        ingot.compile(add_one(), self.at("model.so"))
        self.assert_fails(ValueError, "compiled already, so 'ingot.shape' has no effect", ort.InferenceSession,
                          self.at("model.so"), options)

    def test_sequences_and_absent_optionals(self):
        tensors = helper.make_sequence_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, (1, 4)))
        model = make([node("ConcatFromSequence", ["xs"], ["y"], axis=0)], [], [("y", TensorProto.FLOAT, ("n", 4))])
        model.graph.input.append(helper.make_value_info("xs", tensors))
        options = ort.SessionOptions()
        options.add_session_config_entry("ingot.length", "xs=2")
        session = ort.InferenceSession(model.SerializeToString(), options)
        np.testing.assert_array_equal(session.run(None, {"xs": [X, X + 1]})[0], np.concatenate([X, X + 1]))
        self.assert_fails(ValueError, "input 'xs.1': expected an array", session.run, None, {"xs": [X]})

        optional = helper.make_optional_type_proto(helper.make_tensor_type_proto(TensorProto.FLOAT, (1, 4)))
        model = make([node("OptionalHasElement", ["x"], ["y"])], [], [("y", TensorProto.BOOL, ())])
        model.graph.input.append(helper.make_value_info("x", optional))
        options = ort.SessionOptions()
        options.add_session_config_entry("ingot.absent", "x")
        session = ort.InferenceSession(model.SerializeToString(), options)
        self.assertFalse(session.run(None, {"x": None})[0])

    def test_what_is_missing_says_so(self):
        missing = [
            ("CUDAExecutionProvider", lambda: ort.InferenceSession("m.onnx", providers=["CUDAExecutionProvider"])),
            ("InferenceSession.end_profiling", lambda: self.session.end_profiling()),
            ("SessionOptions.enable_profiling", lambda: setattr(ort.SessionOptions(), "enable_profiling", True)),
            ("SessionOptions.register_custom_ops_library", lambda: ort.SessionOptions().register_custom_ops_library("a")),
            ("session.intra_op.allow_spinning", lambda: ort.SessionOptions().add_session_config_entry(
                "session.intra_op.allow_spinning", "0")),
            ("run_options", lambda: self.session.run(None, {"x": X}, run_options=1)),
            ("quantization", lambda: ort.quantization),
            ("the device 'cuda'", lambda: ort.OrtValue.ortvalue_from_numpy(X, "cuda")),
        ]
        for name, function in missing:
            with self.subTest(name):
                self.assert_fails(NotImplementedError, name, function)
