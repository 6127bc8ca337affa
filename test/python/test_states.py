"""Processes that fork in every state, and threads that share models, contexts and pools."""
import asyncio
import os
import signal
import threading
import traceback

import numpy as np
from onnx import TensorProto

import ingot
from ingot.onnxruntime import InferenceSession
from support import Case, add_one, endless, make, node

X = np.arange(4, dtype=np.float32).reshape(1, 4)
# Seconds after which a child process hangs.
HANG = 60
THREADS = 8


def products(size=256):
    """y = x w w: enough work for several threads."""
    weights = np.full((size, size), 1 / size, np.float32)
    from onnx import numpy_helper
    return make([node("MatMul", ["x", "w"], ["h"]), node("MatMul", ["h", "w"], ["y"])],
                [("x", TensorProto.FLOAT, ("n", size))], [("y", TensorProto.FLOAT, ("n", size))],
                [numpy_helper.from_array(weights, "w")])


class Forks(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = ingot.compile(add_one())
        cls.loop = ingot.compile(endless())
        cls.wide = ingot.compile(products())
        cls.x = np.ones((256, 256), np.float32)

    def use(self, *more):
        """Uses models in every way."""
        np.testing.assert_array_equal(self.model(X), X + 1)
        np.testing.assert_allclose(self.wide(self.x), self.x, rtol=1e-5)
        np.testing.assert_array_equal(ingot.load(self.model.path)(X), X + 1)
        try:
            self.loop.run({"x": X}, timeout=0.02)
        except ingot.Timeout:
            pass

        async def several():
            for y in await asyncio.gather(*[self.model.run_async(X) for _ in range(9)]):
                np.testing.assert_array_equal(y, X + 1)

        asyncio.run(several())
        for one in more:
            one()

    def check_child(self, *more):
        child = os.fork()
        if not child:
            code = 1
            signal.alarm(HANG)
            try:
                self.use(*more)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        self.assertEqual(os.waitpid(child, 0)[1], 0)

    def test_after_everything(self):
        self.use()
        self.check_child()
        self.use()

    def test_during_asynchronous_runs(self):
        async def main():
            tasks = [asyncio.ensure_future(self.loop.run_async(X, timeout=timeout)) for timeout in (None, 1e6) * 6]
            await asyncio.sleep(0.05)
            self.check_child()
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            np.testing.assert_array_equal(await self.model.run_async(X), X + 1)

        asyncio.run(main())

    def test_during_runs_of_other_threads(self):
        def work():
            try:
                self.loop.run({"x": X}, timeout=1)
            except ingot.Timeout:
                pass

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for _ in range(3):
            self.check_child()
        for thread in threads:
            thread.join()

    def test_during_loads_and_threads_that_come_and_go(self):
        ends = threading.Event()

        def work():
            while not ends.is_set():
                with ingot.load(self.wide.path).context(threads=2) as context:
                    context(self.x)

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        try:
            for _ in range(8):
                self.check_child()
        finally:
            ends.set()
            for thread in threads:
                thread.join()

    def test_with_a_pool(self):
        """A child process has the pools of its parent, but not their threads."""
        pool = ingot.Pool(threads=2)
        with self.wide.context(pool=pool) as context, self.wide.context(threads=2) as own:
            context(self.x)
            own(self.x)
            self.check_child(lambda: context(self.x), lambda: own(self.x), pool.__repr__)
            context(self.x)

    def test_from_another_thread(self):
        failures = []

        def work():
            try:
                self.check_child()
            except BaseException as error:
                failures.append(error)

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        self.assertEqual(failures, [])

    def test_in_a_compilation(self):
        forked = []

        def progress(_):
            if not forked:
                forked.append(True)
                self.check_child()

        np.testing.assert_array_equal(ingot.compile(add_one(), self.at("m.so"), progress=progress)(X), X + 1)

    def test_with_threads_of_a_session(self):
        session = InferenceSession(self.model.path)

        def run():
            done = threading.Event()
            found = []
            session.run_async(None, {"x": X}, lambda results, _, error: (found.append((results, error)), done.set()))
            assert done.wait(HANG)
            np.testing.assert_array_equal(found[0][0][0], X + 1)

        run()
        self.check_child(run)


class Threads(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.model = ingot.compile(add_one())
        cls.wide = ingot.compile(products())
        cls.x = np.ones((256, 256), np.float32)

    def together(self, work):
        """Calls work(number) on several threads at a time. Raises what they raise."""
        failures, start = [], threading.Barrier(THREADS)

        def call(number):
            start.wait()
            try:
                work(number)
            except BaseException as error:
                failures.append(error)

        threads = [threading.Thread(target=call, args=(i,)) for i in range(THREADS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if failures:
            raise failures[0]

    def test_a_loop_for_each_thread(self):
        async def main(number):
            x = np.full((1, 4), number, np.float32)
            for y in await asyncio.gather(*[self.model.run_async(x, timeout=60) for _ in range(5)]):
                np.testing.assert_array_equal(y, x + 1)

        def work(number):
            for _ in range(20):
                asyncio.run(main(number))

        self.together(work)

    def test_a_context_of_all(self):
        """A context runs once at a time. The others get Busy, and no wrong result."""
        runs = []
        with self.wide.context(threads=2) as context:
            def work(number):
                x = np.full((256, 256), number, np.float32)
                for _ in range(50):
                    try:
                        y = context(x)
                    except ingot.Busy:
                        continue
                    runs.append(number)
                    np.testing.assert_allclose(y, x, rtol=1e-5)

            self.together(work)
        self.assertTrue(runs)

    def test_a_pool_of_all(self):
        pool = ingot.Pool(threads=2)

        def work(number):
            x = np.full((256, 256), number, np.float32)
            for _ in range(10):
                with self.wide.context(pool=pool) as context:
                    np.testing.assert_allclose(context(x), x, rtol=1e-5)

        self.together(work)

    def test_a_context_that_is_closed_meanwhile(self):
        def work(number):
            for _ in range(20):
                context = contexts[number // 2]
                try:
                    if number % 2:
                        context.close()
                        contexts[number // 2] = ingot.Context(self.wide, threads=1)
                    else:
                        np.testing.assert_allclose(context(self.x), self.x, rtol=1e-5)
                        context.trim()
                except (ingot.Busy, ingot.InvalidArgument):
                    pass

        contexts = [ingot.Context(self.wide, threads=1) for _ in range(THREADS)]
        self.together(work)

    def test_the_first_description(self):
        model = ingot.load(self.wide.path)
        self.together(lambda _: (model.info, model.layers, model.sha256, model.metadata, repr(model),
                                 model.infer({"x": (3, 256)})))

    def test_the_cache(self):
        def work(number):
            for size in range(3):
                x = np.zeros((1, size + 30), np.float32)
                np.testing.assert_array_equal(ingot.compile(add_one(x.shape))(x), x + 1)

        self.together(work)
