"""Runs several processes of one script as a swarm on this machine:

    python -m hearsay.local --nodes 3 train.py ARGUMENTS...

Each process has its own configuration (HEARSAY_CONFIG) and node key; all have one swarm key. HEARSAY_SHARD
numbers the processes (1/3, 2/3, 3/3), so that each can choose its part of the data. Their output is
printed with the process's number before each line. Ctrl+C, SIGTERM and SIGHUP (a closed terminal) are
passed on to all processes. If this program is killed, they get SIGTERM.
"""

from __future__ import annotations

import argparse
import contextlib
import ctypes
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import sysconfig
import tempfile
import threading

_CONFIG = """[node]
listen = 127.0.0.1:{port}
peers = {peers}
identity = {folder}/node.key
swarm_key = {folder}/../swarm.key
state_dir = {folder}/state
log = {folder}/log
"""


_PR_SET_PDEATHSIG = 1  # of prctl(2): the signal that a process gets when its parent dies


def shard() -> tuple[int, int]:
    """Returns this process's part of the data, from 0, and the number of parts, both from
    HEARSAY_SHARD; (0, 1) if it is not set. Raises ValueError if it is malformed."""
    part, _, parts = os.environ.get("HEARSAY_SHARD", "1/1").partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise ValueError("HEARSAY_SHARD must be PART/PARTS, such as 2/3, with 1 <= PART <= PARTS")
    return int(part) - 1, int(parts)


def program() -> str:
    """Returns the path of the program `hearsay`: HEARSAY_PROGRAM, or the one installed with this
    package, or the one on the PATH. Raises FileNotFoundError if there is none."""
    beside = os.path.join(sysconfig.get_path("scripts"), "hearsay")
    named = os.environ.get("HEARSAY_PROGRAM")
    found = named or (beside if os.access(beside, os.X_OK) else shutil.which("hearsay"))
    if found is None:
        raise FileNotFoundError(
            "the program hearsay was not found: install it with pip install ./src/python, or set "
            "HEARSAY_PROGRAM to its path"
        )
    return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def prepare(folder: pathlib.Path, nodes: int) -> list[pathlib.Path]:
    """Writes keys and configurations of this many nodes to `folder`; keeps keys that exist. Returns the
    paths of the configurations."""
    hearsay = program()
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "swarm.key").exists():
        _run([hearsay, "swarmkey", str(folder / "swarm.key")])
    configs = []
    ports = [_free_port() for _ in range(nodes)]
    for i, port in enumerate(ports):
        ours = folder / str(i + 1)
        ours.mkdir(exist_ok=True)
        if not (ours / "node.key").exists():
            _run([hearsay, "keygen", str(ours / "node.key")])
        # Each node dials the nodes before it. The first one has no peers, and starts at once.
        peers = ", ".join(f"127.0.0.1:{before}" for before in ports[:i])
        config = ours / "node.conf"
        config.write_text(_CONFIG.format(port=port, peers=peers or '""', folder=ours))
        configs.append(config)
    return configs


def _run(command: list[str]) -> None:
    """Runs a command. If it fails, exits with its error message."""
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())


def _show(number: int, process: subprocess.Popen[str], ended: list[int]) -> None:
    """Prints a process's lines with its number, and at its end how it failed, if it did.

    ended      signals that were passed on to the swarm: to end by one of them is no failure"""
    assert process.stdout is not None
    for line in process.stdout:
        with contextlib.suppress(OSError):  # the terminal may have closed, but the process still writes
            print(f"[{number}] {line}", end="", flush=True)
    code = process.wait()
    if code != 0 and not any(code in (-number, 128 + number) for number in ended):
        print(f"[{number}] failed: {_ending(code)}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hearsay.local", description="run a script as a swarm on this machine"
    )
    parser.add_argument("--nodes", "-n", type=int, default=2, help="processes (2)")
    parser.add_argument(
        "--folder",
        type=pathlib.Path,
        help="folder for keys and checkpoints, kept afterwards (a new one, removed afterwards)",
    )
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.nodes < 1:
        parser.error(f"--nodes is {given.nodes}, and must be at least 1")
    if not os.path.exists(given.script):
        parser.error(f"there is no script {given.script}")
    folder = (given.folder or pathlib.Path(tempfile.mkdtemp(prefix="hearsay-"))).resolve()
    try:
        return _swarm(prepare(folder, given.nodes), given.script, given.arguments)
    except FileNotFoundError as error:
        parser.error(str(error))
    finally:
        if given.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


def _ending(code: int) -> str:
    """Describes how a process ended, from its return code (negative: minus the signal)."""
    number = -code if code < 0 else code - 128  # a shell returns 128 + the signal of its command
    if code in range(1, 128) or number not in list(signal.Signals):
        return f"exit code {code}"
    name = signal.Signals(number).name
    text = f"killed by signal {number} ({name})" if code < 0 else f"exit code {code}, as after {name}"
    if number == signal.SIGKILL:
        text += ": perhaps there was no memory left (dmesg)"
    return text


def _swarm(configs: list[pathlib.Path], script: str, arguments: list[str]) -> int:
    """Runs the script once per configuration and waits until all processes have ended. Returns the exit
    code: 0, or 1 if a process failed, or 128 + the signal that ended the swarm."""
    libc = ctypes.CDLL(None)
    processes = [
        subprocess.Popen(
            [sys.executable, "-u", script, *arguments],
            env={
                **os.environ,
                "HEARSAY_CONFIG": str(config),
                "HEARSAY_SHARD": f"{i + 1}/{len(configs)}",
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM),
        )
        for i, config in enumerate(configs)
    ]
    ended: list[int] = []
    shows = [
        threading.Thread(target=_show, args=(i + 1, process, ended))
        for i, process in enumerate(processes)
    ]
    for show in shows:
        show.start()

    def end(number: int, _: object) -> None:
        """Passes the signal on to all processes, so that their nodes leave and save."""
        ended.append(number)
        for process in processes:
            process.send_signal(number)

    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        # A shell script's background command ignores SIGINT, nohup SIGHUP, and so do the processes.
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, end)
    codes = [process.wait() for process in processes]
    for show in shows:
        show.join()
    if ended:
        return 128 + ended[0]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
