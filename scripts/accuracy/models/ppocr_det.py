"""Finds lines of text in pictures with PP-OCR's trained detector."""
import numpy as np
import onnx
from PIL import Image, ImageDraw, ImageFilter, ImageFont

import lines
import metrics
import tasks

SIZE, PICTURES, MOST = 256, 500, 6
MEAN, DEVIATION = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])


def draw_page(rng, noise):
    """Returns (gray picture, boxes)."""
    paper = rng.randint(90, 220)
    page = Image.new("L", (SIZE, SIZE), paper)
    boxes, y = [], rng.randint(4, 30)
    while y < SIZE - 40 and len(boxes) < MOST:
        font = ImageFont.truetype(rng.choice(lines.fonts()), rng.randint(11, 26))
        text = lines.random_text(rng, 1, 3)
        left, top, right, bottom = font.getbbox(text)
        x = rng.randint(4, 60)
        if x + right - left < SIZE - 4 and y + bottom - top < SIZE - 4:
            contrast = rng.randint(25, 90)
            ink = paper - contrast if rng.random() < 0.6 else min(255, paper + contrast)
            ImageDraw.Draw(page).text((x - left, y - top), text, fill=ink, font=font)
            boxes.append((x, y, x + right - left, y + bottom - top))
        y += bottom - top + rng.randint(8, 40)
    page = np.asarray(page.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 1.2))), float)
    return np.clip(page + noise.normal(0, rng.uniform(4, 16), page.shape), 0, 255), boxes


def boxes_of(scores):
    """Returns the boxes of a map of probabilities. The model marks the middle of each line, so boxes are widened."""
    from scipy import ndimage
    marked, _ = ndimage.label(scores > 0.3)
    found = []
    for number, (rows, columns) in enumerate(ndimage.find_objects(marked), 1):
        height, width = rows.stop - rows.start, columns.stop - columns.start
        if min(height, width) < 3 or scores[rows, columns][marked[rows, columns] == number].mean() < 0.5:
            continue
        margin = 1.5 * width * height / (2 * (width + height))
        found.append((columns.start - margin, rows.start - margin, columns.stop + margin, rows.stop + margin))
    return found


def find(outputs, labels):
    for scores, boxes in zip(outputs[0], labels):
        yield [box for box in boxes.tolist() if box[2] > box[0]], boxes_of(scores[0])


class Task(tasks.Task):
    about = "PP-OCRv6's small detector of lines on rendered pages; F1 of boxes that overlap by half."
    metric = metrics.Boxes(find)
    batch, calibration = 4, 100

    def data(self, seed):
        rng, noise = lines.generators(2)
        pages = [draw_page(rng, noise) for _ in range(PICTURES)]
        labels = np.zeros((PICTURES, MOST, 4), np.float32)
        for row, (_, boxes) in zip(labels, pages):
            row[:len(boxes)] = boxes
        gray = np.stack([page for page, _ in pages])[:, None] / 255
        pictures = (gray - MEAN[:, None, None]) / DEVIATION[:, None, None]
        source = onnx.load(tasks.file_of("rapidocr", "models", "PP-OCRv6_det_small.onnx"))
        return tasks.Data(tasks.with_sizes(source, {"x": (self.batch, 3, SIZE, SIZE)}),
                          {"x": pictures.astype(np.float32)}, labels)
