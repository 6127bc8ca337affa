"""Defines nets for speech and sequences: voice activity, recognition, synthesis."""
from registry import Entry, add
from text import drawn


def seeded(make):
    def build():
        import torch
        torch.manual_seed(0)
        return make(torch, torch.nn).eval()
    return build


def vad(torch, nn):
    """Voice activity detection: a branch for each sampling rate; the state is an input and an output."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.fine, self.coarse = nn.Conv1d(1, 64, 128, 64), nn.Conv1d(1, 64, 64, 32)
            self.first, self.second = nn.Conv1d(64, 96, 3, 2, 1), nn.Conv1d(96, 64, 3, 1, 1)
            self.cell, self.out = nn.LSTM(64, 64), nn.Conv1d(64, 1, 1)

        def forward(self, x, rate, h, c):
            if bool(rate == 16000):
                y = self.fine(x)
            else:
                y = self.coarse(x)
            y = torch.relu(self.second(torch.relu(self.first(torch.relu(y)))))
            y, state = self.cell(y.permute(2, 0, 1), (h, c))
            return torch.sigmoid(self.out(torch.relu(y.permute(1, 2, 0)))).mean(2), state[0], state[1]
    return Net()


def vad_inputs(which):
    import torch
    values = drawn({"x": ((1, 1, 512), (3, 1, 512)), "h": ((1, 1, 64), (1, 3, 64)), "c": ((1, 1, 64), (1, 3, 64))})(which)
    return {"x": values["x"], "rate": torch.tensor((16000, 8000)[which]), "h": values["h"], "c": values["c"]}


add(Entry("vad", "speech", seeded(vad), vad_inputs, {"x": {0: "batch"}, "h": {1: "batch"}, "c": {1: "batch"}},
          ("script17", "script20"), scripted=True))


def conformer(torch, nn):
    class Block(nn.Module):
        def __init__(self, width, heads=4, kernel=15):
            super().__init__()
            feed = lambda: nn.Sequential(nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.SiLU(), nn.Linear(4 * width, width))
            self.feed1, self.feed2, self.heads = feed(), feed(), heads
            self.norm1, self.norm2, self.norm3 = [nn.LayerNorm(width) for _ in range(3)]
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.expand, self.depth = nn.Conv1d(width, 2 * width, 1), nn.Conv1d(width, width, kernel, padding=kernel // 2, groups=width)
            self.batch, self.contract = nn.BatchNorm1d(width), nn.Conv1d(width, width, 1)

        def forward(self, x):
            x = x + 0.5 * self.feed1(x)
            batch, length, width = x.shape
            q, k, v = self.qkv(self.norm1(x)).reshape(batch, length, 3, self.heads, -1).permute(2, 0, 3, 1, 4).unbind(0)
            y = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, -1) @ v
            x = x + self.out(y.transpose(1, 2).reshape(batch, length, width))
            y = nn.functional.glu(self.expand(self.norm2(x).transpose(1, 2)), 1)
            y = self.contract(nn.functional.silu(self.batch(self.depth(y))))
            x = x + y.transpose(1, 2)
            return self.norm3(x + 0.5 * self.feed2(x))

    class Net(nn.Module):
        def __init__(self, width=144):
            super().__init__()
            self.sub = nn.Sequential(nn.Conv2d(1, 64, 3, 2), nn.ReLU(), nn.Conv2d(64, 64, 3, 2), nn.ReLU())
            self.enter, self.blocks = nn.Linear(64 * 19, width), nn.Sequential(*[Block(width) for _ in range(3)])
            self.leave = nn.Linear(width, 128)

        def forward(self, features):
            x = self.sub(features[:, None])
            x = self.enter(x.permute(0, 2, 1, 3).flatten(2))
            return torch.log_softmax(self.leave(self.blocks(x)), -1)
    return Net()


add(Entry("conformer", "speech", seeded(conformer), drawn({"features": ((1, 200, 80), (2, 157, 80))}),
          {"features": {0: "batch", 1: "frames"}}))


def crnn(torch, nn):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            steps, last = [], 1
            for width, pool in ((32, (2, 2)), (64, (2, 2)), (128, None), (128, (2, 1)), (256, (2, 1)), (256, (2, 1))):
                steps += [nn.Conv2d(last, width, 3, padding=1), nn.BatchNorm2d(width), nn.ReLU()]
                steps += [nn.MaxPool2d(pool)] if pool else []
                last = width
            self.convs, self.cell, self.out = nn.Sequential(*steps), nn.LSTM(256, 256, 2, bidirectional=True), nn.Linear(512, 97)

        def forward(self, line):
            x = self.convs(line).squeeze(2).permute(2, 0, 1)
            return torch.log_softmax(self.out(self.cell(x)[0]), -1)
    return Net()


add(Entry("crnn", "speech", seeded(crnn), drawn({"line": ((1, 1, 32, 200), (2, 1, 32, 152))}), {"line": {0: "batch", 3: "width"}}, kind="vision"))


def lstm_ctc(torch, nn):
    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell, self.out = nn.LSTM(80, 128, 2, batch_first=True, bidirectional=True), nn.Linear(256, 40)

        def forward(self, features):
            return torch.log_softmax(self.out(self.cell(features)[0]), -1)
    return Net()


add(Entry("lstm_ctc", "speech", seeded(lstm_ctc), drawn({"features": ((1, 150, 80), (3, 91, 80))}),
          {"features": {0: "batch", 1: "frames"}}))


def gru_denoiser(torch, nn):
    """Noise suppression: computes a mask for a spectrum."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.enter, self.cells, self.leave = nn.Linear(257, 256), nn.GRU(256, 256, 2, batch_first=True), nn.Linear(256, 257)

        def forward(self, spectrum, state):
            y, state = self.cells(torch.tanh(self.enter(torch.log1p(spectrum.abs()))), state)
            return spectrum * torch.sigmoid(self.leave(y)), state
    return Net()


add(Entry("gru_denoiser", "speech", seeded(gru_denoiser),
          drawn({"spectrum": ((1, 100, 257), (2, 37, 257)), "state": ((2, 1, 256), (2, 2, 256))}),
          {"spectrum": {0: "batch", 1: "frames"}, "state": {1: "batch"}}))


def tcn(torch, nn):
    class Block(nn.Module):
        def __init__(self, width, dilation):
            super().__init__()
            self.conv1 = nn.Conv1d(width, width, 3, dilation=dilation)
            self.conv2, self.act, self.pad = nn.Conv1d(width, width, 1), nn.PReLU(), 2 * dilation

        def forward(self, x):
            return x + self.conv2(self.act(self.conv1(nn.functional.pad(x, (self.pad, 0)))))

    return nn.Sequential(nn.Conv1d(1, 64, 16, 8), *[Block(64, 2 ** (i % 6)) for i in range(12)], nn.Conv1d(64, 1, 1))


add(Entry("tcn", "speech", seeded(tcn), drawn({"wave": ((1, 1, 8000), (2, 1, 5008))}), {"wave": {0: "batch", 2: "samples"}}))


def vocoder(torch, nn):
    """A net like HiFi-GAN: transposed convolutions, followed by blocks of dilated convolutions."""

    class Block(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.convs = nn.ModuleList([nn.Conv1d(width, width, 3, dilation=d, padding=d) for d in (1, 3, 5)])

        def forward(self, x):
            for conv in self.convs:
                x = x + conv(nn.functional.leaky_relu(x, 0.1))
            return x
    layers, width = [nn.Conv1d(80, 128, 7, padding=3)], 128
    for factor in (8, 8, 2):
        layers += [nn.LeakyReLU(0.1), nn.ConvTranspose1d(width, width // 2, 2 * factor, factor, factor // 2), Block(width // 2)]
        width //= 2
    return nn.Sequential(*layers, nn.LeakyReLU(0.1), nn.Conv1d(width, 1, 7, padding=3), nn.Tanh())


add(Entry("vocoder", "speech", seeded(vocoder), drawn({"mel": ((1, 80, 40), (2, 80, 27))}), {"mel": {0: "batch", 2: "frames"}}))


def transducer_step(torch, nn):
    """One step of a transducer: the prediction network and the joiner."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.cell = nn.Embedding(500, 128), nn.LSTM(128, 256, 2, batch_first=True)
            self.left, self.right, self.out = nn.Linear(144, 256), nn.Linear(256, 256), nn.Linear(256, 500)

        def forward(self, encoded, token, h, c):
            y, (h, c) = self.cell(self.words(token), (h, c))
            return self.out(torch.tanh(self.left(encoded)[:, :, None] + self.right(y)[:, None])), h, c
    return Net()


def transducer_inputs(which):
    import torch
    batch, frames = ((1, 4), (3, 9))[which]
    values = drawn({"encoded": ((1, 4, 144), (3, 9, 144)), "h": ((2, 1, 256), (2, 3, 256)), "c": ((2, 1, 256), (2, 3, 256))})(which)
    return {"encoded": values["encoded"], "token": torch.arange(batch)[:, None] + 7, "h": values["h"], "c": values["c"]}


add(Entry("transducer_step", "speech", seeded(transducer_step), transducer_inputs,
          {"encoded": {0: "batch", 1: "frames"}, "token": {0: "batch"}, "h": {1: "batch"}, "c": {1: "batch"}}))


def greedy(torch, nn):
    """Decoding as a loop inside of the model, which stops at the end token or after `limit` steps."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.words, self.cell, self.out = nn.Embedding(50, 64), nn.GRUCell(64, 64), nn.Linear(64, 50)

        def forward(self, h, limit):
            token = torch.zeros(h.shape[0], dtype=torch.int64)
            found = torch.zeros(h.shape[0], 1, dtype=torch.int64)
            step = 0
            going = True
            while going:
                h = self.cell(self.words(token), h)
                token = self.out(h).argmax(1)
                found = torch.cat([found, token[:, None]], 1)
                step += 1
                going = step < int(limit) and bool((token != 3).any())
            return found, h
    return Net()


def greedy_inputs(which):
    import torch
    return {"h": drawn({"h": ((1, 64), (3, 64))})(which)["h"], "limit": torch.tensor((20, 7)[which])}


add(Entry("greedy", "speech", seeded(greedy), greedy_inputs, {"h": {0: "batch"}}, ("script17", "script20"), scripted=True))
