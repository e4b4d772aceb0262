#!/usr/bin/env python3
"""What PyTorch makes of the models of bench_layers.c, or with --cuda of those of bench_gpu.c: samples/s,
forward, backward and SGD.

On the CPU, one thread: Debian's package python3-torch; run with OPENBLAS_NUM_THREADS=1, right before
or after bench_layers. With --cuda each net is run as it is written, and as a CUDA graph of a whole
step; in float32, TF32, and with autocast to bfloat16. The samples lie on the card.
"""
import statistics
import sys
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

ROUNDS = 9


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


class Training:
    """A step over random samples that lie where the net is."""

    def __init__(self, net, batch, device, dtype=None):
        self.net = net.to(device)
        self.samples = torch.randn(8192, 1, 28, 28, device=device)
        self.labels = torch.randint(0, 10, (8192,), device=device)
        self.pick = torch.randint(0, 8192, (batch,), device=device)
        self.sgd = torch.optim.SGD(self.net.parameters(), lr=0.001, momentum=0.9)
        self.device, self.dtype = device, dtype

    def step(self):
        self.sgd.zero_grad(set_to_none=True)
        x, y = self.samples[self.pick], self.labels[self.pick]
        if self.dtype:
            with torch.autocast(self.device, dtype=self.dtype):
                loss = F.cross_entropy(self.net(x), y)
        else:
            loss = F.cross_entropy(self.net(x), y)
        loss.backward()
        self.sgd.step()

    def graph(self):
        """The step, recorded; returns what plays it again."""
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(3):
                self.step()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            self.step()
        return graph.replay


def samples_per_second(step, batch, steps, wait=lambda: None):
    rates = []
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
    for name, net, steps in (("lenet", lenet, 15), ("mlp", mlp, 150)):
        rate = samples_per_second(Training(net(), 32, "cpu").step, 32, steps)
        print(f"{name:5} {rate:9.0f} samples/s")


def on_gpu():
    nets = (("lenet", lenet, 32, 200), ("lenet", lenet, 256, 200), ("cnn", cnn, 128, 100),
            ("mlp", mlp, 128, 200), ("wide", lambda: dense(4096, 4096, 4096, 10), 4096, 20))
    for words in ("fp32", "tf32", "bf16"):
        torch.backends.cuda.matmul.allow_tf32 = words == "tf32"
        torch.backends.cudnn.allow_tf32 = words == "tf32"
        dtype = torch.bfloat16 if words == "bf16" else None
        print(f"torch {torch.__version__}, {torch.cuda.get_device_name()}, {words}")
        for name, net, batch, steps in nets:
            training = Training(net(), batch, "cuda", dtype)
            eager = samples_per_second(training.step, batch, steps, torch.cuda.synchronize)
            graph = samples_per_second(training.graph(), batch, steps, torch.cuda.synchronize)
            print(f"{name:5} batch {batch:<5} {eager:10.0f} samples/s, as a graph {graph:10.0f}")


on_gpu() if "--cuda" in sys.argv[1:] else on_cpu()
