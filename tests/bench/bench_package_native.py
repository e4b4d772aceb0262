#!/usr/bin/env python3
"""Compares training in PyTorch with hearsay's package against training by `hearsay node`.

    bench_package_native.py [--samples N] [--seeds N] [--swarms native,native torch,torch ...]

Each swarm trains lenet on Fashion-MNIST over loopback: SGD with momentum 0.9 and 32 samples a step. All
nodes have the same initial weights, number of samples and steps a second. The learning rate falls along a
cosine with the samples of all nodes; --decay 1 keeps it constant. At the end all nodes must have the same
digest, and `hearsay eval` evaluates the base. Prints a JSON line for each swarm and each seed, which draws
the order of the samples. Needs PyTorch, PYTHONPATH=src/python, HEARSAY_LIBRARY, HEARSAY_PROGRAM.
"""
import argparse
import json
import math
import pathlib
import subprocess
import sys
import tempfile
import time

DATA = pathlib.Path('/usr/share/datasets/fashion-mnist')
NAMES = {f'{ours}.{what}': f'{theirs}.{what}' for ours, theirs in
         (('0', '0.conv'), ('3', '3.conv'), ('7', '6.dense'), ('9', '8.dense')) for what in ('weight', 'bias')}


def settings(asked, seed, shard):
    return {'data.dir': DATA, 'data.shard': shard, 'data.seed': seed, 'model.name': 'lenet',
            'train.rate': asked.rate, 'train.steps_per_s': asked.steps_per_s, 'train.schedule': 'cosine',
            'train.decay': asked.decay, 'train.period_samples': asked.samples}


def cosine(rate, decay, part):
    """Returns the learning rate of hearsay's schedule = cosine after this part (0 to 1) of the period."""
    return rate * (decay + (1 - decay) * (1 + math.cos(math.pi * min(part, 1))) / 2)


def worker(config, shard, seed, samples, steps_per_s, rate, decay, period):
    """Trains as a PyTorch script with a node, then writes the digest until the file `stop` appears."""
    sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / 'src/python/examples'))
    import torch
    from torch import nn

    import fashion
    import hearsay
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    folder = pathlib.Path(config).parent
    images, labels = fashion.load(DATA, 'train')
    part, parts = (int(word) for word in shard.split('/'))
    images, labels = images[part - 1::parts], labels[part - 1::parts]
    model = fashion.net()
    optimizer = torch.optim.SGD(model.parameters(), lr=rate, momentum=0.9)
    with hearsay.Node(model, optimizer, config=config, native=True, names=NAMES) as node:
        order, due = torch.randperm(0), time.monotonic()
        for _ in range(samples // 32):
            if len(order) < 32:
                order = torch.randperm(len(labels))
            chosen, order = order[:32], order[32:]
            node.set_rate(cosine(rate, decay, node.swarm_samples / period))
            loss = nn.functional.cross_entropy(model(images[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            due = max(due + 1 / steps_per_s, time.monotonic() - 1)
            time.sleep(max(0, due - time.monotonic()))
            node.count(32, loss)
        while not (folder / 'stop').exists():
            node.settle(0.5)
            (folder / 'new').write_text(f'{node.info().digest:016x}')
            (folder / 'new').rename(folder / 'digest')


def status(program, folder):
    shown = subprocess.run([program, 'status', '--state', folder / 'state', '--json'], capture_output=True, text=True)
    return json.loads(shown.stdout) if shown.stdout.startswith('{') else {}


def digest_of(program, kind, folder, samples):
    """Returns the digest of a node that has trained on all its samples; None while it still trains."""
    if kind == 'torch':
        return (folder / 'digest').read_text() if (folder / 'digest').exists() else None
    page = status(program, folder)
    return page['digest'] if page.get('samples', 0) >= samples else None


def play(asked, kinds, seed):
    """Runs a swarm of these kinds of nodes, "native" or "torch". Returns the digest and evaluation."""
    from hearsay.local import prepare, program
    with tempfile.TemporaryDirectory() as name:
        folder, processes = pathlib.Path(name), []
        each = asked.samples // len(kinds) // 32 * 32
        configs = prepare(folder, len(kinds))
        for i, (kind, config) in enumerate(zip(kinds, configs)):
            shard = f'{i + 1}/{len(kinds)}'
            with open(config, 'a', encoding='ascii') as file:
                section = ''
                for key, value in {**settings(asked, seed, shard), 'train.samples_max': each}.items():
                    if key.split('.')[0] != section:
                        section = key.split('.')[0]
                        file.write(f'[{section}]\n')
                    file.write(f'{key.split(".")[1]} = {value}\n')
            command = ([program(), 'node', '--config', str(config)] if kind == 'native' else
                       [sys.executable, __file__, '--worker', str(config), shard, str(100 * seed + i), str(each),
                        *[str(number) for number in (asked.steps_per_s, asked.rate, asked.decay, asked.samples)]])
            processes.append(subprocess.Popen(command, stderr=subprocess.DEVNULL if kind == 'native' else None))
        folders = [config.parent for config in configs]
        while True:
            time.sleep(1)
            assert all(process.poll() is None for process in processes), 'a node has ended'
            digests = {digest_of(program(), kind, ours, each) for kind, ours in zip(kinds, folders)}
            if len(digests) == 1 and None not in digests:
                break
        for kind, ours, process in zip(kinds, folders, processes):
            (ours / 'stop').touch() if kind == 'torch' else process.terminate()
        assert all(process.wait() == 0 for process in processes)
        judged = subprocess.run([program(), 'eval', '--state', folders[0] / 'state', '--json'],
                                capture_output=True, text=True, check=True)
        return {'kinds': kinds, 'seed': seed, 'digest': digests.pop(), **json.loads(judged.stdout)}


def main():
    if sys.argv[1:2] == ['--worker']:
        config, shard, seed, samples, *numbers = sys.argv[2:]
        return worker(config, shard, int(seed), int(samples), *[float(number) for number in numbers])
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('--samples', type=int, default=120000, help='samples of all nodes together')
    parser.add_argument('--seeds', type=int, default=3)
    parser.add_argument('--steps-per-s', type=float, default=20)
    parser.add_argument('--rate', type=float, default=0.02)
    parser.add_argument('--decay', type=float, default=0.05, help='final learning rate, as a part of --rate')
    parser.add_argument('--swarms', nargs='+', default=['native,native', 'torch,torch'])
    asked = parser.parse_args()
    for seed in range(1, asked.seeds + 1):
        for swarm in asked.swarms:
            print(json.dumps(play(asked, swarm.split(','), seed)), flush=True)


if __name__ == '__main__':
    main()
