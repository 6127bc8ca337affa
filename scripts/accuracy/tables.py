"""A generated table, and networks of scikit-learn that are trained on it."""
import numpy as np

import tasks

COLUMNS, LEARNT, OTHER = 24, 8000, 4200


def draw(seed, count):
    """Returns (rows, a value of each row, the generator). Columns differ in size by 10^6, and half have heavy tails."""
    rng = np.random.default_rng(1000 + seed)
    plain = rng.standard_normal((count, COLUMNS))
    weights = np.random.default_rng(9).standard_normal((COLUMNS, 6)) / COLUMNS ** 0.5
    mixed = plain @ weights
    value = (np.sin(2 * mixed[:, 0]) + mixed[:, 1] * mixed[:, 2] + np.abs(mixed[:, 3]) + 0.5 * mixed[:, 4] ** 2
             - np.tanh(3 * mixed[:, 5]))
    rows = plain.copy()
    rows[:, ::2] = np.exp(1.2 * plain[:, ::2])
    return (rows * 10 ** np.linspace(-3, 3, COLUMNS)).astype(np.float32), value, rng


def train(model, rows, labels, batch, output):
    """Returns the ONNX model of a scaler and a network, with one output."""
    from skl2onnx import convert_sklearn
    from skl2onnx.common.data_types import FloatTensorType
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        trained = make_pipeline(StandardScaler(), model).fit(rows, labels)
    options = {id(trained): {"zipmap": False}} if hasattr(model, "classes_") else None
    written = convert_sklearn(trained, initial_types=[("rows", FloatTensorType([batch, COLUMNS]))], options=options,
                              target_opset=17)
    return tasks.with_outputs(written, [output])


class Task(tasks.Task):
    """A network of scikit-learn, with a scaler before it, that is trained on the table."""
    batch, is_trained_here, has_matrices = 50, True, True
    # The name of the output, and the epochs.
    output, epochs = "", 0

    def network(self, **options):
        raise NotImplementedError

    def labels(self, value, rng):
        """Returns the labels of rows with these values."""
        raise NotImplementedError

    def data(self, seed):
        rows, value, rng = draw(seed, LEARNT + OTHER)
        labels = self.labels(value, rng)
        model = self.network(hidden_layer_sizes=(256, 128), max_iter=self.epochs, random_state=seed, batch_size=128)
        return tasks.Data(train(model, rows[:LEARNT], labels[:LEARNT], self.batch, self.output),
                          {"rows": rows[LEARNT:]}, labels[LEARNT:])
