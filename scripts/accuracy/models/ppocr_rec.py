"""Reads rendered lines of text with PP-OCR's trained recognizer. They are so hard that fp32 misreads some."""
import numpy as np
import onnx

import lines
import metrics
import tasks

HEIGHT, WIDTH, LINES = 48, 320, 1000
LONGEST = 32


class Task(tasks.Task):
    about = "PP-OCRv6's small recognizer on rendered lines; the share of right characters after greedy CTC."
    metric = metrics.Sequences()
    batch = 20

    def data(self, seed):
        rng, noise = lines.generators(0)
        drawn = [lines.draw_line(rng, noise, HEIGHT, WIDTH) for _ in range(LINES)]
        source = onnx.load(tasks.file_of("rapidocr", "models", "PP-OCRv6_rec_small.onnx"))
        characters = next(p.value for p in source.metadata_props if p.key == "character").split("\n")
        numbers = {character: i for i, character in enumerate(["", *characters, " "])}
        labels = np.zeros((LINES, LONGEST), np.int64)
        for row, (_, text) in zip(labels, drawn):
            row[:len(text)] = [numbers[character] for character in text]
        model = tasks.with_sizes(source, {"x": (self.batch, 3, HEIGHT, WIDTH)})
        return tasks.Data(model, {"x": lines.as_input([picture for picture, _ in drawn])}, labels)
