"""Trains a JAX net on Fashion-MNIST, as a node of a swarm: each step takes arrays and returns arrays.

    python -m hearsay.local --nodes 2 jax_mlp.py
"""

import argparse
import gzip
import pathlib

import jax
import jax.numpy as jnp
import numpy as np

import hearsay
from hearsay.local import shard


def read(path):
    """Returns the uint8 array of an IDX file compressed with gzip."""
    raw = gzip.decompress(path.read_bytes())
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * raw[3]).reshape(np.frombuffer(raw, ">i4", raw[3], 4))


def load(folder, part):
    """Returns part "train" or "t10k": images, float32 [count, 784] from 0 to 1, and labels."""
    images = read(folder / f"{part}-images-idx3-ubyte.gz").reshape(-1, 784) / np.float32(255)
    return images, read(folder / f"{part}-labels-idx1-ubyte.gz")


def net(sizes=(784, 128, 10)):
    """Returns the initial weights of dense layers, by name."""
    weights = {}
    key = jax.random.key(1)  # the same initial weights on all nodes
    for i, (inputs, outputs) in enumerate(zip(sizes, sizes[1:])):
        key, ours = jax.random.split(key)
        weights[f"{i}.weight"] = jax.random.normal(ours, (inputs, outputs)) * (2 / inputs) ** 0.5
        weights[f"{i}.bias"] = jnp.zeros(outputs)
    return weights


def scores(weights, x):
    return jax.nn.relu(x @ weights["0.weight"] + weights["0.bias"]) @ weights["1.weight"] + weights["1.bias"]


def loss(weights, x, y):
    return -jnp.take_along_axis(jax.nn.log_softmax(scores(weights, x)), y[:, None], 1).mean()


@jax.jit
def step(weights, x, y):
    """Returns the weights after a step of gradient descent, and the loss before it."""
    value, gradient = jax.value_and_grad(loss)(weights, x, y)
    return jax.tree.map(lambda w, g: w - 0.1 * g, weights, gradient), value


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", type=pathlib.Path, default="/usr/share/datasets/fashion-mnist")
    parser.add_argument("--samples", type=int, default=2000000, help="images that the swarm trains on")
    options = parser.parse_args()
    if not (options.data / "train-images-idx3-ubyte.gz").exists():
        parser.error(f"no Fashion-MNIST in {options.data}: apt install dataset-fashion-mnist, or --data")
    part, parts = shard()
    images, labels = load(options.data, "train")
    images, labels = images[part::parts], labels[part::parts]
    random = np.random.default_rng(part)
    settings = {"train.momentum": 0}  # plain gradient descent has no momentum
    with hearsay.ArrayNode(net(), run="jax-mlp", settings=settings) as node:
        weights = node.arrays()
        while node.info().swarm_samples < options.samples:
            chosen = random.integers(len(images), size=64)
            weights, value = step(weights, images[chosen], labels[chosen].astype(np.int32))
            weights = node.step(weights, 64, value)
        node.finish(60)
        shared = node.base()
    images, labels = load(options.data, "t10k")
    print(f"{100 * float((scores(shared, images).argmax(1) == labels).mean()):.2f} %")


if __name__ == "__main__":
    main()
