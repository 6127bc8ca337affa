"""Defines nets over graphs, points and tables of categories. All use gathers and scatters."""
from registry import Entry, add
from speech import seeded
from text import drawn


def whole(shape, high, which):
    import torch
    return torch.randint(0, high, shape, generator=torch.Generator().manual_seed(1 + which))


def graph(which):
    nodes, edges = ((100, 400), (57, 130))[which]
    return {**drawn({"x": ((100, 16), (57, 16))})(which), "edges": whole((2, edges), nodes, which)}


GRAPH_OPEN = {"x": {0: "nodes"}, "edges": {1: "edges"}}


def gcn(torch, nn):
    """A graph convolution: sums over neighbours, normalized by their number."""

    class Net(nn.Module):
        def __init__(self, width=32):
            super().__init__()
            self.layers, self.out = nn.ModuleList([nn.Linear(16, width), nn.Linear(width, width)]), nn.Linear(width, 4)

        def forward(self, x, edges):
            source, target = edges[0], edges[1]
            degree = torch.ones(x.shape[0]).scatter_add(0, target, torch.ones(edges.shape[1]))
            weight = degree.rsqrt()[source] * degree.rsqrt()[target]
            for layer in self.layers:
                y = layer(x)
                own = y / degree[:, None]
                x = torch.relu(own.scatter_add(0, target[:, None].expand(-1, y.shape[1]), y[source] * weight[:, None]))
            return self.out(x)
    return Net()


add(Entry("gcn", "graphs", seeded(gcn), graph, GRAPH_OPEN))


def gat(torch, nn):
    """Attention over the neighbours of each node: a softmax over groups, computed by scattering maxima and sums."""

    class Net(nn.Module):
        def __init__(self, heads=4, width=8):
            super().__init__()
            self.heads, self.width, self.enter = heads, width, nn.Linear(16, heads * width, bias=False)
            self.left, self.right = [nn.Parameter(torch.randn(heads, width) * 0.3) for _ in range(2)]
            self.out = nn.Linear(heads * width, 3)

        def forward(self, x, edges):
            source, target = edges[0], edges[1]
            y = self.enter(x).view(-1, self.heads, self.width)
            score = nn.functional.leaky_relu((y * self.left).sum(-1)[source] + (y * self.right).sum(-1)[target], 0.2)
            index = target[:, None].expand(-1, self.heads)
            most = torch.full((x.shape[0], self.heads), -1e9).scatter_reduce(0, index, score, "amax")
            share = torch.exp(score - most[target])
            share = share / torch.zeros_like(most).scatter_add(0, index, share)[target]
            index = target[:, None, None].expand(-1, self.heads, self.width)
            y = torch.zeros_like(y).scatter_add(0, index, y[source] * share[..., None])
            return self.out(nn.functional.elu(y.flatten(1)))
    return Net()


add(Entry("gat", "graphs", seeded(gat), graph, GRAPH_OPEN))


def dgcnn(torch, nn):
    """A net on a cloud of points: features of the nearest neighbours, found by TopK, relative to each point."""

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.first = nn.Sequential(nn.Conv2d(6, 32, 1), nn.BatchNorm2d(32), nn.LeakyReLU(0.2))
            self.second = nn.Sequential(nn.Conv2d(64, 32, 1), nn.BatchNorm2d(32), nn.LeakyReLU(0.2))
            self.out = nn.Linear(128, 5)

        def edges(self, x, count=8):
            batch, channels, points = x.shape
            squares = (x * x).sum(1, keepdim=True)
            near = (2 * x.transpose(2, 1) @ x - squares - squares.transpose(2, 1)).topk(count, -1)[1]
            rows = x.transpose(2, 1).reshape(batch * points, channels)
            found = rows[(near + torch.arange(batch)[:, None, None] * points).view(-1)].view(batch, points, count, channels)
            own = x.transpose(2, 1)[:, :, None].expand(-1, -1, count, -1)
            return torch.cat([found - own, own], 3).permute(0, 3, 1, 2)

        def forward(self, points):
            a = self.first(self.edges(points)).max(-1)[0]
            b = self.second(self.edges(a)).max(-1)[0]
            y = torch.cat([a, b], 1)
            return self.out(torch.cat([y.max(2)[0], y.mean(2)], 1))
    return Net()


add(Entry("dgcnn", "graphs", seeded(dgcnn), drawn({"points": ((1, 3, 256), (2, 3, 150))}), {"points": {0: "batch", 2: "points"}}))


def dlrm(torch, nn):
    """A recommender: tables of embeddings, and the products of all pairs."""

    class Net(nn.Module):
        def __init__(self, tables=8, width=16):
            super().__init__()
            self.tables = nn.ModuleList([nn.Embedding(200, width) for _ in range(tables)])
            self.bottom = nn.Sequential(nn.Linear(13, 64), nn.ReLU(), nn.Linear(64, width), nn.ReLU())
            self.top = nn.Sequential(nn.Linear((tables + 1) * tables // 2 + width, 64), nn.ReLU(), nn.Linear(64, 1))
            self.rows, self.columns = torch.tril_indices(tables + 1, tables + 1, -1)

        def forward(self, dense, sparse):
            x = self.bottom(dense)
            parts = torch.stack([x] + [table(sparse[:, i]) for i, table in enumerate(self.tables)], 1)
            pairs = torch.bmm(parts, parts.transpose(1, 2))[:, self.rows, self.columns]
            return torch.sigmoid(self.top(torch.cat([x, pairs], 1)))
    return Net()


def dlrm_inputs(which):
    return {**drawn({"dense": ((32, 13), (77, 13))})(which), "sparse": whole(((32, 8), (77, 8))[which], 200, which)}


add(Entry("dlrm", "graphs", seeded(dlrm), dlrm_inputs, {"dense": {0: "batch"}, "sparse": {0: "batch"}}))


def experts(torch, nn):
    """A mixture of experts. Each expert computes the rows that chose it, whose number depends on the data."""

    class Net(nn.Module):
        def __init__(self, width=64, count=6):
            super().__init__()
            self.route = nn.Linear(width, count)
            self.experts = nn.ModuleList([nn.Sequential(nn.Linear(width, 128), nn.GELU(), nn.Linear(128, width))
                                          for _ in range(count)])

        def forward(self, x):
            share, chosen = torch.softmax(self.route(x), -1).topk(2, -1)
            y = torch.zeros_like(x)
            for number, expert in enumerate(self.experts):
                row, place = torch.where(chosen == number)
                y = y.index_add(0, row, expert(x[row]) * share[row, place][:, None])
            return y
    return Net()


add(Entry("experts", "graphs", seeded(experts), drawn({"x": ((24, 64), (17, 64))}), {"x": {0: "rows"}}))
