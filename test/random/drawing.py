"""Draws a random graph: a number names it for good, as long as the table of operators stays the same."""
import indexing
import movement
import pointwise
import products
from graph import Graph

TABLE = [entry for module in (pointwise, movement, indexing, products) for entry in module.FAMILY]
WEIGHTS, DRAWERS = zip(*TABLE)


def draw(seed):
    g = Graph(seed)
    g.unshaped = []
    for _ in range(g.between(1, 3)):
        g.input(g.favourite if g.chance(0.8) else None)
    size = 5 + int(46 * g.random.random() ** 3)
    attempts = 0
    while len(g.nodes) < size and attempts < 20 * size:
        attempts += 1
        g.random.choices(DRAWERS, WEIGHTS)[0](g)
    g.finish()
    g.outputs += g.unshaped
    return g
