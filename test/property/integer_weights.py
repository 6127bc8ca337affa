"""Computes in numpy how the compiler packs byte weights and what it proves of them: see cpu.matmul and cpu.conv."""
import numpy as np


def pack(weights):
    """[groups][K taps...][C][O] → [groups * panels, taps..., C / 4, P, 4]."""
    groups, *taps, depth, columns = weights.shape
    width = 32 if -(-columns // 32) * 32 * 8 <= -(-columns // 16) * 16 * 9 else 16
    panels, fours = -(-columns // width), -(-depth // 4)
    padded = np.zeros((groups, *taps, fours * 4, panels * width), np.int8)
    padded[..., :depth, :columns] = weights
    split = padded.reshape(groups, *taps, fours, 4, panels, width)
    n = len(taps)
    split = np.transpose(split, (0, n + 3, *range(1, n + 1), n + 1, n + 4, n + 2))
    return np.ascontiguousarray(split.reshape(groups * panels, *taps, fours, width, 4))


def pair_kinds(four):
    """Returns the result of cpu-prove-pairs for groups of four weights, [..., 4]: pairs whose products with 255 are
    added as int16."""
    kinds = 0
    for bit, order in enumerate(((0, 1, 2, 3), (0, 2, 1, 3))):
        pairs = four[..., order].astype(np.int32).reshape(*four.shape[:-1], 2, 2)
        fits = (255 * np.maximum(pairs, 0).sum(-1) < 1 << 15) & (255 * np.minimum(pairs, 0).sum(-1) >= -(1 << 15))
        kinds = kinds + (fits.all(-1).astype(np.int8) << bit)
    return kinds


def pairs_of(weights):
    """Returns the pairs of packed weights and their counts: see cpu.matmul."""
    kinds = pair_kinds(weights)
    parts = kinds.reshape(*kinds.shape[:-1], -1, 16)
    parts = np.bitwise_and.reduce(parts, axis=-1)
    statements = np.bitwise_or.reduce(parts << 2 * np.arange(parts.shape[-1]), axis=-1).astype(np.int8)
    counts = []
    for each in (parts, np.bitwise_and.reduce(parts, axis=-1)):
        counts += [np.count_nonzero(each & 1), np.count_nonzero(each == 2), np.count_nonzero(each == 0)]
    return np.ascontiguousarray(statements), [int(n) for n in counts]


def proved_tiles(weights, zero_point):
    """Returns the result of cpu-prove-winograd for [taps, taps, C, O]: 4, 2, or 0."""
    columns = weights.astype(np.int64).reshape(-1, weights.shape[-1])
    # Each byte is as far from the zero point as its weight's sign allows, for the largest and the smallest sum.
    high = np.where(columns > 0, columns * (255 - zero_point), -columns * zero_point).sum(0)
    low = np.where(columns > 0, columns * zero_point, -columns * (255 - zero_point)).sum(0)
    largest = max(high.max(), low.max())
    # Transforms multiply sums by 576 or by 4. The powers of two in these factors take bits of the sum.
    return 4 if largest * 64 < 1 << 31 else 2 if largest * 4 < 1 << 31 else 0


def compensation_of(weights, zero_point):
    """Returns [groups * panels, taps but the last, P]: minus zero point times the packed weights of the taps along a
    row.
    """
    sums = weights.astype(np.int32).sum((-4, -3, -1))
    return np.ascontiguousarray(-zero_point * sums).astype(np.int32)
