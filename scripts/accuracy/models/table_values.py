"""Estimates a number for each row of a table with scikit-learn's network, behind its scaler."""
import metrics
import tables
import tasks


class Task(tasks.Task):
    about = ("Scikit-learn's StandardScaler and MLPRegressor on a generated table with columns of very different size "
             "and heavy tails; the explained share of the variance.")
    metric = metrics.Variance()
    batch, is_trained_here, has_matrices = 50, True, True

    def data(self, seed):
        from sklearn.neural_network import MLPRegressor
        rows, value, rng = tables.draw(seed, 12200)
        values = (100 + 25 * value + rng.normal(0, 3, len(value))).astype("float32")
        model = MLPRegressor(hidden_layer_sizes=(256, 128), max_iter=25, random_state=seed, batch_size=128)
        learnt = 8000
        return tasks.Data(tables.train(model, rows[:learnt], values[:learnt], self.batch, "variable"),
                          {"rows": rows[learnt:]}, values[learnt:, None])
