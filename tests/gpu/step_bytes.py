#!/usr/bin/env python3
"""Counts the bytes that one step of a sequence model moves between a GPU and its memory.

    step_bytes.py STEP_PLAN [MODEL|LINE TOKENS LENGTH BATCH [MIB]] [--json]
                                      (gpt2-124m 50257 1024 16 65536)

STEP_PLAN is build/step_plan, which prints the operations of the step in the order in which the model calls
them. For each operation the rules below list the kernels of the CUDA backend in bf16, and the bytes that
each reads and writes. They assume that each kernel reads its arguments from memory once, without caches,
except that the loss reads its logits twice. So these are counts, not measurements; `ncu` measures (visit.sh
go SECONDS kernels).

    product     operands and results of matrix products
    attention   attention kernels
    plain       all other kernels, whose bytes fusion and smaller types can save
"""
import collections
import json
import subprocess
import sys

FLOAT, HALF, INT, STATS = 4, 2, 4, 8  # bytes; STATS: mean and 1 / deviation of one row of a norm
PRODUCT, ATTENTION, PLAIN = 'product', 'attention', 'plain'
ROW_STEP = 8  # rows of bfloat16 are padded to a multiple of this many numbers
LARGE_COUNT, LARGE_DEPTH = 1 << 18, 128  # is_large in backend_cuda_layers.c
NORM_PARTS, NORM_ROWS = 256, 8  # most blocks of a norm's backward pass, and rows that a block reads at once
DEFAULTS = ['gpt2-124m', '50257', '1024', '16', '65536']

Kernel = collections.namedtuple('Kernel', 'name kind read written')


def padded(columns):
    return -(-columns // ROW_STEP) * ROW_STEP


def operand(name, rows, columns, number):
    """Yields the kernel that copies an operand to padded bfloat16, if it is float32 or not padded."""
    if number != HALF or columns % ROW_STEP:
        yield Kernel(f'round {name}', PLAIN, number * rows * columns, HALF * rows * padded(columns))


def weights(rows, columns, number):
    """Yields the kernel that copies weights to bfloat16, if they are float32 or not padded in both
    dimensions."""
    if number != HALF or rows % ROW_STEP or columns % ROW_STEP:
        yield Kernel('round w', PLAIN, number * rows * columns, HALF * rows * padded(columns))


def is_large(rows, depth, columns):
    return rows * columns >= LARGE_COUNT and depth >= LARGE_DEPTH


def product(name, operands, result, adds=False, number=FLOAT):
    """Returns the kernel of a matrix product.

    operands    total count of numbers in the two operands, which are bfloat16
    result      count of numbers in the result
    adds        True: the product is added to the result, so the kernel also reads the result
    number      size in bytes of each number of the result"""
    return Kernel(name, PRODUCT, HALF * operands + (number * result if adds else 0), number * result)


def has_epilogue(bias, activation):
    return activation == 'linear' or activation == 'relu' and bias


def dense_forward(rows, width, out, bias, activation, number, result):
    yield from operand('x', rows, width, number)
    yield from weights(out, width, number)
    is_padded = out % ROW_STEP if result == HALF else out * FLOAT % 16 and is_large(rows, width, out)
    if is_padded or not has_epilogue(bias, activation):
        yield product('y', (rows + padded(out)) * width, rows * padded(out))
        yield Kernel('bias, activation', PLAIN, FLOAT * rows * padded(out), result * rows * out)
        return
    yield product('y', (rows + out) * width, rows * out, number=result)


def weight_gradient(rows, width, out, adds):
    """Yields the product of the weights' gradient. If `out` is no multiple of ROW_STEP, a large product is two
    products: one for the multiple below `out`, and one for the remainder."""
    rest = out % ROW_STEP if is_large(rows, width, out) else 0
    yield product('dw', rows * (out - rest + width), (out - rest) * width, adds)
    if rest:
        yield product('dw, rest', rows * (rest + width), rest * width, adds)


def gradient_to(name, operands, rows, columns, number):
    """Yields a product with a result of type `number`. A bfloat16 result without padded rows is computed in
    float32 and then rounded."""
    if number == HALF and columns % ROW_STEP:
        yield product(name, operands, rows * columns)
        yield Kernel(f'round {name}', PLAIN, FLOAT * rows * columns, HALF * rows * columns)
    else:
        yield product(name, operands, rows * columns, number=number)


def dense_backward(rows, width, out, bias, activation, dx, adds, number, result):
    """Yields the kernels of dense_backward. The product for dw also sums db, if there is no activation, and if
    the product reads dy without a copy and does not add to dw."""
    acts = activation != 'linear'
    if acts or bias and (result == FLOAT or out % ROW_STEP or adds):
        yield Kernel('dy, db', PLAIN, result * rows * out * (2 if acts else 1),
                     (HALF * rows * padded(out) if result == FLOAT else 0) +
                     (result * rows * out if acts else 0))
    if result == HALF or not (bias or acts):  # otherwise the kernel "dy, db" has rounded dy
        yield from operand('dy', rows, out, result)
    yield from operand('x again', rows, width, number)
    yield from weight_gradient(rows, width, out, adds)
    if dx:
        yield from weights(out, width, number)
        yield from gradient_to('dx', padded(out) * (rows + width), rows, width, number)


def dense_activate_forward(rows, width, out, bias, activation, number, result):
    """Yields the kernels of dense_activate_forward. With biases and an unpadded bfloat16 result, GELU is an
    epilogue of the product, which then also writes the input of GELU."""
    if activation == 'gelu' and bias and result == HALF and out % ROW_STEP == 0:
        yield from operand('x', rows, width, number)
        yield from weights(out, width, number)
        yield product('y', (rows + out) * width, 2 * rows * out, number=result)
        return
    yield from dense_forward(rows, width, out, bias, 'linear', number, result)
    yield Kernel('activation', PLAIN, result * rows * out, result * rows * out)


def dense_activate_backward(rows, width, out, bias, activation, number, result):
    """Yields the kernels of dense_activate_backward. If dx is bfloat16 and unpadded, the gradient of GELU is an
    epilogue of the product, which then also reads the input of GELU."""
    for kernel in dense_backward(rows, width, out, bias, 'linear', 1, 0, number, result):
        if kernel.name == 'dx' and activation == 'gelu' and number == HALF and width % ROW_STEP == 0:
            kernel = kernel._replace(read=kernel.read + number * rows * width)
        yield kernel
    if activation != 'gelu' or number != HALF or width % ROW_STEP:
        yield Kernel('activation, dx', PLAIN, 2 * number * rows * width, number * rows * width)


def cross_entropy(rows, classes):
    yield Kernel('loss', PLAIN, 2 * FLOAT * rows * classes + INT * rows, FLOAT * rows * classes)


def logits_loss(rows, width, classes, at_once, dx, dw, number):
    """Yields the kernels of logits_loss, for `at_once` rows at a time. Both operands are rounded once; the
    loss writes its gradients in bfloat16, ready for the products."""
    wide = padded(classes)
    yield from operand('x', rows, width, number)
    yield from weights(classes, width, number)
    for first in range(0, rows, at_once):
        part = min(at_once, rows - first)
        yield product('logits', (part + wide) * width, part * wide)
        yield Kernel('loss', PLAIN, 2 * FLOAT * part * classes + INT * part, HALF * part * wide * dw)
        if dw:
            yield from weight_gradient(part, width, classes, first > 0)
        if dx:
            yield from gradient_to('dx', wide * (part + width), part, width, number)


def embed_forward(rows, size, number):
    yield Kernel('embed', PLAIN, (number * size + INT) * rows, number * rows * size)


def embed_backward(rows, size, number):
    """Yields add_rows, the main kernel of embed_backward. Assumes that all tokens are different, so that each
    reads and writes one row of the table's gradient."""
    yield Kernel('add rows', PLAIN, ((number + FLOAT) * size + INT) * rows, FLOAT * rows * size)


def add_shared(batch, count, number):
    yield Kernel('add', PLAIN, (number * batch + FLOAT) * count, number * batch * count)


def sum_shared(batch, count, number):
    yield Kernel('sum', PLAIN, number * batch * count, FLOAT * count)


def moving(name, reads, writes):
    """Returns the rule of an operation that reads `reads` and writes `writes` numbers per element."""
    def rule(count, number=FLOAT):
        yield Kernel(name, PLAIN, number * reads * count, number * writes * count)
    return rule


def copy(count, number, result):
    name = 'copy' if number == result else 'round'
    yield Kernel(name, PLAIN, number * count, result * count)


def norm_forward(rows, size, number):
    yield Kernel('norm', PLAIN, number * rows * size, number * rows * size + STATS * rows)


def add_norm_forward(rows, size, number):
    yield Kernel('sum, norm', PLAIN, 2 * number * rows * size, 2 * number * rows * size + STATS * rows)


def norm_backward(rows, size, passed, number):
    """Yields two kernels: the first writes dx, and each block's sums for dw and db; the second adds up these
    sums."""
    sums = 2 * FLOAT * size * min(NORM_PARTS, -(-rows // NORM_ROWS))
    yield Kernel('norm, dx', PLAIN, (3 if passed else 2) * number * rows * size + STATS * rows,
                 number * rows * size + sums)
    yield Kernel('norm, dw and db', PLAIN, sums, 2 * FLOAT * size)


def attention_sizes(batch, length, heads, kv_heads, size, number):
    """Returns the bytes of the queries, of the keys and values, and of one float per query and head."""
    rows = batch * length
    return number * rows * heads * size, 2 * number * rows * kv_heads * size, FLOAT * rows * heads


def attention_forward(**sizes):
    queries, keys, sums = attention_sizes(**sizes)
    yield Kernel('attend', ATTENTION, queries + keys, queries + sums)


def attention_backward(**sizes):
    queries, keys, sums = attention_sizes(**sizes)
    yield Kernel('y · dy', PLAIN, 2 * queries, sums)
    yield Kernel('to queries', ATTENTION, 2 * queries + keys + 2 * sums, queries)
    yield Kernel('to keys', ATTENTION, 2 * queries + keys + 2 * sums, keys)


def rotate(**sizes):
    queries, keys, _ = attention_sizes(**sizes)
    yield Kernel('rotate', PLAIN, queries + keys / 2, queries + keys / 2)


def swiglu_forward(rows, size, number):
    yield Kernel('swiglu', PLAIN, 2 * number * rows * size, number * rows * size)


def swiglu_backward(rows, size, number):
    yield Kernel('swiglu, dx', PLAIN, 3 * number * rows * size, 2 * number * rows * size)


def clip(count):
    yield Kernel('length', PLAIN, FLOAT * count, 0)


RULES = {
    'dense_forward': dense_forward, 'dense_backward': dense_backward,
    'dense_activate_forward': dense_activate_forward,
    'dense_activate_backward': dense_activate_backward, 'cross_entropy': cross_entropy, 'logits_loss': logits_loss, 'embed_forward': embed_forward,
    'embed_backward': embed_backward, 'add_shared': add_shared, 'sum_shared': sum_shared,
    'add': moving('add', 2, 1), 'copy': copy, 'clear': moving('clear', 0, 1),
    'drop': moving('drop', 1, 1), 'activate': moving('activation', 1, 1),
    'activate_backward': moving('activation, dx', 2, 1), 'norm_forward': norm_forward,
    'norm_backward': norm_backward, 'add_norm_forward': add_norm_forward, 'attention_forward': attention_forward,
    'attention_backward': attention_backward, 'rotate': rotate, 'swiglu_forward': swiglu_forward,
    'swiglu_backward': swiglu_backward, 'clip': clip, 'adam': moving('AdamW', 4, 3),
}


def kernels_of(line):
    """Returns the operation of a line of the plan, and the list of its kernels."""
    sizes = json.loads(line)
    name = sizes.pop('op')
    if 'in' in sizes:
        sizes['width'] = sizes.pop('in')
    if name not in RULES:
        sys.exit(f'step_bytes.py: no rule for the operation {name}: add one to RULES')
    return name, list(RULES[name](**sizes))


def account(lines):
    """Returns {(operation, kernel, kind): [times, bytes read, bytes written]} in the order of the plan."""
    rows = {}
    for line in lines:
        name, kernels = kernels_of(line)
        for kernel in kernels:
            row = rows.setdefault((name, kernel.name, kernel.kind), [0, 0, 0])
            row[0] += 1
            row[1] += kernel.read
            row[2] += kernel.written
    return rows


def total(rows, kind):
    return sum(read + written for (_, _, of), (_, read, written) in rows.items() if of == kind)


def print_table(rows):
    print(f'{"operation":20} {"kernel":18} {"kind":12} {"times":>5} {"GB read":>8} {"written":>8}')
    for (name, kernel, kind), (times, read, written) in rows.items():
        print(f'{name:20} {kernel:18} {kind:12} {times:5} {read / 1e9:8.3f} {written / 1e9:8.3f}')
    for kind in (PLAIN, PRODUCT, ATTENTION):
        print(f'{kind:12} {total(rows, kind) / 1e9:8.1f} GB a step')


def main(arguments):
    words = [word for word in arguments if not word.startswith('--')]
    if '--help' in arguments or not words:
        print(__doc__)
        return
    plan = subprocess.run(words[:1] + (words[1:] or DEFAULTS), stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout.splitlines()
    rows = account(plan[1:])  # the first line describes the model
    if '--json' in arguments:
        print(json.dumps({kind: total(rows, kind) for kind in (PLAIN, PRODUCT, ATTENTION)}))
    else:
        print_table(rows)


if __name__ == '__main__':
    main(sys.argv[1:])
