"""Reads sequences of tones from spectra, with a convolution and a GRU that were trained with CTC."""
import random

import numpy as np

import metrics
import speech
import training

TONES, MOST, FRAMES, BANDS, LEARNT, OTHER = 12, 6, 64, 40, 2000, 1000


def draw(rng, noise):
    """Returns (spectrum of FRAMES x BANDS, numbers of tones from 1 on)."""
    count = FRAMES * 160
    sound, at, numbers = np.zeros(count), rng.randint(0, 800), []
    while at < count - 1200 and len(numbers) < MOST:
        length = min(rng.randint(900, 2400), count - at)
        number = rng.randrange(TONES)
        time = np.arange(length) / speech.RATE
        pitch = 220 * 2 ** (number / 6) * 2 ** (rng.uniform(-0.25, 0.25) / 12)
        wave = sum(np.sin(2 * np.pi * h * pitch * time + rng.uniform(0, 6)) / h for h in range(1, 5))
        sound[at:at + length] += wave * np.hanning(length) * rng.uniform(0.3, 1)
        at += length + rng.randint(-200, 1200)
        numbers.append(number + 1)
    sound += rng.uniform(0.1, 0.7) * speech.colored_noise(noise, count, rng.choice((0, 0.5)))
    return np.log(speech.mel(sound, 400, 160, BANDS)[:FRAMES] + 1e-5), numbers


def network():
    from torch import nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Conv1d(BANDS, 96, 5, 1, 2), nn.BatchNorm1d(96), nn.ReLU())
            self.gru = nn.GRU(96, 96, batch_first=True, bidirectional=True)
            self.last = nn.Linear(192, TONES + 1)

        def forward(self, x):
            states, _ = self.gru(self.first(x.transpose(1, 2)).transpose(1, 2))
            return self.last(states)

    return Network()


def loss(results, labels):
    import torch
    lengths = torch.full((len(labels),), FRAMES)
    return torch.nn.functional.ctc_loss(results.log_softmax(2).transpose(0, 1), labels, lengths, (labels > 0).sum(1),
                                        zero_infinity=True)


class Task(training.Task):
    about = "A convolution and a GRU with CTC on sequences of tones in noise; the share of right tones."
    metric = metrics.Sequences()
    input, epochs, step = "spectrum", 14, 32
    network, loss = staticmethod(network), staticmethod(loss)

    def samples(self, seed):
        rng, noise = random.Random(seed), np.random.default_rng(seed)
        drawn = [draw(rng, noise) for _ in range(LEARNT + OTHER)]
        spectra = np.stack([spectrum for spectrum, _ in drawn]).astype(np.float32)
        labels = np.zeros((len(drawn), MOST), np.int64)
        for row, (_, numbers) in zip(labels, drawn):
            row[:len(numbers)] = numbers
        return training.cut(spectra, labels, LEARNT)
