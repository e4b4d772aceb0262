"""Trains a convolutional net on Fashion-MNIST, as a node of a swarm.

    python -m hearsay.local --nodes 2 fashion.py

The five lines for hearsay are marked with (h). Each node trains on its part of the images.
"""

import argparse
import gzip
import pathlib

import numpy as np
import torch
from torch import nn

import hearsay  # (h)
from hearsay.local import shard


def read(path):
    """Returns the numbers of an IDX file compressed with gzip, as a uint8 tensor."""
    raw = gzip.decompress(path.read_bytes())
    shape = np.frombuffer(raw, ">i4", raw[3], 4)
    return torch.tensor(np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(shape))


def load(folder, part):
    """Returns part "train" or "t10k": normalized images, float32 [count, 1, 28, 28], and labels."""
    images = read(folder / f"{part}-images-idx3-ubyte.gz").float().div(255).sub(0.286).div(0.353)
    return images.unsqueeze(1), read(folder / f"{part}-labels-idx1-ubyte.gz").long()


def net():
    torch.manual_seed(1)  # the same initial weights on all nodes
    return nn.Sequential(
        nn.Conv2d(1, 16, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(16, 32, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Flatten(), nn.Linear(1568, 128), nn.ReLU(), nn.Linear(128, 10),
    )  # fmt: skip


def accuracy(model, images, labels):
    """Returns the percentage of images that the model classifies correctly."""
    with torch.no_grad():
        right = [(model(x).argmax(1) == y).sum().item()
                 for x, y in zip(images.split(500), labels.split(500))]  # fmt: skip
    return 100 * sum(right) / len(labels)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--samples", type=int, default=60000, help="images that the swarm trains on")
    parser.add_argument("--batch", type=int, default=32)
    options = parser.parse_args()
    if not (options.data / "train-images-idx3-ubyte.gz").exists():
        parser.error(f"no Fashion-MNIST in {options.data}: apt install dataset-fashion-mnist, or --data")

    torch.set_num_threads(1)
    part, parts = shard()
    images, labels = load(options.data, "train")
    images, labels = images[part::parts], labels[part::parts]
    model = net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.02, momentum=0.9)
    with hearsay.Node(model, optimizer) as node:  # (h) HEARSAY_CONFIG names the configuration
        steps = 0
        while node.swarm_samples < options.samples:
            chosen = torch.randint(len(images), (options.batch,))
            loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            node.count(options.batch, loss)  # (h)
            steps += 1
            if steps % 100 == 0:
                print(f"{node.swarm_samples:6} samples, loss {loss.item():.3f}, {node.info().members} nodes")
        node.finish(60)  # (h)
        shared = net()
        shared.load_state_dict(node.state_dict())  # (h)
    print(f"{accuracy(shared, *load(options.data, 't10k')):.2f} %")


if __name__ == "__main__":
    main()
