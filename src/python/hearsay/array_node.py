"""A node for arrays that NumPy can read: arrays of NumPy or JAX, and PyTorch tensors on the CPU."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Mapping
from typing import Any

import numpy

from hearsay import _library
from hearsay import signals as _signals
from hearsay.errors import Error
from hearsay.handle import (
    Finished,
    Handle,
    Info,
    Settings,
    Tensor,
    checked_loss,
    checked_samples,
    similar,
)


class ArrayNode:
    """A node that trains named arrays together with the other members of a swarm.

        with hearsay.ArrayNode(arrays, run="plane") as node:
            arrays = node.arrays()                      # the swarm's weights
            for batch in batches:
                arrays, loss = train(arrays, batch)
                arrays = node.step(arrays, len(batch), loss)

    The node never writes to the caller's arrays: `step` returns the arrays to continue with. As a
    context it joins and leaves as Node does (torch_node.py).
    """

    def __init__(
        self,
        arrays: Mapping[str, Any],
        *,
        config: str | os.PathLike[str] | None = None,
        settings: Settings | None = None,
        run: str | None = None,
        statistics: Collection[str] = (),
        signals: bool = True,
    ) -> None:
        """arrays     trained arrays of float32, bfloat16 or float16; their names, shapes and types
                   must be equal on all nodes
        statistics names of the arrays that training sets from the data, such as the running means of
                   a batch norm
        run        name of the run, equal on all nodes; None: the configuration's [model] and [data]
                   describe the model
        config, settings and signals are those of Node. Raises TypeError for an array of another type,
        ValueError if `statistics` names no array, and errors of the library.
        """
        self._given = arrays  # the caller's current arrays, or the copies after a write
        self._is_stepping = False
        self._written = False  # the arrays of the last step were changed: by missed updates or by the library
        # Numbers of the copies at the start of the current call, if it is not `step`.
        self._before: dict[str, numpy.ndarray[Any, Any]] = {}
        # Updates applied by calls between two steps that the caller's arrays do not have yet.
        self._missed: dict[str, numpy.ndarray[Any, Any]] = {}
        unknown = [name for name in statistics if name not in arrays]
        if unknown:
            raise ValueError(
                f"statistics has {unknown[0]!r}, which names no array" + similar(unknown[0], arrays)
            )
        self._statistics = frozenset(statistics)
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
            raise TypeError(
                f"{name} has type {copy.dtype.name} and cannot be shared: convert it to one of "
                + ", ".join(_library.DTYPES)
            )
        return copy

    def _tensors(self, arrays: Mapping[str, numpy.ndarray[Any, Any]]) -> list[Tensor]:
        return [
            Tensor(
                name,
                array.ctypes.data,
                array.shape,
                array.dtype.name,
                array,
                is_statistic=name in self._statistics,
            )
            for name, array in arrays.items()
        ]

    def _array(self, name: str) -> numpy.ndarray[Any, Any]:
        """Returns the caller's array. Raises ValueError if its shape or type has changed."""
        array, copy = numpy.asarray(self._given[name]), self._copies[name]
        if array.shape != copy.shape or array.dtype != copy.dtype:
            raise ValueError(
                f"{name} is {array.dtype.name} {array.shape}, and was "
                f"{copy.dtype.name} {copy.shape} when the node was made: give the same shape and type"
            )
        return array

    def _fetch(self) -> None:
        """Copies the caller's arrays to the library's copies."""
        for name, copy in self._copies.items():
            copy[...] = self._array(name)
        if not self._is_stepping:
            self._before = {name: copy.copy() for name, copy in self._copies.items()}

    def _store(self) -> None:
        """Makes the copies, which the library has written to, the current arrays. Outside a step, also
        records the movement for the caller's next step."""
        self._written = True
        if not self._is_stepping:
            for name, copy in self._copies.items():
                movement = copy.astype(numpy.float32) - self._before[name].astype(numpy.float32)
                self._missed[name] = self._missed.get(name, 0) + movement
        self._given = self._copies  # until the next step gives the caller's arrays

    def __enter__(self) -> ArrayNode:
        try:
            self.join()
        except BaseException:
            self._free()
            raise
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        is_wanted = kind is None or issubclass(kind, (KeyboardInterrupt, SystemExit))
        try:
            self.close(None if is_wanted else 0)
        except Exception:
            if kind is None:
                raise  # otherwise the exception that ends the context reaches the caller
        finally:
            self._free()

    def _free(self) -> None:
        self._handle.free()
        _signals.give(self)

    def join(self, timeout: float | None = None) -> bool:
        """Waits for the swarm's weights: `arrays` returns them afterwards. Returns False if `timeout`
        (seconds; None: no limit) came first: call it again to continue the wait."""
        return self._handle.join(timeout)

    def arrays(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """Returns copies of the current arrays, with all updates that the last call applied."""
        self._missed = {}
        return {name: numpy.array(array, order="C") for name, array in self._given.items()}

    def step(self, arrays: Mapping[str, Any], samples: int, loss: Any = 0.0) -> Mapping[str, Any]:
        """Reports a step and returns the arrays to continue with.

        arrays     the arrays after the step, with the names, shapes and types of the first ones
        samples    number of samples in the step
        loss       their mean loss; 0: unknown
        Returns new NumPy arrays if the node moved weights, otherwise the object `arrays` itself.
        """
        samples, loss = checked_samples(samples), checked_loss(loss)
        if differing := sorted(arrays.keys() ^ self._copies.keys()):
            found = "is missing" if differing[0] in self._copies else "is new"
            raise ValueError(f"the array {differing[0]} {found}: give the arrays that the node was made with")
        missed, self._written = self._missed, bool(self._missed)
        self._given = arrays
        if missed:
            self._given = {
                name: (self._array(name).astype(numpy.float32) + missed[name]).astype(copy.dtype)
                for name, copy in self._copies.items()
            }
        self._missed = {}
        self._is_stepping = True
        try:
            self._handle.step(samples, loss)
        finally:
            self._is_stepping = False
        return self.arrays() if self._written else arrays

    def settle(self, timeout: float | None = None) -> bool:
        """Publishes, and waits until all neighbours show the same version (Node.settle). Returns False
        if the time limit came first. Continue with `arrays()` afterwards."""
        return self._handle.settle(timeout)

    def finish(self, timeout: float | None = None) -> Finished:
        """Ends training, and waits until all members have finished (Node.finish). After a true result
        `arrays()` returns the shared model."""
        return self._handle.finish(timeout)

    def base(self) -> dict[str, numpy.ndarray[Any, Any]]:
        """Returns the shared model: new arrays by name, without this node's unpublished progress."""
        base = {name: numpy.empty_like(copy) for name, copy in self._copies.items()}
        self._handle.base(self._tensors(base))
        return base

    def save(self, extra: bytes | None = None) -> None:
        """Saves a checkpoint, with these bytes of the script. None: keeps the bytes saved before."""
        self._handle.save(extra)

    def extra(self) -> bytes:
        """Returns the bytes that `save` saved last, also in an earlier process; b"" if none."""
        return self._handle.extra()

    def info(self) -> Info:
        """Returns the node's numbers."""
        return self._handle.info()

    def status(self) -> dict[str, Any]:
        """Returns the object that `hearsay status --json` prints."""
        return self._handle.status()

    def close(self, grace: float | None = None) -> None:
        """Leaves the swarm and saves a checkpoint. Waits `grace` seconds at most until other members
        have this node's progress; None: the configuration's [node] grace_s."""
        try:
            if grace is None or grace > 0:
                # Also saves before the wait, because a signal may kill the process during the wait.
                with contextlib.suppress(Error):  # the node has not joined, or has ended by itself
                    self.save()
            self._handle.close(grace)
        finally:
            _signals.give(self)
