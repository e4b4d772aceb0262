#!/usr/bin/env python3
"""NumPy arrays: hearsay must read the values of files, and must refuse unusable arrays with a remedy that
works. `hearsay predict` must agree with a computation in NumPy from the saved model.

    test_numpy.py HEARSAY

Exits with 77 if NumPy is missing, or with 1 if REQUIRE_PYTHON is set.
"""
import json
import os
import re
import struct
import subprocess
import sys
import tempfile
import zlib

try:
    import numpy as np
except ImportError as error:
    print(f'skipped: {error}; install python3-numpy')
    sys.exit(1 if os.environ.get('REQUIRE_PYTHON') else 77)

hearsay = sys.argv[1]
random = np.random.default_rng(5)


def run(*words):
    done = subprocess.run([hearsay, *words], capture_output=True, text=True, timeout=600)
    return done.returncode, done.stdout, done.stderr


def must(condition, what):
    if not condition:
        sys.exit(f'FAILED: {what}')


def near(text, number):
    return abs(float(text) - number) <= 1e-4 * abs(number) + 1e-4


def written(array, version=None):
    """Writes the array to a file, in np.save's version or a given version of the format. Returns its name."""
    if version is None:
        np.save('a.npy', array)
    else:
        with open('a.npy', 'wb') as file:
            np.lib.format.write_array(file, array, version=version)
    return 'a.npy'


# Files that NumPy writes.

def check_statistics(array, said, what):
    found = re.search(r'numbers +mean (\S+), deviation (\S+), from (\S+) to (\S+)', said)
    must(found, f'{what}: no statistics: {said}')
    want = (array.mean(dtype='f8'), array.std(dtype='f8'), array.min(), array.max())
    must(all(near(text, float(number)) for text, number in zip(found.groups(), want)),
         f'{what}: {found.groups()}, not {want}')


def check_labels(array, said, what):
    found = re.search(r'labels +(\d+) different values?, from (\d+) to (\d+)', said)
    must(found and tuple(map(int, found.groups())) ==
         (len(np.unique(array)), int(array.min()), int(array.max())), f'{what}: {said}')
    for label, count in zip(*np.unique(array, return_counts=True)):
        must(re.search(rf'^ +{int(label)} +{count}$', said, re.M), f'{what}: label {label}: {said}')


def arrays_are_read_as_numpy_has_them():
    shapes = [(1,), (7,), (5, 3), (4, 6, 5), (3, 2, 5, 4), (2, 3, 2, 3, 2)]
    for kind in ['?', 'u1', 'i1', '<u2', '<i2', '<u4', '<i4', '<u8', '<i8', '<f4']:
        for shape in shapes:
            if len(shape) > 1 and kind not in ('?', 'u1', '<f4'):
                continue  # only labels can have this type
            for version in (None, (1, 0), (2, 0), (3, 0)):
                array = random.normal(size=shape) * 40 if kind == '<f4' else random.integers(0, 9, shape)
                array = array.astype(kind)
                what = f'{array.dtype} {shape} {version}'
                code, said, complaint = run('data', '--samples', '2', written(array, version))
                must(code == 0, f'{what}: {complaint}')
                must(f'NumPy array of {array.dtype}, shape {shape}' in said, f'{what}: {said}')
                (check_labels if len(shape) == 1 and kind != '<f4' else check_statistics)(array, said, what)


# Refusals and their remedies.

REFUSED = [
    (lambda a: a.astype('f2'), 'holds float16', lambda a: a.astype(np.float32)),
    (lambda a: a.astype('i4'), 'holds int32', lambda a: a.astype(np.float32)),
    (lambda a: a.astype('c8'), 'holds complex64', None),
    (lambda a: a.astype('O'), 'holds Python objects', None),
    (lambda a: a.astype('U3'), 'holds text', None),
    (lambda a: a.astype('>f4'), 'is big endian', lambda a: a.astype(a.dtype.newbyteorder('<'))),
    (lambda a: np.asfortranarray(a.astype('f4')), 'lies in Fortran order', np.ascontiguousarray),
    (lambda a: a.astype('f4')[:0], 'is empty', None),
    (lambda a: a.astype('f4')[0, 0], 'is one number without a dimension', None),
    (lambda a: a.astype('f4') / 0, 'holds infinity', lambda a: np.nan_to_num(a, posinf=1, neginf=-1)),
    (lambda a: (a * np.nan).astype('f4'), 'holds NaN', np.nan_to_num),
    (lambda a: np.zeros(3, dtype=[('a', '<f4'), ('b', '<i8', (2,))]), 'holds records', None),
] + [
    (lambda a, kind=kind: np.array([0, -1, 2], kind), 'the label of sample 1 is -1', None)
    for kind in ('i1', 'i2', 'i4', 'i8')
]


def unusable_arrays_are_refused_with_a_remedy():
    for make, words, remedy in REFUSED:
        with np.errstate(all='ignore'):
            array = make(random.normal(size=(4, 3)) + 9)
        code, _, complaint = run('data', written(array))
        must(code == 1 and words in complaint and complaint.count('\n') == 1,
             f'{words}: {code} {complaint}')
        if remedy:
            code, _, complaint = run('data', written(remedy(array)))
            must(code == 0, f'{words}: the remedy is refused: {complaint}')
    np.savez('a.npz', a=np.zeros(3))
    code, _, complaint = run('data', 'a.npz')
    must(code == 1 and 'is a .npz, an archive' in complaint, complaint)


# Predictions of a model.

def write_png(path, depth, colour, rows, palette=None):
    """Writes a PNG file; rows[height, width, channels] are of `depth` bits (8 or 16)."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack('>I', len(data)) + body + struct.pack('>I', zlib.crc32(body))
    height, width = rows.shape[:2]
    lines = b''.join(b'\0' + row.astype('>u2' if depth == 16 else 'u1').tobytes() for row in rows)
    with open(path, 'wb') as file:
        file.write(b'\x89PNG\r\n\x1a\n' + chunk(b'IHDR', struct.pack('>IIBBBBB', width, height, depth, colour, 0, 0, 0)))
        if palette is not None:
            file.write(chunk(b'PLTE', palette.astype('u1').tobytes()))
        file.write(chunk(b'IDAT', zlib.compress(lines)) + chunk(b'IEND', b''))


def trained(folder, x, y, layers):
    """Trains a model briefly with one node. Returns the metadata and weights of the saved file."""
    np.save('x.npy', x)
    np.save('y.npy', y)
    code, said, complaint = run('swarm', '--nodes', '1', '--dir', folder, '--data', 'npy', '--set', 'data.x=x.npy',
                                '--set', 'data.y=y.npy', '--set', 'train.rate=0.01', '--layers', layers,
                                '--samples', '2000')
    must('All nodes hold the same model' in said, f'{code} {said} {complaint}')
    raw = open(f'{folder}/node1/base.safetensors', 'rb').read()
    begin = 8 + int.from_bytes(raw[:8], 'little')
    head = json.loads(raw[8:begin])
    about = head.pop('__metadata__')
    return about, {name: np.frombuffer(raw[begin:], '<f4')[t['data_offsets'][0] // 4:t['data_offsets'][1] // 4]
                   .reshape(t['shape']).astype('f8') for name, t in head.items()}


def forward(about, weights, x):
    x = (x.reshape(len(x), -1).astype('f8') - float(about['mean'])) * float(about['scale'])
    x = np.tanh(x @ weights['0.dense.weight'].T + weights['0.dense.bias'])
    return x @ weights['2.dense.weight'].T + weights['2.dense.bias']


def predicted(folder, path, *more):
    code, said, complaint = run('predict', '--state', f'{folder}/node1', '--json', path, *more)
    must(code == 0, f'{path}: {complaint}')
    return [json.loads(line) for line in said.splitlines()]


def check_classes(said, logits):
    shares = np.exp(logits - logits.max(1, keepdims=True))
    shares /= shares.sum(1, keepdims=True)
    must(len(said) == len(logits), 'predict did not print one line per sample')
    for i, line in enumerate(said):
        best = np.argsort(-shares[i], kind='stable')[:3]
        must(line['sample'] == i and list(best) == line['classes'] and
             np.allclose(line['probabilities'], shares[i][best], atol=1e-4), f'{line}, not {shares[i]}')


def classes_of_colours_are_those_of_the_file():
    x = random.integers(0, 256, (200, 3, 4, 6)).astype('u1')
    about, weights = trained('colours', x, random.integers(0, 7, 200), 'dense 9, tanh, dense 7')
    must(about['classes'] == '7' and 'outputs' not in about, str(about))
    must(abs(float(about['mean']) - x[:180].mean()) < 1e-3, 'the saved mean is not that of the training samples')
    check_classes(predicted('colours', 'x.npy', '--top', '3'), forward(about, weights, x))
    rows = x[0].transpose(1, 2, 0)
    alike = forward(about, weights, x[:1])
    write_png('a.png', 8, 2, rows)
    check_classes(predicted('colours', 'a.png', '--top', '3'), alike)
    write_png('a.png', 8, 6, np.concatenate([rows, np.full((4, 6, 1), 255)], 2))
    check_classes(predicted('colours', 'a.png', '--top', '3'), alike)
    indices = np.arange(24).reshape(4, 6, 1)
    write_png('a.png', 8, 3, indices, palette=rows.reshape(24, 3))
    check_classes(predicted('colours', 'a.png', '--top', '3'), alike)
    grey = np.repeat(rows[:, :, :1], 3, 2)
    write_png('a.png', 8, 0, rows[:, :, :1])
    check_classes(predicted('colours', 'a.png', '--top', '3'),
                  forward(about, weights, grey.transpose(2, 0, 1)[None]))


def numbers_of_grey_are_those_of_the_file():
    x = random.integers(0, 256, (200, 5, 4)).astype('u1')
    y = np.stack([x.mean((1, 2)) / 128 - 1, x[:, 0, 0] / 256], 1).astype('f4')
    about, weights = trained('grey', x, y, 'dense 9, tanh, dense 2')
    must(about['outputs'] == '2' and 'classes' not in about, str(about))
    wanted = forward(about, weights, x)
    said = predicted('grey', 'x.npy')
    must(np.allclose([line['numbers'] for line in said], wanted, atol=1e-4), 'predict and NumPy differ')
    write_png('a.png', 8, 0, x[7][:, :, None])
    must(np.allclose(predicted('grey', 'a.png')[0]['numbers'], wanted[7], atol=1e-4),
         'the prediction of a PNG is not that of its bytes')
    colours = random.integers(0, 256, (5, 4, 3))
    write_png('a.png', 8, 2, colours)
    shades = (colours @ [19595, 38470, 7471] + 0x8000 >> 16)[None]
    must(np.allclose(predicted('grey', 'a.png')[0]['numbers'], forward(about, weights, shades)[0], atol=1e-4),
         'the prediction is not that of the greyscale that Pillow computes')
    code, said, _ = run('eval', '--state', 'grey/node1', '--json', '--x', 'x.npy', '--y', 'y.npy')
    result = json.loads(said)
    error = ((wanted - y) ** 2).mean()
    must(code == 0 and near(result['rmse'], error ** 0.5), f'{result}: the error is {error ** 0.5}')
    must(near(result['r2'], 1 - error / y.astype('f8').var(0).mean()), f'{result}: R2')


def floats_are_taken_as_they_are():
    x = random.normal(size=(200, 6)).astype('f4') * 2 + 1
    about, weights = trained('floats', x, random.integers(0, 4, 200), 'dense 9, tanh, dense 4')
    must(float(about['mean']) == 0 and float(about['scale']) == 1, str(about))
    check_classes(predicted('floats', 'x.npy', '--top', '3'), forward(about, weights, x))
    write_png('a.png', 8, 0, np.zeros((1, 6, 1)))
    code, _, complaint = run('predict', '--state', 'floats/node1', 'a.png')
    must(code == 1 and 'the model was trained on float32' in complaint, complaint)


with tempfile.TemporaryDirectory(prefix='hearsay-test-') as place:
    os.chdir(place)
    for story in (arrays_are_read_as_numpy_has_them, unusable_arrays_are_refused_with_a_remedy,
                  classes_of_colours_are_those_of_the_file, numbers_of_grey_are_those_of_the_file,
                  floats_are_taken_as_they_are):
        story()
        print(story.__name__.replace('_', ' '))
    os.chdir('/')
