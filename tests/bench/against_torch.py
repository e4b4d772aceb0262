#!/usr/bin/env python3
"""What people use today instead of hearsay, on PyTorch and Gloo; tests/bench/against_torch.sh runs it.

  train    one process of a rival: the first leaves in FOLDER a line for each round of exchange and,
           every so many steps, the model
  probe    round trip and speed of TCP between the machines of the test network

The images are read and the model is built from hearsay's own line of layers, so that rivals start
from the weights that hearsay starts from. The clock begins when all processes have met. With --test
it does not count: then all compute the accuracy together whenever a model would be left.
"""
import argparse
import datetime
import gzip
import json
import os
import socket
import sys
import threading
import time

import numpy as np
import torch
import torch.distributed
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.distributed.algorithms.ddp_comm_hooks import powerSGD_hook as power
from torch.nn.parallel import DistributedDataParallel
from torch.nn.utils import parameters_to_vector, vector_to_parameters

BATCH, MOMENTUM, TARGETS = 32, 0.9, (0.85, 0.88)
OUTER_RATE, OUTER_MOMENTUM = 0.7, 0.9
WARM_ROUNDS = 3  # the first are not like the others: buckets are made, PowerSGD sends all
PATIENCE_S = 20  # with a run that cannot end in time
ONE_BUCKET_MB, SILENCE_S = 1000, 300
LOST_STEPS, LOST_ACCURACY = 300, 0.2  # who is not better by then has diverged


def read_idx(path):
    with gzip.open(path) as file:
        head = file.read(4)
        sizes = [int.from_bytes(file.read(4), "big") for _ in range(head[3])]
        return np.frombuffer(file.read(), np.uint8).reshape(sizes)


def read_images(folder, part, mean=None, deviation=None):
    """Normalised by mean and deviation of all pixels of the training set, as hearsay does it."""
    pixels = read_idx(f"{folder}/{part}-images-idx3-ubyte.gz").astype(np.float32)
    labels = read_idx(f"{folder}/{part}-labels-idx1-ubyte.gz").astype(np.int64)
    if mean is None:
        mean, deviation = pixels.mean(dtype=np.float64), pixels.std(dtype=np.float64)
    return ((pixels - mean) / deviation).astype(np.float32)[:, None], labels, mean, deviation


def build(line):
    """The model of a line such as: conv 16 5x5 pad 2, relu, maxpool 2, dense 10."""
    channels, size, is_flat, made = 1, 28, False, []
    for layer in (text.split() for text in line.split(",")):
        if layer[0] == "conv":
            side = int(layer[2].split("x")[0])
            pad = int(layer[4]) if len(layer) > 4 else 0
            made.append(torch.nn.Conv2d(channels, int(layer[1]), side, padding=pad))
            channels, size = int(layer[1]), size + 2 * pad - side + 1
        elif layer[0] == "maxpool":
            made.append(torch.nn.MaxPool2d(int(layer[1])))
            size //= int(layer[1])
        elif layer[0] == "dense":
            if not is_flat:
                made.append(torch.nn.Flatten())
                channels, is_flat = channels * size * size, True
            made.append(torch.nn.Linear(channels, int(layer[1])))
            channels = int(layer[1])
        else:
            made.append({"relu": torch.nn.ReLU, "tanh": torch.nn.Tanh,
                         "sigmoid": torch.nn.Sigmoid}[layer[0]]())
    return torch.nn.Sequential(*made)


class Samples:
    """One quarter of the training set, in a new order each time round."""

    def __init__(self, folder, rank, world):
        images, labels, self.mean, self.deviation = read_images(folder, "train")
        mine = np.random.RandomState(1).permutation(len(labels))[rank::world]
        self.images, self.labels = images[mine], labels[mine]
        self.random = np.random.RandomState(100 + rank)
        self.order, self.at = [], 0

    def batch(self):
        if self.at + BATCH > len(self.order):
            self.order, self.at = self.random.permutation(len(self.labels)), 0
        pick = self.order[self.at:self.at + BATCH]
        self.at += BATCH
        return self.images[pick], self.labels[pick]


class Dense:
    """Every step everybody's gradient: DistributedDataParallel, with one of its hooks or none."""
    every = 1

    def __init__(self, net, kind):
        if kind == "powersgd":
            # With more than two Gloo processes all must be one bucket: the sums of several are
            # not begun in the same order everywhere, and then everybody waits for ever.
            torch.distributed._DEFAULT_FIRST_BUCKET_BYTES = ONE_BUCKET_MB << 20
            self.net = DistributedDataParallel(net, bucket_cap_mb=ONE_BUCKET_MB)
        else:
            self.net = DistributedDataParallel(net)
        if kind == "fp16":
            self.net.register_comm_hook(None, default_hooks.fp16_compress_hook)
        elif kind == "powersgd":
            state = power.PowerSGDState(None, matrix_approximation_rank=2, start_powerSGD_iter=2)
            self.net.register_comm_hook(state, power.powerSGD_hook)

    def exchange(self):
        pass


class Local:
    """Many steps alone, then the average; with DiLoCo's outer step: Nesterov on the difference."""

    def __init__(self, net, kind, steps, world):
        self.net, self.kind, self.every, self.world = net, kind, steps, world
        self.shared = parameters_to_vector(net.parameters()).detach().clone()
        self.speed = torch.zeros_like(self.shared)

    def exchange(self):
        if self.kind == "alone":
            return
        vector = parameters_to_vector(self.net.parameters()).detach()
        if self.kind == "local":
            vector = self.mean(vector)
        else:
            down = self.mean(self.shared - vector)
            self.speed.mul_(OUTER_MOMENTUM).add_(down)
            self.shared -= OUTER_RATE * (down + OUTER_MOMENTUM * self.speed)
            vector = self.shared.clone()
        vector_to_parameters(vector, self.net.parameters())

    def mean(self, vector):
        torch.distributed.all_reduce(vector)
        return vector / self.world


class Diary:
    """What the first process leaves."""

    def __init__(self, folder):
        self.folder, self.start, self.times = folder, time.time(), []
        self.file = open(f"{folder}/rounds.jsonl", "w", encoding="ascii")
        self.write({"start": self.start})

    def write(self, line):
        self.file.write(json.dumps(line) + "\n")
        self.file.flush()

    def round(self, steps, model, accuracy):
        line = {"t": time.time() - self.start, "steps": steps}
        self.times.append(line["t"])
        if model is not None:
            line["file"] = f"model-{steps}.npy"
            np.save(f"{self.folder}/{line['file']}", model)
        if accuracy is not None:
            line["accuracy"] = accuracy
        self.write(line)

    def is_hopeless(self, rounds, seconds):
        """Whether it is clear that so many more rounds will not end in this time."""
        times, warm = self.times, WARM_ROUNDS
        if not seconds or len(times) < warm + 2 or times[-1] - times[warm - 1] < PATIENCE_S:
            return False
        pace = (times[-1] - times[warm - 1]) / (len(times) - warm)
        return times[-1] + pace * rounds > seconds


def count_right(net, images, labels):
    right = 0
    with torch.no_grad():
        for at in range(0, len(labels), 500):
            guess = net(torch.from_numpy(images[at:at + 500])).argmax(1).numpy()
            right += int((guess == labels[at:at + 500]).sum())
    return right


class Test:
    """The test set, each process its part of it."""

    def __init__(self, asked, samples):
        images, labels, _, _ = read_images(asked.data, "t10k", samples.mean, samples.deviation)
        self.count = len(labels)
        self.images, self.labels = images[asked.rank::asked.world], labels[asked.rank::asked.world]

    def accuracy(self, net):
        right = torch.tensor([count_right(net, self.images, self.labels)])
        torch.distributed.all_reduce(right)
        return int(right) / self.count


class Process:
    """One of the processes of a rival."""

    def __init__(self, asked):
        torch.set_num_threads(1)
        torch.manual_seed(1)
        self.asked, self.net = asked, build(asked.layers)
        if asked.first:
            vector_to_parameters(torch.from_numpy(np.load(asked.first)), self.net.parameters())
        self.samples = Samples(asked.data, asked.rank, asked.world)
        self.test = Test(asked, self.samples) if asked.test else None
        torch.distributed.init_process_group("gloo", init_method=f"tcp://{asked.address}",
                                             rank=asked.rank, world_size=asked.world,
                                             timeout=datetime.timedelta(seconds=SILENCE_S))
        if asked.rival in ("ddp", "fp16", "powersgd"):
            self.way = Dense(self.net, asked.rival)
        else:
            self.way = Local(self.net, asked.rival, asked.every, asked.world)
        self.sgd = torch.optim.SGD(self.net.parameters(), lr=asked.rate, momentum=MOMENTUM)

    def step(self, number):
        images, labels = self.samples.batch()
        self.sgd.zero_grad()
        guess = self.way.net(torch.from_numpy(images))
        torch.nn.functional.cross_entropy(guess, torch.from_numpy(labels)).backward()
        self.sgd.step()
        if number % self.way.every == 0:
            self.way.exchange()

    def leave(self, diary, number):
        """After a step; true if that was the last."""
        asked, is_due = self.asked, number % self.asked.every == 0
        accuracy = self.test.accuracy(self.net) if self.test and is_due else None
        if diary and (is_due or number % self.way.every == 0):
            has_model = is_due and not self.test
            model = parameters_to_vector(self.net.parameters()).detach() if has_model else None
            diary.round(number, model, accuracy)
            rounds = (asked.steps - number) / self.way.every
            if diary.is_hopeless(rounds, asked.seconds):
                return True
        if accuracy is None:
            return False
        return accuracy >= TARGETS[-1] or number >= LOST_STEPS and accuracy < LOST_ACCURACY


def train(asked):
    process = Process(asked)
    torch.distributed.barrier()
    diary = Diary(asked.folder) if asked.rank == 0 else None
    for number in range(1, asked.steps + 1):
        process.step(number)
        if process.leave(diary, number):
            break
    sys.stdout.flush()
    os._exit(0)  # Gloo would wait for the others


def serve(address, port):
    listener = socket.create_server((address, port))
    while True:
        end, _ = listener.accept()
        threading.Thread(target=answer, args=(end,), daemon=True).start()


def answer(end):
    """One byte: said again. More: swallowed, and at their end one byte."""
    with end:
        while True:
            got = end.recv(1 << 16)
            if not got:
                break
            if len(got) == 1:
                end.sendall(b".")
        try:
            end.sendall(b".")
        except OSError:
            pass


def probe(asked):
    if asked.listen:
        serve(asked.address, 9999)
    with socket.create_connection((asked.address, 9999)) as end:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        trips = []
        for _ in range(10):
            begin = time.perf_counter()
            end.sendall(b"?")
            end.recv(1)
            trips.append(time.perf_counter() - begin)
    with socket.create_connection((asked.address, 9999)) as end:
        begin, count = time.perf_counter(), int(asked.mbit * 125000 * asked.seconds)
        end.sendall(bytes(count))
        end.shutdown(socket.SHUT_WR)
        end.recv(1)
        took = time.perf_counter() - begin
    print(json.dumps({"rtt_ms": round(1000 * sorted(trips)[5], 2),
                      "mbit_per_s": round(count * 8e-6 / took, 2)}))


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("train")
    one.set_defaults(run=train)
    for name in ("rival", "layers", "data", "folder", "address"):
        one.add_argument("--" + name, required=True)
    for name in ("rank", "world", "steps", "every"):
        one.add_argument("--" + name, type=int, required=True)
    one.add_argument("--rate", type=float, required=True)
    one.add_argument("--first", help="the weights to start from, instead of PyTorch's own")
    one.add_argument("--seconds", type=float, help="end early if the steps will take longer")
    one.add_argument("--test", action="store_true")
    one = commands.add_parser("probe")
    one.set_defaults(run=probe)
    one.add_argument("--address", required=True)
    one.add_argument("--listen", action="store_true")
    one.add_argument("--mbit", type=float)
    one.add_argument("--seconds", type=float)
    asked = parser.parse_args()
    asked.run(asked)


if __name__ == "__main__":
    main()
