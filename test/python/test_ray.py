"""Models in Ray Data and Ray Serve, on a local Ray of two CPUs."""
import os
import unittest

import numpy as np

import ingot
import ingot.ray
from support import Case, add_one

# A busy machine may need longer than a minute to start Ray.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "300")
os.environ.setdefault("RAY_DATA_DISABLE_PROGRESS_BARS", "1")
try:
    import ray
    from ray import serve
except ImportError:
    ray = None


@unittest.skipIf(ray is None, "ray is not installed")
class Ray(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.open = os.path.join(cls.models, "open.so")
        ingot.compile(add_one(("n", 4)), cls.open)
        cls.fixed = os.path.join(cls.models, "fixed.so")
        ingot.compile(add_one((2, 4)), cls.fixed)
        ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
                 object_store_memory=100 << 20)
        cls.addClassCleanup(ray.shutdown)
        ray.data.DataContext.get_current().enable_progress_bars = False
        cls.x = np.arange(80, dtype=np.float32).reshape(20, 4)

    def rows(self):
        return ray.data.from_items([{"x": row, "id": i} for i, row in enumerate(self.x)])

    def check(self, dataset):
        found = sorted(dataset.take_all(), key=lambda row: row["id"])
        self.assertEqual([row["id"] for row in found], list(range(20)))
        np.testing.assert_array_equal([row["y"] for row in found], self.x + 1)
        return found

    def test_map_batches(self):
        found = self.check(self.rows().map_batches(ingot.ray.Predictor, fn_constructor_args=[self.open], num_cpus=1, batch_size=8,
                                                   compute=ray.data.ActorPoolStrategy(size=1)))
        self.assertIn("x", found[0])

    def test_a_fixed_batch_and_other_columns(self):
        dataset = self.rows().rename_columns({"x": "features"})
        found = self.check(dataset.map_batches(
            ingot.ray.Predictor, fn_constructor_args=[self.fixed], num_cpus=1, batch_size=4,
            compute=ray.data.ActorPoolStrategy(size=1),
            fn_constructor_kwargs={"columns": {"x": "features"}, "keep": False}))
        self.assertNotIn("features", found[0])

    def test_wrong_batches(self):
        def fail(model, batch, **settings):
            @ray.remote(num_cpus=2)
            def work():
                predictor = ingot.ray.Predictor(model, **settings)
                assert predictor._threads == 2
                try:
                    return predictor(batch)
                except ingot.Error as error:
                    return f"{type(error).__name__}: {error}"
            return ray.get(work.remote())

        ragged = np.array([np.ones(4, np.float32), np.ones(3, np.float32)], object)
        for model, batch, text in (
                (self.open, {"z": self.x}, "InvalidArgument: input 'x': expected a column 'x', but the batch has 'z'"),
                (self.fixed, {"x": self.x[:3]}, "InvalidArgument: the model takes 2 rows, but the batch has 3"),
                (self.open, {"x": ragged}, "InvalidArgument: input 'x': expected rows of one shape"),
                (self.open, {"x": self.x.astype(np.float64)}, "InvalidType: input 'x': expected elements of type float32")):
            with self.subTest(text):
                self.assertTrue(fail(model, batch).startswith(text), fail(model, batch))

    def test_not_in_ray(self):
        ray.shutdown()
        try:
            self.assert_fails(NotImplementedError, "in an actor of Ray", ingot.ray.Predictor, self.open)
        finally:
            ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="ERROR",
                     object_store_memory=100 << 20)

    def test_server(self):
        import httpx
        app = serve.deployment(ingot.ray.Server, ray_actor_options={"num_cpus": 1}).bind(self.open, max_batch_size=8)
        handle = serve.run(app, route_prefix="/")
        self.addCleanup(serve.shutdown)
        answers = [handle.remote({"x": row}) for row in self.x]
        for row, answer in zip(self.x, answers):
            np.testing.assert_array_equal(answer.result()["y"], row + 1)
        answer = httpx.post("http://127.0.0.1:8000/", json={"x": [1, 2, 3, 4]}, timeout=60)
        self.assertEqual(answer.json(), {"y": [2, 3, 4, 5]})
        # A wrong request fails alone.
        wrong, right = handle.remote({"x": self.x[0, :3]}), handle.remote({"x": self.x[0]})
        with self.assertRaisesRegex(Exception, r"expected a row of shape \(4,\), but got \(3,\)"):
            wrong.result()
        np.testing.assert_array_equal(right.result()["y"], self.x[0] + 1)
        with self.assertRaisesRegex(Exception, "expected a row for the inputs 'x', but got 'z'"):
            handle.remote({"z": 1}).result()
