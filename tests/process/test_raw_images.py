#!/usr/bin/env python3
"""Batch norm on 12-bit images without normalization: the averaged base of two sites that train together must
be at most one point worse than the model of each site alone.

    test_raw_images.py HEARSAY [STAND_IN]

Running means and variances of such images are between a hundred and a million. The accuracy of the
base varies by up to twenty points between publications, when its statistics are a few steps older
than its weights; the accuracy of the averaged base does not. STAND_IN is a module that emulates a
GPU; with it the sites train together once more, one of them on this GPU. Prints the accuracy of each
run; --seed N draws other images. Exits with 77 if NumPy is missing, or with 1 if REQUIRE_PYTHON is set.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
except ImportError as error:
    print(f'skipped: {error}; install python3-numpy')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

LAYERS = 'conv 4 3x3 plain, batchnorm, relu, maxpool 2, dense 2'
SAMPLES, BATCH, STEPS_PER_S = 12000, 16, 30
ROUNDS = 6  # the two sites train for at most ROUNDS * SAMPLES samples
SITES = ('one', 'two')

parser = argparse.ArgumentParser()
parser.add_argument('hearsay')
parser.add_argument('stand_in', nargs='?')
parser.add_argument('--seed', type=int, default=1)
options = parser.parse_args()
hearsay = os.path.abspath(options.hearsay)


def images(random, count):
    """Returns images [count, 1, 8, 8] of noise with a spot, and classes: 1 = a narrow and bright spot, 0 = a
    wide and faint one."""
    classes = random.integers(0, 2, count)
    row, column = np.mgrid[0:8, 0:8]
    x = random.normal(1000, 120, (count, 1, 8, 8))
    for image, narrow in zip(x, classes):
        down, right = random.uniform(2, 6, 2)
        distance = (row - down) ** 2 + (column - right) ** 2
        image += (1080 if narrow else 600) * np.exp(-distance / (2 if narrow else 8))
    return np.clip(x, 0, 4095).round().astype('f4'), classes.astype('u1')


def data_of(site):
    return ['--set', 'data.source=npy', '--set', f'data.x={site}-x.npy', '--set', f'data.y={site}-y.npy']


class Node:
    """A daemon that trains on the data of a site."""

    def __init__(self, name, site, peer='', device='cpu', samples_max=0):
        self.name, self.site = name, site
        for command, file in (('keygen', f'{name}.key'), ('swarmkey', 'swarm.key')):
            if not os.path.exists(file):
                subprocess.run([hearsay, command, file], check=True, capture_output=True)
        settings = {'model.layers': LAYERS, 'node.listen': '127.0.0.1:0', 'node.peers': peer,
                    'node.identity': f'{name}.key', 'node.swarm_key': 'swarm.key',
                    'node.state_dir': name, 'train.device': device, 'train.batch': BATCH,
                    'train.rate': 0.003, 'train.steps_per_s': STEPS_PER_S, 'train.samples_max': samples_max,
                    'node.save_s': 1}
        words = [word for pair in settings.items() for word in ('--set', '='.join(map(str, pair)))]
        with open(f'{name}.err', 'w') as notes:
            self.process = subprocess.Popen([hearsay, 'node', *data_of(site), *words],
                                            stdout=notes, stderr=notes)

    def status(self):
        if self.process.poll() is not None:
            with open(f'{self.name}.err') as notes:
                sys.exit(f'FAILED: {self.name} ended by itself: {notes.read()[-800:]}')
        told = subprocess.run([hearsay, 'status', '--state', self.name, '--json'],
                              capture_output=True, text=True)
        return json.loads(told.stdout) if told.returncode == 0 else {}

    def has_learned(self, samples):
        return self.status().get('samples', 0) >= samples

    def accuracy(self, file):
        """Returns the accuracy of a saved model on the site's test samples, in percent."""
        told = subprocess.run([hearsay, 'eval', '--state', f'{self.name}/{file}.safetensors',
                               *data_of(self.site), '--json'], check=True, capture_output=True, text=True)
        return json.loads(told.stdout)['accuracy'] * 100


def until(*conditions):
    while not all(condition() for condition in conditions):
        time.sleep(0.1)


def leave(nodes):
    for node in nodes:
        node.process.terminate()
    for node in nodes:
        node.process.wait()


def alone():
    """Trains each site alone. Returns the accuracy of its base or averaged base, whichever is better."""
    nodes = [Node(f'alone-{site}', site, samples_max=SAMPLES) for site in SITES]
    until(*(lambda node=node: node.has_learned(SAMPLES) for node in nodes))
    leave(nodes)
    return [max(node.accuracy('base'), node.accuracy('base-averaged')) for node in nodes]


def check(story, devices, goals):
    """Trains two nodes until the saved averaged base of each is at most one point below its site's goal;
    exits after ROUNDS rounds."""
    nodes = [Node(f'{story}-one', SITES[0], device=devices[0])]
    until(lambda: nodes[0].status().get('address'))
    nodes.append(Node(f'{story}-two', SITES[1], nodes[0].status()['address'], devices[1]))
    for rounds in range(1, ROUNDS + 1):
        until(*(lambda node=node: node.has_learned(rounds * SAMPLES) for node in nodes))
        reached = [node.accuracy('base-averaged') for node in nodes]
        print(story, ' '.join(f'{accuracy:.2f} %' for accuracy in reached), flush=True)
        if all(accuracy >= goal - 1 for accuracy, goal in zip(reached, goals)):
            leave(nodes)
            return
    sys.exit(f'FAILED: {story}: more than a point worse than a site alone after {ROUNDS} rounds')


with tempfile.TemporaryDirectory(prefix='hearsay-test-') as place:
    os.chdir(place)
    draw = np.random.default_rng(options.seed)
    for own in SITES:
        for suffix, array in zip('xy', images(draw, 3000)):
            np.save(f'{own}-{suffix}.npy', array)
    best = alone()
    print('alone', ' '.join(f'{accuracy:.2f} %' for accuracy in best), flush=True)
    if min(best) < 90:
        sys.exit('FAILED: a site alone reaches less than 90 %')
    check('together', ('cpu', 'cpu'), best)
    if options.stand_in:
        os.environ['HEARSAY_CUDA'] = options.stand_in
        check('with-a-gpu', ('cuda:0', 'cpu'), best)
    os.chdir('/')
