"""Signals: a script that is told to end leaves the swarm, and no handler strikes inside a call of C."""

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
_ONCE_S = 1.0  # signals that come closer together count as one

_nodes: weakref.WeakSet[Any] = weakref.WeakSet()  # that leave when one of these comes
_taken: set[int] = set()  # signals that had their default action before
_came_s = -math.inf  # when the last of them came


def _is_main() -> bool:
    return threading.current_thread() is threading.main_thread()


def take(node: Any) -> None:
    """From now on SIGTERM and SIGHUP raise Terminated in the main thread, where they would end Python
    otherwise. A node that is still open when Python ends leaves then. Only in the main thread, and
    only for signals that nobody else handles or ignores."""
    if not _is_main():
        return
    for number in _ENDS:
        if number not in _taken and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, _on_signal)
            _taken.add(number)
    if not _nodes:
        atexit.unregister(_leave)
        atexit.register(_leave)  # the last one registered runs first: before the handle is freed
    _nodes.add(node)


def give(node: Any) -> None:
    """The node is closed. After the last one signals have their default action again."""
    _nodes.discard(node)
    if not _nodes and _is_main():
        _restore()


def _restore() -> None:
    for number in list(_taken):
        if signal.getsignal(number) is _on_signal:
            signal.signal(number, signal.SIG_DFL)
        _taken.discard(number)


def _on_signal(number: int, _: Any) -> None:
    global _came_s
    if not _nodes:
        _restore()
        os.kill(os.getpid(), number)
        return
    now_s = time.monotonic()
    if now_s < _came_s + _ONCE_S:
        return
    _came_s = now_s
    raise Terminated(number)


def _leave() -> None:
    """Python ends, by one of these signals, and a node has not been closed yet."""
    for node in list(_nodes) if _came_s > -math.inf else []:
        try:
            node.close()
        except Exception as error:
            log.warning("the node could not be closed: %s", error)


def _forget() -> None:
    """In a forked child, whose node is its parent's: a pool ends its workers by SIGTERM."""
    _nodes.clear()
    with contextlib.suppress(ValueError):
        _restore()


os.register_at_fork(after_in_child=_forget)


class Deferred:
    """A context in which handlers of signals wait, so that what they raise does not interrupt a
    callback from C: the library would take a copy that is half done for a whole one.

    Blocking signals would not do: another thread would take them, and Python runs handlers in the
    main thread whichever thread a signal came to.
    """

    def __init__(self) -> None:
        self._before: dict[int, Any] = {}
        self._came: list[tuple[Any, int, Any]] = []

    def __enter__(self) -> None:
        if not _is_main():
            return  # handlers do not run here
        try:
            for number in signal.valid_signals():
                handler = signal.getsignal(number)
                if callable(handler):
                    self._before[number] = handler
                    signal.signal(number, self._wait)
        except BaseException:  # a handler that was not replaced yet
            self._restore()
            raise

    def __exit__(self, *_: object) -> None:
        self._restore()
        while self._came:
            handler, number, frame = self._came.pop(0)
            handler(number, frame)

    def _wait(self, number: int, frame: Any) -> None:
        if all(number != other for _, other, _ in self._came):
            self._came.append((self._before[number], number, frame))

    def _restore(self) -> None:
        try:
            while self._before:
                number = next(iter(self._before))
                signal.signal(number, self._before[number])
                del self._before[number]
        finally:
            if self._before:  # a handler that is back has raised
                self._restore()
