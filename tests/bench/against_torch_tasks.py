"""The tasks of hearsay and its rivals, for tests/bench/against_torch.sh: the model, the data of each
process, the optimizer and the evaluation.

A larger mark is better: the accuracy on the test images, or minus the loss on held-out text.
"""
import gzip
import json
import pathlib
import sys

import numpy as np
import torch
from torch.nn.utils import vector_to_parameters

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "support/torch"))
from torch_line import Line  # noqa: E402


def read_tensors(path):
    """Returns the float32 tensors of a .safetensors file by name: in the order of the layers, weights
    before biases."""
    with open(path, "rb") as file:
        head = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        body = file.read()
    head.pop("__metadata__", None)
    found = {name: np.frombuffer(body[slice(*about["data_offsets"])], "<f4").reshape(about["shape"])
             for name, about in head.items()}
    order = sorted(found, key=lambda name: (int(name.split(".")[0]), name.endswith(".bias")))
    return {name: found[name] for name in order}


def read_vector(path):
    return torch.from_numpy(np.concatenate([t.reshape(-1) for t in read_tensors(path).values()]))


def read_idx(path):
    with gzip.open(path) as file:
        head = file.read(4)
        sizes = [int.from_bytes(file.read(4), "big") for _ in range(head[3])]
        return np.frombuffer(file.read(), np.uint8).reshape(sizes)


def read_images(folder, part, mean=None, deviation=None):
    """Returns images, labels, mean and deviation of a part, "train" or "t10k".

    Pixels are normalized as hearsay does: with the mean and standard deviation of all pixels of the
    training set. None: computes both from this part."""
    pixels = read_idx(f"{folder}/{part}-images-idx3-ubyte.gz").astype(np.float32)
    labels = read_idx(f"{folder}/{part}-labels-idx1-ubyte.gz").astype(np.int64)
    if mean is None:
        mean, deviation = pixels.mean(dtype=np.float64), pixels.std(dtype=np.float64)
    return ((pixels - mean) / deviation).astype(np.float32)[:, None], labels, mean, deviation


class Images:
    """Fashion-MNIST: a convolutional net, 32 samples a step, SGD with momentum 0.9."""
    batch = 32

    def __init__(self, asked):
        self.line, self.folder, self.first = asked.layers, asked.data, asked.first
        images, labels, mean, deviation = read_images(self.folder, "train")
        self.train = images, labels
        self.test = read_images(self.folder, "t10k", mean, deviation)[:2]
        self.order, self.at = [], 0

    def build(self):
        """Returns the net of a line of layers, such as: conv 16 5x5 pad 2, relu, maxpool 2, dense 10."""
        channels, size, is_flat, made = 1, 28, False, []
        for layer in (text.split() for text in self.line.split(",")):
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
        net = torch.nn.Sequential(*made)
        if self.first:
            vector_to_parameters(read_vector(self.first), net.parameters())
        return net

    def keep(self, rank, world):
        """Keeps only this process's part of the training set; each epoch has a new random order."""
        images, labels = self.train
        mine = np.random.RandomState(1).permutation(len(labels))[rank::world]
        self.train = images[mine], labels[mine]
        self.random = np.random.RandomState(100 + rank)

    def samples(self):
        images, labels = self.train
        if self.at + self.batch > len(self.order):
            self.order, self.at = self.random.permutation(len(labels)), 0
        pick = self.order[self.at:self.at + self.batch]
        self.at += self.batch
        return torch.from_numpy(images[pick]), torch.from_numpy(labels[pick])

    @staticmethod
    def loss(net, inputs, labels):
        return torch.nn.functional.cross_entropy(net(inputs), labels)

    @staticmethod
    def optimizer(net, rate, _):
        return torch.optim.SGD(net.parameters(), lr=rate, momentum=0.9), None

    def marks(self, net, rank=0, world=1):
        """Returns the number of correctly classified test images, and the number tested: images rank,
        rank + world, rank + 2·world, …"""
        images, labels = (part[rank::world] for part in self.test)
        right = 0
        with torch.no_grad():
            for at in range(0, len(labels), 500):
                guess = net(torch.from_numpy(images[at:at + 500])).argmax(1).numpy()
                right += int((guess == labels[at:at + 500]).sum())
        return right, len(labels)


class LineNet(torch.nn.Module):
    """A net of a line of layers; its parameters are in the order of `tensors`, their initial values."""

    def __init__(self, line, tensors):
        super().__init__()
        self.line, self.names = line, list(tensors)
        for name, tensor in tensors.items():
            self.register_parameter(name.replace(".", "_"),
                                    torch.nn.Parameter(torch.from_numpy(tensor.copy())))

    def forward(self, tokens):
        return Line(self.line, dict(zip(self.names, self.parameters())))(tokens)


class Language:
    """The bytes of a text: a GPT, 8 windows of 64 bytes a step, AdamW with warmup and clipped gradients."""
    batch, context, beta2, decay, clip = 8, 64, 0.95, 0.1, 1
    every_window = 8  # one window of eight of the held-out text is evaluated

    def __init__(self, asked):
        self.line, self.first = asked.layers, asked.first
        self.train = np.fromfile(f"{asked.data}/train", np.uint8)
        held_out = np.fromfile(f"{asked.data}/valid", np.uint8)
        at = np.arange(0, len(held_out) - self.context - 1, self.context * self.every_window)
        self.test = held_out[at[:, None] + np.arange(self.context + 1)].astype(np.int64)
        self.order, self.at = [], 0

    def build(self):
        return LineNet(self.line, read_tensors(self.first))

    def keep(self, rank, world):
        """Keeps only this process's contiguous part of the text. Each epoch has another random offset
        and order of the windows."""
        each = len(self.train) // world
        self.train = self.train[rank * each:(rank + 1) * each]
        self.random = np.random.RandomState(100 + rank)

    def samples(self):
        if self.at + self.batch > len(self.order):
            windows, self.at = len(self.train) // self.context - 1, 0
            self.order = (self.random.permutation(windows) * self.context
                          + self.random.randint(self.context))
        at = self.order[self.at:self.at + self.batch]
        self.at += self.batch
        return self.cut(self.train[at[:, None] + np.arange(self.context + 1)].astype(np.int64))

    @staticmethod
    def cut(windows):
        windows = torch.from_numpy(windows)
        return windows[:, :-1], windows[:, 1:]

    @staticmethod
    def loss(net, inputs, labels):
        return torch.nn.functional.cross_entropy(net(inputs).flatten(0, 1), labels.flatten())

    def optimizer(self, net, rate, warmup):
        parameters = list(net.parameters())
        adam = torch.optim.AdamW(
            [{"params": [p for p in parameters if p.dim() > 1], "weight_decay": self.decay},
             {"params": [p for p in parameters if p.dim() == 1], "weight_decay": 0}],
            lr=rate, betas=(0.9, self.beta2))
        adam.register_step_pre_hook(
            lambda *_: torch.nn.utils.clip_grad_norm_(parameters, self.clip) and None)
        return adam, torch.optim.lr_scheduler.LambdaLR(adam, lambda n: min(1, (n + 1) / warmup))

    def marks(self, net, rank=0, world=1):
        windows, total = self.test[rank::world], 0.0
        with torch.no_grad():
            for at in range(0, len(windows), 64):
                part = windows[at:at + 64]
                total -= float(self.loss(net, *self.cut(part))) * len(part)
        return total, len(windows)


TASKS = {"images": Images, "language": Language}
