#!/usr/bin/env python3
"""Writes a file of random tokens in llm.c's format of 16-bit tokens: random_tokens.py KINDS COUNT FILE."""
import array
import random
import sys

MAGIC, VERSION, HEADER_NUMBERS = 20240520, 1, 256


def main(kinds, count, path):
    random.seed(1)
    header = array.array('i', [MAGIC, VERSION, count] + [0] * (HEADER_NUMBERS - 3))
    tokens = array.array('H', random.choices(range(kinds), k=count))
    with open(path, 'wb') as file:
        header.tofile(file)
        tokens.tofile(file)


if __name__ == '__main__':
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3])
