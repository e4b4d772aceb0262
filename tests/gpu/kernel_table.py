#!/usr/bin/env python3
"""Prints time, bytes and launches of each kernel from ncu's CSV: kernel_table.py FILE.csv.

The metrics are gpu__time_duration.sum, dram__bytes_read.sum and dram__bytes_write.sum.
"""
import collections
import csv
import sys

SCALES = {'nsecond': 1e-6, 'ns': 1e-6, 'usecond': 1e-3, 'us': 1e-3, 'msecond': 1, 'ms': 1,  # to ms
          'byte': 1e-9, 'Kbyte': 1e-6, 'Mbyte': 1e-3, 'Gbyte': 1}  # to GB
NAME_LENGTH = 70


def main(path):
    milliseconds, read, written, launches = (collections.Counter() for _ in range(4))
    with open(path, newline='') as file:
        rows = csv.DictReader(line for line in file if line.startswith('"'))
        for row in rows:
            name = row['Kernel Name'].partition('(')[0][:NAME_LENGTH]
            value = float(row['Metric Value'].replace(',', '')) * SCALES[row['Metric Unit']]
            if row['Metric Name'].startswith('gpu__time'):
                milliseconds[name] += value
                launches[name] += 1
            elif 'read' in row['Metric Name']:
                read[name] += value
            else:
                written[name] += value
    print(f'{"ms":>8} {"GB read":>8} {"written":>8} {"GB/s":>6} {"times":>6}  kernel')
    for name, time in milliseconds.most_common():
        rate = (read[name] + written[name]) / time * 1e3 if time else 0
        print(f'{time:8.2f} {read[name]:8.2f} {written[name]:8.2f} {rate:6.0f} {launches[name]:6}  {name}')
    print(f'{sum(milliseconds.values()):8.2f} {sum(read.values()):8.2f} {sum(written.values()):8.2f} '
          f'{"":6} {sum(launches.values()):6}  all')


if __name__ == '__main__':
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
