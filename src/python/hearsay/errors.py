"""What goes wrong with a node. Each has the sentence of libhearsay."""

from __future__ import annotations

from hearsay import _library


class Error(Exception):
    """Any of them; `code` is the number in hearsay.h."""

    code: int = 0


class ArgumentError(Error, ValueError):
    """An argument, or a tensor, is not what it has to be."""


class Unsupported(ArgumentError):
    """A device or a type that this library cannot use."""


class ConfigError(Error, ValueError):
    """The configuration: which file, line and key, and what is wrong."""


class Failed(Error):
    """A key, a port, the state folder, memory or the disk."""


class Refused(Error):
    """Nobody takes this node in: another swarm, model or list of members."""


class Ended(Error):
    """The node has ended by itself."""


class Closed(Error):
    """The node is not open (any more), has not joined yet, or is another process's."""


class Terminated(SystemExit):
    """SIGTERM or SIGHUP ended the script; `code` is 128 + its number. A node leaves and saves, as
    after Ctrl+C."""

    def __init__(self, number: int) -> None:
        super().__init__(128 + number)
        self.signal = number


_KINDS: dict[int, type[Error]] = {
    _library.ARGUMENT: ArgumentError,
    _library.ABI_UNKNOWN: ArgumentError,
    _library.UNSUPPORTED: Unsupported,
    _library.CLOSED: Closed,
    _library.FORKED: Closed,
    _library.NOT_JOINED: Closed,
    _library.CONFIG: ConfigError,
    _library.FAILED: Failed,
    _library.REFUSED: Refused,
    _library.ENDED: Ended,
}


def error_of(code: int, sentence: str) -> Error:
    """The exception for an error of libhearsay."""
    error = _KINDS.get(code, Error)(sentence)
    error.code = code
    return error
