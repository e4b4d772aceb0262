#!/usr/bin/env python3
"""ONNX Runtime must compute the same results from an exported file as hearsay does from the saved
file. Compares the logits of each kind of layer and each preset; for images also predictions from
pixels, and for sequences also sequences shorter than the longest.

    test_onnx.py HEARSAY MODEL_FILE

MODEL_FILE is the program of model_file.c. ONNX Runtime comes from this Python or from build-onnxruntime
(./run deps --all). Exits with 77 if it is missing or hearsay was built without ONNX, or with 1 if
REQUIRE_PYTHON is set.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

OTHER = pathlib.Path(__file__).resolve().parents[2] / 'build-onnxruntime/bin/python'


def skip(why):
    print(f'skipped: {why}')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)


try:
    import numpy as np
    import onnxruntime
except ImportError as error:
    if OTHER.exists() and sys.prefix != str(OTHER.parents[1]):
        os.execv(OTHER, [str(OTHER), *sys.argv])
    skip(f'{error}; install onnxruntime (./run deps --all)')

HEARSAY, MODEL_FILE = sys.argv[1:3]
NEAR = 1e-5  # largest difference, relative to the largest number
BATCH = 3
random = np.random.default_rng(7)

IMAGES = [
    ('dense', '2x5x7', 'dense 6, dense 4 plain, dense 10'),
    ('conv', '4x9x8', 'conv 6 3x3 stride 2 pad 1 groups 2, conv 8 2x2 plain, dense 10'),
    ('maxpool, a rest left out', '3x11x8', 'maxpool 3, dense 10'),
    ('avgpool', '5x4x6', 'conv 7 3x3, avgpool, dense 10'),
    ('batchnorm', '3x6x6', 'batchnorm, conv 4 3x3, batchnorm, relu, dense 10'),
    ('groupnorm', '6x5x4', 'groupnorm 3, conv 8 3x3, groupnorm 8, relu, groupnorm 1, dense 10'),
    ('norm, rmsnorm of images', '3x4x5', 'norm, conv 4 2x2, rmsnorm, conv 2 2x2, dense 10'),
    ('relu', '1x1x40', 'dense 30, relu, dense 10'),
    ('sigmoid', '1x1x40', 'sigmoid, dense 30, sigmoid, dense 10'),
    ('tanh', '1x1x40', 'tanh, dense 30, tanh, dense 10'),
    ('gelu', '1x1x40', 'gelu, dense 30, gelu, dense 10'),
    ('silu', '1x1x40', 'silu, dense 30, silu, dense 10'),
    ('swiglu', '2x3x4', 'swiglu, dense 30, swiglu, dense 10'),
    ('dropout', '1x3x3', 'dropout 0.5, dense 30, dropout 0.2, dense 10'),
    ('residual', '3x6x6', 'residual(conv 3 3x3 pad 1, relu), residual(conv 5 1x1 | conv 5 1x1 plain), '
                          'residual(residual(relu), conv 5 1x1), dense 10'),
    ('residual of rows and images', '3x2x2', 'dense 6, residual(conv 6 1x1), residual(dense 6 | conv 6 1x1), '
                                             'dense 10'),
]
SEQUENCES = [
    ('embed, logits', 'embed 40 24, logits'),
    ('position, more than are used', 'embed 40 24, position 50, logits tied'),
    ('dense, norm, gelu', 'embed 40 24, norm, dense 30, gelu, dense 24 plain, norm, logits'),
    ('attention', 'embed 40 24, residual(attention 3), norm, logits'),
    ('attention kv', 'embed 40 24, residual(attention 6 kv 2 plain), norm, logits'),
    ('attention rope', 'embed 40 24, residual(attention 3 rope), residual(attention 4 kv 1 rope plain), '
                       'residual(attention 3 rope), rmsnorm, dense 44 plain'),
    ('swiglu', 'embed 40 24, residual(rmsnorm, dense 64 plain, swiglu, dense 24 plain), rmsnorm, logits'),
    ('as Llama', 'embed 40 24, 2 * (residual(rmsnorm, attention 4 kv 2 rope plain), residual(rmsnorm, '
                 'dense 96 plain, swiglu, dense 24 plain)), rmsnorm, logits tied'),
    ('dropout, silu', 'embed 40 24, dropout 0.1, silu, residual(norm, attention 2, dropout 0.1), logits'),
]
LENGTH = 19


def run(*command, **others):
    done = subprocess.run(command, capture_output=True, **others)
    if done.returncode != 0:
        sys.exit(f'FAILED: {" ".join(command)}: {done.stderr.decode()}')
    return done.stdout


def line_of(preset):
    rows = run(HEARSAY, 'model').decode().splitlines()
    return next(row.split(None, 1)[1] for row in rows if row.split()[0] == preset)


def session(file, folder):
    made = f'{folder}/model.onnx'
    run(HEARSAY, 'export', '--state', file, made)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(made, options, providers=['CPUExecutionProvider'])


def check(what, here, there):
    largest = float(np.abs(here).max())
    apart = float(np.abs(here - there).max()) / largest
    print(f'{what}: largest number {largest:.3g}, relative difference {apart:.1e}', flush=True)
    if here.shape != there.shape or not apart < NEAR or not largest > 1e-3:
        sys.exit(f'FAILED: {what}: shapes {here.shape} and {there.shape}, relative difference {apart:.1e}')


def logits_here(file, size, samples):
    return np.stack([np.frombuffer(run(MODEL_FILE, 'logits', file, size, input=sample.tobytes()), '<f4')
                     for sample in samples])


def softmax(logits):
    powers = np.exp(logits - logits.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def learned_bytes(file, mean, scale):
    """Changes the metadata of a file to those of a model that was trained on bytes (uint8)."""
    raw = open(file, 'rb').read()
    end = 8 + int.from_bytes(raw[:8], 'little')
    head = json.loads(raw[8:end])
    head['__metadata__'].update(mean=str(mean), scale=str(scale))
    text = json.dumps(head).encode()
    text += b' ' * (-len(text) % 8)
    open(file, 'wb').write(len(text).to_bytes(8, 'little') + text + raw[end:])


def predicted(file, folder, samples):
    """Returns the probabilities [sample, class] that `hearsay predict` prints."""
    np.save(f'{folder}/samples.npy', samples)
    said = run(HEARSAY, 'predict', '--json', '--top', '100', '--state', file, f'{folder}/samples.npy')
    rows = [json.loads(line) for line in said.splitlines()]
    found = np.zeros((len(rows), len(rows[0]['classes'])))
    for row, one in zip(found, rows):
        row[one['classes']] = one['probabilities']
    return found


def images(what, size, line, folder, classes='10'):
    file = f'{folder}/image.safetensors'
    shape = [int(side) for side in size.split('x')]
    run(MODEL_FILE, 'make', line, classes, size, file)
    x = random.normal(size=(BATCH, *shape)).astype('<f4')
    runtime = session(file, folder)
    check(what, logits_here(file, size, x), runtime.run(['logits'], {'x': x})[0])
    check(f'{what}, predicted', predicted(file, folder, x), softmax(runtime.run(['logits'], {'x': x})[0]))
    learned_bytes(file, 100.5, 0.0137)
    pixels = random.integers(0, 256, size=(1, *shape), dtype='u1')
    there = session(file, folder).run(['logits'], {'pixels': pixels})[0]
    check(f'{what}, of pixels', predicted(file, folder, pixels), softmax(there))


def sequences(what, line, folder, tokens=40, length=LENGTH):
    file = f'{folder}/sequence.safetensors'
    run(MODEL_FILE, 'make', line, str(tokens), str(length), file)
    runtime = session(file, folder)
    for count in (length, length // 2, 1):
        x = random.integers(0, tokens, size=(BATCH, count))
        there = runtime.run(['logits'], {'tokens': x})[0]
        here = logits_here(file, str(count), x.astype('<i4'))
        check(f'{what}, {count} positions', here.reshape(there.shape), there)


if __name__ == '__main__':
    with tempfile.TemporaryDirectory() as made:
        probe = subprocess.run([MODEL_FILE, 'make', 'dense 2', '2', '1x1x2', f'{made}/probe.safetensors'])
        probe = subprocess.run([HEARSAY, 'export', '--state', f'{made}/probe.safetensors', f'{made}/probe.onnx'],
                               capture_output=True, text=True)
        if 'built without ONNX' in probe.stderr:
            skip(probe.stderr.strip())
        for row in IMAGES:
            images(*row, made)
        images('xor', '1x1x2', line_of('xor'), made, '2')
        for name, size in ('mlp', '1x28x28'), ('lenet', '1x28x28'), ('resnet20', '3x32x32'), ('resnet18', '3x32x32'):
            images(name, size, line_of(name), made)
        for row in SEQUENCES:
            sequences(*row, made)
        sequences('gpt-char', line_of('gpt-char'), made, 256, 256)
        sequences('gpt-mini', line_of('gpt-mini'), made, 256, 64)
