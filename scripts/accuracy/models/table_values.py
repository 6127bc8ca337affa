"""Estimates a number for each row of a table with scikit-learn's network, behind its scaler."""
import metrics
import tables


class Task(tables.Task):
    about = ("Scikit-learn's StandardScaler and MLPRegressor on a generated table with columns of very different size "
             "and heavy tails; the explained share of the variance.")
    metric = metrics.Variance()
    output, epochs = "variable", 25

    def network(self, **options):
        from sklearn.neural_network import MLPRegressor
        return MLPRegressor(**options)

    def labels(self, value, rng):
        return (100 + 25 * value + rng.normal(0, 3, len(value))).astype("float32")[:, None]
