# Part of Ingot, under the Apache License v2.0 with LLVM Exceptions.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Files as inputs of `ingot run` and `ingot bench`: pictures, .npz files, elements alone, and damaged files."""
import struct
import zlib

from PIL import Image

from support import Case, TensorProto, helper, make_model, np, tool

# PIL rounds the result of each of its two passes.
PIL_ROUNDING = 1.5 / 255


def identity(*inputs):
    """A model that returns its inputs: `name` is returned as `name_out`."""
    nodes = [helper.make_node("Identity", [i[0]], [i[0] + "_out"]) for i in inputs]
    return make_model(nodes, list(inputs), [(i[0] + "_out", *i[1:]) for i in inputs])


class Inputs(Case):
    def picture(self, name, height=20, width=30, mode="RGB"):
        rough = np.random.default_rng(1).integers(0, 256, (5, 8, 3), dtype=np.uint8)
        image = Image.fromarray(rough).resize((width, height), Image.Resampling.BICUBIC).convert(mode)
        image.save(self.path(name))
        return image

    def run_on(self, artifact, *options):
        done = tool("ingot", "run", artifact, "--output-dir", self.path("out"), *options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return np.load(self.path("out/x_out.npy"))

    def refuses(self, artifact, *words, options):
        for command in ("run", "bench"):
            self.assert_one_line(tool("ingot", command, artifact, *options), *words)


class Pictures(Inputs):
    def test_layouts_and_kinds(self):
        for name in ("a.png", "a.bmp", "a.JPG"):
            pixels = np.asarray(self.picture(name, 8, 12)) / np.float32(255)
            if name == "a.JPG":
                pixels = np.asarray(Image.open(self.path(name))) / np.float32(255)
            tolerance = 3 / 255 if name == "a.JPG" else 1e-6  # decoders of JPEG differ
            planes = pixels.transpose(2, 0, 1)
            for shape, wanted in (((1, 3, 8, 12), planes[None]), ((1, 8, 12, 3), pixels[None]), ((3, 8, 12), planes),
                                  (("n", 3, "h", "w"), planes[None])):
                with self.subTest(name=name, shape=shape):
                    artifact = self.compile(identity(("x", shape)))
                    np.testing.assert_allclose(self.run_on(artifact, "--input", self.path(name)), wanted,
                                               atol=tolerance)

    def test_grey_and_bytes(self):
        image = self.picture("grey.png", 8, 12, "L")
        artifact = self.compile(identity(("x", (1, 1, 8, 12), TensorProto.UINT8)))
        got = self.run_on(artifact, "--input", "x=" + self.path("grey.png"))
        np.testing.assert_array_equal(got[0, 0], np.asarray(image))

    def test_resized_to_the_input(self):
        image = self.picture("a.png", 40, 60)
        small = np.asarray(image.resize((10, 16), Image.Resampling.BILINEAR)).transpose(2, 0, 1)[None] / 255
        fixed = self.compile(identity(("x", (1, 3, 16, 10))), name="fixed")
        opened = self.compile(identity(("x", ("n", 3, "h", "w"))), name="open")
        np.testing.assert_allclose(self.run_on(fixed, "--input", self.path("a.png")), small, atol=PIL_ROUNDING)
        for options in (["--shape", "x=1x3x16x10"], ["--dim", "h=16", "--dim", "w=10"]):
            got = self.run_on(opened, "--input", self.path("a.png"), *options)
            np.testing.assert_allclose(got, small, atol=PIL_ROUNDING)

    def test_preprocess(self):
        image = self.picture("a.png", 40, 60)
        cut = np.asarray(image.resize((30, 20), Image.Resampling.BILINEAR).crop((7, 2, 23, 18))) / 255
        wanted = ((cut[..., ::-1] - [0.4, 0.5, 0.6]) / [0.2, 0.25, 0.3]).transpose(2, 0, 1)[None]
        artifact = self.compile(identity(("x", (1, 3, 16, 16))))
        got = self.run_on(artifact, "--input", self.path("a.png"), "--preprocess",
                          "resize=20,crop=16,mean=0.4:0.5:0.6,std=0.2:0.25:0.3,order=bgr")
        np.testing.assert_allclose(got, wanted, atol=PIL_ROUNDING / 0.2)

    def test_bench(self):
        self.picture("a.png")
        artifact = self.compile(identity(("x", (1, 3, 16, 16))))
        done = tool("ingot", "bench", artifact, "--input", self.path("a.png"), "--duration=0", "--warm-up=0")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_refused(self):
        self.picture("a.png")
        whole = open(self.path("a.png"), "rb").read()
        artifact = self.compile(identity(("x", (1, 3, 16, 16))))
        for name, data in (("half.png", whole[:len(whole) // 2]), ("none.jpg", b""), ("text.bmp", b"BM text")):
            with open(self.path(name), "wb") as f:
                f.write(data)
            self.refuses(artifact, name, "'x'", "no picture that can be read", options=["--input", self.path(name)])
        header = b"IHDR" + struct.pack(">IIBBBBB", 16000, 16000, 8, 2, 0, 0, 0)
        with open(self.path("huge.png"), "wb") as f:
            f.write(whole[:8] + struct.pack(">I", 13) + header + struct.pack(">I", zlib.crc32(header)) + whole[33:])
        self.refuses(artifact, "huge.png", "16000x16000 pixels", options=["--input", self.path("huge.png")])
        for how, word in (("resize=0", "resize is '0'"), ("blur=3", "no 'blur'"), ("mean=1:2", "mean"), ("", "--preprocess is empty")):
            self.refuses(artifact, "--preprocess", word, options=["--input", self.path("a.png"), "--preprocess", how])
        for shape, words in (((1, 4, 16, 16), ["channels"]), ((2, 3, 16, 16), ["2 pictures at a time"]), ((5,), ["5"])):
            self.refuses(self.compile(identity(("x", shape))), *words, options=["--input", self.path("a.png")])
        self.refuses(self.compile(identity(("x", (1, 3, 8, 8), TensorProto.INT64))), "int64", "float32 or uint8",
                     options=["--input", self.path("a.png")])


class Arrays(Inputs):
    def test_npz(self):
        x, b = np.arange(6, dtype=np.float32).reshape(2, 3), np.ones(4, np.int64)
        artifact = self.compile(identity(("x", ("n", 3)), ("b", (4,), TensorProto.INT64)))
        for save in (np.savez, np.savez_compressed):
            save(self.path("all.npz"), x=x, b=b)
            save(self.path("one.npz"), anything=x)
            save(self.path("other.npz"), z=x, y=b)
            for options in (["all.npz"], ["x=one.npz", "random"], ["x=all.npz", "zeros"], ["b=zeros", "all.npz"]):
                options = [part for o in options for part in ("--input", o.replace("al", self.path("al"))
                                                              .replace("one", self.path("one")))]
                np.testing.assert_array_equal(self.run_on(artifact, *options), x)
        self.refuses(artifact, "other.npz", "it has z, y", "'x', 'b'", options=["--input", self.path("other.npz")])
        self.refuses(artifact, "other.npz", "it has z, y", "'x'",
                     options=["--input", "x=" + self.path("other.npz"), "--input", "zeros"])
        np.savez(self.path("wrong.npz"), x=x.astype(np.float64), b=b)
        self.refuses(artifact, "float64", "float32", options=["--input", self.path("wrong.npz")])
        whole = open(self.path("all.npz"), "rb").read()
        for name, data in (("half.npz", whole[:len(whole) // 2]), ("empty.npz", b"")):
            with open(self.path(name), "wb") as f:
                f.write(data)
            self.refuses(artifact, name, options=["--input", self.path(name)])
        np.savez_compressed(self.path("all.npz"), x=x, b=b)
        whole = bytearray(open(self.path("all.npz"), "rb").read())
        rng = np.random.default_rng(0)
        for _ in range(40):  # no flipped bit causes more than one line
            damaged = bytearray(whole)
            damaged[rng.integers(len(whole))] ^= 1 << rng.integers(8)
            with open(self.path("flipped.npz"), "wb") as f:
                f.write(damaged)
            done = tool("ingot", "run", artifact, "--input", self.path("flipped.npz"))
            if done.returncode:
                self.assert_one_line(done)

    def test_elements_alone(self):
        x = np.arange(6, dtype=np.float32).reshape(2, 3)
        x.tofile(self.path("x.bin"))
        artifact = self.compile(identity(("x", ("n", 3))))
        np.testing.assert_array_equal(self.run_on(artifact, "--input", self.path("x.bin"), "--dim", "n=2"), x)
        self.refuses(artifact, "24 bytes, not those of float32 3x3",
                     options=["--input", self.path("x.bin"), "--dim", "n=3"])
        x.tofile(self.path("x.npy"))  # the file's name suggests another format
        self.refuses(artifact, "not an .npy file", options=["--input", self.path("x.npy"), "--dim", "n=2"])

    def test_messages_are_one_line(self):
        artifact = self.compile(identity(("x", ("n", 3))))
        text = "a\n\x1b[31m" + "b" * 5000
        for option in ("--input", "--shape", "--dim", "--preprocess"):
            for command in ("run", "bench"):
                done = tool("ingot", command, artifact, option, text)
                self.assert_one_line(done)
                self.assertNotIn("\x1b", done.stderr)
                self.assertLess(len(done.stderr), 1500)
