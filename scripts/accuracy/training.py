"""Trains small networks in seconds, and exports them."""
import io
import warnings

import numpy as np
import onnx

import tasks


def start(seed):
    import torch
    torch.manual_seed(seed)
    return torch


def fit(model, inputs, labels, loss, epochs, batch=64, rate=2e-3, seed=0):
    """Trains with Adam and a learning rate that falls to zero. `loss` gets results and labels of a batch."""
    torch = start(seed)
    optimizer = torch.optim.AdamW(model.parameters(), rate, weight_decay=1e-4)
    steps = epochs * (len(inputs) // batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2 * rate, steps)
    rng = np.random.default_rng(seed)
    inputs = torch.from_numpy(inputs)
    labels = torch.from_numpy(labels)
    model.train()
    for _ in range(epochs):
        order = torch.from_numpy(rng.permutation(len(inputs)))
        for i in range(len(inputs) // batch):
            chosen = order[i * batch:(i + 1) * batch]
            optimizer.zero_grad()
            loss(model(inputs[chosen]), labels[chosen]).backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
    return model.eval()


def cross_entropy(results, labels):
    import torch
    return torch.nn.functional.cross_entropy(results, labels)


def export(model, inputs, outputs):
    """Returns the ONNX model for inputs of these sizes."""
    import torch
    written = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.onnx.export(model.eval(), tuple(torch.from_numpy(array) for array in inputs.values()), written,
                          input_names=list(inputs), output_names=outputs, opset_version=17, dynamo=False)
    return onnx.load_from_string(written.getvalue())


class Task(tasks.Task):
    """A network that is trained on samples with torch, and gives scores."""
    batch, is_trained_here = 50, True
    # The name of the input, the epochs, and the samples of a step.
    input, epochs, step = "", 0, 64
    loss = staticmethod(cross_entropy)

    def samples(self, seed):
        """Returns (inputs, labels) to train with, and (inputs, labels) of other samples."""
        raise NotImplementedError

    def network(self):
        raise NotImplementedError

    def data(self, seed):
        (inputs, labels), (others, wanted) = self.samples(seed)
        start(seed)
        model = fit(self.network(), inputs, labels, self.loss, self.epochs, self.step, seed=seed)
        exported = export(model, {self.input: np.zeros((self.batch, *inputs.shape[1:]), inputs.dtype)}, ["scores"])
        return tasks.Data(exported, {self.input: others}, wanted)


def cut(inputs, labels, count):
    """Returns the first `count` samples, and the others."""
    return (inputs[:count], labels[:count]), (inputs[count:], labels[count:])
