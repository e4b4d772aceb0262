#!/usr/bin/env python3
"""Types into a shell on a terminal: typed.py SHELL [ARGUMENT...] waits for the prompt
READY>, types its standard input, and prints what the terminal then shows. The typed text must end the
shell."""
import os
import pty
import sys

keys = sys.stdin.buffer.read()
shell, terminal = pty.fork()
if shell == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
shown = b""
while True:
    try:
        piece = os.read(terminal, 65536)
    except OSError:  # the shell has ended
        break
    if not piece:
        break
    shown += piece
    if keys and b"READY>" in shown:
        os.write(terminal, keys)
        keys = b""
sys.stdout.buffer.write(shown)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(shell, 0)[1]))
