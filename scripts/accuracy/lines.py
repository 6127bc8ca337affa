"""Rendered lines of text, with noise, blur, low contrast and a tilt."""
import os
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu"
# Letters that cannot be confused with others, in any font and case.
LETTERS = "abdefghijkmnpqrtuyABDEFGHLMNQRT23456789"


def fonts():
    return [os.path.join(FONTS, name) for name in sorted(os.listdir(FONTS))
            if name.startswith(("DejaVuSans", "DejaVuSerif"))]


def random_text(rng, least, most):
    """Returns words of random letters, so that no language model helps."""
    return " ".join("".join(rng.choice(LETTERS) for _ in range(rng.randint(3, 7)))
                    for _ in range(rng.randint(least, most)))


def draw_line(rng, noise, height, width, contrasts=(40, 90)):
    """Returns (gray picture of height x width with numbers from 0 to 255, text)."""
    text = random_text(rng, 2, 3)
    font = ImageFont.truetype(rng.choice(fonts()), rng.randint(20, 30))
    left, top, right, bottom = font.getbbox(text)
    paper, contrast = rng.randint(90, 200), rng.randint(*contrasts)
    ink = paper - contrast if rng.random() < 0.7 else min(255, paper + contrast)
    picture = Image.new("L", (right - left + 16, bottom - top + 12), paper)
    ImageDraw.Draw(picture).text((8 - left, 6 - top), text, fill=ink, font=font)
    picture = picture.rotate(rng.uniform(-1.5, 1.5), Image.Resampling.BILINEAR, fillcolor=paper)
    picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.3)))
    used = min(width, max(1, round(picture.width * height / picture.height)))
    picture = picture.resize((used, height), Image.Resampling.BILINEAR)
    gray = np.full((height, width), 127.5)
    gray[:, :used] = np.asarray(picture, float)
    gray[:, :used] += noise.normal(0, rng.uniform(4, 14), (height, used))
    return np.clip(gray, 0, 255), text


def as_input(pictures):
    """Returns gray pictures as float32 of [samples, 3, height, width] from -1 to 1."""
    return np.repeat((np.stack(pictures)[:, None] / 127.5 - 1).astype(np.float32), 3, 1)


def generators(seed):
    return random.Random(seed), np.random.default_rng(seed)
