"""Scores of outputs against labels, independent of Ingot's own metrics.

A metric makes a few numbers of each sample (`parts`), and a percentage of their sums (`score`). So the noise of a score
follows from drawing samples again.
"""
import numpy as np

DRAWS = 400


class Metric:
    # The value of --metric. None leaves the choice to Ingot; "command" runs `python scripts/accuracy --judge`.
    option = None

    def parts(self, outputs, labels):
        """Returns an array of [samples, numbers]. Outputs are a list of arrays in the model's order."""
        raise NotImplementedError

    def score(self, sums):
        """Returns percent. `sums` may have dimensions before the last one."""
        return 100 * sums[..., 0] / np.maximum(sums[..., 1], 1)


class Share(Metric):
    """The share of right results; `right` says how many of each sample are right."""
    option = "command"

    def __init__(self, right):
        self.right = right

    def parts(self, outputs, labels):
        right = np.asarray(self.right(outputs, labels), float).reshape(len(labels), -1)
        return np.stack([right.sum(1), np.full(len(labels), right.shape[1])], 1)


class Classes(Metric):
    def parts(self, outputs, labels):
        right = (outputs[0].argmax(-1) == labels).reshape(len(labels), -1)
        return np.stack([right.sum(1), np.full(len(labels), right.shape[1])], 1).astype(float)


class Bits(Metric):
    """F1 of all bits."""

    def __init__(self, threshold=0.5):
        self.threshold = threshold

    def parts(self, outputs, labels):
        found = (outputs[0] > self.threshold).reshape(len(labels), -1)
        wanted = (labels > 0).reshape(len(labels), -1)
        return np.stack([2 * (found & wanted).sum(1), found.sum(1) + wanted.sum(1)], 1).astype(float)


class Boxes(Metric):
    """F1 of boxes, which `find` returns for each sample: lists of wanted and of found (x1, y1, x2, y2)."""
    option = "command"

    def __init__(self, find, overlap=0.5):
        self.find, self.overlap = find, overlap

    def parts(self, outputs, labels):
        return np.array([self.match(*pair) for pair in self.find(outputs, labels)], float)

    def match(self, wanted, found):
        matched, free = 0, list(found)
        for box in wanted:
            best = max(free, key=lambda other: intersection_over_union(box, other), default=None)
            if best is not None and intersection_over_union(box, best) >= self.overlap:
                free.remove(best)
                matched += 1
        return 2 * matched, len(wanted) + len(found)


def intersection_over_union(a, b):
    width = min(a[2], b[2]) - max(a[0], b[0])
    height = min(a[3], b[3]) - max(a[1], b[1])
    if width <= 0 or height <= 0:
        return 0
    both = width * height
    return both / ((a[2] - a[0]) * (a[3] - a[1]) + (b[2] - b[0]) * (b[3] - b[1]) - both)


class Variance(Metric):
    """The share of the variance that the output explains, of its worst column."""

    def parts(self, outputs, labels):
        wanted = np.asarray(labels, float).reshape(len(labels), -1)
        wrong = (outputs[0].reshape(wanted.shape) - wanted) ** 2
        count = np.ones((len(labels), 1))
        return np.concatenate([wrong, wanted, wanted ** 2, count], 1)

    def score(self, sums):
        columns = (sums.shape[-1] - 1) // 3
        wrong, total, squares = (sums[..., i * columns:(i + 1) * columns] for i in range(3))
        variance = squares - total ** 2 / np.maximum(sums[..., -1:], 1)
        return 100 * (1 - wrong / np.maximum(variance, 1e-30)).min(-1)


class Sequences(Metric):
    """1 minus the edit distance per label after greedy CTC; class 0 is the blank."""

    def parts(self, outputs, labels):
        rows = []
        for scores, wanted in zip(outputs[0], labels):
            wanted = [int(c) for c in wanted if c > 0]
            rows.append((len(wanted) - edits(greedy(scores), wanted), len(wanted)))
        return np.array(rows, float)


def greedy(scores):
    """Returns the classes of [time, classes] by CTC: repetitions and blanks are dropped."""
    best = scores.argmax(1)
    return [int(c) for c in best[np.r_[True, best[1:] != best[:-1]] & (best != 0)]]


def edits(found, wanted):
    row = list(range(len(wanted) + 1))
    for i, a in enumerate(found, 1):
        above, row[0] = row[0], i
        for j, b in enumerate(wanted, 1):
            above, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, above + (a != b))
    return row[-1]


def noise_of_drop(metric, wide, narrow):
    """Returns the standard error of the drop between two models on the same samples."""
    rng = np.random.default_rng(0)
    drops = []
    for _ in range(DRAWS):
        counts = np.bincount(rng.integers(0, len(wide), len(wide)), minlength=len(wide)).astype(float)
        drops.append(metric.score(counts @ wide) - metric.score(counts @ narrow))
    return float(np.std(drops))
