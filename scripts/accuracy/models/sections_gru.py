"""Classifies descriptions of Debian packages by section, with an embedding of words and a GRU in both directions."""
import re
import zlib

import numpy as np

import metrics
import training
from texts import descriptions

SECTIONS, TEXTS, LENGTH, WORDS, LEARNT = 10, 700, 24, 4096, 4800


def tokens(text):
    """Returns numbers of words from 1 to WORDS - 1, and 0 behind them."""
    words = re.findall(r"[a-z0-9+]+", text.lower())[:LENGTH]
    row = [1 + zlib.crc32(word.encode()) % (WORDS - 1) for word in words]
    return row + [0] * (LENGTH - len(row))


def network():
    from torch import nn

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.words = nn.Embedding(WORDS, 64, padding_idx=0)
            self.gru = nn.GRU(64, 96, batch_first=True, bidirectional=True)
            self.drop = nn.Dropout(0.3)
            self.last = nn.Linear(192, SECTIONS)

        def forward(self, ids):
            states, _ = self.gru(self.drop(self.words(ids)))
            return self.last(self.drop(states.amax(1)))

    return Network()


class Task(training.Task):
    about = "A GRU in both directions on descriptions of Debian packages; right is the section."
    metric = metrics.Classes()
    input, epochs, has_matrices = "ids", 8, True
    network = staticmethod(network)

    def samples(self, seed):
        chosen = descriptions(SECTIONS, TEXTS)
        _, labels = np.unique([section for section, _ in chosen], return_inverse=True)
        ids = np.array([tokens(text) for _, text in chosen], np.int64)
        order = np.random.default_rng(200 + seed).permutation(len(labels))
        return training.cut(ids[order], labels[order], LEARNT)
