"""Exceptions of a node. The text of each is libhearsay's explanation of the error, in Python's terms."""

from __future__ import annotations

from hearsay import _library


class Error(Exception):
    """Base class of the library's errors; `code` is the enum hearsay_error of hearsay.h."""

    code: int = 0


class ArgumentError(Error, ValueError):
    """An argument or a tensor is wrong, or differs from the one given when the node was made."""


class Unsupported(ArgumentError):
    """This library cannot use the device or the type of a tensor."""


class ConfigError(Error, ValueError):
    """The configuration is wrong; the text names the setting and, if known, its line."""


class Failed(Error):
    """A key file, a port, the state folder, memory or the disk failed."""


class Refused(Error):
    """No member accepts this node: it has another swarm or model, is expelled or not on the member
    list, or its identity is in use."""


class Ended(Error):
    """The node has ended by itself, or `finish` has ended training."""


class Closed(Error):
    """The node is closed, has not joined yet, or belongs to the parent of this process."""


class Terminated(SystemExit):
    """SIGTERM or SIGHUP ends the script: the node saves and leaves, as after Ctrl+C. `signal` is the
    signal's number, and `code`, the exit code, is 128 + that number."""

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


# Sentences in Python's terms, used instead of those of libhearsay.
_SENTENCES: dict[int, str] = {
    _library.CLOSED: "the node is closed: make a new one",
    _library.FORKED: "the node belongs to the process that made it, and this is a forked child: make a "
    "node of its own here",
    _library.NOT_JOINED: "the node has not joined: use it as a context, or call join first",
}


def error_of(code: int, sentence: str) -> Error:
    """Returns the exception for this error code of libhearsay and its sentence."""
    text = _SENTENCES.get(code, sentence).replace("hearsay_finish", "finish")
    error = _KINDS.get(code, Error)(text)
    error.code = code
    return error
