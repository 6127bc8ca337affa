"""Trained models in PyPI packages. Finds a package's files without importing it, because its dependencies are not
installed."""
from registry import Entry, add


def found(package, path):
    def build():
        import importlib.util
        import os
        spec = importlib.util.find_spec(package)
        if spec is None:
            raise RuntimeError(f"package {package} is not installed")
        return os.path.join(os.path.dirname(spec.origin), path)
    return build


def arrays(**shapes):
    """Makes inputs: each has two shapes, or two integers."""
    def make(which):
        import numpy as np
        rng = np.random.default_rng(1 + which)
        values = {}
        for name, pair in shapes.items():
            value = pair[which]
            values[name] = (np.array(value, np.int64) if isinstance(value, int)
                            else (rng.standard_normal(value) * 0.3).astype(np.float32))
        return values
    return make


def shipped(name, package, path, inputs, open=None, **options):
    add(Entry(name, "shipped", found(package, path), inputs, open or {}, ("shipped",), **options))


def renamed(make, **names):
    """Renames inputs to names that are not Python identifiers."""
    return lambda which: {names.get(key, key): value for key, value in make(which).items()}


STATE = ((2, 1, 128), (2, 3, 128))
shipped("silero_vad", "silero_vad", "data/silero_vad.onnx", arrays(input=((1, 576), (3, 288)), state=STATE, sr=(16000, 8000)), {"input": {0: "", 1: ""}},
        kind="speech")
shipped("silero_vad_16k", "silero_vad", "data/silero_vad_16k_op15.onnx",
        arrays(input=((1, 576), (3, 576)), state=STATE, sr=(16000, 16000)), {"input": {0: ""}},
        kind="speech")
shipped("silero_vad_ifless", "silero_vad", "data/silero_vad_op18_ifless.onnx",
        arrays(input=((1, 576), (3, 288)), sr=(16000, 8000), state=STATE), {"input": {0: "", 1: ""}},
        kind="speech")
shipped("silero_vad_sequence", "silero_vad", "data/silero_vad_16k_sequence.onnx",
        arrays(input=((20, 576), (7, 576)), h=((1, 1, 128),) * 2, c=((1, 1, 128),) * 2), {"input": {0: ""}},
        kind="speech")
shipped("silero_vad_half", "silero_vad", "data/silero_vad_half.onnx",
        arrays(input=((1, 576), (3, 576)), state=STATE), {"input": {0: ""}},
        kind="speech")
shipped("basic_pitch", "basic_pitch", "saved_models/icassp_2022/nmp.onnx",
        renamed(arrays(x=((1, 43844, 1), (2, 43844, 1))), x="serving_default_input_2:0"), {"serving_default_input_2:0": {0: ""}},
        kind="speech")
shipped("ddddocr", "ddddocr", "common.onnx", arrays(input1=((1, 1, 64, 160), (1, 1, 64, 120))), {"input1": {3: ""}}, kind="vision")
# The model quantizes at run time, 22 times. The last bit of an f32 value decides to which byte it is rounded.
shipped("ddddocr_old", "ddddocr", "common_old.onnx", arrays(input1=((1, 1, 64, 160), (1, 1, 64, 120))), {"input1": {3: ""}},
        tolerance=1e-2, kind="vision")
shipped("ddddocr_det", "ddddocr", "common_det.onnx", arrays(images=((1, 3, 416, 416),) * 2), kind="vision")
shipped("nudenet", "nudenet", "320n.onnx", arrays(images=((1, 3, 320, 320), (2, 3, 256, 352))), {"images": {0: "", 2: "", 3: ""}},
        kind="vision")
PPOCR = "models/"
shipped("ppocr_det", "rapidocr", PPOCR + "PP-OCRv6_det_small.onnx", arrays(x=((1, 3, 480, 640), (2, 3, 320, 416))), {"x": {0: "", 2: "", 3: ""}},
        kind="vision")
shipped("ppocr_rec", "rapidocr", PPOCR + "PP-OCRv6_rec_small.onnx", arrays(x=((1, 3, 48, 320), (2, 3, 48, 200))), {"x": {0: "", 3: ""}},
        kind="vision")
shipped("ppocr_cls", "rapidocr", PPOCR + "ch_ppocr_mobile_v2.0_cls_mobile.onnx",
        arrays(x=((1, 3, 48, 192), (4, 3, 48, 160))), {"x": {0: "", 2: "", 3: ""}}, kind="vision")


def bytes_of_files(which):
    import numpy as np
    return {"bytes": np.random.default_rng(which).integers(0, 257, (1 + 2 * which, 2048)).astype(np.int32)}


shipped("magika", "magika", "models/standard_v3_3/model.onnx", bytes_of_files, {"bytes": {0: ""}})
