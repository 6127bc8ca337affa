"""Runs of models: arrays in, arrays out."""
import array
import gc
import os
import resource
import sys
import threading

import ml_dtypes
import numpy as np
from onnx import TensorProto, helper

import ingot
from support import Case, Exported, add_one, identity, make, node

X = np.arange(4, dtype=np.float32).reshape(1, 4)


class Calls(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = ingot.compile(add_one())

    def test_one_output_is_an_array(self):
        y = self.model(X)
        self.assertIsInstance(y, np.ndarray)
        np.testing.assert_array_equal(y, X + 1)

    def test_run_takes_and_returns_names(self):
        np.testing.assert_array_equal(self.model.run({"x": X})["y"], X + 1)

    def test_accepts_buffers_and_dlpack(self):
        buffer = memoryview(array.array("f", [0, 1, 2, 3])).cast("B").cast("f", (1, 4))
        read_only = X.copy()
        read_only.flags.writeable = False
        for value in (buffer, Exported(X.copy()), read_only):
            np.testing.assert_array_equal(self.model(value), X + 1)

    def test_out_is_written_in_place(self):
        y = np.zeros((1, 4), np.float32)
        self.assertIs(self.model.run({"x": X}, out={"y": y})["y"], y)
        np.testing.assert_array_equal(y, X + 1)

    def test_memory_that_overlaps_is_refused(self):
        both = X.copy()
        for x in (both, Exported(both)):
            self.assert_fails(ingot.InvalidArgument, "overlap", self.model.run, {"x": x}, out={"y": both})

    def test_outputs_are_aligned_writable_and_exported(self):
        kept = [self.model(X) for _ in range(50)]
        for y in kept:
            self.assertEqual(y.ctypes.data % 64, 0)
            self.assertTrue(y.flags.writeable)
            self.assertEqual(np.from_dlpack(y).ctypes.data, y.ctypes.data)

    def test_memory_stays_flat(self):
        model = ingot.compile(add_one((256, 1024)))
        x = np.zeros((256, 1024), np.float32)
        for _ in range(20):
            model(x)
        gc.collect()
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for i in range(400):
            model(x)
            with self.assertRaises(ingot.Error):
                model(x[:, :1])
        self.assertLess(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before, 8 << 10)

    def test_many_threads_share_a_model(self):
        failures = []

        def work(number):
            x = np.full((1, 4), number, np.float32)
            for _ in range(300):
                if not np.array_equal(self.model(x), x + 1):
                    failures.append(number)

        threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    def test_a_forked_process_runs(self):
        self.model(X)
        child = os.fork()
        if not child:
            os._exit(0 if np.array_equal(self.model(X), X + 1) else 1)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_wrong_inputs(self):
        model, run = self.model, self.model.run
        wrong = [
            (ValueError, "expected 1 inputs, but got 0", model),
            (ValueError, "expected 1 inputs, but got 2", model, X, X),
            (TypeError, "input 'x': expected an array of float32, but got list; pass numpy.asarray", model, [1, 2]),
            (TypeError, "input 'x': .* got str, which has neither", model, "text"),
            (TypeError, "input 'x': .* got NoneType", model, None),
            (TypeError, "input 'x': expected elements of type float32, but got float64", model, X.astype(np.float64)),
            (TypeError, "input 'x': expected elements of type float32, but got int32", model, X.view(np.int32)),
            (TypeError, "input 'x': expected an array of float32, but got ndarray of dtype object", model,
             X.astype(object)),
            (ValueError, r"input 'x': expected shape \(1, 4\), but got \(4,\)", model, X[0]),
            (ValueError, r"input 'x': expected shape \(1, 4\), but got \(1, 5\)", model, np.zeros((1, 5), np.float32)),
            (ValueError, "input 'x': expected a dense.*pass numpy.ascontiguousarray", model,
             np.zeros((1, 8), np.float32)[:, ::2]),
            (ValueError, "input 'x': expected memory aligned to 4 bytes.*copy", model,
             np.frombuffer(bytes(17), np.uint8)[1:].view(np.float32).reshape(1, 4)),
            (ValueError, "expected the inputs 'x', but got 'z'", run, {"z": X}),
            (ValueError, "expected the inputs 'x', but got 'z'", run, {"x": X, "z": X}),
            (ValueError, "input 'x': expected an array, but got none", run, {}),
            (TypeError, "expected a mapping", run, X),
        ]
        for kind, pattern, function, *args in wrong:
            with self.subTest(pattern):
                before = sys.getrefcount(X), len(os.listdir("/proc/self/fd"))
                self.assert_fails((ingot.InvalidArgument, kind), pattern, function, *args)
                # The traceback of the error that the library has caught is in a cycle with the test's frame.
                gc.collect()
                self.assertEqual((sys.getrefcount(X), len(os.listdir("/proc/self/fd"))), before)

    def test_wrong_outputs(self):
        read_only = np.zeros((1, 4), np.float32)
        read_only.flags.writeable = False
        wrong = [
            (ValueError, "expected the outputs 'y', but got 'q'", {"q": X.copy()}),
            (ValueError, r"output 'y': expected shape \(1, 4\), but got \(1, 3\)", {"y": np.zeros((1, 3), np.float32)}),
            (TypeError, "output 'y': expected elements of type float32, but got int64", {"y": np.zeros((1, 4), np.int64)}),
            (TypeError, "output 'y': .* read-only", {"y": read_only}),
        ]
        for kind, pattern, out in wrong:
            with self.subTest(pattern):
                self.assert_fails((ingot.InvalidArgument, kind), pattern, self.model.run, {"x": X}, out=out)

    def test_wrong_settings(self):
        self.assert_fails(ValueError, "threads: expected 0 to 1024, but got -1", self.model.run, {"x": X}, threads=-1)
        self.assert_fails(ValueError, "timeout: expected seconds", self.model.run, {"x": X}, timeout=-1)
        self.assert_fails(ValueError, "timeout: expected seconds", self.model.run, {"x": X}, timeout=float("nan"))


class Shapes(Case):
    def test_several_outputs_are_a_named_tuple(self):
        model = ingot.compile(make([node("Split", ["x"], ["left", "right.1"], axis=1, num_outputs=2)],
                                   [("x", TensorProto.FLOAT, (1, 4))],
                                   [("left", TensorProto.FLOAT, (1, 2)), ("right.1", TensorProto.FLOAT, (1, 2))]))
        outputs = model(X)
        np.testing.assert_array_equal(outputs.left, X[:, :2])
        np.testing.assert_array_equal(outputs[1], X[:, 2:])
        self.assertEqual(list(model.run({"x": X})), ["left", "right.1"])

    def test_open_sizes(self):
        model = ingot.compile(add_one(("batch", 4)))
        self.assertEqual(model.inputs[0].shape, ("batch", 4))
        for batch in (1, 3, 0):
            x = np.ones((batch, 4), np.float32)
            np.testing.assert_array_equal(model(x), x + 1)
        self.assertEqual(model.infer({"x": (5, 4)}).shapes, {"y": (5, 4)})
        self.assert_fails(ValueError, r"expected shape \(\?, 4\), but got \(2, 5\)", model, np.ones((2, 5), np.float32))
        self.assert_fails(ValueError, "input 'x': expected sizes", model.infer, {})
        self.assert_fails(ValueError, "output 'y': expected shape", model.run, {"x": np.ones((2, 4), np.float32)},
                          out={"y": np.ones((3, 4), np.float32)})

    def test_sizes_that_depend_on_data(self):
        model = ingot.compile(make([node("NonZero", ["x"], ["y"])], [("x", TensorProto.FLOAT, (1, 4))],
                                   [("y", TensorProto.INT64, (2, "n"))]))
        self.assertIsNone(model.infer({}).shapes["y"][1])
        np.testing.assert_array_equal(model(X), [[0, 0, 0], [1, 2, 3]])
        self.assertEqual(model(np.zeros((1, 4), np.float32)).shape, (2, 0))
        room = np.zeros((2, 3), np.int64)
        np.testing.assert_array_equal(model.run({"x": X}, out={"y": room})["y"], [[0, 0, 0], [1, 2, 3]])
        self.assert_fails(ingot.InvalidArgument, "y", model.run, {"x": X}, out={"y": np.zeros((2, 2), np.int64)})
        self.assert_fails(ingot.InvalidArgument, "y", model.run, {"x": X}, out={"y": np.zeros((2, 4), np.int64)})

    def test_scalars(self):
        model = ingot.compile(add_one(()))
        y = model(np.float32(2).reshape(()))
        self.assertEqual((y.shape, float(y)), ((), 3))

    def test_data_that_a_run_refuses(self):
        model = ingot.compile(make([node("Gather", ["x", "i"], ["y"])],
                                   [("x", TensorProto.FLOAT, (4,)), ("i", TensorProto.INT64, (1,))],
                                   [("y", TensorProto.FLOAT, (1,))]))
        self.assert_fails((ingot.RuntimeCheck, ArithmeticError), "", model, X[0], np.array([9]))
        np.testing.assert_array_equal(model(X[0], np.array([2])), [2])


class Types(Case):
    def check(self, kind, values):
        model = ingot.compile(identity(kind, values.shape))
        self.assertEqual(model.inputs[0].numpy_dtype, values.dtype)
        y = model(values)
        self.assertEqual(y.dtype, values.dtype)
        np.testing.assert_array_equal(y, values)
        y = model.run({"x": values})["y"]
        np.testing.assert_array_equal(y, values)
        return model

    def test_types_of_numpy(self):
        for kind in ("float32", "float64", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32",
                     "uint64", "bool"):
            with self.subTest(kind):
                dtype = np.dtype(kind)
                self.check(helper.np_dtype_to_tensor_dtype(dtype), np.array([[0, 1, 1], [1, 0, 1]], dtype))

    def test_types_of_ml_dtypes(self):
        for kind, number in (("bfloat16", TensorProto.BFLOAT16), ("float8_e4m3fn", TensorProto.FLOAT8E4M3FN),
                             ("float8_e5m2", TensorProto.FLOAT8E5M2), ("int4", TensorProto.INT4),
                             ("uint4", TensorProto.UINT4)):
            with self.subTest(kind):
                values = np.array([[0, 1, 2], [3, 4, 5]]).astype(getattr(ml_dtypes, kind))
                model = self.check(number, values)
                self.assert_fails(TypeError, f"input 'x': expected elements of type {kind}, but got float32", model,
                                  np.zeros((2, 3), np.float32))

    def test_negative_and_odd_packed_elements(self):
        self.check(TensorProto.INT4, np.array([[-8, 7, -1]]).astype(ml_dtypes.int4))

    def test_out_of_a_type_of_ml_dtypes(self):
        model = ingot.compile(identity(TensorProto.BFLOAT16))
        x = np.ones((2, 3), ml_dtypes.bfloat16)
        y = np.zeros((2, 3), ml_dtypes.bfloat16)
        self.assertIs(model.run({"x": x}, out={"y": y})["y"], y)
        np.testing.assert_array_equal(y, x)

    def test_strings(self):
        model = ingot.compile(identity(TensorProto.STRING, (2, 2)))
        x = np.array([["", "a"], ["grün", "long text"]], object)
        np.testing.assert_array_equal(model(x), x)
        np.testing.assert_array_equal(model(x.astype(str)), x)
        np.testing.assert_array_equal(model.run({"x": x})["y"], x)
        self.assertEqual(model(np.array([[b"\xff", "b"], ["c", "d"]], object))[0, 0], b"\xff")
        self.assert_fails(TypeError, "input 'x': expected elements of type string, but got int64", model,
                          np.zeros((2, 2), np.int64))
        self.assert_fails(TypeError, "input 'x': .* an element of type int", model, np.array([[1, 2], [3, 4]], object))
