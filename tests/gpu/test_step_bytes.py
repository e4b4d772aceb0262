#!/usr/bin/env python3
"""Tests step_bytes.py with counts by hand and with the plan of a step: test_step_bytes.py STEP_PLAN."""
import json
import pathlib
import subprocess
import sys

sys.dont_write_bytecode = True
import step_bytes  # noqa: E402

ARCHIVE = pathlib.Path(__file__).parents[1] / 'results/gpu.jsonl'


def plan_of(program, *arguments):
    return subprocess.run([program, *arguments], stdout=subprocess.PIPE, check=True,
                          universal_newlines=True).stdout.splitlines()


def counts_a_dense_layer_as_by_hand():
    line = ('{"op": "dense_forward", "rows": 2, "in": 3, "out": 5, "bias": 1, '
            '"activation": "tanh", "number": 4, "result": 4}')
    rows = step_bytes.account([line])
    assert list(rows.values()) == [[1, 24, 32],   # x: 6 floats, padded to 2 rows of 8 numbers
                                   [1, 60, 80],   # w: 15 floats, 5 rows of 8
                                   [1, 60, 64],   # (2 + 8) x 3 numbers of bfloat16, 2 rows of 8 floats
                                   [1, 64, 40]], rows
    assert step_bytes.total(rows, step_bytes.PLAIN) == 24 + 32 + 60 + 80 + 64 + 40


def reads_bfloat16_where_it_lies():
    line = ('{"op": "dense_%s", "rows": 4, "in": 8, "out": %d, "bias": 1, "activation": "linear", '
            '"number": 2, "result": 2%s}')
    rows = step_bytes.account([line % ('forward', 16, '')])
    assert list(rows.values()) == [[1, 2 * (4 + 16) * 8, 2 * 4 * 16]], rows  # one product
    assert step_bytes.total(rows, step_bytes.PLAIN) == 0
    rows = step_bytes.account([line % ('forward', 15, '')])
    assert rows['dense_forward', 'round w', step_bytes.PLAIN] == [1, 2 * 15 * 8, 2 * 15 * 8]
    assert rows['dense_forward', 'bias, activation', step_bytes.PLAIN] == [1, 4 * 4 * 16, 2 * 4 * 15]
    rows = step_bytes.account([line % ('backward', 16, ', "dx": 1, "adds": 0')])
    assert rows['dense_backward', 'dx', step_bytes.PRODUCT] == [1, 2 * 16 * (4 + 8), 2 * 4 * 8]
    assert step_bytes.total(rows, step_bytes.PLAIN) == 0, rows  # the product for dw sums the biases


def counts_gelu_with_its_product():
    line = ('{"op": "dense_activate_%s", "rows": 4, "in": 8, "out": 16, "bias": 1, "activation": "%s", '
            '"number": 2, "result": 2}')
    rows = step_bytes.account([line % ('forward', 'gelu')])
    assert list(rows.values()) == [[1, 2 * (4 + 16) * 8, 2 * 2 * 4 * 16]], rows
    rows = step_bytes.account([line % ('backward', 'gelu')])
    assert rows['dense_activate_backward', 'dx', step_bytes.PRODUCT][1:] == [2 * 16 * 12 + 2 * 32, 2 * 32]
    assert step_bytes.total(rows, step_bytes.PLAIN) == 0
    rows = step_bytes.account([line % ('backward', 'silu')])
    assert step_bytes.total(rows, step_bytes.PLAIN) == 3 * 2 * 4 * 8, rows


def counts_what_a_product_adds_to():
    line = ('{"op": "dense_backward", "rows": 2, "in": 8, "out": 8, "bias": 0, '
            '"activation": "linear", "dx": 0, "adds": %d, "number": 4, "result": 4}')
    plain, adding = (step_bytes.account([line % adds]) for adds in (0, 1))
    more = step_bytes.total(adding, step_bytes.PRODUCT) - step_bytes.total(plain, step_bytes.PRODUCT)
    assert more == 8 * 8 * 4, more


def rounds_the_operands_of_logits_once(program):
    line = ('{"op": "logits_loss", "rows": 6, "in": 8, "classes": 9, "at_once": 4, "dx": 1, "dw": 1, '
            '"number": 4}')
    rows = step_bytes.account([line])
    assert rows['logits_loss', 'round w', step_bytes.PLAIN] == [1, 9 * 8 * 4, 9 * 8 * 2]
    assert rows['logits_loss', 'loss', step_bytes.PLAIN] == [2, 6 * (2 * 9 * 4 + 4), 6 * 16 * 2]
    parts = [json.loads(plan_of(program, 'embed 1000 8, logits tied', '1000', '64', '8', mib)[3])['at_once']
             for mib in ('65536', '16', '1')]
    assert parts == [8 * 64, 2 * 64, 64], parts  # limits of 715,827,882, 174,762 and 10,922 logits at once


def refuses_an_operation_without_a_rule():
    try:
        step_bytes.account(['{"op": "no_such_operation"}'])
    except SystemExit as error:
        assert 'no rule for the operation no_such_operation' in str(error)
    else:
        raise AssertionError('an operation without a rule was skipped')


def plans_the_operations_of_a_step_in_order(program):
    lines = plan_of(program, 'embed 10 8, norm, dense 10 plain', '10', '4', '2')
    names = [json.loads(line)['op'] for line in lines]
    assert names == ['model', 'copy', 'embed_forward', 'norm_forward', 'dense_forward', 'cross_entropy',
                     'dense_backward', 'norm_backward', 'clear', 'embed_backward', 'clip', 'adam'], names
    assert json.loads(lines[0]) == {'op': 'model', 'rows': 8, 'parameters': 10 * 8 + 8 + 8 + 80}


def stays_below_30_GB_and_agrees_with_the_archive(program):
    rows = step_bytes.account(plan_of(program, *step_bytes.DEFAULTS)[1:])
    said = [json.loads(line)['values']['outside products'] for line in ARCHIVE.read_text().splitlines()
            if '"gpu.step-bytes"' in line]
    counted = round(step_bytes.total(rows, step_bytes.PLAIN) / 1e9, 1)
    assert counted <= 30
    assert said[-1] == counted, f'counted {counted}, the archive says {said}'


def main(program):
    counts_a_dense_layer_as_by_hand()
    reads_bfloat16_where_it_lies()
    counts_gelu_with_its_product()
    counts_what_a_product_adds_to()
    rounds_the_operands_of_logits_once(program)
    refuses_an_operation_without_a_rule()
    plans_the_operations_of_a_step_in_order(program)
    stays_below_30_GB_and_agrees_with_the_archive(program)


if __name__ == '__main__':
    main(sys.argv[1])
