#!/usr/bin/env python3
"""What PyTorch makes of the models of bench_layers.c: samples/s, forward, backward and SGD, one thread.

Debian's package python3-torch; run with OPENBLAS_NUM_THREADS=1, right before or after bench_layers.
"""
import statistics
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

BATCH, ROUNDS = 32, 9


def samples_per_second(net, steps):
    x, y = torch.randn(BATCH, 1, 28, 28), torch.randint(0, 10, (BATCH,))
    sgd = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
    rates = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(steps):
            sgd.zero_grad()
            F.cross_entropy(net(x), y).backward()
            sgd.step()
        rates.append(BATCH * steps / (time.perf_counter() - start))
    return statistics.median(rates)


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10))


def mlp():
    return nn.Sequential(
        nn.Flatten(), nn.Linear(784, 256), nn.ReLU(), nn.Linear(256, 128), nn.ReLU(),
        nn.Linear(128, 10))


torch.set_num_threads(1)
print(f"torch {torch.__version__}, one thread")
print(f"lenet {samples_per_second(lenet(), 15):9.0f} samples/s")
print(f"mlp   {samples_per_second(mlp(), 150):9.0f} samples/s")
