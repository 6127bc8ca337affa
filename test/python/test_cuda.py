"""Arrays in GPU memory, with code for GPUs that the emulated GPU runs."""
import asyncio
import gc
import os
from unittest import mock

import ml_dtypes
import numpy as np
from onnx import TensorProto

import ingot
import ingot_compiler
from gpu_arrays import BFLOAT, CUDA, Driver, GpuArray, describe, driver_path
from support import Case, add_one, identity, make, node

X = np.arange(8, dtype=np.float32).reshape(2, 4)


class Gpu(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        path = driver_path()
        if not path:
            cls.skipTest(cls, "no emulated GPU in the build tree")
        patch = mock.patch.dict(os.environ, INGOT_EMULATED_DRIVER=path)
        patch.start()
        cls.addClassCleanup(patch.stop)
        cls.driver = Driver(path)
        cls.model = cls.load("add", add_one(("n", 4)))

    @classmethod
    def load(cls, name, model):
        path = os.path.join(cls.models, name + ".so")
        ingot_compiler.compile_to(model, path, target="cuda,x86-64-v3")
        return ingot.load(path, device="emulated")

    def array(self, values, **kw):
        return GpuArray(self.driver, values, **kw)

    def test_a_result_is_where_the_input_is(self):
        x = self.array(X)
        self.assertEqual(self.model._addresses((x,), None, False)[0], (x.data,))
        y = self.model(x)
        self.assertEqual(y.__dlpack_device__(), (CUDA, 0))
        np.testing.assert_array_equal(self.driver.read(y), X + 1)
        np.testing.assert_array_equal(self.driver.read(self.model.run({"x": x})["y"]), X + 1)
        # A result is an input without a copy.
        self.assertEqual(self.model._addresses((y,), None, False)[0], (describe(y).data,))
        np.testing.assert_array_equal(self.driver.read(self.model(y)), X + 2)
        # Memory of the host in, memory of the host out.
        self.assertIsInstance(self.model(X), np.ndarray)

    def test_results_own_their_memory(self):
        self.driver.read(self.model(self.array(X)))
        gc.collect()
        before = self.driver.used()
        kept = [self.model(self.array(X)) for _ in range(5)]
        self.assertGreater(self.driver.used(), before)
        del kept
        gc.collect()
        self.assertEqual(self.driver.used(), before)

    def test_a_result_outlives_its_model(self):
        model = ingot.load(self.model.path, device="emulated")
        y = model(self.array(X))
        del model
        gc.collect()
        np.testing.assert_array_equal(self.driver.read(y), X + 1)

    def test_receivers(self):
        y = self.array(np.zeros((2, 4), np.float32))
        for x in (X, self.array(X)):
            self.assertIs(self.model.run({"x": x}, out={"y": y})["y"], y)
            np.testing.assert_array_equal(self.driver.read(y), X + 1)
        host = np.zeros((2, 4), np.float32)
        self.model.run({"x": self.array(X)}, out={"y": host})
        np.testing.assert_array_equal(host, X + 1)

    def test_asynchronous_runs(self):
        async def main():
            return await asyncio.gather(*(self.model.run_async(self.array(X + i)) for i in range(8)))

        for i, y in enumerate(asyncio.run(main())):
            np.testing.assert_array_equal(self.driver.read(y), X + i + 1)

    def test_sizes_that_data_tells(self):
        model = self.load("nonzero", make([node("NonZero", ["x"], ["y"])], [("x", TensorProto.FLOAT, ("n", 4))],
                                          [("y", TensorProto.INT64, (2, "k"))]))
        for values in (X, np.zeros((2, 4), np.float32), np.ones((3, 4), np.float32)):
            y = model(self.array(values))
            self.assertEqual(y.__dlpack_device__(), (CUDA, 0))
            np.testing.assert_array_equal(self.driver.read(y, np.int64), np.nonzero(values))

    def test_types_that_numpy_does_not_have(self):
        values = np.array([[1, 2, 3], [4, 5, 6]], ml_dtypes.bfloat16)
        y = self.load("bf16", identity(TensorProto.BFLOAT16))(self.array(values, code=BFLOAT))
        self.assertEqual((describe(y).code, describe(y).bits), (BFLOAT, 16))
        np.testing.assert_array_equal(self.driver.read(y, ml_dtypes.bfloat16), values)

    def test_wrong_arrays(self):
        cpu = ingot.load(self.model.path, device="cpu")
        wrong = [
            (cpu, {}, "input 'x' lies in CUDA memory, which the code in use .* cannot reach"),
            (self.model, {"device": (10, 0)}, r"input 'x': expected memory of the CPU or of a CUDA GPU, but got that of a "
                                              r"device of type 10 \(DLDeviceType\); copy the array to the CPU"),
            (self.model, {"device": (CUDA, 1)}, "input 0 is said to be of CUDA device 1, but the model runs on CUDA device 0"),
            (self.model, {"offset": 4}, "the address for input 0 is not a multiple of 16"),
            (self.model, {"values": X[0]}, r"input 'x': expected shape \(\?, 4\), but got \(4,\)"),
        ]
        for model, settings, pattern in wrong:
            with self.subTest(pattern):
                array = self.array(**{"values": X, **settings})
                self.assert_fails((ingot.InvalidArgument, ValueError), pattern, model, array)
                self.assert_fails((ingot.InvalidArgument, ValueError), "", model.run, {"x": array})
