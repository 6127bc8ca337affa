"""Estimates the quality of speech with DNSMOS of the package speechmos: three scores."""
import random

import numpy as np
import onnx

import metrics
import speech
import tasks

COUNT, CLIPS = 144160, 200
VOICES = ("en+m1", "en+m3", "en+m7", "en+f1", "en+f2", "en+f4", "de+m2", "fr+f5")


def clip(rng, noise):
    """Returns nine seconds of speech with noise, clipping and a cut of high frequencies."""
    sound = np.zeros(0, np.float32)
    voice = rng.choice(VOICES)
    while len(sound) < COUNT:
        pause = np.zeros(rng.randint(1000, 16000), np.float32)
        sound = np.concatenate([sound, speech.say(speech.sentence(rng, 5), voice, rng.randint(130, 190)), pause])
    sound = sound[:COUNT] / np.abs(sound[:COUNT]).max()
    level = sound.std() * 10 ** (-rng.uniform(-5, 40) / 20)
    sound = sound + level * speech.colored_noise(noise, COUNT, rng.choice((0, 0.5, 1)))
    if rng.random() < 0.3:
        top = rng.uniform(0.1, 0.6) * np.abs(sound).max()
        sound = np.clip(sound, -top, top)
    if rng.random() < 0.3:
        spectrum = np.fft.rfft(sound)
        spectrum[int(len(spectrum) * rng.uniform(0.2, 0.7)):] = 0
        sound = np.fft.irfft(spectrum, COUNT)
    return (sound * rng.uniform(0.1, 0.9) / np.abs(sound).max()).astype(np.float32)


class Task(tasks.Task):
    about = ("DNSMOS of speechmos on synthetic speech in noise; the explained share of the variance of the worst of "
             "three scores. Nobody has rated synthetic speech: the labels are the scores of ONNX Runtime.")
    metric = metrics.Variance()
    calibration = 60

    def data(self, seed):
        rng, noise = random.Random(7), np.random.default_rng(7)
        clips = {"input_1": np.stack([clip(rng, noise) for _ in range(CLIPS)])}
        model = onnx.load(tasks.file_of("speechmos", "dnsmos_models", "sig_bak_ovr.onnx"))
        model = tasks.with_outputs(tasks.with_sizes(model, {"input_1": (self.batch, COUNT)}), ["Identity:0"])
        return tasks.Data(model, clips, tasks.run_onnxruntime(model, clips, 1))
