"""Draws a random graph. A number identifies a graph, as long as the table of operators does not change."""
import control
import indexing
import movement
import pointwise
import products
from graph import Graph

TABLE = [entry for module in (pointwise, movement, indexing, products, control) for entry in module.FAMILY]
WEIGHTS, DRAWERS = zip(*TABLE)


def more(g):
    return g.random.choices(DRAWERS, WEIGHTS)[0](g)


def draw(seed):
    g = Graph(seed)
    g.more, g.depth = more, 0
    g.unshaped = []
    for _ in range(g.between(1, 3)):
        g.input(g.favourite if g.chance(0.8) else None)
    size = 5 + int(46 * g.random.random() ** 3)
    attempts = 0
    while len(g.nodes) < size and attempts < 20 * size:
        attempts += 1
        more(g)
    g.finish()
    g.outputs += g.unshaped
    return g
