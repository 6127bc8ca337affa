"""Speech from a synthesizer, and its spectra."""
import ctypes
import functools
import os

import numpy as np

import tasks

RATE = 16000
SYLLABLES = ("ba", "den", "ki", "lo", "mur", "sa", "tir", "vo", "pel", "gra", "shi", "nu", "fost", "ka", "lem", "ro")


@functools.lru_cache(maxsize=None)
def library():
    folder = tasks.file_of("espeakng_loader", "")
    found = ctypes.CDLL(os.path.join(folder, "libespeak-ng.so"))
    # 2 is for synchronous synthesis without a sound device.
    rate = found.espeak_Initialize(2, 0, os.path.join(folder, "espeak-ng-data").encode(), 0)
    if rate <= 0:
        raise SystemExit("accuracy: the speech synthesizer does not start")
    return found, rate


def say(text, voice, words_a_minute=170, pitch=50):
    """Returns the sound of a text at RATE, from -1 to 1. `voice` is a language and a variant, such as en+f3."""
    found, rate = library()
    parts = []

    @ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.c_short), ctypes.c_int, ctypes.c_void_p)
    def take(samples, count, _):
        if samples and count:
            parts.append(np.ctypeslib.as_array(samples, (count,)).copy())
        return 0

    found.espeak_SetSynthCallback(take)
    if found.espeak_SetVoiceByName(voice.encode()):
        raise SystemExit(f"accuracy: the speech synthesizer has no voice {voice}")
    # 1 is the rate, and 3 is the pitch.
    found.espeak_SetParameter(1, words_a_minute, 0)
    found.espeak_SetParameter(3, pitch, 0)
    content = text.encode()
    found.espeak_Synth(content, len(content) + 1, 0, 1, 0, 1, None, None)
    sound = np.concatenate(parts).astype(np.float32) / 32768
    places = np.arange(0, len(sound) - 1, rate / RATE)
    return np.interp(places, np.arange(len(sound)), sound).astype(np.float32)


def sentence(rng, words):
    """Returns invented words."""
    return " ".join("".join(rng.choice(SYLLABLES) for _ in range(rng.randint(1, 3))) for _ in range(words))


def colored_noise(noise, count, slope):
    """Returns noise with a power of 1. Its spectrum falls with this exponent of the frequency."""
    spectrum = np.fft.rfft(noise.standard_normal(count))
    spectrum[1:] /= np.arange(1, len(spectrum)) ** slope
    spectrum[0] = 0
    sound = np.fft.irfft(spectrum, count)
    return (sound / sound.std()).astype(np.float32)


def mel_filters(size, bands):
    """Returns triangles on Slaney's mel scale with equal areas, as [bands, size / 2 + 1]."""
    def to_mel(f):
        return np.where(f < 1000, f * 3 / 200, 15 + 27 * np.log(np.maximum(f, 1) / 1000) / np.log(6.4))

    def to_hertz(m):
        return np.where(m < 15, m * 200 / 3, 1000 * np.exp((m - 15) * np.log(6.4) / 27))

    edges = to_hertz(np.linspace(0, float(to_mel(np.float64(RATE / 2))), bands + 2))
    places = np.fft.rfftfreq(size, 1 / RATE)
    up = (places - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    down = (edges[2:, None] - places) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(up, down)) * (2 / (edges[2:] - edges[:-2]))[:, None]


def mel(sound, size, step, bands):
    """Returns the mel spectrum of power, as [frames, bands]."""
    padded = np.pad(sound, size // 2)
    frames = np.lib.stride_tricks.sliding_window_view(padded, size)[::step] * np.hanning(size + 1)[:-1]
    return (np.abs(np.fft.rfft(frames)) ** 2 @ mel_filters(size, bands).T).astype(np.float32)
