#!/usr/bin/env python3
"""Compares hearsay's layers with PyTorch's, with the same weights and batch: the loss and every gradient,
and the weights and the loss after ten steps of AdamW.

    against_torch.py LEARN_STEPS

LEARN_STEPS is the program of learn_steps.c. Exits with 77 if PyTorch is missing.
"""
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / 'support/torch'))

try:
    import numpy as np
    import torch
    import torch.nn.functional as F
    from torch_line import Line
except ImportError as error:
    print(f'skipped: {error}; install python3-torch')
    sys.exit(77)

STEPS = 10


def read(program, line, data, classes, batch, path):
    """Runs learn_steps. Returns {name: (offset, shape)} of the tensors, the losses before and after the
    steps, and the bytes of its arrays: samples, labels, weights, gradients, weights after the steps."""
    said = subprocess.run([program, line, data, str(classes), str(batch), str(STEPS), path],
                          check=True, capture_output=True, text=True).stdout.splitlines()
    tensors = {}
    for row in said[:-1]:
        name, offset, *dims = row.split()
        tensors[name] = (int(offset), [int(d) for d in dims])
    return tensors, [float(word) for word in said[-1].split()[1:]], open(path, 'rb').read()


def is_statistic(name):
    return name.endswith(('running_mean', 'running_var'))


def compare(program, line, data, classes, batch):
    with tempfile.NamedTemporaryFile() as file:
        tensors, losses, raw = read(program, line, data, classes, batch, file.name)
    is_image = 'x' in data
    shape = [int(side) for side in data.split('x')] if is_image else [int(data)]
    size, positions = batch * int(np.prod(shape)), batch * (1 if is_image else shape[0])
    count = sum(int(np.prod(dims)) for _, dims in tensors.values())
    x = torch.tensor(np.frombuffer(raw, '<f4' if is_image else '<i4', size).reshape([batch] + shape))
    labels = torch.tensor(np.frombuffer(raw, '<i4', positions, 4 * size)).long()
    first, gradients, last = np.frombuffer(raw, '<f4', 3 * count, 4 * (size + positions)).reshape(3, -1)

    def cut(flat):
        return {name: torch.tensor(flat[at:at + int(np.prod(dims))].reshape(dims))
                for name, (at, dims) in tensors.items()}
    tensors_of_all = cut(first)
    weights = {name: tensor.requires_grad_() for name, tensor in tensors_of_all.items()
               if not is_statistic(name)}
    model = Line(line, tensors_of_all)

    def loss_now():
        logits = model(x if is_image else x.long())
        return F.cross_entropy(logits.reshape(positions, -1), labels)
    loss = loss_now()
    loss.backward()
    ours = cut(gradients)
    worst = max(((ours[name] - weight.grad).norm() / weight.grad.norm().clamp(min=1e-12)).item()
                for name, weight in weights.items())
    optimizer = torch.optim.AdamW(
        [{'params': [w for w in weights.values() if w.dim() > 1], 'weight_decay': 0.1},
         {'params': [w for w in weights.values() if w.dim() == 1], 'weight_decay': 0.0}],
        lr=1e-3, betas=(0.9, 0.99), eps=1e-8)
    model.momentum = 0.1
    for _ in range(STEPS):
        optimizer.zero_grad()
        loss_now().backward()
        optimizer.step()
    # Leaves out weights whose gradient is only rounding, such as the biases of attention's keys: Adam would
    # amplify the rounding to a full step.
    stepped = cut(last)
    moved = max((((stepped[name] - weight) * (ours[name].abs() > 1e-5 * ours[name].norm())).norm()
                 / weight.norm()).item() for name, weight in tensors_of_all.items())
    model.training = False
    found = (abs(loss.item() - losses[0]), worst, moved, abs(loss_now().item() - losses[1]))
    print('loss %.1e  gradients %.1e  weights after %d steps %.1e  loss %.1e  %s' % (
        *found[:2], STEPS, *found[2:], line))
    return found[0] < 1e-5 and found[1] < 1e-4 and found[2] < 1e-4 and found[3] < 1e-4


BLOCK = 'residual(conv %d 3x3 pad 1 plain, batchnorm, relu, conv %d 3x3 pad 1 plain, batchnorm), relu'
HALVING = ('residual(conv %d 3x3 stride 2 pad 1 plain, batchnorm, relu, conv %d 3x3 pad 1 plain, batchnorm '
           '| conv %d 1x1 stride 2 plain, batchnorm), relu')
RESNET20 = ', '.join([
    'conv 16 3x3 pad 1 plain, batchnorm, relu', '3 * (%s)' % (BLOCK % (16, 16)),
    HALVING % (32, 32, 32), '2 * (%s)' % (BLOCK % (32, 32)),
    HALVING % (64, 64, 64), '2 * (%s)' % (BLOCK % (64, 64)), 'avgpool, dense 10'])
CASES = [
    ('embed 65 64, position 96, 2 * (residual(norm, attention 4), '
     'residual(norm, dense 256, gelu, dense 64)), norm, logits tied', '96', 65, 3),
    ('embed 65 64, 2 * (residual(rmsnorm, attention 4 kv 2 rope plain), '
     'residual(rmsnorm, dense 256 plain, swiglu, dense 64 plain)), rmsnorm, logits', '96', 65, 3),
    ('embed 65 48, position 40, residual(norm, attention 3, silu | dense 48), norm, logits', '40', 65, 4),
    ('conv 8 3x3 pad 1, relu, 2 * residual(conv 8 3x3 pad 1, relu, conv 8 3x3 pad 1), maxpool 2, '
     'residual(conv 16 3x3 pad 1, tanh | conv 16 1x1), dense 10', '3x12x12', 10, 8),
    # Input of a relu that is zero up to rounding has a gradient in only one of the two programs. Images of
    # 8 x 8 have no such input; 16 images of 16 x 16 have some.
    (RESNET20, '3x8x8', 10, 6),
    ('conv 8 3x3 pad 1, groupnorm 4, relu, conv 8 3x3, groupnorm 1, tanh, avgpool, dense 10', '2x9x9', 10, 8),
    ('conv 8 3x3 stride 2 pad 1 plain, relu, residual(conv 16 3x3 stride 2 pad 1 groups 2, relu, '
     'conv 16 3x3 pad 1 groups 16 plain | conv 16 1x1 stride 2 plain), relu, dense 10', '3x13x14', 10, 8),
]

if __name__ == '__main__':
    torch.set_num_threads(1)
    good = [compare(sys.argv[1], *case) for case in CASES]
    sys.exit(0 if all(good) else 1)
