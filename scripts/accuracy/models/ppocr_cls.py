"""Finds lines of text that stand on their head, with PP-OCR's trained classifier."""
import numpy as np
import onnx

import lines
import metrics
import tasks

HEIGHT, WIDTH, LINES = 48, 192, 1200


class Task(tasks.Task):
    about = "PP-OCR's mobile classifier of directions on rendered lines; right is upright or turned."
    metric = metrics.Classes()
    batch = 50

    def data(self, seed):
        rng, noise = lines.generators(1)
        pictures = [lines.draw_line(rng, noise, HEIGHT, WIDTH, (40, 110))[0] for _ in range(LINES)]
        labels = np.array([rng.randint(0, 1) for _ in pictures], np.int64)
        pictures = [np.rot90(p, 2) if turned else p for p, turned in zip(pictures, labels)]
        source = onnx.load(tasks.file_of("rapidocr", "models", "ch_ppocr_mobile_v2.0_cls_mobile.onnx"))
        model = tasks.with_outputs(source, [source.graph.output[0].name])
        return tasks.Data(tasks.with_sizes(model, {"x": (self.batch, 3, HEIGHT, WIDTH)}),
                          {"x": lines.as_input(pictures)}, labels)
