"""Finds the pitch of sounds with the network of the package swift-f0."""
import random

import numpy as np
import onnx

import metrics
import speech
import tasks

RATE, STEP, SECONDS, SOUNDS = 16000, 256, 1, 700
# A frame is right within half a semitone.
CENTS = 50
# The frames at both ends see only a part of their window.
MARGIN = 4


def sound(rng, noise):
    """Returns (a sound with a gliding pitch in noise, the pitch of each frame)."""
    count = RATE * SECONDS
    start = 60 * 2 ** rng.uniform(0, 4)
    glide, depth, speed = rng.uniform(-0.6, 0.6), rng.uniform(0, 0.03), rng.uniform(3, 7)
    time = np.arange(count) / RATE
    pitch = start * 2 ** (glide * time + depth * np.sin(2 * np.pi * speed * time))
    phase = 2 * np.pi * np.cumsum(pitch) / RATE
    wave = np.zeros(count)
    for harmonic in range(1, rng.randint(3, 12)):
        heard = harmonic * pitch < 0.45 * RATE
        strength = rng.uniform(0.1, 1) / harmonic ** rng.uniform(0, 1.5)
        wave += heard * strength * np.sin(harmonic * phase + rng.uniform(0, 6))
    level = wave.std() * 10 ** (-rng.uniform(-10, 20) / 20)
    wave = wave + level * speech.colored_noise(noise, count, rng.choice((0, 0.5, 1)))
    return (wave * rng.uniform(0.1, 0.8) / np.abs(wave).max()).astype(np.float32), pitch[::STEP]


def right(outputs, labels):
    frames = min(outputs[0].shape[1], labels.shape[1])
    found, wanted = outputs[0][:, MARGIN:frames - MARGIN], labels[:, MARGIN:frames - MARGIN]
    return np.abs(1200 * np.log2(np.maximum(found, 1) / wanted)) < CENTS


class Task(tasks.Task):
    about = "The pitch estimator swift-f0 on gliding sounds in noise; right is a frame within 50 cents."
    metric = metrics.Share(right)

    def data(self, seed):
        rng, noise = random.Random(5), np.random.default_rng(5)
        sounds = [sound(rng, noise) for _ in range(SOUNDS)]
        model = onnx.load(tasks.file_of("swift_f0", "model.onnx"))
        model = tasks.with_constants(model, {"fmin": np.float32(46.875), "fmax": np.float32(2093.75)})
        return tasks.Data(tasks.with_sizes(model, {"audio": (1, RATE * SECONDS)}),
                          {"audio": np.stack([s for s, _ in sounds])}, np.stack([p for _, p in sounds]))
