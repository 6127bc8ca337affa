"""Reads rendered letters with a network of depthwise convolutions, squeeze-and-excitation and hard swish."""
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

import lines
import metrics
import training

SIZE, LEARNT, OTHER = 32, 6000, 1800


def network():
    from torch import nn

    class Block(nn.Module):
        def __init__(self, inside, outside, stride, wide=3):
            super().__init__()
            middle = wide * inside
            self.first = nn.Sequential(nn.Conv2d(inside, middle, 1, bias=False), nn.BatchNorm2d(middle), nn.Hardswish())
            self.depthwise = nn.Sequential(nn.Conv2d(middle, middle, 3, stride, 1, groups=middle, bias=False),
                                           nn.BatchNorm2d(middle), nn.Hardswish())
            self.gate = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Conv2d(middle, middle // 4, 1), nn.ReLU(),
                                      nn.Conv2d(middle // 4, middle, 1), nn.Hardsigmoid())
            self.last = nn.Sequential(nn.Conv2d(middle, outside, 1, bias=False), nn.BatchNorm2d(outside))
            self.is_residual = stride == 1 and inside == outside

        def forward(self, x):
            y = self.depthwise(self.first(x))
            y = self.last(y * self.gate(y))
            return x + y if self.is_residual else y

    return nn.Sequential(nn.Conv2d(1, 16, 3, 2, 1, bias=False), nn.BatchNorm2d(16), nn.Hardswish(), Block(16, 16, 1),
                         Block(16, 24, 2), Block(24, 24, 1), Block(24, 40, 2), Block(40, 40, 1),
                         nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(40, 96), nn.Hardswish(),
                         nn.Linear(96, len(lines.LETTERS)))


def glyph(rng, noise, number):
    font = ImageFont.truetype(rng.choice(lines.fonts()), rng.randint(15, 26))
    paper = rng.randint(60, 200)
    picture = Image.new("L", (SIZE, SIZE), paper)
    ink = paper + rng.choice((-1, 1)) * rng.randint(30, 60)
    ImageDraw.Draw(picture).text((rng.randint(2, 12), rng.randint(-2, 5)), lines.LETTERS[number], fill=ink, font=font)
    picture = picture.rotate(rng.uniform(-15, 15), Image.Resampling.BILINEAR, fillcolor=paper)
    gray = np.asarray(picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 1.2))), float)
    return ((gray + noise.normal(0, rng.uniform(5, 18), gray.shape)) / 127.5 - 1).astype(np.float32)


class Task(training.Task):
    about = "A network as MobileNetV3 for rendered letters with noise, blur and a tilt."
    metric = metrics.Classes()
    input, epochs = "picture", 12
    network = staticmethod(network)

    def samples(self, seed):
        rng, noise = random.Random(seed), np.random.default_rng(seed)
        labels = np.array([rng.randrange(len(lines.LETTERS)) for _ in range(LEARNT + OTHER)])
        pictures = np.stack([glyph(rng, noise, number) for number in labels])[:, None]
        return training.cut(pictures, labels, LEARNT)
