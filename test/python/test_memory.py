"""Memory of arrays: none is copied that can be used in place. Each test compares addresses."""
import array
import datetime
import mmap
import pickle

import ml_dtypes
import numpy as np
from onnx import TensorProto

import ingot
from ingot import _arrays
from ingot import onnxruntime as ort
from support import Case, Exported, add_one, identity

try:
    import torch
except ImportError:
    torch = None

X = np.arange(4, dtype=np.float32).reshape(1, 4)


def address(value):
    """Returns the address of the elements of an array or of a buffer."""
    return value.ctypes.data if isinstance(value, np.ndarray) else np.asarray(value).ctypes.data


class Addresses(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = ingot.compile(add_one())
        cls.bf16 = ingot.compile(identity(TensorProto.BFLOAT16))

    def read(self, model, value):
        """Returns the address that a run of the model would read for an input."""
        raw = value if model._is_plain else _arrays.to_raw(model.inputs[0], value)
        return model._addresses((raw,), None, not model._is_plain)[0][0]

    def test_arrays(self):
        read_only = X.copy()
        read_only.flags.writeable = False
        for x in (X.copy(), read_only, np.ones((3, 1, 4), np.float32)[1], np.frombuffer(X.tobytes(), np.float32).reshape(1, 4)):
            self.assertEqual(self.read(self.model, x), address(x))

    def test_buffers(self):
        pages = mmap.mmap(-1, 4096)
        self.addCleanup(pages.close)
        for buffer in (array.array("f", [0, 1, 2, 3]), bytearray(X.tobytes()), pages):
            view = memoryview(buffer).cast("B")[:16].cast("f", (1, 4))
            self.assertEqual(self.read(self.model, view), address(view))
            view.release()

    def test_dlpack(self):
        x = X.copy()
        self.assertEqual(self.read(self.model, Exported(x)), address(x))
        self.assertEqual(self.read(self.model, x.__dlpack__()), address(x))

    def test_types_of_ml_dtypes(self):
        x = np.ones((2, 3), ml_dtypes.bfloat16)
        self.assertEqual(self.read(self.bf16, x), address(x))

    def test_receivers(self):
        y = np.zeros((1, 4), np.float32)
        for receiver in (y, Exported(y), memoryview(y)):
            self.assertEqual(self.model._addresses((X,), (receiver,), False)[1][0], address(y))
        y = np.zeros((2, 3), ml_dtypes.bfloat16)
        raw = _arrays.receiver_to_raw(self.bf16.outputs[0], y)
        x = np.ones((2, 3), ml_dtypes.bfloat16).view(np.uint16)
        self.assertEqual(self.bf16._addresses((x,), (raw,), True)[1][0], address(y))

    def test_outputs(self):
        y = self.model(X)
        self.assertEqual(address(np.from_dlpack(y)), address(y))
        self.assertEqual(address(memoryview(y)), address(y))
        # An output is no view of memory that the model uses again.
        self.assertNotEqual(address(self.model(X)), address(y))
        self.assertEqual(pickle.loads(pickle.dumps(y, protocol=5)).tobytes(), y.tobytes())

    def test_values_of_onnxruntime(self):
        session = ort.InferenceSession(add_one().SerializeToString())
        x, y = X.copy(), np.zeros((1, 4), np.float32)
        self.assertIs(ort.OrtValue.ortvalue_from_numpy(x).numpy(), x)
        self.assertIs(ort._input(x), x)
        self.assertIs(ort._input(ort.OrtValue.ortvalue_from_numpy(x)), x)
        binding = session.io_binding()
        binding.bind_ortvalue_input("x", ort.OrtValue.ortvalue_from_numpy(x))
        binding.bind_ortvalue_output("y", ort.OrtValue.ortvalue_from_numpy(y))
        session.run_with_iobinding(binding)
        self.assertIs(binding.get_outputs()[0].numpy(), y)
        self.assertIs(binding.copy_outputs_to_cpu()[0], y)

    def test_tensors_of_torch(self):
        if torch is None:
            self.skipTest("torch is not installed")
        x = torch.ones(1, 4)
        self.assertEqual(self.read(self.model, x), x.data_ptr())
        brain = torch.ones(2, 3, dtype=torch.bfloat16)
        self.assertEqual(self.read(self.bf16, brain), brain.data_ptr())
        y = torch.zeros(1, 4)
        self.assertEqual(self.model._addresses((x,), (y,), False)[1][0], y.data_ptr())
        z = self.model(x)
        self.assertEqual(torch.from_dlpack(z).data_ptr(), address(z))


class Lifetime(Case):
    """Memory lives as long as something uses it."""

    def test_outputs_outlive_their_model(self):
        model = ingot.compile(add_one())
        y = np.from_dlpack(model(X))
        del model
        np.testing.assert_array_equal(y, X + 1)

    def test_a_used_capsule_is_refused(self):
        model = ingot.compile(add_one())
        x = X.copy()
        capsule = x.__dlpack__()
        np.testing.assert_array_equal(model(capsule), X + 1)
        self.assert_fails((ingot.InvalidType, TypeError),
                          "input 'x': expected an array of float32, but got PyCapsule, which is used up, because a capsule "
                          "serves once; pass the array", model, capsule)
        y = X.copy()
        capsule = y.__dlpack__()
        model.run({"x": X}, out={"y": capsule})
        np.testing.assert_array_equal(y, X + 1)
        self.assert_fails(ingot.InvalidType, "output 'y': .* PyCapsule, which is used up", model.run, {"x": X},
                          out={"y": capsule})

    def test_an_export_that_fails(self):
        class Broken:
            def __dlpack__(self, **kw):
                raise BufferError("no memory to share")

            def __dlpack_device__(self):
                return 1, 0

        model = ingot.compile(add_one())
        self.assert_fails(ingot.InvalidType, "input 'x': .* got .*Broken, which gives no memory: no memory to share",
                          model, Broken())

    def test_an_export_of_something_else(self):
        class Other:
            def __init__(self, value):
                self.value = value

            def __dlpack__(self, **kw):
                return self.value

            def __dlpack_device__(self):
                return 1, 0

        model = ingot.compile(add_one())
        used = X.copy().__dlpack__()
        model(used)
        for value, pattern in ((3, "whose __dlpack__ returned int in place of a capsule"),
                               (None, "whose __dlpack__ returned NoneType in place of a capsule"),
                               (used, "which is used up, because a capsule serves once"),
                               (datetime.datetime_CAPI, "which holds no tensor of DLPack")):
            self.assert_fails((ingot.InvalidType, TypeError), f"input 'x': .* got .*Other, {pattern}", model, Other(value))
        self.assert_fails(ingot.InvalidType, "input 'x': .* got PyCapsule, which holds no tensor of DLPack", model,
                          datetime.datetime_CAPI)

    def test_a_closed_buffer_is_refused(self):
        model = ingot.compile(add_one())
        view = memoryview(array.array("f", [0, 1, 2, 3])).cast("B").cast("f", (1, 4))
        view.release()
        self.assert_fails(ingot.InvalidType, "input 'x': .* got memoryview", model, view)
