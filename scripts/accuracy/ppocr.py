"""Reads rendered lines of text with PP-OCR's trained recognizer. They are so hard that fp32 misreads some."""
import importlib.util
import os
import random

import numpy as np
import onnx
from PIL import Image, ImageDraw, ImageFilter, ImageFont

FONTS = "/usr/share/fonts/truetype/dejavu"
HEIGHT, WIDTH, LINES = 48, 320, 2000
# Letters that cannot be confused with others, in any font and case.
LETTERS = "abdefghijkmnpqrtuyABDEFGHLMNQRT23456789"


def model_path():
    found = importlib.util.find_spec("rapidocr")
    if not found:
        raise SystemExit("accuracy: the package rapidocr is missing: run `make accuracy`")
    return os.path.join(os.path.dirname(found.origin), "models", "PP-OCRv6_rec_small.onnx")


def draw_line(rng, noise):
    """Returns (image of HEIGHT x WIDTH x 3, text). Words have random letters, so that no language model helps."""
    words = ["".join(rng.choice(LETTERS) for _ in range(rng.randint(3, 7))) for _ in range(rng.randint(2, 3))]
    text = " ".join(words)
    fonts = sorted(f for f in os.listdir(FONTS) if f.startswith(("DejaVuSans", "DejaVuSerif")))
    font = ImageFont.truetype(os.path.join(FONTS, rng.choice(fonts)), rng.randint(20, 30))
    left, top, right, bottom = font.getbbox(text)
    paper, contrast = rng.randint(90, 200), rng.randint(40, 90)
    ink = paper - contrast if rng.random() < 0.7 else min(255, paper + contrast)
    picture = Image.new("L", (right - left + 16, bottom - top + 12), paper)
    ImageDraw.Draw(picture).text((8 - left, 6 - top), text, fill=ink, font=font)
    picture = picture.rotate(rng.uniform(-1.5, 1.5), Image.Resampling.BILINEAR, fillcolor=paper)
    picture = picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.3, 1.3)))
    width = min(WIDTH, max(1, round(picture.width * HEIGHT / picture.height)))
    picture = picture.resize((width, HEIGHT), Image.Resampling.BILINEAR)
    gray = np.full((HEIGHT, WIDTH), 127.5)
    gray[:, :width] = np.asarray(picture, float)
    gray[:, :width] += noise.normal(0, rng.uniform(4, 14), (HEIGHT, width))
    return np.repeat(np.clip(gray, 0, 255)[None], 3, 0), text


class Task:
    name, batch, calibration = "ppocr_rec", 20, 200
    has_matrices = False

    def __init__(self):
        rng, noise = random.Random(0), np.random.default_rng(0)
        lines = [draw_line(rng, noise) for _ in range(LINES)]
        pictures = np.stack([picture for picture, _ in lines])
        self.inputs = {"x": (pictures / 127.5 - 1).astype(np.float32)}
        self.texts = [text for _, text in lines]
        self.source = onnx.load(model_path())
        characters = next(p.value for p in self.source.metadata_props if p.key == "character").split("\n")
        self.characters = ["", *characters, " "]

    def model(self, batch):
        model = onnx.ModelProto()
        model.CopyFrom(self.source)
        for dim, size in zip(model.graph.input[0].type.tensor_type.shape.dim, (batch, 3, HEIGHT, WIDTH)):
            dim.dim_value = size
        return model

    def read(self, scores):
        """Returns the text of [time, characters] by CTC: repetitions and blanks are dropped."""
        best = scores.argmax(1)
        kept = best[np.r_[True, best[1:] != best[:-1]] & (best != 0)]
        return "".join(self.characters[i] for i in kept).strip()

    def score(self, outputs):
        """Returns the percentage of lines that are read without an error."""
        (scores,) = outputs.values()
        return 100 * float(np.mean([self.read(s) == text for s, text in zip(scores, self.texts)]))
