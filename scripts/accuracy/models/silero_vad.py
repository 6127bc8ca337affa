"""Finds speech in noise with the voice activity detector of the package silero-vad."""
import random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import metrics
import speech
import tasks

# A run of the model: frames of 512 samples, each with 64 samples before it.
FRAMES, STEP, CONTEXT, CLIPS = 64, 512, 64, 600
VOICES = ("en+m1", "en+m3", "en+m7", "en+f1", "en+f2", "en+f4", "de+m2", "fr+f5", "es+m4", "it+f3")


def clip(rng, noise):
    """Returns (sound with noise, bits of frames with speech)."""
    count = FRAMES * STEP
    clean, at = np.zeros(count, np.float32), rng.randint(0, count // 3)
    while at < count:
        word = speech.say(speech.sentence(rng, rng.randint(1, 3)), rng.choice(VOICES), rng.randint(130, 200),
                          rng.randint(30, 70))
        word = word[:count - at]
        clean[at:at + len(word)] = word * rng.uniform(0.4, 1)
        at += len(word) + rng.randint(4000, 20000)
    power = (clean.reshape(FRAMES, STEP) ** 2).mean(1)
    bits = power > 1e-3 * power.max()
    level = np.sqrt((clean[np.repeat(bits, STEP)] ** 2).mean())
    level *= 10 ** (-rng.uniform(0, 20) / 20)
    sound = clean + level * speech.colored_noise(noise, count, rng.choice((0, 0.5, 1)))
    return sound * 0.5 / np.abs(sound).max(), bits


class Task(tasks.Task):
    about = ("The voice activity detector silero-vad on two seconds of synthetic speech in noise; F1 of frames.")
    metric = metrics.Bits()
    calibration = 200

    def data(self, seed):
        rng, noise = random.Random(3), np.random.default_rng(3)
        clips = [clip(rng, noise) for _ in range(CLIPS)]
        sounds = np.stack([np.pad(sound, (CONTEXT, 0)) for sound, _ in clips]).astype(np.float32)
        windows = np.lib.stride_tricks.sliding_window_view(sounds, STEP + CONTEXT, 1)[:, ::STEP]
        model = onnx.load(tasks.file_of("silero_vad", "data", "silero_vad_16k_sequence.onnx"))
        zeros = np.zeros((1, 1, 128), np.float32)
        return tasks.Data(with_batch(tasks.with_constants(model, {"h": zeros, "c": zeros})),
                          {"frames": np.ascontiguousarray(windows)}, np.stack([bits for _, bits in clips]).astype(int))


def with_batch(model):
    """Adds a first dimension of 1 for samples, and keeps the probabilities only."""
    graph = model.graph
    graph.initializer.extend([numpy_helper.from_array(np.array([FRAMES, STEP + CONTEXT]), "flat_sizes"),
                              numpy_helper.from_array(np.array([1, FRAMES]), "sample_sizes")])
    graph.node.insert(0, helper.make_node("Reshape", ["frames", "flat_sizes"], ["input"], name="/flatten"))
    graph.node.append(helper.make_node("Reshape", ["speech_probs", "sample_sizes"], ["speech"], name="/sample"))
    del graph.input[:], graph.output[:]
    graph.input.append(helper.make_tensor_value_info("frames", TensorProto.FLOAT, [1, FRAMES, STEP + CONTEXT]))
    graph.output.append(helper.make_tensor_value_info("speech", TensorProto.FLOAT, [1, FRAMES]))
    return model
