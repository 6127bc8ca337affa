"""Classifies rows of a table with scikit-learn's network, behind its scaler."""
import numpy as np

import metrics
import tables
import tasks


class Task(tasks.Task):
    about = ("Scikit-learn's StandardScaler and MLPClassifier on a generated table with columns of very different size "
             "and heavy tails; right is one of four classes.")
    metric = metrics.Classes()
    batch, is_trained_here, has_matrices = 50, True, True

    def data(self, seed):
        from sklearn.neural_network import MLPClassifier
        rows, value, rng = tables.draw(seed, 12200)
        labels = np.digitize(value + rng.normal(0, 0.15, len(value)), np.quantile(value, [0.25, 0.5, 0.75]))
        model = MLPClassifier(hidden_layer_sizes=(256, 128), max_iter=12, random_state=seed, batch_size=128)
        learnt = 8000
        return tasks.Data(tables.train(model, rows[:learnt], labels[:learnt], self.batch, "probabilities"),
                          {"rows": rows[learnt:]}, labels[learnt:])
