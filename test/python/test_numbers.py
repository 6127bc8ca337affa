"""Numbers, texts, paths and functions that are of a wrong type or out of range, in each function that takes one."""
import asyncio
import decimal
import os
import time
from unittest import mock

import numpy as np
from onnx import TensorProto

import ingot
import ingot_compiler
from ingot import onnxruntime as ort
from support import Case, add_one, identity

X = np.arange(4, dtype=np.float32).reshape(1, 4)
WRONG_TYPE = ingot.InvalidType, ValueError, TypeError
WRONG = ingot.InvalidArgument, ValueError
# Integers that some conversion to 32 or 64 bits, or to text, refuses.
HUGE = 2**31, 2**32, 2**63, 2**64, 2**70, 10**5000
NEGATIVE = -1, -2**31, -2**63, -2**70
NO_NUMBERS = "2", b"2", 2.5, 1j, [2], (2,), {}, object(), np.zeros(2), decimal.Decimal(2)


class Arguments(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = ingot.compile(add_one(("n", 4)))
        cls.fixed = ingot.compile(add_one())
        cls.path = cls.model.path

    def each(self, kinds, pattern, function, values):
        """Calls a function with each of the values, which it must refuse."""
        for value in values:
            with self.subTest(f"{pattern} {str(type(value))} {value if not isinstance(value, int) else hex(value)[:20]}"):
                error = self.assert_fails(kinds, pattern, function, value)
                self.assertNotIn("\n", str(error))

    def run_async(self, **settings):
        return asyncio.run(self.fixed.run_async(X, **settings))

    def test_threads(self):
        functions = [lambda n: self.fixed.run({"x": X}, threads=n), lambda n: self.run_async(threads=n),
                     lambda n: ingot.Context(self.fixed, threads=n), lambda n: self.fixed.context(threads=n).__enter__(),
                     lambda n: ingot.Pool(threads=n), lambda n: ingot.Pool(n)]
        for function in functions:
            self.each(WRONG, "threads: expected 0 to 1024, but got ", function, [1025, *HUGE, *NEGATIVE])
            self.each(WRONG_TYPE, "threads: expected an int, but got ", function, NO_NUMBERS)
            function(np.int64(1))
        self.each(WRONG, "spin_us: expected 0 to 4294967295, but got ", lambda n: ingot.Pool(1, spin_us=n),
                  [2**32, 2**70, *NEGATIVE])
        self.each(WRONG_TYPE, "spin_us: expected an int", lambda n: ingot.Pool(1, spin_us=n), NO_NUMBERS)
        options = ort.SessionOptions()
        for values, kinds in (([1025, *HUGE, *NEGATIVE], WRONG), (NO_NUMBERS, WRONG_TYPE)):
            self.each(kinds, "intra_op_num_threads: expected",
                      lambda n: setattr(options, "intra_op_num_threads", n), values)

    def test_sizes(self):
        infer = self.model.infer
        self.each(WRONG, "a size of input 'x': expected 0 to 9223372036854775807, but got", lambda n: infer({"x": (n, 4)}),
                  [2**63, 2**64, 2**70, 10**5000, *NEGATIVE])
        self.each(WRONG, "input 'x' is impossibly large", lambda n: infer({"x": (n, 4)}),
                  [2**54, 2**60, 2**61, 2**62, 2**63 - 1])
        self.each(WRONG_TYPE, "input 'x': expected a tuple of ints as shape", lambda n: infer({"x": (n, 4)}), NO_NUMBERS)
        self.each(WRONG, "input 'x' has shape 1x4", lambda n: self.fixed.infer({"x": (n, 4)}), [0, 2, 2**62])
        self.assertEqual(infer({"x": (2**40, 4)}).shapes, {"y": (2**40, 4)})
        self.assertEqual(infer({"x": (0, 4)}).shapes, {"y": (0, 4)})

    def test_shapes_of_a_compilation(self):
        for shape in ((2**70, 4), (2**63, 4), (2**62, 4), (-1, 4), (1.5, 4), "ax4", (10**5000, 4), 2**70):
            with self.subTest(str(type(shape))):
                self.assert_fails(ingot.Error, "", ingot.compile, add_one(("n", 4)), self.at("a.so"), shape={"x": shape})
        self.each(WRONG_TYPE, "shape: expected", lambda n: ingot.compile(add_one(("n", 4)), shape={"x": (n, 4)}),
                  [b"2", 1j, {}, object()])
        self.assertEqual(ingot.compile(add_one(("n", 4)), shape={"x": (np.int64(3), 4)}).inputs[0].shape, (3, 4))
        self.assertEqual(os.listdir(self.folder), [])

    def test_seconds(self):
        functions = [lambda t: self.fixed.run({"x": X}, timeout=t), lambda t: self.run_async(timeout=t),
                     lambda t: ingot.compile(add_one(), self.at("a.so"), timeout=t),
                     lambda t: ingot.compile(add_one(), timeout=t),
                     lambda t: ingot_compiler.compile_to(add_one(), self.at("a.so"), timeout=t),
                     lambda t: ingot.calibrate(add_one(), self.path, self.at("r.json"), timeout=t),
                     lambda t: ingot.compare(self.model, add_one(), timeout=t),
                     lambda t: ingot.bench(self.model, timeout=t)]
        ingot.compile(add_one())  # A cached model refuses them, too.
        for function in functions:
            self.each(WRONG_TYPE, "timeout: expected seconds, but got ", function,
                      ["2", b"2", 1j, [2], {}, object(), np.zeros(2)])
            self.each(WRONG, "timeout: expected seconds, 0 or more, but got ", function,
                      [-1, -0.5, float("nan"), float("-inf"), -2**70, -10**400])
        for timeout in (float("inf"), 1e300, 2**70, 10**400, np.float32(60), np.int64(60), decimal.Decimal(60)):
            with self.subTest(timeout if not isinstance(timeout, int) else hex(timeout)[:20]):
                np.testing.assert_array_equal(self.fixed.run({"x": X}, timeout=timeout)["y"], X + 1)
                ingot.bench(self.fixed, iterations=1, warm_up="1ms", timeout=timeout)
        # The thread that watches deadlines still works after them.
        from support import slow
        long = ingot.compile(slow())
        x = np.zeros(long.inputs[0].shape, np.float32)
        start = time.monotonic()
        self.assert_fails(ingot.Timeout, "took longer than", long.run, {"x": x}, timeout=0.001)
        self.assertLess(time.monotonic() - start, 30)

    def test_functions(self):
        values = [3, "print", [], object()]
        self.each(WRONG_TYPE, "progress: expected a function, but got ",
                  lambda f: ingot.compile(add_one(), progress=f), values)
        self.each(WRONG_TYPE, "progress: expected a function, but got ",
                  lambda f: ingot.bench(self.model, progress=f), values)
        self.each(WRONG_TYPE, "metric: expected a function or the name of a metric",
                  lambda f: ingot.compare(self.model, add_one(), metric=f), [3, [], object()])
        session = ort.InferenceSession(self.path)
        self.each(WRONG_TYPE, "callback: expected a function", lambda f: session.run_async(None, {"x": X}, f), values)

    def test_paths(self):
        no_paths = [3, 2.5, [], {}, object()]
        with_nul = ["a\0b", self.path + "\0.so"]
        functions = [("source", ingot.load), ("weights", lambda p: ingot.load(self.path, weights=p)),
                     ("model", ingot.compile), ("output", lambda p: ingot.compile(add_one(), p)),
                     ("output", lambda p: ingot_compiler.compile_to(add_one(), p)), ("model", ingot.inspect),
                     ("model", ingot.bench), ("onnx_model", lambda p: ingot.bench(self.model, p)),
                     ("model", lambda p: ingot.compare(p, add_one())),
                     ("data", lambda p: ingot.compare(self.model, add_one(), p)),
                     ("data", lambda p: ingot.compare(self.model, add_one(), [p])),
                     ("data", lambda p: ingot.calibrate(add_one(), p, self.at("r.json"))),
                     ("output", lambda p: ingot.calibrate(add_one(), self.path, p)),
                     ("source", ort.InferenceSession)]
        for name, function in functions:
            self.each(WRONG_TYPE, "expected .*path", function, [value for value in no_paths
                                                               if not (name == "data" and isinstance(value, list))])
            self.each(WRONG, "expected text without NUL|expected a path, but got an empty text", function, [*with_nul, ""])
        self.assert_fails(WRONG, "part of a character", ingot.load, "\ud800")
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_path_that_is_no_utf8(self):
        path = os.path.join(os.fsencode(self.folder), b"\xff.so")
        text = os.fsdecode(path)
        ingot.compile(add_one(), text)
        np.testing.assert_array_equal(ingot.load(text)(X), X + 1)
        self.assertEqual(ingot.load(text).path, text)
        self.assert_fails(ingot.NotFound, "cannot open", ingot.load, text + "x")

    def test_flags_and_words(self):
        for name in ("verify", "trust_weights"):
            self.each(WRONG_TYPE, f"{name}: expected True or False, but got ",
                      lambda value: ingot.load(self.path, **{name: value}), [None, 0, 1, "no", [], object()])
        for name in ("max_level", "device"):
            self.each(WRONG_TYPE, f"{name}: expected a str, but got ",
                      lambda value: ingot.load(self.path, **{name: value}), [3, b"cpu", [], object()])
            self.each(WRONG, name, lambda value: ingot.load(self.path, **{name: value}), ["cpu\0", "\ud800", "tpu"])

    def test_bytes(self):
        with open(self.path, "rb") as file:
            content = file.read()
        self.assert_fails(WRONG, "dense bytes of a model, but got a view with strides", ingot.load, memoryview(content)[::2])
        view = memoryview(content)
        view.release()
        self.assert_fails(WRONG, "released", ingot.load, view)
        self.assert_fails(WRONG, "released", ingot.compile, view)

    def test_keywords(self):
        wrong = "a call takes arrays in order, but got 'x' by name; pass model.run"
        self.assert_fails(WRONG_TYPE, wrong, lambda: self.fixed(x=X))
        self.assert_fails(WRONG_TYPE, wrong, lambda: ingot.Context(self.fixed)(x=X))
        self.assert_fails(WRONG_TYPE, wrong, lambda: ingot.compile(identity(TensorProto.INT4))(x=X))
        self.assert_fails(WRONG_TYPE, "run_async: expected arrays in order or inputs=, but got 'x' by name",
                          lambda: self.run_async(x=X))
        self.assert_fails(WRONG_TYPE, "run: no option 'batch'; the options are out, timeout, threads, profile",
                          lambda: self.fixed.run({"x": X}, batch=1))
        self.assert_fails(WRONG_TYPE, "run: no option 'x'", lambda: self.fixed.run(x=X))
        self.assert_fails(WRONG_TYPE, "run: expected one mapping .* but got 2 arguments", lambda: self.fixed.run(X, X))
        self.assert_fails(WRONG_TYPE, "run: expected one mapping .* but got 0 arguments", lambda: self.fixed.run())

    def test_objects(self):
        for function in (ingot.Context, ingot.Profile):
            self.each(WRONG_TYPE, "model: expected an ingot.Model, but got ", function, [3, None, self.path, object()])
        session = ort.InferenceSession(self.path)
        binding = session.io_binding()
        self.each(WRONG_TYPE, "ortvalue: expected an OrtValue", lambda v: binding.bind_ortvalue_input("x", v), [3, X])
        self.each(WRONG_TYPE, "ortvalue: expected an OrtValue", lambda v: binding.bind_ortvalue_output("y", v), [3, X])
        self.each(WRONG_TYPE, "OrtValue: expected a numpy array", ort.OrtValue.ortvalue_from_numpy, [3, [1.0]])
        self.each(WRONG_TYPE, "output_names: expected a list", lambda v: session.run(v, {"x": X}), ["y", 3])
        self.each(WRONG_TYPE, "input_feed: expected a mapping", lambda v: session.run(None, v), [None, X, [X]])
        self.each(WRONG_TYPE, "sess_options: expected", lambda v: ort.InferenceSession(self.path, v), [3, {}])
        self.each(WRONG_TYPE, "providers: expected", lambda v: ort.InferenceSession(self.path, providers=v),
                  [3, "CPUExecutionProvider"])


class Options(Case):
    """Each option of each command refuses what is no value, before the command does any work."""

    def test_values(self):
        from ingot_compiler._options import FLAGS, OPTIONS
        from ingot_compiler._process import arguments
        for command, names in OPTIONS.items():
            for name in names:
                key = name.replace("-", "_")
                for value in (object(), b"x", 1j, [object()], {"x": object()}, {3j: 1}, "a\0b", ["a\0b"], 2**70, "\ud800"):
                    with self.subTest(f"{command} {key} {str(type(value))}"):
                        self.assert_fails(WRONG, key, arguments, command, {key: value})
                if name in FLAGS[command]:
                    self.assert_fails(WRONG_TYPE, f"{key}: expected True or False", arguments, command, {key: 3})

    def test_wrong_values_are_refused_by_the_program(self):
        """A wrong word or number for any option is one error, whose message is one line."""
        from ingot_compiler._options import FLAGS, OPTIONS
        for name in OPTIONS["compile"]:
            if name in FLAGS["compile"] or name == "metric":
                continue
            with self.subTest(name):
                try:
                    ingot_compiler.compile_to(add_one(), self.at("a.so"), **{name.replace("-", "_"): "no such value/"})
                except ingot.Error as error:
                    self.assertNotIn("\n", str(error))

    def test_bytes_of_the_cache(self):
        for value in ("x", "-1", "1e9", "8GiB", "9" * 5000):
            with mock.patch.dict(os.environ, INGOT_CACHE_BYTES=value):
                self.assert_fails(WRONG, "INGOT_CACHE_BYTES: expected a number of bytes", ingot.compile, add_one((1, 9)))


class Receivers(Case):
    """`out=` of types that numpy does not have: they are copied there."""

    def test_packed_types(self):
        import ml_dtypes
        for number, name in ((TensorProto.INT4, "int4"), (TensorProto.UINT4, "uint4"),
                             (TensorProto.FLOAT4E2M1, "float4_e2m1fn")):
            with self.subTest(name):
                model = ingot.compile(identity(number))
                dtype = np.dtype(getattr(ml_dtypes, name))
                x = np.array([[0, 1, 2], [3, 4, 6]]).astype(dtype)
                wide = np.zeros((2, 6), dtype)
                for y in (np.zeros((2, 3), dtype), wide[:, ::2]):
                    self.assertIs(model.run({"x": x}, out={"y": y})["y"], y)
                    np.testing.assert_array_equal(y, x)
                bits = np.zeros((2, 3), np.uint8)
                model.run({"x": x}, out={"y": bits})
                np.testing.assert_array_equal(bits & 15, x.view(np.uint8) & 15)
                self.check_wrong(model, x, np.zeros((2, 3), dtype), np.zeros((3, 2), dtype))

    def test_strings(self):
        model = ingot.compile(identity(TensorProto.STRING, ("n", 2)))
        x = np.array([["", "a"], ["grün", "long text"]], object)
        y = np.zeros((2, 2), object)
        self.assertIs(model.run({"x": x}, out={"y": y})["y"], y)
        np.testing.assert_array_equal(y, x)
        self.check_wrong(model, x, np.zeros((2, 2), object), np.zeros((3, 2), object))
        scalar = ingot.compile(identity(TensorProto.STRING, ()))
        y = np.zeros((), object)
        scalar.run({"x": np.array("a", object)}, out={"y": y})
        self.assertEqual(y[()], "a")

    def check_wrong(self, model, x, y, other):
        read_only = y.copy()
        read_only.flags.writeable = False
        name = model.outputs[0].dtype
        for kinds, pattern, out in (
                (WRONG_TYPE, f"output 'y': expected elements of type {name}, but got float32", np.zeros((2, 3), np.float32)),
                (WRONG_TYPE, f"output 'y': expected a numpy array of {name}, but got list", [1]),
                (WRONG_TYPE, "output 'y': .* read-only; pass an array that may be written", read_only),
                (WRONG, r"output 'y': expected shape \(2, .\), but got \(3, 2\)", other),
                (WRONG, r"output 'y': expected shape \(., .\), but got \(\)", y[0, 0:1].reshape(()))):
            with self.subTest(pattern):
                self.assert_fails(kinds, pattern, model.run, {"x": x}, out={"y": out})
