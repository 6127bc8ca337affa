# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests `ingot calibrate` on pictures: values, sizes and preprocessing as PIL computes them."""
import json
import os

import numpy as np
from PIL import Image

from support import tool
from test_calibrate import Calibrating, one_conv


class Pictures(Calibrating):
    def picture(self, name, height=40, width=60, seed=1):
        rng = np.random.default_rng(seed)
        rough = rng.integers(0, 256, (5, 8, 3), dtype=np.uint8)
        image = Image.fromarray(rough).resize((width, height), Image.Resampling.BICUBIC)
        image.save(self.path(name))
        return image

    def range_of(self, model, *options):
        found = self.calibrate(model, "--method", "minmax", *options)["tensors"][0]
        return np.array([found["min"], found["max"]])

    def test_values(self):
        pixels = np.asarray(self.picture("a.png", 8, 8)) / np.float64(255)
        model = one_conv((1, 3, 8, 8))
        got = self.range_of(model, "--data", self.path("a.png"))
        np.testing.assert_allclose(got, [pixels.min(), pixels.max()], atol=1e-6)
        mean, deviation = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
        how = "mean=0.485:0.456:0.406,std=0.229:0.224:0.225"
        normal = (pixels - mean) / deviation
        got = self.range_of(model, "--data", self.path("a.png"), "--preprocess", how)
        np.testing.assert_allclose(got, [normal.min(), normal.max()], atol=1e-5)
        turned = (pixels[..., ::-1] - mean) / deviation
        got = self.range_of(model, "--data", self.path("a.png"), "--preprocess", how + ",order=bgr")
        np.testing.assert_allclose(got, [turned.min(), turned.max()], atol=1e-5)
        got = self.range_of(model, "--data", self.path("a.png"), "--preprocess", "scale=1,mean=128")
        np.testing.assert_allclose(got, [pixels.min() * 255 - 128, pixels.max() * 255 - 128], atol=1e-4)

    def test_recorded_for_other_commands(self):
        """The file and the artifact record the value of --preprocess. Other commands use it, or report the difference.
        """
        self.picture("a.png", 8, 8)
        model, how = self.save(one_conv((1, 3, 8, 8))), "scale=1.0,mean=100,std=50:60:70,order=bgr"
        plain = self.calibrate(model, "--data", self.path("a.png"))
        self.assertNotIn("preprocess", plain)
        found = self.calibrate(model, "--data", self.path("a.png"), "--preprocess", how)
        self.assertEqual(found["preprocess"], "scale=1,mean=100,std=50:60:70,order=bgr")
        with open(self.path("how.json"), "w") as f:
            json.dump(found, f)
        artifact = self.compile(model, "--precision=int8", "--calibration=" + self.path("how.json"))
        shown = tool("ingot", "inspect", artifact, "--metadata", "ingot.preprocess").stdout
        self.assertEqual(shown, found["preprocess"])

        def run(*options):
            done = tool("ingot", "run", artifact, "--input", self.path("a.png"), *options)
            self.assertEqual(done.returncode, 0, done.stderr)
            return done
        alone, same, other = run(), run("--preprocess", how), run("--preprocess=scale=2")
        self.assertEqual((alone.stdout, alone.stderr), (same.stdout, same.stderr))
        self.assertNotEqual(alone.stdout, other.stdout)
        warning = f"warning: the model was calibrated with --preprocess={found['preprocess']}, not scale=2"
        self.assertIn(warning, other.stderr)
        compare = ["ingot", "compare", artifact, model, "--data", self.path("a.png"), "--json"]
        self.assertEqual(tool(*compare).stdout, tool(*compare, "--preprocess", how).stdout)
        lines = map(json.loads, tool(*compare, "--preprocess=scale=2").stderr.splitlines())
        self.assertEqual([f"{line['severity']}: {line['text']}" for line in lines if line["type"] == "message"], [warning])
        self.assertIn(warning, tool(*compare[:-1], "--preprocess=scale=2").stderr)
        for wrong in (3, "blur=1"):
            found["preprocess"] = wrong
            with open(self.path("how.json"), "w") as f:
                json.dump(found, f)
            done = tool("ingot", "compile", model, "--precision=int8", "--calibration=" + self.path("how.json"), "-o",
                        self.path("wrong.so"))
            if wrong == 3:
                self.assert_one_line(done, "preprocess", "is not a string")
                continue
            self.assertEqual(done.returncode, 0, done.stderr)  # unknown parts are ignored, as from a newer version
            ran = tool("ingot", "run", self.path("wrong.so"), "--input", self.path("a.png"))
            self.assertEqual((ran.returncode, ran.stderr), (0, ""))

    def test_resized_and_cut_as_pil_does(self):
        image = self.picture("a.png", 40, 60)
        model = one_conv((1, 3, 16, 16))
        cases = {"resize=20,crop=16": image.resize((30, 20), Image.Resampling.BILINEAR).crop((7, 2, 23, 18)),
                 "resize=16": image.resize((24, 16), Image.Resampling.BILINEAR).crop((4, 0, 20, 16)),
                 "resize=18x90": image.resize((18, 90), Image.Resampling.BILINEAR).crop((1, 37, 17, 53)),
                 "": image.resize((16, 16), Image.Resampling.BILINEAR), "crop=16": image.crop((22, 12, 38, 28))}
        for how, wanted in cases.items():
            options = ["--preprocess", how] if how else []
            got = self.range_of(model, "--data", self.path("a.png"), *options)
            wanted = np.asarray(wanted)
            # PIL rounds each pixel twice.
            np.testing.assert_allclose(got * 255, [wanted.min(), wanted.max()], atol=1.5, err_msg=how)

    def test_folder_of_kinds(self):
        for i, name in enumerate(("a.png", "b.jpg", "c.bmp", "d.ppm", "e.JPEG")):
            self.picture(os.path.join("..", os.path.basename(self.dir), name), 20 + i, 30, seed=i)
        with open(self.path("notes.txt"), "w") as f:
            f.write("not a picture")
        found = self.calibrate(one_conv((1, 3, 8, 8)), "--data", self.dir)
        self.assertEqual(found["samples"], 5)

    def test_refused(self):
        self.picture("a.png", 10, 10)
        model = self.save(one_conv((1, 3, 16, 16)))
        self.refuses(model, "a.png", "10x10 pixels", "16x16", options=["--data", self.path("a.png"), "--preprocess",
                                                                      "crop=16"])
        with open(self.path("a.png"), "rb") as f:
            whole = f.read()
        with open(self.path("b.png"), "wb") as f:
            f.write(whole[:len(whole) // 2])
        self.refuses(model, "b.png", "no picture", options=["--data", self.path("b.png")])
        for how, words in {"resize=0": ["resize", "'0'"], "blur=3": ["blur", "use resize"], "mean=1:2": ["mean"],
                           "std=1:0:1": ["std"], "order=gbr": ["order"]}.items():
            self.refuses(model, *words, options=["--data", self.path("a.png"), "--preprocess", how])
        self.refuses(one_conv((1, 4, 16, 16)), "input", "4x16x16", "channels", options=["--data", self.path("a.png")])
