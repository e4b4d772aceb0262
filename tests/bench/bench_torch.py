#!/usr/bin/env python3
"""Measures PyTorch's training speed, in samples/s, on the models of bench_layers.c, or with --cuda on those
of bench_gpu.c. A step is forward, backward and SGD; for language models AdamW with clipping.

    bench_torch.py
    bench_torch.py --cuda [WORD...]     only these precisions (fp32 tf32 bf16), models and variants (eager)

On the CPU it uses one thread and Debian's package python3-torch. Run it with OPENBLAS_NUM_THREADS=1, right
before or after bench_layers.

With --cuda the variants of each net are: eager; graph, a CUDA graph of a whole step; and compiled
(torch.compile with reduce-overhead: fused kernels in a graph). Nets with convolutions also run with
channels last (graph-last, compiled-last). The precisions are PyTorch's default (products in float32,
convolutions in TF32), float32, TF32, autocast to bfloat16, and weights and samples in bfloat16. cuDNN
chooses the fastest convolutions. The images are in the GPU's memory; the host sends the indices of the batch
in each step. Each line ends with the fastest variant.

Language models run in float32, TF32 and autocast to bfloat16. Their variants are eager, graph, compiled
(torch.compile's default mode) and overhead (its mode reduce-overhead). They repeat one batch, and use
scaled_dot_product_attention and AdamW's fused kernels. gpt2-124m has 50,304 tokens instead of 50,257,
because its products are then faster.
"""
import statistics
import sys
import time

if "--help" in sys.argv[1:]:  # before the import, so that it works without PyTorch
    print(__doc__)
    sys.exit()

import torch
import torch.nn as nn
import torch.nn.functional as F

import bench_language

ROUNDS = 9
WARM_S = 0.5  # warmup until clocks and caches are steady


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10))


def cnn():
    return nn.Sequential(
        nn.Conv2d(1, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(32, 64, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(3136, 512), nn.ReLU(), nn.Linear(512, 10))


def dense(*sizes):
    layers = [nn.Flatten()]
    for i, size in enumerate(sizes):
        layers += [nn.Linear(784 if i == 0 else sizes[i - 1], size), nn.ReLU()]
    return nn.Sequential(*layers[:-1])


def mlp():
    return dense(256, 128, 10)


def conv(channels, filters, side, stride, normed):
    """Returns a padded convolution; `normed`: with a batch norm instead of biases."""
    layer = nn.Conv2d(channels, filters, side, stride, side // 2, bias=not normed)
    return nn.Sequential(layer, nn.BatchNorm2d(filters)) if normed else layer


class Residual(nn.Module):
    """A residual block of two convolutions. If it halves the image, its shortcut is a convolution."""

    def __init__(self, channels, filters, normed):
        super().__init__()
        stride = filters // channels
        self.body = nn.Sequential(conv(channels, filters, 3, stride, normed), nn.ReLU(),
                                  conv(filters, filters, 3, 1, normed))
        self.shortcut = nn.Identity() if stride == 1 else conv(channels, filters, 1, stride, normed)

    def forward(self, x):
        return F.relu(self.body(x) + self.shortcut(x))


def residual(normed=False):
    sizes = [16, 16, 16, 16, 32, 32, 32, 64, 64, 64]
    return nn.Sequential(
        conv(1, 16, 3, 1, normed), nn.ReLU(),
        *(Residual(*pair, normed) for pair in zip(sizes, sizes[1:])),
        nn.AdaptiveAvgPool2d(1) if normed else nn.MaxPool2d(7), nn.Flatten(), nn.Linear(64, 10))


def resnet20():
    return residual(normed=True)


def recorded(learn):
    """Calls `learn` three times to warm up, then records it as a CUDA graph. Returns the function that replays
    the graph."""
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(3):
            learn()
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        learn()
    return graph.replay


class Training:
    """Training of an image net on random samples in the memory of its device."""

    def __init__(self, net, batch, device, dtype=None, layout=torch.contiguous_format):
        self.net = net.to(device, memory_format=layout)
        self.samples = torch.randn(8192, 1, 28, 28, device=device)
        self.layout = layout
        self.labels = torch.randint(0, 10, (8192,), device=device)
        self.host_pick = torch.randint(0, 8192, (batch,))
        if device == "cuda":
            self.host_pick = self.host_pick.pin_memory()
        self.pick = self.host_pick.to(device)
        self.device, self.dtype = device, dtype
        if dtype == "all bf16":
            self.net, self.samples = self.net.bfloat16(), self.samples.bfloat16()
        self.sgd = torch.optim.SGD(self.net.parameters(), lr=0.001, momentum=0.9)

    def loss(self, x, y):
        if self.dtype == "bf16":
            with torch.autocast(self.device, dtype=torch.bfloat16):
                return F.cross_entropy(self.net(x), y)
        return F.cross_entropy(self.net(x), y)

    def fetch(self):
        self.pick.copy_(self.host_pick, non_blocking=True)

    def learn(self):
        self.sgd.zero_grad(set_to_none=True)
        x = self.samples[self.pick].contiguous(memory_format=self.layout)
        self.loss(x, self.labels[self.pick]).backward()
        self.sgd.step()

    def step(self):
        self.fetch()
        self.learn()

    def graph(self):
        replay_learn = recorded(self.learn)

        def replay():
            self.fetch()
            replay_learn()

        return replay

    def compiled(self):
        """Compiles the loss and its gradients (fused kernels in CUDA graphs). Returns the step."""
        self.loss = torch.compile(self.loss, mode="reduce-overhead")
        return self.step


def samples_per_second(step, batch, steps, wait=lambda: None):
    rates = []
    begun = time.perf_counter()
    while time.perf_counter() - begun < WARM_S:
        step()
        wait()
    for _ in range(ROUNDS + 1):
        start = time.perf_counter()
        for _ in range(steps):
            step()
        wait()
        rates.append(batch * steps / (time.perf_counter() - start))
    return statistics.median(rates[1:])


def on_cpu():
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread")
    for name, net, batch, steps in (("lenet", lenet, 32, 15), ("mlp", mlp, 32, 150),
                                    ("cnn of 1.66 million", cnn, 32, 5),
                                    ("residual net of 20", residual, 64, 2),
                                    ("resnet20", resnet20, 64, 2)):
        rate = samples_per_second(Training(net(), batch, "cpu").step, batch, steps)
        print(f"{name:20} batch {batch:2} {rate:9.0f} samples/s")


NETS = (("lenet", lenet, 32, 200), ("lenet", lenet, 256, 200), ("cnn", cnn, 32, 200), ("cnn", cnn, 256, 100),
        ("mlp", mlp, 128, 200), ("resnet20", resnet20, 128, 50),
        ("wide", lambda: dense(4096, 4096, 4096, 10), 4096, 20))
PRECISIONS = ("as it comes", "fp32", "tf32", "bf16", "all bf16")
WAYS = {"eager": lambda training: training.step, "graph": lambda training: training.graph(),
        "compiled": lambda training: training.compiled()}
LAST = "-last"  # suffix of the variants with channels last
OF_IMAGES = list(WAYS) + [way + LAST for way in ("graph", "compiled")]
WAYS["overhead"] = lambda writing: writing.compiled(mode="reduce-overhead")
OF_LANGUAGE = list(WAYS)
# width, layers, heads, length, tokens
LANGUAGE = (("gpt-mini", (384, 6, 6, 256, 256), 64, 20), ("gpt2-124m", (768, 12, 12, 1024, 50304), 16, 8))


class Writing:
    """Training of a language model on random tokens; autocast to bfloat16 if words is "bf16"."""

    def __init__(self, sizes, batch, words, is_recorded=False):
        self.net = bench_language.GPT(*sizes).to("cuda")
        self.optimizer = bench_language.optimizer_of(self.net, fused=True, capturable=is_recorded)
        self.x, self.y = torch.randint(0, sizes[4], (2, batch, sizes[3]), device="cuda")
        self.words = words

    def step(self):
        with torch.autocast("cuda", dtype=torch.bfloat16, enabled=self.words == "bf16"):
            loss = self.net(self.x, self.y)
        self.optimizer.zero_grad(set_to_none=True)
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.net.parameters(), 1.0)
        self.optimizer.step()

    def graph(self):
        return recorded(self.step)

    def compiled(self, mode="default"):
        self.net = torch.compile(self.net, mode=mode)
        return self.step


def winner(rates):
    """Returns the name of the fastest variant."""
    return max(rates, key=rates.get)


def bench(name, batch, steps, make, ways):
    rates = {}
    for way in ways:
        step = WAYS[way.removesuffix(LAST)](make(way))
        rates[way] = samples_per_second(step, batch, steps, torch.cuda.synchronize)
        del step
        torch.cuda.empty_cache()
    figures = "".join(f"  {way} {rate:10.0f}" for way, rate in rates.items())
    print(f"{name:9} batch {batch:<5} samples/s{figures}  fastest: {winner(rates)}", flush=True)


def image_net(net, batch, words):
    """Returns a function that makes the Training of a variant ("eager", "graph-last", …)."""
    return lambda way: Training(net(), batch, "cuda", words, torch.channels_last if way.endswith(LAST)
                                else torch.contiguous_format)


def has_convolutions(net):
    return any(isinstance(layer, nn.Conv2d) for layer in net().modules())


def on_gpu(asked):
    def among(words):
        return [word for word in words if word in asked] or list(words)

    models = among([name for name, *_ in NETS + LANGUAGE])
    torch.backends.cudnn.benchmark = True
    for words in among(PRECISIONS):
        torch.backends.cuda.matmul.allow_tf32 = words == "tf32"
        torch.backends.cudnn.allow_tf32 = words in ("as it comes", "tf32")
        print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, {words}")
        for name, net, batch, steps in NETS:
            if name in models:
                ways = [way for way in among(OF_IMAGES)
                        if not way.endswith(LAST) or has_convolutions(net)]
                bench(name, batch, steps, image_net(net, batch, words), ways)
        for name, sizes, batch, steps in LANGUAGE if words in ("fp32", "tf32", "bf16") else ():
            if name in models:
                bench(name, batch, steps,
                      lambda way: Writing(sizes, batch, words, is_recorded=way == "graph"),
                      among(OF_LANGUAGE))


on_gpu(sys.argv[sys.argv.index("--cuda") + 1:]) if "--cuda" in sys.argv[1:] else on_cpu()
