"""A node for arrays of any library that NumPy can read: NumPy's own, JAX's, PyTorch's on the CPU."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from typing import Any

import numpy

from hearsay import _library
from hearsay import signals as _signals
from hearsay.errors import Error, Terminated
from hearsay.handle import Finished, Handle, Info, Settings, Tensor


class ArrayNode:
    """A node that shares named arrays, which are given to each step and may come back as others.

        with hearsay.ArrayNode(arrays, run="plane") as node:
            arrays = node.arrays()                      # of the swarm
            for batch in batches:
                arrays, loss = train(arrays, batch)
                arrays = node.step(arrays, len(batch), loss)

    The arrays are those that are trained, of float32, bfloat16 or float16, under names that are the
    same on all nodes. What comes back is NumPy's.
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        *,
        config: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        run: str | None = None,
        signals: bool = True,
    ) -> None:
        """run: its name, one on all nodes; None: the model is that of the configuration. signals: as
        of Node."""
        self._given = arrays
        self._is_stepping = False
        self._written = False
        self._before: dict[str, numpy.ndarray[Any, Any]] = {}  # a call between steps wrote to them
        self._came: dict[str, numpy.ndarray[Any, Any]] = {}  # in such calls, and not handed out
        self._copies = {name: self._copy(name, array) for name, array in arrays.items()}
        self._handle = Handle(
            self._tensors(self._copies),
            config=config,
            settings=settings,
            run=run,
            fetch=self._fetch,
            store=self._store,
        )
        if signals:
            _signals.take(self)

    @staticmethod
    def _copy(name: str, array: Any) -> numpy.ndarray[Any, Any]:
        copy = numpy.array(array, order="C")
        if copy.dtype.name not in _library.DTYPES:
            raise TypeError(f"{name} is of {copy.dtype.name}; share " + ", ".join(_library.DTYPES))
        return copy

    @staticmethod
    def _tensors(arrays: Mapping[str, numpy.ndarray[Any, Any]]) -> list[Tensor]:
        return [
            Tensor(name, array.ctypes.data, array.shape, array.dtype.name, array)
            for name, array in arrays.items()
        ]

    def _array(self, name: str) -> numpy.ndarray[Any, Any]:
        array, copy = numpy.asarray(self._given[name]), self._copies[name]
        if array.shape != copy.shape or array.dtype != copy.dtype:
            raise ValueError(
                f"{name} is {array.dtype.name} {array.shape}, and was "
                f"{copy.dtype.name} {copy.shape} when the node was made"
            )
        return array

    def _fetch(self) -> None:
        for name, copy in self._copies.items():
            copy[...] = self._array(name)
        if not self._is_stepping:
            self._before = {name: copy.copy() for name, copy in self._copies.items()}

    def _store(self) -> None:
        self._written = True
        if not self._is_stepping:
            for name, copy in self._copies.items():
                came = copy.astype(numpy.float32) - self._before[name].astype(numpy.float32)
                self._came[name] = self._came.get(name, 0) + came
        self._given = self._copies  # until the caller gives others

    def __enter__(self) -> ArrayNode:
        try:
            self.join()
        except BaseException:
            self._free()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        is_wanted = kind is None or issubclass(kind, (KeyboardInterrupt, Terminated))
        try:
            self.close(None if is_wanted else 0)
        except Exception:
            if kind is None:
                raise  # else the caller's says more
        finally:
            self._free()

    def _free(self) -> None:
        self._handle.free()
        _signals.give(self)

    def join(self, timeout: float | None = None) -> bool:
        """Waits for the swarm's arrays. False: the time was over first; call it again."""
        return self._handle.join(timeout)

    def arrays(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """Those to go on from, as of the last call: copies."""
        self._came = {}
        return {name: numpy.array(array, order="C") for name, array in self._given.items()}

    def step(self, arrays: Mapping[str, Any], samples: int, loss: Any = 0.0) -> Mapping[str, Any]:
        """After each step, of so many samples and this mean loss: the arrays to go on with. They
        are the same object where nothing came."""
        came, self._written = self._came, bool(self._came)
        self._given = arrays
        if came:  # in a call between two steps: the arrays do not have it yet
            self._given = {
                name: (self._array(name).astype(numpy.float32) + came[name]).astype(copy.dtype)
                for name, copy in self._copies.items()
            }
        self._came = {}
        self._is_stepping = True
        try:
            self._handle.step(samples, float(loss))
        finally:
            self._is_stepping = False
        return self.arrays() if self._written else arrays

    def settle(self, timeout: float | None = None) -> bool:
        """As Node.settle; go on from `arrays` afterwards."""
        return self._handle.settle(timeout)

    def finish(self, timeout: float | None = None) -> Finished:
        """Does what Node.finish does; `arrays` is the shared model afterwards."""
        return self._handle.finish(timeout)

    def base(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """The shared model."""
        room = {name: numpy.empty_like(copy) for name, copy in self._copies.items()}
        self._handle.base(self._tensors(room))
        return room

    def save(self, extra: bytes | None = None) -> None:
        """A checkpoint, now, with bytes of yours (None: those that were kept stay)."""
        self._handle.save(extra)

    def extra(self) -> bytes:
        """The bytes that were kept last, also by an earlier process."""
        return self._handle.extra()

    def info(self) -> Info:
        return self._handle.info()

    def status(self) -> dict[str, Any]:
        """As `hearsay status --json` says."""
        return self._handle.status()

    def close(self, grace: float | None = None) -> None:
        """Leaves, and saves a checkpoint."""
        try:
            if grace is None or grace > 0:
                with contextlib.suppress(Error):  # it has not joined, or has ended by itself
                    self.save()  # before the wait, which whoever ends the script may cut short
            self._handle.close(grace)
        finally:
            _signals.give(self)
