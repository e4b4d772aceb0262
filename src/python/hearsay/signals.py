"""Signals: SIGTERM and SIGHUP make a script leave the swarm, and no signal handler interrupts a callback
from C."""

from __future__ import annotations

import atexit
import contextlib
import logging
import math
import os
import signal
import threading
import time
import weakref
from typing import Any

from hearsay.errors import Terminated

log = logging.getLogger("hearsay")

_ENDS = (signal.SIGTERM, signal.SIGHUP)
_REPEAT_S = 1.0  # a signal within this time after another one is ignored as its repetition

_nodes: weakref.WeakSet[Any] = weakref.WeakSet()  # open nodes, which leave when a signal arrives
_taken: set[int] = set()  # signals with our handler; they had their default action before
_arrived_s = -math.inf  # monotonic time of the last signal that raised Terminated


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def take(node: Any) -> None:
    """Makes SIGTERM and SIGHUP raise Terminated in the main thread, until `give`.

    If the node is still open when Python ends after such a signal, the node leaves then. Does nothing
    outside the main thread, and nothing for a signal that the script handles or ignores."""
    if not _is_main():
        return
    for number in _ENDS:
        if number not in _taken and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _on_signal)
            _taken.add(number)
    if not _nodes:
        atexit.unregister(_leave)
        # atexit runs the latest function first, so this one runs before the finalizer of the handle.
        atexit.register(_leave)
    _nodes.add(node)


def give(node: Any) -> None:
    """Forgets a closed node. After the last one, restores the default action of the signals."""
    _nodes.discard(node)
    if not _nodes and _is_main():
        _restore()


def _restore() -> None:
    for number in list(_taken):
        if signal.getsignal(number) is _on_signal:
            signal.signal(number, signal.SIG_DFL)
        _taken.discard(number)


def _on_signal(number: int, _: Any) -> None:
    """Raises Terminated, unless the signal is a repetition (_REPEAT_S). Without an open node, lets the
    signal end the process as by default."""
    global _arrived_s
    if not _nodes:
        _restore()
        os.kill(os.getpid(), number)
        return
    now_s = time.monotonic()
    if now_s < _arrived_s + _REPEAT_S:
        return
    _arrived_s = now_s
    raise Terminated(number)


def _leave() -> None:
    """Closes nodes that are still open when Python ends after SIGTERM or SIGHUP raised Terminated."""
    for node in list(_nodes) if _arrived_s > -math.inf else []:
        try:
            node.close()
        except Exception as error:
            log.warning("the node left without its last save (its state folder has a checkpoint): %s", error)


def _forget() -> None:
    """Restores the default action in a forked child, whose nodes belong to the parent. For example,
    multiprocessing ends the workers of a pool with SIGTERM."""
    _nodes.clear()
    with contextlib.suppress(ValueError):
        _restore()


os.register_at_fork(after_in_child=_forget)


class Deferred:
    """A context that delays Python's signal handlers until it ends.

    An exception of a handler would otherwise interrupt a callback from C, and the library would use a
    half-done copy. Blocking the signals is not enough: the system would deliver them to another
    thread, and Python would still run the handlers in the main thread.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}  # the replaced handlers, by signal number
        # Handler, number and frame of each signal that has arrived in the context.
        self._pending: list[tuple[Any, int, Any]] = []

    def __enter__(self) -> None:
        if not _is_main():
            return  # handlers only run in the main thread
        try:
            for number in signal.valid_signals():
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._wait)
        except BaseException:  # raised by a handler that was not replaced yet
            self._restore()
            raise

    def __exit__(self, *_: object) -> None:
        self._restore()
        while self._pending:
            handler, number, frame = self._pending.pop(0)
            handler(number, frame)

    def _wait(self, number: int, frame: Any) -> None:
        """Stands in for a handler: records the signal once, however often it arrives."""
        if all(number != other for _, other, _ in self._pending):
            self._pending.append((self._before[number], number, frame))

    def _restore(self) -> None:
        """Restores the replaced handlers, all of them even if one raises."""
        try:
            while self._before:
                number = next(iter(self._before))
                signal.signal(number, self._before[number])
                del self._before[number]
        finally:
            if self._before:  # a restored handler has raised meanwhile
                self._restore()
