"""Defines nets whose output is a picture or a volume: super resolution, style transfer, diffusion, medical
segmentation."""
from registry import Entry, add
from speech import seeded
from vision import SIZES, picture


def double(nn, fan_in, out, conv="Conv2d", norm="BatchNorm2d"):
    conv, norm = getattr(nn, conv), getattr(nn, norm)
    return nn.Sequential(conv(fan_in, out, 3, padding=1), norm(out), nn.ReLU(), conv(out, out, 3, padding=1), norm(out), nn.ReLU())


def unet_pad(torch, nn):
    """Makes a U-Net for pictures of any size: upsampled maps are padded to the size of the map that they join."""

    class Net(nn.Module):
        def __init__(self, width=16):
            super().__init__()
            widths = [width * 2 ** i for i in range(4)]
            self.down = nn.ModuleList([double(nn, a, b) for a, b in zip([3, *widths], widths)])
            self.up = nn.ModuleList([nn.ConvTranspose2d(2 * w, w, 2, 2) for w in widths[2::-1]])
            self.join = nn.ModuleList([double(nn, 2 * w, w) for w in widths[2::-1]])
            self.last = nn.Conv2d(width, 5, 1)

        def forward(self, image):
            kept = [self.down[0](image)]
            for step in self.down[1:]:
                kept.append(step(nn.functional.max_pool2d(kept[-1], 2)))
            x = kept.pop()
            for up, join in zip(self.up, self.join):
                x, other = up(x), kept.pop()
                high, wide = other.size(2) - x.size(2), other.size(3) - x.size(3)
                x = nn.functional.pad(x, [wide // 2, wide - wide // 2, high // 2, high - high // 2])
                x = join(torch.cat([other, x], 1))
            return self.last(x)
    return Net()


add(Entry("unet_pad", "restoration", seeded(unet_pad), picture((1, 130, 126), (2, 99, 161)), {"image": SIZES}))


def unet_3d(torch, nn):
    class Net(nn.Module):
        def __init__(self, width=8):
            super().__init__()
            block = lambda a, b: double(nn, a, b, "Conv3d", "InstanceNorm3d")
            self.first, self.second, self.third = block(1, width), block(width, 2 * width), block(2 * width, 4 * width)
            self.up, self.join1 = nn.ConvTranspose3d(4 * width, 2 * width, 2, 2), block(4 * width, 2 * width)
            self.join2 = block(3 * width, width)
            self.last = nn.Conv3d(width, 3, 1)

        def forward(self, volume):
            a = self.first(volume)
            b = self.second(nn.functional.max_pool3d(a, 2))
            c = self.join1(torch.cat([self.up(self.third(nn.functional.max_pool3d(b, 2))), b], 1))
            c = nn.functional.interpolate(c, scale_factor=2, mode="trilinear")
            return self.last(self.join2(torch.cat([c, a], 1))).softmax(1)
    return Net()


def volumes(which):
    import torch
    shape = ((1, 1, 32, 32, 32), (2, 1, 16, 24, 40))[which]
    return {"volume": torch.randn(shape, generator=torch.Generator().manual_seed(1 + which))}


add(Entry("unet_3d", "restoration", seeded(unet_3d), volumes, {"volume": {0: "batch", 2: "depth", 3: "height", 4: "width"}}))


def super_resolution(torch, nn):
    """A net like EDSR: residual blocks, then two pixel shuffles."""

    class Net(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            conv = lambda a, b: nn.Conv2d(a, b, 3, padding=1)
            self.enter = conv(3, width)
            self.blocks = nn.ModuleList([nn.Sequential(conv(width, width), nn.ReLU(), conv(width, width)) for _ in range(4)])
            self.leave = nn.Sequential(conv(width, 4 * width), nn.PixelShuffle(2), conv(width, 4 * width), nn.PixelShuffle(2),
                                       conv(width, 3))

        def forward(self, image):
            x = first = self.enter(image - 0.45)
            for block in self.blocks:
                x = x + 0.1 * block(x)
            return self.leave(x + first) + 0.45
    return Net()


add(Entry("super_resolution", "restoration", seeded(super_resolution), picture((1, 48, 48), (2, 32, 40)), {"image": SIZES}))


def style_transfer(torch, nn):
    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.steps = nn.Sequential(*conv(width, width, 3), nn.ReLU(), *conv(width, width, 3))

        def forward(self, x):
            return x + self.steps(x)

    def conv(fan_in, out, kernel, stride=1):
        return nn.ReflectionPad2d(kernel // 2), nn.Conv2d(fan_in, out, kernel, stride), nn.InstanceNorm2d(out, affine=True)
    return nn.Sequential(*conv(3, 16, 9), nn.ReLU(), *conv(16, 32, 3, 2), nn.ReLU(), *conv(32, 64, 3, 2), nn.ReLU(),
                         *[Block(64) for _ in range(3)], nn.Upsample(scale_factor=2), *conv(64, 32, 3), nn.ReLU(),
                         nn.Upsample(scale_factor=2), *conv(32, 16, 3), nn.ReLU(), nn.ReflectionPad2d(4), nn.Conv2d(16, 3, 9))


add(Entry("style_transfer", "restoration", seeded(style_transfer), picture((1, 128, 128), (2, 96, 112)), {"image": SIZES}))


def diffusion_unet(torch, nn):
    """A step of latent diffusion: normalized blocks with a time embedding, self-attention, and attention to a text."""

    class Residual(nn.Module):
        def __init__(self, fan_in, out, time=128):
            super().__init__()
            self.norm1, self.conv1, self.time = nn.GroupNorm(8, fan_in), nn.Conv2d(fan_in, out, 3, padding=1), nn.Linear(time, out)
            self.norm2, self.conv2 = nn.GroupNorm(8, out), nn.Conv2d(out, out, 3, padding=1)
            self.short = nn.Conv2d(fan_in, out, 1) if fan_in != out else nn.Identity()

        def forward(self, x, time):
            y = self.conv1(nn.functional.silu(self.norm1(x))) + self.time(nn.functional.silu(time))[:, :, None, None]
            return self.short(x) + self.conv2(nn.functional.silu(self.norm2(y)))

    class Attention(nn.Module):
        def __init__(self, width, context=64, heads=4):
            super().__init__()
            self.heads, self.norm1, self.norm2, self.norm3 = heads, nn.GroupNorm(8, width), nn.LayerNorm(width), nn.LayerNorm(width)
            self.own, self.query, self.other = nn.Linear(width, 3 * width), nn.Linear(width, width), nn.Linear(context, 2 * width)
            self.gate, self.feed, self.out1, self.out2 = [nn.Linear(*s) for s in ((width, 8 * width), (4 * width, width),
                                                                                  (width, width), (width, width))]

        def attend(self, q, k, v):
            split = lambda t: t.view(t.shape[0], -1, self.heads, t.shape[2] // self.heads).transpose(1, 2)
            return nn.functional.scaled_dot_product_attention(split(q), split(k), split(v)).transpose(1, 2).flatten(2)

        def forward(self, x, context):
            y = self.norm1(x).flatten(2).transpose(1, 2)
            y = y + self.out1(self.attend(*self.own(y).chunk(3, -1)))
            y = y + self.out2(self.attend(self.query(self.norm2(y)), *self.other(context).chunk(2, -1)))
            value, gate = self.gate(self.norm3(y)).chunk(2, -1)
            y = y + self.feed(value * nn.functional.gelu(gate))
            return x + y.transpose(1, 2).reshape(x.shape)

    class Net(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.width, self.time = width, nn.Sequential(nn.Linear(width, 128), nn.SiLU(), nn.Linear(128, 128))
            self.enter, self.down1 = nn.Conv2d(4, width, 3, padding=1), Residual(width, width)
            self.half1, self.half2 = [nn.Conv2d(w, w, 3, 2, 1) for w in (width, 2 * width)]
            self.down2, self.look = Residual(width, 2 * width), Attention(2 * width)
            self.middle = Residual(2 * width, 4 * width)
            self.up2, self.up1 = Residual(6 * width, 2 * width), Residual(3 * width, width)
            self.leave = nn.Sequential(nn.GroupNorm(8, width), nn.SiLU(), nn.Conv2d(width, 4, 3, padding=1))

        def forward(self, latent, timestep, context):
            rates = torch.exp(-9.21 * torch.arange(self.width // 2).float() / (self.width // 2))
            angles = timestep.float()[:, None] * rates
            time = self.time(torch.cat([angles.cos(), angles.sin()], -1))
            twice = lambda x: nn.functional.interpolate(x, scale_factor=2.0, mode="nearest")
            a = self.down1(self.enter(latent), time)
            b = self.look(self.down2(self.half1(a), time), context)
            x = self.middle(self.half2(b), time)
            x = self.up2(torch.cat([twice(x), b], 1), time)
            return self.leave(self.up1(torch.cat([twice(x), a], 1), time))
    return Net()


def diffusion_inputs(which):
    import torch
    batch, height, width, words = ((1, 32, 32, 12), (2, 24, 40, 7))[which]
    generator = torch.Generator().manual_seed(1 + which)
    return {"latent": torch.randn(batch, 4, height, width, generator=generator), "timestep": torch.full((batch,), 500),
            "context": torch.randn(batch, words, 64, generator=generator)}


add(Entry("diffusion_unet", "restoration", seeded(diffusion_unet), diffusion_inputs,
          {"latent": SIZES, "timestep": {0: "batch"}, "context": {0: "batch", 1: "words"}}))
