"""Finds drawn shapes: a network that marks centers and sizes, and returns boxes."""
import random

import numpy as np
from PIL import Image, ImageDraw, ImageFilter

import metrics
import tasks
import training

SIZE, CELL, LEARNT, OTHER, MOST, FOUND = 96, 8, 1200, 700, 4, 8
CELLS = SIZE // CELL
KINDS = ("rectangle", "ellipse", "triangle")


def draw(rng, noise):
    """Returns (picture of 1 x SIZE x SIZE, rows of x1, y1, x2, y2, class)."""
    paper = rng.randint(60, 200)
    picture, rows = Image.new("L", (SIZE, SIZE), paper), []
    for _ in range(rng.randint(1, MOST)):
        width, height = rng.randint(12, 40), rng.randint(12, 40)
        x, y = rng.randint(1, SIZE - width - 2), rng.randint(1, SIZE - height - 2)
        box = (x, y, x + width, y + height)
        if any(metrics.intersection_over_union(box, row) > 0 for row in rows):
            continue
        kind, ink = rng.randrange(len(KINDS)), paper + rng.choice((-1, 1)) * rng.randint(20, 60)
        pen = ImageDraw.Draw(picture)
        if kind == 2:
            pen.polygon([(x, y + height), (x + width, y + height), (x + width // 2, y)], fill=ink)
        else:
            (pen.rectangle if kind == 0 else pen.ellipse)(box, fill=ink)
        rows.append((*box, kind))
    gray = np.asarray(picture.filter(ImageFilter.GaussianBlur(rng.uniform(0.2, 1.5))), float)
    gray = gray + noise.normal(0, rng.uniform(5, 25), gray.shape)
    return (gray / 127.5 - 1).astype(np.float32)[None], rows


def targets(rows):
    """Returns, for each cell: class + 1 or 0, and the distances of the box from the center of the cell."""
    wanted = np.zeros((5, CELLS, CELLS), np.float32)
    for x1, y1, x2, y2, kind in rows:
        column, row = int((x1 + x2) / 2 / CELL), int((y1 + y2) / 2 / CELL)
        x, y = (column + 0.5) * CELL, (row + 0.5) * CELL
        wanted[:, row, column] = kind + 1, (x - x1) / 16, (y - y1) / 16, (x2 - x) / 16, (y2 - y) / 16
    return wanted


def network():
    from torch import nn

    def block(inside, outside, stride):
        return nn.Sequential(nn.Conv2d(inside, outside, 3, stride, 1, bias=False), nn.BatchNorm2d(outside), nn.SiLU())

    return nn.Sequential(block(1, 16, 2), block(16, 32, 2), block(32, 32, 1), block(32, 64, 2), block(64, 64, 1),
                         block(64, 64, 1), block(64, 64, 1), nn.Conv2d(64, 4 + len(KINDS), 1))


def loss(results, wanted):
    import torch
    from torch.nn import functional
    kinds = wanted[:, 0].long()
    marks = torch.stack([kinds == i + 1 for i in range(len(KINDS))], 1).float()
    score = functional.binary_cross_entropy_with_logits(results[:, :len(KINDS)], marks, reduction="none")
    score = (score * (1 + 9 * marks)).mean()
    is_box = (kinds > 0)[:, None].float()
    sizes = functional.smooth_l1_loss(results[:, len(KINDS):], wanted[:, 1:], reduction="none") * is_box
    return 10 * score + 5 * sizes.sum() / is_box.sum()


def detector(trained):
    """Returns a module whose output has a row for each of FOUND boxes: x1, y1, x2, y2, score, class."""
    import torch

    class Detector(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.trained = trained
            places = (torch.arange(CELLS) + 0.5) * CELL
            y, x = torch.meshgrid(places, places, indexing="ij")
            self.register_buffer("centers", torch.stack([x, y, x, y])[None])
            self.register_buffer("signs", torch.tensor([-16.0, -16, 16, 16]).reshape(1, 4, 1, 1))

        def forward(self, picture):
            y = self.trained(picture)
            scores = torch.sigmoid(y[:, :len(KINDS)])
            boxes = self.centers + self.signs * y[:, len(KINDS):]
            score, kind = scores.max(1, keepdim=True)
            # A cell with a higher neighbour has no box of its own.
            score = score * (score == torch.nn.functional.max_pool2d(score, 3, 1, 1)).float()
            rows = torch.cat([boxes, score, kind.float()], 1).reshape(6, CELLS * CELLS)
            _, best = rows[4].topk(FOUND)
            return rows[:, best].T

    return Detector()


def find(outputs, labels):
    for rows, wanted in zip(outputs[0].reshape(len(labels), FOUND, 6), labels):
        yield ([tuple(row[:4]) for row in wanted.tolist() if row[4] >= 0],
               [tuple(row[:4]) for row in rows.tolist() if row[4] > 0.5])


class FoundBoxes(metrics.Boxes):
    # Ingot knows this layout of boxes, and judges by average precision.
    option = "detection"


class Task(tasks.Task):
    about = "A detector of drawn shapes in noise; F1 of boxes that overlap by half."
    metric = FoundBoxes(find)
    is_trained_here = True

    def data(self, seed):
        rng, noise = random.Random(seed), np.random.default_rng(seed)
        drawn = [draw(rng, noise) for _ in range(LEARNT + OTHER)]
        pictures = np.stack([picture for picture, _ in drawn])
        training.start(seed)
        wanted = np.stack([targets(rows) for _, rows in drawn[:LEARNT]])
        model = training.fit(network(), pictures[:LEARNT], wanted, loss, 12, 32, seed=seed)
        labels = np.full((OTHER, MOST, 5), -1, np.float32)
        for row, (_, boxes) in zip(labels, drawn[LEARNT:]):
            row[:len(boxes)] = boxes
        exported = training.export(detector(model), {"picture": np.zeros((1, 1, SIZE, SIZE), np.float32)}, ["boxes"])
        return tasks.Data(exported, {"picture": pictures[LEARNT:]}, labels)
