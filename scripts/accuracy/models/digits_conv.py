"""Reads handwritten digits with a small convolutional network."""
import numpy as np

import metrics
import training

COPIES = 3


def network():
    from torch import nn

    def block(inside, outside, stride):
        return nn.Sequential(nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.ReLU())

    return nn.Sequential(block(1, 32, 1), block(32, 64, 2), block(64, 64, 1), block(64, 64, 2), nn.AdaptiveAvgPool2d(1),
                         nn.Flatten(), nn.Linear(64, 10))


def spoil(pictures, rng):
    """Returns pictures of 16 x 16 with noise, moved by up to two pixels, in random contrast."""
    large = np.zeros((len(pictures), 1, 16, 16), np.float32)
    for target, picture in zip(large, pictures.repeat(2, 1).repeat(2, 2)):
        target[0] = np.roll(picture, tuple(rng.integers(-2, 3, 2)), (0, 1)) * rng.uniform(0.3, 1) / 16
    return (large + rng.normal(0, 0.22, large.shape)).astype(np.float32)


class Task(training.Task):
    about = "A convolutional network for scikit-learn's handwritten digits, moved and with noise."
    metric = metrics.Classes()
    input, epochs = "picture", 6
    network = staticmethod(network)

    def samples(self, seed):
        from sklearn.datasets import load_digits
        pictures, labels = load_digits(return_X_y=True)
        pictures, rng = pictures.reshape(-1, 8, 8), np.random.default_rng(100 + seed)
        order = rng.permutation(len(labels))
        learnt, other = np.repeat(order[:900], 5), np.repeat(order[900:], COPIES)
        return (spoil(pictures[learnt], rng), labels[learnt]), (spoil(pictures[other], rng), labels[other])
