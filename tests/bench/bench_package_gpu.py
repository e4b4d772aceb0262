#!/usr/bin/env python3
"""Measures the cost of a node for a PyTorch script on a GPU: the time of a step of a GPT with 10.8 million
parameters, without a node and with one. A second script of the swarm trains and publishes on the CPU.

    python3 -m hearsay.local --nodes 2 tests/bench/bench_package_gpu.py TEXT [float32|bfloat16]

The first node is on cuda:0 and prints the result; the second is on the CPU. Needs PyTorch with CUDA,
PYTHONPATH=src/python, HEARSAY_LIBRARY, HEARSAY_PROGRAM, and a training text. Takes about a minute.
"""
import pathlib
import statistics
import sys
import time

import torch

import hearsay
from hearsay.local import shard

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'src/python/examples'))
import char_gpt  # noqa: E402

CONTEXT, SAMPLES = 256, 512
ROUND = 10  # steps that are timed together
WARM_S, ALONE_S, TOGETHER_S, PATIENCE_S = 4, 5, 15, 90


class Training:
    def __init__(self, text, device, dtype, batch):
        torch.manual_seed(1)  # the same initial weights in both scripts
        self.model = char_gpt.CharGPT(6, 384, 6, CONTEXT).to(device).to(dtype)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=3e-4)
        generator = torch.Generator().manual_seed(shard()[0])
        self.data = char_gpt.draw(text, SAMPLES, CONTEXT, generator).to(device)
        self.batch, self.at = batch, 0

    def step(self):
        loss = self.model.loss(self.data[self.at:self.at + self.batch])
        self.at = (self.at + self.batch) % SAMPLES
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return loss

    def milliseconds(self, seconds, node=None):
        """Trains for this many seconds. Returns the mean milliseconds of a step for each round."""
        rounds, end = [], time.perf_counter() + seconds
        while time.perf_counter() < end:
            began = time.perf_counter()
            for _ in range(ROUND):
                loss = self.step()
                if node:
                    node.count(self.batch, loss)
            if self.data.is_cuda:
                torch.cuda.synchronize()
            rounds.append(1e3 * (time.perf_counter() - began) / ROUND)
        return rounds


def wait_for_the_other(node):
    end = time.monotonic() + PATIENCE_S
    while node.info().members < 2 and time.monotonic() < end:
        time.sleep(0.1)
    assert node.info().members == 2, f'the other node did not join within {PATIENCE_S} s'


def measure(training):
    """Prints the time of a step without a node (before and after) and with one."""
    first = {name: tensor.clone() for name, tensor in training.model.state_dict().items()}
    training.milliseconds(WARM_S)
    before = training.milliseconds(ALONE_S)
    training.model.load_state_dict(first)
    with hearsay.Node(training.model, training.optimizer) as node:
        wait_for_the_other(node)
        training.milliseconds(WARM_S, node)
        sent = node.info().sent_bytes
        together = training.milliseconds(TOGETHER_S, node)
        sent = node.info().sent_bytes - sent
    after = training.milliseconds(ALONE_S)
    alone, together = (statistics.mean(rounds) for rounds in (before + after, together))
    print(f'{training.model.token.weight.dtype}: a step alone {alone:.2f} ms, with a node {together:.2f} ms, '
          f'{100 * (together / alone - 1):.1f} % more; {sent / 1e6:.1f} MB sent in {TOGETHER_S} s')


def keep_company(training):
    with hearsay.Node(training.model, training.optimizer) as node:
        wait_for_the_other(node)
        while node.info().members == 2:
            training.milliseconds(0.2, node)


def main():
    text = char_gpt.read(pathlib.Path(sys.argv[1]))
    dtype = getattr(torch, sys.argv[2] if len(sys.argv) > 2 else 'float32')
    torch.set_num_threads(4)
    torch.backends.cuda.matmul.allow_tf32 = True
    if shard()[0] == 0:
        measure(Training(text, 'cuda', dtype, batch=64))
    else:
        keep_company(Training(text, 'cpu', dtype, batch=4))


if __name__ == '__main__':
    main()
