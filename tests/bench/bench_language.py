#!/usr/bin/env python3
"""Trains GPT 4 x 128 in PyTorch by nanoGPT's recipe for a CPU, as the reference for hearsay's GPT.

    bench_language.py TEXT SEED            trains 2,000 steps; prints the loss on the last tenth of TEXT
    bench_language.py --step [C LAYERS HEADS LENGTH BATCH]
                                           measures a step on one thread (128 4 4 64 12)
    bench_language.py --compiled [...]     the same with torch.compile; needs a C++ compiler

Model, optimizer, schedule and evaluation are those of hearsay's run in bench_language.sh. Samples are
drawn as nanoGPT draws them.
"""
import math
import sys
import time

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

TOKENS, STEPS, WARMUP, RATE, LAST = 256, 2000, 100, 1e-3, 1e-4


class Block(nn.Module):
    def __init__(self, width, heads, layers):
        super().__init__()
        self.heads = heads
        self.norms = nn.ModuleList([nn.LayerNorm(width), nn.LayerNorm(width)])
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        for linear in (self.qkv, self.out, self.wide, self.narrow):
            last = linear in (self.out, self.narrow)
            nn.init.normal_(linear.weight, 0, 0.02 / math.sqrt(2 * layers) if last else 0.02)
            nn.init.zeros_(linear.bias)

    def forward(self, x):
        batch, length, width = x.shape
        parts = self.qkv(self.norms[0](x)).split(width, 2)
        q, k, v = (part.view(batch, length, self.heads, -1).transpose(1, 2) for part in parts)
        mixed = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(mixed.transpose(1, 2).reshape(batch, length, width))
        return x + self.narrow(F.gelu(self.wide(self.norms[1](x)), approximate='tanh'))


class GPT(nn.Module):
    def __init__(self, width, layers, heads, length, tokens=TOKENS):
        super().__init__()
        self.embed, self.position = nn.Embedding(tokens, width), nn.Embedding(length, width)
        for table in (self.embed, self.position):
            nn.init.normal_(table.weight, 0, 0.02)
        self.blocks = nn.Sequential(*[Block(width, heads, layers) for _ in range(layers)])
        self.norm = nn.LayerNorm(width)

    def forward(self, x, y):
        x = self.norm(self.blocks(self.embed(x) + self.position.weight[:x.shape[1]]))
        return F.cross_entropy((x @ self.embed.weight.T).flatten(0, 1), y.view(-1))


def optimizer_of(model, **how):
    matrices = [p for p in model.parameters() if p.dim() > 1]
    others = [p for p in model.parameters() if p.dim() == 1]
    return torch.optim.AdamW([{'params': matrices, 'weight_decay': 0.1},
                              {'params': others, 'weight_decay': 0.0}], lr=RATE, betas=(0.9, 0.99), **how)


def step(model, optimizer, x, y):
    loss = model(x, y)
    optimizer.zero_grad(set_to_none=True)
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()


def windows(data, at, length):
    return (torch.stack([data[i:i + length] for i in at]),
            torch.stack([data[i + 1:i + length + 1] for i in at]))


def train(path, seed, length=64, batch=12):
    torch.manual_seed(seed)
    data = torch.tensor(np.frombuffer(open(path, 'rb').read(), np.uint8).astype(np.int64))
    learned, tested = data[:len(data) - len(data) // 10], data[len(data) - len(data) // 10:]
    model = GPT(128, 4, 4, length)
    optimizer = optimizer_of(model)
    for i in range(STEPS):
        fallen = (i - WARMUP) / (STEPS - WARMUP)
        rate = LAST + (RATE - LAST) * (1 + math.cos(math.pi * fallen)) / 2
        for group in optimizer.param_groups:
            group['lr'] = RATE * (i + 1) / (WARMUP + 1) if i < WARMUP else rate
        step(model, optimizer, *windows(learned, torch.randint(len(learned) - length, (batch,)), length))
    places = range(0, (len(tested) - 1) // length * length, length)
    with torch.no_grad():
        parts = [places[i:i + 100] for i in range(0, len(places), 100)]
        losses = [model(*windows(tested, part, length)).item() * len(part) for part in parts]
    print(f'PyTorch, seed {seed}: {sum(losses) / len(places):.4f} nats')


def time_steps(compiled, width=128, layers=4, heads=4, length=64, batch=12, steps=40):
    model = GPT(width, layers, heads, length)
    optimizer = optimizer_of(model)
    x, y = torch.randint(0, TOKENS, (2, batch, length))
    if compiled:
        model = torch.compile(model)
        step(model, optimizer, x, y)
    took = []
    for _ in range(steps):
        began = time.perf_counter()
        step(model, optimizer, x, y)
        took.append(time.perf_counter() - began)
    took.sort()
    print(f'PyTorch {torch.__version__}{", compiled" * compiled}, {batch} sequences of {length}: '
          f'fastest step {1e3 * took[0]:.1f} ms, median {1e3 * took[steps // 2]:.1f} ms')


if __name__ == '__main__':
    torch.set_num_threads(1)
    if sys.argv[1] in ('--step', '--compiled'):
        time_steps(sys.argv[1] == '--compiled', *[int(word) for word in sys.argv[2:]])
    else:
        train(sys.argv[1], int(sys.argv[2]))
