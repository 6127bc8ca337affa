"""Estimators of scikit-learn: `ingot.compile(pipeline, args=rows)`."""
import unittest
import warnings

import numpy as np

import ingot
from support import Case

try:
    import skl2onnx  # noqa: F401 -- ingot.compile needs it
    from sklearn.ensemble import GradientBoostingRegressor, RandomForestClassifier
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
except ImportError:
    skl2onnx = None


@unittest.skipIf(skl2onnx is None, "scikit-learn or skl2onnx is not installed")
class Estimators(Case):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        rng = np.random.default_rng(0)
        cls.x = rng.normal(size=(500, 6)).astype(np.float32)
        cls.labels = (cls.x[:, 0] + cls.x[:, 1] ** 2 > 1).astype(np.int64)
        warnings.simplefilter("ignore")

    def check_classifier(self, estimator):
        estimator.fit(self.x, self.labels)
        model = ingot.compile(estimator, args=self.x[:1])
        labels, shares = model(self.x)
        np.testing.assert_array_equal(labels, estimator.predict(self.x))
        np.testing.assert_allclose(shares, estimator.predict_proba(self.x), rtol=1e-4, atol=1e-5)
        self.assertEqual(model(self.x[:3])[0].shape, (3,))

    def test_pipelines(self):
        self.check_classifier(make_pipeline(StandardScaler(), LogisticRegression()))

    def test_forests(self):
        self.check_classifier(RandomForestClassifier(20, random_state=0))

    def test_regressors(self):
        estimator = GradientBoostingRegressor(n_estimators=20, random_state=0).fit(self.x, self.x[:, 0] * 3)
        y = ingot.compile(estimator, args=self.x[:1])(self.x)
        np.testing.assert_allclose(y.reshape(-1), estimator.predict(self.x), rtol=1e-4, atol=1e-5)

    def test_rows_are_needed(self):
        self.assert_fails(ingot.InvalidArgument, "needs args=, some rows", ingot.compile, StandardScaler().fit(self.x))
