#!/usr/bin/env python3
"""A terminal that is hung up: terminal.py prints its name, reads what is written to it, and closes it
when a line comes on standard input. Whoever writes to it from then on gets EIO."""
import os
import select
import sys
import tty

ours, theirs = os.openpty()
tty.setraw(theirs)
print(os.ttyname(theirs), flush=True)
while True:
    ready, _, _ = select.select([ours, sys.stdin], [], [])
    if sys.stdin in ready:
        break
    os.read(ours, 65536)
os.close(theirs)
os.close(ours)
print("hung up", flush=True)
