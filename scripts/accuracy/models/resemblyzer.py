"""Tells speakers apart with the encoder of the package resemblyzer, three LSTMs."""
import random

import numpy as np

import metrics
import speech
import tasks
import training

FRAMES, BANDS, WIDTH = 160, 40, 256
UTTERANCES = 30
VOICES = tuple(f"en+{variant}" for variant in (
    "m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "f1", "f2", "f3", "f4", "f5", "Alex", "Andrea", "Annie", "belinda",
    "linda", "steph", "john", "max", "paul", "rob", "zac"))


def right(outputs, labels):
    """Returns true for embeddings whose nearest other embedding is of the same voice."""
    likeness = outputs[0] @ outputs[0].T
    np.fill_diagonal(likeness, -np.inf)
    return labels[likeness.argmax(1)] == labels


def encoder():
    """Returns the encoder with the package's weights: spectra of [batch, FRAMES, BANDS] to embeddings of norm 1."""
    import torch

    class Encoder(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(BANDS, WIDTH, 3, batch_first=True)
            self.linear = torch.nn.Linear(WIDTH, WIDTH)

        def forward(self, x):
            _, (state, _) = self.lstm(x)
            x = torch.relu(self.linear(state[-1]))
            return x / torch.linalg.vector_norm(x, dim=1, keepdim=True)

    model = Encoder()
    stored = torch.load(tasks.file_of("resemblyzer", "pretrained.pt"), map_location="cpu", weights_only=True)
    model.load_state_dict(stored["model_state"], strict=False)
    return model


class Task(tasks.Task):
    about = ("The speaker encoder resemblyzer on synthetic voices in noise; right is an embedding whose nearest other "
             "one is of the same voice.")
    metric = metrics.Share(right)
    batch, has_matrices = 20, True

    def data(self, seed):
        rng, noise = random.Random(4), np.random.default_rng(4)
        spectra, labels = [], []
        for number, voice in enumerate(VOICES):
            for _ in range(UTTERANCES):
                sound = np.zeros(0, np.float32)
                while len(sound) < FRAMES * 160:
                    sound = np.append(sound, speech.say(speech.sentence(rng, 3), voice, rng.randint(150, 190),
                                                        rng.randint(40, 60)))
                sound = sound[:FRAMES * 160 - 160]
                sound = sound * 10 ** (-30 / 20) / np.sqrt((sound ** 2).mean())
                sound += 0.03 * rng.uniform(0.1, 1) * speech.colored_noise(noise, len(sound), 0.5)
                spectra.append(speech.mel(sound, 400, 160, BANDS)[:FRAMES])
                labels.append(number)
        example = {"spectrum": np.zeros((self.batch, FRAMES, BANDS), np.float32)}
        model = training.export(encoder(), example, ["embedding"])
        return tasks.Data(model, {"spectrum": np.stack(spectra)}, np.array(labels))
