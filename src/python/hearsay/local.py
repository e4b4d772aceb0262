"""A swarm of one script on this machine: python -m hearsay.local --nodes 3 train.py ARGUMENTS...

Each of the script's processes gets a configuration of its own (HEARSAY_CONFIG), with its keys in a
new folder, and its place among them (HEARSAY_SHARD: 1/3, 2/3, 3/3), by which it may choose its part
of the data. What they print comes with their number before it. Ctrl+C is for all of them.
"""

from __future__ import annotations

import argparse
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


def shard() -> tuple[int, int]:
    """Which part of the data is this process's, from 0, and of how many: HEARSAY_SHARD."""
    part, _, parts = os.environ.get("HEARSAY_SHARD", "1/1").partition("/")
    if not (part.isdigit() and parts.isdigit() and 1 <= int(part) <= int(parts)):
        raise ValueError("HEARSAY_SHARD is to be like 2/3: a part, and of how many")
    return int(part) - 1, int(parts)


def program() -> str:
    """The program `hearsay`: HEARSAY_PROGRAM, or beside this Python, or on the PATH."""
    beside = os.path.join(sysconfig.get_path("scripts"), "hearsay")
    named = os.environ.get("HEARSAY_PROGRAM")
    found = named or (beside if os.access(beside, os.X_OK) else shutil.which("hearsay"))
    if found is None:
        raise FileNotFoundError(
            "there is no program hearsay: pip install ./src/python, or name it: "
            "HEARSAY_PROGRAM=build/hearsay"
        )
    return found


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port


def prepare(folder: pathlib.Path, nodes: int) -> list[pathlib.Path]:
    """Keys and configurations of so many nodes, in a folder; returns the configurations."""
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
        # The first has nobody to wait for, and begins at once.
        peers = ", ".join(f"127.0.0.1:{before}" for before in ports[:i])
        config = ours / "node.conf"
        config.write_text(_CONFIG.format(port=port, peers=peers or '""', folder=ours))
        configs.append(config)
    return configs


def _run(command: list[str]) -> None:
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(done.stderr.strip())


def _show(number: int, process: subprocess.Popen[str], ended: list[int]) -> None:
    """Prints the lines of a process, and how it failed, at once: the others may go on for hours."""
    assert process.stdout is not None
    for line in process.stdout:
        print(f"[{number}] {line}", end="", flush=True)
    code = process.wait()
    if code != 0 and not (ended and code in (-ended[0], 128 + ended[0], -signal.SIGINT, 130)):
        print(f"[{number}] failed: {_ending(code)}", file=sys.stderr, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m hearsay.local", description="run a script as a swarm on this machine"
    )
    parser.add_argument("--nodes", "-n", type=int, default=2, help="processes (2)")
    parser.add_argument("--folder", type=pathlib.Path, help="for keys and checkpoints, kept (a new one)")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args()
    if given.nodes < 1:
        parser.error("--nodes is to be at least 1")
    if not os.path.exists(given.script):
        parser.error(f"there is no {given.script}")
    folder = (given.folder or pathlib.Path(tempfile.mkdtemp(prefix="hearsay-"))).resolve()
    try:
        return _swarm(prepare(folder, given.nodes), given.script, given.arguments)
    except FileNotFoundError as error:
        parser.error(str(error))
    finally:
        if given.folder is None:
            shutil.rmtree(folder, ignore_errors=True)


def _ending(code: int) -> str:
    """How a process ended, by its return code of subprocess."""
    number = -code if code < 0 else code - 128  # a shell between says 128 + the signal
    if code in range(1, 128) or number not in list(signal.Signals):
        return f"exit code {code}"
    name = signal.Signals(number).name
    said = f"killed by signal {number} ({name})" if code < 0 else f"exit code {code}, as of {name}"
    if number == signal.SIGKILL:
        said += ": perhaps there was no memory left (dmesg)"
    return said


def _swarm(configs: list[pathlib.Path], script: str, arguments: list[str]) -> int:
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
        """As Ctrl+C does: nodes leave, and save what they have."""
        ended.append(number)
        for process in processes:
            process.send_signal(signal.SIGINT)

    signal.signal(signal.SIGINT, end)
    signal.signal(signal.SIGTERM, end)
    codes = [process.wait() for process in processes]
    for show in shows:
        show.join()
    if ended:
        return 128 + ended[0]
    return 1 if any(codes) else 0


if __name__ == "__main__":
    sys.exit(main())
