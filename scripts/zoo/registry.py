"""Lists the models: the function that builds each, its inputs at two sizes, and their dynamic dimensions."""
from dataclasses import dataclass, field
from typing import Callable

# PyTorch's exporters with operator sets: the lowest one from 17 on, and the newest. (If asked for 17, the newer
# exporter writes 18.)
TORCH = ("script17", "dynamo23", "script20", "dynamo18")
SKLEARN = ("sklearn17", "sklearn22")
USUAL = ("script17", "dynamo23", "sklearn17", "shipped")
# Kinds of models, which the page summarizes separately, and the kind of each family.
KINDS = {"vision": ("classification", "segmentation", "detection", "video", "restoration"), "text": ("transformers",),
         "speech": ("speech",), "tabular": ("scikit-learn",), "other": ("graphs", "shipped")}


@dataclass
class Entry:
    """A model. `build()` returns a module, a fitted pipeline or a file's path. `inputs(which)` returns the inputs by
    name, in size 0 or 1. `open` has the dimensions that differ between both: {input: {axis: name}}."""
    name: str
    family: str
    build: Callable
    inputs: Callable
    open: dict = field(default_factory=dict)
    variants: tuple = TORCH
    outputs: tuple = ()
    # The tolerance of the largest error relative to the largest output. The default is too strict for results that
    # depend on a choice (of boxes, of neighbours), which rounding may change.
    tolerance: float = 1e-3
    # True if the module has branches that depend on data. torch.jit.script then compiles it before the first exporter traces.
    scripted: bool = False
    # Kind of the model, of KINDS; by default the kind of its family.
    kind: str = ""

    def __post_init__(self):
        self.kind = self.kind or next(kind for kind, families in KINDS.items() if self.family in families)
        assert self.kind in KINDS, self.kind


ENTRIES: dict = {}


def add(entry):
    assert entry.name not in ENTRIES, entry.name
    ENTRIES[entry.name] = entry
    return entry


def load_all():
    """Returns all entries. Imports their libraries only when an entry is built."""
    import graphs  # noqa: F401
    import restoration  # noqa: F401
    import shipped  # noqa: F401
    import speech  # noqa: F401
    import tabular  # noqa: F401
    import text  # noqa: F401
    import vision  # noqa: F401
    return ENTRIES


def pairs(variants=USUAL):
    """Returns (entry, variant) of all models, cheap families first."""
    return [(e, v) for e in load_all().values() for v in e.variants if v in variants or v in ("shipped",)]
