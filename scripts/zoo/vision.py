"""Architectures of torchvision with random weights, and two that are defined here."""
from registry import Entry, add

BATCH, SIZES = {0: "batch"}, {0: "batch", 2: "height", 3: "width"}


def picture(first, second=None, channels=3, seed=1):
    """Makes inputs of one smooth picture, in two sizes."""
    def make(which):
        import torch
        batch, height, width = (first, second or (2, *first[1:]))[which]
        generator = torch.Generator().manual_seed(seed + which)
        fine = torch.randn(batch, channels, height, width, generator=generator) * 0.5
        coarse = torch.randn(batch, channels, max(height // 16, 1), max(width // 16, 1), generator=generator)
        return {"image": fine + torch.nn.functional.interpolate(coarse, size=(height, width), mode="bilinear")}
    return make


def settle(module, inputs):
    """Gives BatchNorms the statistics of a batch, so that activations neither die nor explode, and random scales."""
    import torch
    norms = [m for m in module.modules() if isinstance(m, torch.nn.modules.batchnorm._BatchNorm)]
    if not norms:
        return module.eval()
    generator = torch.Generator().manual_seed(2)
    with torch.no_grad():
        for norm in norms:
            norm.momentum = 1.0
            if norm.affine:
                norm.weight.copy_(torch.rand(norm.weight.shape, generator=generator) * 0.4 + 0.8)
                norm.bias.copy_(torch.randn(norm.bias.shape, generator=generator) * 0.1)
        module.train()
        for m in module.modules():
            if isinstance(m, (torch.nn.Dropout, torch.nn.Dropout2d, torch.nn.Dropout3d)):
                m.eval()
        module(*inputs)
        for norm in norms:
            norm.running_var.mul_(torch.rand(norm.running_var.shape, generator=generator) * 0.4 + 0.8)
    return module.eval()


def classifier(name, side=224, open=SIZES, second=None, **options):
    first = (1, side, side)
    second = second or ((1, side - 32, side + 32) if open is SIZES else (2, side, side))
    inputs = picture(first, second)

    def build():
        import torch
        import torchvision
        torch.manual_seed(0)
        extra = {"init_weights": True} if name in ("googlenet", "inception_v3") else {}
        module = getattr(torchvision.models, name)(weights=None, **extra, **options)
        return settle(module, (torch.cat([inputs(0)["image"], inputs(0)["image"].flip(-1)]),))
    add(Entry(name, "classification", build, inputs, {"image": open}))


for each in ("mobilenet_v3_small", "mobilenet_v3_large", "mobilenet_v2", "squeezenet1_0", "squeezenet1_1",
             "shufflenet_v2_x0_5", "shufflenet_v2_x1_5", "mnasnet0_5", "mnasnet1_0", "efficientnet_b0",
             "efficientnet_b1", "efficientnet_v2_s", "regnet_y_400mf", "regnet_x_400mf", "regnet_y_1_6gf", "resnet18",
             "resnet50", "resnext50_32x4d", "wide_resnet50_2", "densenet121", "densenet161", "googlenet", "convnext_tiny",
             "alexnet", "vgg11", "vgg16_bn"):
    classifier(each)
classifier("inception_v3", side=299)
for each in ("vit_b_32", "vit_b_16", "maxvit_t"):
    classifier(each, open=BATCH)
for each in ("swin_t", "swin_v2_t"):
    classifier(each, open=BATCH)


def segmenter(name, side=224):
    inputs = picture((1, side, side), (1, side - 64, side + 32))

    def build():
        import torch
        import torchvision

        class First(torch.nn.Module):
            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, image):
                return self.inner(image)["out"]
        torch.manual_seed(0)
        module = getattr(torchvision.models.segmentation, name)(weights=None, weights_backbone=None)
        return settle(First(module), (torch.cat([inputs(0)["image"], inputs(0)["image"].flip(-1)]),))
    add(Entry(name, "segmentation", build, inputs, {"image": SIZES}))


for each in ("lraspp_mobilenet_v3_large", "deeplabv3_mobilenet_v3_large", "fcn_resnet50", "deeplabv3_resnet50"):
    segmenter(each)


def detector(name, side, seed=1, **options):
    """Makes a detector. `seed` selects a picture for which ONNX Runtime finds equal boxes with and without its
    optimizations."""
    inputs = picture((1, side, side), (1, side - 64, side + 32), seed=seed)

    def build():
        import torch
        import torchvision

        class List(torch.nn.Module):
            """Wraps a detector: takes one picture and passes a list of it."""

            def __init__(self, inner):
                super().__init__()
                self.inner = inner

            def forward(self, image):
                found = self.inner([image[0]])
                found = found[1] if isinstance(found, tuple) else found
                return tuple(found[0].values())
        torch.manual_seed(0)
        module = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, **options)
        generator = torch.Generator().manual_seed(3)
        # Make all scores differ, and none equal to 1. Otherwise rounding would decide their order.
        with torch.no_grad():
            for key, value in module.named_parameters():
                if value.dim() > 1 and ("head" in key or "rpn" in key or "predictor" in key):
                    value.copy_(torch.randn(value.shape, generator=generator) * (0.3 / value[0].numel() ** 0.5))
                elif "head" in key and key.endswith("bias"):
                    value.zero_()
        return List(module.eval())
    add(Entry(name, "detection", build, inputs, {"image": {2: "height", 3: "width"}}))


detector("ssdlite320_mobilenet_v3_large", 320)
detector("fasterrcnn_mobilenet_v3_large_320_fpn", 320, box_detections_per_img=20)
detector("ssd300_vgg16", 300)
detector("retinanet_resnet50_fpn", 256, min_size=256, max_size=320)
detector("fcos_resnet50_fpn", 256, min_size=256, max_size=320)
detector("fasterrcnn_resnet50_fpn", 256, seed=2, min_size=256, max_size=320, rpn_post_nms_top_n_test=100)
detector("maskrcnn_resnet50_fpn", 256, seed=9, min_size=256, max_size=320, rpn_post_nms_top_n_test=50)


def video(name, frames, side):
    def inputs(which):
        import torch
        generator = torch.Generator().manual_seed(1 + which)
        return {"clip": torch.randn(1 + which, 3, frames, side, side, generator=generator)}

    def build():
        import torch
        import torchvision
        torch.manual_seed(0)
        module = getattr(torchvision.models.video, name)(weights=None)
        return settle(module, (inputs(1)["clip"],))
    add(Entry(name, "video", build, inputs, {"clip": BATCH}))


video("r3d_18", 8, 112)
video("r2plus1d_18", 8, 112)
video("s3d", 16, 224)
video("mvit_v2_s", 16, 224)


def yolo():
    """A detector like YOLOv5 and v8: C2f blocks, SPPF, and a head over three scales that decodes boxes."""
    import torch
    nn, functional = torch.nn, torch.nn.functional

    def conv(fan_in, out, kernel=1, stride=1):
        return nn.Sequential(nn.Conv2d(fan_in, out, kernel, stride, kernel // 2, bias=False), nn.BatchNorm2d(out), nn.SiLU())

    class C2f(nn.Module):
        def __init__(self, fan_in, out, count, shortcut=True):
            super().__init__()
            self.first, self.last = conv(fan_in, out), conv(out // 2 * (2 + count), out)
            self.steps = nn.ModuleList([nn.Sequential(conv(out // 2, out // 2, 3), conv(out // 2, out // 2, 3))
                                        for _ in range(count)])
            self.shortcut = shortcut

        def forward(self, x):
            parts = list(self.first(x).chunk(2, 1))
            for step in self.steps:
                y = step(parts[-1])
                parts.append(parts[-1] + y if self.shortcut else y)
            return self.last(torch.cat(parts, 1))

    class Net(nn.Module):
        def __init__(self, classes=20, bins=16):
            super().__init__()
            self.stem = nn.Sequential(conv(3, 16, 3, 2), conv(16, 32, 3, 2), C2f(32, 32, 1), conv(32, 64, 3, 2), C2f(64, 64, 2))
            self.middle = nn.Sequential(conv(64, 128, 3, 2), C2f(128, 128, 2))
            self.deep = nn.Sequential(conv(128, 256, 3, 2), C2f(256, 256, 1))
            self.pool_in, self.pool_out = conv(256, 128), conv(512, 256)
            self.up1, self.up2 = C2f(384, 128, 1, False), C2f(192, 64, 1, False)
            self.down1, self.out1 = conv(64, 64, 3, 2), C2f(192, 128, 1, False)
            self.down2, self.out2 = conv(128, 128, 3, 2), C2f(384, 256, 1, False)
            self.bins = bins
            self.heads = nn.ModuleList([nn.Sequential(conv(c, 64, 3), nn.Conv2d(64, 4 * bins + classes, 1))
                                        for c in (64, 128, 256)])

        def forward(self, image):
            a = self.stem(image)
            b = self.middle(a)
            x = self.pool_in(self.deep(b))
            pools = [x]
            for _ in range(3):
                pools.append(functional.max_pool2d(pools[-1], 5, 1, 2))
            c = self.pool_out(torch.cat(pools, 1))
            up = lambda v: functional.interpolate(v, scale_factor=2.0, mode="nearest")
            d = self.up1(torch.cat([up(c), b], 1))
            e = self.up2(torch.cat([up(d), a], 1))
            f = self.out1(torch.cat([self.down1(e), d], 1))
            g = self.out2(torch.cat([self.down2(f), c], 1))
            results = []
            for scale, (level, head) in enumerate(zip((e, f, g), self.heads)):
                v = head(level)
                batch, _, height, width = v.shape
                v = v.view(batch, -1, height * width)
                box = v[:, :4 * self.bins].view(batch, 4, self.bins, height * width).softmax(2)
                box = (box * torch.arange(self.bins).float()[None, None, :, None]).sum(2)
                ys, xs = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
                grid = torch.stack([xs, ys]).float().reshape(1, 2, -1) + 0.5
                step = 8.0 * 2 ** scale
                low, high = (grid - box[:, :2]) * step, (grid + box[:, 2:]) * step
                results.append(torch.cat([(low + high) / 2, high - low, v[:, 4 * self.bins:].sigmoid()], 1))
            return torch.cat(results, 2)
    torch.manual_seed(0)
    return settle(Net(), (torch.cat([yolo_inputs(0)["image"]] * 2),))


yolo_inputs = picture((1, 320, 320), (1, 256, 384))
add(Entry("yolo", "detection", yolo, yolo_inputs, {"image": SIZES}))


def unet():
    import torch
    nn = torch.nn

    def double(fan_in, out):
        return nn.Sequential(nn.Conv2d(fan_in, out, 3, padding=1), nn.InstanceNorm2d(out, affine=True), nn.LeakyReLU(0.01),
                             nn.Conv2d(out, out, 3, padding=1), nn.GroupNorm(4, out), nn.ELU())

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.down1, self.down2 = double(3, 16), double(16, 32), double(32, 64)
            self.up1, self.up2 = nn.ConvTranspose2d(64, 32, 2, 2), nn.ConvTranspose2d(32, 16, 4, 2, 1)
            self.join1, self.join2, self.last = double(64, 32), double(32, 16), nn.Conv2d(16, 12, 1)
            self.shuffle = nn.PixelShuffle(2)

        def forward(self, image):
            a = self.enter(image)
            b = self.down1(nn.functional.max_pool2d(a, 2))
            c = self.down2(nn.functional.avg_pool2d(b, 2))
            d = self.join1(torch.cat([self.up1(c), b], 1))
            return self.shuffle(self.last(self.join2(torch.cat([self.up2(d), a], 1))))
    torch.manual_seed(0)
    return Net().eval()


add(Entry("unet", "segmentation", unet, picture((1, 128, 128), (2, 96, 160)), {"image": SIZES}))
