"""Classifies rows of a table with scikit-learn's network, behind its scaler."""
import numpy as np

import metrics
import tables


class Task(tables.Task):
    about = ("Scikit-learn's StandardScaler and MLPClassifier on a generated table with columns of very different size "
             "and heavy tails; right is one of four classes.")
    metric = metrics.Classes()
    output, epochs = "probabilities", 12

    def network(self, **options):
        from sklearn.neural_network import MLPClassifier
        return MLPClassifier(**options)

    def labels(self, value, rng):
        return np.digitize(value + rng.normal(0, 0.15, len(value)), np.quantile(value, [0.25, 0.5, 0.75]))
