"""Loading and describing models, contexts, asynchronous runs, timeouts and signals."""
import asyncio
import os
import pickle
import shutil
import signal
import threading
import time

import numpy as np

import ingot
from ingot._threads import gate
from support import Case, add_one, slow

X = np.arange(4, dtype=np.float32).reshape(1, 4)


class Loading(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.path = os.path.join(cls.models, "add.so")
        ingot.compile(add_one(("batch", 4)), cls.path, shape={"x": "(1:2:8)x4"})

    def test_descriptions(self):
        model = ingot.load(self.path)
        self.assertEqual([(s.name, s.dtype, s.shape) for s in model.inputs], [("x", "float32", ("batch", 4))])
        self.assertEqual(model.inputs[0].profiles, ({0: ingot.SizeRange(1, 2, 8, 1)},))
        self.assertEqual([s.name for s in model.outputs], ["y"])
        self.assertEqual(model.info.name, "model")
        self.assertIn(model.info.target, model.info.variants)
        self.assertGreater(model.info.code_bytes, 0)
        self.assertIn("ingot.precision", model.metadata)
        self.assertEqual(model.layers[0].kind, "elementwise")
        self.assertIn("x: float32[batch, 4]", repr(model))

    def test_from_bytes(self):
        with open(self.path, "rb") as file:
            content = file.read()
        for value in (content, bytearray(content), memoryview(content)):
            np.testing.assert_array_equal(ingot.load(value)(X), X + 1)

    def test_wrong_files(self):
        self.assert_fails((ingot.NotFound, FileNotFoundError), "cannot open", ingot.load, self.at("none.so"))
        with open(self.at("text.so"), "w") as file:
            file.write("no model")
        self.assert_fails((ingot.BadArtifact, ValueError), "not a compiled model", ingot.load, self.at("text.so"))
        self.assert_fails(ingot.BadArtifact, "not a compiled model", ingot.load, b"no model")
        self.assert_fails(TypeError, "expected the path or the bytes of a model, but got int", ingot.load, 3)
        with open(self.path, "rb") as file:
            content = file.read()
        self.assert_fails(ingot.BadArtifact, "", ingot.load, content[:len(content) // 2])
        self.assert_fails(ingot.InvalidArgument, "level", ingot.load, self.path, max_level="i386")

    def test_pickle(self):
        path = self.at("model.so")
        shutil.copy(self.path, path)
        text = pickle.dumps(ingot.load(path))
        np.testing.assert_array_equal(pickle.loads(text)(X), X + 1)
        ingot.compile(add_one((1, 4)), path + ".new")
        os.replace(path + ".new", path)
        self.assert_fails(ingot.BadArtifact, "expected a file with SHA-256", pickle.loads, text)
        with open(self.path, "rb") as file:
            self.assert_fails(ValueError, "from memory", pickle.dumps, ingot.load(file.read()))

    def test_a_file_that_is_replaced(self):
        path = self.at("model.so")
        shutil.copy(self.path, path)
        model = ingot.load(path)
        ingot.compile(add_one((1, 4)), path + ".new")
        os.replace(path + ".new", path)
        # The model keeps the file that it has loaded.
        np.testing.assert_array_equal(model(np.vstack([X, X])), np.vstack([X, X]) + 1)
        self.assertEqual(ingot.load(path).inputs[0].shape, (1, 4))
        # Other functions do not take the new file for the model.
        for function in pickle.dumps, ingot.inspect, ingot.bench:
            self.assert_fails(ingot.BadArtifact, "not the file that was loaded", function, model)
        os.unlink(path)
        self.assert_fails(ingot.NotFound, "cannot open", pickle.dumps, model)
        np.testing.assert_array_equal(model(X), X + 1)
        self.assert_fails(ingot.NotFound, "cannot open", ingot.load, path)

    def test_contexts(self):
        model = ingot.load(self.path)
        with model.context(threads=1) as context:
            self.assertEqual(context.threads, 1)
            np.testing.assert_array_equal(context(X), X + 1)
            np.testing.assert_array_equal(context.run({"x": X})["y"], X + 1)
        self.assert_fails(ValueError, "the context is closed", context, X)
        pool = ingot.Pool(threads=2)
        self.assertEqual(pool.threads, 2)
        with model.context(pool=pool) as context:
            del pool
            self.assertEqual(context.threads, 2)
            np.testing.assert_array_equal(context(X), X + 1)

    def test_profile(self):
        model = ingot.load(self.path)
        profile = ingot.Profile(model)
        for _ in range(3):
            model.run({"x": X}, profile=profile)
        self.assertEqual(profile.run.runs, 3)
        layer, times = profile.layers[0]
        self.assertEqual((layer.kind, times.runs), ("elementwise", 3))
        profile.reset()
        self.assertEqual(profile.run.runs, 0)


class EarlyEnds(Case):
    """Runs that are ended early, and runs beside other work."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.slow = ingot.compile(slow())
        size = cls.slow.inputs[0].shape[0]
        cls.x = np.ones((size, size), np.float32)
        start = time.perf_counter()
        cls.slow(cls.x)
        cls.seconds = time.perf_counter() - start

    def test_timeout(self):
        self.assert_fails((ingot.Timeout, TimeoutError), "longer than", self.slow.run, {"x": self.x},
                          timeout=self.seconds / 20)
        # A timeout that did not pass has no effect on later runs.
        self.slow.run({"x": self.x}, timeout=self.seconds * 50 + 5)
        self.slow.run({"x": self.x})

    def test_interrupt_ends_a_run(self):
        timer = threading.Timer(self.seconds / 20, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.perf_counter()
        with self.assertRaises(KeyboardInterrupt):
            while time.perf_counter() < start + self.seconds + 5:
                self.slow(self.x)
        timer.join()
        self.slow(self.x)

    def test_a_program_may_handle_the_interrupt(self):
        seen = []
        former = signal.signal(signal.SIGINT, lambda *_: seen.append(1))
        try:
            timer = threading.Timer(self.seconds / 20, os.kill, (os.getpid(), signal.SIGINT))
            timer.start()
            y = self.slow(self.x)
            timer.join()
        finally:
            signal.signal(signal.SIGINT, former)
        np.testing.assert_array_equal(y, self.slow(self.x))
        self.assertEqual(seen, [1])

    def test_other_threads_work_during_a_run(self):
        count = 0
        thread = threading.Thread(target=self.slow, args=(self.x,))
        thread.start()
        while thread.is_alive():
            count += 1
        self.assertGreater(count, 1000)

    def test_asynchronous_runs(self):
        model = ingot.compile(add_one())

        async def main():
            async def one(number):
                x = np.full((1, 4), number, np.float32)
                return await model.run_async(x)  # The caller drops the input.

            results = await asyncio.gather(*(one(i) for i in range(1000)))
            named = await model.run_async(inputs={"x": X})
            return results, named

        results, named = asyncio.run(main())
        for i, y in enumerate(results):
            np.testing.assert_array_equal(y, np.full((1, 4), i + 1, np.float32))
        np.testing.assert_array_equal(named["y"], X + 1)

    def test_cancelled_tasks(self):
        async def main():
            task = asyncio.create_task(self.slow.run_async(self.x))
            await asyncio.sleep(self.seconds / 20)
            task.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await task
            with self.assertRaises(ingot.Timeout):
                await self.slow.run_async(self.x, timeout=self.seconds / 20)
            with self.assertRaises(ingot.InvalidArgument):
                await self.slow.run_async(self.x[:1])

        asyncio.run(main())

    def test_tasks_that_are_cancelled_while_they_wait(self):
        """A cancelled task gives its place to the next, also if it was cancelled when it had just got the place."""
        async def main():
            loop = asyncio.get_running_loop()
            places = gate(loop)
            free = places._free
            tasks = [asyncio.create_task(self.slow.run_async(self.x)) for _ in range(40)]
            await asyncio.sleep(0)
            for task in tasks:
                task.cancel()
            ends = await asyncio.gather(*tasks, return_exceptions=True)
            self.assertEqual({type(end) for end in ends}, {asyncio.CancelledError})
            self.assertEqual(places._free, free)

            taken = [places.enter(loop) for _ in range(free)]
            self.assertEqual(set(taken), {None})
            late = asyncio.create_task(places.wait(places.enter(loop)))
            await asyncio.sleep(0)
            places.leave()
            late.cancel()
            with self.assertRaises(asyncio.CancelledError):
                await late
            self.assertEqual(places._free, 1)

        asyncio.run(main())

    def test_a_context_runs_once_at_a_time(self):
        ends = []
        with self.slow.context() as context:
            def work():
                try:
                    context(self.x)
                    ends.append("done")
                except ingot.Busy:
                    ends.append("busy")

            threads = [threading.Thread(target=work) for _ in range(8)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
        self.assertEqual(set(ends), {"done", "busy"})
