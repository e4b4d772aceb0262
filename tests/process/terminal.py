#!/usr/bin/env python3
"""Opens a terminal and hangs it up: terminal.py prints its name, reads its output, and closes it when a
line arrives on standard input. Later writes to it fail with EIO."""
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
